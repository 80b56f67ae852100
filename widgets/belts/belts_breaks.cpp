// What the belts show of logs that broke off: epochs that began, what a follower holds and its leader does not, what it
// gave up, and what was acknowledged and is lost.
#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QPainterPath>

#include "belts/belts_view.h"
#include "text/format.h"
#include "text/node_words.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

using BreakKind = LogBreak::What;

/// A ghost stays so long, and fades at the end.
constexpr double kGhostSeconds = 20;
constexpr double kFadeSeconds = 4;
constexpr double kGhostTop = 34;
constexpr double kGhostHeight = 34;

/// Text on solid red.
QColor onBad() {
  return colors().dark ? colors().onEpoch : QColor(Qt::white);
}

/// A torn edge from top to bottom.
void drawTear(QPainter& painter, double x, double top, double bottom, const QColor& color) {
  QPainterPath path(QPointF(x, top));
  const int teeth = std::max(2, static_cast<int>((bottom - top) / 7));
  for (int i = 1; i <= teeth; ++i) path.lineTo(x + (i % 2 == 0 ? -3 : 3), top + (bottom - top) * i / teeth);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(color, 2.2, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin));
  painter.drawPath(path);
}

/// Records that are gone.
void drawGhost(QPainter& painter, const QRectF& lane, double from, double to) {
  const Palette& p = colors();
  const QRectF box(from + 1, lane.top() + kGhostTop, to - from - 2, kGhostHeight);
  QPen pen(p.bad, 1.4);
  pen.setDashPattern({2.2, 2.2});
  painter.setPen(pen);
  painter.setBrush(hatch(Qt::transparent, mixed(p.panel, p.bad, 0.45), 8, 1));
  painter.drawRoundedRect(box, 4, 4);
  painter.setPen(QPen(p.bad, 2));
  painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()));
}

/// A pill with its left end at `x`, or its right end if there is no room; solid or soft.
void drawPill(QPainter& painter, double x, double top, const QString& text, const QRectF& room, bool solid) {
  const Palette& p = colors();
  const QFont font = Theme::body(10.5, QFont::Bold);
  const double width = textWidth(text, font) + 14;
  const double left = std::clamp(x, room.left(), std::max(room.left(), room.right() - width));
  painter.setPen(QPen(p.bad, 1));
  painter.setBrush(solid ? p.bad : p.badSoft);
  painter.drawRoundedRect(QRectF(left, top, width, 15), 7.5, 7.5);
  drawLine(painter, left + 7, top + 11.3, text, font, solid ? onBad() : p.badText);
}

}  // namespace

double BeltsView::freshness(const LogBreak& one) const {
  const double gone = std::chrono::duration<double>(wall() - one.at).count();
  return std::clamp((kGhostSeconds - gone) / kFadeSeconds, 0.0, 1.0);
}

void BeltsView::paintParting(QPainter& painter, const observe::PartitionSnapshot& partition,
                             const observe::ReplicaSnapshot& replica, const QRectF& lane, Offset from) const {
  const BeltsLayout layout = layoutOfBelts();
  const double x = layout.beltLeft() + m_viewport.x(beltPlace(from), now());
  drawTear(painter, x, lane.top() + 18, lane.top() + 84, colors().bad);
  const QString text = tr("%n record(s) that leader %1 does not have", nullptr,
                          static_cast<int>(std::max<int64_t>(0, replica.logEnd - from)))
                           .arg(partition.leader.value());
  drawPill(painter, x + 5, lane.top() + 2, text, {layout.beltLeft(), 0, layout.beltWidth(), 1}, false);
}

void BeltsView::paintGhosts(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane) const {
  const Palette& p = colors();
  const BeltsLayout layout = layoutOfBelts();
  const QRectF room(layout.beltLeft(), 0, layout.beltWidth(), 1);
  const auto x = [&](Offset offset) { return layout.beltLeft() + m_viewport.x(beltPlace(offset), now()); };
  for (const LogBreak& one : m_breaks) {
    if (one.what != BreakKind::Truncated || one.broker != replica.broker) continue;
    const double fresh = freshness(one);
    if (fresh <= 0 || x(one.to) < room.left() || x(one.from) > room.right()) continue;
    painter.setOpacity(fresh);
    // Where other records stand by now there is no room for a ghost.
    if (const Offset begin = std::max(one.from, replica.logEnd); begin < one.to)
      drawGhost(painter, lane, x(begin), x(one.to));
    drawTear(painter, x(one.from), lane.top() + 20, lane.top() + 84, p.bad);
    drawPill(painter, x(one.from) + 5, lane.top() + 2,
             tr("truncated: %1, %n record(s) given up", nullptr, static_cast<int>(one.count()))
                 .arg(rangeText(one.from, one.to)),
             room, false);
    painter.setOpacity(1);
  }
}

void BeltsView::paintPowerLoss(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane) const {
  const BeltsLayout layout = layoutOfBelts();
  const double left = layout.beltLeft();
  const double right = left + layout.beltWidth();
  const double from = left + m_viewport.x(beltPlace(replica.logEnd), now());
  const double to = left + m_viewport.x(beltPlace(replica.lostTo), now());
  if (to < left || from > right) return;
  // No wider than what is seen: a log may be long.
  drawGhost(painter, lane, std::max(from, left - 20), std::min(to, right + 20));
  drawTear(painter, from, lane.top() + 20, lane.top() + 84, colors().bad);
}

void BeltsView::tellPowerLosses(QPainter& painter, const observe::PartitionSnapshot& partition) const {
  const BeltsLayout layout = layoutOfBelts();
  for (int i = 0; i < layout.laneCount; ++i) {
    const observe::ReplicaSnapshot& replica = partition.copies[static_cast<size_t>(i)];
    if (const QString lost = powerLossText(replica); !lost.isEmpty())
      drawPill(painter, layout.beltLeft() + m_viewport.x(beltPlace(replica.logEnd), now()) + 5,
               layout.lane(i).top() + 2, tr("✕ lost with its power, not on its disk: %1").arg(lost),
               {layout.beltLeft(), 0, layout.beltWidth(), 1}, true);
  }
}

void BeltsView::paintOffline(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane) const {
  const BeltsLayout layout = layoutOfBelts();
  // At the foot of the lane, beside the number of the log's end: no record stands there.
  constexpr double kLeast = 220;
  const QRectF end = logEndText(replica, lane);
  const bool before = end.left() - 12 - layout.beltLeft() >= kLeast;
  const double left = before ? layout.beltLeft() : end.right() + 12;
  const double right = before ? end.left() - 12 : layout.beltLeft() + layout.beltWidth();
  if (right - left < kLeast / 2) return;
  const QString text = tr("its log directory failed: %1").arg(fromUtf8(replica.offlineReason));
  drawPill(painter, left, lane.bottom() - 18,
           QFontMetricsF(Theme::body(10.5, QFont::Bold)).elidedText(text, Qt::ElideMiddle, right - left - 16),
           {left, 0, right - left, 1}, false);
}

void BeltsView::paintEpochs(QPainter& painter) const {
  const Palette& p = colors();
  const BeltsLayout layout = layoutOfBelts();
  const double left = layout.beltLeft();
  const double right = left + layout.beltWidth();
  const QFont font = Theme::body(10, QFont::Bold);
  double free = right + 60;
  // The newest first: where two would lie on each other it is the one that counts.
  for (auto one = m_breaks.rbegin(); one != m_breaks.rend(); ++one) {
    if (one->what != BreakKind::EpochBegan) continue;
    const double x = left + m_viewport.x(beltPlace(one->from), now());
    if (x < left || x > right) continue;
    QPen pen(p.epoch(one->epoch), 1.6);
    pen.setDashPattern({1.5, 2});
    painter.setPen(pen);
    painter.drawLine(QPointF(x, layout.laneTop), QPointF(x, layout.lanesBottom() + 20));
    const QString text = tr("epoch %1 · leader %2").arg(one->epoch.value()).arg(one->broker.value());
    const double width = textWidth(text, font) + 12;
    const double at = std::min(x, right - width);
    if (at + width > free - 4) continue;
    free = at;
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.epoch(one->epoch));
    painter.drawRoundedRect(QRectF(at, layout.lanesBottom() + 6, width, 14), 3, 3);
    drawLine(painter, at + 6, layout.lanesBottom() + 16.5, text, font, p.onEpoch);
  }
}

void BeltsView::paintLost(QPainter& painter) const {
  const Palette& p = colors();
  const BeltsLayout layout = layoutOfBelts();
  const QRectF room(layout.beltLeft(), layout.laneTop - 4, layout.beltWidth(),
                    layout.lanesBottom() - layout.laneTop + 8);
  for (const LogBreak& one : m_breaks) {
    if (one.what != BreakKind::Lost || one.count() == 0) continue;
    const double from = layout.beltLeft() + m_viewport.x(beltPlace(one.from), now());
    const double to = layout.beltLeft() + m_viewport.x(beltPlace(one.to), now());
    const QRectF band = QRectF(from, room.top(), std::max(4.0, to - from), room.height()).intersected(room);
    if (band.isEmpty()) continue;
    const bool noted = m_noted.contains(one.event);
    painter.save();
    painter.setClipRect(room);
    QColor soft = p.bad;
    soft.setAlphaF(p.dark ? 0.16F : 0.10F);
    painter.fillRect(band, soft);
    painter.setPen(QPen(p.bad, noted ? 1.2 : 2.4, Qt::DashLine));
    painter.drawLine(band.topLeft(), band.bottomLeft());
    painter.drawLine(band.topRight(), band.bottomRight());
    painter.restore();
    // Between the first two lanes: no record stands there.
    const double top =
        layout.laneCount > 1 ? layout.lane(0).bottom() + layout.laneGap / 2 - 7.5 : layout.lane(0).bottom() - 8;
    drawPill(painter, band.left(), top,
             tr("✕ %n acknowledged record(s) lost here", nullptr, static_cast<int>(one.count())), room, !noted);
  }
}

void BeltsView::paintBanner(QPainter& painter) const {
  const std::vector<LogBreak> lost = lostRecords();
  const BeltsLayout layout = layoutOfBelts();
  if (lost.empty() || layout.bannerHeight == 0) return;
  const Palette& p = colors();
  const QRectF box = layout.banner();
  const LogBreak& first = lost.front();
  const bool acknowledged = first.count() > 0;
  painter.setPen(Qt::NoPen);
  painter.setBrush(p.bad);
  painter.drawRoundedRect(box, 8, 8);
  const QColor ink = onBad();
  const double middle = box.center().y();
  painter.setBrush(ink);
  painter.drawEllipse(QPointF(box.left() + 20, middle), 9, 9);
  drawShape(painter, StateShape::Cross, {box.left() + 20, middle}, 9, p.bad);
  const QFont strong = Theme::body(14, QFont::Bold);
  const QFont plain = Theme::body(12.5, QFont::Medium);
  const double end = box.right() - 44;
  const QString title =
      acknowledged ? tr("%n acknowledged record(s) lost: %1", nullptr, static_cast<int>(first.count()))
                         .arg(rangeText(first.from, first.to))
                   : tr("Unclean election: whatever others held from %1 on is lost").arg(offsetText(first.from));
  QString rest =
      tr("unclean election of broker %1, epoch %2, %3")
          .arg(QString::number(first.broker.value()), QString::number(first.epoch.value()), timeText(first.at));
  if (lost.size() > 1) rest += tr(" · and %n loss(es) more", nullptr, static_cast<int>(lost.size()) - 1);
  double x = box.left() + 40;
  const QString shown = QFontMetricsF(strong).elidedText(title, Qt::ElideRight, end - x);
  drawLine(painter, x, middle + 5, shown, strong, ink);
  x += textWidth(shown, strong) + 16;
  if (end - x > 60)
    drawLine(painter, x, middle + 4.6, QFontMetricsF(plain).elidedText(rest, Qt::ElideRight, end - x), plain, ink);
  painter.setPen(QPen(ink, 2));
  const QPointF cross(box.right() - 22, middle);
  painter.drawLine(cross + QPointF(-5, -5), cross + QPointF(5, 5));
  painter.drawLine(cross + QPointF(-5, 5), cross + QPointF(5, -5));
}

}  // namespace tidemark::widgets
