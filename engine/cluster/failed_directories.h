#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/uuid.h"
#include "log/log_manager.h"
#include "observe/snapshot.h"

namespace tidemark::cluster {

/// What a broker's failed log directories take with them, as one snapshot tells it: its directories are asked for once.
/// Any thread; goes before the logs.
class FailedDirectories {
 public:
  explicit FailedDirectories(const log::LogManager& logs);

  std::vector<observe::FailedDirectorySnapshot> snapshots() const;
  /// Why the copy of a partition is offline; empty: it is not. `assigned`: the directory that the cluster's metadata
  /// has it in, for one that the broker could not even open.
  std::string offlineReasonOf(const TopicPartition& partition, const Uuid& assigned) const;

 private:
  const log::LogManager& logs_;
  const std::vector<log::LogDirectoryInfo> directories_;
  bool any_ = false;
};

}  // namespace tidemark::cluster
