#include "timeline/time_axis.h"

#include <algorithm>

namespace tidemark::widgets {

void TimeAxis::moveTo(Time end, Span span, bool follows) {
  span = std::clamp(span, kShortest, kLongest);
  // What has not happened is not looked at.
  if (end >= m_now) {
    end = m_now;
  } else if (follows) {
    follows = false;
  }
  const bool told = follows != m_follows;
  const bool moved = end != m_end || span != m_span;
  m_end = end;
  m_span = span;
  m_follows = follows;
  if (moved) Q_EMIT rangeChanged();
  if (told) Q_EMIT followChanged(follows);
}

void TimeAxis::setNow(Time now) {
  m_now = now;
  if (m_follows || m_end == Time{}) moveTo(now, m_span, m_follows);
}

void TimeAxis::setSpan(Span span) {
  moveTo(m_end, span, m_follows);
}

void TimeAxis::zoom(double factor, Time around) {
  const auto span =
      std::clamp(Span(static_cast<int64_t>(static_cast<double>(m_span.count()) * factor)), kShortest, kLongest);
  // Whoever follows goes on following: the right edge stays.
  if (m_follows) return moveTo(m_end, span, true);
  const double where = part(around);
  const auto after = Span(static_cast<int64_t>((1 - where) * static_cast<double>(span.count())));
  moveTo(around + after, span, false);
}

void TimeAxis::pan(Span by) {
  moveTo(m_end + by, m_span, m_end + by >= m_now);
}

void TimeAxis::show(Time begin, Time end) {
  moveTo(end, end - begin, false);
}

void TimeAxis::follow() {
  setCursor(std::nullopt);
  hold(std::nullopt);
  moveTo(m_now, m_span, true);
}

void TimeAxis::hold(std::optional<Time> moment) {
  if (moment == m_held) return;
  m_held = moment;
  if (moment) {
    if (m_follows) {
      m_follows = false;
      Q_EMIT followChanged(false);
    }
    reveal(*moment);
  }
  Q_EMIT cursorChanged();
}

void TimeAxis::setCursor(std::optional<Time> cursor) {
  if (cursor == m_cursor) return;
  m_cursor = cursor;
  Q_EMIT cursorChanged();
}

void TimeAxis::reveal(Time time) {
  if (time >= begin() && time <= m_end) return;
  moveTo(std::min(m_now, time + m_span / 2), m_span, false);
}

}  // namespace tidemark::widgets
