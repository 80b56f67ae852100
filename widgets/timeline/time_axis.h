#pragma once

#include <optional>

#include <QObject>

#include "platform/clock.h"

namespace tidemark::widgets {

/// The stretch of time that is looked at, one for all views: from the left edge to the right, whether it follows the
/// present, which moment the window shows, and where the pointer is. Every change is told; whoever shows time reads it
/// here.
class TimeAxis : public QObject {
  Q_OBJECT

 public:
  using Time = platform::WallTime;
  using Span = platform::WallClock::duration;
  static constexpr Span kShortest = std::chrono::seconds(2);
  static constexpr Span kLongest = std::chrono::minutes(15);

  explicit TimeAxis(QObject* parent = nullptr) : QObject(parent) {}

  Time begin() const noexcept { return m_end - m_span; }
  Time end() const noexcept { return m_end; }
  Span span() const noexcept { return m_span; }
  bool follows() const noexcept { return m_follows; }
  Time now() const noexcept { return m_now; }
  /// Where somebody points, else the moment that is shown; nothing: the present.
  std::optional<Time> cursor() const noexcept { return m_cursor ? m_cursor : m_held; }
  /// The moment that is shown; nothing: the present.
  const std::optional<Time>& held() const noexcept { return m_held; }

  /// The present; the right edge goes with it while the axis follows.
  void setNow(Time now);
  void setSpan(Span span);
  /// Around a time that stays where it is; `factor` under 1 shows more detail.
  void zoom(double factor, Time around);
  void pan(Span by);
  void show(Time begin, Time end);
  /// The present is shown and followed.
  void follow();
  /// That moment is shown, and the range does not run away from it; nothing: the present is.
  void hold(std::optional<Time> moment);
  /// Where somebody points; nothing: nowhere.
  void setCursor(std::optional<Time> cursor);
  /// A time that is not in sight is brought there.
  void reveal(Time time);

  /// 0 at the left edge, 1 at the right one.
  double part(Time time) const noexcept {
    return static_cast<double>((time - begin()).count()) / static_cast<double>(m_span.count());
  }
  Time at(double part) const noexcept {
    return begin() + Span(static_cast<int64_t>(part * static_cast<double>(m_span.count())));
  }

 Q_SIGNALS:
  void rangeChanged();
  void cursorChanged();
  void followChanged(bool follows);

 private:
  void moveTo(Time end, Span span, bool follows);

  Time m_now{};
  Time m_end{};
  Span m_span = std::chrono::minutes(2);
  bool m_follows = true;
  std::optional<Time> m_cursor;
  std::optional<Time> m_held;
};

}  // namespace tidemark::widgets
