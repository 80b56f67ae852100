#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

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

/// Takes a zig-zag one of at most two bytes, as nearly all are, from where at least two are left, and returns what
/// stands behind it. Null if it is longer.
template <class Signed>
inline const uint8_t* takeShortVarint(const uint8_t* at, Signed& value) noexcept {
  using Unsigned = std::make_unsigned_t<Signed>;
  const unsigned first = at[0];
  if (first < 0x80) {
    value = unZigZag(static_cast<Unsigned>(first));
    return at + 1;
  }
  if (at[1] >= 0x80) [[unlikely]]
    return nullptr;
  value = unZigZag(static_cast<Unsigned>((first & 0x7f) | unsigned{at[1]} << 7));
  return at + 2;
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
