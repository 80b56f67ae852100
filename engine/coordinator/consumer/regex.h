#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::coordinator {

/// A subscription by expression, in the syntax of RE2: linear in the length of what is matched.
/// INVALID_REGULAR_EXPRESSION with RE2's reason if it is none.
Result<void> validateRegex(std::string_view regex);

/// Which of the topics match the whole expression; `mayDescribe` (may be none) can hide some.
std::set<std::string> matchingTopics(std::string_view regex, const std::vector<std::string>& topics,
                                     const std::function<bool(std::string_view)>& mayDescribe);

}  // namespace tidemark::coordinator
