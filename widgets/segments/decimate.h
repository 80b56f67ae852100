#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace tidemark::widgets {

/// Which of `points`, whose keys rise, are drawn between two keys: those in between and one beyond each end, thinned
/// evenly to at most `most`; the first and the last always stay. Found by bisection: the cost is that of what is drawn.
template <class Point, class Key>
std::vector<size_t> thinned(std::span<const Point> points, double from, double to, size_t most, const Key& key) {
  std::vector<size_t> chosen;
  if (points.empty() || most < 2 || to < from) return chosen;
  const auto begin = std::partition_point(points.begin(), points.end(),
                                          [&](const Point& point) { return static_cast<double>(key(point)) < from; });
  const auto end = std::partition_point(begin, points.end(),
                                        [&](const Point& point) { return static_cast<double>(key(point)) <= to; });
  size_t first = static_cast<size_t>(begin - points.begin());
  size_t last = static_cast<size_t>(end - points.begin());
  if (first > 0) --first;
  if (last < points.size()) ++last;
  const size_t count = last - first;
  if (count <= most) {
    for (size_t i = first; i < last; ++i) chosen.push_back(i);
    return chosen;
  }
  chosen.reserve(most);
  for (size_t i = 0; i < most; ++i) chosen.push_back(first + i * (count - 1) / (most - 1));
  return chosen;
}

}  // namespace tidemark::widgets
