#include "base/crc32c.h"

#include <algorithm>

#include <isa-l/crc.h>

namespace tidemark {

uint32_t crc32c(ByteView bytes, uint32_t previous) noexcept {
  // crc32_iscsi neither inverts its seed nor its result, takes an int length and a pointer that it only reads.
  uint32_t sum = ~previous;
  while (!bytes.empty()) {
    const size_t step = std::min<size_t>(bytes.size(), size_t{1} << 30);
    sum = crc32_iscsi(const_cast<uint8_t*>(bytes.data()), static_cast<int>(step), sum);
    bytes = bytes.subspan(step);
  }
  return ~sum;
}

}  // namespace tidemark
