#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/effects.h"
#include "coordinator/request_info.h"
#include "coordinator/share/share_group.h"
#include "coordinator/share_state/share_state_operations.h"
#include "protocol/generated/list_groups_response.h"
#include "protocol/generated/share_group_describe_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"

namespace tidemark::coordinator {

/// Of one group, its own settings resolved.
struct ShareMembershipSettings {
  /// `share.heartbeat.interval.ms`, `share.session.timeout.ms`
  platform::milliseconds heartbeatInterval{5000};
  platform::milliseconds sessionTimeout{45000};
  /// `share.assignment.interval.ms`: at most one new target in that time.
  platform::milliseconds assignmentInterval{1000};
};

/// What share groups need to know of the rest of the broker.
struct ShareGroupsEnvironment {
  std::function<std::optional<ShareTopic>(std::string_view name)> topic;
  std::function<ShareMembershipSettings(std::string_view groupId)> settings;
  /// Removes a group with all the state that it keeps (ShareGroupCoordinator::remove).
  std::function<void(const std::string& groupId, std::move_only_function<void(ErrorCode)> done)> remove;
  /// `group.share.max.size`
  int32_t maxSize = 200;
  /// `group.share.initialize.retry.interval.ms`: what is being set up for longer is tried again.
  platform::milliseconds initializeRetry{30000};
};

/// The share groups of one partition of `__consumer_offsets`. A group's members are given partitions whose state at the
/// share coordinator is set up; whoever called sees to that, by what initializations() says, and tells initialized().
class ShareGroups {
 public:
  ShareGroups(const ShareGroupsEnvironment& environment, const platform::Clock& clock)
      : environment_(environment), clock_(clock) {}

  const std::map<std::string, ShareGroup, std::less<>>& all() const noexcept { return groups_; }
  const ShareGroup* find(std::string_view groupId) const;

  /// Whether it was a record of a share group.
  Result<bool> replay(int16_t type, ByteView keyBody, int16_t keyVersion, std::optional<ByteView> value);
  void onLoaded(Effects& out) const;
  /// Of a member's session.
  Effects onTimeout(const TimerKey& key) const;

  /// Errors: InvalidRequest, GroupIdNotFound, UnknownMemberId, FencedMemberEpoch, GroupMaxSizeReached.
  Effects heartbeat(const RequestInfo& info, const protocol::ShareGroupHeartbeatRequest& request,
                    Reply<protocol::ShareGroupHeartbeatResponse> reply) const;

  /// What is to be set up for the group now, and the records that say so; `ask` is called once they are committed.
  /// Nothing to do: no records.
  Effects initializations(std::string_view groupId,
                          std::move_only_function<void(std::vector<ShareStateInitialization>)> ask) const;
  /// The state of these is set up.
  Effects initialized(std::string_view groupId, const std::vector<ShareKey>& keys) const;

  /// Sets the start of partitions anew (the group must be empty): records, and what to set up once they are committed.
  struct Alteration {
    std::string topic;
    int32_t partition = 0;
    Offset start;
  };
  Effects alter(std::string_view groupId, const std::vector<Alteration>& alterations,
                std::move_only_function<void(ErrorCode, std::vector<ShareStateInitialization>)> ask) const;
  /// Of these topics the group keeps no state any more.
  Effects forget(std::string_view groupId, const std::set<Uuid>& topics,
                 std::move_only_function<void(ErrorCode)> done) const;
  Effects remove(std::string_view groupId, std::move_only_function<void(ErrorCode)> done) const;

  protocol::ShareGroupDescribeResponse::DescribedGroup describe(std::string_view groupId) const;

 private:
  int64_t hashOf(const ShareGroup& group) const;
  std::map<std::string, std::pair<Uuid, std::set<int32_t>>, std::less<>> assignable(const ShareGroup& group) const;
  /// Raises the group's epoch and gives it a new target if it is time; records.
  void rebalance(std::string_view groupId, ShareGroup& group, bool changed,
                 std::vector<CoordinatorRecord>& records) const;
  Effects leave(std::string_view groupId, std::string_view memberId) const;
  static TimerKey sessionTimer(std::string_view groupId, std::string_view memberId) {
    return {TimerKey::Kind::Heartbeat, std::string(groupId), std::string(memberId)};
  }

  const ShareGroupsEnvironment& environment_;
  const platform::Clock& clock_;
  std::map<std::string, ShareGroup, std::less<>> groups_;
  /// When the group was last asked what to set up; not in the log.
  mutable std::map<std::string, platform::MonotonicTime, std::less<>> asked_;
};

}  // namespace tidemark::coordinator
