#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inspect/named_record.h"
#include "platform/file_system.h"

namespace tidemark::inspect {

struct DumpOptions {
  /// A line of JSON for each thing instead of the text of Kafka's DumpLogSegments.
  bool json = false;
  /// Records with key and value, Kafka's own by name.
  bool records = false;
  /// Records without key and value.
  bool deep = false;
  /// Only the batches' records, no batch lines.
  bool skipBatches = false;
  /// Only whether files are as they should be.
  bool onlyCheck = false;
  /// Check each file of a segment against the others (reads the segment once more).
  bool check = true;
  /// Nothing: by the name of the folder.
  std::optional<RecordSchema> schema;
  /// Of each file, bytes of batches to show.
  uint64_t maxBytes = UINT64_MAX;
  /// Told now and then how many bytes were read since; false ends the dump with RequestTimedOut.
  std::function<bool(uint64_t bytes)> progress;
};

/// Gets one line without its end.
using LineSink = std::function<void(std::string_view line)>;

struct DumpSummary {
  int64_t files = 0;
  int64_t batches = 0;
  int64_t records = 0;
  int64_t findings = 0;
  /// Findings that are errors.
  int64_t errors = 0;
};

/// Shows what is in one file of a log directory: `.log` and metadata `.checkpoint` (batches, records), `.index`,
/// `.timeindex`, `.txnindex`, `.snapshot`, checkpoints, `partition.metadata`, `meta.properties`, `quorum-state`,
/// `.kafka_cleanshutdown`; also with `.deleted`, `.cleaned` or `.swap` behind. Of a partition's folder every file.
/// Batches, records, entries and producers are told in the words of Kafka's DumpLogSegments, then what a check found.
/// Holds one batch at a time. Fails if the file is none of these or cannot be read.
Result<DumpSummary> dump(platform::FileSystem& files, const std::string& path, const DumpOptions& options,
                         const LineSink& sink);

}  // namespace tidemark::inspect
