#include "tidemark/answers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemark/console.h"

namespace tidemark::app {
namespace {

constexpr int kMostStrangers = 100;

}  // namespace

void say(const nlohmann::json& answer) {
  Console::print(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::json failure(const std::string& command, const Error& error) {
  return {{"ok", false}, {"command", command}, {"error", error.message}};
}

void refuse(const std::string& command, const std::string& why) {
  say(failure(command, {ErrorCode::InvalidRequest, why}));
}

void refuseTooLong() {
  refuse("", fmt::format("the line is too long ({} bytes at most)", Console::kLongestLine));
}

bool Strangers::heard(bool command) {
  inARow_ = command ? 0 : inARow_ + 1;
  if (inARow_ < kMostStrangers) return true;
  refuse("",
         fmt::format("{} lines in a row were no commands: standard input is not listened to any more", kMostStrangers));
  return false;
}

}  // namespace tidemark::app
