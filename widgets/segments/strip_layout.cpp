#include "segments/strip_layout.h"

#include <algorithm>

namespace tidemark::widgets {

void StripLayout::setSegments(std::span<const int64_t> bytes, int64_t atLeast) {
  m_bytes.assign(bytes.begin(), bytes.end());
  int64_t most = std::max<int64_t>(1, atLeast);
  for (const int64_t one : m_bytes) most = std::max(most, one);
  m_pixelsPerByte = kWidest / static_cast<double>(most);
  m_left.resize(m_bytes.size() + 1);
  m_left[0] = 0;
  for (size_t i = 0; i < m_bytes.size(); ++i)
    m_left[i + 1] = m_left[i] + std::max(kNarrowest, static_cast<double>(m_bytes[i]) * m_pixelsPerByte) + kGap;
}

double StripLayout::zoomToFit(double pixels) const {
  return m_bytes.empty() ? 1 : std::min(1.0, pixels / (m_left.back() - kGap));
}

size_t StripLayout::at(double x) const {
  if (m_bytes.empty()) return 0;
  const auto above = std::upper_bound(m_left.begin(), m_left.end() - 1, x / m_zoom);
  return above == m_left.begin() ? 0 : static_cast<size_t>(above - m_left.begin()) - 1;
}

std::vector<StripLayout::Run> StripLayout::runs(double from, double to) const {
  std::vector<Run> found;
  if (m_bytes.empty() || to <= from) return found;
  for (size_t i = at(from); i < m_bytes.size() && left(i) < to;) {
    Run run{i, i + 1, left(i), left(i) + width(i)};
    if (width(i) < kSeenAlone) {
      // The next one that begins far enough to be seen beside this one.
      const double next = run.left + kSeenAlone;
      const auto above =
          std::lower_bound(m_left.begin() + static_cast<std::ptrdiff_t>(i) + 1, m_left.end(), next / m_zoom);
      run.last = std::min(static_cast<size_t>(above - m_left.begin()), m_bytes.size());
      run.right = run.last == m_bytes.size() ? total() : left(run.last);
    }
    i = run.last;
    found.push_back(run);
  }
  return found;
}

}  // namespace tidemark::widgets
