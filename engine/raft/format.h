#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "platform/clock.h"
#include "raft/types.h"

namespace tidemark::platform {
class FileSystem;
}

namespace tidemark::raft {

/// What formatting a node's metadata directory needs to know.
struct FormatOptions {
  /// The log directory (metadata.log.dir or the first of log.dirs); `__cluster_metadata-0` is made in it.
  std::string logDirectory;
  /// kraft.version: 0 leaves the voters out (a static quorum), 1 writes them.
  int16_t kraftVersion = 1;
  /// With their directory ids; for kraft.version 1.
  VoterSet voters;
  /// Framed metadata records that are true before the first record of the log: feature levels, SCRAM users.
  std::vector<ByteVector> bootstrapRecords;
  int64_t nowMs = 0;
};

/// Writes `__cluster_metadata-0/00000000000000000000-0000000000.checkpoint` as Kafka 4.4's storage tool does.
Result<void> formatMetadataLog(platform::FileSystem& files, const FormatOptions& options);

/// What a log directory holds of a metadata log.
enum class StoredMetadata {
  /// Neither a snapshot nor a record.
  None,
  /// What formatting has written, and nothing since.
  Bootstrap,
  /// A quorum has run.
  Records,
};
/// Reads names and sizes only, and writes nothing.
Result<StoredMetadata> storedMetadata(platform::FileSystem& files, const std::string& logDirectory);

}  // namespace tidemark::raft
