#pragma once

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

 private:
  static constexpr size_t kBits = 64;
  size_t index(Offset offset) const noexcept { return static_cast<size_t>(offset - from_); }
  uint64_t bit(Offset offset) const noexcept { return uint64_t{1} << (index(offset) % kBits); }

  const Offset from_;
  std::vector<uint64_t> words_;
};

}  // namespace tidemark::log
