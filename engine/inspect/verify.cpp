#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "inspect/check.h"
#include "inspect/file_kind.h"
#include "inspect/known_topics.h"
#include "inspect/lab_folder.h"
#include "log/checkpoints.h"

namespace tidemark::inspect {

namespace {

constexpr std::string_view kMetadataTopic = "__cluster_metadata";
/// TOPIC-PARTITION.32 hex digits-delete
constexpr size_t kUniqueDigits = 32;
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
      node_->knownTopics.read(files_, directory.path + "/" + std::string(kMetadataTopic) + "-0");
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
  /// What must agree between the log directories of one node.
  struct Node {
    std::set<std::string> directoryIds;
    KnownTopics knownTopics;
    std::map<TopicPartition, std::string> places;
    std::map<std::string, Uuid> topicIds;
    std::map<std::string, std::string> topicsById;
  };

  /// By cluster and node id; where these cannot be read it is one with the first.
  Node& nodeOf(const std::string& directory) {
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

  /// A log directory's own files.
  struct Directory {
    std::string path;
    bool clean = false;
    bool inUse = false;
    std::map<std::string, log::OffsetCheckpoint, std::less<>> checkpoints;
    /// Checkpoints that are there and cannot be read: what they said is not known.
    std::set<std::string, std::less<>> unreadable;
  };

  void tell(FindingKind kind, Severity severity, std::string file, std::string expected, std::string found,
            std::string advice, ByteVector bytes = {}) {
    const uint64_t length = bytes.size();
    const std::optional<uint64_t> position = bytes.empty() ? std::nullopt : std::optional<uint64_t>(0);
    bytes.resize(std::min(bytes.size(), Finding::kMaxBytes));
    sink_({kind, severity, std::move(file), position, length, std::move(bytes), std::move(expected), std::move(found),
           std::move(advice)});
  }

  Result<void> one(const std::string& path, const std::vector<platform::DirectoryEntry>& entries) {
    Directory directory;
    directory.path = path;
    std::vector<std::pair<std::string, TopicPartition>> folders;
    bool formatted = false;
    for (const std::string& name : files_.brokenLinks(path)) {
      if (kindOf(name).type == FileType::Unknown && !log::partitionOfFolder(name)) continue;
      tell(FindingKind::Unreadable, Severity::Error, path + "/" + name, "a file or a folder",
           "a link that leads nowhere", "remove it: a broker does not start with it");
      directory.unreadable.insert(name);
    }
    for (const auto& entry : entries) {
      const std::string inside = path + "/" + entry.name;
      const FileKind kind = kindOf(entry.name);
      if (entry.isDirectory && kind.type != FileType::Unknown) {
        tell(FindingKind::WrongType, Severity::Error, inside, "a file", "a folder of that name",
             "move it away: a broker does not start with it");
        directory.unreadable.insert(entry.name);
        continue;
      }
      if (entry.isDirectory) {
        noteFolder(entry.name, inside, folders);
        continue;
      }
      if (kind.type == FileType::Unknown && isPartitionHere(entry.name)) {
        tell(FindingKind::WrongType, Severity::Error, inside, "a folder, by its name that of a partition", "a file",
             "move it away: a broker cannot make the partition's folder");
      } else if (kind.type == FileType::Unknown) {
        tell(FindingKind::NameUnknown, Severity::Note, inside, "files of a log directory", "another name",
             "nothing: brokers do not touch it");
      } else if (!kind.extra.empty()) {
        tell(FindingKind::LeftOver, Severity::Note, inside, "no files of a change that was interrupted", entry.name,
             "nothing: it is overwritten when the file is written again");
      } else if (kind.type == FileType::OffsetCheckpoint) {
        readCheckpoint(directory, entry.name);
      } else if (kind.type == FileType::MetaProperties) {
        formatted = true;
        readMetaProperties(inside);
      } else if (kind.type == FileType::CleanMarker) {
        directory.clean = readCleanMarker(inside);
      } else if (kind.type == FileType::Lock) {
        directory.inUse = isLocked(inside);
      }
    }
    if (!formatted)
      tell(FindingKind::MetaPropertiesMissing, Severity::Error, path + "/meta.properties", "whose directory this is",
           "no such file", "`tidemark format` or kafka-storage.sh makes it; is this a log directory?");
    summary_.inUse |= directory.inUse;
    for (const auto& [name, partition] : folders) TIDEMARK_TRY(checkFolder(directory, name, partition));
    checkStale(directory, folders);
    return {};
  }

  /// By its name a partition of a topic that the node knows.
  bool isPartitionHere(const std::string& name) const {
    const auto partition = log::partitionOfFolder(name);
    return partition && (partition->topic == kMetadataTopic || node_->knownTopics.idOf(partition->topic));
  }

  void noteFolder(const std::string& name, const std::string& inside,
                  std::vector<std::pair<std::string, TopicPartition>>& folders) {
    for (const std::string_view suffix : {log::kDeleteFolderSuffix, log::kStrayFolderSuffix}) {
      if (!name.ends_with(suffix) || name.size() <= suffix.size() + kUniqueDigits + 1) continue;
      tell(FindingKind::LeftOver, Severity::Note, inside, "partitions that are in use", name,
           suffix == log::kStrayFolderSuffix ? "look whether its records are needed, then remove it"
                                             : "a broker removes it");
      return;
    }
    if (name.ends_with(log::kFutureFolderSuffix)) {
      tell(FindingKind::LeftOver, Severity::Note, inside, "partitions that are in use", name,
           "a replica on its way to this directory: a broker goes on with it");
      return;
    }
    const auto partition = log::partitionOfFolder(name);
    if (!partition) {
      if (name != "lost+found")
        tell(FindingKind::NameUnknown, Severity::Warning, inside, "folders named TOPIC-PARTITION", name,
             "move it away: Apache Kafka does not start with it");
      return;
    }
    folders.emplace_back(inside, *partition);
    const auto [before, isNew] = node_->places.emplace(*partition, inside);
    if (!isNew)
      tell(FindingKind::PartitionTwice, Severity::Error, inside, "one folder a partition",
           "it is in " + before->second + " as well", "move one of them away: a broker does not start with both");
  }

  void readCheckpoint(Directory& directory, const std::string& name) {
    const std::string path = directory.path + "/" + name;
    const auto text = log::readTextFile(files_, path);
    if (!text) {
      tell(FindingKind::Unreadable, Severity::Error, path, "a text file", text.error().message,
           "look at the disk and the file's permissions: a broker does not start with it");
      directory.unreadable.insert(name);
      return;
    }
    // Kafka makes the file before it has anything to write.
    if (!*text || (*text)->empty()) return;
    auto offsets = log::decodeOffsetCheckpoint(**text);
    if (offsets) {
      directory.checkpoints[name] = *std::move(offsets);
      return;
    }
    directory.unreadable.insert(name);
    const ByteView bytes = asBytes(**text);
    tell(FindingKind::CheckpointDamaged, Severity::Warning, path,
         "0, a count, and lines of topic, partition and offset", offsets.error().message,
         name == log::kLogStartFile ? "deleted records may come back: restore it before the next start"
                                    : "a broker goes on without it: it reads whole logs again at its next start",
         {bytes.begin(), bytes.end()});
  }

  void readMetaProperties(const std::string& path) {
    const auto text = log::readTextFile(files_, path);
    if (!text)
      tell(FindingKind::Unreadable, Severity::Error, path, "a text file", text.error().message,
           "look at the disk and the file's permissions: no broker starts without it");
    if (!text || !*text) return;
    const auto meta = log::decodeMetaProperties(**text);
    if (!meta) {
      const ByteView bytes = asBytes(**text);
      tell(FindingKind::MetaPropertiesBad, Severity::Error, path, "version, cluster.id and node.id",
           meta.error().message, "restore it: no broker starts without it", {bytes.begin(), bytes.end()});
      return;
    }
    if (!node_->directoryIds.insert(meta->directoryId.toString()).second && !meta->directoryId.isZero())
      tell(FindingKind::DirectoriesDisagree, Severity::Error, path, "a directory.id of its own",
           meta->directoryId.toString() + ", as another one has", "one is a copy of the other: leave one out");
    if (!meta_) {
      meta_ = *meta;
      metaPath_ = path;
      return;
    }
    if (!ofLab_ && (meta->clusterId != meta_->clusterId || meta->nodeId != meta_->nodeId))
      tell(FindingKind::DirectoriesDisagree, Severity::Error, path,
           fmt::format("cluster {}, node {} as in {}", meta_->clusterId, meta_->nodeId, metaPath_),
           fmt::format("cluster {}, node {}", meta->clusterId, meta->nodeId),
           "nothing if that is meant: each node's directories are then checked for themselves");
  }

  bool readCleanMarker(const std::string& path) {
    const auto text = log::readTextFile(files_, path);
    if (!text)
      tell(FindingKind::Unreadable, Severity::Warning, path, "a text file", text.error().message,
           "a broker takes the last stop for one that was not clean");
    if (!text || !*text) return false;
    const auto epoch = log::decodeCleanShutdown(**text);
    if (epoch) return true;
    const ByteView bytes = asBytes(**text);
    tell(FindingKind::CleanMarkerBad, Severity::Warning, path, R"({"version":0,"brokerEpoch":N})",
         epoch.error().message, "a broker takes the stop for a clean one but does not know its epoch",
         {bytes.begin(), bytes.end()});
    return true;
  }

  bool isLocked(const std::string& path) {
    if (options_.locked) return false;
    const auto lock = files_.lock(path);
    if (lock) return false;
    const bool held = lock.error().message.find("locked") != std::string::npos;
    if (held)
      tell(FindingKind::InUse, Severity::Note, path, "a directory that no broker runs on", lock.error().message,
           "nothing: what a broker is about to change is not held against it, the rest is checked as it is now");
    else
      tell(FindingKind::Unreadable, Severity::Note, path, "a file that can be locked", lock.error().message,
           "nothing if it is a copy that is only to be read: a broker does not start without the lock");
    return held;
  }

  // --- partitions ---
  static std::optional<Offset> offsetIn(const Directory& directory, std::string_view file,
                                        const TopicPartition& partition) {
    const auto checkpoint = directory.checkpoints.find(file);
    if (checkpoint == directory.checkpoints.end()) return std::nullopt;
    const auto found = checkpoint->second.find(partition);
    return found == checkpoint->second.end() ? std::nullopt : std::optional(found->second);
  }

  Result<void> checkFolder(const Directory& directory, const std::string& folder, const TopicPartition& partition) {
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
    if (partition.topic == kMetadataTopic || checked->segments == 0) return {};
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

  void checkOffsets(const Directory& directory, const std::string& folder, const TopicPartition& partition,
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

  void checkStale(const Directory& directory, const std::vector<std::pair<std::string, TopicPartition>>& folders) {
    std::set<TopicPartition> here;
    for (const auto& [folder, partition] : folders) here.insert(partition);
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
  std::map<std::string, Node> nodes_;
  std::string firstNode_;
  // Of the directory that is being checked.
  Node* node_ = nullptr;
  bool ofLab_ = false;
};

}  // namespace

Result<VerifySummary> verify(platform::Process& process, const std::vector<std::string>& directories,
                             const VerifyOptions& options, const FindingSink& sink) {
  return Verification(process, options, sink).run(directories);
}

}  // namespace tidemark::inspect
