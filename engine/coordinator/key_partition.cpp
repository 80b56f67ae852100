#include "coordinator/key_partition.h"

#include <cstdlib>

#include "base/utf8.h"

namespace tidemark::coordinator {
namespace {

/// Takes one code point off the front; a broken sequence counts as U+FFFD, a byte at a time, as Java's decoder does.
uint32_t takeCodePoint(std::string_view& text) noexcept {
  const auto byteAt = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byteAt(0);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
  uint32_t point = length <= 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || !utf8::isContinuation(text[i])) {
      length = 0;
      break;
    }
    point = point << 6 | (byteAt(i) & 0x3f);
  }
  if (length == 0) {
    text.remove_prefix(1);
    return 0xfffd;
  }
  text.remove_prefix(length);
  return point;
}

}  // namespace

int32_t javaHashCode(std::string_view utf8) noexcept {
  uint32_t hash = 0;
  while (!utf8.empty()) {
    const uint32_t point = takeCodePoint(utf8);
    if (point < 0x10000) {
      hash = hash * 31 + point;
    } else {
      hash = hash * 31 + (0xd800 + ((point - 0x10000) >> 10));
      hash = hash * 31 + (0xdc00 + ((point - 0x10000) & 0x3ff));
    }
  }
  return static_cast<int32_t>(hash);
}

PartitionIndex partitionForKey(std::string_view key, int32_t partitions) noexcept {
  const int32_t hash = javaHashCode(key);
  return PartitionIndex((hash == INT32_MIN ? 0 : std::abs(hash)) % partitions);
}

}  // namespace tidemark::coordinator
