#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coordinator/classic/classic_groups.h"
#include "coordinator/consumer/consumer_group.h"
#include "coordinator/effects.h"
#include "coordinator/group/group_config.h"
#include "coordinator/group/group_snapshot.h"
#include "coordinator/group/group_teller.h"
#include "coordinator/modern/metadata_hash.h"
#include "protocol/framing.h"
#include "protocol/generated/consumer_group_describe_response.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/sync_group_request.h"

namespace tidemark::coordinator {

using ConsumerHeartbeatReply = Reply<protocol::ConsumerGroupHeartbeatResponse>;

/// The groups of the consumer protocol in one shard (KIP-848): what heartbeats, timers and members that still follow
/// the classic protocol do to them. Handlers decide and give records; only replay changes a group. What is soft:
/// timers, when a member was last heard of, and whether topics have changed since.
class ConsumerGroups {
 public:
  struct Surroundings {
    const GroupConfig& config;
    const platform::Clock& clock;
    platform::Random& random;
    platform::Logger& log;
    const TopicLookup& topics;
    TopicHashes& hashes;
    /// Of the same shard: groups change from one to the other.
    ClassicGroups& classic;
  };
  explicit ConsumerGroups(const Surroundings& given)
      : config_(given.config),
        clock_(given.clock),
        random_(given.random),
        log_(given.log),
        topics_(given.topics),
        hashes_(given.hashes),
        classic_(given.classic),
        teller_(events::GroupKind::Consumer, given.config.recorder, given.clock) {}

  Effects heartbeat(const RequestInfo& info, const protocol::ConsumerGroupHeartbeatRequest& request,
                    ConsumerHeartbeatReply reply);

  // Requests of the classic protocol to a group of this one (find() knows it). classic_members.cpp
  Effects join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply);
  Effects sync(const protocol::SyncGroupRequest& request, SyncReply reply);
  Effects classicHeartbeat(const protocol::HeartbeatRequest& request, Reply<protocol::HeartbeatResponse> reply);
  Effects leave(const protocol::LeaveGroupRequest& request, Reply<protocol::LeaveGroupResponse> reply);

  /// MemberSession, MemberRebalance, MemberJoin, MemberSync, Assignment.
  Effects onTimeout(const TimerKey& key);
  /// Topics came, went or grew.
  void onTopicsChanged(const std::set<std::string, std::less<>>& topics);
  /// A record about groups of this protocol: which group it was about. Nothing for other records.
  Result<std::optional<std::string>> replay(const protocol::FramedRecord& key, std::optional<ByteView> value);
  void onLoaded(Effects& out);

  const ConsumerGroup* find(std::string_view groupId) const;
  const std::map<std::string, ConsumerGroup, std::less<>>& all() const noexcept { return groups_; }
  protocol::ConsumerGroupDescribeResponse::DescribedGroup describe(const ConsumerGroup& group) const;
  void snapshot(std::vector<GroupSnapshot>& into) const;

  /// None, UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH (ILLEGAL_GENERATION for classic members), UNSUPPORTED_VERSION. An
  /// epoch that has passed will do for partitions that the member was given before it.
  ErrorCode validateCommit(const ConsumerGroup& group, std::string_view memberId, int32_t epoch, int16_t apiVersion,
                           const std::vector<TopicIdPartition>& partitions) const;
  ErrorCode validateFetch(const ConsumerGroup& group, std::optional<std::string_view> memberId, int32_t epoch) const;

 private:
  using HeartbeatRequest = protocol::ConsumerGroupHeartbeatRequest;
  using HeartbeatResponse = protocol::ConsumerGroupHeartbeatResponse;
  /// A group while a request is decided on: as the log says, with what the request adds.
  struct Change;

  // heartbeat
  Result<void> validate(const RequestInfo& info, const HeartbeatRequest& request) const;
  /// Whose heartbeat it is, if it says nothing new and there is nothing to tell or to do: nearly every one.
  const ConsumerMember* quietMember(const RequestInfo& info, const HeartbeatRequest& request) const;
  /// The answer to a quiet member.
  Effects confirm(const HeartbeatRequest& request, const ConsumerMember& member, ConsumerHeartbeatReply reply);
  /// `out.inTurn`: the member has joined, and is to ask again once others who are queued have as well.
  Result<HeartbeatResponse> beat(const RequestInfo& info, const HeartbeatRequest& request, Effects& out);
  Result<HeartbeatResponse> away(const HeartbeatRequest& request, Effects& out);
  Result<void> openGroup(Change& change, bool create);
  Result<void> openMember(Change& change, const HeartbeatRequest& request);
  void replaceStatic(Change& change, const ConsumerMember& old);
  void resolveRegexes(Change& change, const RequestInfo& info);
  void updateEpoch(Change& change);
  /// How long it is until the group's next target may be made; nothing if it has the one of its epoch.
  std::optional<platform::milliseconds> untilTarget(const Change& change) const;
  /// Whether the target for a new member of a group that exists is due: made for each of many that join at once, it
  /// would be out of date as soon as it is made.
  bool isToGetTargetWithOthers(const Change& change) const;
  void updateTarget(Change& change, Effects& out);
  Result<void> advance(Change& change, const std::optional<PartitionsByTopic>& owned, Effects& out);
  std::set<std::string> topicsOf(const Change& change, const MemberFacts& facts) const;
  static void addTopicsOf(const Change& change, const MemberFacts& facts, std::set<std::string>& topics);
  std::map<std::string, TargetMember> membersOf(const Change& change) const;
  const Assignor& assignorOf(const Change& change) const;

  // leaving
  void fence(const ConsumerGroup& group, const std::vector<const ConsumerMember*>& members, events::GroupCause cause,
             Effects& out);
  bool mayDowngrade(const ConsumerGroup& group, const ConsumerMember& leaves) const;
  /// A classic member takes the place of the last one that was not.
  bool mayDowngradeTo(const Change& change) const;

  // migration.cpp
  /// GROUP_ID_NOT_FOUND if the policy, its size or what its members say is against it.
  Result<ConsumerGroup> upgraded(const ClassicGroup& classic) const;
  /// Every member is of the classic protocol but the one that leaves, or is replaced by `joins`.
  void downgrade(const ConsumerGroup& group, const std::string& leaves, const ConsumerMember* joins, Effects& out);

  void armSession(const std::string& group, const ConsumerMember& member, Effects& out);
  void armSession(const std::string& group, const ConsumerMember& member, platform::Duration timeout, Effects& out);
  platform::milliseconds sessionTimeout(std::string_view group, const ConsumerMember& member) const;
  void awaitJoin(const std::string& group, const ConsumerMember& member, Effects& out);
  void disarmAll(const std::string& group, const std::string& member, Effects& out) const;
  /// Tells, once the records are replayed, what has become of the group and the member.
  void tellAfter(const std::string& group, const std::string& member, events::GroupCause cause, Effects& out);
  ConsumerGroup* findForReplay(const std::string& groupId, bool create);

  const GroupConfig& config_;
  const platform::Clock& clock_;
  platform::Random& random_;
  platform::Logger& log_;
  const TopicLookup& topics_;
  TopicHashes& hashes_;
  ClassicGroups& classic_;
  GroupTeller teller_;
  std::map<std::string, ConsumerGroup, std::less<>> groups_;
  /// What is not in the log of a group.
  struct Soft {
    /// Topics may have changed since its hash was made.
    bool refresh = true;
    std::optional<platform::MonotonicTime> regexesLookedAt;
    bool regexesStale = false;
    struct Heard {
      platform::MonotonicTime last;
      std::shared_ptr<Deadline> session;
    };
    std::unordered_map<std::string, Heard> heard;
    /// Classic members that were told to join again.
    std::set<std::string> awaitedJoins;
    /// As last told.
    events::GroupState state = events::GroupState::Empty;
  };
  std::map<std::string, Soft, std::less<>> soft_;
  /// What is replayed from now on is news.
  bool loaded_ = false;
};

}  // namespace tidemark::coordinator
