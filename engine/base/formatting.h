#pragma once

#include <cstdint>
#include <string_view>

#include <fmt/core.h>

namespace tidemark {

/// What the `fmt::formatter` of our own types derives from: "{}" and no specification, and what writes is compiled
/// once. Those of fmt, and `fmt::format_to`, are compiled again, for seconds, in each source that writes such a type.
struct PlainFormatter {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  static fmt::format_context::iterator put(std::string_view text, fmt::format_context& context);
  static fmt::format_context::iterator put(int64_t number, fmt::format_context& context);
};

}  // namespace tidemark
