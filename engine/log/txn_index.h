#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/log_types.h"
#include "platform/file_system.h"

namespace tidemark::log {

/// An entry of `.txnindex`: 34 bytes, version i16 = 0, producer id i64, first offset i64, last offset i64, last stable
/// offset i64. It stands in the segment that holds the marker, in the order of the markers.
struct AbortedTxn {
  ProducerId producerId;
  /// Base offset of the producer's first batch in that transaction.
  Offset firstOffset;
  /// Of the abort marker.
  Offset lastOffset;
  /// First offset of the oldest transaction that was still open after the marker, else the marker's offset + 1: no
  /// later entry can tell of anything below it.
  Offset lastStableOffset;
  friend bool operator==(const AbortedTxn&, const AbortedTxn&) = default;
};

inline constexpr size_t kAbortedTxnSize = 34;

ByteVector encodeAbortedTxns(std::span<const AbortedTxn> entries);
/// `bytes` of a `.txnindex` whose segment begins at `base`. CorruptMessage if the size is not a whole number of
/// entries, a version is not 0, or an entry cannot be: markers rise, lie at or above the base and behind their first
/// offset.
Result<std::vector<AbortedTxn>> decodeAbortedTxns(ByteView bytes, Offset base);

/// Those entries that a reader of [from, upTo) has to know are added to `into`. Returns whether later segments need not
/// be asked.
bool selectAborted(std::span<const AbortedTxn> entries, Offset from, Offset upTo, std::vector<AbortedTxn>& into);

}  // namespace tidemark::log
