#include "cluster/failed_directories.h"

#include <algorithm>

#include "metadata/image.h"

namespace tidemark::cluster {

std::vector<observe::FailedDirectorySnapshot> failedDirectoriesOf(const log::LogManager& logs) {
  std::vector<observe::FailedDirectorySnapshot> failed;
  for (log::LogDirectoryInfo& directory : logs.directories())
    if (directory.offline) failed.push_back({std::move(directory.path), std::move(directory.failure)});
  return failed;
}

std::string offlineReasonOf(const log::LogManager& logs, const TopicPartition& partition, const Uuid& assigned) {
  const std::vector<log::LogDirectoryInfo> directories = logs.directories();
  const Uuid held = logs.directoryOf(partition);
  const Uuid wanted = held.isZero() ? assigned : held;
  if (wanted == metadata::kMigratingDirectory || wanted == metadata::kUnassignedDirectory) return {};
  auto found = std::ranges::find(directories, wanted, &log::LogDirectoryInfo::id);
  // One that could not be read at the start has no id.
  if (found == directories.end()) found = std::ranges::find(directories, true, &log::LogDirectoryInfo::offline);
  return found == directories.end() ? std::string() : found->failure;
}

}  // namespace tidemark::cluster
