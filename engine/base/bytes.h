#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

/// Bytes that somebody else owns, to be read.
using ByteView = std::span<const uint8_t>;
/// Bytes that somebody else owns, to be written.
using MutableBytes = std::span<uint8_t>;
/// Bytes that the holder owns.
using ByteVector = std::vector<uint8_t>;

inline ByteView asBytes(std::string_view text) noexcept {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view asText(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Immutable bytes together with whatever keeps them alive. Copies share; safe to hand to another thread.
class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(ByteVector bytes) {
    auto owner = std::make_shared<const ByteVector>(std::move(bytes));
    view_ = *owner;
    owner_ = std::move(owner);
  }
  SharedBytes(std::shared_ptr<const void> owner, ByteView view) noexcept : owner_(std::move(owner)), view_(view) {}

  ByteView view() const noexcept { return view_; }
  size_t size() const noexcept { return view_.size(); }
  bool empty() const noexcept { return view_.empty(); }
  SharedBytes subspan(size_t from, size_t count) const { return {owner_, view_.subspan(from, count)}; }

 private:
  std::shared_ptr<const void> owner_;
  ByteView view_;
};

// Integers as Kafka writes them: big-endian, at any alignment.

template <class Integer>
Integer readBigEndian(const uint8_t* from) noexcept {
  Integer value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (sizeof(Integer) == 8) return static_cast<Integer>(__builtin_bswap64(static_cast<uint64_t>(value)));
  if constexpr (sizeof(Integer) == 4) return static_cast<Integer>(__builtin_bswap32(static_cast<uint32_t>(value)));
  if constexpr (sizeof(Integer) == 2) return static_cast<Integer>(__builtin_bswap16(static_cast<uint16_t>(value)));
  return value;
}

template <class Integer>
void writeBigEndian(uint8_t* to, Integer value) noexcept {
  value = readBigEndian<Integer>(reinterpret_cast<const uint8_t*>(&value));
  std::memcpy(to, &value, sizeof value);
}

}  // namespace tidemark
