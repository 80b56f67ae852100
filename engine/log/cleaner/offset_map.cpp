#include "log/cleaner/offset_map.h"

#include <algorithm>
#include <bit>

#include "base/invariant.h"

namespace tidemark::log {
namespace {

/// At first, and how many of ten may be taken before there are twice as many.
constexpr size_t kFirstSlots = 1024;
constexpr size_t kTenthsTaken = 6;

/// The state of SipHash-1-3 with 128 bits of output (Aumasson, Bernstein).
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
    rounds(1);
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
    : mostSlots_(std::max<size_t>(slots, 2)),
      key_(key),
      slots_(std::min(mostSlots_, kFirstSlots)),
      memory_(mostSlots_ * sizeof(Entry)),
      entries_(static_cast<Entry*>(memory_.data())) {}

OffsetMap::Hash OffsetMap::hashOf(ByteView key) const noexcept {
  SipState state{key_.low ^ 0x736f6d6570736575, key_.high ^ 0x646f72616e646f6d ^ 0xee, key_.low ^ 0x6c7967656e657261,
                 key_.high ^ 0x7465646279746573};
  const uint8_t* at = key.data();
  size_t left = key.size();
  for (; left >= 8; left -= 8, at += 8) state.word(wholeWord(at));
  state.word((static_cast<uint64_t>(key.size()) << 56) | lastWord(at, left));
  state.v2 ^= 0xee;
  state.rounds(3);
  const uint64_t low = state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
  state.v1 ^= 0xdd;
  state.rounds(3);
  return {low, state.v0 ^ state.v1 ^ state.v2 ^ state.v3};
}

OffsetMap::Entry& OffsetMap::place(const Hash& hash) const noexcept {
  size_t index = slotOf(hash);
  while (entries_[index].offsetPlusOne != 0 && entries_[index].hash != hash)
    index = index + 1 == slots_ ? 0 : index + 1;
  return entries_[index];
}

void OffsetMap::grow() {
  size_t end = slots_;
  slots_ = mostSlots_ / 2 > slots_ ? 2 * slots_ : mostSlots_;
  // A hash's slot lies in the map where the hash lies among all hashes. With more slots no entry belongs further to the
  // front than it did: from the back on, what is moved never meets what is still to be.
  while (end > 0) {
    size_t first = end;
    while (first > 0 && entries_[first - 1].offsetPlusOne != 0) --first;
    placeAgain(first, end);
    end = first == 0 ? 0 : first - 1;
  }
}

void OffsetMap::placeAgain(size_t first, size_t last) {
  moving_.assign(entries_ + first, entries_ + last);
  std::fill(entries_ + first, entries_ + last, Entry());
  for (const Entry& entry : moving_) place(entry.hash) = entry;
}

Offset OffsetMap::put(const Hash& key, Offset offset) {
  Entry* entry = &place(key);
  if (entry->offsetPlusOne == 0) {
    // One stays free, so that a search for what is not there ends.
    TIDEMARK_INVARIANT(size_ + 1 < mostSlots_, std::string("a key too many for an offset map"));
    if (slots_ < mostSlots_ && size_ >= slots_ / 10 * kTenthsTaken) {
      grow();
      entry = &place(key);
    }
    ++size_;
    entry->hash = key;
  }
  const Offset replaced(static_cast<int64_t>(entry->offsetPlusOne) - 1);
  entry->offsetPlusOne = static_cast<uint64_t>(offset.value()) + 1;
  return replaced;
}

Offset OffsetMap::get(const Hash& key) const noexcept {
  if (size_ == 0) return kNoOffset;
  return Offset(static_cast<int64_t>(place(key).offsetPlusOne) - 1);
}

}  // namespace tidemark::log
