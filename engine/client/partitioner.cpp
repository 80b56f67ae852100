#include "client/partitioner.h"

namespace tidemark::client {

int32_t murmur2(ByteView key) noexcept {
  constexpr uint32_t kFactor = 0x5bd1e995;
  constexpr uint32_t kSeed = 0x9747b28c;
  uint32_t hash = kSeed ^ static_cast<uint32_t>(key.size());
  size_t at = 0;
  for (; at + 4 <= key.size(); at += 4) {
    uint32_t word = key[at] | static_cast<uint32_t>(key[at + 1]) << 8 | static_cast<uint32_t>(key[at + 2]) << 16 |
                    static_cast<uint32_t>(key[at + 3]) << 24;
    word *= kFactor;
    word ^= word >> 24;
    hash = (hash * kFactor) ^ (word * kFactor);
  }
  switch (key.size() - at) {
    case 3:
      hash ^= static_cast<uint32_t>(key[at + 2]) << 16;
      [[fallthrough]];
    case 2:
      hash ^= static_cast<uint32_t>(key[at + 1]) << 8;
      [[fallthrough]];
    case 1:
      hash = (hash ^ key[at]) * kFactor;
      break;
    default:
      break;
  }
  hash ^= hash >> 13;
  hash *= kFactor;
  return static_cast<int32_t>(hash ^ (hash >> 15));
}

}  // namespace tidemark::client
