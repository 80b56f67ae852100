#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "observe/cluster_source.h"
#include "segments/lookup_target.h"
#include "segments/segment_types.h"

// Reads what the Segments view draws. Everything here runs on a background thread of the engine, inside a look
// (EngineBridge::look), and touches no widget.
namespace tidemark::widgets {

/// What is kept between two looks at files that no running broker holds, so that they are not opened each time. Used by
/// one look at a time.
struct ReaderCache {
  std::shared_ptr<const inspect::PartitionView> view;
};
using ReaderCachePtr = std::shared_ptr<ReaderCache>;

/// What lies at a path.
struct FoundFiles {
  /// A partition's folder or one of its files: the path itself. Else the partitions' folders below it, those of
  /// internal topics last, by topic, number and folder.
  std::vector<std::string> partitions;
  /// There were more than are listed.
  bool cut = false;

  static constexpr size_t kMost = 5'000;
};

/// Looks for partitions at a path, three folders deep at most. UnknownTopicOrPartition if there are none.
Result<FoundFiles> findPartitions(const observe::LookAccess& access);

struct ReadRequest {
  /// The segment that is opened; none: the last one.
  Offset segment;
  /// As it was read before: only what is new is read. May be null.
  SegmentPicturePtr before;
  /// Open the files anew even if they are open.
  bool again = false;

  /// Batch headers that are read of one segment: a curve has no use for more.
  static constexpr size_t kMostBatches = 30'000;
};

/// A partition and one segment of it.
struct ReadPartition {
  PartitionPicturePtr partition;
  SegmentPicturePtr segment;
};
Result<ReadPartition> readPartition(const observe::LookAccess& access, ReaderCache& cache, const ReadRequest& request);

Result<LookupPicturePtr> readLookup(const observe::LookAccess& access, ReaderCache& cache, const LookupTarget& target);

/// `wanted`: the offset of the record that is looked for, so that it is among those that are kept; −1: the first ones.
Result<BatchPicturePtr> readBatch(const observe::LookAccess& access, ReaderCache& cache, Offset segment,
                                  int64_t position, int64_t wanted = -1);

/// A header of a record.
struct HeaderEntry {
  Stretch key;
  Stretch value;
};
/// In the order of the record.
std::vector<HeaderEntry> headersOf(const BatchPicture& batch, const RecordEntry& record);

/// The partition, opened unless it is open; `again`: anew.
using PartitionViewPtr = std::shared_ptr<const inspect::PartitionView>;
Result<PartitionViewPtr> viewOf(const observe::LookAccess& access, ReaderCache& cache, bool again);

/// The base offset that a file's name begins with, twenty digits; nothing if it does not.
std::optional<int64_t> baseOfFile(std::string_view name);

/// "baseOffset" → "base offset".
QString fieldName(std::string_view name);

}  // namespace tidemark::widgets
