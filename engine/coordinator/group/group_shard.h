#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/classic/classic_groups.h"
#include "coordinator/group/group_config.h"
#include "coordinator/group/group_coordinator.h"
#include "coordinator/offsets/offsets.h"
#include "coordinator/runtime.h"
#include "protocol/generated/delete_groups_response.h"
#include "protocol/generated/describe_groups_response.h"
#include "protocol/generated/list_groups_request.h"
#include "protocol/generated/list_groups_response.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"

namespace tidemark::coordinator {

/// One partition of `__consumer_offsets`: its groups and their committed offsets. Groups of the consumer, share and
/// streams protocols (KIP-848, 932, 1071) have their records here as well; those are passed over until their managers
/// stand beside ClassicGroups, but such a group is known as one, and neither expires nor takes classic members.
class GroupShard final : public Shard {
 public:
  GroupShard(PartitionIndex partition, const GroupConfig& config, const platform::Clock& clock,
             platform::Random& random, platform::Logger& log)
      : partition_(partition), config_(config), clock_(clock), groups_(config, clock, random, log), offsets_(config) {}

  Result<void> replay(Offset offset, ProducerId producerId, ByteView key, std::optional<ByteView> value) override;
  void replayEndTxn(Offset offset, ProducerId producerId, bool commit) override;
  void onHighWatermark(Offset highWatermark) override { offsets_.onHighWatermark(highWatermark); }
  Effects onLoaded() override;
  Effects onUnloaded() override;
  Effects onTimeout(const TimerKey& key) override;

  /// INCONSISTENT_GROUP_PROTOCOL for a group of another protocol.
  Effects join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply);
  /// SyncGroup, Heartbeat, LeaveGroup.
  ClassicGroups& groups() noexcept { return groups_; }

  Effects commitOffsets(const RequestInfo& info, const protocol::OffsetCommitRequest& request,
                        Reply<protocol::OffsetCommitResponse> reply);
  /// Offsets that count once the producer's transaction is committed.
  Effects commitTransactionalOffsets(const protocol::TxnOffsetCommitRequest& request,
                                     std::optional<uint64_t> verification,
                                     Reply<protocol::TxnOffsetCommitResponse> reply) const;
  Effects fetchOffsets(const protocol::OffsetFetchRequest::OffsetFetchRequestGroup& request, bool stable,
                       Reply<protocol::OffsetFetchResponse::OffsetFetchResponseGroup> reply) const;
  Effects deleteOffsets(const protocol::OffsetDeleteRequest& request,
                        Reply<protocol::OffsetDeleteResponse> reply) const;
  Effects deleteGroup(std::string_view groupId,
                      Reply<protocol::DeleteGroupsResponse::DeletableGroupResult> reply) const;
  Effects onTopicsDeleted(const std::vector<std::string>& topics) const;

  protocol::DescribeGroupsResponse::DescribedGroup describe(std::string_view groupId, int16_t apiVersion) const;
  void list(const protocol::ListGroupsRequest& request,
            std::vector<protocol::ListGroupsResponse::ListedGroup>& into) const;
  void snapshot(std::vector<GroupSnapshot>& into) const;

 private:
  ErrorCode validateCommit(const RequestInfo& info, const protocol::OffsetCommitRequest& request) const;
  ErrorCode validateTransactionalCommit(const protocol::OffsetCommitRequest& request) const;
  Effects expire();

  const PartitionIndex partition_;
  const GroupConfig& config_;
  const platform::Clock& clock_;
  ClassicGroups groups_;
  Offsets offsets_;
  /// Groups of protocols that are not served here.
  std::set<std::string, std::less<>> foreign_;
};

/// The answer to a commit of which nothing was accepted.
protocol::OffsetCommitResponse refusedCommit(const protocol::OffsetCommitRequest& request, ErrorCode error);

}  // namespace tidemark::coordinator
