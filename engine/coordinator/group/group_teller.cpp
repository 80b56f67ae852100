#include "coordinator/group/group_teller.h"

namespace tidemark::coordinator {
namespace {

bool isAtRest(events::GroupState state) noexcept {
  return state == events::GroupState::Stable || state == events::GroupState::Empty || state == events::GroupState::Dead;
}

}  // namespace

void GroupTeller::state(const State& change) {
  const auto members = static_cast<int32_t>(change.members);
  if (looks()) {
    recorder_->emit(events::GroupStateChanged{.group = change.group,
                                              .from = change.from,
                                              .to = change.to,
                                              .kind = kind_,
                                              .cause = change.cause,
                                              .generation = change.generation,
                                              .members = members});
  }
  if (!isAtRest(change.to)) {
    if (!began_.try_emplace(std::string(change.group), clock_.monotonic()).second || !looks()) return;
    recorder_->emit(events::RebalanceStarted{.group = change.group,
                                             .member = change.member,
                                             .kind = kind_,
                                             .cause = change.cause,
                                             .generation = change.generation,
                                             .members = members});
    return;
  }
  const auto began = began_.find(change.group);
  if (began == began_.end()) return;
  if (looks()) {
    recorder_->emit(events::RebalanceCompleted{.group = change.group,
                                               .kind = kind_,
                                               .generation = change.generation,
                                               .members = members,
                                               .took = clock_.monotonic() - began->second});
  }
  began_.erase(began);
}

void GroupTeller::joined(std::string_view group, std::string_view member, bool isStatic, int32_t epoch) {
  if (!looks()) return;
  recorder_->emit(
      events::MemberJoined{.group = group, .member = member, .kind = kind_, .isStatic = isStatic, .epoch = epoch});
}

void GroupTeller::left(std::string_view group, std::string_view member, events::GroupCause cause,
                       platform::Duration silent, platform::Duration allowed) {
  if (!looks()) return;
  recorder_->emit(
      events::MemberLeft{.group = group, .member = member, .cause = cause, .silent = silent, .allowed = allowed});
}

void GroupTeller::progressed(std::string_view group, std::string_view member, events::MemberStep step, int32_t epoch,
                             int32_t target, int32_t partitions) {
  if (!looks()) return;
  recorder_->emit(events::MemberProgressed{.group = group,
                                           .member = member,
                                           .step = step,
                                           .epoch = epoch,
                                           .target = target,
                                           .partitions = partitions,
                                           .took = sinceStart(group)});
}

void GroupTeller::removed(std::string_view group, int32_t generation) {
  state({.group = group,
         .from = events::GroupState::Empty,
         .to = events::GroupState::Dead,
         .cause = events::GroupCause::Removed,
         .member = {},
         .generation = generation,
         .members = 0});
}

void GroupTeller::forget(std::string_view group) {
  if (const auto found = began_.find(group); found != began_.end()) began_.erase(found);
}

platform::Duration GroupTeller::sinceStart(std::string_view group) const {
  const auto found = began_.find(group);
  return found == began_.end() ? platform::Duration::zero() : clock_.monotonic() - found->second;
}

}  // namespace tidemark::coordinator
