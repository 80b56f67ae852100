#pragma once

#include <chrono>
#include <functional>

#include <QString>
#include <QTimer>

namespace tidemark::widgets {

/// How long a picture waits for one thing: says once what for, and gives up once. Two timers that fire at most once
/// each; nobody asks in between. Belongs to the window's thread.
class ShotWait {
 public:
  struct Times {
    std::chrono::milliseconds notice{5000};
    /// A machine that builds at the same time is slow.
    std::chrono::milliseconds limit{60'000};
  };
  using Told = std::function<void(const QString& what)>;
  /// `late` after the notice, `gaveUp` at the limit, each with what is waited for.
  ShotWait(Told late, Told gaveUp) : ShotWait(std::move(late), std::move(gaveUp), Times()) {}
  ShotWait(Told late, Told gaveUp, Times times) {
    prepare(m_notice, times.notice, std::move(late));
    prepare(m_limit, times.limit, std::move(gaveUp));
  }

  /// What was waited for before is there.
  void begin(const QString& what) {
    m_what = what;
    m_notice.start();
    m_limit.start();
  }
  void end() {
    m_notice.stop();
    m_limit.stop();
  }
  std::chrono::milliseconds limit() const { return m_limit.intervalAsDuration(); }

 private:
  void prepare(QTimer& timer, std::chrono::milliseconds time, Told told) {
    timer.setSingleShot(true);
    timer.setInterval(time);
    QObject::connect(&timer, &QTimer::timeout, &timer, [this, told = std::move(told)] { told(m_what); });
  }

  QTimer m_notice;
  QTimer m_limit;
  QString m_what;
};

}  // namespace tidemark::widgets
