#pragma once

#include <atomic>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace tidemark::app {

/// One line of JSON on standard output. Whatever somebody typed comes back in answers: bytes that are no UTF-8 are
/// replaced. Any thread.
void say(const nlohmann::json& answer);
/// Of the command an excerpt. The message is whole: whoever made it has kept short what somebody wrote.
nlohmann::json failure(const std::string& command, const Error& error);
void refuse(const std::string& command, const std::string& why);
/// Why what came was no command: it was longer than any.
std::string tooLongText();

/// Counts lines that are no commands: so many in a row come from no person.
class Strangers {
 public:
  /// False, once it has been said: standard input is not listened to any more.
  bool heard(bool command);

 private:
  int inARow_ = 0;
};

/// Says once that nobody can ask anything any more and that the program goes on all the same: when both hold, that
/// standard input is at its end and that what it serves is ready. Any thread.
class InputEnd {
 public:
  void ended() { look(ended_); }
  void ready() { look(ready_); }

 private:
  void look(std::atomic<bool>& now);

  std::atomic<bool> ended_{false};
  std::atomic<bool> ready_{false};
  std::atomic<bool> told_{false};
};

}  // namespace tidemark::app
