#pragma once

#include <cstdint>
#include <optional>

#include <QtGlobal>

#include "bridge/motion.h"

namespace tidemark::widgets {

/// Which offsets a belt shows: where the left edge is and how wide one offset is drawn. Pure arithmetic, no painting;
/// the tail is followed until somebody scrolls, and moves are smooth. Pixels are device-independent, from the belt's
/// left edge.
class BeltViewport {
 public:
  static constexpr double kDefaultScale = 20;
  static constexpr double kMinScale = 0.005;
  static constexpr double kMaxScale = 80;
  /// Room to the right of the last record, in pixels, where the belt runs on empty.
  static constexpr double kTailMargin = 100;

  void setWidth(double pixels) { m_width = pixels < 1 ? 1 : pixels; }
  double width() const noexcept { return m_width; }

  /// The range there is to see, and how many offsets a second it grows by; called on each frame.
  void setRange(int64_t begin, int64_t end, double growthPerSecond, qint64 nowMs, int motionMs);
  /// Another partition: nothing moves, the tail is followed.
  void reset();

  double scale(qint64 nowMs) const { return m_scale.isKnown() ? m_scale.at(nowMs) : kDefaultScale; }
  double x(double offset, qint64 nowMs) const { return (offset - first(nowMs)) * scale(nowMs); }
  double offsetAt(double x, qint64 nowMs) const { return first(nowMs) + x / scale(nowMs); }
  /// At the left edge; may lie before the first record.
  double first(qint64 nowMs) const { return m_first.at(nowMs); }
  bool isMoving(qint64 nowMs) const { return m_first.isMoving(nowMs) || m_scale.isMoving(nowMs); }

  bool followsTail() const noexcept { return m_follow; }
  bool scalesItself() const noexcept { return m_automaticScale; }
  void followTail(qint64 nowMs, int motionMs);
  /// Positive: to newer records. Reaching the tail follows it again.
  void scrollBy(double pixels, qint64 nowMs, int motionMs);
  /// Keeps the offset under `x` where it is (the tail, if it is followed).
  void zoomBy(double factor, double x, qint64 nowMs, int motionMs);
  /// Back to a scale that is chosen from the growth.
  void zoomAutomatically(qint64 nowMs, int motionMs);
  void showOffset(int64_t offset, qint64 nowMs, int motionMs);

 private:
  double tailFirst(double scale) const { return m_end + kTailMargin / scale - m_width / scale; }
  double automaticScale() const;

  double m_width = 960;
  double m_begin = 0;
  double m_end = 0;
  double m_growth = 0;
  bool m_known = false;
  bool m_follow = true;
  bool m_automaticScale = true;
  Motion m_first;
  Motion m_scale;
};

/// A step of 1, 2 or 5 times a power of ten, at least `least`.
double niceStep(double least);

}  // namespace tidemark::widgets
