#include "inspect/repair_apply.h"

#include <algorithm>
#include <utility>

#include "inspect/file_kind.h"
#include "log/file_names.h"
#include "log/handle_cache.h"
#include "log/partition_log.h"
#include "raft/snapshot_files.h"
#include "raft/types.h"

namespace tidemark::inspect {

using platform::OpenMode;

Result<void> DirectoryRepair::apply(const DirectoryPlan& todo) {
  copies_.enter(directory_);
  readCheckpoints();
  if (!todo.marker.empty())
    if (const auto moved = copies_.moveAside(todo.marker); !moved) {
      impossible_(todo.marker, "is left where it is, and so is everything in its directory: " + moved.error().message);
      return {};
    }
  for (const auto& [folder, plan] : todo.folders)
    if (plan.left) left_.insert(folder);
  lowerLogStarts();
  for (const auto& [folder, plan] : todo.folders) {
    if (plan.empty()) continue;
    const auto applied = applyFolder(folder, plan);
    // The others are not worse for it.
    if (!applied) impossible_(folder, "is left as it is now: " + applied.error().message);
  }
  for (const std::string& path : todo.aside)
    if (const auto moved = copies_.moveAside(path); !moved)
      impossible_(path, "is left where it is: " + moved.error().message);
  for (const auto& [path, logs] : todo.checkpoints) learnEnds(path);
  return correctCheckpoints();
}

void DirectoryRepair::readCheckpoints() {
  for (const std::string_view name :
       {log::kRecoveryPointFile, log::kHighWatermarkFile, log::kLogStartFile, log::kCleanerOffsetFile}) {
    const auto text = log::readTextFile(files_, directory_ + "/" + std::string(name));
    if (!text || !*text || (*text)->empty()) continue;
    if (auto offsets = log::decodeOffsetCheckpoint(**text)) checkpointed_[std::string(name)] = *std::move(offsets);
  }
}

/// Everything that may be changed, and moves what is done without.
Result<void> DirectoryRepair::copyBefore(const std::string& folder, const FolderPlan& plan) {
  TIDEMARK_ASSIGN(const auto entries, files_.list(folder));
  Offset lastBase = kNoOffset;
  for (const auto& entry : entries) {
    const FileKind kind = kindOf(entry.name);
    if (kind.type == FileType::Log && kind.extra.empty() && !plan.strays.contains(kind.offset))
      lastBase = std::max(lastBase, kind.offset);
  }
  for (const std::string& path : plan.aside) TIDEMARK_TRY(copies_.moveAside(path));
  // The last segment is looked at again in any case; closed ones stay as they are, but for a log that is cut: where
  // it ends below its start, all of it goes.
  for (const auto& entry : entries) {
    const FileKind kind = kindOf(entry.name);
    if (entry.isDirectory || kind.type == FileType::Unknown || plan.aside.contains(folder + "/" + entry.name)) continue;
    const bool kept =
        kind.type == FileType::Log && kind.extra.empty() && kind.offset < lastBase && !plan.change && !plan.cut;
    if (!kept) TIDEMARK_TRY(copies_.copy(folder + "/" + entry.name));
  }
  return {};
}

Result<void> DirectoryRepair::removeIfThere(const std::string& path) {
  return files_.exists(path) ? files_.remove(path) : Result<void>();
}

Result<void> DirectoryRepair::applyFolder(const std::string& folder, const FolderPlan& plan) {
  TIDEMARK_TRY(copyBefore(folder, plan));
  for (const Offset base : plan.indexes)
    for (const std::string_view suffix : {log::kOffsetIndexSuffix, log::kTimeIndexSuffix})
      TIDEMARK_TRY(removeIfThere(log::offsetFilePath(folder, base, suffix)));
  for (const Offset base : plan.aborted) {
    // What cannot be an index is built anew when the log is opened.
    const uint8_t wrong = 0;
    TIDEMARK_ASSIGN(const auto file,
                    files_.open(log::offsetFilePath(folder, base, log::kTxnIndexSuffix), OpenMode::Truncate));
    TIDEMARK_TRY(file->writeAt(0, ByteView(&wrong, 1)));
  }
  for (const std::string& path : plan.snapshots) TIDEMARK_TRY(removeIfThere(path));
  if (plan.epochs) TIDEMARK_TRY(removeIfThere(folder + "/" + std::string(log::kEpochFile)));
  if (plan.partitionFile) TIDEMARK_TRY(removeIfThere(folder + "/" + std::string(log::kPartitionMetadataFile)));
  return recover(folder, plan);
}

/// Opens the log as after an unclean stop and closes it.
Result<void> DirectoryRepair::recover(const std::string& folder, const FolderPlan& plan) {
  const auto partition = log::partitionOfFolder(nameIn(folder));
  if (!partition) return {};
  // Snapshots that were not finished.
  if (plan.change && partition->topic == raft::kMetadataTopic) TIDEMARK_TRY(raft::SnapshotFiles::open(files_, folder));
  log::LogContext context{.files = &files_,
                          .clock = &process_.clock(),
                          .logger = &process_.log(),
                          .background = nullptr,
                          .handles = std::make_shared<log::HandleCache>(16)};
  log::PartitionLogOptions options;
  options.partition = *partition;
  options.directory = folder;
  options.config.producerIdExpirationMs = INT64_MAX;
  options.config.retentionMs = -1;
  if (indexIntervalBytes_) options.config.indexIntervalBytes = *indexIntervalBytes_;
  options.logStartOffset = checkpointedAt(log::kLogStartFile, *partition).value_or(Offset(0));
  options.recoveryPoint = plan.cut ? plan.cut->first : Offset(INT64_MAX);
  // Gaps stay: a repair drops nothing that can be read.
  options.recoveryPointKnown = false;
  options.cleanShutdown = false;
  TIDEMARK_ASSIGN(const auto log, log::PartitionLog::open(std::move(context), std::move(options)));
  ends_[*partition] = log->logEndOffset();
  return log->close();
}

std::optional<Offset> DirectoryRepair::checkpointedAt(std::string_view file, const TopicPartition& partition) const {
  const auto offsets = checkpointed_.find(file);
  if (offsets == checkpointed_.end()) return std::nullopt;
  const auto found = offsets->second.find(partition);
  return found == offsets->second.end() ? std::nullopt : std::optional(found->second);
}

/// The log ends of the partitions in a checkpoint that were not recovered.
void DirectoryRepair::learnEnds(const std::string& path) {
  const auto offsets = checkpointed_.find(nameIn(path));
  if (offsets == checkpointed_.end()) return;
  for (const auto& [partition, offset] : offsets->second)
    if (!ends_.contains(partition))
      if (const auto end = endOf(partition)) ends_[partition] = *end;
}

/// Where the log ends as it is now; nothing if there is none, or nothing is to be made from it.
std::optional<Offset> DirectoryRepair::endOf(const TopicPartition& partition) {
  const std::string folder = directory_ + "/" + log::folderName(partition);
  if (left_.contains(folder) || !firstOf(folder)) return std::nullopt;
  log::LogContext context{.files = &files_,
                          .clock = &process_.clock(),
                          .logger = &process_.log(),
                          .background = nullptr,
                          .handles = std::make_shared<log::HandleCache>(1)};
  log::PartitionLogOptions options;
  options.partition = partition;
  options.directory = folder;
  const auto log = log::PartitionLog::openForReading(std::move(context), std::move(options));
  return log ? std::optional((*log)->logEndOffset()) : std::nullopt;
}

std::optional<Offset> DirectoryRepair::firstOf(const std::string& folder) {
  std::optional<Offset> first;
  const auto entries = files_.list(folder);
  if (!entries) return first;
  for (const auto& entry : *entries) {
    const FileKind kind = kindOf(entry.name);
    if (kind.type == FileType::Log && kind.extra.empty() && !entry.isDirectory && (!first || kind.offset < *first))
      first = kind.offset;
  }
  return first;
}

/// No log can start behind its end: with such a start all that is there would be hidden, or dropped.
void DirectoryRepair::lowerLogStarts() {
  const auto starts = checkpointed_.find(log::kLogStartFile);
  if (starts == checkpointed_.end()) return;
  for (auto& [partition, offset] : starts->second) {
    const auto end = endOf(partition);
    if (!end || offset <= *end) continue;
    offset = *firstOf(directory_ + "/" + log::folderName(partition));
    startsLowered_ = true;
  }
}

Result<void> DirectoryRepair::correctCheckpoints() {
  for (auto& [name, offsets] : checkpointed_) {
    bool changed = name == log::kLogStartFile && startsLowered_;
    for (auto& [partition, offset] : offsets) {
      const auto end = ends_.find(partition);
      if (end == ends_.end()) continue;
      const Offset right = std::clamp(offset, Offset(0), end->second);
      // All of a recovered log was just brought to the disk.
      const Offset wanted = name == log::kRecoveryPointFile ? end->second : right;
      changed |= wanted != offset;
      offset = wanted;
    }
    const std::string path = directory_ + "/" + name;
    if (!changed || !files_.exists(path)) continue;
    TIDEMARK_TRY(copies_.copy(path));
    TIDEMARK_TRY(files_.replaceFile(path, asBytes(log::encodeOffsetCheckpoint(offsets))));
  }
  return {};
}

}  // namespace tidemark::inspect
