#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "observe/recording.h"

namespace tidemark::widgets {

using GroupTime = platform::WallTime;

/// Something that happened to a group, as its coordinator told it.
struct GroupHappening {
  GroupTime at{};
  /// Its number in the history of the cluster.
  uint64_t event = 0;
  /// Member ids are cut off behind 30 bytes.
  events::Payload what;
};

/// A member's way through one rebalance.
struct RebalanceMember {
  std::string id;
  /// It was not in the group before.
  bool isNew = false;
  /// Classic: its JoinGroup came, its assignment went out. Consumer: it was told to give back, it owns what it is to
  /// own.
  std::optional<GroupTime> rejoined;
  std::optional<GroupTime> synced;
  std::optional<GroupTime> revoking;
  std::optional<GroupTime> reconciled;
  std::optional<GroupTime> left;
  events::GroupCause leftBecause{};
  /// How much later than allowed it was; zero: it was not late.
  platform::Duration late{};
  /// Of the newest step: how many partitions it got, or is to give back.
  int partitions = 0;

  friend bool operator==(const RebalanceMember&, const RebalanceMember&) = default;
};

/// From the moment that a group had to be distributed anew until every member had what it was to have.
struct Rebalance {
  uint64_t event = 0;
  events::GroupKind kind{};
  events::GroupCause cause{};
  /// Who made it so; empty if nobody did.
  std::string by;
  int32_t generation = 0;
  GroupTime began{};
  /// Classic: all that were waited for had joined.
  std::optional<GroupTime> gathered;
  std::optional<GroupTime> completed;
  int32_t completedGeneration = 0;
  /// In the order in which they were heard of.
  std::vector<RebalanceMember> members;

  /// Time that members were without partitions, summed over them. `now` for one that is under way.
  platform::Duration idle(GroupTime now) const;
  friend bool operator==(const Rebalance&, const Rebalance&) = default;
};

struct GroupLagSample {
  GroupTime at{};
  int64_t lag = 0;
};

/// What is remembered of one group.
struct GroupRecord {
  static constexpr size_t kHappenings = 200;
  static constexpr size_t kRebalances = 30;
  /// Oldest first.
  std::deque<GroupHappening> happenings;
  std::deque<Rebalance> rebalances;
  /// About one a second for a minute, by partition.
  std::map<TopicPartition, std::deque<GroupLagSample>> lag;
  /// Since when it is in its state.
  std::optional<GroupTime> inState;
};

/// What the window remembers of the groups: made of events and snapshots alone, bounded. On the window's thread.
class GroupPast {
 public:
  static constexpr int kLagSeconds = 60;

  void clear() { m_groups.clear(); }
  /// What was remembered at a moment of the past.
  static GroupPast until(const observe::Recording& recording, const observe::Recording::Moment& moment);
  /// True if an event of a group was among them.
  bool add(const observe::ClusterSnapshot& cluster, std::span<const observe::ObservedEvent> events);
  /// Null: nothing is known. Events cut ids off behind 30 bytes, so groups that differ only there share a record.
  const GroupRecord* find(std::string_view group) const;

 private:
  GroupRecord& record(std::string_view group);
  bool addEvent(const observe::ObservedEvent& event);
  void sample(const observe::ClusterSnapshot& cluster);

  std::map<std::string, GroupRecord, std::less<>> m_groups;
};

}  // namespace tidemark::widgets
