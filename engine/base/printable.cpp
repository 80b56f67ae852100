#include "base/printable.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "base/utf8.h"

namespace tidemark {
namespace {

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
    const size_t length = utf8::characterAt(text, at);
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
