#include "log/cleaner/offset_map.h"

#include <algorithm>

// Its functions become part of this file: a key is hashed in less time than a call takes.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"

namespace tidemark::log {
namespace {

/// At first, and how many of ten may be taken before there are twice as many.
constexpr size_t kFirstSlots = 1024;
constexpr size_t kTenthsTaken = 6;

}  // namespace

OffsetMap::OffsetMap(size_t slots, HashKey key)
    : mostSlots_(std::max<size_t>(slots, 2)),
      slots_(std::min(mostSlots_, kFirstSlots)),
      memory_(mostSlots_ * sizeof(Entry)),
      entries_(static_cast<Entry*>(memory_.data())) {
  static_assert(kSecretSize >= XXH3_SECRET_SIZE_MIN);
  const uint64_t seed[] = {key.low, key.high};
  const bool made = XXH3_generateSecret(secret_.data(), secret_.size(), seed, sizeof seed) == XXH_OK;
  TIDEMARK_INVARIANT(made, std::string("xxHash makes no secret"));
}

OffsetMap::Hash OffsetMap::hashOf(ByteView key) const noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSecret(key.data(), key.size(), secret_.data(), secret_.size());
  return {hash.low64, hash.high64};
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
