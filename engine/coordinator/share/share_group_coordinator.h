#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coordinator/group/group_coordinator.h"
#include "coordinator/request_info.h"
#include "coordinator/share/share_groups.h"
#include "coordinator/share_state/share_state_operations.h"
#include "protocol/generated/forward.h"

namespace tidemark::coordinator {

/// What is asked about share groups, at the group coordinator: membership, and the state that they keep at the share
/// coordinators of their partitions. Any thread.
class ShareGroupCoordinator {
 public:
  struct Dependencies {
    GroupCoordinator* groups = nullptr;
    ShareStatePersister* persister = nullptr;
    const TopicLookup* topics = nullptr;
    std::function<std::optional<ShareTopic>(std::string_view name)> topic;
    /// The end of a partition, as its leader says; nothing: it cannot be had now. Answers on any thread.
    std::function<void(const TopicPartition&, Reply<std::optional<Offset>>)> latestOffset;
  };

  explicit ShareGroupCoordinator(Dependencies dependencies);
  ~ShareGroupCoordinator();

  void heartbeat(const RequestInfo& info, const protocol::ShareGroupHeartbeatRequest& request,
                 Reply<protocol::ShareGroupHeartbeatResponse> reply);
  void describe(const RequestInfo& info, const protocol::ShareGroupDescribeRequest& request,
                Reply<protocol::ShareGroupDescribeResponse> reply);
  void describeOffsets(const RequestInfo& info, const protocol::DescribeShareGroupOffsetsRequest& request,
                       Reply<protocol::DescribeShareGroupOffsetsResponse> reply);
  void alterOffsets(const RequestInfo& info, const protocol::AlterShareGroupOffsetsRequest& request,
                    Reply<protocol::AlterShareGroupOffsetsResponse> reply);
  void deleteOffsets(const RequestInfo& info, const protocol::DeleteShareGroupOffsetsRequest& request,
                     Reply<protocol::DeleteShareGroupOffsetsResponse> reply);
  /// The group and all its state. GroupIdNotFound, NonEmptyGroup.
  void remove(const std::string& groupId, std::move_only_function<void(ErrorCode)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::coordinator
