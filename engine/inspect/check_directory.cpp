#include "inspect/check_directory.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "inspect/file_kind.h"
#include "raft/types.h"

namespace tidemark::inspect {

namespace {

/// TOPIC-PARTITION.32 hex digits-delete
constexpr size_t kUniqueDigits = 32;

class DirectoryCheck {
 public:
  DirectoryCheck(platform::FileSystem& files, const std::string& path, NodeFacts& node, const VerifyOptions& options,
                 const FindingSink& sink)
      : files_(files), node_(node), options_(options), sink_(sink) {
    facts_.path = path;
  }

  DirectoryFacts run(const std::vector<platform::DirectoryEntry>& entries) {
    const std::string& path = facts_.path;
    bool formatted = false;
    for (const std::string& name : files_.brokenLinks(path)) {
      if (kindOf(name).type == FileType::Unknown && !log::partitionOfFolder(name)) continue;
      tell(FindingKind::Unreadable, Severity::Error, path + "/" + name, "a file or a folder",
           "a link that leads nowhere", "remove it: a broker does not start with it");
      facts_.unreadable.insert(name);
    }
    for (const auto& entry : entries) {
      const std::string inside = path + "/" + entry.name;
      const FileKind kind = kindOf(entry.name);
      if (entry.isDirectory && kind.type != FileType::Unknown) {
        tell(FindingKind::WrongType, Severity::Error, inside, "a file", "a folder of that name",
             "move it away: a broker does not start with it");
        facts_.unreadable.insert(entry.name);
        continue;
      }
      if (entry.isDirectory) {
        noteFolder(entry.name, inside);
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
        readCheckpoint(entry.name);
      } else if (kind.type == FileType::MetaProperties) {
        formatted = true;
        readMetaProperties(inside);
      } else if (kind.type == FileType::CleanMarker) {
        facts_.clean = readCleanMarker(inside);
      } else if (kind.type == FileType::Lock) {
        facts_.inUse = isLocked(inside);
      }
    }
    if (!formatted)
      tell(FindingKind::MetaPropertiesMissing, Severity::Error, path + "/meta.properties", "whose directory this is",
           "no such file",
           log::partitionOfFolder(path.substr(path.rfind('/') + 1))
               ? "this is the folder of a partition: name the log directory that holds it"
               : "`tidemark format` or kafka-storage.sh makes it; is this a log directory?");
    return std::move(facts_);
  }

 private:
  void tell(FindingKind kind, Severity severity, std::string file, std::string expected, std::string found,
            std::string advice, ByteVector bytes = {}) {
    const uint64_t length = bytes.size();
    const std::optional<uint64_t> position = bytes.empty() ? std::nullopt : std::optional<uint64_t>(0);
    bytes.resize(std::min(bytes.size(), Finding::kMaxBytes));
    sink_({kind, severity, std::move(file), position, length, std::move(bytes), std::move(expected), std::move(found),
           std::move(advice)});
  }

  /// By its name a partition of a topic that the node knows.
  bool isPartitionHere(const std::string& name) const {
    const auto partition = log::partitionOfFolder(name);
    return partition && (partition->topic == raft::kMetadataTopic || node_.knownTopics.idOf(partition->topic));
  }

  void noteFolder(const std::string& name, const std::string& inside) {
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
    facts_.folders.emplace_back(inside, *partition);
    const auto [before, isNew] = node_.places.emplace(*partition, inside);
    if (!isNew)
      tell(FindingKind::PartitionTwice, Severity::Error, inside, "one folder a partition",
           "it is in " + before->second + " as well", "move one of them away: a broker does not start with both");
  }

  void readCheckpoint(const std::string& name) {
    const std::string path = facts_.path + "/" + name;
    const auto text = log::readTextFile(files_, path);
    if (!text) {
      tell(FindingKind::Unreadable, Severity::Error, path, "a text file", text.error().message,
           "look at the disk and the file's permissions: a broker does not start with it");
      facts_.unreadable.insert(name);
      return;
    }
    // Kafka makes the file before it has anything to write.
    if (!*text || (*text)->empty()) return;
    auto offsets = log::decodeOffsetCheckpoint(**text);
    if (offsets) {
      facts_.checkpoints[name] = *std::move(offsets);
      return;
    }
    facts_.unreadable.insert(name);
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
    if (!node_.directoryIds.insert(meta->directoryId.toString()).second && !meta->directoryId.isZero())
      tell(FindingKind::DirectoriesDisagree, Severity::Error, path, "a directory.id of its own",
           meta->directoryId.toString() + ", as another one has", "one is a copy of the other: leave one out");
    facts_.meta = *meta;
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

  platform::FileSystem& files_;
  NodeFacts& node_;
  const VerifyOptions& options_;
  const FindingSink& sink_;
  DirectoryFacts facts_;
};

}  // namespace

DirectoryFacts checkDirectory(platform::FileSystem& files, const std::string& path,
                              const std::vector<platform::DirectoryEntry>& entries, NodeFacts& node,
                              const VerifyOptions& options, const FindingSink& sink) {
  return DirectoryCheck(files, path, node, options, sink).run(entries);
}

}  // namespace tidemark::inspect
