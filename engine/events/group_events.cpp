#include "events/group_events.h"

namespace tidemark::events {

std::string_view nameOf(GroupKind value) noexcept {
  switch (value) {
    case GroupKind::Classic:
      return "Classic";
    case GroupKind::Consumer:
      return "Consumer";
    case GroupKind::Share:
      return "Share";
    case GroupKind::Streams:
      return "Streams";
  }
  return "?";
}

std::string_view nameOf(GroupState value) noexcept {
  switch (value) {
    case GroupState::Empty:
      return "Empty";
    case GroupState::PreparingRebalance:
      return "PreparingRebalance";
    case GroupState::CompletingRebalance:
      return "CompletingRebalance";
    case GroupState::Stable:
      return "Stable";
    case GroupState::Dead:
      return "Dead";
    case GroupState::Assigning:
      return "Assigning";
    case GroupState::Reconciling:
      return "Reconciling";
    case GroupState::NotReady:
      return "NotReady";
  }
  return "?";
}

std::string_view nameOf(GroupCause value) noexcept {
  switch (value) {
    case GroupCause::Unknown:
      return "Unknown";
    case GroupCause::MemberJoined:
      return "MemberJoined";
    case GroupCause::MemberLeft:
      return "MemberLeft";
    case GroupCause::SessionMissed:
      return "SessionMissed";
    case GroupCause::RebalanceTimedOut:
      return "RebalanceTimedOut";
    case GroupCause::SyncTimedOut:
      return "SyncTimedOut";
    case GroupCause::MemberReplaced:
      return "MemberReplaced";
    case GroupCause::SubscriptionChanged:
      return "SubscriptionChanged";
    case GroupCause::TopicsChanged:
      return "TopicsChanged";
    case GroupCause::AllJoined:
      return "AllJoined";
    case GroupCause::Assigned:
      return "Assigned";
    case GroupCause::Reconciled:
      return "Reconciled";
    case GroupCause::WriteFailed:
      return "WriteFailed";
    case GroupCause::Upgraded:
      return "Upgraded";
    case GroupCause::Downgraded:
      return "Downgraded";
    case GroupCause::Loaded:
      return "Loaded";
    case GroupCause::Removed:
      return "Removed";
  }
  return "?";
}

std::string_view nameOf(MemberStep value) noexcept {
  switch (value) {
    case MemberStep::Rejoined:
      return "Rejoined";
    case MemberStep::Synced:
      return "Synced";
    case MemberStep::Revoking:
      return "Revoking";
    case MemberStep::Waiting:
      return "Waiting";
    case MemberStep::Reconciled:
      return "Reconciled";
  }
  return "?";
}

}  // namespace tidemark::events
