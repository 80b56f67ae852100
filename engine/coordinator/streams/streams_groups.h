#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/effects.h"
#include "coordinator/group/group_config.h"
#include "coordinator/group/group_snapshot.h"
#include "coordinator/group/group_teller.h"
#include "coordinator/modern/member_state.h"
#include "coordinator/modern/metadata_hash.h"
#include "coordinator/request_info.h"
#include "coordinator/streams/streams_config.h"
#include "coordinator/streams/streams_group.h"
#include "platform/clock.h"
#include "platform/logger.h"
#include "protocol/framing.h"
#include "protocol/generated/streams_group_heartbeat_request.h"
#include "protocol/generated/streams_group_heartbeat_response.h"

namespace tidemark::coordinator {

/// As ListGroups calls the protocol's type.
inline constexpr std::string_view kStreamsProtocolType = "streams";

/// What a heartbeat is answered with, and the topics that its group lacks: the broker creates them.
struct StreamsHeartbeatAnswer {
  protocol::StreamsGroupHeartbeatResponse response;
  std::vector<InternalTopicInfo> topicsToCreate;
};

/// The groups of the streams protocol (KIP-1071) in one shard, and what requests and timers do to them (the rules of
/// Kafka's GroupMetadataManager). No I/O: what is to be done comes back as Effects. What is in the log follows it by
/// replay; what members merely tell (how far they have restored, who asked for a shutdown) and what follows from
/// topics is soft, and a new coordinator learns it from the next heartbeats.
class StreamsGroups {
 public:
  struct Surroundings {
    const GroupConfig& config;
    const StreamsConfigOf& configOf;
    const platform::Clock& clock;
    platform::Logger& log;
    const TopicLookup& topics;
    TopicHashes& hashes;
  };
  explicit StreamsGroups(Surroundings surroundings)
      : around_(surroundings), teller_(events::GroupKind::Streams, surroundings.config.recorder, surroundings.clock) {}

  /// Joins, goes on or leaves. The request was checked by validateHeartbeat(). `before`: records that go first, for
  /// what the group replaces. Errors: GROUP_ID_NOT_FOUND, GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID,
  /// FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID, STREAMS_INVALID_TOPOLOGY, INVALID_REQUEST.
  Effects heartbeat(const RequestInfo& info, const protocol::StreamsGroupHeartbeatRequest& request,
                    std::vector<CoordinatorRecord> before, Reply<StreamsHeartbeatAnswer> reply);
  /// A member's session or its time to give up tasks is over, or a new group has waited long enough.
  Effects onTimeout(const TimerKey& key);

  /// A record of this protocol from the log: the group that it is about. Nothing for any other record.
  Result<std::optional<std::string>> replay(const protocol::FramedRecord& key, std::optional<ByteView> value);
  void onLoaded(Effects& out);
  /// Topics came, went or grew: groups that need them look again at the next heartbeat.
  void onTopicsChanged(const std::set<std::string, std::less<>>& topics);

  const StreamsGroup* find(std::string_view groupId) const;
  const std::map<std::string, StreamsGroup, std::less<>>& all() const noexcept { return groups_; }
  protocol::StreamsGroupDescribeResponse::DescribedGroup describe(std::string_view groupId) const;
  /// Tombstones for all that an empty group has in the log.
  void removeEmpty(std::string_view groupId, Effects& out) const;
  void snapshot(std::vector<GroupSnapshot>& into) const;

 private:
  /// Of a group, not in its log.
  struct Soft {
    std::optional<ConfiguredTopology> configured;
    /// The group's epoch since which its topics are as `configured` has them; nothing: they are to be looked at again.
    std::optional<int32_t> topicsKnownAtEpoch;
    std::map<std::string, MemberTaskOffsets, std::less<>> offsets;
    /// When each member was last heard of.
    std::map<std::string, platform::MonotonicTime, std::less<>> heard;
    std::optional<std::string> shutdownRequestedBy;
    /// Rises whenever a member with an endpoint gets other tasks.
    int32_t endpointEpoch = 0;
    /// The delay before the first assignment runs.
    bool initialDelayRuns = false;
  };
  struct Beat;
  using Answered = Result<StreamsHeartbeatAnswer>;

  Answered leave(const protocol::StreamsGroupHeartbeatRequest& request, Effects& out);
  Answered beat(const RequestInfo& info, const protocol::StreamsGroupHeartbeatRequest& request, Effects& out);
  Result<void> findMember(Beat& beat, Effects& out) const;
  Result<void> findDynamicMember(Beat& beat) const;
  Result<void> findStaticMember(Beat& beat, Effects& out) const;
  void updateMember(Beat& beat, Effects& out) const;
  Result<void> updateTopology(Beat& beat, Effects& out) const;
  Result<void> configure(Beat& beat) const;
  void bumpEpoch(Beat& beat, Effects& out) const;
  void updateTarget(Beat& beat, Effects& out) const;
  Result<void> reconcile(Beat& beat, Effects& out) const;
  StreamsHeartbeatAnswer answerOf(Beat& beat) const;

  /// Makes a target assignment for `members` and the records that say so. The targets by member.
  std::map<std::string, StreamsTasks, std::less<>> assign(
      const StreamsGroup& group, int32_t groupEpoch, const std::map<std::string, StreamsMember, std::less<>>& members,
      const std::map<std::string, StreamsTasks, std::less<>>& before, const Soft& soft,
      const ConfiguredTopology& configured, const StreamsGroupConfig& config,
      std::vector<CoordinatorRecord>& records) const;
  void fence(const StreamsGroup& group, const StreamsMember& member, Effects& out) const;
  Effects assignAfterDelay(const StreamsGroup& group, Soft& soft);
  StreamsGroup& groupOf(const std::string& groupId);
  Result<std::optional<std::string>> apply(const protocol::FramedRecord& key, std::optional<ByteView> value);
  void tellLeft(const std::string& groupId, const StreamsMember& member);
  void tellProgress(const StreamsGroup& group, const StreamsMember& member);
  Result<void> replayGroup(const std::string& groupId, std::optional<ByteView> value);
  Result<void> replayMember(const std::string& groupId, const std::string& memberId, std::optional<ByteView> value);
  Result<void> replayCurrent(const std::string& groupId, const std::string& memberId, std::optional<ByteView> value);

  const Surroundings around_;
  std::map<std::string, StreamsGroup, std::less<>> groups_;
  std::map<std::string, Soft, std::less<>> soft_;
  GroupTeller teller_;
  bool loaded_ = false;
  /// Why the records are written that come next.
  events::GroupCause cause_{};
};

/// INVALID_REQUEST with what is wrong (Kafka's GroupCoordinatorService checks this before it looks for the group).
Result<void> validateHeartbeat(const protocol::StreamsGroupHeartbeatRequest& request);

}  // namespace tidemark::coordinator
