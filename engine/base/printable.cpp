#include "base/printable.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace tidemark {
namespace {

bool continues(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80;
}

/// The length of the well-formed UTF-8 character that begins at `at`; 0 if none does.
size_t characterAt(std::string_view text, size_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first < 0xE0   ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  for (size_t i = 1; i < length; ++i)
    if (!continues(text, at + i)) return 0;
  if (length < 3) return length;
  // Too long for what they say, halves of UTF-16 pairs, and what lies beyond Unicode.
  const auto second = static_cast<uint8_t>(text[at + 1]);
  const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                   (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return bad ? 0 : length;
}

/// C0, DEL and C1, which begin the commands of terminals.
bool isControl(std::string_view character) {
  const auto first = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<uint8_t>(character[1]) < 0xA0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = characterAt(text, at);
    const std::string_view character = text.substr(at, std::max<size_t>(length, 1));
    if (length != 0 && !isControl(character)) {
      shown += character;
    } else {
      for (const char byte : character)
        fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<uint8_t>(byte));
    }
    at += character.size();
  }
  return shown;
}

}  // namespace tidemark
