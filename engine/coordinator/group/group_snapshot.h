#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "events/group_events.h"
#include "platform/clock.h"

namespace tidemark::coordinator {

enum class TaskRole : uint8_t { Active, Standby, Warmup };

/// A task of a Kafka Streams application.
struct GroupTaskSnapshot {
  std::string subtopology;
  int32_t partition = 0;
  TaskRole role{};
  friend bool operator==(const GroupTaskSnapshot&, const GroupTaskSnapshot&) = default;
};

/// A part of a Kafka Streams application that is connected within itself: the topics it reads, those of its own among
/// them through which other parts feed it, where its stores are kept, and what it writes for other parts.
struct GroupSubtopologySnapshot {
  std::string id;
  std::vector<std::string> sources;
  std::vector<std::string> repartitionSources;
  std::vector<std::string> changelogs;
  std::vector<std::string> repartitionSinks;
  friend bool operator==(const GroupSubtopologySnapshot&, const GroupSubtopologySnapshot&) = default;
};

/// A member as views show it.
struct GroupMemberSnapshot {
  std::string memberId;
  std::string groupInstanceId;
  std::string clientId;
  std::string clientHost;
  std::string rackId;
  /// How far it is. Classic: "Joining" (its JoinGroup waits), "Syncing" (its SyncGroup waits), "Away" (not heard of in
  /// this rebalance), "Stable". Else Kafka's names: "STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_TASKS" and so on, and
  /// "LEFT" for a static member that is away.
  std::string state;
  /// Follows the classic protocol (also inside a group of the consumer protocol).
  bool isClassic = true;
  /// Generation, or member epoch.
  int32_t epoch = 0;
  std::vector<std::string> subscribedTopics;
  std::string subscribedRegex;
  /// What it owns; what it is to own (the same for the classic protocol); what it has yet to give back.
  std::vector<TopicPartition> assigned;
  std::vector<TopicPartition> target;
  std::vector<TopicPartition> revoking;
  /// The same for members of streams groups: what it runs, is to run, has yet to give up; and the application instance
  /// whose thread it is.
  std::vector<GroupTaskSnapshot> tasks;
  std::vector<GroupTaskSnapshot> targetTasks;
  std::vector<GroupTaskSnapshot> revokingTasks;
  std::string processId;
  int32_t topologyEpoch = -1;
  /// Since its last sign of life, and how long it may be silent.
  platform::Duration silent{};
  platform::Duration sessionTimeout{};
};

/// A committed offset: with the partition's log end and the times of its records, the lag.
struct GroupOffsetSnapshot {
  TopicPartition partition;
  Offset offset;
  LeaderEpoch leaderEpoch;
  int64_t commitTimestampMs = 0;
  std::string metadata;
};

/// A group as views show it.
struct GroupSnapshot {
  std::string groupId;
  events::GroupKind kind = events::GroupKind::Classic;
  /// Kafka's names: "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Assigning", "Reconciling",
  /// "NotReady".
  std::string state;
  std::string protocolType;
  /// The protocol that the members share, or the assignor of the server.
  std::string protocol;
  std::string leader;
  /// Generation, or group epoch.
  int32_t generation = 0;
  /// The group epoch that the target was made for; the generation of a classic group.
  int32_t assignmentEpoch = 0;
  /// Of a streams group; −1 without one. What keeps it from being assigned, in Kafka's words; empty if nothing does.
  int32_t topologyEpoch = -1;
  std::string problem;
  /// By id.
  std::vector<GroupSubtopologySnapshot> subtopologies;
  PartitionIndex coordinatorPartition;
  std::vector<GroupMemberSnapshot> members;
  std::vector<GroupOffsetSnapshot> offsets;
};

}  // namespace tidemark::coordinator
