#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace tidemark::client {

/// The hash by which Kafka's Java client spreads keys (MurmurHash2, its seed).
int32_t murmur2(ByteView key) noexcept;

/// The partition of a key among `count`, as Kafka's Java client chooses it.
inline int32_t partitionOf(ByteView key, int32_t count) noexcept {
  return (murmur2(key) & 0x7fffffff) % count;
}

}  // namespace tidemark::client
