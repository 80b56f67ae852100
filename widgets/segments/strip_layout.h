#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tidemark::widgets {

/// Where the segments of a partition stand in their strip: side by side, as wide as their bytes, the widest of them
/// kWidest at a zoom of 1; none is narrower than kNarrowest, and what it lacks is left empty (fill()). Pure arithmetic
/// in device-independent pixels from the strip's left end; whatever is looked up is found by bisection.
class StripLayout {
 public:
  static constexpr double kWidest = 314;
  static constexpr double kNarrowest = 250;
  static constexpr double kGap = 10;
  static constexpr double kMaxZoom = 4;
  /// A run of segments that are narrower than this is drawn as one.
  static constexpr double kSeenAlone = 5;

  /// `atLeast`: bytes that count as the widest, so that a log whose segments are all small does not look full.
  void setSegments(std::span<const int64_t> bytes, int64_t atLeast = 0);
  void setZoom(double zoom) { m_zoom = zoom; }
  double zoom() const noexcept { return m_zoom; }
  size_t count() const noexcept { return m_bytes.size(); }

  double left(size_t index) const { return m_left[index] * m_zoom; }
  /// Without the gap to the next one.
  double width(size_t index) const { return (m_left[index + 1] - m_left[index] - kGap) * m_zoom; }
  /// The part of the width that its bytes take, true to scale.
  double fill(size_t index) const { return static_cast<double>(m_bytes[index]) * m_pixelsPerByte * m_zoom; }
  double total() const { return m_bytes.empty() ? 0 : (m_left.back() - kGap) * m_zoom; }
  /// The zoom at which everything fits `pixels`, at most 1.
  double zoomToFit(double pixels) const;

  /// The segment at `x`, gaps counting to the one before; the nearest one outside. 0 if there is none.
  size_t at(double x) const;

  /// Segments [first, last) that are drawn as one block.
  struct Run {
    size_t first = 0;
    size_t last = 0;
    double left = 0;
    double right = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  /// What is to be drawn between two places: never more blocks than fit in there at kSeenAlone pixels each, and a few.
  std::vector<Run> runs(double from, double to) const;

 private:
  std::vector<int64_t> m_bytes;
  /// At a zoom of 1; one more than there are segments.
  std::vector<double> m_left{0};
  double m_pixelsPerByte = 0;
  double m_zoom = 1;
};

}  // namespace tidemark::widgets
