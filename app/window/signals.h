#pragma once

#include <functional>
#include <memory>

#include <QSocketNotifier>

namespace tidemark::widgets {

/// SIGINT, SIGTERM and SIGHUP (unless ignored, as under nohup) as calls on the window's thread. One at a time; a third
/// signal ends the program as if this were not here.
class Signals {
 public:
  /// `heard(1)`, then `heard(2)`.
  explicit Signals(std::function<void(int count)> heard);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  std::unique_ptr<QSocketNotifier> m_notifier;
};

}  // namespace tidemark::widgets
