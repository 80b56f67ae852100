#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/classic/classic_groups.h"
#include "coordinator/consumer/consumer_groups.h"
#include "coordinator/group/group_config.h"
#include "coordinator/group/group_coordinator.h"
#include "coordinator/offsets/offsets.h"
#include "coordinator/runtime.h"
#include "coordinator/share/share_groups.h"
#include "coordinator/streams/streams_groups.h"
#include "protocol/generated/delete_groups_response.h"
#include "protocol/generated/describe_groups_response.h"
#include "protocol/generated/list_groups_request.h"
#include "protocol/generated/list_groups_response.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"

namespace tidemark::coordinator {

/// One partition of `__consumer_offsets`: its groups of all kinds and their committed offsets. An id is that of one
/// kind of group at a time; an empty group makes room for one of another kind.
class GroupShard final : public Shard {
 public:
  /// All outlive the shard.
  struct Surroundings {
    const GroupConfig& config;
    const StreamsConfigOf& streamsConfigOf;
    const platform::Clock& clock;
    platform::Random& random;
    platform::Logger& log;
    const TopicLookup& topics;
    TopicHashes& hashes;
  };
  GroupShard(PartitionIndex partition, const Surroundings& around)
      : partition_(partition),
        config_(around.config),
        clock_(around.clock),
        groups_(around.config, around.clock, around.random, around.log),
        consumers_({around.config, around.clock, around.random, around.log, around.topics, around.hashes, groups_}),
        shares_(around.config.share, around.clock),
        streams_({around.config, around.streamsConfigOf, around.clock, around.log, around.topics, around.hashes}),
        offsets_(around.config) {}

  Result<void> replay(Offset offset, ProducerId producerId, ByteView key, std::optional<ByteView> value) override;
  void replayEndTxn(Offset offset, ProducerId producerId, bool commit) override;
  void onHighWatermark(Offset highWatermark) override { offsets_.onHighWatermark(highWatermark); }
  Effects onLoaded() override;
  Effects onUnloaded() override;
  Effects onTimeout(const TimerKey& key) override;

  // The classic protocol, which groups of the consumer protocol understand as well. INCONSISTENT_GROUP_PROTOCOL for a
  // group of another one.
  Effects join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply);
  Effects sync(const protocol::SyncGroupRequest& request, SyncReply reply);
  Effects heartbeat(const protocol::HeartbeatRequest& request, Reply<protocol::HeartbeatResponse> reply);
  /// `request.members` also for versions 0 to 2.
  Effects leave(const protocol::LeaveGroupRequest& request, Reply<protocol::LeaveGroupResponse> reply);

  /// GROUP_ID_NOT_FOUND for a group of another protocol that has members.
  Effects consumerHeartbeat(const RequestInfo& info, const protocol::ConsumerGroupHeartbeatRequest& request,
                            ConsumerHeartbeatReply reply);
  protocol::ConsumerGroupDescribeResponse::DescribedGroup describeConsumers(std::string_view groupId) const;
  ShareGroups& shares() noexcept { return shares_; }
  /// Whether a group of that id is there that is no share group.
  bool isOfAnotherKind(std::string_view groupId) const;

  /// GROUP_ID_NOT_FOUND for a group of another protocol that has members.
  Effects streamsHeartbeat(const RequestInfo& info, const protocol::StreamsGroupHeartbeatRequest& request,
                           Reply<StreamsHeartbeatAnswer> reply);
  /// What is committed when the answer comes.
  Effects describeStreams(std::string_view groupId,
                          Reply<protocol::StreamsGroupDescribeResponse::DescribedGroup> reply) const;

  Effects commitOffsets(const RequestInfo& info, const protocol::OffsetCommitRequest& request,
                        Reply<protocol::OffsetCommitResponse> reply);
  /// Offsets that count once the producer's transaction is committed.
  Effects commitTransactionalOffsets(int16_t apiVersion, const protocol::TxnOffsetCommitRequest& request,
                                     std::optional<uint64_t> verification,
                                     Reply<protocol::TxnOffsetCommitResponse> reply) const;
  Effects fetchOffsets(const protocol::OffsetFetchRequest::OffsetFetchRequestGroup& request, bool stable,
                       Reply<protocol::OffsetFetchResponse::OffsetFetchResponseGroup> reply) const;
  Effects deleteOffsets(const protocol::OffsetDeleteRequest& request,
                        Reply<protocol::OffsetDeleteResponse> reply) const;
  Effects deleteGroup(std::string_view groupId,
                      Reply<protocol::DeleteGroupsResponse::DeletableGroupResult> reply) const;
  Effects onTopicsDeleted(const std::vector<DeletedTopic>& topics) const;
  /// They came, went or grew.
  void onTopicsChanged(const std::set<std::string, std::less<>>& topics) {
    consumers_.onTopicsChanged(topics);
    streams_.onTopicsChanged(topics);
  }

  protocol::DescribeGroupsResponse::DescribedGroup describe(std::string_view groupId, int16_t apiVersion) const;
  void list(const protocol::ListGroupsRequest& request,
            std::vector<protocol::ListGroupsResponse::ListedGroup>& into) const;
  void snapshot(std::vector<GroupSnapshot>& into) const;

 private:
  /// `out` is what a timer led to: it runs again if that cannot be written.
  static Effects untilWritten(const TimerKey& key, Effects out);
  ErrorCode validateCommit(const RequestInfo& info, const protocol::OffsetCommitRequest& request) const;
  Result<void> replayGroup(const protocol::FramedRecord& framed, std::optional<ByteView> value);
  ErrorCode validateTransactionalCommit(int16_t apiVersion, const protocol::OffsetCommitRequest& request) const;
  Effects expire();

  const PartitionIndex partition_;
  const GroupConfig& config_;
  const platform::Clock& clock_;
  ClassicGroups groups_;
  ConsumerGroups consumers_;
  ShareGroups shares_;
  StreamsGroups streams_;
  Offsets offsets_;
};

/// The answer to a commit of which nothing was accepted.
protocol::OffsetCommitResponse refusedCommit(const protocol::OffsetCommitRequest& request, ErrorCode error);

}  // namespace tidemark::coordinator
