#include "inspect/repair.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "inspect/batch_anatomy.h"
#include "inspect/file_kind.h"
#include "log/checkpoints.h"
#include "log/handle_cache.h"
#include "log/partition_log.h"
#include "raft/snapshot_files.h"
#include "raft/types.h"

namespace tidemark::inspect {

using platform::OpenMode;
using Kind = RepairStep::Kind;

namespace {

constexpr size_t kCopyChunk = 1u << 20;
/// The rest of the disk should not be filled by copies.
constexpr uint64_t kSpare = 64u << 20;

bool isOfBatches(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::LogTorn:
    case FindingKind::BatchLengthBad:
    case FindingKind::BatchMagicBad:
    case FindingKind::BatchChecksumBad:
    case FindingKind::BatchOffsetsBad:
    case FindingKind::BatchEpochFalls:
    case FindingKind::TrailingZeros:
      return true;
    default:
      return false;
  }
}

bool isOfIndex(FindingKind kind) noexcept {
  return kind == FindingKind::IndexMissing || kind == FindingKind::IndexSizeOdd ||
         kind == FindingKind::IndexEntryFalse || kind == FindingKind::IndexNotRising ||
         kind == FindingKind::IndexNotAsRebuilt;
}

/// What is to be done in one partition's folder.
struct FolderPlan {
  /// Segment and byte of the first batch that cannot stay.
  std::optional<std::pair<Offset, uint64_t>> cut;
  /// By segment, the first such.
  std::map<Offset, uint64_t> cuts;
  /// Segments that begin before the one before ends; segments whose first batch does not belong under their name.
  std::set<Offset> overlaps;
  std::map<Offset, Finding> misnamed;
  /// Whole segments that another one has as well.
  std::set<Offset> strays;
  /// Nothing may be touched: what is here is the last that is known of records.
  bool left = false;
  std::set<Offset> indexes;
  std::set<Offset> aborted;
  std::set<std::string> snapshots;
  bool epochs = false;
  bool change = false;
  bool partitionFile = false;
  /// What cannot be read at all and can be done without: links that lead nowhere, folders of a file's name.
  std::set<std::string> aside;
  /// What is left to somebody else.
  std::vector<Finding> impossible;
  bool empty() const {
    return !cut && indexes.empty() && aborted.empty() && snapshots.empty() && !epochs && !change && !partitionFile &&
           aside.empty();
  }
  /// The log may be shorter afterwards, or knows less of its producers.
  bool takes() const { return cut || change || !snapshots.empty() || !aside.empty(); }
};

struct DirectoryPlan {
  std::map<std::string, FolderPlan> folders;
  /// Files and folders that are moved away.
  std::set<std::string> aside;
  /// Checkpoint files with offsets that no log has, and what the logs have.
  std::map<std::string, std::string> checkpoints;
  /// The marker of a clean stop, which would no longer be true. It goes before anything else does.
  std::string marker;
  /// Where the logs start is not known, and recovery would begin at their first batches.
  bool logStartsLost = false;
};

class Repair {
 public:
  Repair(platform::Process& process, const RepairOptions& options, const std::function<void(const RepairStep&)>& sink)
      : process_(process), files_(process.files()), options_(options), sink_(sink) {}

  Result<RepairSummary> run(std::vector<std::string> directories) {
    for (std::string& directory : directories)
      while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
    // What is no log directory is none of our business, whatever lies in it.
    for (const std::string& directory : directories) {
      const auto properties = log::readMetaProperties(files_, directory);
      if (!properties || !*properties)
        return fail(ErrorCode::InvalidRequest,
                    directory + ": not a broker's log directory, it has no readable meta.properties; nothing was touched");
    }
    // Held to the end, so that no broker starts meanwhile.
    std::vector<std::unique_ptr<platform::FileLock>> locks;
    if (options_.apply)
      for (const std::string& directory : directories) {
        const std::string path = directory + "/" + std::string(log::kLockFile);
        TIDEMARK_ASSIGN(auto lock, files_.lock(path));
        locks.push_back(std::move(lock));
      }
    VerifyOptions look;
    look.progress = options_.progress;
    look.locked = options_.apply;
    std::vector<Finding> findings;
    TIDEMARK_ASSIGN(const auto before, verify(process_, directories, look, [&findings](Finding finding) {
                      if (finding.severity != Severity::Note) findings.push_back(std::move(finding));
                    }));
    if (before.inUse && !options_.apply)
      return fail(ErrorCode::KafkaStorageError, "a broker runs on these directories: stop it first");
    for (const Finding& finding : findings)
      if (finding.kind != FindingKind::InUse) plan(directories, finding);
    for (auto& [directory, todo] : plans_) describe(directory, todo);
    if (!options_.apply || summary_.steps == summary_.impossible) return summary_;
    for (auto& [directory, todo] : plans_) TIDEMARK_TRY(apply(directory, todo));
    TIDEMARK_ASSIGN(summary_.after, verify(process_, directories, look, [](const Finding&) {}));
    return summary_;
  }

 private:
  void tell(Kind kind, std::string path, std::string what) {
    ++summary_.steps;
    if (kind == Kind::Impossible) ++summary_.impossible;
    sink_({kind, std::move(path), std::move(what)});
  }

  // --- plan ---
  void plan(const std::vector<std::string>& directories, const Finding& finding) {
    for (const std::string& directory : directories) {
      if (!finding.file.starts_with(directory + "/")) continue;
      const std::string inside = finding.file.substr(directory.size() + 1);
      const size_t slash = inside.find('/');
      DirectoryPlan& todo = plans_[directory];
      if (slash == std::string::npos)
        planDirectory(todo, finding);
      else
        planFolder(todo.folders[directory + "/" + inside.substr(0, slash)], finding);
      return;
    }
    tell(Kind::Impossible, finding.file, std::string(explain(finding.kind)));
  }

  void planDirectory(DirectoryPlan& todo, const Finding& finding) {
    const FileType type = kindOf(nameIn(finding.file)).type;
    switch (finding.kind) {
      case FindingKind::CheckpointFalse:
      {
        std::string& logs = todo.checkpoints[finding.file];
        logs += (logs.empty() ? "" : ", ") + finding.expected;
      }
        return;
      case FindingKind::CheckpointDamaged:
      case FindingKind::WrongType:
      case FindingKind::Unreadable:
        if (nameIn(finding.file) == log::kLogStartFile) todo.logStartsLost = true;
        if (nameIn(finding.file) == log::kLogStartFile ||
            (type != FileType::OffsetCheckpoint && type != FileType::CleanMarker))
          break;
        todo.aside.insert(finding.file);
        return;
      case FindingKind::CleanMarkerBad:
      case FindingKind::CleanMarkerFalse:
        todo.aside.insert(finding.file);
        return;
      default:
        break;
    }
    tell(Kind::Impossible, finding.file, fmt::format("{}: {}", explain(finding.kind), finding.advice));
  }

  void planFolder(FolderPlan& todo, const Finding& finding) {
    const FileKind file = kindOf(nameIn(finding.file));
    if (isOfBatches(finding.kind) && file.type == FileType::Log && finding.position) {
      const auto [first, isNew] = todo.cuts.emplace(file.offset, *finding.position);
      if (!isNew) first->second = std::min(first->second, *finding.position);
      if (finding.kind == FindingKind::BatchOffsetsBad && *finding.position == 0)
        todo.misnamed.emplace(file.offset, finding);
    } else if (isOfIndex(finding.kind)) {
      todo.indexes.insert(file.offset);
    } else if (finding.kind == FindingKind::AbortedIndexBad) {
      todo.aborted.insert(file.offset);
    } else if (file.type == FileType::ProducerSnapshot &&
               (finding.kind == FindingKind::SnapshotDamaged || finding.kind == FindingKind::SnapshotFalse ||
                finding.kind == FindingKind::SnapshotBeyondEnd)) {
      todo.snapshots.insert(finding.file);
    } else if (finding.kind == FindingKind::EpochFileDamaged || finding.kind == FindingKind::EpochFileFalse) {
      todo.epochs = true;
    } else if (finding.kind == FindingKind::LeftOver ||
               (finding.kind == FindingKind::SegmentWithoutLog && finding.severity != Severity::Error)) {
      todo.change = true;
    } else if (finding.kind == FindingKind::PartitionFileDamaged && finding.severity == Severity::Warning) {
      todo.partitionFile = true;
    } else if ((finding.kind == FindingKind::Unreadable || finding.kind == FindingKind::WrongType) &&
               planWithout(todo, file)) {
      todo.aside.insert(finding.file);
    } else {
      if (finding.kind == FindingKind::SegmentOverlap) todo.overlaps.insert(file.offset);
      if (finding.kind == FindingKind::SegmentWithoutLog) todo.left = true;
      todo.impossible.push_back(finding);
    }
  }

  /// What is to be cut, once all is known. A file under a wrong name must not cost the segments behind it.
  void settle(const std::string& folder, FolderPlan& todo) {
    for (const auto& [base, finding] : todo.misnamed) {
      if (!todo.overlaps.contains(base) || !isCopyOfAnother(folder, base)) {
        todo.impossible.push_back(finding);
        todo.left = true;
        continue;
      }
      todo.strays.insert(base);
      todo.overlaps.erase(base);
      todo.cuts.erase(base);
      todo.indexes.erase(base);
      todo.aborted.erase(base);
      const std::string path = log::offsetFilePath(folder, base, log::kLogSuffix);
      std::erase_if(todo.impossible, [&path](const Finding& other) { return other.file == path; });
    }
    if (!todo.cuts.empty()) todo.cut = *todo.cuts.begin();
    // Which of two segments is the right one no program knows, but for what is cut anyway.
    for (const Offset base : todo.overlaps)
      if (!todo.cut || todo.cut->first >= base) todo.left = true;
    if (todo.left) {
      FolderPlan nothing;
      nothing.left = true;
      nothing.impossible = std::move(todo.impossible);
      todo = std::move(nothing);
      return;
    }
    for (const Offset base : todo.strays)
      for (const std::string_view suffix :
           {log::kLogSuffix, log::kOffsetIndexSuffix, log::kTimeIndexSuffix, log::kTxnIndexSuffix})
        if (std::string path = log::offsetFilePath(folder, base, suffix); files_.exists(path))
          todo.aside.insert(std::move(path));
  }

  /// All of the segment's bytes are at the front of another segment, too.
  bool isCopyOfAnother(const std::string& folder, Offset base) {
    const auto entries = files_.list(folder);
    if (!entries) return false;
    return std::ranges::any_of(*entries, [&](const platform::DirectoryEntry& entry) {
      const FileKind kind = kindOf(entry.name);
      if (entry.isDirectory || kind.type != FileType::Log || !kind.extra.empty() || kind.offset == base) return false;
      return beginsWith(folder + "/" + entry.name, log::offsetFilePath(folder, base, log::kLogSuffix));
    });
  }
  /// False as well if one of them cannot be read.
  bool beginsWith(const std::string& path, const std::string& front) {
    const auto whole = files_.open(path, OpenMode::Read);
    const auto part = files_.open(front, OpenMode::Read);
    if (!whole || !part) return false;
    const auto size = (*part)->size();
    const auto room = (*whole)->size();
    if (!size || !room || *size == 0 || *room < *size) return false;
    ByteVector ours(kCopyChunk);
    ByteVector theirs(kCopyChunk);
    for (uint64_t at = 0; at < *size;) {
      const size_t step = static_cast<size_t>(std::min<uint64_t>(kCopyChunk, *size - at));
      const auto left = (*part)->readAt(at, MutableBytes(ours).first(step));
      const auto right = (*whole)->readAt(at, MutableBytes(theirs).first(step));
      if (!left || !right || *left != step || *right != step) return false;
      if (!std::equal(ours.begin(), ours.begin() + static_cast<ptrdiff_t>(step), theirs.begin())) return false;
      at += step;
    }
    return true;
  }

  /// What a file is made from is in the batches, or a broker makes it: true. Then it is done without.
  static bool planWithout(FolderPlan& todo, const FileKind& file) {
    if (!file.extra.empty()) return true;
    switch (file.type) {
      case FileType::OffsetIndex:
      case FileType::TimeIndex:
        todo.indexes.insert(file.offset);
        return true;
      case FileType::AbortedIndex:
        todo.aborted.insert(file.offset);
        return true;
      case FileType::EpochCheckpoint:
        todo.epochs = true;
        return true;
      case FileType::ProducerSnapshot:
      case FileType::PartitionMetadata:
        return true;
      default:
        return false;
    }
  }

  void describe(const std::string& directory, DirectoryPlan& todo) {
    for (auto& [folder, plan] : todo.folders) {
      settle(folder, plan);
      if (todo.logStartsLost && !plan.empty()) {
        tell(Kind::Impossible, folder,
             fmt::format("where its log starts is not known while {} cannot be read: restore that, or remove it and have "
                         "deleted records come back, then repair again",
                         log::kLogStartFile));
        plan = {};
        continue;
      }
      describeFolder(folder, plan);
    }
    for (const std::string& path : todo.aside) tell(Kind::SetAside, path, "is moved to the copies");
    for (const auto& [path, logs] : todo.checkpoints)
      tell(Kind::CorrectCheckpoint, path,
           nameIn(path) == log::kLogStartFile
               ? fmt::format("a start behind its log's end becomes the first offset that is there: all of it can be read "
                             "then, deleted records as well ({})", logs)
               : fmt::format("offsets behind a log's end become its end; if there were records up to them, only other "
                             "replicas have them ({})", logs));
    if (!todo.folders.empty() && todo.checkpoints.empty())
      for (const auto& [folder, plan] : todo.folders)
        if (plan.cut) {
          tell(Kind::CorrectCheckpoint, directory, "offsets behind the end of a log that is cut become its end");
          break;
        }
    describeMarker(directory, todo);
  }

  /// A broker that seems to have stopped cleanly is elected at once, and the others cut their logs to its.
  void describeMarker(const std::string& directory, DirectoryPlan& todo) {
    const std::string marker = directory + "/" + std::string(log::kCleanShutdownFile);
    const bool takes = !todo.checkpoints.empty() ||
                       std::ranges::any_of(todo.folders, [](const auto& folder) { return folder.second.takes(); });
    if (!takes || todo.aside.contains(marker) || !files_.exists(marker)) return;
    todo.marker = marker;
    tell(Kind::SetAside, marker,
         "is moved to the copies: logs are no longer what they were at the stop, and a broker that seems to have stopped "
         "cleanly is elected even so, upon which other replicas drop the records that it lacks");
  }

  void describeFolder(const std::string& folder, const FolderPlan& plan) {
    for (const Finding& finding : plan.impossible) {
      // The segment that is missing may be what is still to be put into its place.
      if (plan.change && finding.kind == FindingKind::SegmentGap) continue;
      tell(Kind::Impossible, finding.file, fmt::format("{}: {}", explain(finding.kind), finding.advice));
    }
    if (plan.cut) {
      const std::string path = log::offsetFilePath(folder, plan.cut->first, log::kLogSuffix);
      uint64_t bytes = 0;
      int behind = 0;
      if (const auto entries = files_.list(folder))
        for (const auto& entry : *entries) {
          const FileKind kind = kindOf(entry.name);
          if (kind.type != FileType::Log || !kind.extra.empty() || kind.offset < plan.cut->first) continue;
          bytes += kind.offset == plan.cut->first ? entry.size - std::min(entry.size, plan.cut->second) : entry.size;
          if (kind.offset > plan.cut->first) ++behind;
        }
      tell(Kind::CutLog, path,
           fmt::format("at byte {}: {} bytes go{}", plan.cut->second, bytes,
                       behind == 0 ? std::string() : fmt::format(", {} later segments with them", behind)));
    }
    for (const Offset base : plan.indexes)
      tell(Kind::RebuildIndexes, log::offsetFilePath(folder, base, log::kOffsetIndexSuffix),
           "and its .timeindex are built anew from the batches");
    for (const Offset base : plan.aborted)
      tell(Kind::RebuildAborted, log::offsetFilePath(folder, base, log::kTxnIndexSuffix),
           "is written anew from the markers in the log");
    for (const std::string& path : plan.snapshots)
      tell(Kind::RemoveSnapshot, path, "goes; the producers' state comes from an older one and the batches");
    if (plan.epochs)
      tell(Kind::RebuildEpochs, folder + "/" + std::string(log::kEpochFile), "is built anew from the batches");
    for (const std::string& path : plan.aside)
      tell(Kind::SetAside, path,
           plan.strays.contains(kindOf(nameIn(path)).offset)
               ? "has a name that is not its own; another segment has the same batches: it is moved to the copies"
               : "cannot be read and is moved to the copies");
    if (plan.change)
      tell(Kind::FinishChange, folder,
           "what an interrupted change left is completed or removed, as at a broker's start");
    if (plan.partitionFile)
      tell(Kind::SetAside, folder + "/" + std::string(log::kPartitionMetadataFile), "goes; a broker writes it anew");
  }

  // --- apply ---
  Result<void> apply(const std::string& directory, const DirectoryPlan& todo) {
    directory_ = directory;
    if (copies_.empty()) {
      std::string stamp = timeText(process_.clock().wallMs());
      std::erase_if(stamp, [](char c) { return c == '-' || c == ':' || c == '.'; });
      copies_ = ".before-repair-" + stamp;
    }
    checkpointed_.clear();
    for (const std::string_view name :
         {log::kRecoveryPointFile, log::kHighWatermarkFile, log::kLogStartFile, log::kCleanerOffsetFile}) {
      const auto text = log::readTextFile(files_, directory + "/" + std::string(name));
      if (!text || !*text || (*text)->empty()) continue;
      if (auto offsets = log::decodeOffsetCheckpoint(**text)) checkpointed_[std::string(name)] = *std::move(offsets);
    }
    if (!todo.marker.empty())
      if (const auto moved = moveAside(todo.marker); !moved) {
        tell(Kind::Impossible, todo.marker,
             "is left where it is, and so is everything in its directory: " + moved.error().message);
        return {};
      }
    for (const auto& [folder, plan] : todo.folders)
      if (plan.left) left_.insert(folder);
    TIDEMARK_TRY(lowerLogStarts());
    for (const auto& [folder, plan] : todo.folders) {
      if (plan.empty()) continue;
      const auto applied = applyFolder(folder, plan);
      // The others are not worse for it.
      if (!applied) tell(Kind::Impossible, folder, "is left as it is now: " + applied.error().message);
    }
    for (const std::string& path : todo.aside)
      if (const auto moved = moveAside(path); !moved)
        tell(Kind::Impossible, path, "is left where it is: " + moved.error().message);
    for (const auto& [path, logs] : todo.checkpoints) TIDEMARK_TRY(learnEnds(path));
    return correctCheckpoints();
  }

  std::string copyOf(const std::string& path) const { return directory_ + copies_ + path.substr(directory_.size()); }

  void noteCopies() {
    if (summary_.copies.empty() || summary_.copies.back() != directory_ + copies_)
      summary_.copies.push_back(directory_ + copies_);
  }

  Result<void> copy(const std::string& path) {
    const std::string to = copyOf(path);
    TIDEMARK_TRY(files_.createDirectories(platform::parentDirectory(to)));
    noteCopies();
    TIDEMARK_ASSIGN(const auto from, files_.open(path, OpenMode::Read));
    TIDEMARK_ASSIGN(const uint64_t size, from->size());
    TIDEMARK_ASSIGN(const auto space, files_.space(platform::parentDirectory(to)));
    if (space.available < size + kSpare)
      return fail(ErrorCode::KafkaStorageError,
                  fmt::format("no room for a copy of {} ({} bytes): make room, then repair again", path, size));
    TIDEMARK_ASSIGN(const auto into, files_.open(to, OpenMode::Truncate));
    ByteVector buffer(kCopyChunk);
    for (uint64_t at = 0; at < size;) {
      TIDEMARK_ASSIGN(const size_t got, from->readAt(at, buffer));
      if (got == 0) break;
      TIDEMARK_TRY(into->writeAt(at, ByteView(buffer).first(got)));
      at += got;
    }
    TIDEMARK_TRY(into->sync());
    return files_.syncDirectory(platform::parentDirectory(to));
  }

  Result<void> moveAside(const std::string& path) {
    const std::string to = copyOf(path);
    TIDEMARK_TRY(files_.createDirectories(platform::parentDirectory(to)));
    noteCopies();
    const Result<void> moved = files_.rename(path, to);
    // A log directory may be a file system of its own. Of a folder nothing is taken apart.
    if (moved || files_.list(path)) return moved;
    TIDEMARK_TRY(copy(path));
    return files_.remove(path);
  }

  Result<void> applyFolder(const std::string& folder, const FolderPlan& plan) {
    TIDEMARK_ASSIGN(const auto entries, files_.list(folder));
    Offset lastBase = kNoOffset;
    for (const auto& entry : entries) {
      const FileKind kind = kindOf(entry.name);
      if (kind.type == FileType::Log && kind.extra.empty() && !plan.strays.contains(kind.offset))
        lastBase = std::max(lastBase, kind.offset);
    }
    for (const std::string& path : plan.aside) TIDEMARK_TRY(moveAside(path));
    // The last segment is looked at again in any case; closed ones stay as they are, but for a log that is cut: where it
    // ends below its start, all of it goes.
    for (const auto& entry : entries) {
      const FileKind kind = kindOf(entry.name);
      if (entry.isDirectory || kind.type == FileType::Unknown || plan.aside.contains(folder + "/" + entry.name)) continue;
      const bool kept = kind.type == FileType::Log && kind.extra.empty() &&
                        kind.offset < lastBase && !plan.change && !plan.cut;
      if (!kept) TIDEMARK_TRY(copy(folder + "/" + entry.name));
    }
    const auto removeIfThere = [this](const std::string& path) -> Result<void> {
      return files_.exists(path) ? files_.remove(path) : Result<void>();
    };
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
  Result<void> recover(const std::string& folder, const FolderPlan& plan) {
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
    if (options_.indexIntervalBytes) options.config.indexIntervalBytes = *options_.indexIntervalBytes;
    options.logStartOffset = checkpointedAt(log::kLogStartFile, *partition).value_or(Offset(0));
    options.recoveryPoint = plan.cut ? plan.cut->first : Offset(INT64_MAX);
    // Gaps stay: a repair drops nothing that can be read.
    options.recoveryPointKnown = false;
    options.cleanShutdown = false;
    TIDEMARK_ASSIGN(const auto log, log::PartitionLog::open(std::move(context), std::move(options)));
    ends_[*partition] = log->logEndOffset();
    return log->close();
  }

  std::optional<Offset> checkpointedAt(std::string_view file, const TopicPartition& partition) const {
    const auto offsets = checkpointed_.find(file);
    if (offsets == checkpointed_.end()) return std::nullopt;
    const auto found = offsets->second.find(partition);
    return found == offsets->second.end() ? std::nullopt : std::optional(found->second);
  }

  /// The log ends of the partitions in a checkpoint that were not recovered.
  Result<void> learnEnds(const std::string& path) {
    const auto offsets = checkpointed_.find(nameIn(path));
    if (offsets == checkpointed_.end()) return {};
    for (const auto& [partition, offset] : offsets->second)
      if (!ends_.contains(partition))
        if (const auto end = endOf(partition)) ends_[partition] = *end;
    return {};
  }

  /// Where the log ends as it is now; nothing if there is none, or nothing is to be made from it.
  std::optional<Offset> endOf(const TopicPartition& partition) {
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

  std::optional<Offset> firstOf(const std::string& folder) {
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
  Result<void> lowerLogStarts() {
    startsLowered_ = false;
    const auto starts = checkpointed_.find(log::kLogStartFile);
    if (starts == checkpointed_.end()) return {};
    for (auto& [partition, offset] : starts->second) {
      const auto end = endOf(partition);
      if (!end || offset <= *end) continue;
      offset = *firstOf(directory_ + "/" + log::folderName(partition));
      startsLowered_ = true;
    }
    return {};
  }

  Result<void> correctCheckpoints() {
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
      TIDEMARK_TRY(copy(path));
      TIDEMARK_TRY(files_.replaceFile(path, asBytes(log::encodeOffsetCheckpoint(offsets))));
    }
    ends_.clear();
    left_.clear();
    return {};
  }

  platform::Process& process_;
  platform::FileSystem& files_;
  const RepairOptions& options_;
  const std::function<void(const RepairStep&)>& sink_;
  RepairSummary summary_;
  std::map<std::string, DirectoryPlan> plans_;
  std::string copies_;
  // Of the directory being repaired.
  std::string directory_;
  std::map<std::string, log::OffsetCheckpoint, std::less<>> checkpointed_;
  std::map<TopicPartition, Offset> ends_;
  /// Folders in which nothing is touched.
  std::set<std::string> left_;
  bool startsLowered_ = false;
};

}  // namespace

std::string_view repairStepName(RepairStep::Kind kind) noexcept {
  constexpr std::array<std::string_view, 9> kNames{"cut-log",         "rebuild-indexes",    "rebuild-aborted-index",
                                                   "remove-snapshot", "rebuild-epochs",     "finish-change",
                                                   "set-aside",       "correct-checkpoint", "impossible"};
  return kNames[static_cast<size_t>(kind)];
}

Result<RepairSummary> repair(platform::Process& process, const std::vector<std::string>& directories,
                             const RepairOptions& options, const std::function<void(const RepairStep&)>& sink) {
  return Repair(process, options, sink).run(directories);
}

}  // namespace tidemark::inspect
