#include "belts/belts_view.h"

#include <algorithm>
#include <cmath>

#include "models/readers.h"
#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {

using observe::BatchSnapshot;
using observe::PartitionSnapshot;
using observe::ReplicaSnapshot;

BeltsView::BeltsView(EngineBridge& bridge, TimeTravel& travel, QWidget* parent)
    : QWidget(parent), m_bridge(bridge), m_travel(travel), m_snapshot(bridge.snapshot()) {
  m_clock.start();
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Belts: the replicas of a partition. Press T for the same as a table."));
  connect(&bridge, &EngineBridge::frame, this, &BeltsView::onFrame);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  // What is parked shows the time it has left.
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (!isVisible()) return;
    // A ghost fades.
    if (std::ranges::any_of(m_breaks, [this](const LogBreak& one) {
          return one.what == LogBreak::What::Truncated && freshness(one) > 0;
        }))
      update();
    takeParked();
    const bool parked = std::ranges::any_of(m_parked, [](const Parked& one) { return one.shown.follower == kNoNode; });
    if (parked) update(layoutOfBelts().purgatory().toAlignedRect());
  });
}

BeltsLayout BeltsView::layoutOfBelts() const {
  BeltsLayout layout;
  layout.width = width();
  const PartitionSnapshot* partition = shown();
  layout.laneCount = partition == nullptr ? 0 : static_cast<int>(partition->copies.size());
  if (partition != nullptr && !lostRecords().empty()) layout.laneTop += layout.bannerHeight = BeltsLayout::kBanner;
  // Five replicas still fit a usual window: the gaps give first, then the lanes and the purgatory.
  double spare = height() - layout.height();
  if (spare < 0 && layout.laneCount > 1) {
    layout.laneGap = std::max(BeltsLayout::kLeastGap, layout.laneGap + spare / (layout.laneCount - 1));
    spare = height() - layout.height();
  }
  if (spare < 0 && layout.laneCount > 0) {
    layout.purgatoryHeight = BeltsLayout::kLeastPurgatory;
    spare = height() - layout.height();
    if (spare < 0) layout.laneHeight = std::max(BeltsLayout::kLeastLane, layout.laneHeight + spare / layout.laneCount);
  }
  return layout;
}

QSize BeltsView::sizeHint() const {
  return {1142, qCeil(layoutOfBelts().height())};
}

QSize BeltsView::minimumSizeHint() const {
  BeltsLayout layout;
  layout.laneCount = layoutOfBelts().laneCount;
  layout.laneTop = layoutOfBelts().laneTop;
  layout.squeeze();
  return {300, qCeil(layout.height())};
}

void BeltsView::setPartition(const std::optional<TopicPartition>& partition) {
  if (partition == m_partition) return;
  m_partition = partition;
  m_lanes.clear();
  m_highWatermark = Motion();
  m_growth.clear();
  m_viewport.reset();
  m_selected.reset();
  m_hovered.reset();
  m_parked.clear();
  m_breaks.clear();
  m_bridge.watch(partition);
  take(true);
  updateGeometry();
  update();
}

void BeltsView::onFrame(const Frame& frame) {
  m_snapshot = frame.snapshot;
  if (frame.anotherCluster) {
    m_noted.clear();
    setPartition(std::nullopt);
  }
  // What waits now waited not then.
  if (m_bridge.moment() || m_wasPast) m_parked.clear();
  m_wasPast = m_bridge.moment().has_value();
  if (frame.snapshot != frame.previous)
    take(false);
  else if (!frame.events.events.empty())
    takeBreaks();
  std::vector<int64_t> drawn = digest();
  const bool changed = drawn != m_digest;
  m_digest = std::move(drawn);
  // A frame in which nothing of ours changed or moves (another view keeps the timer going) paints nothing.
  if (changed || isMoving()) update();
}

const PartitionSnapshot* BeltsView::shown() const {
  return m_partition ? observe::findPartition(*m_snapshot, *m_partition) : nullptr;
}

observe::BrokerState BeltsView::brokerState(NodeId id) const {
  const observe::BrokerSnapshot* broker = observe::findBroker(*m_snapshot, id);
  return broker == nullptr ? observe::BrokerState::Stopped : broker->state;
}

std::vector<int64_t> BeltsView::digest() const {
  std::vector<int64_t> numbers;
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return numbers;
  numbers.insert(numbers.end(),
                 {partition->highWatermark.value(), partition->logEnd.value(), partition->leader.value(),
                  partition->leaderEpoch.value(), static_cast<int64_t>(partition->isr.size()),
                  static_cast<int64_t>(m_breaks.size()), m_breaks.empty() ? 0 : m_breaks.back().to.value()});
  for (const ReplicaSnapshot& replica : partition->copies)
    numbers.insert(
        numbers.end(),
        {replica.broker.value(), replica.inSync, replica.online, isOffline(replica), replica.logStart.value(),
         replica.logEnd.value(), replica.lostTo.value(), replica.fetchOffset.value(),
         static_cast<int64_t>(replica.batches.size()), static_cast<int64_t>(replica.segments.size()),
         static_cast<int64_t>(replica.indexEntries.size()), static_cast<int64_t>(brokerState(replica.broker))});
  for (const observe::ReaderSnapshot* reader : readersOf(*m_snapshot, m_partition))
    numbers.push_back(reader->fetchOffset.value());
  // A fetch that waits its time out and is asked again looks the same.
  for (const Parked& one : m_parked) {
    const bool produce = one.shown.kind == observe::ParkedKind::Produce;
    numbers.insert(numbers.end(), {static_cast<int64_t>(one.shown.kind), produce ? one.shown.correlation : 0,
                                   one.shown.follower.value(), one.shown.needs.value()});
  }
  return numbers;
}

void BeltsView::takeParked() {
  const qint64 time = now();
  const auto same = [](const observe::ParkedSnapshot& a, const observe::ParkedSnapshot& b) {
    return a.kind == b.kind && a.client == b.client && a.follower == b.follower && a.broker == b.broker &&
           (a.kind != observe::ParkedKind::Produce || a.correlation == b.correlation);
  };
  for (const observe::ParkedSnapshot& parked : m_snapshot->parked) {
    if (!m_partition || parked.partition != *m_partition) continue;
    const auto known = std::ranges::find_if(m_parked, [&](const Parked& one) { return same(one.shown, parked); });
    if (known == m_parked.end())
      m_parked.push_back({parked, time});
    else
      *known = {parked, time};
  }
  std::erase_if(m_parked, [&](const Parked& one) {
    return one.seen < time &&
           (one.shown.kind == observe::ParkedKind::Produce || time - one.seen > kFetchHeldMs || !m_partition);
  });
}

std::vector<LogBreak> BeltsView::lostRecords() const {
  std::vector<LogBreak> lost;
  for (const LogBreak& one : m_breaks)
    if (one.what == LogBreak::What::Lost && !m_noted.contains(one.event)) lost.push_back(one);
  return lost;
}

void BeltsView::takeNote() {
  const auto lost = lostRecords();
  if (lost.empty()) return;
  for (const LogBreak& one : lost) m_noted.insert(one.event);
  updateGeometry();
  update();
  Q_EMIT noteTaken();
}

void BeltsView::takeBreaks() {
  const TimelinePartition* past = m_partition ? m_travel.past().find(*m_partition) : nullptr;
  const size_t lost = lostRecords().size();
  // Whether a loss is shown does not depend on how far the clocks of two brokers are apart.
  m_breaks = past == nullptr ? std::vector<LogBreak>()
                             : breaksOf(*past, m_travel.isLive() ? platform::WallTime::max() : m_snapshot->wall);
  if (lostRecords().size() != lost) updateGeometry();
}

void BeltsView::take(bool jump) {
  takeParked();
  takeBreaks();
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return;
  const qint64 time = now();
  const int motion = jump ? 0 : Theme::instance().motionMs();
  const size_t lanes = m_lanes.size();
  int64_t end = partition->logEnd.value();
  for (const ReplicaSnapshot& replica : partition->copies) {
    LaneMotion& lane = m_lanes[replica.broker];
    lane.logEnd.moveTo(static_cast<double>(std::max<int64_t>(0, replica.logEnd.value())), time, motion);
    if (!replica.leader && replica.fetchOffset != lane.fetchOffset) {
      lane.fetchOffset = replica.fetchOffset;
      if (!jump) lane.fetchedAt = time;
    }
    end = std::max(end, replica.logEnd.value());
  }
  if (m_lanes.size() != lanes) updateGeometry();
  // Without a leader what a copy knew to be committed still is.
  Offset committed = partition->highWatermark;
  if (partition->leader == kNoNode)
    for (const ReplicaSnapshot& copy : partition->copies) committed = std::max(committed, copy.highWatermark);
  m_highWatermark.moveTo(static_cast<double>(std::max<int64_t>(0, committed.value())), time, motion);
  m_growth.add(time, static_cast<double>(end));
  m_viewport.setWidth(layoutOfBelts().beltWidth());
  m_viewport.setRange(std::max<int64_t>(0, partition->logStart.value()), std::max<int64_t>(0, end),
                      m_growth.perSecond(time), time, motion);
  moved();
  std::vector<LeaderEpoch> legend = epochsInSight();
  if (legend != m_legend) {
    m_legend = std::move(legend);
    Q_EMIT legendChanged();
  }
}

bool BeltsView::isSettled() const {
  const qint64 time = now();
  const auto moves = [time](const auto& lane) { return lane.second.logEnd.isMoving(time); };
  return !m_viewport.isMoving(time) && !m_highWatermark.isMoving(time) && std::ranges::none_of(m_lanes, moves);
}

bool BeltsView::isMoving() const {
  const qint64 time = now();
  if (m_viewport.isMoving(time) || m_highWatermark.isMoving(time)) return true;
  return std::ranges::any_of(m_lanes, [time](const auto& lane) {
    return lane.second.logEnd.isMoving(time) || time - lane.second.fetchedAt < kFetchShownMs;
  });
}

void BeltsView::moved() {
  const qint64 time = now();
  int keep = isMoving() ? Theme::instance().motionMs() + EngineBridge::kFrameMs : 0;
  for (const auto& [id, lane] : m_lanes)
    if (const qint64 left = kFetchShownMs - (time - lane.fetchedAt); left > 0)
      keep = std::max(keep, static_cast<int>(left) + 20);
  if (keep > 0) m_bridge.keepTicking(keep);
}

std::vector<LeaderEpoch> BeltsView::epochsInSight() const {
  std::vector<LeaderEpoch> epochs;
  const PartitionSnapshot* partition = shown();
  if (partition == nullptr) return epochs;
  const qint64 time = now();
  const double first = m_viewport.first(time);
  const double last = m_viewport.offsetAt(m_viewport.width(), time);
  for (const ReplicaSnapshot& replica : partition->copies)
    for (const BatchSnapshot& batch : replica.batches)
      if (beltPlace(batch.lastOffset) >= first && beltPlace(batch.baseOffset) <= last &&
          std::ranges::find(epochs, batch.epoch) == epochs.end())
        epochs.push_back(batch.epoch);
  std::ranges::sort(epochs);
  return epochs;
}

void BeltsView::resizeEvent(QResizeEvent*) {
  m_viewport.setWidth(layoutOfBelts().beltWidth());
  if (m_viewport.followsTail()) m_viewport.followTail(now(), 0);
}

}  // namespace tidemark::widgets
