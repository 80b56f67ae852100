#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace tidemark::app {

/// What a program that serves hears from outside: lines on standard input, and signals. Made on the main thread before
/// any other thread exists, so that all of them leave SIGINT and SIGTERM to it.
class Console {
 public:
  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Waits (without using time) and calls back on this thread until end() was called: `line` for each line of standard
  /// input, without its end; `signal` for each SIGINT or SIGTERM.
  void run(const std::function<void(const std::string&)>& line, const std::function<void()>& signal);
  /// Any thread.
  void end();

  /// One line on standard output, whole and at once. Any thread.
  static void print(std::string_view line);
  /// The same on standard error.
  static void complain(std::string_view line);

 private:
  int signals_ = -1;
  int ended_ = -1;
  std::string buffered_;
  /// In the middle of a line that was too long.
  bool skipping_ = false;
};

}  // namespace tidemark::app
