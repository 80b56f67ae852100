#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"
#include "inspect/finding.h"
#include "log/log_types.h"
#include "platform/file_system.h"
#include "platform/process.h"
#include "records/batch.h"

namespace tidemark::inspect {

/// Gets findings as they are made, on the caller's thread.
using FindingSink = std::function<void(Finding)>;

struct CheckOptions {
  /// Look at so many bytes of the .log; nothing: all of the file.
  std::optional<uint64_t> readableBytes;
  /// The last segment of its log.
  bool active = false;
  /// A broker appends meanwhile: what is only complete once it is closed is not missed.
  bool open = false;
  /// False: no clean stop, and the segment reaches the recovery point, so that a broker reads it again at its next
  /// start and puts right what it can.
  bool trusted = true;
  /// `index.interval.bytes`, if known. Without it the indexes need only be those of some interval.
  std::optional<int32_t> indexIntervalBytes;
  /// Gets each batch of format 2 that can be trusted, with its byte in the file.
  std::function<void(const records::BatchView&, uint64_t position)> visit;
  /// Told now and then how many bytes were read since the last call; false ends the check with
  /// RequestTimedOut.
  std::function<bool(uint64_t bytes)> progress;
};

/// What a walk through a .log found.
struct SegmentFacts {
  uint64_t fileBytes = 0;
  /// Where what can be read as batches ends.
  uint64_t validBytes = 0;
  /// One past the last offset; the base if there is no batch.
  Offset nextOffset;
  int64_t batches = 0;
  int64_t records = 0;
  int64_t maxTimestampMs = records::kNoTimestamp;
};

/// Checks one segment: each batch (CRC, offsets, epochs, records), each entry of its indexes against the batches, the
/// indexes against a rebuild. Reads everything once, a megabyte at a time. Fails only if the .log cannot be read or
/// `progress` says so (RequestTimedOut).
Result<SegmentFacts> checkSegment(platform::FileSystem& files, const std::string& folder, Offset base,
                                  const CheckOptions& options, const FindingSink& sink);

struct PartitionCheckOptions {
  /// A broker runs on it: what is only there after a stop is not missed, and what is half written may look torn.
  bool open = false;
  /// Its log directory was stopped cleanly.
  bool cleanStop = true;
  /// Compaction may have left gaps: the cleaner's checkpoint says so, or cannot be read. Gaps in the log say so as
  /// well.
  bool compacted = false;
  // As the directory's checkpoints have them.
  std::optional<Offset> logStart;
  /// False: the checkpoint cannot be read, so that the log may start anywhere.
  bool logStartKnown = true;
  std::optional<Offset> recoveryPoint;
  std::optional<Offset> highWatermark;
  std::optional<int32_t> indexIntervalBytes;
  /// As for a segment.
  std::function<bool(uint64_t bytes)> progress;
};

/// What a check of a partition's folder found.
struct PartitionFacts {
  std::optional<Uuid> topicId;
  Offset firstOffset{0};
  Offset logEnd{0};
  int64_t segments = 0;
  int64_t batches = 0;
  int64_t records = 0;
  uint64_t bytes = 0;
  /// The end of the log is not what a clean stop leaves.
  bool tornEnd = false;
};

/// Checks a partition's folder: each segment, the order of segments, the aborted transactions index against the markers
/// (T8), producer snapshots against the batches (T9), the leader epoch checkpoint against the batches (R11), names and
/// left-overs; of `__cluster_metadata-0` its snapshots too. Fails only if the folder cannot be read or `progress` says
/// so (RequestTimedOut).
Result<PartitionFacts> checkPartition(platform::Process& process, const std::string& folder,
                                      const PartitionCheckOptions& options, const FindingSink& sink);

struct VerifyOptions {
  std::optional<int32_t> indexIntervalBytes;
  /// The caller holds `.lock` itself.
  bool locked = false;
  /// Told bytes that were read since; false ends it with RequestTimedOut.
  std::function<bool(uint64_t bytes)> progress;
  /// Told the name of each folder before it is looked at.
  std::function<void(const std::string& folder)> entering;
};

struct VerifySummary {
  int64_t directories = 0;
  int64_t partitions = 0;
  int64_t segments = 0;
  int64_t batches = 0;
  int64_t records = 0;
  uint64_t bytes = 0;
  int64_t notes = 0;
  int64_t warnings = 0;
  int64_t errors = 0;
  /// A broker runs on one of them: what was found may be about to change.
  bool inUse = false;
};

/// Checks the log directories of one node: `meta.properties`, the marker of a clean stop, checkpoints, names, and every
/// partition. Directories of other nodes among them are told as such and checked for themselves. The folder of a lab
/// stands for the log directories in it. InvalidRequest if none of `directories` can be read.
Result<VerifySummary> verify(platform::Process& process, const std::vector<std::string>& directories,
                             const VerifyOptions& options, const FindingSink& sink);

}  // namespace tidemark::inspect
