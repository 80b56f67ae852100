#pragma once

#include <vector>

#include "observe/recording.h"
#include "segments/partition_reader.h"

// What is known of a copy's log at a moment of the past: what was told of it then. Its files are as they are now, and
// nobody reads them for it.
namespace tidemark::widgets {

struct RecordedLog {
  ReadPartition log;
  /// Why there is nothing to show, in the reader's language; empty if there is.
  QString problem;
};
/// The copy as a snapshot of that moment knows it, with `segment` opened; none, or one that was not there: the last
/// one.
RecordedLog recordedLog(const observe::ClusterSnapshot& cluster, const observe::LookPlace& place, Offset segment);

/// The recorded batch that holds an offset; nothing if none is known.
std::optional<BatchPoint> recordedBatch(const SegmentPicture& segment, int64_t offset);

/// Something that a log did as a whole: it rolled, a segment went, it was cut, cleaned, recovered.
struct LogDeed {
  /// Its number in the recording.
  uint64_t event = 0;
  platform::WallTime at;
  QString what;
  QString detail;
  friend bool operator==(const LogDeed&, const LogDeed&) = default;
};
/// Newest first, up to that moment; nothing: all that is remembered.
std::vector<LogDeed> recordedDeeds(const observe::Recording& recording,
                                   const std::optional<observe::Recording::Moment>& until,
                                   const observe::LookPlace& place);
inline constexpr size_t kMostDeeds = 200;

/// How the copy stood, a name and a value each: high watermark, ends, segments, the last pass of the cleaner.
std::vector<std::pair<QString, QString>> recordedFacts(const observe::ClusterSnapshot& cluster,
                                                       const observe::LookPlace& place);

}  // namespace tidemark::widgets
