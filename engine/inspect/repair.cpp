#include "inspect/repair.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "inspect/batch_reader.h"
#include "inspect/file_kind.h"
#include "inspect/lab_folder.h"
#include "inspect/repair_apply.h"
#include "inspect/repair_copies.h"
#include "inspect/repair_plan.h"
#include "log/checkpoints.h"

namespace tidemark::inspect {

using platform::OpenMode;
using Kind = RepairStep::Kind;

namespace {

class Repair {
 public:
  Repair(platform::Process& process, const RepairOptions& options, const std::function<void(const RepairStep&)>& sink)
      : process_(process), files_(process.files()), options_(options), sink_(sink) {}

  Result<RepairSummary> run(const std::vector<std::string>& given) {
    std::vector<std::string> directories;
    for (std::string directory : given) {
      while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
      auto ofLab = logDirectoriesOfLab(files_, directory);
      if (ofLab.empty()) ofLab.push_back(std::move(directory));
      directories.insert(directories.end(), ofLab.begin(), ofLab.end());
    }
    // What is no log directory is none of our business, whatever lies in it.
    for (const std::string& directory : directories) {
      const auto properties = log::readMetaProperties(files_, directory);
      if (!properties || !*properties)
        return fail(
            ErrorCode::InvalidRequest,
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
    TIDEMARK_ASSIGN(const auto before, verify(process_, given, look, [&findings](Finding finding) {
                      if (finding.severity != Severity::Note) findings.push_back(std::move(finding));
                    }));
    if (before.inUse && !options_.apply)
      return fail(ErrorCode::KafkaStorageError, "a broker runs on these directories: stop it first");
    for (const Finding& finding : findings) plan(directories, finding);
    for (auto& [directory, todo] : plans_) describe(directory, todo);
    if (!options_.apply || summary_.steps == summary_.impossible) return summary_;
    RepairCopies copies(files_, process_.clock().wallMs());
    const auto impossible = [this](std::string path, std::string why) {
      tell(Kind::Impossible, std::move(path), std::move(why));
    };
    for (const auto& [directory, todo] : plans_)
      TIDEMARK_TRY(DirectoryRepair(process_, directory, options_.indexIntervalBytes, copies, impossible).apply(todo));
    summary_.copies = copies.folders();
    TIDEMARK_ASSIGN(summary_.after, verify(process_, given, look, [](const Finding&) {}));
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
        planFor(todo.folders[directory + "/" + inside.substr(0, slash)], finding);
      return;
    }
    tell(Kind::Impossible, finding.file, std::string(explain(finding.kind)));
  }

  void planDirectory(DirectoryPlan& todo, const Finding& finding) {
    const FileType type = kindOf(nameIn(finding.file)).type;
    switch (finding.kind) {
      case FindingKind::CheckpointFalse: {
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

  void describe(const std::string& directory, DirectoryPlan& todo) {
    for (auto& [folder, plan] : todo.folders) {
      settle(files_, folder, plan);
      if (todo.logStartsLost && !plan.empty()) {
        tell(Kind::Impossible, folder,
             fmt::format(
                 "where its log starts is not known while {} cannot be read: restore that, or remove it and have "
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
               ? fmt::format(
                     "a start behind its log's end becomes the first offset that is there: all of it can be read "
                     "then, deleted records as well ({})",
                     logs)
               : fmt::format("offsets behind a log's end become its end; if there were records up to them, only other "
                             "replicas have them ({})",
                             logs));
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
         "is moved to the copies: logs are no longer what they were at the stop, and a broker that seems to have "
         "stopped cleanly is elected even so, upon which other replicas drop the records that it lacks");
  }

  void describeFolder(const std::string& folder, const FolderPlan& plan) {
    for (const Finding& finding : plan.impossible) {
      // The segment that is missing may be what is still to be put into its place.
      if (plan.change && finding.kind == FindingKind::SegmentGap) continue;
      tell(Kind::Impossible, finding.file, fmt::format("{}: {}", explain(finding.kind), finding.advice));
    }
    if (plan.cut) describeCut(folder, *plan.cut);
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

  /// What goes with a cut, as far as batches can be told apart in it.
  struct Lost {
    uint64_t bytes = 0;
    int64_t records = 0;
    Offset first = kNoOffset;
    Offset last = kNoOffset;
    int segmentsBehind = 0;
  };
  void describeCut(const std::string& folder, const std::pair<Offset, uint64_t>& cut) {
    Lost lost;
    if (const auto entries = files_.list(folder))
      for (const auto& entry : *entries) {
        const FileKind kind = kindOf(entry.name);
        if (kind.type != FileType::Log || !kind.extra.empty() || kind.offset < cut.first) continue;
        const uint64_t from = kind.offset == cut.first ? std::min(entry.size, cut.second) : 0;
        lost.bytes += entry.size - from;
        if (kind.offset > cut.first) ++lost.segmentsBehind;
        addLost(folder + "/" + entry.name, from, entry.size, lost);
      }
    std::string what = fmt::format("at byte {}: {} bytes go", cut.second, lost.bytes);
    if (lost.records > 0)
      what += fmt::format(" with the {} {} of them that can be told, offsets {} to {}", lost.records,
                          lost.records == 1 ? "record" : "records", lost.first, lost.last);
    if (lost.segmentsBehind > 0)
      what += fmt::format(", {} later {} among them", lost.segmentsBehind,
                          lost.segmentsBehind == 1 ? "segment" : "segments");
    tell(Kind::CutLog, log::offsetFilePath(folder, cut.first, log::kLogSuffix), std::move(what));
  }
  void addLost(const std::string& path, uint64_t from, uint64_t end, Lost& lost) {
    const auto file = files_.open(path, OpenMode::Read);
    if (!file) return;
    BatchReader reader(**file, from, end);
    for (auto item = reader.next(); item && *item == BatchReader::Item::Batch; item = reader.next()) {
      const records::BatchHeader& header = reader.batch().header;
      // Of a damaged batch only the header may be believed, and not if it says what cannot be.
      if (header.recordCount < 0 || header.lastOffset() < header.baseOffset) continue;
      if (!header.isControl()) lost.records += header.recordCount;
      if (lost.first == kNoOffset || header.baseOffset < lost.first) lost.first = header.baseOffset;
      lost.last = std::max(lost.last, header.lastOffset());
    }
  }

  platform::Process& process_;
  platform::FileSystem& files_;
  const RepairOptions& options_;
  const std::function<void(const RepairStep&)>& sink_;
  RepairSummary summary_;
  std::map<std::string, DirectoryPlan> plans_;
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
