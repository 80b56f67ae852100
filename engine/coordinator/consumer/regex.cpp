#include "coordinator/consumer/regex.h"

#include <re2/re2.h>

#include <fmt/format.h>

namespace tidemark::coordinator {
namespace {

re2::StringPiece pieceOf(std::string_view text) {
  return {text.data(), text.size()};
}

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

}  // namespace

Result<void> validateRegex(std::string_view regex) {
  const RE2 compiled(pieceOf(regex), quiet());
  if (compiled.ok()) return {};
  return fail(ErrorCode::InvalidRegularExpression,
              fmt::format("SubscribedTopicRegex `{}` is not a valid regular expression: {}.", regex, compiled.error()));
}

std::set<std::string> matchingTopics(std::string_view regex, const std::vector<std::string>& topics,
                                     const std::function<bool(std::string_view)>& mayDescribe) {
  std::set<std::string> matching;
  const RE2 compiled(pieceOf(regex), quiet());
  if (!compiled.ok()) return matching;
  for (const std::string& topic : topics) {
    if (RE2::FullMatch(pieceOf(topic), compiled) && (!mayDescribe || mayDescribe(topic))) matching.insert(topic);
  }
  return matching;
}

}  // namespace tidemark::coordinator
