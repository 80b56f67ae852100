// QCustomPlot's header is written with Qt's keywords.
#undef QT_NO_KEYWORDS
#include "segments/index_overlay.h"

#include <algorithm>
#include <cmath>

#include "segments/decimate.h"
#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

using Step = log::LookupStep;

namespace {

double number(Offset offset) {
  return static_cast<double>(offset.value());
}

}  // namespace

IndexOverlay::IndexOverlay(const IndexPlot& owner, QCustomPlot* plot)
    : QCPLayerable(plot, QStringLiteral("lookup")), m_owner(owner) {}

void IndexOverlay::applyDefaultAntialiasingHint(QCPPainter* painter) const {
  painter->setAntialiasing(true);
}

QRect IndexOverlay::clipRect() const {
  // Circles at the edge stay whole.
  return mParentPlot->axisRect()->rect().adjusted(-12, -6, 14, 12);
}

QRectF IndexOverlay::inside() const {
  return mParentPlot->axisRect()->rect();
}

QPointF IndexOverlay::at(double key, double value) const {
  return {mParentPlot->xAxis->coordToPixel(key), mParentPlot->yAxis->coordToPixel(value)};
}

std::optional<QPointF> IndexOverlay::place(const Step& step) const {
  if (!m_owner.m_segment || step.segmentBase != m_owner.m_segment->base) return std::nullopt;
  if (offsets() ? step.index != Step::Index::Offset : step.index != Step::Index::Time) return std::nullopt;
  const QPointF point = offsets() ? at(number(step.offset), static_cast<double>(step.position))
                                  : at(static_cast<double>(step.timestampMs), number(step.offset));
  if (point.x() < inside().left() - 12 || point.x() > inside().right() + 12) return std::nullopt;
  return point;
}

std::span<const Step> IndexOverlay::shownSteps() const {
  if (!m_owner.m_lookup || m_owner.m_step < 0) return {};
  const auto& steps = m_owner.m_lookup->steps();
  const size_t count = std::min(steps.size(), static_cast<size_t>(m_owner.m_step) + 1);
  return std::span(steps).first(count);
}

QString IndexOverlay::axisName() const {
  return offsets() ? QObject::tr("position in .log") : QObject::tr("offset");
}

void IndexOverlay::draw(QCPPainter* painter) {
  m_dots = 0;
  if (!m_owner.m_segment) return;
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setRenderHint(QPainter::TextAntialiasing);
  drawDamage(*painter);
  drawRange(*painter);
  drawScan(*painter);
  drawTarget(*painter);
  drawEntries(*painter);
  drawProbes(*painter);
  const QString word = axisName();
  const QFont font = Theme::body(11.5);
  painter->setPen(Qt::NoPen);
  painter->setBrush(QColor(colors().panel.red(), colors().panel.green(), colors().panel.blue(), 210));
  painter->drawRect(QRectF(inside().left() + 4, inside().top() + 2, textWidth(word, font) + 6, 17));
  drawLine(*painter, inside().left() + 7, inside().top() + 15, word, font, colors().muted);
}

void IndexOverlay::drawDamage(QCPPainter& painter) const {
  const Palette& p = colors();
  if (!offsets()) return;
  for (const FindingEntry& finding : m_owner.m_findings) {
    if (!finding.severe || finding.position < 0 || !finding.file.contains(QStringLiteral(".log"))) continue;
    const double y = at(0, static_cast<double>(finding.position)).y();
    const double top = at(0, static_cast<double>(finding.position + finding.length)).y();
    const QRectF band(inside().left(), std::max(std::min(top, y - 7), inside().top()), inside().width(), 0);
    painter.setPen(Qt::NoPen);
    painter.setBrush(hatch(p.badSoft, p.badLine, 6, 1.6));
    painter.drawRect(QRectF(band.left(), band.top(), band.width(), std::max(4.0, y - band.top())));
    painter.setPen(QPen(p.bad, 1.2));
    painter.drawLine(QPointF(inside().left(), y), QPointF(inside().right(), y));
    const QFont font = Theme::body(11.5, QFont::DemiBold);
    const QString text = QObject::tr("damaged: byte %1").arg(grouped(finding.position));
    drawShape(painter, StateShape::Cross, QPointF(inside().right() - 12, band.top() - 9), 10, p.bad);
    drawLine(painter, inside().right() - 22, band.top() - 5, text, font, p.badText, Qt::AlignRight);
    return;
  }
}

void IndexOverlay::drawRange(QCPPainter& painter) const {
  const std::span<const Step> steps = shownSteps();
  if (steps.empty() || steps.back().kind != Step::Kind::Probe || !place(steps.back())) return;
  const Step& probe = steps.back();
  // The entries that were still possible when this probe was made.
  double left = inside().left();
  double right = inside().right();
  const auto keyOf = [&](size_t slot) -> std::optional<double> {
    const SegmentPicture& segment = *m_owner.m_segment;
    if (offsets()) {
      if (slot >= segment.offsets.size()) return std::nullopt;
      return number(segment.offsets[slot].offset);
    }
    if (slot >= segment.times.size()) return std::nullopt;
    return static_cast<double>(segment.times[slot].timestampMs);
  };
  if (const auto low = keyOf(probe.low)) left = std::max(left, at(*low, 0).x());
  if (probe.high > 0 && probe.high - 1 > probe.low)
    if (const auto high = keyOf(probe.high - 1)) right = std::min(right, at(*high, 0).x());
  if (right <= left) right = std::min(inside().right(), left + 6);
  QColor band = colors().violet;
  band.setAlpha(colors().dark ? 40 : 24);
  painter.setPen(Qt::NoPen);
  painter.setBrush(band);
  painter.drawRect(QRectF(left, inside().top(), right - left, inside().height()));
}

void IndexOverlay::drawScan(QCPPainter& painter) const {
  if (!offsets()) return;
  const Palette& p = colors();
  const Step* begin = nullptr;
  const Step* end = nullptr;
  const std::span<const Step> steps = shownSteps();
  std::optional<double> from;
  for (const Step& step : steps) {
    if (step.segmentBase != m_owner.m_segment->base) continue;
    if (step.kind == Step::Kind::FloorEntry && step.index == Step::Index::Offset) from = number(step.offset);
    if (step.kind == Step::Kind::NoFloorEntry && step.index == Step::Index::Offset)
      from = number(m_owner.m_segment->base);
    if (step.kind == Step::Kind::ScanBegins) begin = &step;
    if (step.kind == Step::Kind::BatchScanned) end = &step;
  }
  if (begin == nullptr || !from) return;
  const double bottom = static_cast<double>(begin->position);
  double top = bottom;
  double to = *from;
  if (end != nullptr) {
    top = static_cast<double>(end->position) + static_cast<double>(end->header.sizeInBytes());
    to = number(end->offset);
  }
  QRectF area = QRectF(at(*from, bottom), at(to, top)).normalized();
  // What is read is a sliver of the file, and must be seen.
  if (area.width() < 10) area.adjust(0, 0, 10 - area.width(), 0);
  if (area.height() < 10) area.adjust(0, area.height() - 10, 0, 0);
  if (!area.intersects(inside())) return;
  area = area.intersected(inside());
  QColor soft = p.highWatermark;
  soft.setAlpha(p.dark ? 70 : 50);
  painter.setPen(QPen(p.highWatermark, 1));
  painter.setBrush(soft);
  painter.drawRoundedRect(area, 2, 2);
  const QFont font = Theme::body(11.5, QFont::DemiBold);
  const QString text = QObject::tr("scan from the floor entry");
  const double width = textWidth(text, font);
  const bool fits = area.right() + 22 + width < inside().right();
  if (fits)
    drawLine(painter, area.right() + 16, area.bottom() + 14, text, font, p.highWatermark);
  else
    drawLine(painter, area.left() - 16, area.top() - 4, text, font, p.highWatermark, Qt::AlignRight);
}

void IndexOverlay::drawTarget(QCPPainter& painter) const {
  if (!m_owner.m_lookup || m_owner.m_step < 0) return;
  const Palette& p = colors();
  const LookupPicture& lookup = *m_owner.m_lookup;
  QString text;
  double key = 0;
  if (offsets()) {
    if (!lookup.byTime) {
      key = static_cast<double>(lookup.target);
      text = QObject::tr("target %1").arg(grouped(lookup.target));
    } else if (lookup.lookup.record && m_owner.m_step + 1 >= static_cast<int>(lookup.steps().size())) {
      key = number(lookup.lookup.record->offset);
      text = QObject::tr("record %1").arg(offsetText(lookup.lookup.record->offset));
    }
  } else if (lookup.byTime && lookup.target >= 0) {
    key = static_cast<double>(lookup.target);
    text = QObject::tr("target %1").arg(momentText(lookup.target));
  }
  if (text.isEmpty()) return;
  const double x = at(key, 0).x();
  if (x < inside().left() - 1 || x > inside().right() + 1) return;
  QPen pen(p.highWatermark, 1.6);
  pen.setDashPattern({2.5, 2});
  painter.setPen(pen);
  painter.drawLine(QPointF(x, inside().top()), QPointF(x, inside().bottom()));
  const QFont font = Theme::body(11.5, QFont::DemiBold);
  const double width = textWidth(text, font);
  const bool turned = x + 8 + width > inside().right();
  // The name of the axis stands at the left.
  const double free = inside().left() + 20 + textWidth(axisName(), Theme::body(11.5));
  const QRectF label(turned ? x - 8 - width : std::max(x + 6, free), inside().top() + 2, width + 2, 17);
  painter.setPen(Qt::NoPen);
  painter.setBrush(p.panel);
  painter.drawRect(label);
  drawLine(painter, label.left(), inside().top() + 15, text, font, p.highWatermark);
}

void IndexOverlay::drawEntries(QCPPainter& painter) {
  const Palette& p = colors();
  const auto [from, to] = m_owner.visible();
  const auto most = std::min(IndexPlot::kMostDots, static_cast<size_t>(std::max(2.0, inside().width() / 6)));
  std::vector<QPointF> dots;
  size_t all = 0;
  if (offsets()) {
    const std::span<const log::OffsetIndexEntry> entries(m_owner.m_segment->offsets);
    all = entries.size();
    for (const size_t i : thinned(entries, from, to, most, [](const auto& one) { return one.offset.value(); }))
      dots.push_back(at(number(entries[i].offset), static_cast<double>(entries[i].position)));
  } else {
    const std::span<const log::TimeIndexEntry> entries(m_owner.m_segment->times);
    all = entries.size();
    for (const size_t i : thinned(entries, from, to, most, [](const auto& one) { return one.timestampMs; }))
      dots.push_back(at(static_cast<double>(entries[i].timestampMs), number(entries[i].offset)));
  }
  const double radius = dots.size() > 90 ? 2.6 : 4;
  painter.setPen(QPen(p.panel, dots.size() > 90 ? 1 : 1.5));
  painter.setBrush(p.epochs[2]);
  for (const QPointF& dot : dots) {
    if (dot.x() < inside().left() - 2 || dot.x() > inside().right() + 2) continue;
    painter.drawEllipse(dot, radius, radius);
    ++m_dots;
  }
  if (all == 0) {
    drawLine(
        painter, inside().center().x(), inside().center().y() + 26,
        m_owner.m_segment->bytes == 0 ? QObject::tr("the segment is empty") : QObject::tr("the index has no entry yet"),
        Theme::body(12), p.muted, Qt::AlignHCenter);
  }
}

void IndexOverlay::drawProbes(QCPPainter& painter) const {
  const Palette& p = colors();
  const std::span<const Step> steps = shownSteps();
  int count = 0;
  const auto circle = [&](const QPointF& center, int which, bool current) {
    if (current) {
      QColor halo = p.violet;
      halo.setAlpha(60);
      painter.setPen(Qt::NoPen);
      painter.setBrush(halo);
      painter.drawEllipse(center, 15, 15);
    }
    painter.setPen(QPen(p.panel, 2));
    painter.setBrush(p.violet);
    painter.drawEllipse(center, 10, 10);
    drawLine(painter, center.x(), center.y() + 4, QString::number(which), Theme::body(11.5, QFont::Bold), p.onViolet,
             Qt::AlignHCenter);
  };
  std::optional<QPointF> floor;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.kind == Step::Kind::FloorEntry)
      if (const auto point = place(step)) floor = point;
    if (step.kind != Step::Kind::Probe) continue;
    ++count;
    if (const auto point = place(step)) circle(*point, count, i + 1 == steps.size());
  }
  if (!floor) return;
  painter.setPen(QPen(p.highWatermark, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(*floor, 13, 13);
}

}  // namespace tidemark::widgets
