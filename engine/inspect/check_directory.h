#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/uuid.h"
#include "inspect/check.h"
#include "inspect/finding.h"
#include "inspect/known_topics.h"
#include "log/checkpoints.h"
#include "platform/file_system.h"

namespace tidemark::inspect {

/// What must agree between the log directories of one node; each check of one adds what it finds.
struct NodeFacts {
  std::set<std::string> directoryIds;
  KnownTopics knownTopics;
  /// The folder of each partition that was met.
  std::map<TopicPartition, std::string> places;
  std::map<std::string, Uuid> topicIds;
  std::map<std::string, std::string> topicsById;
};

/// A log directory's own files, and the folders of partitions in it.
struct DirectoryFacts {
  std::string path;
  /// There is a marker of a clean stop.
  bool clean = false;
  /// A broker has it locked.
  bool inUse = false;
  /// Nothing: missing or unreadable.
  std::optional<log::MetaProperties> meta;
  std::map<std::string, log::OffsetCheckpoint, std::less<>> checkpoints;
  /// Checkpoints that are there and cannot be read: what they said is not known.
  std::set<std::string, std::less<>> unreadable;
  std::vector<std::pair<std::string, TopicPartition>> folders;
};

/// Checks the names in a log directory and its small files: `meta.properties`, the marker of a clean stop, checkpoints,
/// the lock. `entries`: what is in it. Partitions are not looked into.
DirectoryFacts checkDirectory(platform::FileSystem& files, const std::string& path,
                              const std::vector<platform::DirectoryEntry>& entries, NodeFacts& node,
                              const VerifyOptions& options, const FindingSink& sink);

}  // namespace tidemark::inspect
