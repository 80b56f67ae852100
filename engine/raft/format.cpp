#include "raft/format.h"

#include <fmt/format.h>

#include "platform/file_system.h"
#include "raft/snapshot.h"
#include "raft/snapshot_files.h"

namespace tidemark::raft {

Result<void> formatMetadataLog(platform::FileSystem& files, const FormatOptions& options) {
  const std::string directory = fmt::format("{}/{}-0", options.logDirectory, kMetadataTopic);
  TIDEMARK_ASSIGN(const auto snapshots, SnapshotFiles::open(files, directory));
  TIDEMARK_ASSIGN(auto raw, snapshots->create(kBootstrapSnapshotId));
  if (!raw) return fail(ErrorCode::DuplicateResource, fmt::format("{} is formatted already", options.logDirectory));
  TIDEMARK_ASSIGN(const auto writer,
                  SnapshotWriter::create(std::move(raw), {.lastContainedLogTimestampMs = options.nowMs,
                                                          .kraftVersion = options.kraftVersion,
                                                          .voters = options.voters,
                                                          .nowMs = options.nowMs}));
  TIDEMARK_TRY(writer->append(options.bootstrapRecords));
  TIDEMARK_TRY(writer->freeze());
  return files.syncDirectory(options.logDirectory);
}

}  // namespace tidemark::raft
