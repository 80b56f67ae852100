#include "base/utf8.h"

namespace tidemark::utf8 {

size_t characterAt(std::string_view text, size_t at) noexcept {
  const auto first = static_cast<uint8_t>(text[at]);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first < 0xE0   ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length > text.size() - at) return 0;
  for (size_t i = 1; i < length; ++i)
    if (!isContinuation(text[at + i])) return 0;
  if (length < 3) return length;
  // Too long for what they say, halves of UTF-16 pairs, and what lies beyond Unicode.
  const auto second = static_cast<uint8_t>(text[at + 1]);
  const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return bad ? 0 : length;
}

bool isWellFormed(std::string_view text) noexcept {
  for (size_t at = 0; at < text.size();) {
    const size_t length = characterAt(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

}  // namespace tidemark::utf8
