#include "log/cleaner/offset_map.h"

#include <algorithm>
#include <bit>

#include "base/invariant.h"

namespace tidemark::log {
namespace {

/// The state of SipHash-2-4 with 128 bits of output (Aumasson, Bernstein).
struct SipState {
  uint64_t v0, v1, v2, v3;

  void rounds(int count) noexcept {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }
  void word(uint64_t word) noexcept {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

/// Little-endian.
uint64_t wholeWord(const uint8_t* bytes) noexcept {
  return __builtin_bswap64(readBigEndian<uint64_t>(bytes));
}

/// The same of less than eight bytes.
uint64_t lastWord(const uint8_t* bytes, size_t count) noexcept {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) word |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return word;
}

}  // namespace

OffsetMap::OffsetMap(size_t slots, HashKey key)
    : slots_(std::max<size_t>(slots, 2)),
      key_(key),
      memory_(slots_ * sizeof(Entry)),
      entries_(static_cast<Entry*>(memory_.data())) {}

OffsetMap::Hash OffsetMap::hashOf(ByteView key) const noexcept {
  SipState state{key_.low ^ 0x736f6d6570736575, key_.high ^ 0x646f72616e646f6d ^ 0xee, key_.low ^ 0x6c7967656e657261,
                 key_.high ^ 0x7465646279746573};
  const uint8_t* at = key.data();
  size_t left = key.size();
  for (; left >= 8; left -= 8, at += 8) state.word(wholeWord(at));
  state.word((static_cast<uint64_t>(key.size()) << 56) | lastWord(at, left));
  state.v2 ^= 0xee;
  state.rounds(4);
  const uint64_t low = state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
  state.v1 ^= 0xdd;
  state.rounds(4);
  return {low, state.v0 ^ state.v1 ^ state.v2 ^ state.v3};
}

OffsetMap::Entry& OffsetMap::place(const Hash& hash) const noexcept {
  size_t index = slotOf(hash);
  while (entries_[index].offsetPlusOne != 0 && entries_[index].hash != hash)
    index = index + 1 == slots_ ? 0 : index + 1;
  return entries_[index];
}

Offset OffsetMap::put(const Hash& key, Offset offset) {
  Entry& entry = place(key);
  if (entry.offsetPlusOne == 0) {
    // One stays free, so that a search for what is not there ends.
    TIDEMARK_INVARIANT(size_ + 1 < slots_, std::string("a key too many for an offset map"));
    ++size_;
    entry.hash = key;
  }
  const Offset replaced(static_cast<int64_t>(entry.offsetPlusOne) - 1);
  entry.offsetPlusOne = static_cast<uint64_t>(offset.value()) + 1;
  return replaced;
}

Offset OffsetMap::get(const Hash& key) const noexcept {
  if (size_ == 0) return kNoOffset;
  return Offset(static_cast<int64_t>(place(key).offsetPlusOne) - 1);
}

}  // namespace tidemark::log
