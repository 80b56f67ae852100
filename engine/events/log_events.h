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
struct BatchAppended {
  static constexpr std::string_view kName = "BatchAppended";
  PartitionTag partition;
  Offset baseOffset;
  Offset lastOffset;
  LeaderEpoch epoch;
  int32_t recordCount = 0;
  int32_t sizeInBytes = 0;
  int64_t position = 0;
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

/// A log was scanned after an unclean stop. `removedBytes`: cut off behind the last valid batch.
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

}  // namespace tidemark::events
