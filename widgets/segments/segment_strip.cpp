#include "segments/segment_strip.h"

#include <algorithm>
#include <cmath>

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QVariantAnimation>
#include <QWheelEvent>

#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"
#include "theme/tool_tips.h"

namespace tidemark::widgets {

namespace {

constexpr const char* kSideNames[kSideFiles] = {".index", ".timeindex", ".txnindex", ".snapshot"};
constexpr double kBarHeight = 10;
constexpr double kDamageHeight = 7;

}  // namespace

SegmentStrip::SegmentStrip(QWidget* parent)
    : QWidget(parent),
      m_segments(std::make_shared<std::vector<SegmentEntry>>()),
      m_bar(new QScrollBar(Qt::Horizontal, this)),
      m_arrival(new QVariantAnimation(this)) {
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Segments of the partition. Press T for the same as a table."));
  m_bar->hide();
  m_bar->setFocusPolicy(Qt::NoFocus);
  connect(m_bar, &QScrollBar::valueChanged, this, qOverload<>(&QWidget::update));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  m_arrival->setStartValue(1.0);
  m_arrival->setEndValue(0.0);
  m_arrival->setEasingCurve(QEasingCurve::OutCubic);
  connect(m_arrival, &QVariantAnimation::valueChanged, this, qOverload<>(&QWidget::update));
}

QRectF SegmentStrip::area() const {
  return QRectF(kPadding, 0, width() - 2 * kPadding - m_noteWidth, height());
}

double SegmentStrip::scrolled() const {
  return m_bar->isHidden() ? 0 : m_bar->value();
}

void SegmentStrip::setSegments(SegmentEntries segments, int64_t segmentBytes) {
  if (segments == m_segments && segmentBytes == m_segmentBytes) return;
  const bool atEnd = m_bar->isHidden() || m_bar->value() >= m_bar->maximum() - 2;
  const Offset before = m_newest;
  m_segments = std::move(segments);
  m_segmentBytes = segmentBytes;
  std::vector<int64_t> bytes;
  bytes.reserve(m_segments->size());
  for (const SegmentEntry& segment : *m_segments) bytes.push_back(segment.bytes);
  m_layout.setSegments(bytes);
  m_before.assign(1, Before{});
  for (const SegmentEntry& segment : *m_segments)
    m_before.push_back({m_before.back().damaged + (segment.findings > 0 ? 1 : 0),
                        m_before.back().deleted + (segment.state == SegmentEntry::State::Deleted ? 1 : 0)});
  findShown();
  m_newest = m_segments->empty() ? Offset() : m_segments->back().base;
  settleScroll();
  if (atEnd && !m_bar->isHidden()) m_bar->setValue(m_bar->maximum());
  const int motion = Theme::instance().motionMs();
  if (before.value() >= 0 && m_newest > before && motion > 0) {
    m_arrival->setDuration(motion);
    m_arrival->start();
  }
  update();
}

void SegmentStrip::setShown(Offset base) {
  if (base == m_shown) return;
  m_shown = base;
  findShown();
  update();
}

void SegmentStrip::findShown() {
  const auto found = std::ranges::find(*m_segments, m_shown, &SegmentEntry::base);
  m_shownIndex.reset();
  if (found != m_segments->end()) m_shownIndex = static_cast<size_t>(found - m_segments->begin());
}

void SegmentStrip::setNote(const QString& above, const QString& below) {
  if (above == m_noteAbove && below == m_noteBelow) return;
  m_noteAbove = above;
  m_noteBelow = below;
  const QFont font = Theme::body(11.5);
  const double text = std::max(textWidth(above, font), textWidth(below, font));
  m_noteWidth = text > 0 ? text + 20 : 0;
  settleScroll();
  update();
}

void SegmentStrip::settleScroll() {
  const double room = area().width();
  const double total = m_layout.total();
  const bool needed = total > room + 1;
  m_bar->setGeometry(QRect(qRound(kPadding), height() - qRound(kBarHeight) - 3, qRound(room), qRound(kBarHeight)));
  m_bar->setRange(0, needed ? static_cast<int>(std::ceil(total - room)) : 0);
  m_bar->setPageStep(std::max(1, static_cast<int>(room)));
  m_bar->setSingleStep(60);
  const bool changed = m_bar->isHidden() == needed;
  m_bar->setVisible(needed);
  const int wanted = needed ? 92 + qRound(kBarHeight) : 92;
  if (changed || minimumHeight() != wanted) setFixedHeight(wanted);
}

void SegmentStrip::resizeEvent(QResizeEvent*) {
  settleScroll();
}

void SegmentStrip::ensureVisible(Offset base) {
  const auto found = std::ranges::find(*m_segments, base, &SegmentEntry::base);
  if (found == m_segments->end() || m_bar->isHidden()) return;
  const auto index = static_cast<size_t>(found - m_segments->begin());
  const double left = m_layout.left(index);
  const double right = left + m_layout.width(index);
  const double room = area().width();
  if (left < scrolled())
    m_bar->setValue(static_cast<int>(left - 20));
  else if (right > scrolled() + room)
    m_bar->setValue(static_cast<int>(std::ceil(right - room + 20)));
}

void SegmentStrip::zoomBy(double factor, double x) {
  const double before = m_layout.zoom();
  const double least = m_layout.zoomToFit(area().width());
  const double zoom = std::clamp(before * factor, std::min(least, 1.0), StripLayout::kMaxZoom);
  if (zoom == before) return;
  const double place = scrolled() + x - area().left();
  m_layout.setZoom(zoom);
  settleScroll();
  m_bar->setValue(static_cast<int>(place * zoom / before - (x - area().left())));
  update();
}

void SegmentStrip::fitAll() {
  m_layout.setZoom(m_layout.zoomToFit(area().width()));
  settleScroll();
  update();
}

std::optional<size_t> SegmentStrip::indexAt(const QPointF& point) const {
  if (m_segments->empty() || !area().contains(point)) return std::nullopt;
  const double x = point.x() - area().left() + scrolled();
  const size_t index = m_layout.at(x);
  if (x < 0 || x > m_layout.left(index) + std::max(m_layout.width(index), 1.0)) return std::nullopt;
  return index;
}

void SegmentStrip::wheelEvent(QWheelEvent* event) {
  const QPoint steps = event->angleDelta();
  if (event->modifiers() & Qt::ControlModifier) {
    zoomBy(std::pow(1.0015, steps.y()), event->position().x());
  } else if (!m_bar->isHidden()) {
    const QPoint pixels = event->pixelDelta();
    const int by =
        !pixels.isNull() ? (pixels.x() != 0 ? pixels.x() : pixels.y()) : (steps.x() != 0 ? steps.x() : steps.y());
    m_bar->setValue(m_bar->value() - by);
  } else {
    event->ignore();
    return;
  }
  event->accept();
}

void SegmentStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto index = indexAt(event->position())) Q_EMIT segmentPicked((*m_segments)[*index].base);
}

void SegmentStrip::mouseMoveEvent(QMouseEvent* event) {
  const auto hovered = indexAt(event->position());
  setCursor(hovered ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (hovered == m_hovered) return;
  m_hovered = hovered;
  update();
}

void SegmentStrip::leaveEvent(QEvent*) {
  m_hovered.reset();
  update();
}

QString SegmentStrip::toolTipOf(const SegmentEntry& segment) const {
  const auto row = [](const QString& name, const QString& value) {
    return QStringLiteral("<tr><td style='padding-right:14px'>%1</td><td align='right'><b>%2</b></td></tr>")
        .arg(name, value);
  };
  QString rows = row(QStringLiteral(".log"), tr("%1 bytes").arg(grouped(segment.bytes)));
  for (size_t side = 0; side < kSideFiles; ++side)
    if (segment.sideBytes[side] >= 0)
      rows += row(QLatin1String(kSideNames[side]), tr("%1 bytes").arg(grouped(segment.sideBytes[side])));
  rows += row(tr("base offset"), offsetText(segment.base));
  if (segment.epoch.value() >= 0) rows += row(tr("leader epoch"), QString::number(segment.epoch.value()));
  if (segment.findings > 0) rows += row(tr("findings"), QString::number(segment.findings));
  return QStringLiteral("<b>%1</b><table>%2</table>").arg(segmentFileName(segment.base), rows);
}

bool SegmentStrip::event(QEvent* event) {
  const auto textAt = [this](const QPoint& at) {
    const auto index = indexAt(at);
    return index ? toolTipOf((*m_segments)[*index]) : QString();
  };
  return showToolTip(event, this, textAt) || QWidget::event(event);
}

// Painting.

void SegmentStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  drawCard(painter, rect());
  m_painted = 0;
  const QRectF inside = area();
  if (m_noteWidth > 0) {
    drawLine(painter, width() - kPadding, kTop + 18, m_noteAbove, Theme::body(11.5), p.muted, Qt::AlignRight);
    drawLine(painter, width() - kPadding, kTop + 34, m_noteBelow, Theme::body(11.5), p.muted, Qt::AlignRight);
  }
  if (m_segments->empty()) {
    drawLine(painter, inside.left(), kTop + 26, tr("no segments"), Theme::body(12), p.muted);
    return;
  }
  // Half a pixel more than the area, for outlines.
  painter.setClipRect(inside.adjusted(-2, 0, 2, 0));
  const double shift = inside.left() - scrolled();
  for (const StripLayout::Run& run : m_layout.runs(scrolled(), scrolled() + inside.width())) {
    ++m_painted;
    if (run.last - run.first == 1 && m_layout.width(run.first) >= StripLayout::kSeenAlone) {
      const bool arrives = m_arrival->state() == QAbstractAnimation::Running && run.last == m_segments->size();
      const double away = arrives ? m_arrival->currentValue().toDouble() : 0;
      painter.setOpacity(1 - away);
      paintBlock(painter, run.first, shift + run.left + 24 * away);
      painter.setOpacity(1);
    } else {
      paintRun(painter, run, shift);
    }
  }
}

void SegmentStrip::paintRun(QPainter& painter, const StripLayout::Run& run, double shift) const {
  const Palette& p = colors();
  const Before& before = m_before[run.first];
  const Before& after = m_before[run.last];
  const bool bad = after.damaged > before.damaged;
  const bool shown = m_shownIndex && *m_shownIndex >= run.first && *m_shownIndex < run.last;
  const bool deleted = static_cast<size_t>(after.deleted - before.deleted) == run.last - run.first;
  const QRectF box(shift + run.left, kTop, std::max(1.0, run.right - run.left - 1), kBlockHeight);
  const SegmentEntry& first = (*m_segments)[run.first];
  painter.fillRect(box, deleted ? hatch(p.badSoft, p.badLine) : QBrush(p.epochSoft(first.epoch)));
  if (shown) painter.fillRect(QRectF(box.left(), box.bottom() - 4, box.width(), 4), p.accent);
  if (bad) painter.fillRect(QRectF(box.left(), box.top(), std::max(2.0, box.width()), 8), p.bad);
}

void SegmentStrip::paintBlock(QPainter& painter, size_t index, double left) const {
  const Palette& p = colors();
  const SegmentEntry& segment = (*m_segments)[index];
  const double boxWidth = m_layout.width(index);
  const QRectF box(left, kTop, boxWidth, kBlockHeight);
  const bool shown = segment.base == m_shown;
  const bool deleted = segment.state == SegmentEntry::State::Deleted;
  const double radius = std::min(5.0, boxWidth / 4);
  QPainterPath shape;
  shape.addRoundedRect(box, radius, radius);

  // The box is what a name needs; the fill is what the bytes are.
  const double filled = std::min(boxWidth, std::max(m_layout.fill(index), segment.bytes > 0 ? 5.0 : 0.0));
  const QColor soft = p.epochSoft(segment.epoch);
  const bool hovered = m_hovered == index;
  painter.setPen(Qt::NoPen);
  painter.setBrush(deleted ? hatch(p.badSoft, p.badLine) : QBrush(mixed(p.panel, soft, 0.32)));
  painter.drawPath(shape);
  painter.save();
  painter.setClipPath(shape, Qt::IntersectClip);
  if (!deleted) painter.fillRect(QRectF(left, kTop, filled, kBlockHeight), hovered ? mixed(soft, p.ink, 0.06) : soft);
  painter.fillRect(QRectF(left, kTop, std::min(5.0, boxWidth), kBlockHeight), deleted ? p.bad : p.epoch(segment.epoch));
  if (segment.badAt >= 0 && segment.bytes > 0) {
    const double scale = filled / static_cast<double>(segment.bytes);
    const double at = left + std::clamp(static_cast<double>(segment.badAt) * scale, 0.0, filled - 3);
    const double wide = std::clamp(static_cast<double>(segment.badBytes) * scale, 9.0, left + filled - at + 6);
    // Below the text, which stays readable wherever the damage is.
    painter.fillRect(QRectF(at, box.bottom() - kDamageHeight, wide, kDamageHeight), hatch(p.badSoft, p.bad, 5, 2));
    painter.fillRect(QRectF(at, kTop, 2, kBlockHeight), p.bad);
  }
  painter.restore();
  if (segment.state == SegmentEntry::State::Active && boxWidth > 20) {
    // Room to grow: its right end is open.
    QPen open(p.epoch(segment.epoch), 1, Qt::CustomDashLine);
    open.setDashPattern({4, 3});
    painter.setPen(open);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  }
  if (shown || hovered) {
    painter.setPen(QPen(deleted ? p.bad : p.epoch(segment.epoch), shown ? 2 : 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  }

  const double room = boxWidth - 14 - 8 - (segment.findings > 0 ? 18 : 0);
  if (room > 40) {
    const QFont nameFont = Theme::mono(12, QFont::DemiBold);
    const QString name = QFontMetricsF(nameFont).elidedText(segmentFileName(segment.base), Qt::ElideLeft, room);
    drawLine(painter, left + 14, kTop + 19, name, nameFont, p.ink);
    QStringList notes{binaryBytesText(segment.bytes)};
    if (deleted)
      notes << tr("deleted");
    else if (segment.state == SegmentEntry::State::Active)
      notes << tr("active");
    else
      notes << tr("sealed");
    QString note = notes.join(QStringLiteral(" · "));
    if (shown) note = tr("%1, shown below").arg(note);
    const QFont noteFont = Theme::body(11);
    drawLine(painter, left + 14, kTop + 35, QFontMetricsF(noteFont).elidedText(note, Qt::ElideRight, room), noteFont,
             deleted  ? p.badText
             : p.dark ? mixed(p.muted, p.ink, 0.35)
                      : mixed(p.muted, p.ink, 0.25));
  }
  if (segment.findings > 0 && boxWidth > 24)
    drawShape(painter, StateShape::Cross, QPointF(left + boxWidth - 14, kTop + 14), 11, p.bad);
  paintSides(painter, segment, left, boxWidth);
}

void SegmentStrip::paintSides(QPainter& painter, const SegmentEntry& segment, double left, double boxWidth) const {
  const Palette& p = colors();
  const QFont font = Theme::mono(10.5, QFont::Medium);
  double x = left;
  const double y = kTop + 48;
  const bool deleted = segment.state == SegmentEntry::State::Deleted;
  for (size_t side = 0; side < kSideFiles; ++side) {
    if (segment.sideBytes[side] < 0) continue;
    const QString name = QLatin1String(kSideNames[side]);
    const bool bad = (segment.badSides >> side) & 1;
    const double chip = std::floor(textWidth(name, font)) + 14;
    if (x + chip > left + boxWidth + 0.5) {
      // Those that find no room are told in the tool tip and in the table.
      painter.setPen(Qt::NoPen);
      painter.setBrush(p.roller);
      for (int dot = 0; dot < 3 && x + 4 + dot * 6 < left + boxWidth; ++dot)
        painter.drawEllipse(QPointF(x + 4 + dot * 6, y + 9), 1.6, 1.6);
      return;
    }
    const QRectF box(x, y, chip, 18);
    painter.setPen(QPen(bad ? p.bad : p.line, bad ? 1.4 : 1, deleted ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(bad ? p.badSoft : p.sunken);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    drawLine(painter, box.center().x(), y + 13, name, font, bad ? p.badText : p.muted, Qt::AlignHCenter);
    x += chip + 6;
  }
}

}  // namespace tidemark::widgets
