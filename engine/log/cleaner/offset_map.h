#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/zeroed_memory.h"

namespace tidemark::log {

/// The last offset of each key in the dirty part of a log, in memory of a fixed size (Kafka's SkimpyOffsetMap). A key
/// is kept as a keyed 128-bit hash (SipHash-2-4), 24 bytes an entry whatever its length: two keys that meet there would
/// cost the older one its value, which at 128 bits does not happen, and the hash's own key keeps anybody from arranging
/// it. Open addressing; used by one thread.
class OffsetMap {
 public:
  static constexpr size_t kEntrySize = 24;

  struct HashKey {
    uint64_t low = 0;
    uint64_t high = 0;
  };
  /// What stands for a key.
  struct Hash {
    uint64_t low = 0;
    uint64_t high = 0;
    friend bool operator==(const Hash&, const Hash&) = default;
  };

  /// Room for `slots` − 1 keys; at least one.
  OffsetMap(size_t slots, HashKey key);

  size_t slots() const noexcept { return slots_; }
  /// Keys in it.
  size_t size() const noexcept { return size_; }
  size_t memoryBytes() const noexcept { return slots_ * kEntrySize; }

  Hash hashOf(ByteView key) const noexcept;
  /// Has the memory brought near that the next put() or get() of the key will look at: each look into a large map is a
  /// cache miss, and a few dozen on their way together take hardly longer than one.
  void prefetch(const Hash& key) const noexcept { __builtin_prefetch(entries_ + slotOf(key), 1); }
  /// Later offsets replace earlier ones. The map must not be full. Returns the offset that it replaced; kNoOffset: the
  /// key is new.
  Offset put(const Hash& key, Offset offset);
  /// kNoOffset if the key is not in it.
  Offset get(const Hash& key) const noexcept;

 private:
  struct Entry {
    Hash hash;
    /// 0: free.
    uint64_t offsetPlusOne = 0;
  };
  static_assert(sizeof(Entry) == kEntrySize);

  /// Where the search for it begins.
  size_t slotOf(const Hash& hash) const noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<size_t>((static_cast<Wide>(hash.low) * slots_) >> 64);
  }
  /// Where the hash is, or the free entry where it would be.
  Entry& place(const Hash& hash) const noexcept;

  const size_t slots_;
  const HashKey key_;
  size_t size_ = 0;
  const ZeroedMemory memory_;
  Entry* const entries_;
};

}  // namespace tidemark::log
