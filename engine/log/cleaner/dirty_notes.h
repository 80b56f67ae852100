#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"

namespace tidemark::log {

/// What the first reading of a dirty batch tells the second, which needs to read no more of it than what stays.
struct NotedBatch {
  enum class Kind : uint8_t {
    /// Nothing but its place: a control batch, one of an aborted transaction, or with offsets missing among its own.
    Unknown,
    /// What is in it, but not where: it is compressed.
    Counted,
    /// Also where each of its records begins.
    Placed,
  };

  Offset baseOffset;
  /// Bytes from the start of its segment's .log.
  uint32_t position = 0;
  uint32_t size = 0;
  int32_t records = 0;
  int32_t lastOffsetDelta = 0;
  /// Of the records, those with a key, and those without a value.
  int32_t keyed = 0;
  int32_t withoutValue = 0;
  /// Of a placed one: which of the places (RecordPlaces) is that of its first record.
  uint32_t firstPlace = 0;
  Kind kind = Kind::Unknown;
  /// Its header may have to stay when its records go.
  bool hasProducer = false;

  Offset nextOffset() const noexcept { return baseOffset + lastOffsetDelta + 1; }
  uint32_t end() const noexcept { return position + size; }
};

/// The batches of one segment that was read from its first byte to its last, all checksums right.
using NotedBatches = std::vector<NotedBatch>;

/// Of placed batches, one after another: where each record begins, in bytes behind the start of its batch.
using RecordPlaces = std::span<const uint32_t>;

}  // namespace tidemark::log
