#pragma once

#include <memory>
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
  /// A partition's folder or one of its files: the path itself. Else the partitions' folders below it, sorted.
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
  /// Check every byte of the segment as well, if it is no larger than kCheckedBytes.
  bool check = false;
  /// Open the files anew even if they are open.
  bool again = false;

  static constexpr int64_t kCheckedBytes = 256 << 20;
  /// Batch headers that are read of one segment: a curve has no use for more.
  static constexpr size_t kMostBatches = 30'000;
};

/// A partition and one segment of it.
struct ReadPartition {
  PartitionPicturePtr partition;
  SegmentPicturePtr segment;
  /// The segment was checked: its findings are those of the check.
  bool checked = false;
};
Result<ReadPartition> readPartition(const observe::LookAccess& access, ReaderCache& cache, const ReadRequest& request);

Result<LookupPicturePtr> readLookup(const observe::LookAccess& access, ReaderCache& cache, const LookupTarget& target);

Result<BatchPicturePtr> readBatch(const observe::LookAccess& access, ReaderCache& cache, Offset segment,
                                  int64_t position);

/// "baseOffset" → "base offset".
QString fieldName(std::string_view name);

}  // namespace tidemark::widgets
