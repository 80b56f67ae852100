#pragma once

#include <map>
#include <set>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"
#include "metadata/image.h"

namespace tidemark::protocol {
struct PartitionChangeRecord;
struct PartitionRecord;
}  // namespace tidemark::protocol

namespace tidemark::metadata {

struct Record;

/// Which parts of an image records touched.
struct Changes {
  std::set<Uuid> topics;
  std::map<Uuid, std::set<PartitionIndex>> partitions;
  std::set<NodeId> brokers;
  std::set<NodeId> controllers;
  std::set<ConfigResource> configs;
  std::set<std::string> features;
  bool security = false;
  bool producerIds = false;

  bool empty() const noexcept {
    return topics.empty() && brokers.empty() && controllers.empty() && configs.empty() && features.empty() &&
           !security && !producerIds;
  }
};

/// Applies one record to `image`; the only code that changes one. What it touches is added to `changes`. Transaction
/// markers, NoOp and ZkMigrationState change nothing. Error (CorruptMessage): the record names what does not exist or
/// contradicts it (a stale broker epoch); the image is as it was.
Result<void> replayRecord(Image& image, const Record& record, Changes& changes);

/// A partition as its record says, and after a change record (Kafka's PartitionRegistration): naming a leader raises
/// the leader epoch, any change the partition epoch.
PartitionRegistration fromRecord(const protocol::PartitionRecord& record);
PartitionRegistration merge(const PartitionRegistration& before, const protocol::PartitionChangeRecord& change);

/// PartitionChangeRecord.Leader: this value leaves leader and leader epoch as they are.
inline constexpr int32_t kNoLeaderChange = -2;

}  // namespace tidemark::metadata
