#include "cluster/failed_directories.h"

#include <algorithm>

#include "metadata/image.h"

namespace tidemark::cluster {

FailedDirectories::FailedDirectories(const log::LogManager& logs)
    : logs_(logs),
      directories_(logs.directories()),
      any_(std::ranges::any_of(directories_, &log::LogDirectoryInfo::offline)) {}

std::vector<observe::FailedDirectorySnapshot> FailedDirectories::snapshots() const {
  std::vector<observe::FailedDirectorySnapshot> failed;
  for (const log::LogDirectoryInfo& directory : directories_)
    if (directory.offline) failed.push_back({directory.path, directory.failure});
  return failed;
}

std::string FailedDirectories::offlineReasonOf(const TopicPartition& partition, const Uuid& assigned) const {
  if (!any_) return {};
  const Uuid held = logs_.directoryOf(partition);
  const Uuid wanted = held.isZero() ? assigned : held;
  if (wanted == metadata::kMigratingDirectory || wanted == metadata::kUnassignedDirectory) return {};
  auto found = std::ranges::find(directories_, wanted, &log::LogDirectoryInfo::id);
  // One that could not be read at the start has no id.
  if (found == directories_.end()) found = std::ranges::find(directories_, true, &log::LogDirectoryInfo::offline);
  return found == directories_.end() ? std::string() : found->failure;
}

}  // namespace tidemark::cluster
