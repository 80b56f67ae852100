#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "coordinator/coordinator_log.h"
#include "coordinator/effects.h"
#include "coordinator/group/group_config.h"
#include "coordinator/group/group_snapshot.h"
#include "coordinator/request_info.h"
#include "coordinator/streams/streams_config.h"
#include "platform/executor.h"
#include "platform/logger.h"
#include "platform/random.h"
#include "protocol/generated/forward.h"

namespace tidemark::coordinator {

class GroupShard;
class Turns;
struct StreamsHeartbeatAnswer;
struct TransactionMarker;

/// The group coordinator of one broker: members, generations and committed offsets of the groups whose partition of
/// `__consumer_offsets` it leads. Event-sourced: a handler decides and gives records, the state follows the log, and an
/// answer waits until its records are committed. Everything runs on one serial executor; all calls from any thread.
/// With Dependencies::turns a member's request may be answered inside the call.
///
/// Error codes are Kafka's: NOT_COORDINATOR for a partition that is not led here, COORDINATOR_LOAD_IN_PROGRESS while it
/// is read, and those of the protocols. Authorization, and whether topics exist, is the broker's to ask before.
class GroupCoordinator {
 public:
  struct Dependencies {
    /// Serial; Kafka's group coordinator thread.
    std::shared_ptr<platform::Executor> executor;
    const platform::Clock* clock = nullptr;
    platform::Random* random = nullptr;
    platform::Logger* log = nullptr;
    CoordinatorLog* partitions = nullptr;
    const TopicLookup* topics = nullptr;
    /// What is in force for a streams group; Kafka's defaults without it.
    StreamsConfigOf streamsConfigOf = [](std::string_view) { return StreamsGroupConfig(); };
    /// `executor`, if members' requests may be handled inside the call; else null.
    Turns* turns = nullptr;
  };

  GroupCoordinator(Dependencies dependencies, GroupConfig config);
  ~GroupCoordinator();

  /// Partitions of `__consumer_offsets`, once it exists; until then every request gets COORDINATOR_NOT_AVAILABLE.
  void setPartitionCount(int32_t partitions);
  /// Nothing while the count is unknown.
  std::optional<PartitionIndex> partitionFor(std::string_view groupId) const;

  /// This broker leads the partition from now on in `epoch`: reads it, then serves it.
  void onBecomeLeader(PartitionIndex partition, LeaderEpoch epoch);
  /// It leads it no longer: parked requests get NOT_COORDINATOR.
  void onResign(PartitionIndex partition);
  /// The partition's high watermark has moved (called for each advance; cheap).
  void onHighWatermark(PartitionIndex partition, Offset highWatermark);
  /// Topics were deleted: their committed offsets go.
  void onTopicsDeleted(std::vector<DeletedTopic> topics);
  /// Topics came, went or grew: groups that the coordinator assigns look again.
  void onTopicsChanged(std::set<std::string, std::less<>> topics);
  /// Clean stop: as if it resigned from all partitions.
  void stop();

  // A request's texts may be borrowed from `info.body`.

  // JoinGroup and SyncGroup stay parked until the group has gathered or its leader has assigned.
  void joinGroup(RequestInfo info, protocol::JoinGroupRequest request, Reply<protocol::JoinGroupResponse> reply);
  void syncGroup(RequestInfo info, protocol::SyncGroupRequest request, Reply<protocol::SyncGroupResponse> reply);
  void heartbeat(RequestInfo info, protocol::HeartbeatRequest request, Reply<protocol::HeartbeatResponse> reply);
  void leaveGroup(RequestInfo info, protocol::LeaveGroupRequest request, Reply<protocol::LeaveGroupResponse> reply);

  /// Joins, goes on, leaves (KIP-848).
  void consumerHeartbeat(RequestInfo info, protocol::ConsumerGroupHeartbeatRequest request,
                         Reply<protocol::ConsumerGroupHeartbeatResponse> reply);
  void describeConsumerGroups(const RequestInfo& info, const protocol::ConsumerGroupDescribeRequest& request,
                              Reply<protocol::ConsumerGroupDescribeResponse> reply);

  /// Joins, goes on, leaves (KIP-1071). The topics in the answer are the caller's to create.
  void streamsHeartbeat(const RequestInfo& info, const protocol::StreamsGroupHeartbeatRequest& request,
                        Reply<StreamsHeartbeatAnswer> reply);
  void describeStreamsGroups(const RequestInfo& info, const protocol::StreamsGroupDescribeRequest& request,
                             Reply<protocol::StreamsGroupDescribeResponse> reply);

  /// Topics may come by name or (version 10) by id; ids that are unknown get UNKNOWN_TOPIC_ID, names that are unknown
  /// UNKNOWN_TOPIC_OR_PARTITION.
  void commitOffsets(RequestInfo info, protocol::OffsetCommitRequest request,
                     Reply<protocol::OffsetCommitResponse> reply);
  /// TxnOffsetCommit: offsets that count once the producer's transaction is committed. Topics carry name and, where it
  /// is known, id. `verification`: as in TransactionalWriter.
  void commitTransactionalOffsets(const RequestInfo& info, const protocol::TxnOffsetCommitRequest& request,
                                  std::optional<uint64_t> verification, Reply<protocol::TxnOffsetCommitResponse> reply);
  /// The marker for a partition of `__consumer_offsets`: its pending offsets count from now on, or never. Errors as of
  /// CoordinatorRuntime::endTransaction.
  void endTransaction(PartitionIndex partition, const TransactionMarker& marker, Reply<ErrorCode> reply);
  /// All versions: one group (1 to 7) or several (8 and later).
  void fetchOffsets(const RequestInfo& info, const protocol::OffsetFetchRequest& request,
                    Reply<protocol::OffsetFetchResponse> reply);

  void describeGroups(const RequestInfo& info, const protocol::DescribeGroupsRequest& request,
                      Reply<protocol::DescribeGroupsResponse> reply);
  void listGroups(const RequestInfo& info, const protocol::ListGroupsRequest& request,
                  Reply<protocol::ListGroupsResponse> reply);
  void deleteGroups(const RequestInfo& info, const protocol::DeleteGroupsRequest& request,
                    Reply<protocol::DeleteGroupsResponse> reply);
  void deleteOffsets(const RequestInfo& info, const protocol::OffsetDeleteRequest& request,
                     Reply<protocol::OffsetDeleteResponse> reply);

  /// Runs `handler` on the shard that holds the group. `unavailable` instead: CoordinatorNotAvailable, NotCoordinator,
  /// CoordinatorLoadInProgress. Both on the executor. For who looks after kinds of group that have a door of their own.
  void run(std::string groupId, std::move_only_function<Effects(GroupShard&)> handler,
           std::move_only_function<void(ErrorCode)> unavailable);

  /// All groups of the partitions that are led here, by id.
  void snapshot(Reply<std::vector<GroupSnapshot>> reply);
  /// The same at once, for where nothing else runs, as between two steps of the simulator: sets nothing going.
  std::vector<GroupSnapshot> snapshotNow() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::coordinator
