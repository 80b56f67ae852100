#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tidemark::app {

/// Work on files that may take long: tells on standard error how far it is (if that is a terminal, or after the first
/// seconds), and ends it at SIGINT or SIGTERM. One at a time, made on the main thread before any other.
class LongWork {
 public:
  /// `what`: "read", "checked".
  explicit LongWork(std::string what);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  /// `bytes` more are done. False: a signal came, stop.
  bool advance(uint64_t bytes);
  static bool interrupted() noexcept;

 private:
  void clearLine();

  const std::string what_;
  uint64_t bytes_ = 0;
  const bool terminal_;
  bool shown_ = false;
  const std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point told_;
};

/// Exit status of a program that a signal ended, as shells tell it.
inline constexpr int kInterrupted = 130;

}  // namespace tidemark::app
