#include "broker/node_directories.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "metadata/image.h"

namespace tidemark::broker {

namespace {

std::string metaFileIn(const std::string& directory) {
  return fmt::format("{}/{}", directory, log::kMetaPropertiesFile);
}

Result<void> verifyOwner(const FoundDirectory& directory, NodeId self, const std::string& clusterId,
                         const std::string& clusterFrom) {
  const log::MetaProperties& meta = *directory.meta;
  if (!clusterId.empty() && !meta.clusterId.empty() && meta.clusterId != clusterId)
    return fail(
        ErrorCode::InconsistentClusterId,
        fmt::format("{}: cluster.id is {}, but that of {} is {}: the directory belongs to another cluster; take "
                    "it out of log.dirs",
                    metaFileIn(directory.path), meta.clusterId, clusterFrom, clusterId));
  if (meta.nodeId.value() >= 0 && meta.nodeId != self)
    return fail(
        ErrorCode::InvalidConfig,
        fmt::format("{}: node.id is {}, but the configuration says {}: if the data was moved, set node.id to {}; "
                    "if this is to be a new node, empty its directories",
                    metaFileIn(directory.path), meta.nodeId, self, meta.nodeId));
  if (meta.nodeId.value() < 0 || meta.clusterId.empty())
    return fail(ErrorCode::InvalidConfig, fmt::format("{}: {} is missing", metaFileIn(directory.path),
                                                      meta.clusterId.empty() ? "cluster.id" : "node.id"));
  return {};
}

}  // namespace

Result<NodeDirectories> verifyDirectories(std::span<const FoundDirectory> directories, NodeId self,
                                          const std::string& metadataLogDir) {
  NodeDirectories found;
  std::string clusterFrom;
  std::map<Uuid, std::string> ids;
  bool any = false;
  for (const FoundDirectory& directory : directories) {
    const bool isMetadata = directory.path == metadataLogDir;
    if (directory.failed) {
      if (isMetadata)
        return fail(ErrorCode::KafkaStorageError,
                    fmt::format("{}, the directory of the metadata log, cannot be used", directory.path));
      continue;
    }
    if (!directory.meta)
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("{} is not formatted (there is no {}): `tidemark format --config FILE` makes it ready",
                              directory.path, metaFileIn(directory.path)));
    const log::MetaProperties& meta = *directory.meta;
    TIDEMARK_TRY(verifyOwner(directory, self, found.clusterId, clusterFrom));
    any = true;
    if (found.clusterId.empty()) {
      found.clusterId = meta.clusterId;
      clusterFrom = directory.path;
    }
    if (isMetadata) found.metadataDirectory = meta.directoryId;
    if (!isMetadata && directory.holdsMetadataLog)
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("{} holds a metadata log, but the configuration has it in {} (metadata.log.dir): two of "
                              "them cannot both be true",
                              directory.path, metadataLogDir));
    if (meta.directoryId.isZero()) {
      found.someWithoutId = true;
      continue;
    }
    if (metadata::isReservedDirectory(meta.directoryId))
      return fail(ErrorCode::InvalidConfig, fmt::format("{}: directory.id {} is reserved and can be no directory's",
                                                        metaFileIn(directory.path), meta.directoryId));
    const auto [other, isNew] = ids.emplace(meta.directoryId, directory.path);
    if (!isNew)
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("{}: directory.id {} is that of {} as well: one of them is a copy of the other",
                              metaFileIn(directory.path), meta.directoryId, other->second));
  }
  if (!any) return fail(ErrorCode::KafkaStorageError, "no log directory has a meta.properties that can be read");
  return found;
}

}  // namespace tidemark::broker
