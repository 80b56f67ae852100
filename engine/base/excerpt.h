#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// What somebody wrote, in a message about it: his own words, or, if these are many, their beginning and their end.
/// Messages are kept short by this and not as a whole, so that none of our own words is missing.
std::string excerpt(std::string_view text);

/// Longer texts come back as excerpts.
inline constexpr size_t kLongestExcerpt = 200;

}  // namespace tidemark
