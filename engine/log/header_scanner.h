#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "platform/file_system.h"
#include "records/batch.h"

namespace tidemark::log {

/// Walks over the headers of the batches in part of a .log file without reading their records. Owns a small buffer, so
/// that small batches cost one read a few kilobytes.
class HeaderScanner {
 public:
  /// Batches from byte `from` (the start of one) on, below byte `end`.
  HeaderScanner(const platform::File& file, uint64_t from, uint64_t end) : file_(file), position_(from), end_(end) {}

  /// Next: header() is the batch that starts at position(). End: nothing more lies below the end. Corrupt: what is
  /// there is no whole batch of format 2.
  Result<records::Step> next();
  /// From byte `from` on again.
  void restart(uint64_t from) noexcept { position_ = from; }
  const records::BatchHeader& header() const noexcept { return header_; }
  uint64_t position() const noexcept { return batchStart_; }

 private:
  /// From an index entry to the header of the batch that has the next one, at Kafka's interval: one read.
  static constexpr size_t kBufferSize = 4096 + records::kBatchHeaderSize;

  const platform::File& file_;
  uint64_t position_;
  const uint64_t end_;
  uint64_t batchStart_ = 0;
  records::BatchHeader header_;
  uint64_t bufferStart_ = 0;
  size_t bufferFilled_ = 0;
  uint8_t buffer_[kBufferSize];
};

}  // namespace tidemark::log
