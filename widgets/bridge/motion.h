#pragma once

#include <QElapsedTimer>

namespace tidemark::widgets {

/// A number that moves to its target smoothly: ease-out (cubic) over a fixed time, from wherever it is.
class Motion {
 public:
  /// `now` and `duration` in ms. The first target, and any with a duration of 0, is reached at once.
  void moveTo(double target, qint64 now, int duration) {
    if (m_known && target == m_target) return;
    if (!m_known || duration <= 0) {
      m_from = m_target = target;
      m_begin = now;
      m_duration = 0;
      m_known = true;
      return;
    }
    m_from = at(now);
    m_target = target;
    m_begin = now;
    m_duration = duration;
  }
  void jumpTo(double target) { m_from = m_target = target, m_duration = 0, m_known = true; }
  double at(qint64 now) const {
    if (m_duration <= 0 || now >= m_begin + m_duration) return m_target;
    const double left = 1 - static_cast<double>(now - m_begin) / m_duration;
    return m_target - (m_target - m_from) * left * left * left;
  }
  bool isMoving(qint64 now) const { return m_duration > 0 && now < m_begin + m_duration; }
  double target() const { return m_target; }
  bool isKnown() const { return m_known; }

 private:
  double m_from = 0;
  double m_target = 0;
  qint64 m_begin = 0;
  int m_duration = 0;
  bool m_known = false;
};

}  // namespace tidemark::widgets
