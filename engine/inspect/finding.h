#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tidemark::inspect {

/// What is wrong. The names (findingName) are for programs and do not change.
enum class FindingKind : uint8_t {
  // .log
  LogTorn,           ///< the file ends inside a batch
  BatchLengthBad,    ///< a length that no batch can have
  BatchMagicBad,     ///< a format that is not 0, 1 or 2
  BatchChecksumBad,  ///< the bytes are not those that the CRC was made of
  BatchOffsetsBad,   ///< offsets that are there already, below the segment's base, or too far from it
  BatchEpochFalls,   ///< leader epoch below the one before
  BatchRecordsBad,   ///< records that cannot be read or do not fit their header
  TrailingZeros,     ///< zeros behind the last batch
  OldFormat,         ///< messages of format 0 or 1, which only tools still read
  // .index, .timeindex
  IndexMissing,
  IndexSizeOdd,       ///< not a whole number of entries
  IndexPadded,        ///< preallocated: zeros behind the entries
  IndexEntryFalse,    ///< an entry that names no batch, or a false time
  IndexNotRising,     ///< entries that do not rise: binary search goes astray
  IndexNotAsRebuilt,  ///< all entries are true, but a rebuild has others (a restart in between, another interval)
  // .txnindex
  AbortedIndexBad,  ///< an entry that no aborted transaction of the log has, or one that is missing
  // segments of a partition
  SegmentGap,         ///< begins later than the one before it ends
  SegmentOverlap,     ///< begins before the one before it ends
  SegmentWithoutLog,  ///< index, but no .log
  // other files of a partition
  SnapshotDamaged,    ///< producer snapshot: version, size or CRC
  SnapshotBeyondEnd,  ///< named by an offset behind the log's end
  SnapshotFalse,      ///< holds what the log does not
  EpochFileDamaged,
  EpochFileFalse,        ///< not what the batches say
  PartitionFileDamaged,  ///< partition.metadata
  LeftOver,     ///< .deleted, .cleaned, .swap, .tmp: an interrupted change, finished or undone at the next start
  NameUnknown,  ///< nothing of Kafka's
  // log directories
  NotADirectory,
  MetaPropertiesMissing,
  MetaPropertiesBad,
  DirectoriesDisagree,  ///< not of one node, not of its lab, or the same directory twice
  CheckpointDamaged,
  CheckpointFalse,   ///< an offset outside its log
  CheckpointStale,   ///< of a partition that is not here
  CleanMarkerBad,    ///< cannot be read
  CleanMarkerFalse,  ///< says the stop was clean, but it was not
  PartitionTwice,    ///< in two log directories
  InUse,             ///< a broker runs on it
  WrongType,         ///< a folder where a file belongs, or a file where a folder belongs
  Unreadable,        ///< the file could not be read at all
};

/// "index-entry-false"
std::string_view findingName(FindingKind kind) noexcept;

enum class Severity : uint8_t {
  Note,     ///< worth knowing, nothing to do
  Warning,  ///< a broker puts it right by itself at its next start, or does not need it
  Error,    ///< data is lost, cannot be read, or is told wrongly
};
/// "note", "warning", "error"
std::string_view severityName(Severity severity) noexcept;

/// Something about a file that is not as it should be: where, what was expected, what is there, what to do.
struct Finding {
  FindingKind kind{};
  Severity severity{};
  /// Path of the file or folder.
  std::string file;
  /// Byte of the file at which it begins; nothing if it is about all of it.
  std::optional<uint64_t> position;
  /// Bytes it is about, the first of them in `bytes` (at most kMaxBytes).
  uint64_t length = 0;
  ByteVector bytes;
  std::string expected;
  std::string found;
  std::string advice;

  static constexpr size_t kMaxBytes = 64;
};

/// What the kind means, in a sentence.
std::string_view explain(FindingKind kind) noexcept;
/// "0000 0000 0000 002a …"
std::string hexText(ByteView bytes);

}  // namespace tidemark::inspect
