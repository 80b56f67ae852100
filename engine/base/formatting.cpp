#include "base/formatting.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark {

fmt::format_context::iterator PlainFormatter::put(std::string_view text, fmt::format_context& context) {
  return std::copy(text.begin(), text.end(), context.out());
}

fmt::format_context::iterator PlainFormatter::put(int64_t number, fmt::format_context& context) {
  const fmt::format_int digits(number);
  return put(std::string_view(digits.data(), digits.size()), context);
}

}  // namespace tidemark
