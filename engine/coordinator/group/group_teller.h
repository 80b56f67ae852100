#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "events/group_events.h"
#include "events/recorder.h"
#include "platform/clock.h"

namespace tidemark::coordinator {

/// Tells whoever looks what the groups of one kind in a shard do. Keeps when a rebalance began, nothing else.
class GroupTeller {
 public:
  /// `recorder` may be null.
  GroupTeller(events::GroupKind kind, events::Recorder* recorder, const platform::Clock& clock)
      : kind_(kind), recorder_(recorder), clock_(clock) {}

  /// A group has come from one state to another, because of `member` if not empty. A rebalance begins where it leaves
  /// Stable or Empty, and is complete where it comes back there.
  struct State {
    std::string_view group;
    events::GroupState from{};
    events::GroupState to{};
    events::GroupCause cause{};
    std::string_view member;
    int32_t generation = 0;
    size_t members = 0;
  };
  void state(const State& change);
  void joined(std::string_view group, std::string_view member, bool isStatic, int32_t epoch);
  void left(std::string_view group, std::string_view member, events::GroupCause cause,
            platform::Duration silent = platform::Duration::zero(),
            platform::Duration allowed = platform::Duration::zero());
  void progressed(std::string_view group, std::string_view member, events::MemberStep step, int32_t epoch,
                  int32_t target, int32_t partitions);
  /// The group is no more, or is no longer of this kind.
  void forget(std::string_view group);
  /// A group without members is forgotten, and what is called so later begins anew.
  void removed(std::string_view group, int32_t generation);

 private:
  bool looks() const noexcept {
    return recorder_ != nullptr &&
           recorder_->wants<events::GroupStateChanged, events::MemberJoined, events::MemberLeft,
                            events::RebalanceStarted, events::RebalanceCompleted, events::MemberProgressed>();
  }
  platform::Duration sinceStart(std::string_view group) const;

  const events::GroupKind kind_;
  events::Recorder* const recorder_;
  const platform::Clock& clock_;
  /// When the rebalance that runs in a group began.
  std::map<std::string, platform::MonotonicTime, std::less<>> began_;
};

}  // namespace tidemark::coordinator
