#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "events/text.h"
#include "platform/clock.h"

namespace tidemark::events {

using platform::Duration;
/// Ids of groups and members, cut off behind 30 bytes.
using GroupText = ShortText<32>;
using MemberText = ShortText<32>;

/// The protocol that a group's members follow.
enum class GroupKind : uint8_t { Classic, Consumer, Share, Streams };
std::string_view nameOf(GroupKind value) noexcept;

/// Of a group, as Kafka names them.
enum class GroupState : uint8_t {
  Empty,
  PreparingRebalance,
  CompletingRebalance,
  Stable,
  Dead,
  Assigning,
  Reconciling,
  NotReady
};
std::string_view nameOf(GroupState value) noexcept;

/// Why a group changed, or a member left.
enum class GroupCause : uint8_t {
  Unknown,
  MemberJoined,
  MemberLeft,           ///< it said so
  SessionMissed,        ///< not heard of in time
  RebalanceTimedOut,    ///< did not join again, or give back what it had to, in time
  SyncTimedOut,         ///< did not ask for its assignment in time
  MemberReplaced,       ///< a static member came back under a new id
  SubscriptionChanged,  ///< a member wants other topics, or another assignor
  TopicsChanged,        ///< topics came, went or grew
  AllJoined,            ///< everybody who was waited for is there, or the time was over
  Assigned,             ///< the assignment is made and stored
  Reconciled,           ///< every member has what it is to have
  WriteFailed,          ///< what was decided could not be stored
  Upgraded,             ///< from classic to consumer
  Downgraded,           ///< from consumer to classic
  Loaded,               ///< with more members than are allowed
  Removed,              ///< by an administrator, or fenced; a group also once it has neither members nor offsets
};
std::string_view nameOf(GroupCause value) noexcept;

/// How far a member is in a rebalance.
enum class MemberStep : uint8_t {
  Rejoined,    ///< classic: its JoinGroup has come
  Synced,      ///< classic: it was told what it owns
  Revoking,    ///< consumer: it was asked to give back partitions
  Waiting,     ///< consumer: it has what is free, others still hold the rest
  Reconciled,  ///< consumer: it owns what it is to own
};
std::string_view nameOf(MemberStep value) noexcept;

/// `members`: after the change. `generation`: or group epoch.
struct GroupStateChanged {
  static constexpr std::string_view kName = "GroupStateChanged";
  ShortText<48> group;
  GroupState from{};
  GroupState to{};
  GroupKind kind{};
  GroupCause cause{};
  int32_t generation = 0;
  int32_t members = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("group", group);
    visit("from", from);
    visit("to", to);
    visit("kind", kind);
    visit("cause", cause);
    visit("generation", generation);
    visit("members", members);
  }
};

/// A member is in the group from now on. `epoch`: generation or member epoch.
struct MemberJoined {
  static constexpr std::string_view kName = "MemberJoined";
  GroupText group;
  MemberText member;
  GroupKind kind{};
  bool isStatic = false;
  int32_t epoch = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("group", group);
    visit("member", member);
    visit("kind", kind);
    visit("isStatic", isStatic);
    visit("epoch", epoch);
  }
};

/// A member is no longer in the group. `silent`: since it was last heard of; `allowed`: how long it may be silent, or
/// take. Both zero where nothing was missed.
struct MemberLeft {
  static constexpr std::string_view kName = "MemberLeft";
  GroupText group;
  MemberText member;
  GroupCause cause{};
  Duration silent{};
  Duration allowed{};
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("group", group);
    visit("member", member);
    visit("cause", cause);
    visit("silent", silent);
    visit("allowed", allowed);
  }
};

/// A group is to be distributed anew. `member`: who made it so, or empty. `generation`: the one that ends, or the group
/// epoch to reach.
struct RebalanceStarted {
  static constexpr std::string_view kName = "RebalanceStarted";
  GroupText group;
  MemberText member;
  GroupKind kind{};
  GroupCause cause{};
  int32_t generation = 0;
  int32_t members = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("group", group);
    visit("member", member);
    visit("kind", kind);
    visit("cause", cause);
    visit("generation", generation);
    visit("members", members);
  }
};

/// Every member has what it is to have (or none is left). `took`: since RebalanceStarted.
struct RebalanceCompleted {
  static constexpr std::string_view kName = "RebalanceCompleted";
  GroupText group;
  GroupKind kind{};
  int32_t generation = 0;
  int32_t members = 0;
  Duration took{};
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("group", group);
    visit("kind", kind);
    visit("generation", generation);
    visit("members", members);
    visit("took", took);
  }
};

/// A member took a step in a rebalance. `epoch`: its own; `target`: the one to reach; `partitions`: that it is to
/// give back (Revoking), else that it owns; `took`: since RebalanceStarted.
struct MemberProgressed {
  static constexpr std::string_view kName = "MemberProgressed";
  GroupText group;
  MemberText member;
  MemberStep step{};
  int32_t epoch = 0;
  int32_t target = 0;
  int32_t partitions = 0;
  Duration took{};
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("group", group);
    visit("member", member);
    visit("step", step);
    visit("epoch", epoch);
    visit("target", target);
    visit("partitions", partitions);
    visit("took", took);
  }
};

/// By a group, for one partition.
struct OffsetCommitted {
  static constexpr std::string_view kName = "OffsetCommitted";
  PartitionTag partition;
  ShortText<48> group;
  Offset offset;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("group", group);
    visit("offset", offset);
  }
};

}  // namespace tidemark::events
