#include "tidemark/answers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

constexpr int kMostStrangers = 100;

}  // namespace

void say(const nlohmann::json& answer) {
  Console::print(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::json failure(const std::string& command, const Error& error) {
  return {{"ok", false}, {"command", excerpt(command)}, {"error", error.message}};
}

void refuse(const std::string& command, const std::string& why) {
  say(failure(command, {ErrorCode::InvalidRequest, why}));
}

std::string tooLongText() {
  return fmt::format("the line is too long ({} bytes at most)", Console::kLongestLine);
}

void InputEnd::look(std::atomic<bool>& now) {
  now = true;
  if (ended_ && ready_ && !told_.exchange(true))
    Console::complain(
        "tidemark: standard input has ended; what runs goes on until SIGTERM or Ctrl-C (with --until-eof it ends)");
}

bool Strangers::heard(bool command) {
  inARow_ = command ? 0 : inARow_ + 1;
  if (inARow_ < kMostStrangers) return true;
  refuse("",
         fmt::format("{} lines in a row were no commands: standard input is not listened to any more", kMostStrangers));
  return false;
}

}  // namespace tidemark::app
