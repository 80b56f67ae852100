#pragma once

#include <deque>
#include <utility>

#include <QtGlobal>

namespace tidemark::widgets {

/// How fast a number that only grows does so, over the last few seconds.
class GrowthMeter {
 public:
  explicit GrowthMeter(qint64 windowMs = 3'000) : m_window(windowMs) {}

  void add(qint64 nowMs, double value) {
    if (!m_samples.empty() && value < m_samples.back().second) m_samples.clear();
    // A sample each 50 ms is enough, and bounds the queue.
    if (m_samples.empty() || nowMs - m_samples.back().first >= 50) m_samples.emplace_back(nowMs, value);
    while (m_samples.size() > 2 && m_samples.front().first < nowMs - m_window) m_samples.pop_front();
  }
  double perSecond(qint64 nowMs) const {
    if (m_samples.size() < 2) return 0;
    const auto& [begin, from] = m_samples.front();
    const qint64 time = nowMs - begin;
    return time < 250 ? 0 : (m_samples.back().second - from) * 1000.0 / static_cast<double>(time);
  }
  void clear() { m_samples.clear(); }

 private:
  const qint64 m_window;
  std::deque<std::pair<qint64, double>> m_samples;
};

}  // namespace tidemark::widgets
