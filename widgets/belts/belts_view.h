#pragma once

#include <map>
#include <optional>

#include <QElapsedTimer>
#include <QWidget>

#include "belts/belt_viewport.h"
#include "belts/growth_meter.h"
#include "bridge/engine_bridge.h"
#include "bridge/motion.h"
#include "observe/snapshot.h"

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

/// The replicas of one partition as belts: batches coloured by leader epoch, records, index entries, log ends and the
/// high watermark that move smoothly, segment edges, followers' fetches, readers, and what is parked in purgatory.
///
/// Draws what the last frame brought; no engine call in a paint event. Keys: ←/→ scroll, +/− zoom, 0 automatic zoom,
/// End or F follow the tail, Home the oldest record, Ctrl+C copies what is selected.
class BeltsView : public QWidget {
  Q_OBJECT

 public:
  explicit BeltsView(EngineBridge& bridge, QWidget* parent = nullptr);

  void setPartition(const std::optional<TopicPartition>& partition);
  const std::optional<TopicPartition>& partition() const noexcept { return m_partition; }

  BeltViewport& viewport() noexcept { return m_viewport; }
  BeltsLayout layoutOfBelts() const;
  /// A table of all copies, or of the batch that is selected.
  QString selectionAsText() const;
  /// Leader epochs of the batches that are in sight, oldest first: for the legend.
  std::vector<LeaderEpoch> epochsInSight() const;
  bool isMoving() const;
  /// Log ends, high watermark and offsets stand where they belong; an arrow may still fade.
  bool isSettled() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void brokerPicked(tidemark::NodeId broker);
  /// Somebody wants to see that batch of that copy taken apart.
  void batchPicked(tidemark::NodeId broker, tidemark::Offset base);
  void followChanged(bool follows);
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

  // Painting, in this order (belts_paint.cpp).
  void paintLane(QPainter& painter, const observe::PartitionSnapshot& partition, int index) const;
  void paintBatches(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane, double hw) const;
  void paintSegments(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane,
                     bool withNames) const;
  void paintLogEnd(QPainter& painter, const observe::ReplicaSnapshot& replica, const QRectF& lane, bool dim) const;
  void paintFetches(QPainter& painter, const observe::PartitionSnapshot& partition) const;
  void paintHighWatermark(QPainter& painter, const observe::PartitionSnapshot& partition) const;
  void paintAxis(QPainter& painter) const;
  void paintReaders(QPainter& painter, const observe::PartitionSnapshot& partition) const;
  void paintPurgatory(QPainter& painter) const;
  void paintFollowPill(QPainter& painter) const;
  void paintNothing(QPainter& painter) const;

  EngineBridge& m_bridge;
  observe::SnapshotPtr m_snapshot;
  std::optional<TopicPartition> m_partition;
  BeltViewport m_viewport;
  QElapsedTimer m_clock;
  Motion m_highWatermark;
  std::map<NodeId, LaneMotion> m_lanes;
  std::vector<Parked> m_parked;
  GrowthMeter m_growth;
  std::optional<Selected> m_selected;
  std::optional<Selected> m_hovered;
  std::optional<QPointF> m_dragFrom;
  bool m_dragged = false;
  std::vector<LeaderEpoch> m_legend;
  std::vector<int64_t> m_digest;
};

}  // namespace tidemark::widgets
