#include "raft/format.h"

#include <fmt/format.h>

#include "platform/file_system.h"
#include "raft/snapshot.h"
#include "raft/snapshot_files.h"

namespace tidemark::raft {

namespace {

std::string metadataDirectory(const std::string& logDirectory) {
  return fmt::format("{}/{}-0", logDirectory, kMetadataTopic);
}

}  // namespace

Result<void> formatMetadataLog(platform::FileSystem& files, const FormatOptions& options) {
  const std::string directory = metadataDirectory(options.logDirectory);
  TIDEMARK_ASSIGN(const auto snapshots, SnapshotFiles::open(files, directory));
  TIDEMARK_ASSIGN(auto raw, snapshots->create(kBootstrapSnapshotId));
  if (!raw)
    return fail(ErrorCode::DuplicateResource,
                fmt::format("{} holds a metadata log already: without its meta.properties it is neither started nor "
                            "formatted again",
                            options.logDirectory));
  TIDEMARK_ASSIGN(const auto writer,
                  SnapshotWriter::create(std::move(raw), {.lastContainedLogTimestampMs = options.nowMs,
                                                          .kraftVersion = options.kraftVersion,
                                                          .voters = options.voters,
                                                          .nowMs = options.nowMs}));
  TIDEMARK_TRY(writer->append(options.bootstrapRecords));
  TIDEMARK_TRY(writer->freeze());
  TIDEMARK_TRY(files.syncDirectory(options.logDirectory));
  // The log directory may be new as well.
  const size_t slash = options.logDirectory.rfind('/');
  if (slash == std::string::npos) return {};
  return files.syncDirectory(slash == 0 ? "/" : options.logDirectory.substr(0, slash));
}

Result<StoredMetadata> storedMetadata(platform::FileSystem& files, const std::string& logDirectory) {
  const std::string directory = metadataDirectory(logDirectory);
  if (!files.exists(directory)) return StoredMetadata::None;
  TIDEMARK_ASSIGN(const std::vector<platform::DirectoryEntry> entries, files.list(directory));
  StoredMetadata found = StoredMetadata::None;
  for (const platform::DirectoryEntry& entry : entries) {
    const std::optional<OffsetAndEpoch> snapshot = parseSnapshotFileName(entry.name);
    // A log that was opened without anything to open is an empty file.
    if (snapshot ? *snapshot != kBootstrapSnapshotId : entry.name.ends_with(".log") && entry.size > 0)
      return StoredMetadata::Records;
    if (snapshot) found = StoredMetadata::Bootstrap;
  }
  return found;
}

}  // namespace tidemark::raft
