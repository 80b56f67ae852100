#include "faults/tellers.h"

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

#include "events/event.h"

namespace tidemark::faults {
namespace {

template <class Kind, class... Kinds>
concept OneOf = (std::same_as<Kind, Kinds> || ...);

/// What only the quorum's voters and their leader know.
template <class Kind>
concept OfControllers =
    OneOf<Kind, events::PreVoteStarted, events::ElectionStarted, events::VoteGranted, events::VoteRefused,
          events::ControllerActivated, events::BrokerRegistered, events::BrokerFenced, events::BrokerUnfenced,
          events::LeaderElected, events::TopicCreated, events::TopicDeleted>;

/// What every process has, its copy of the metadata log included, or is told of it.
template <class Kind>
concept OfNodes =
    OneOf<Kind, events::QuorumLeaderChanged, events::SnapshotTaken, events::BrokerStarted, events::BrokerDown,
          events::BrokerPaused, events::BrokerResumed, events::ConnectionOpened, events::ConnectionIdentified,
          events::ConnectionClosed, events::BatchAppended, events::SegmentRolled, events::SegmentDeleted,
          events::IndexEntryAdded, events::LogStartAdvanced, events::LogTruncated, events::LogRecovered, events::LogCut,
          events::RecoveryProgressed, events::LogDirectoryFailed, events::HighWatermarkAdvanced>;

template <class Kind>
concept OfTheLab = OneOf<Kind, events::FaultInjected, events::FaultHealed>;

/// Kinds that recordings may hold and the engine does not tell.
template <class Kind>
concept OfNobody = OneOf<Kind, events::ConfigChanged, events::InvariantBroken>;

template <class Kind>
constexpr Tellers tellers() noexcept {
  if constexpr (OfNobody<Kind>) return kNobodyTells;
  if constexpr (OfTheLab<Kind>) return kLabTells;
  if constexpr (OfControllers<Kind>) return kControllersTell;
  if constexpr (OfNodes<Kind>) return kNodesTell;
  // Replicas, requests that wait, groups and transactions.
  return kBrokersTell;
}

template <class Kind>
constexpr bool isAboutOne() noexcept {
  return requires(const Kind& kind) {
    { kind.partition } -> std::convertible_to<events::PartitionTag>;
  };
}

/// What `ask` says of the kind of that name.
template <class Answer, class Ask>
Answer ofKind(std::string_view name, Answer otherwise, const Ask& ask) noexcept {
  Answer answer = otherwise;
  [&]<size_t... I>(std::index_sequence<I...>) {
    ((std::variant_alternative_t<I, events::Payload>::kName == name
          ? void(answer = ask(std::type_identity<std::variant_alternative_t<I, events::Payload>>()))
          : void()),
     ...);
  }(std::make_index_sequence<std::variant_size_v<events::Payload>>());
  return answer;
}

}  // namespace

Tellers tellersOf(std::string_view event) noexcept {
  return ofKind(event, kNobodyTells, []<class Kind>(std::type_identity<Kind>) { return tellers<Kind>(); });
}

bool isAboutPartition(std::string_view event) noexcept {
  return ofKind(event, false, []<class Kind>(std::type_identity<Kind>) { return isAboutOne<Kind>(); });
}

}  // namespace tidemark::faults
