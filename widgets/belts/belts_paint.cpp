// How the belts are drawn: one function for each thing one sees, from the back to the front. Here the lanes, what lies
// on them and where logs end.
#include <algorithm>
#include <cmath>
#include <optional>

#include <QPainter>
#include <QPainterPath>

#include "belts/belts_view.h"
#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

using observe::BatchSnapshot;
using observe::BrokerState;
using observe::PartitionSnapshot;
using observe::ReplicaSnapshot;

namespace {

constexpr double kBatchTop = 34;
constexpr double kBatchHeight = 34;
constexpr double kRail = 70;

/// Neighbours that are too narrow to be seen apart are drawn as one block.
struct Run {
  Offset base, last;
  LeaderEpoch epoch;
  int records = 0;
  int batches = 0;
  bool committed = false;
  /// Of the transaction that its batches belong to.
  observe::TransactionFate fate = observe::TransactionFate::Unknown;
  bool control = false;
  /// Its leader does not have it.
  bool parted = false;
};

QBrush laneGround(const Palette& p, const ReplicaSnapshot& replica, BrokerState state) {
  if (state == BrokerState::Killed || state == BrokerState::Stopped || isOffline(replica))
    return hatch(p.hatchGround, mixed(p.hatchLine, p.bad, p.dark ? 0.3 : 0.2));
  if (state == BrokerState::Fenced) return hatch(p.hatchGround, mixed(p.hatchLine, p.fenced, p.dark ? 0.3 : 0.28));
  if (state == BrokerState::Paused || !replica.inSync) return hatch(p.hatchGround, p.hatchLine);
  return p.panel;
}

}  // namespace

void BeltsView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), colors().background);
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) {
    paintNothing(painter);
    return;
  }
  const BeltsLayout layout = layoutOfBelts();
  for (int i = 0; i < layout.laneCount; ++i) paintLane(painter, *partition, i);
  paintEpochs(painter);
  paintLost(painter);
  paintFetches(painter, *partition);
  paintHighWatermark(painter, *partition);
  tellPowerLosses(painter, *partition);
  paintAxis(painter);
  paintReaders(painter, *partition);
  paintPurgatory(painter);
  if (!m_viewport.followsTail()) paintFollowPill(painter);
  paintBanner(painter);
  if (hasFocus() && window()->testAttribute(Qt::WA_KeyboardFocusChange)) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colors().accent, 2));
    painter.drawRoundedRect(QRectF(rect()).adjusted(3, 1, -3, -1), 6, 6);
  }
}

void BeltsView::paintNothing(QPainter& painter) const {
  const Palette& p = colors();
  const double middle = width() / 2.0;
  const bool past = m_partition && m_bridge.moment();
  drawLine(painter, middle, 150,
           past ? tr("%1 did not exist then").arg(partitionText(*m_partition)) : tr("No partition is chosen"),
           Theme::body(16, QFont::DemiBold), p.ink, Qt::AlignHCenter);
  drawLine(painter, middle, 174,
           past ? tr("Go on in time with . or the bar above.") : tr("Create a topic, or pick one on the left."),
           Theme::body(13), p.muted, Qt::AlignHCenter);
}

void BeltsView::paintLane(QPainter& painter, const PartitionSnapshot& partition, int index) const {
  const Palette& p = colors();
  const ReplicaSnapshot& replica = partition.copies[static_cast<size_t>(index)];
  const BrokerState state = brokerState(replica.broker);
  const BeltsLayout layout = layoutOfBelts();
  const QRectF lane = layout.lane(index);
  const bool dim = state == BrokerState::Killed || state == BrokerState::Stopped || state == BrokerState::Paused ||
                   isOffline(replica) || (!replica.inSync && state != BrokerState::Running);

  painter.setPen(QPen(p.line, 1));
  painter.setBrush(laneGround(p, replica, state));
  painter.drawRoundedRect(lane.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);

  const double left = lane.left() + 14;
  const QFont title = Theme::body(14, QFont::Bold);
  const QString name = tr("Broker %1").arg(replica.broker.value());
  drawLine(painter, left, lane.top() + 30, name, title, dim ? p.muted : p.ink);
  if (replica.leader) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(p.leaderCrown);
    painter.drawPath(crownPath({left + QFontMetricsF(title).horizontalAdvance(name) + 9, lane.top() + 28}, 16));
  }
  drawLine(painter, left, lane.top() + 50, replica.leader ? tr("leader") : tr("follower"), Theme::body(12), p.muted);
  const StateLook look = lookOf(replica, state);
  drawShape(painter, look.shape, {left + 5, lane.top() + 72}, 9, look.color);
  drawLine(painter, left + 16, lane.top() + 76, look.word, Theme::body(12, QFont::DemiBold), look.textColor);

  const double beltLeft = layout.beltLeft();
  const double beltWidth = layout.beltWidth();
  painter.setPen(Qt::NoPen);
  painter.setBrush(p.rail);
  painter.drawRoundedRect(QRectF(beltLeft, lane.top() + kRail, beltWidth, 5), 2.5, 2.5);
  painter.save();
  painter.setClipRect(QRectF(beltLeft - 1, lane.top() + 1, beltWidth + 2, lane.height() - 2));
  // Rollers run with the belt.
  painter.setBrush(p.roller);
  const qint64 time = now();
  const double shift = std::fmod(m_viewport.first(time) * m_viewport.scale(time), 26.0);
  for (double x = beltLeft + 13 - shift - 26; x < beltLeft + beltWidth + 26; x += 26)
    painter.drawEllipse(QPointF(x, lane.top() + 78), 3.4, 3.4);
  const double hw = m_highWatermark.at(time);
  const std::optional<Offset> parts = partsFrom(partition, replica);
  paintBatches(painter, replica, lane, hw, parts);
  paintSegments(painter, replica, lane, index == 0);
  paintGhosts(painter, replica, lane);
  if (replica.lostTo != kNoOffset) paintPowerLoss(painter, replica, lane);
  if (parts) paintParting(painter, partition, replica, lane, *parts);
  painter.restore();
  paintLogEnd(painter, replica, lane, dim);
  if (isOffline(replica)) paintOffline(painter, replica, lane);
  if (replica.leader) paintLastStable(painter, lane);
}

void BeltsView::paintBatches(QPainter& painter, const ReplicaSnapshot& replica, const QRectF& lane, double hw,
                             const std::optional<Offset>& parts) const {
  const Palette& p = colors();
  const qint64 time = now();
  const double beltLeft = layoutOfBelts().beltLeft();
  const double beltWidth = layoutOfBelts().beltWidth();
  const double scale = m_viewport.scale(time);
  const double y = lane.top() + kBatchTop;
  const auto x = [&](Offset offset) { return beltLeft + m_viewport.x(beltPlace(offset), time); };
  const double end =
      m_lanes.contains(replica.broker) ? m_lanes.at(replica.broker).logEnd.at(time) : beltPlace(replica.logEnd);

  // Records that are on the disk but not in the snapshot: a plain block.
  const Offset firstKnown = replica.batches.empty() ? replica.logEnd : replica.batches.front().baseOffset;
  if (replica.logStart.value() >= 0 && replica.logStart < firstKnown) {
    const double from = std::max(x(replica.logStart), beltLeft - 20);
    const double to = std::min(x(firstKnown), beltLeft + beltWidth + 20);
    if (to - from > 2) {
      painter.setPen(QPen(p.line, 1));
      painter.setBrush(p.sunken);
      painter.drawRoundedRect(QRectF(from + 1, y, to - from - 2, kBatchHeight), 4, 4);
      const QRectF seen =
          QRectF(from, y, to - from, kBatchHeight).intersected(QRectF(beltLeft, y, beltWidth, kBatchHeight));
      if (seen.width() > 110) {
        painter.setFont(Theme::body(11));
        painter.setPen(p.muted);
        painter.drawText(seen, Qt::AlignCenter, replica.online ? tr("older records") : tr("records on its disk"));
      }
    }
  }

  std::vector<Run> runs;
  for (const BatchSnapshot& batch : replica.batches) {
    if (x(batch.lastOffset.next()) < beltLeft - 40 || x(batch.baseOffset) > beltLeft + beltWidth + 40) continue;
    // What the log end has not reached yet, on its way, is not drawn yet.
    if (beltPlace(batch.baseOffset) >= end) break;
    // The line counts as past a record once it is past its middle.
    const bool parted = parts && batch.baseOffset >= *parts;
    const bool committed = !parted && beltPlace(batch.lastOffset) + 0.5 <= hw;
    const double width = (beltPlace(batch.lastOffset) + 1 - beltPlace(batch.baseOffset)) * scale;
    if (!runs.empty() && runs.back().epoch == batch.epoch && runs.back().committed == committed &&
        runs.back().parted == parted && runs.back().fate == batch.fate && runs.back().control == batch.control &&
        (width < 5 || (beltPlace(runs.back().last) + 1 - beltPlace(runs.back().base)) * scale < 5)) {
      runs.back().last = batch.lastOffset;
      runs.back().records += batch.recordCount;
      ++runs.back().batches;
      continue;
    }
    runs.push_back({batch.baseOffset, batch.lastOffset, batch.epoch, batch.recordCount, 1, committed, batch.fate,
                    batch.control, parted});
  }

  double labelFree = -1e9;
  const QFont labelFont = Theme::mono(10);
  const QFont epochFont = Theme::body(10, QFont::Bold);
  // Colours come again after seven epochs: wherever two meet the number stands beside the fill.
  const bool severalEpochs = m_legend.size() > 1;
  std::optional<LeaderEpoch> told;
  const double gap = scale >= 2 ? 1.5 : 0.5;
  for (const Run& run : runs) {
    const double left = x(run.base);
    const double right = std::min(x(run.last.next()), beltLeft + m_viewport.x(end, time));
    const QRectF box(left + gap, y, std::max(1.0, right - left - 2 * gap), kBatchHeight);
    const QColor& color = p.epoch(run.epoch);
    const double radius = std::min(4.0, box.width() / 3);
    const bool selected = m_selected && m_selected->broker == replica.broker && m_selected->base == run.base;
    const bool hovered = m_hovered && m_hovered->base == run.base;
    if (run.committed) {
      painter.setPen(QPen(color, 1.6));
      painter.setBrush(color);
    } else {
      QPen pen(color, 1.6);
      pen.setDashPattern({2.5, 1.9});
      if (run.parted) pen.setColor(p.bad);
      painter.setPen(pen);
      painter.setBrush(run.parted ? hatch(p.badSoft, p.bad, 6, 1.1) : QBrush(p.panel));
    }
    painter.drawRoundedRect(box, radius, radius);
    const double inner = box.width() - 6;
    const double slot = run.records > 0 ? (inner - 2.0 * (run.records - 1)) / run.records : 0;
    if (run.batches == 1 && slot >= 2.5 && !run.parted) {
      QColor shine = run.committed ? p.recordShine : color;
      if (!run.committed) shine.setAlphaF(0.35f);
      painter.setPen(Qt::NoPen);
      painter.setBrush(shine);
      for (int i = 0; i < run.records; ++i)
        painter.drawRoundedRect(QRectF(box.left() + 3 + i * (slot + 2), y + 5, slot, kBatchHeight - 10), 2, 2);
    }
    if (run.fate != observe::TransactionFate::Unknown) paintTransaction(painter, box, run.fate, run.control);
    if (selected || hovered) {
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(selected ? p.ink : p.muted, selected ? 2 : 1.2));
      painter.drawRoundedRect(box.adjusted(-1.5, -1.5, 1.5, 1.5), radius + 1, radius + 1);
    }
    if (severalEpochs && told != run.epoch && right > beltLeft + 8) {
      told = run.epoch;
      const QString epoch = tr("epoch %1").arg(run.epoch.value());
      const double at = std::max({left + 2, beltLeft + 2, labelFree});
      const double epochWidth = QFontMetricsF(epochFont).horizontalAdvance(epoch);
      painter.setPen(Qt::NoPen);
      painter.setBrush(color);
      painter.drawRoundedRect(QRectF(at, lane.top() + 18.5, epochWidth + 10, 13), 6.5, 6.5);
      drawLine(painter, at + 5, lane.top() + 28.5, epoch, epochFont, p.onEpoch);
      labelFree = at + epochWidth + 14;
    }
    const QString label = grouped(run.base.value());
    const double labelWidth = QFontMetricsF(labelFont).horizontalAdvance(label);
    if (left + 4 > labelFree && left + 4 >= beltLeft) {
      drawLine(painter, left + 4, lane.top() + 29, label, labelFont, p.heads);
      labelFree = left + 4 + labelWidth + 10;
    }
  }

  // Index entries: a tick between the records and the rail.
  painter.setPen(QPen(p.indexTick, 2, Qt::SolidLine, Qt::FlatCap));
  double lastTick = -1e9;
  for (const observe::IndexEntrySnapshot& entry : replica.indexEntries) {
    const double at = x(entry.offset) + scale / 2;
    if (at < beltLeft || at > beltLeft + beltWidth || at - lastTick < 3 || beltPlace(entry.offset) >= end) continue;
    painter.drawLine(QPointF(at, lane.top() + kRail - 1), QPointF(at, lane.top() + kRail + 5));
    lastTick = at;
  }
}

void BeltsView::paintSegments(QPainter& painter, const ReplicaSnapshot& replica, const QRectF& lane,
                              bool withNames) const {
  const Palette& p = colors();
  const qint64 time = now();
  const BeltsLayout layout = layoutOfBelts();
  double nameFree = -1e9;
  const QFont font = Theme::mono(10);
  for (const observe::SegmentSnapshot& segment : replica.segments) {
    const double x = layout.beltLeft() + m_viewport.x(beltPlace(segment.baseOffset), time);
    if (x < layout.beltLeft() - 300 || x > layout.beltLeft() + layout.beltWidth()) continue;
    if (x >= layout.beltLeft() - 1) {
      QPen pen(p.violet, 1.2);
      pen.setDashPattern({2.5, 2.5});
      painter.setPen(pen);
      painter.drawLine(QPointF(x, lane.top() + 18), QPointF(x, lane.top() + 84));
    }
    if (!withNames) continue;
    const QString name = segmentFileName(segment.baseOffset);
    const double at = std::max(x + 5, layout.beltLeft() + 1);
    const double width = QFontMetricsF(font).horizontalAdvance(name);
    if (at < nameFree || (x < layout.beltLeft() && x + 5 + width < layout.beltLeft())) continue;
    if (x < layout.beltLeft()) continue;
    drawLine(painter, at, lane.top() + 15, name, font, p.violet);
    nameFree = at + width + 12;
  }
}

double BeltsView::logEndX(const ReplicaSnapshot& replica) const {
  const qint64 time = now();
  const auto known = m_lanes.find(replica.broker);
  const double end = known == m_lanes.end() ? beltPlace(replica.logEnd) : known->second.logEnd.at(time);
  return layoutOfBelts().beltLeft() + m_viewport.x(end, time);
}

QRectF BeltsView::logEndText(const ReplicaSnapshot& replica, const QRectF& lane) const {
  const BeltsLayout layout = layoutOfBelts();
  const double x = logEndX(replica);
  const double right = layout.beltLeft() + layout.beltWidth();
  const double width = textWidth(tr("LEO %1").arg(offsetText(replica.logEnd)), Theme::mono(11, QFont::DemiBold));
  const double at = x > right                          ? right - width - 16
                    : x < layout.beltLeft()            ? layout.beltLeft() + 16
                    : x + 9 + width > lane.right() - 6 ? x - 9 - width
                                                       : x + 9;
  return {at, lane.top() + 78, width, 14};
}

void BeltsView::paintLogEnd(QPainter& painter, const ReplicaSnapshot& replica, const QRectF& lane, bool dim) const {
  if (replica.logEnd.value() < 0) return;
  const Palette& p = colors();
  const BeltsLayout layout = layoutOfBelts();
  const double x = logEndX(replica);
  const double right = layout.beltLeft() + layout.beltWidth();
  const QColor color = dim ? p.muted : p.ink;
  const QFont font = Theme::mono(11, QFont::DemiBold);
  const QString text = tr("LEO %1").arg(offsetText(replica.logEnd));
  const double width = QFontMetricsF(font).horizontalAdvance(text);
  if (x > right || x < layout.beltLeft()) {
    const bool beyond = x > right;
    drawLine(painter, beyond ? right : layout.beltLeft(), lane.top() + 92,
             beyond ? tr("%1 ▸").arg(text) : tr("◂ %1").arg(text), font, color,
             beyond ? Qt::AlignRight : Qt::AlignLeft);
    return;
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF({{x, lane.top() + 70}, {x - 6, lane.top() + 82}, {x + 6, lane.top() + 82}}));
  // The text stands on the rollers: they give way.
  const double at = logEndText(replica, lane).left();
  painter.setBrush(p.panel);
  if (!dim && replica.inSync) painter.drawRect(QRectF(at - 2, lane.top() + 75.5, width + 4, 15));
  drawLine(painter, at, lane.top() + 88, text, font, color);
}

}  // namespace tidemark::widgets
