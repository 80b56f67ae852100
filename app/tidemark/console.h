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
  /// Whichever of standard input, output and error is closed is taken by what neither gives nor takes anything: else
  /// the next file that is opened would get its number, and with it what is meant for a reader. Before anything is
  /// opened.
  static void guardDescriptors();

  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Waits (without using time) and calls back on this thread until end() was called: from listen() on `line` for each
  /// line of standard input, without its end, at most some thousands a second; it returns whether further ones are
  /// wanted. `signal` for each SIGINT, SIGTERM or SIGHUP (unless that is ignored, as under nohup); `ended` once, when
  /// standard input is at its end: nobody will ask anything any more. Of a line of more than kLongestLine bytes nothing
  /// is kept; `tooLong` is called in place of `line` as soon as it is known to be one.
  void run(const std::function<bool(const std::string&)>& line, const std::function<bool()>& tooLong,
           const std::function<void()>& ended, const std::function<void()>& signal);
  /// Longer ones are no command of anybody's.
  static constexpr size_t kLongestLine = 64 * 1024;
  /// Any thread.
  void end();
  /// Standard input is taken up, its end as well; what was written to it before has waited. Any thread.
  void listen();

  /// One line on standard output, whole and at once. Any thread.
  static void print(std::string_view line);
  /// Text with its own line ends; false: standard output takes no more, now or before. Any thread.
  static bool printText(std::string_view text);
  /// A line on standard error.
  static void complain(std::string_view line);
  /// Whatever a command did, it failed if its output could not be written: says so and turns its exit `status` into a
  /// failure. At the end of the program.
  static int finish(int status);

 private:
  int signals_ = -1;
  int ended_ = -1;
  int listen_ = -1;
  /// Hands on at most kLinesAtOnce of the lines that are buffered. False: none is wanted any more.
  bool handOn(const std::function<bool(const std::string&)>& line, const std::function<bool()>& tooLong);

  std::string buffered_;
  /// What comes up to the next end of a line belongs to one that was too long.
  bool dropping_ = false;
};

}  // namespace tidemark::app
