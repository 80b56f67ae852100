#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace tidemark::app {

/// One line of JSON on standard output. Whatever somebody typed comes back in answers: bytes that are no UTF-8 are
/// replaced. Any thread.
void say(const nlohmann::json& answer);
nlohmann::json failure(const std::string& command, const Error& error);
void refuse(const std::string& command, const std::string& why);
/// What came was longer than any command.
void refuseTooLong();

/// Counts lines that are no commands: so many in a row come from no person.
class Strangers {
 public:
  /// False, once it has been said: standard input is not listened to any more.
  bool heard(bool command);

 private:
  int inARow_ = 0;
};

}  // namespace tidemark::app
