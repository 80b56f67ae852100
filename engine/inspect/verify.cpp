#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "inspect/check.h"
#include "inspect/check_directory.h"
#include "inspect/file_kind.h"
#include "inspect/lab_folder.h"
#include "log/checkpoints.h"
#include "raft/types.h"

namespace tidemark::inspect {

namespace {

class Verification {
 public:
  Verification(platform::Process& process, const VerifyOptions& options, const FindingSink& sink)
      : process_(process), files_(process.files()), options_(options), sink_([this, &sink](Finding finding) {
          (finding.severity == Severity::Error     ? summary_.errors
           : finding.severity == Severity::Warning ? summary_.warnings
                                                   : summary_.notes)++;
          sink(std::move(finding));
        }) {}

  Result<VerifySummary> run(const std::vector<std::string>& given) {
    std::vector<Named> directories;
    for (std::string directory : given) {
      while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
      const auto ofLab = logDirectoriesOfLab(files_, directory);
      for (const std::string& inside : ofLab) directories.push_back({inside, true});
      if (ofLab.empty()) directories.push_back({std::move(directory), false});
    }
    for (const Named& directory : directories) {
      node_ = &nodeOf(directory.path);
      node_->knownTopics.read(files_, directory.path + "/" + std::string(raft::kMetadataTopic) + "-0");
    }
    for (const Named& named : directories) {
      const std::string& directory = named.path;
      const auto entries = files_.list(directory);
      if (!entries) {
        tell(FindingKind::NotADirectory, Severity::Error, directory, "a log directory", entries.error().message,
             "check the path; a directory that cannot be read may be a failed disk");
        continue;
      }
      ++summary_.directories;
      if (!isLogDirectory(directory, *entries)) {
        tell(FindingKind::MetaPropertiesMissing, Severity::Error, directory + "/meta.properties",
             "whose directory this is", "no such file, and nothing else of a log directory", "check the path");
        continue;
      }
      node_ = &nodeOf(directory);
      ofLab_ = named.ofLab;
      TIDEMARK_TRY(one(directory, *entries));
    }
    if (summary_.directories == 0)
      return fail(ErrorCode::InvalidRequest, fmt::format("{} is no directory that can be read", given.front()));
    return summary_;
  }

 private:
  struct Named {
    std::string path;
    /// Found in a lab's folder, which has several nodes.
    bool ofLab = false;
  };
  /// By cluster and node id; where these cannot be read it is one with the first.
  NodeFacts& nodeOf(const std::string& directory) {
    const auto meta = log::readMetaProperties(files_, directory);
    std::string key = meta && *meta ? fmt::format("{} {}", (*meta)->clusterId, (*meta)->nodeId) : firstNode_;
    if (firstNode_.empty()) firstNode_ = key;
    return nodes_[key];
  }

  /// Anything that belongs into one is there.
  bool isLogDirectory(const std::string& directory, const std::vector<platform::DirectoryEntry>& entries) {
    return std::ranges::any_of(entries,
                               [&](const platform::DirectoryEntry& entry) {
                                 if (kindOf(entry.name).type != FileType::Unknown) return true;
                                 if (!entry.isDirectory || !log::partitionOfFolder(entry.name)) return false;
                                 const auto inside = files_.list(directory + "/" + entry.name);
                                 return inside &&
                                        std::ranges::any_of(*inside, [](const platform::DirectoryEntry& file) {
                                          return kindOf(file.name).type != FileType::Unknown;
                                        });
                               }) ||
           std::ranges::any_of(files_.brokenLinks(directory),
                               [](const std::string& name) { return kindOf(name).type != FileType::Unknown; });
  }

  void tell(FindingKind kind, Severity severity, std::string file, std::string expected, std::string found,
            std::string advice) {
    sink_({kind,
           severity,
           std::move(file),
           std::nullopt,
           0,
           {},
           std::move(expected),
           std::move(found),
           std::move(advice)});
  }

  Result<void> one(const std::string& path, const std::vector<platform::DirectoryEntry>& entries) {
    const DirectoryFacts directory = checkDirectory(files_, path, entries, *node_, options_, sink_);
    if (directory.meta) {
      const std::string meta = path + "/" + std::string(log::kMetaPropertiesFile);
      compareOwners(meta, *directory.meta);
      compareWithLab(path, meta, *directory.meta);
    }
    summary_.inUse |= directory.inUse;
    for (const auto& [name, partition] : directory.folders) TIDEMARK_TRY(checkFolder(directory, name, partition));
    checkStale(directory);
    return {};
  }

  /// A lab starts no node on the directory of another one.
  void compareWithLab(const std::string& directory, const std::string& path, const log::MetaProperties& meta) {
    const auto owner = ownerInLab(files_, directory);
    if (!owner) return;
    if (!meta.clusterId.empty() && meta.clusterId != owner->clusterId)
      tell(FindingKind::DirectoriesDisagree, Severity::Error, path,
           fmt::format("cluster.id {} as in {}", owner->clusterId, owner->path), meta.clusterId,
           "put this cluster's directory back, or the right cluster.id if only that was changed: the node does not "
           "start with another's");
    if (owner->node && meta.nodeId.value() >= 0 && meta.nodeId != *owner->node)
      tell(FindingKind::DirectoriesDisagree, Severity::Error, path,
           fmt::format("node.id {}, by the name of the directory", *owner->node), fmt::format("{}", meta.nodeId),
           "put each node's directory back in its place: the node does not start with another's");
  }

  /// Whoever gives several directories means one node's, unless they are those of a lab.
  void compareOwners(const std::string& path, const log::MetaProperties& meta) {
    if (!meta_) {
      meta_ = meta;
      metaPath_ = path;
      return;
    }
    if (!ofLab_ && (meta.clusterId != meta_->clusterId || meta.nodeId != meta_->nodeId))
      tell(FindingKind::DirectoriesDisagree, Severity::Error, path,
           fmt::format("cluster {}, node {} as in {}", meta_->clusterId, meta_->nodeId, metaPath_),
           fmt::format("cluster {}, node {}", meta.clusterId, meta.nodeId),
           "nothing if that is meant: each node's directories are then checked for themselves");
  }

  // --- partitions ---
  static std::optional<Offset> offsetIn(const DirectoryFacts& directory, std::string_view file,
                                        const TopicPartition& partition) {
    const auto checkpoint = directory.checkpoints.find(file);
    if (checkpoint == directory.checkpoints.end()) return std::nullopt;
    const auto found = checkpoint->second.find(partition);
    return found == checkpoint->second.end() ? std::nullopt : std::optional(found->second);
  }

  Result<void> checkFolder(const DirectoryFacts& directory, const std::string& folder,
                           const TopicPartition& partition) {
    if (options_.entering) options_.entering(folder);
    PartitionCheckOptions options;
    options.open = directory.inUse;
    options.cleanStop = directory.clean && !directory.inUse;
    options.logStart = offsetIn(directory, log::kLogStartFile, partition);
    options.recoveryPoint = offsetIn(directory, log::kRecoveryPointFile, partition);
    options.highWatermark = offsetIn(directory, log::kHighWatermarkFile, partition);
    options.logStartKnown = !directory.unreadable.contains(log::kLogStartFile);
    options.compacted = directory.unreadable.contains(log::kCleanerOffsetFile) ||
                        offsetIn(directory, log::kCleanerOffsetFile, partition).has_value();
    options.indexIntervalBytes = options_.indexIntervalBytes;
    options.progress = options_.progress;
    auto checked = checkPartition(process_, folder, options, sink_);
    if (!checked) {
      if (checked.error().code == ErrorCode::RequestTimedOut) return fail(std::move(checked).error());
      tell(FindingKind::Unreadable, Severity::Error, folder, "a partition's folder", checked.error().message,
           "look at the disk and the permissions");
      return {};
    }
    ++summary_.partitions;
    summary_.segments += checked->segments;
    summary_.batches += checked->batches;
    summary_.records += checked->records;
    summary_.bytes += checked->bytes;
    checkTopicId(folder, partition, *checked);
    if (partition.topic == raft::kMetadataTopic || checked->segments == 0) return {};
    checkOffsets(directory, folder, partition, *checked);
    return {};
  }

  void checkTopicId(const std::string& folder, const TopicPartition& partition, const PartitionFacts& facts) {
    if (!facts.topicId) return;
    const std::string path = folder + "/partition.metadata";
    const auto known = node_->knownTopics.idOf(partition.topic);
    if (known && *known != *facts.topicId) {
      tell(FindingKind::PartitionFileDamaged, Severity::Error, path,
           fmt::format("topic id {}, which the metadata log has for {}", *known, partition.topic),
           facts.topicId->toString(),
           "the folder belongs to a topic of that name that was deleted, or files were swapped");
      return;
    }
    const auto [same, isNew] = node_->topicIds.emplace(partition.topic, *facts.topicId);
    if (!isNew && same->second != *facts.topicId)
      tell(FindingKind::PartitionFileDamaged, Severity::Error, path,
           fmt::format("topic id {}, as its other partitions have", same->second), facts.topicId->toString(),
           "one of them belongs to a topic of that name that was deleted, or files were swapped");
    const auto [owner, first] = node_->topicsById.emplace(facts.topicId->toString(), partition.topic);
    if (!first && owner->second != partition.topic)
      tell(FindingKind::PartitionFileDamaged, Severity::Error, path, "a topic id of its own",
           fmt::format("{}, which is that of {}", *facts.topicId, owner->second), "files were swapped or copied");
  }

  void checkOffsets(const DirectoryFacts& directory, const std::string& folder, const TopicPartition& partition,
                    const PartitionFacts& facts) {
    if (directory.inUse) return;
    struct Bound {
      std::string_view file;
      const char* advice;
    };
    const Bound kBounds[] = {{log::kRecoveryPointFile, "a broker reads the log again from there on"},
                             {log::kHighWatermarkFile, "a broker takes the log's end instead"},
                             {log::kLogStartFile, "a broker drops all segments if the log ends below its start"},
                             {log::kCleanerOffsetFile, "the cleaner begins again at the log's start"}};
    for (const auto& [file, advice] : kBounds) {
      const auto offset = offsetIn(directory, file, partition);
      // The log start may lie behind what is there: then everything was deleted. The others may lie below a log start.
      if (!offset || (*offset >= Offset(0) && *offset <= facts.logEnd)) continue;
      tell(FindingKind::CheckpointFalse, directory.clean ? Severity::Error : Severity::Warning,
           directory.path + "/" + std::string(file),
           fmt::format("{} at {} to {}", nameIn(folder), facts.firstOffset, facts.logEnd), fmt::format("{}", *offset),
           advice);
    }
    if (!directory.clean) return;
    const auto recovery = offsetIn(directory, log::kRecoveryPointFile, partition);
    const std::string marker = directory.path + "/" + std::string(log::kCleanShutdownFile);
    if (facts.tornEnd)
      tell(FindingKind::CleanMarkerFalse, Severity::Error, marker,
           fmt::format("a log {} of whole batches", nameIn(folder)), "its end is damaged",
           "remove the marker: a broker then recovers at its next start");
    else if (recovery && *recovery < facts.logEnd)
      tell(FindingKind::CleanMarkerFalse, Severity::Error, marker,
           fmt::format("a recovery point of {} at {}, its log's end", nameIn(folder), facts.logEnd),
           fmt::format("{}", *recovery), "remove the marker: a broker then recovers at its next start");
  }

  void checkStale(const DirectoryFacts& directory) {
    std::set<TopicPartition> here;
    for (const auto& [folder, partition] : directory.folders) here.insert(partition);
    for (const auto& [name, offsets] : directory.checkpoints) {
      std::vector<std::string> stale;
      for (const auto& [partition, offset] : offsets)
        if (!here.contains(partition)) stale.push_back(fmt::format("{}", partition));
      if (stale.empty()) continue;
      constexpr size_t kNamed = 3;
      std::string text;
      for (size_t i = 0; i < std::min(stale.size(), kNamed); ++i) text += (i > 0 ? ", " : "") + stale[i];
      if (stale.size() > kNamed) text += fmt::format(" and {} more", stale.size() - kNamed);
      tell(FindingKind::CheckpointStale, Severity::Note, directory.path + "/" + name, "partitions that are here", text,
           "nothing: it goes when the file is written again");
    }
  }

  platform::Process& process_;
  platform::FileSystem& files_;
  const VerifyOptions& options_;
  VerifySummary summary_;
  const FindingSink sink_;
  std::optional<log::MetaProperties> meta_;
  std::string metaPath_;
  std::map<std::string, NodeFacts> nodes_;
  std::string firstNode_;
  // Of the directory that is being checked.
  NodeFacts* node_ = nullptr;
  bool ofLab_ = false;
};

}  // namespace

Result<VerifySummary> verify(platform::Process& process, const std::vector<std::string>& directories,
                             const VerifyOptions& options, const FindingSink& sink) {
  return Verification(process, options, sink).run(directories);
}

}  // namespace tidemark::inspect
