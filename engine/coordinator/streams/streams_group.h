#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error_code.h"
#include "base/result.h"
#include "coordinator/streams/configured_topology.h"
#include "coordinator/streams/reconciliation.h"
#include "coordinator/streams/streams_member.h"
#include "coordinator/streams/streams_records.h"
#include "coordinator/streams/topology.h"
#include "protocol/generated/streams_group_describe_response.h"

namespace tidemark::coordinator {

/// Where a streams group stands. It follows from its records; there are no transitions to guard.
enum class StreamsState : uint8_t {
  /// No members.
  Empty,
  /// Its topics do not allow an assignment: source or internal topics are missing or wrongly partitioned.
  NotReady,
  /// Its epoch is ahead of the target assignment's.
  Assigning,
  /// Members have yet to follow the target assignment.
  Reconciling,
  Stable,
};
/// Kafka's name ("NotReady").
std::string_view stateName(StreamsState state) noexcept;

/// How far the state of a member's tasks is restored, by what it said last (changelog offsets, summed by task).
struct MemberTaskOffsets {
  std::map<TaskId, int64_t> offsets;
  std::map<TaskId, int64_t> endOffsets;
};

/// A streams group as its records say (Kafka's StreamsGroup). Changed by replay only; owned by StreamsGroups.
class StreamsGroup {
 public:
  explicit StreamsGroup(std::string id) : id_(std::move(id)) {}

  const std::string& id() const noexcept { return id_; }
  StreamsState state() const noexcept;
  bool isEmpty() const noexcept { return members_.empty(); }
  const StreamsGroupFacts& facts() const noexcept { return facts_; }
  int32_t epoch() const noexcept { return facts_.epoch; }
  const std::optional<StreamsTopology>& topology() const noexcept { return topology_; }
  /// −1 without one.
  int32_t topologyEpoch() const noexcept { return topology_ ? topology_->epoch : -1; }
  int32_t assignmentEpoch() const noexcept { return assignmentEpoch_; }
  /// When the assignment was made; 0: at once if one is wanted.
  int64_t assignmentTimestampMs() const noexcept { return assignmentTimestampMs_; }
  const std::map<std::string, StreamsTasks, std::less<>>& targets() const noexcept { return targets_; }
  /// Nothing for a member that has none.
  const StreamsTasks& target(std::string_view memberId) const;
  const std::map<std::string, StreamsMember, std::less<>>& members() const noexcept { return members_; }
  const StreamsMember* member(std::string_view memberId) const;
  /// By its `group.instance.id`.
  const StreamsMember* staticMember(std::string_view instanceId) const;
  const TaskOwners& owners() const noexcept { return owners_; }

  void setFacts(StreamsGroupFacts facts) { facts_ = std::move(facts); }
  void setTopology(std::optional<StreamsTopology> topology) { topology_ = std::move(topology); }
  void setAssignmentEpoch(int32_t epoch, int64_t timestampMs);
  void setTarget(const std::string& memberId, std::optional<StreamsTasks> target);
  void putMember(StreamsMember member);
  void removeMember(std::string_view memberId);

  /// A commit for these partitions: None, UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, UNSUPPORTED_VERSION. One of an epoch
  /// that has passed is still taken for tasks that the member has had since then (KIP-1251).
  ErrorCode validateCommit(std::string_view memberId, std::optional<std::string_view> instanceId, int32_t memberEpoch,
                           bool transactional, int16_t apiVersion,
                           const std::vector<std::pair<std::string_view, int32_t>>& partitions) const;
  ErrorCode validateFetch(const std::optional<protocol::Text>& memberId, int32_t memberEpoch) const;
  /// While it has members, offsets of what it reads are kept.
  bool isSubscribedTo(std::string_view topic) const { return !isEmpty() && topology_ && topology_->readerOf(topic); }

  protocol::StreamsGroupDescribeResponse::DescribedGroup described(
      const std::optional<ConfiguredTopology>& configured,
      const std::map<std::string, MemberTaskOffsets, std::less<>>& offsets) const;

 private:
  const std::string id_;
  StreamsGroupFacts facts_;
  std::optional<StreamsTopology> topology_;
  int32_t assignmentEpoch_ = 1;
  int64_t assignmentTimestampMs_ = 0;
  std::map<std::string, StreamsTasks, std::less<>> targets_;
  std::map<std::string, StreamsMember, std::less<>> members_;
  /// Instance id → member id.
  std::map<std::string, std::string, std::less<>> static_;
  TaskOwners owners_;
};

}  // namespace tidemark::coordinator
