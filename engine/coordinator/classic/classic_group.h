#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/error_code.h"
#include "base/result.h"
#include "coordinator/effects.h"
#include "coordinator/request_info.h"
#include "platform/clock.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/sync_group_response.h"

namespace tidemark::coordinator {

/// Where a group of the classic protocol stands, and what each request does there.
enum class ClassicState : uint8_t {
  /// No members; kept for its offsets, or only ever used to store some.
  ///   JoinGroup      a new member starts gathering; one with an id → UNKNOWN_MEMBER_ID
  ///   SyncGroup, Heartbeat, LeaveGroup → UNKNOWN_MEMBER_ID
  ///   OffsetCommit   without generation: accepted; with one → UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION
  ///   leaves         → PreparingRebalance (a member joins), Dead (deleted, expired, moved away)
  Empty,
  /// Members gather: each JoinGroup stays parked until all known ones have joined or the time is over.
  ///   JoinGroup      parked
  ///   SyncGroup      → REBALANCE_IN_PROGRESS
  ///   Heartbeat      keeps the session, → REBALANCE_IN_PROGRESS
  ///   LeaveGroup     removes the member, may complete the gathering
  ///   OffsetCommit   accepted from members of the generation before
  ///   leaves         → CompletingRebalance (joined), Empty (nobody left), Dead
  PreparingRebalance,
  /// A generation is made; its leader computes the assignment.
  ///   JoinGroup      unchanged member: the same answer again; changed or new → PreparingRebalance
  ///   SyncGroup      of followers: parked; of the leader: stored, then answers all
  ///   Heartbeat      keeps the session
  ///   LeaveGroup     → PreparingRebalance
  ///   OffsetCommit   → REBALANCE_IN_PROGRESS
  ///   leaves         → Stable (assignment committed), PreparingRebalance, Dead
  CompletingRebalance,
  /// Everybody works.
  ///   JoinGroup      unchanged follower: current generation; the leader, a changed or a new member →
  ///   PreparingRebalance;
  ///                  a static member that returns unchanged takes over its id's place without a rebalance
  ///   SyncGroup      the current assignment
  ///   Heartbeat      keeps the session
  ///   LeaveGroup     → PreparingRebalance
  ///   OffsetCommit   accepted from members of this generation
  ///   leaves         → PreparingRebalance, Dead
  Stable,
  /// Deleted or moved away; a group that is asked for is made anew, so nobody sees this but who held on to it.
  ///   everything     → COORDINATOR_NOT_AVAILABLE
  Dead,
};
/// Kafka's name ("PreparingRebalance").
std::string_view stateName(ClassicState state) noexcept;
/// Whether a group may go from one state to the other.
bool isValidTransition(ClassicState from, ClassicState to) noexcept;

using JoinReply = Reply<protocol::JoinGroupResponse>;
using SyncReply = Reply<protocol::SyncGroupResponse>;

/// One assignor or other protocol that a member offers, in order of preference.
struct MemberProtocol {
  std::string name;
  ByteVector metadata;
  friend bool operator==(const MemberProtocol&, const MemberProtocol&) = default;
};

struct ClassicMember {
  std::string id;
  /// `group.instance.id`: a static member keeps its place over restarts (KIP-345).
  std::optional<std::string> instanceId;
  std::string clientId;
  /// With Java's leading slash: "/127.0.0.1".
  std::string clientHost;
  platform::milliseconds rebalanceTimeout{};
  platform::milliseconds sessionTimeout{};
  std::vector<MemberProtocol> protocols;
  ByteVector assignment;
  /// Joined for the first time and not answered yet: it has no id to send heartbeats with.
  bool isNew = false;
  /// Its last sign of life.
  platform::MonotonicTime lastHeard;
  /// When it is missed; nothing before its first sign of life.
  std::shared_ptr<Deadline> session;
  /// The parked JoinGroup or SyncGroup, if any.
  JoinReply awaitingJoin;
  SyncReply awaitingSync;

  bool isStatic() const noexcept { return instanceId.has_value(); }
  /// Nothing that must be seen of it: it is parked here.
  bool satisfiesHeartbeat() const noexcept {
    if (isNew) return false;
    return awaitingJoin != nullptr || awaitingSync != nullptr;
  }
  const ByteVector* metadataOf(std::string_view protocol) const noexcept;
};

/// A group of the classic protocol (Kafka's ClassicGroup): plain state and the rules that need nothing else. Of this
/// only what GroupMetadataValue holds is in the log; who is gathering, parked or pending is lost with the coordinator,
/// and the members come again. Owned by ClassicGroups.
class ClassicGroup {
 public:
  ClassicGroup(std::string id, ClassicState state, platform::WallTime now)
      : id_(std::move(id)), state_(state), stateSince_(now) {}

  const std::string& id() const noexcept { return id_; }
  ClassicState state() const noexcept { return state_; }
  ClassicState previousState() const noexcept { return previousState_; }
  bool isIn(ClassicState state) const noexcept { return state_ == state; }
  /// When it came into its state; nothing for one that was read from an old record.
  std::optional<platform::WallTime> stateSince() const noexcept { return stateSince_; }
  int32_t generation() const noexcept { return generation_; }
  const std::optional<std::string>& protocolType() const noexcept { return protocolType_; }
  const std::optional<std::string>& protocol() const noexcept { return protocol_; }
  const std::optional<std::string>& leader() const noexcept { return leader_; }
  bool isLeader(std::string_view memberId) const noexcept { return leader_ && *leader_ == memberId; }
  const std::map<std::string, ClassicMember, std::less<>>& members() const noexcept { return members_; }
  ClassicMember* member(std::string_view memberId) noexcept;
  bool hasMember(std::string_view memberId) const noexcept { return byId_.contains(memberId); }

  /// Read from its record.
  void restore(int32_t generation, std::optional<std::string> protocolType, std::optional<std::string> protocol,
               std::optional<std::string> leader, std::optional<platform::WallTime> stateSince);
  void transitionTo(ClassicState state, platform::WallTime now);
  bool canRebalance() const noexcept { return isValidTransition(state_, ClassicState::PreparingRebalance); }

  /// The first member decides the protocol type; each must share a protocol with all others (checked before).
  ClassicMember& add(ClassicMember member, std::string_view protocolType);
  void remove(std::string_view id);
  /// Gives a static member's place to a new id. Whoever still waits under the old one is to be answered by the caller.
  ClassicMember& replaceStatic(const std::string& instanceId, const std::string& oldId, const std::string& newId);
  void update(ClassicMember& member, std::vector<MemberProtocol> protocols, platform::milliseconds rebalanceTimeout,
              platform::milliseconds sessionTimeout, JoinReply reply);
  /// The parked JoinGroup's reply, which is no longer parked then; null if none was.
  JoinReply takeJoin(ClassicMember& member);
  SyncReply takeSync(ClassicMember& member) { return std::exchange(member.awaitingSync, nullptr); }
  size_t awaitingJoinCount() const noexcept { return awaitingJoinCount_; }
  bool haveAllJoined() const noexcept { return awaitingJoinCount_ == members_.size() && pendingJoin_.empty(); }
  /// Members that were known before and have not come again.
  std::vector<std::string> notYetRejoinedDynamic() const;

  // Ids that were given out and whose owner has yet to join with it (KIP-394).
  void addPending(const std::string& memberId) { pendingJoin_.insert(memberId); }
  bool isPending(std::string_view memberId) const noexcept { return pendingJoin_.contains(memberId); }
  size_t pendingCount() const noexcept { return pendingJoin_.size(); }

  // Members of the generation that have not sent SyncGroup.
  void addPendingSync(const std::string& memberId) { pendingSync_.insert(memberId); }
  void removePendingSync(std::string_view memberId);
  void clearPendingSync() { pendingSync_.clear(); }
  const std::set<std::string, std::less<>>& pendingSync() const noexcept { return pendingSync_; }

  std::optional<std::string> staticMemberId(std::string_view instanceId) const;
  size_t staticCount() const noexcept { return static_.size(); }
  /// Longest of its members.
  platform::milliseconds rebalanceTimeout() const noexcept;

  /// If the leader has not rejoined, another that has takes over. False if nobody has.
  bool electLeaderAmongJoined();
  /// The protocol that all share and most prefer. At least one member.
  std::string selectProtocol() const;
  bool supportsProtocols(std::string_view protocolType, const std::vector<std::string_view>& names) const;
  /// All have joined: next generation, protocol chosen; on to CompletingRebalance, or Empty without members.
  void startGeneration(platform::WallTime now);
  /// Of all members, for their leader.
  std::vector<protocol::JoinGroupResponse::JoinGroupResponseMember> describeMembers() const;

  /// UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID (KIP-345), else None.
  ErrorCode validateMember(std::string_view memberId, std::optional<std::string_view> instanceId) const;
  ErrorCode validateOffsetCommit(std::string_view memberId, std::optional<std::string_view> instanceId,
                                 int32_t generation) const;

  bool usesConsumerProtocol() const noexcept;
  /// Topics that its members subscribe to; nothing if it cannot know.
  const std::optional<std::set<std::string, std::less<>>>& subscribedTopics() const noexcept { return subscribed_; }
  bool isSubscribedTo(std::string_view topic) const;
  void computeSubscribedTopics();

  // The delay of the first gathering (`group.initial.rebalance.delay.ms`): whether it runs, how long the current wait
  // is, how much is left after it, and whether somebody came meanwhile.
  bool initialDelayRuns = false;
  platform::milliseconds initialDelay{};
  platform::milliseconds initialRemaining{};
  bool newMemberAdded = false;

 private:
  void count(const ClassicMember& member, int change);

  const std::string id_;
  ClassicState state_;
  ClassicState previousState_ = ClassicState::Dead;
  std::optional<platform::WallTime> stateSince_;
  /// Only rises.
  int32_t generation_ = 0;
  std::optional<std::string> protocolType_;
  std::optional<std::string> protocol_;
  std::optional<std::string> leader_;
  std::map<std::string, ClassicMember, std::less<>> members_;
  /// The same, for who asks for one: each heartbeat does.
  std::unordered_map<std::string_view, ClassicMember*> byId_;
  /// Instance id → member id.
  std::map<std::string, std::string, std::less<>> static_;
  std::set<std::string, std::less<>> pendingJoin_;
  std::set<std::string, std::less<>> pendingSync_;
  size_t awaitingJoinCount_ = 0;
  /// Protocol name → members that offer it.
  std::map<std::string, size_t, std::less<>> offered_;
  std::optional<std::set<std::string, std::less<>>> subscribed_;
};

}  // namespace tidemark::coordinator
