#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/group/group_snapshot.h"
#include "events/event.h"
#include "platform/clock.h"

// What a snapshot tells of groups with their members and offsets, and of transactions on partitions.
namespace tidemark::observe {

/// A task of a Kafka Streams application, and the part of its topology that it runs.
using GroupTaskSnapshot = coordinator::GroupTaskSnapshot;
using GroupSubtopologySnapshot = coordinator::GroupSubtopologySnapshot;
using TaskRole = coordinator::TaskRole;

/// A member of a group.
struct GroupMemberSnapshot {
  std::string memberId;
  /// Empty: a dynamic member.
  std::string instanceId;
  std::string clientId;
  /// "/127.0.0.1", as Kafka tells it.
  std::string host;
  /// Of a connection with the same client id on the coordinator's cluster; empty if there is none.
  std::string software;
  std::string rack;
  /// Classic: "Joining", "Syncing", "Away", "Stable". Else Kafka's: "STABLE", "UNREVOKED_PARTITIONS",
  /// "UNRELEASED_PARTITIONS", "LEFT".
  std::string state;
  /// Follows the classic protocol, which a member of a consumer group may do as well.
  bool classic = true;
  bool leader = false;
  /// Generation, or member epoch.
  int32_t epoch = 0;
  std::vector<std::string> subscribedTopics;
  std::string subscribedRegex;
  /// What it owns; what it is to own; what it has yet to give back.
  std::vector<TopicPartition> assigned;
  std::vector<TopicPartition> target;
  std::vector<TopicPartition> revoking;
  /// The same of a member of a streams group, which has tasks instead; and the application instance whose thread it is.
  std::vector<GroupTaskSnapshot> tasks;
  std::vector<GroupTaskSnapshot> targetTasks;
  std::vector<GroupTaskSnapshot> revokingTasks;
  std::string processId;
  /// Since its last sign of life, and how long it may be silent.
  platform::Duration silent{};
  platform::Duration sessionTimeout{};

  /// But for `silent`, which moves all the time.
  friend bool operator==(const GroupMemberSnapshot& a, const GroupMemberSnapshot& b);
};

/// How far a group is with a partition.
struct GroupPartitionSnapshot {
  TopicPartition partition;
  /// Of a share group: where it starts (SPSO). None: nothing is committed.
  std::optional<Offset> committed;
  std::optional<platform::WallTime> committedAt;
  /// As its leader knows it; none while nobody leads it.
  std::optional<Offset> highWatermark;
  /// Timestamp of the first record that is not committed: lag in seconds is its age. None: nothing lags, or it cannot
  /// be read.
  std::optional<platform::WallTime> firstPending;
  std::string metadata;

  std::optional<int64_t> lag() const noexcept {
    if (!committed || !highWatermark) return std::nullopt;
    return *highWatermark < *committed ? 0 : *highWatermark - *committed;
  }
  friend bool operator==(const GroupPartitionSnapshot&, const GroupPartitionSnapshot&) = default;
};

/// Records that a share group holds of a partition: in flight, by how often they were delivered.
struct ShareBatchSnapshot {
  Offset first;
  Offset last;
  /// "Available", "Acquired", "Acknowledged", "Archived".
  std::string state;
  int deliveryCount = 0;
  /// Who holds the lock, and what is left of it; of what is acquired.
  std::string member;
  platform::Duration lockLeft{};

  friend bool operator==(const ShareBatchSnapshot& a, const ShareBatchSnapshot& b) noexcept {
    return a.first == b.first && a.last == b.last && a.state == b.state && a.deliveryCount == b.deliveryCount &&
           a.member == b.member;
  }
};

struct SharePartitionSnapshot {
  TopicPartition partition;
  NodeId broker;
  Offset start;
  /// Beyond what was ever acquired.
  Offset end;
  int inFlight = 0;
  std::vector<ShareBatchSnapshot> batches;
  friend bool operator==(const SharePartitionSnapshot&, const SharePartitionSnapshot&) = default;
};

struct GroupSnapshot {
  std::string id;
  events::GroupKind kind = events::GroupKind::Classic;
  /// As Kafka names it: "Stable", "Empty", …
  std::string state;
  std::string protocolType;
  /// The protocol that the members share, or the assignor of the server.
  std::string protocol;
  /// Generation, or group epoch.
  int32_t generation = 0;
  /// The group epoch that the target was made for.
  int32_t assignmentEpoch = 0;
  /// Of a streams group: the parts of its application, and what keeps it from being assigned, in Kafka's words.
  std::vector<GroupSubtopologySnapshot> subtopologies;
  std::string problem;
  NodeId coordinator;
  PartitionIndex coordinatorPartition;
  /// By member id.
  std::vector<GroupMemberSnapshot> members;
  /// By partition: what is committed or assigned.
  std::vector<GroupPartitionSnapshot> partitions;
  std::vector<SharePartitionSnapshot> shared;

  /// Records not committed yet, over all partitions.
  int64_t lag() const noexcept {
    int64_t sum = 0;
    for (const GroupPartitionSnapshot& one : partitions) sum += one.lag().value_or(0);
    return sum;
  }
  friend bool operator==(const GroupSnapshot&, const GroupSnapshot&) = default;
};

/// A transaction that is open on a partition: the oldest one holds the last stable offset back.
struct OpenTransactionSnapshot {
  ProducerId producer;
  ProducerEpoch epoch;
  Offset first;
  platform::WallTime lastWrite{};
  friend bool operator==(const OpenTransactionSnapshot&, const OpenTransactionSnapshot&) = default;
};

/// An offset that a group is to get, or gets. No offset: what is committed is forgotten.
struct OffsetEdit {
  TopicPartition partition;
  std::optional<Offset> from;
  std::optional<Offset> to;
  /// The offset that was asked for does not exist: `to` is the nearest that does.
  bool clipped = false;
  friend bool operator==(const OffsetEdit&, const OffsetEdit&) = default;
};

/// Which offsets a reset is about, and where they go: as client::ResetTo and ResetScope, in values.
struct OffsetResetRequest {
  enum class Kind : uint8_t { Earliest, Latest, Current, Offset, ShiftBy, Datetime };
  std::string group;
  events::GroupKind groupKind = events::GroupKind::Classic;
  Kind kind = Kind::Latest;
  /// An offset, a count, or milliseconds since 1970.
  int64_t value = 0;
  /// None: all that the group has committed for.
  std::vector<TopicPartition> partitions;
};

}  // namespace tidemark::observe
