#pragma once

#include <map>
#include <optional>
#include <set>

#include <QElapsedTimer>
#include <QWidget>

#include "belts/belt_viewport.h"
#include "belts/growth_meter.h"
#include "bridge/engine_bridge.h"
#include "bridge/motion.h"
#include "models/log_breaks.h"
#include "observe/snapshot.h"
#include "timeline/time_travel.h"

namespace tidemark::widgets {

/// Where things stand in the view; all in device-independent pixels of the widget.
struct BeltsLayout {
  static constexpr double kMargin = 24;
  static constexpr double kLaneHeight = 100;
  /// What a lane, a gap and the purgatory still need in a low window.
  static constexpr double kLeastLane = 92;
  static constexpr double kLeastGap = 6;
  static constexpr double kLeastPurgatory = 50;
  static constexpr double kLeftColumn = 118;
  static constexpr double kRightPadding = 16;

  int laneCount = 0;
  double width = 0;
  double laneTop = 30;
  double laneGap = 18;
  double laneHeight = kLaneHeight;
  double purgatoryHeight = 58;
  /// Of the banner that tells of lost records; 0: there is none.
  double bannerHeight = 0;
  static constexpr double kBanner = 40;

  QRectF banner() const { return {kMargin, 2, width - 2 * kMargin, bannerHeight - 6}; }
  QRectF lane(int index) const {
    return {kMargin, laneTop + index * (laneHeight + laneGap), width - 2 * kMargin, laneHeight};
  }
  double lanesBottom() const { return laneCount == 0 ? laneTop : lane(laneCount - 1).bottom(); }
  double beltLeft() const { return kMargin + kLeftColumn; }
  double beltWidth() const { return width - kMargin - kRightPadding - beltLeft(); }
  double axisY() const { return lanesBottom() + 26; }
  double readersY() const { return axisY() + 26; }
  QRectF purgatory() const { return {kMargin, axisY() + 72, width - 2 * kMargin, purgatoryHeight}; }
  double height() const { return purgatory().bottom() + (purgatoryHeight < 58 ? 8 : 16); }
  /// As low as it gets.
  void squeeze() {
    laneGap = kLeastGap;
    laneHeight = kLeastLane;
    purgatoryHeight = kLeastPurgatory;
  }
};

/// An offset as the viewport counts it.
inline double beltPlace(Offset offset) {
  return static_cast<double>(offset.value());
}

/// The replicas of one partition as belts: batches coloured by leader epoch, records, index entries, log ends and the
/// high watermark that move smoothly, segment edges, followers' fetches, readers, and what is parked in purgatory.
/// Where an epoch began is flagged; what a follower holds and its leader does not is hatched in red; what it gave up
/// stays as a ghost for a while, and what a broker lost with its power for as long as it is down; records that were
/// acknowledged and are lost stand in a banner until somebody has taken note of it.
///
/// Draws what the last frame brought; no engine call in a paint event. Keys: ←/→ scroll, +/− zoom, 0 automatic zoom,
/// End or F follow the tail, Home the oldest record, Ctrl+C copies what is selected, Enter goes to where records were
/// lost, Esc takes note of it.
class BeltsView : public QWidget {
  Q_OBJECT

 public:
  BeltsView(EngineBridge& bridge, TimeTravel& travel, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  const std::optional<TopicPartition>& partition() const noexcept { return m_partition; }

  BeltViewport& viewport() noexcept { return m_viewport; }
  BeltsLayout layoutOfBelts() const;
  /// A table of all copies, or of the batch that is selected.
  QString selectionAsText() const;
  /// Leader epochs of the batches that are in sight, oldest first: for the legend.
  std::vector<LeaderEpoch> epochsInSight() const;
  bool isMoving() const;
  /// What is marked: by the moment that is shown, oldest first.
  const std::vector<LogBreak>& breaks() const noexcept { return m_breaks; }
  /// Losses that nobody has taken note of; their numbers in the history are forgotten with the cluster.
  std::vector<LogBreak> lostRecords() const;
  void takeNote();
  /// Log ends, high watermark and offsets stand where they belong; an arrow may still fade.
  bool isSettled() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void brokerPicked(tidemark::NodeId broker);
  /// Somebody wants to see that batch of that copy taken apart.
  void batchPicked(tidemark::NodeId broker, tidemark::Offset base);
  void followChanged(bool follows);
  /// Somebody wants to see that event.
  void eventWanted(quint64 number, tidemark::platform::WallTime at);
  void noteTaken();
  void legendChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Selected {
    NodeId broker;
    Offset base;
    friend bool operator==(const Selected&, const Selected&) = default;
  };
  /// How long an arrow of a fetch stays.
  static constexpr qint64 kFetchShownMs = 500;

  struct LaneMotion {
    Motion logEnd;
    Offset fetchOffset;
    /// When its newest fetch was seen; the arrow fades after that.
    qint64 fetchedAt = -10'000;
  };

  /// What waits in purgatory, with the moment it was last seen: a fetch that is answered is asked again at once, and
  /// would flicker.
  struct Parked {
    observe::ParkedSnapshot shown;
    qint64 seen = 0;
  };
  static constexpr qint64 kFetchHeldMs = 400;

  void onFrame(const Frame& frame);
  void take(bool jump);
  void takeParked();
  /// Every number that is drawn: a snapshot in which none of them changed is not painted.
  std::vector<int64_t> digest() const;
  const observe::PartitionSnapshot* shown() const;
  observe::BrokerState brokerState(NodeId id) const;
  qint64 now() const { return m_clock.elapsed(); }
  void moved();
  std::optional<std::pair<int, const observe::BatchSnapshot*>> batchAt(const QPointF& point) const;
  QString toolTipAt(const QPointF& point) const;
  QRectF followPill() const;
  /// The moment that is shown.
  platform::WallTime wall() const {
    return m_snapshot->wall + std::chrono::duration_cast<platform::WallClock::duration>(m_bridge.age());
  }
  void takeBreaks();
  /// 1: it has just happened, 0: it is not shown any more.
  double freshness(const LogBreak& one) const;

  // Painting, in this order (belts_paint.cpp, belts_marks.cpp).
  void paintLane(QPainter& painter, const observe::PartitionSnapshot& partition, int index) const;
  void paintBatches(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane, double hw,
                    const std::optional<Offset>& parts) const;
  void paintSegments(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane,
                     bool withNames) const;
  /// What became of the transaction of a batch, over the batch; what a marker says.
  void paintTransaction(QPainter& painter, const QRectF& box, observe::TransactionFate fate, bool control) const;
  /// Where read_committed has to stop, if that is before the high watermark.
  void paintLastStable(QPainter& painter, const QRectF& lane) const;
  /// Where the number of a log's end stands.
  /// Where the log end is now, on its way to where it was told to be; maybe beside the belt.
  double logEndX(const observe::ReplicaSnapshot& replica) const;
  QRectF logEndText(const observe::ReplicaSnapshot& replica, const QRectF& lane) const;
  void paintLogEnd(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane, bool dim) const;
  void paintFetches(QPainter& painter, const observe::PartitionSnapshot& partition) const;
  void paintHighWatermark(QPainter& painter, const observe::PartitionSnapshot& partition) const;
  // What broke a log off (belts_breaks.cpp).
  void paintParting(QPainter& painter, const observe::PartitionSnapshot& partition,
                    const observe::ReplicaSnapshot& replica, const QRectF& lane, Offset from) const;
  void paintGhosts(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane) const;
  /// What its broker lost with its power; how much that is stands before all lines that go through the lanes.
  void paintPowerLoss(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane) const;
  void tellPowerLosses(QPainter& painter, const observe::PartitionSnapshot& partition) const;
  /// Why the log of a copy whose broker runs takes nothing any more.
  void paintOffline(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane) const;
  void paintEpochs(QPainter& painter) const;
  void paintLost(QPainter& painter) const;
  void paintBanner(QPainter& painter) const;
  void paintAxis(QPainter& painter) const;
  void paintReaders(QPainter& painter, const observe::PartitionSnapshot& partition) const;
  void paintPurgatory(QPainter& painter) const;
  void paintFollowPill(QPainter& painter) const;
  void paintNothing(QPainter& painter) const;

  EngineBridge& m_bridge;
  TimeTravel& m_travel;
  observe::SnapshotPtr m_snapshot;
  std::vector<LogBreak> m_breaks;
  std::set<uint64_t> m_noted;
  std::optional<TopicPartition> m_partition;
  BeltViewport m_viewport;
  QElapsedTimer m_clock;
  Motion m_highWatermark;
  std::map<NodeId, LaneMotion> m_lanes;
  std::vector<Parked> m_parked;
  /// The last frame showed a moment of the past.
  bool m_wasPast = false;
  GrowthMeter m_growth;
  std::optional<Selected> m_selected;
  std::optional<Selected> m_hovered;
  std::optional<QPointF> m_dragFrom;
  bool m_dragged = false;
  std::vector<LeaderEpoch> m_legend;
  std::vector<int64_t> m_digest;
};

}  // namespace tidemark::widgets
