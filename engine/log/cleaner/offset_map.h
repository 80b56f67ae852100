#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/zeroed_memory.h"

namespace tidemark::log {

/// The last offset of each key in the dirty part of a log, in memory of a fixed size at most (Kafka's SkimpyOffsetMap).
/// A key is kept as its 128-bit XXH3 under a secret of the map's own, 24 bytes an entry whatever its length. Two keys
/// that meet there would cost the older one its value: keys of one length up to 16 bytes cannot (the hash of so few is
/// one to one), of others 10⁹ do by chance with a probability of 10⁻²¹, and nobody who does not know the secret can
/// arrange it, which with Kafka's MD5 anybody can. Open addressing over as many slots as the keys so far need, since
/// each look into a map that is larger than a processor's cache waits for the memory; it grows in place. Used by one
/// thread.
class OffsetMap {
 public:
  static constexpr size_t kEntrySize = 24;

  /// What the secret is made of: random, of each broker its own.
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

  /// Most that it will use.
  size_t slots() const noexcept { return mostSlots_; }
  /// Keys in it.
  size_t size() const noexcept { return size_; }
  /// What it takes now.
  size_t memoryBytes() const noexcept { return slots_ * kEntrySize; }

  Hash hashOf(ByteView key) const noexcept;
  /// Has the memory brought near that the next put() or get() of the key will look at: each look into a large map is a
  /// cache miss, and a few dozen on their way together take hardly longer than one.
  void prefetch(const Hash& key) const noexcept {
    const auto* const entry = reinterpret_cast<const uint8_t*>(entries_ + slotOf(key));
    __builtin_prefetch(entry, 1);
    // Of eight entries three begin in one cache line and end in the next.
    __builtin_prefetch(entry + sizeof(Entry) - 1, 1);
  }
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
  void grow();
  /// Puts the entries in [first, last), all there are between two free ones, where they belong now.
  void placeAgain(size_t first, size_t last);

  const size_t mostSlots_;
  static constexpr size_t kSecretSize = 192;
  std::array<uint8_t, kSecretSize> secret_;
  /// In use; only grows.
  size_t slots_;
  size_t size_ = 0;
  /// Of placeAgain().
  std::vector<Entry> moving_;
  const ZeroedMemory memory_;
  Entry* const entries_;
};

}  // namespace tidemark::log
