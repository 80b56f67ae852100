#include "theme/shapes.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPen>
#include <QPixmap>

#include "theme/theme.h"

namespace tidemark::widgets {
namespace {

struct StateWords {
  Q_DECLARE_TR_FUNCTIONS(States)
};

}  // namespace

QPainterPath crownPath(const QPointF& at, double width) {
  const double unit = width / 16;
  QPainterPath path(at);
  path.lineTo(at.x(), at.y() - 8 * unit);
  path.lineTo(at.x() + 4 * unit, at.y() - 4 * unit);
  path.lineTo(at.x() + 8 * unit, at.y() - 10 * unit);
  path.lineTo(at.x() + 12 * unit, at.y() - 4 * unit);
  path.lineTo(at.x() + 16 * unit, at.y() - 8 * unit);
  path.lineTo(at.x() + 16 * unit, at.y());
  path.closeSubpath();
  return path;
}

void drawShape(QPainter& painter, StateShape shape, const QPointF& c, double size, const QColor& color) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  const double r = size / 2;
  const double thick = std::max(1.5, size * 0.18);
  switch (shape) {
    case StateShape::None:
      break;
    case StateShape::Disc:
      painter.drawEllipse(c, r, r);
      break;
    case StateShape::HalfDisc: {
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(color, thick));
      const double inner = r - thick / 2;
      painter.drawEllipse(c, inner, inner);
      painter.setPen(Qt::NoPen);
      painter.setBrush(color);
      painter.drawPie(QRectF(c.x() - inner, c.y() - inner, 2 * inner, 2 * inner), -90 * 16, 180 * 16);
      break;
    }
    case StateShape::Bars: {
      const double w = size * 0.35;
      painter.drawRoundedRect(QRectF(c.x() - r * 0.9, c.y() - r, w, size), 1, 1);
      painter.drawRoundedRect(QRectF(c.x() + r * 0.9 - w, c.y() - r, w, size), 1, 1);
      break;
    }
    case StateShape::BarredRing:
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(color, thick));
      painter.drawEllipse(c, r - thick / 2, r - thick / 2);
      painter.drawLine(QPointF(c.x() - r * 0.45, c.y()), QPointF(c.x() + r * 0.45, c.y()));
      break;
    case StateShape::Cross: {
      painter.setPen(QPen(color, std::max(2.0, size * 0.22), Qt::SolidLine, Qt::RoundCap));
      const double d = r * 0.78;
      painter.drawLine(QPointF(c.x() - d, c.y() - d), QPointF(c.x() + d, c.y() + d));
      painter.drawLine(QPointF(c.x() - d, c.y() + d), QPointF(c.x() + d, c.y() - d));
      break;
    }
    case StateShape::Triangle: {
      const double w = r * 1.15;
      painter.drawPolygon(
          QPolygonF({{c.x() - w, c.y() + r * 0.95}, {c.x(), c.y() - r * 1.05}, {c.x() + w, c.y() + r * 0.95}}));
      break;
    }
    case StateShape::Crown:
      painter.drawPath(crownPath({c.x() - size * 0.62, c.y() + size * 0.4}, size * 1.24));
      break;
    case StateShape::Ring:
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(color, thick));
      painter.drawEllipse(c, r - thick / 2, r - thick / 2);
      break;
    case StateShape::ClockRing:
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(color, thick, Qt::SolidLine, Qt::RoundCap));
      painter.drawEllipse(c, r - thick / 2, r - thick / 2);
      painter.drawLine(c, QPointF(c.x(), c.y() - r * 0.5));
      painter.drawLine(c, QPointF(c.x() + r * 0.35, c.y()));
      break;
    case StateShape::Square:
      painter.drawRoundedRect(QRectF(c.x() - r * 0.85, c.y() - r * 0.85, r * 1.7, r * 1.7), 1, 1);
      break;
    case StateShape::Lozenge:
      painter.drawPolygon(QPolygonF({{c.x() - r, c.y()}, {c.x(), c.y() - r}, {c.x() + r, c.y()}, {c.x(), c.y() + r}}));
      break;
  }
  painter.restore();
}

QBrush hatch(const QColor& ground, const QColor& lineColor, double step, double width) {
  // One tile holds one period in both directions; drawn at four times the size and scaled, it stays sharp at 2x.
  const double scale = 4;
  const double period = step * 1.41421356;
  const int side = qRound(period * scale);
  QPixmap tile(side, side);
  tile.fill(ground);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(lineColor, width * scale));
  for (int shift = -1; shift <= 1; ++shift)
    painter.drawLine(QPointF(shift * side - side, side * 2), QPointF(shift * side + side * 2, -side));
  painter.end();
  QBrush brush(tile);
  brush.setTransform(QTransform::fromScale(period / side, period / side));
  return brush;
}

StateLook lookOf(observe::BrokerState state) {
  const Palette& p = colors();
  switch (state) {
    case observe::BrokerState::Starting:
      return {StateShape::Ring, p.ring, p.accent, p.selection, StateWords::tr("starting")};
    case observe::BrokerState::Running:
      return {StateShape::Disc, p.ok, p.okText, p.okSoft, StateWords::tr("running")};
    case observe::BrokerState::Fenced:
      return {StateShape::BarredRing, p.fenced, p.fenced, p.fencedSoft, StateWords::tr("fenced")};
    case observe::BrokerState::Paused:
      return {StateShape::Bars, p.warn, p.warnText, p.warnSoft, StateWords::tr("paused")};
    case observe::BrokerState::Stopping:
      return {StateShape::Ring, p.ring, p.accent, p.selection, StateWords::tr("stopping")};
    case observe::BrokerState::Stopped:
      return {StateShape::Cross, p.bad, p.badText, p.badSoft, StateWords::tr("stopped")};
    case observe::BrokerState::Killed:
      return {StateShape::Cross, p.bad, p.badText, p.badSoft, StateWords::tr("killed")};
  }
  return {};
}

StateLook lookOf(const observe::BrokerSnapshot& broker) {
  return lookOf(broker.state, !broker.failedDirectories.empty());
}

StateLook lookOf(observe::BrokerState state, bool lacksDirectory) {
  if (state != observe::BrokerState::Running || !lacksDirectory) return lookOf(state);
  const Palette& p = colors();
  return {StateShape::HalfDisc, p.warn, p.warnText, p.warnSoft, StateWords::tr("dir offline")};
}

StateLook lookOf(const observe::ReplicaSnapshot& replica, observe::BrokerState broker) {
  using observe::BrokerState;
  const Palette& p = colors();
  if (broker == BrokerState::Killed || broker == BrokerState::Stopped) {
    StateLook look = lookOf(broker);
    look.word = broker == BrokerState::Killed ? StateWords::tr("killed") : StateWords::tr("stopped");
    return look;
  }
  if (isOffline(replica)) return {StateShape::Cross, p.bad, p.badText, p.badSoft, StateWords::tr("offline")};
  if (broker == BrokerState::Paused) {
    StateLook look = lookOf(broker);
    look.word = replica.inSync ? StateWords::tr("paused") : StateWords::tr("out of ISR");
    return look;
  }
  if (broker == BrokerState::Fenced && !replica.inSync) return lookOf(broker);
  if (replica.inSync) return {StateShape::Disc, p.ok, p.okText, p.okSoft, StateWords::tr("in sync")};
  return {StateShape::HalfDisc, p.warn, p.warnText, p.warnSoft, StateWords::tr("out of ISR")};
}

void drawLogo(QPainter& painter, const QPointF& topLeft, double scale) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(topLeft);
  painter.scale(scale, scale);
  const Palette& p = colors();
  const auto wave = [](double y) {
    QPainterPath path(QPointF(2, y));
    path.quadTo(9, y - 9, 16, y);
    path.quadTo(23, y + 9, 30, y);
    return path;
  };
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(p.dark ? p.accent : p.button, 3));
  painter.drawPath(wave(18));
  painter.setPen(QPen(p.arrow, 2));
  painter.drawPath(wave(10));
  painter.setPen(QPen(p.highWatermark, 2));
  painter.drawLine(QPointF(0, 2), QPointF(32, 2));
  painter.restore();
}

}  // namespace tidemark::widgets
