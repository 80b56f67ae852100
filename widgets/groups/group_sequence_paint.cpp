// A rebalance as a sequence: who did what, when.
#include <algorithm>
#include <cmath>

#include <QCoreApplication>

#include "groups/group_strokes.h"
#include "groups/group_view.h"

namespace tidemark::widgets {

namespace {

constexpr double kNamesOfLanes = 168;
constexpr double kLaneBar = 22;
constexpr double kLanePitch = 50;

Looks looksOf(SequenceBar::Kind kind) {
  const Palette& p = colors();
  switch (kind) {
    case SequenceBar::Kind::Owns:
      return {p.stripIn, p.ink};
    case SequenceBar::Kind::Waits:
      return {p.warnSoft, p.warnText};
    case SequenceBar::Kind::Synced:
      return {p.okSoft, p.okText, QPen(p.ok, 1)};
    case SequenceBar::Kind::Lost:
      return {hatch(p.panel, p.badLine), p.badText, QPen(p.badLine, 1, Qt::DashLine)};
    case SequenceBar::Kind::Coordinator:
      return {p.selection, p.ink};
    case SequenceBar::Kind::CoordinatorStable:
      return {p.okSoft, p.okText};
    case SequenceBar::Kind::Revokes:
      return {hatch(p.warnSoft, p.warn), p.warnText, QPen(p.warn, 1)};
  }
  return {p.sunken, p.ink};
}

double niceStep(double span) {
  double step = std::pow(10, std::floor(std::log10(std::max(span, 1e-6) / 4)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (span / (step * factor) <= 6) return step * factor;
  return step * 10;
}

}  // namespace

double GroupView::paintSequence(QPainter* painter, double left, double y, double right) {
  const Palette& p = colors();
  const SequenceScene& scene = m_scene.sequence;
  const QFont head = Theme::body(11.5, QFont::Bold);
  const double from = left + kNamesOfLanes;
  line(painter, left, y + 10, QCoreApplication::translate("Groups", "who"), head, p.heads);
  line(painter, from, y + 10, cutTo(scene.title, head, right - from), head, p.heads);
  y += 22;
  const double span = std::max(1e-6, scene.end - scene.begin);
  const auto xOf = [&](double seconds) { return from + (seconds - scene.begin) / span * (right - from); };
  const double bottom = y + kLanePitch * static_cast<double>(scene.lanes.size()) - 14;
  if (painter != nullptr) {
    if (scene.now) {
      const QRectF later(xOf(*scene.now), y - 4, right - xOf(*scene.now), bottom - y + 8);
      painter->fillRect(later, hatch(p.hatchGround, p.hatchLine));
    }
    painter->setPen(QPen(p.grid, 1));
    painter->drawLine(QPointF(xOf(0), y - 4), QPointF(xOf(0), bottom));
  }
  const QFont name = Theme::body(12.5, QFont::DemiBold);
  const QFont note = Theme::body(11.5);
  const QFont inside = Theme::body(11.5, QFont::DemiBold);
  for (const SequenceLane& lane : scene.lanes) {
    line(painter, left, y + 12, cutTo(lane.name, name, kNamesOfLanes - 8), name, p.ink);
    line(painter, left, y + 27, cutTo(lane.note, note, kNamesOfLanes - 8), note, p.muted);
    for (const SequenceBar& bar : lane.bars) {
      const QRectF rect(xOf(bar.from), y, std::max(2.0, xOf(bar.to) - xOf(bar.from)), kLaneBar);
      if (painter == nullptr) {
        addSpot({.rect = rect, .tip = QStringLiteral("%1: %2").arg(lane.name, bar.text)});
        continue;
      }
      const Looks looks = looksOf(bar.kind);
      roundBar(*painter, rect, looks.fill, looks.pen);
      const QString text = cutTo(bar.text, inside, rect.width() - 12);
      // Of a short one the tool tip tells: half of a word says nothing.
      if (text == bar.text || rect.width() > 90) {
        // Text on a hatched ground stands on its own.
        if (bar.kind == SequenceBar::Kind::Lost || bar.kind == SequenceBar::Kind::Revokes) {
          painter->setPen(Qt::NoPen);
          painter->setBrush(bar.kind == SequenceBar::Kind::Lost ? p.panel : p.warnSoft);
          painter->drawRoundedRect(QRectF(rect.left() + 5, y + 4, textWidth(text, inside) + 6, kLaneBar - 8), 3, 3);
        }
        line(painter, rect.left() + 8, y + 15.5, text, inside, looks.ink);
      }
    }
    if (!lane.says.isEmpty()) {
      // What is still to come is left free.
      const double end = scene.now ? xOf(*scene.now) - 8 : right;
      line(painter, end, y + 36, cutTo(lane.says, note, end - from), note, scene.now ? p.warnText : p.badText,
           Qt::AlignRight);
    }
    y += kLanePitch;
  }
  y = bottom;
  if (painter != nullptr) {
    const double step = niceStep(span);
    const QFont figure = Theme::mono(11);
    for (double at = std::ceil(scene.begin / step) * step; at <= scene.end; at += step) {
      const double x = xOf(at);
      painter->setPen(QPen(p.axis, 1));
      painter->drawLine(QPointF(x, y), QPointF(x, y + 4));
      const int digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
      if (x < right - 26)
        line(painter, x, y + 17,
             QCoreApplication::translate("Groups", "%1 s")
                 .arg(QString::number(std::abs(at) < 1e-9 ? 0 : at, 'f', digits)),
             figure, p.muted, Qt::AlignHCenter);
    }
    if (scene.now) {
      const double x = xOf(*scene.now);
      painter->setPen(QPen(p.accent, 2));
      painter->drawLine(QPointF(x, bottom - kLanePitch * static_cast<double>(scene.lanes.size()) + 10),
                        QPointF(x, bottom + 4));
      pill(painter, x - 22, y + 4, QCoreApplication::translate("Groups", "now"), p.button, p.onButton, QColor());
    }
  }
  y += 34;
  rule(painter, left, right, y);
  double x = left;
  const double each = (right - left) / static_cast<double>(std::max<size_t>(1, scene.facts.size()));
  const QFont value = Theme::body(12);
  for (const auto& [what, text] : scene.facts) {
    line(painter, x, y + 20, what, head, p.heads);
    line(painter, x, y + 38, cutTo(text, value, each - 14), value, p.ink);
    if (painter == nullptr) addSpot({.rect = QRectF(x, y + 8, each - 14, 36), .tip = text});
    x += each;
  }
  return y + 60;
}

}  // namespace tidemark::widgets
