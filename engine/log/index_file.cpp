#include "log/index_file.h"

#include <algorithm>
#include <array>

#include "base/invariant.h"

namespace tidemark::log {
namespace {

constexpr size_t kLargestEntry = TimeIndexFormat::kSize;

Result<bool> isZero(const platform::File& file, size_t index, size_t entrySize) {
  std::array<uint8_t, kLargestEntry> bytes{};
  const MutableBytes entry = MutableBytes(bytes).first(entrySize);
  TIDEMARK_TRY(file.readAt(index * entrySize, entry));
  return std::ranges::all_of(entry, [](uint8_t byte) { return byte == 0; });
}

}  // namespace

Result<std::optional<size_t>> countEntries(const platform::File& file, uint64_t fileSize, size_t entrySize) {
  TIDEMARK_INVARIANT(entrySize <= kLargestEntry, "only offset and time indexes are preallocated");
  if (fileSize % entrySize != 0) return std::nullopt;
  const size_t total = fileSize / entrySize;
  // A single entry of zeros is a real one: the first batch ended at the base offset with timestamp 0.
  if (total <= 1) return total;
  TIDEMARK_ASSIGN(const bool padded, isZero(file, total - 1, entrySize));
  if (!padded) return total;
  size_t low = 0;
  size_t high = total - 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    TIDEMARK_ASSIGN(const bool zero, isZero(file, middle, entrySize));
    if (zero)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace tidemark::log
