#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::log {

/// All of `text` as a decimal number, or nothing.
template <class Number>
std::optional<Number> parseDecimal(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The lines of a checkpoint file behind its head (version 0, count of lines). CorruptMessage if the head is wrong or
/// the count disagrees.
Result<std::vector<std::string_view>> checkpointLines(std::string_view text);

}  // namespace tidemark::log
