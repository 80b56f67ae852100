#include "base/uuid.h"

namespace tidemark {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string Uuid::toString() const {
  std::string text;
  text.reserve(22);
  uint32_t bits = 0;
  int count = 0;
  for (uint8_t byte : bytes_) {
    bits = (bits << 8) | byte;
    count += 8;
    while (count >= 6) {
      count -= 6;
      text += kAlphabet[(bits >> count) & 63];
    }
  }
  text += kAlphabet[(bits << (6 - count)) & 63];
  return text;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() == 24 && text.ends_with("==")) text.remove_suffix(2);
  if (text.size() != 22) return std::nullopt;
  std::array<uint8_t, 16> bytes{};
  size_t filled = 0;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8 && filled < bytes.size()) {
      count -= 8;
      bytes[filled++] = static_cast<uint8_t>(bits >> count);
    }
  }
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return Uuid(bytes);
}

}  // namespace tidemark
