#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace tidemark {

/// CRC-32C (Castagnoli) as Kafka computes it over a record batch from its attributes on. `previous` continues a sum.
uint32_t crc32c(ByteView bytes, uint32_t previous = 0) noexcept;

}  // namespace tidemark
