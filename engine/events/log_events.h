#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "events/text.h"
#include "platform/clock.h"

namespace tidemark::events {

// Each kind of event: plain values, no owner, valid for ever. `fields(visit)` calls visit(name, value) for each of them
// in order, which is what text, JSON and tables are made of.

/// A batch came to stand at the end of a replica's log. `position`: of its first byte in the active segment.
/// `producer`: none unless it is idempotent.
struct BatchAppended {
  static constexpr std::string_view kName = "BatchAppended";
  PartitionTag partition;
  Offset baseOffset;
  Offset lastOffset;
  LeaderEpoch epoch;
  int32_t recordCount = 0;
  int32_t sizeInBytes = 0;
  int64_t position = 0;
  ProducerId producer;
  bool transactional = false;
  bool control = false;
  bool asLeader = false;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("baseOffset", baseOffset);
    visit("lastOffset", lastOffset);
    visit("epoch", epoch);
    visit("recordCount", recordCount);
    visit("sizeInBytes", sizeInBytes);
    visit("position", position);
    visit("producer", producer);
    visit("transactional", transactional);
    visit("control", control);
    visit("asLeader", asLeader);
  }
};

/// A new active segment begins at `baseOffset`; the one before it is closed.
struct SegmentRolled {
  static constexpr std::string_view kName = "SegmentRolled";
  PartitionTag partition;
  Offset baseOffset;
  Offset closedBaseOffset;
  int64_t closedSizeInBytes = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("baseOffset", baseOffset);
    visit("closedBaseOffset", closedBaseOffset);
    visit("closedSizeInBytes", closedSizeInBytes);
  }
};

/// Retention, DeleteRecords or truncation removed a segment.
struct SegmentDeleted {
  static constexpr std::string_view kName = "SegmentDeleted";
  PartitionTag partition;
  Offset baseOffset;
  int64_t sizeInBytes = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("baseOffset", baseOffset);
    visit("sizeInBytes", sizeInBytes);
  }
};

/// The sparse offset index got an entry.
struct IndexEntryAdded {
  static constexpr std::string_view kName = "IndexEntryAdded";
  PartitionTag partition;
  Offset offset;
  int64_t position = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("offset", offset);
    visit("position", position);
  }
};

/// Records below `to` can no longer be read.
struct LogStartAdvanced {
  static constexpr std::string_view kName = "LogStartAdvanced";
  PartitionTag partition;
  Offset from;
  Offset to;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("from", from);
    visit("to", to);
  }
};

/// A replica gave up what it had from `to` on.
struct LogTruncated {
  static constexpr std::string_view kName = "LogTruncated";
  PartitionTag partition;
  Offset from;
  Offset to;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("from", from);
    visit("to", to);
  }
};

/// A log was scanned after an unclean stop. `removedBytes`: written and cut off behind the last valid batch; space that
/// was only set aside does not count.
struct LogRecovered {
  static constexpr std::string_view kName = "LogRecovered";
  PartitionTag partition;
  Offset logEnd;
  int32_t segmentsScanned = 0;
  int64_t removedBytes = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("logEnd", logEnd);
    visit("segmentsScanned", segmentsScanned);
    visit("removedBytes", removedBytes);
  }
};

/// Opening a log gave up bytes that are no valid batches, or lie behind some: in which segment, from which byte on,
/// which offsets. `lastOffset`: the largest one that headers among them name, −1 if none can be read; there may be
/// more.
struct LogCut {
  static constexpr std::string_view kName = "LogCut";
  PartitionTag partition;
  Offset segmentBaseOffset;
  int64_t position = 0;
  int64_t bytes = 0;
  /// Where the log, or what is left of it before this segment, ends now.
  Offset from;
  Offset lastOffset;
  ShortText<40> reason;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("segmentBaseOffset", segmentBaseOffset);
    visit("position", position);
    visit("bytes", bytes);
    visit("from", from);
    visit("lastOffset", lastOffset);
    visit("reason", reason);
  }
};

/// Recovery after an unclean stop got further: how many logs of the directory are left, and how many segments of the
/// log that this one of the directory's threads is at (Kafka's remainingLogsToRecover, remainingSegmentsToRecover).
struct RecoveryProgressed {
  static constexpr std::string_view kName = "RecoveryProgressed";
  PartitionTag partition;
  ShortText<48> directory;
  int32_t thread = 0;
  int32_t remainingLogs = 0;
  int32_t remainingSegments = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("directory", directory);
    visit("thread", thread);
    visit("remainingLogs", remainingLogs);
    visit("remainingSegments", remainingSegments);
  }
};

/// A log directory went offline: nothing in it is read or written until the broker starts anew.
struct LogDirectoryFailed {
  static constexpr std::string_view kName = "LogDirectoryFailed";
  ShortText<40> directory;
  ShortText<40> reason;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("directory", directory);
    visit("reason", reason);
  }
};

/// A retry of an idempotent producer was answered from the window, nothing was appended.
struct DuplicateAnswered {
  static constexpr std::string_view kName = "DuplicateAnswered";
  PartitionTag partition;
  ProducerId producer;
  int32_t baseSequence = 0;
  Offset baseOffset;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("producer", producer);
    visit("baseSequence", baseSequence);
    visit("baseOffset", baseOffset);
  }
};

/// At the leader: the first batch of a producer's transaction is in the log, from now on it holds back the last stable
/// offset.
struct TransactionOpened {
  static constexpr std::string_view kName = "TransactionOpened";
  PartitionTag partition;
  ProducerId producer;
  ProducerEpoch epoch;
  Offset first;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("producer", producer);
    visit("epoch", epoch);
    visit("first", first);
  }
};

/// At the leader: a marker ended a producer's transaction on this partition. `marker`: its offset. `lastStable`: where
/// the next open transaction begins, else behind the marker.
struct MarkerWritten {
  static constexpr std::string_view kName = "MarkerWritten";
  PartitionTag partition;
  ProducerId producer;
  ProducerEpoch epoch;
  bool committed = false;
  Offset first;
  Offset marker;
  Offset lastStable;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("producer", producer);
    visit("epoch", epoch);
    visit("committed", committed);
    visit("first", first);
    visit("marker", marker);
    visit("lastStable", lastStable);
  }
};

/// At the leader: a batch was refused, since a newer epoch has fenced its producer. Nothing was appended.
struct ProducerFenced {
  static constexpr std::string_view kName = "ProducerFenced";
  PartitionTag partition;
  ProducerId producer;
  ProducerEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("producer", producer);
    visit("epoch", epoch);
  }
};

/// The cleaner begins to compact a log: the keys of [firstDirty, firstUncleanable) are looked at, every segment below
/// that is written anew. Bytes before `firstDirty`, and from there on.
struct CleanerPassStarted {
  static constexpr std::string_view kName = "CleanerPassStarted";
  PartitionTag partition;
  Offset firstDirty;
  Offset firstUncleanable;
  int64_t cleanBytes = 0;
  int64_t dirtyBytes = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("firstDirty", firstDirty);
    visit("firstUncleanable", firstUncleanable);
    visit("cleanBytes", cleanBytes);
    visit("dirtyBytes", dirtyBytes);
  }
};

/// It has: everything below `endOffset` is clean. Of the segments that were written anew: their records and bytes.
struct CleanerPassFinished {
  static constexpr std::string_view kName = "CleanerPassFinished";
  PartitionTag partition;
  Offset endOffset;
  int64_t recordsRead = 0;
  int64_t recordsKept = 0;
  int64_t tombstonesKept = 0;
  int64_t tombstonesDropped = 0;
  int64_t bytesBefore = 0;
  int64_t bytesAfter = 0;
  platform::Duration took{};
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("endOffset", endOffset);
    visit("recordsRead", recordsRead);
    visit("recordsKept", recordsKept);
    visit("tombstonesKept", tombstonesKept);
    visit("tombstonesDropped", tombstonesDropped);
    visit("bytesBefore", bytesBefore);
    visit("bytesAfter", bytesAfter);
    visit("took", took);
  }
};

/// A log could not be cleaned: its records cannot be read (it is left alone until the next start) or its disk failed.
struct CleanerSetAside {
  static constexpr std::string_view kName = "CleanerSetAside";
  PartitionTag partition;
  ShortText<64> reason;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("reason", reason);
  }
};

}  // namespace tidemark::events
