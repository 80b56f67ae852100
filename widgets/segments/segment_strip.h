#pragma once

#include <optional>
#include <vector>

#include <QElapsedTimer>
#include <QWidget>

#include "bridge/motion.h"
#include "segments/segment_types.h"
#include "segments/strip_layout.h"

class QScrollBar;
class QVariantAnimation;

namespace tidemark::widgets {

/// The segments of a partition, to scale, oldest first; beside each its index files. Rolling and deletion are seen as
/// they happen: a new segment comes in at the right, one that is renamed to `.deleted` is hatched until its file is
/// gone. Damage is marked where in the file it begins. Painting touches what is in sight only.
///
/// Wheel scrolls, Ctrl+wheel zooms; a click picks. Keys belong to the page.
class SegmentStrip : public QWidget {
  Q_OBJECT

 public:
  explicit SegmentStrip(QWidget* parent = nullptr);

  void setSegments(SegmentEntries segments, int64_t segmentBytes);
  /// The one that is opened below; none: no one.
  void setShown(Offset base);
  /// Two lines at the right, where the active segment grows.
  void setNote(const QString& above, const QString& below);
  void ensureVisible(Offset base);
  void zoomBy(double factor, double x);
  void fitAll();

  const StripLayout& layoutOfSegments() const noexcept { return m_layout; }
  double scrolled() const;
  /// Blocks drawn by the last painting: bounded by the width, whatever the number of segments.
  int blocksPainted() const noexcept { return m_painted; }

  QSize sizeHint() const override { return {900, 92}; }
  QSize minimumSizeHint() const override { return {300, 92}; }

 Q_SIGNALS:
  void segmentPicked(tidemark::Offset base);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  static constexpr double kPadding = 16;
  static constexpr double kTop = 12;
  static constexpr double kBlockHeight = 42;

  QRectF area() const;
  void findShown();
  void settleScroll();
  std::optional<size_t> indexAt(const QPointF& point) const;
  QString toolTipOf(const SegmentEntry& segment) const;
  void paintBlock(QPainter& painter, size_t index, double left) const;
  void paintSides(QPainter& painter, const SegmentEntry& segment, double left, double width) const;
  void paintRun(QPainter& painter, const StripLayout::Run& run, double shift) const;

  /// How many of the segments in front of one are damaged, and deleted: a block of a thousand is told by two of them.
  struct Before {
    int damaged = 0;
    int deleted = 0;
  };

  SegmentEntries m_segments;
  /// One more than there are segments.
  std::vector<Before> m_before{Before{}};
  StripLayout m_layout;
  int64_t m_segmentBytes = -1;
  Offset m_shown;
  std::optional<size_t> m_shownIndex;
  std::optional<size_t> m_hovered;
  QString m_noteAbove, m_noteBelow;
  double m_noteWidth = 0;
  QScrollBar* m_bar;
  /// How far the block that is new still is from its place, 1 to 0.
  QVariantAnimation* m_arrival;
  Offset m_newest;
  int m_painted = 0;
};

}  // namespace tidemark::widgets
