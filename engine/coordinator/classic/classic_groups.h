#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/classic/classic_group.h"
#include "coordinator/classic/classic_records.h"
#include "coordinator/effects.h"
#include "coordinator/group/group_config.h"
#include "coordinator/group/group_snapshot.h"
#include "coordinator/group/group_teller.h"
#include "coordinator/request_info.h"
#include "platform/clock.h"
#include "platform/logger.h"
#include "platform/random.h"
#include "protocol/generated/group_metadata_value.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
#include "protocol/generated/sync_group_request.h"

namespace tidemark::coordinator {

/// The groups of the classic protocol in one shard, and what requests and timers do to them (the rules of Kafka's
/// GroupMetadataManager and ClassicGroup). No I/O: what is to be done comes back as Effects. Gathering is soft state,
/// changed here and now; what a generation decided is written, and is what a new coordinator starts from.
class ClassicGroups {
 public:
  ClassicGroups(const GroupConfig& config, const platform::Clock& clock, platform::Random& random,
                platform::Logger& log)
      : config_(config),
        clock_(clock),
        random_(random),
        log_(log),
        teller_(events::GroupKind::Classic, config.recorder, clock) {}

  // Group ids are not empty and session timeouts in range: checked before.
  Effects join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply);
  Effects sync(const protocol::SyncGroupRequest& request, SyncReply reply);
  Effects heartbeat(const protocol::HeartbeatRequest& request, Reply<protocol::HeartbeatResponse> reply);
  /// `request.members` also for versions 0 to 2.
  Effects leave(const protocol::LeaveGroupRequest& request, Reply<protocol::LeaveGroupResponse> reply);
  /// Heartbeat, Join or Sync.
  Effects onTimeout(const TimerKey& key);

  /// GroupMetadata from the log; nothing for a tombstone.
  void replay(const std::string& groupId, const protocol::GroupMetadataValue* value);
  /// For offsets of a group that has no metadata: a simple consumer's.
  void ensureExists(const std::string& groupId);
  void snapshot(std::vector<GroupSnapshot>& into) const;
  void onLoaded(Effects& out);
  void onUnloaded(Effects& out);

  const ClassicGroup* find(std::string_view groupId) const;
  const std::map<std::string, ClassicGroup, std::less<>>& all() const noexcept { return groups_; }
  /// The group is to follow another protocol: who waits is told to join again.
  void dismiss(std::string_view groupId, Effects& out);
  /// A group that was read from the record of a downgrade: its members gather.
  Effects rebalanceDowngraded(std::string_view groupId);
  /// A member shows a sign of life other than a heartbeat. Nothing for one that is unknown.
  void keepAlive(std::string_view groupId, std::string_view memberId, Effects& out);

 private:
  struct Joining;
  struct ReplacedMember;
  /// What makes a group rebalance: the cause, whose doing it is (or empty), and for the log.
  struct Why {
    events::GroupCause cause{};
    std::string_view member;
    std::string_view text;
  };

  ClassicGroup* find(std::string_view groupId);

  // Joining.
  void joinNew(ClassicGroup& group, Joining& joining, Effects& out);
  void joinExisting(ClassicGroup& group, Joining& joining, Effects& out);
  void addMember(ClassicGroup& group, const std::string& memberId, Joining& joining, Effects& out);
  void updateMember(ClassicGroup& group, ClassicMember& member, events::GroupCause cause, std::string_view reason,
                    Joining& joining, Effects& out);
  void replaceStaticMember(ClassicGroup& group, const std::string& oldId, const std::string& newId, Joining& joining,
                           Effects& out);
  void persistReplacedMember(ClassicGroup& group, ClassicMember& member, ReplacedMember before, int16_t apiVersion,
                             Effects& out);
  void writeNewGroup(const ClassicGroup& group, Effects& out);
  bool accepts(ClassicGroup& group, std::string_view memberId) const;
  std::string newMemberId(const RequestInfo& info, const protocol::JoinGroupRequest& request) const;

  // Rebalancing.
  void prepareRebalance(ClassicGroup& group, const Why& why, Effects& out);
  void prepareRebalanceOrCompleteJoin(ClassicGroup& group, const Why& why, Effects& out);
  void maybeCompleteJoin(ClassicGroup& group, Effects& out);
  void completeJoin(ClassicGroup& group, Effects& out);
  void answerJoined(ClassicGroup& group, Effects& out);
  void failJoin(ClassicGroup& group, ClassicMember& member, Effects& out);

  // Synchronising.
  void syncCompleting(ClassicGroup& group, const protocol::SyncGroupRequest& request, SyncReply reply, Effects& out);
  Effects onAssignmentWritten(const std::string& groupId, int32_t generation, const std::string& leader,
                              const Assignments& assignments, ErrorCode code);
  void propagate(ClassicGroup& group, ErrorCode error, Effects& out);
  void removePendingSync(ClassicGroup& group, std::string_view memberId, Effects& out);

  // Leaving.
  ErrorCode leaveOne(ClassicGroup& group, const protocol::LeaveGroupRequest::MemberIdentity& identity, Effects& out);
  void removeMember(ClassicGroup& group, const std::string& memberId, Effects& out);

  // Timers.
  void onHeartbeatTimeout(ClassicGroup& group, const std::string& memberId, Effects& out);
  void onJoinTimeout(ClassicGroup& group, Effects& out);
  void onSyncTimeout(ClassicGroup& group, Effects& out);
  /// After its state changed.
  void tellState(const ClassicGroup& group, events::GroupCause cause, std::string_view member = {});
  /// A member goes because it was silent, or took longer than it may.
  void tellMissed(const ClassicGroup& group, const std::string& memberId, events::GroupCause cause,
                  platform::Duration allowed);
  void tellSynced(const ClassicGroup& group, const ClassicMember& member);
  void armHeartbeat(const ClassicGroup& group, ClassicMember& member, Effects& out) const;

  const GroupConfig& config_;
  const platform::Clock& clock_;
  platform::Random& random_;
  platform::Logger& log_;
  GroupTeller teller_;
  std::map<std::string, ClassicGroup, std::less<>> groups_;
  /// What is replayed from now on is news.
  bool loaded_ = false;
};

}  // namespace tidemark::coordinator
