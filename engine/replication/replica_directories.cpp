#include <fmt/format.h>

#include "replication/replica_manager.h"

// Which replica lies in which log directory, and moves from one to another.

namespace tidemark::replication {

void ReplicaManager::settleDirectory(const TopicIdPartition& id, const std::shared_ptr<Partition>& partition,
                                     const metadata::PartitionRegistration& registration,
                                     const metadata::Image& image) {
  const Uuid assigned = registration.directoryOf(options_.self);
  const Uuid copy = logs_->futureDirectoryOf(partition->name());
  if (!copy.isZero() && !partition->isMoving() && !partition->log()->offline()) {
    // The broker was stopped while it moved the replica.
    partition->setFuture(logs_->future(partition->name()));
    mover_.add(partition, assigned == copy);
  }
  const Uuid actual = logs_->directoryOf(partition->name());
  if (actual.isZero() || assigned == actual ||
      !metadata::MetadataVersion(image.features.metadataVersion()).supportsDirectoryAssignment())
    return;
  // While it is being moved the mover says where it will be: nothing may take the place of that.
  if (!copy.isZero()) return;
  if (partition->log()->offline()) return;
  assignments_.assign(id, actual);
}

std::vector<ErrorCode> ReplicaManager::alterLogDirs(const std::vector<DirectoryItem>& items) {
  std::vector<ErrorCode> codes;
  codes.reserve(items.size());
  for (const DirectoryItem& item : items) {
    codes.push_back(alterLogDir(item));
    if (codes.back() != ErrorCode::None)
      process_.log().warning("replica-manager", "broker {}: {} is not moved to {}: {}", options_.self, item.partition,
                             item.path, errorName(codes.back()));
  }
  return codes;
}

ErrorCode ReplicaManager::alterLogDir(const DirectoryItem& item) {
  if (const auto name = log::futureFolderName(item.partition, Uuid()); !name) return name.error().code;
  const auto directory = logs_->directoryForMove(item.path);
  if (!directory) return directory.error().code;
  const std::shared_ptr<Partition> partition = find(item.partition);
  if (partition && partition->log()->offline()) return ErrorCode::KafkaStorageError;
  if (partition && partition->isMoving() && logs_->futureDirectoryOf(item.partition) != *directory)
    cancelMove(*partition, "another directory was asked for");
  if (!partition) {
    // It is made there once it is given to this broker.
    logs_->preferDirectory(item.partition, *directory);
    return ErrorCode::ReplicaNotAvailable;
  }
  if (logs_->directoryOf(item.partition) == *directory || partition->isMoving()) return ErrorCode::None;
  auto future = logs_->createFuture(item.partition, *directory);
  if (!future) return future.error().code;
  partition->setFuture(std::move(*future));
  mover_.add(partition, false);
  return ErrorCode::None;
}

void ReplicaManager::cancelMove(Partition& partition, const std::string& reason) {
  partition.setFuture(nullptr);
  mover_.remove(partition, reason);
  if (auto removed = logs_->removeFuture(partition.name()); !removed)
    process_.log().warning("replica-manager", "broker {}: the copy of {} cannot be removed: {}", options_.self,
                           partition.name(), removed.error().message);
}

void ReplicaManager::directoryFailed(const Uuid& directory) {
  for (auto& [id, placed] : placed_) {
    Partition& partition = *placed.partition;
    if (partition.isMoving() && logs_->futureDirectoryOf(partition.name()) == directory)
      cancelMove(partition, "the directory it was copied to failed");
    if (logs_->directoryOf(partition.name()) != directory) continue;
    unfollow(id, placed);
    if (!partition.isMoving()) continue;
    // The copy stays: should the directory come back, it is gone on with.
    partition.setFuture(nullptr);
    mover_.remove(partition, "the directory it was copied from failed");
  }
}

}  // namespace tidemark::replication
