#include "tidemark/answers.h"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

constexpr int kMostStrangers = 100;
/// Bytes of an error's text: whoever wrote a long line knows it.
constexpr size_t kLongestError = 1000;
/// Of them, at its end.
constexpr size_t kEndOfError = 200;

/// The beginning and the end of a long text.
std::string shortened(const std::string& text) {
  if (text.size() <= kLongestError) return text;
  const size_t head = utf8::boundaryBefore(text, kLongestError - kEndOfError);
  const size_t tail = utf8::boundaryBehind(text, text.size() - kEndOfError);
  return fmt::format("{} … {} bytes … {}", std::string_view(text).substr(0, head), tail - head,
                     std::string_view(text).substr(tail));
}

}  // namespace

void say(const nlohmann::json& answer) {
  Console::print(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::json failure(const std::string& command, const Error& error) {
  return {{"ok", false}, {"command", shortened(command)}, {"error", shortened(error.message)}};
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
