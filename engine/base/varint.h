#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace tidemark {

/// Most bytes a variable-length integer of 32 or 64 bits takes.
inline constexpr size_t kMaxVarintSize = 5;
inline constexpr size_t kMaxVarlongSize = 10;

constexpr uint32_t zigZag(int32_t value) noexcept {
  return (static_cast<uint32_t>(value) << 1) ^ static_cast<uint32_t>(value >> 31);
}
constexpr uint64_t zigZag(int64_t value) noexcept {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int32_t unZigZag(uint32_t value) noexcept {
  return static_cast<int32_t>(value >> 1) ^ -static_cast<int32_t>(value & 1);
}
constexpr int64_t unZigZag(uint64_t value) noexcept {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

/// Bytes that the unsigned base-128 form (little-endian groups of seven bits) takes.
constexpr size_t unsignedVarintSize(uint64_t value) noexcept {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

/// Writes the unsigned form at `to` (which has room for it) and returns the byte after it.
inline uint8_t* writeUnsignedVarint(uint8_t* to, uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<uint8_t>(value) | 0x80;
  *to++ = static_cast<uint8_t>(value);
  return to;
}

/// Takes an unsigned form off the front of `from`. Nothing if it is cut off, or longer than `Unsigned` allows.
template <class Unsigned>
std::optional<Unsigned> takeUnsignedVarint(ByteView& from) noexcept {
  constexpr size_t limit = sizeof(Unsigned) == 4 ? kMaxVarintSize : kMaxVarlongSize;
  uint64_t value = 0;
  for (size_t i = 0; i < limit && i < from.size(); ++i) {
    value |= static_cast<uint64_t>(from[i] & 0x7f) << (7 * i);
    if ((from[i] & 0x80) == 0) {
      from = from.subspan(i + 1);
      return static_cast<Unsigned>(value);
    }
  }
  return std::nullopt;
}

}  // namespace tidemark
