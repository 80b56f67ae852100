#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark::utf8 {

/// Whether the byte goes on with a character that an earlier byte began.
constexpr bool isContinuation(char byte) noexcept {
  return (static_cast<uint8_t>(byte) & 0xC0) == 0x80;
}

/// Where a text may be cut at or before `at` (`at` ≤ its size): not within a character.
constexpr size_t boundaryBefore(std::string_view text, size_t at) noexcept {
  while (at > 0 && at < text.size() && isContinuation(text[at])) --at;
  return at;
}

/// The same at or behind `at`.
constexpr size_t boundaryBehind(std::string_view text, size_t at) noexcept {
  while (at < text.size() && isContinuation(text[at])) ++at;
  return at;
}

/// The length of the well-formed character that begins at `at` (< the text's size); 0 if none does.
size_t characterAt(std::string_view text, size_t at) noexcept;

/// Whether the text is nothing but well-formed characters.
bool isWellFormed(std::string_view text) noexcept;

}  // namespace tidemark::utf8
