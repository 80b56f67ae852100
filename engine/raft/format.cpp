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

}  // namespace tidemark::raft
