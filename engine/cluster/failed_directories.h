#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/uuid.h"
#include "log/log_manager.h"
#include "observe/snapshot.h"

// What a broker's failed log directories take with them, as a snapshot tells it. Any thread.
namespace tidemark::cluster {

std::vector<observe::FailedDirectorySnapshot> failedDirectoriesOf(const log::LogManager& logs);

/// Why the copy of a partition is offline; empty: it is not. `assigned`: the directory that the cluster's metadata has
/// it in, for one that the broker could not even open.
std::string offlineReasonOf(const log::LogManager& logs, const TopicPartition& partition, const Uuid& assigned);

}  // namespace tidemark::cluster
