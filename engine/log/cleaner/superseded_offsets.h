#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace tidemark::log {

/// Which of a range of offsets hold a record that a later one with its key supersedes: one bit an offset. Told by the
/// offset map while it is filled, so that the dirty part's keys need not be looked up again. Used by one thread.
class SupersededOffsets {
 public:
  /// Of [from, from + count); none is at first.
  SupersededOffsets(Offset from, size_t count) : from_(from), words_(count / kBits + 1) {}

  static constexpr size_t memoryBytes(size_t count) noexcept { return (count / kBits + 1) * sizeof(uint64_t); }

  /// An offset outside the range, here and below, is never in it: what a batch says of its records may be wrong.
  void add(Offset offset) noexcept {
    if (index(offset) < words_.size() * kBits) words_[index(offset) / kBits] |= bit(offset);
  }
  bool contains(Offset offset) const noexcept {
    return index(offset) < words_.size() * kBits && (words_[index(offset) / kBits] & bit(offset)) != 0;
  }

  // Of `count` offsets from `from` on, which lie within the range.

  /// How many are not superseded.
  size_t left(Offset from, size_t count) const noexcept {
    size_t found = 0;
    forEachWord(from, count, [&found](size_t, uint64_t left) { found += static_cast<size_t>(std::popcount(left)); });
    return found;
  }
  /// Calls `visit` for each that is not superseded, with how far behind `from` it is; ascending.
  template <class Visit>
  void forEachLeft(Offset from, size_t count, Visit&& visit) const {
    forEachWord(from, count, [&visit](size_t behind, uint64_t left) {
      for (; left != 0; left &= left - 1) visit(behind + static_cast<size_t>(std::countr_zero(left)));
    });
  }

 private:
  static constexpr size_t kBits = 64;
  size_t index(Offset offset) const noexcept { return static_cast<size_t>(offset - from_); }
  uint64_t bit(Offset offset) const noexcept { return uint64_t{1} << (index(offset) % kBits); }
  /// `visit`(how far behind `from`, a bit for each offset from there on that is not superseded).
  template <class Visit>
  void forEachWord(Offset from, size_t count, Visit&& visit) const {
    const size_t first = index(from);
    for (size_t at = first; at < first + count;) {
      const size_t skipped = at % kBits;
      const size_t here = std::min(kBits - skipped, first + count - at);
      uint64_t left = ~words_[at / kBits] >> skipped;
      if (here < kBits) left &= (uint64_t{1} << here) - 1;
      visit(at - first, left);
      at += here;
    }
  }

  const Offset from_;
  std::vector<uint64_t> words_;
};

}  // namespace tidemark::log
