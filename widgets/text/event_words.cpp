#include "text/event_words.h"

#include <QCoreApplication>

#include "text/format.h"
#include "text/node_words.h"
#include "theme/theme.h"

// Where an event comes from, how much it wants to be seen, how it is marked.

namespace tidemark::widgets {
namespace {

using namespace events;  // NOLINT(google-build-using-namespace): each kind of event is named below

struct EventHeads {
  Q_DECLARE_TR_FUNCTIONS(Events)
};

/// What a reader notices of a wait.
constexpr Duration kNoticed = std::chrono::milliseconds(20);

/// The node an event is about, if it is about one and not about a partition.
NodeId nodeOf(const Payload& payload) {
  return std::visit(
      []<class Kind>(const Kind& kind) -> NodeId {
        if constexpr (requires { kind.node; })
          return kind.node;
        else
          return kNoNode;
      },
      payload);
}

template <class... Kinds>
bool isOneOf(const Payload& payload) noexcept {
  return (std::holds_alternative<Kinds>(payload) || ...);
}

bool byController(const Payload& payload) noexcept {
  return isOneOf<LeaderElected, BrokerRegistered, BrokerFenced, BrokerUnfenced, PreVoteStarted, ElectionStarted,
                 VoteGranted, VoteRefused, QuorumLeaderChanged, ControllerActivated, SnapshotTaken, TopicCreated,
                 TopicDeleted, ConfigChanged>(payload);
}

std::pair<StateShape, QColor> markOf(const Payload& payload) {
  const Palette& p = colors();
  if (isOneOf<LeaderElected, BecameLeader>(payload)) return {StateShape::Crown, p.leaderCrown};
  if (isOneOf<QuorumLeaderChanged, ControllerActivated>(payload)) return {StateShape::Crown, p.controllerCrown};
  if (isOneOf<IsrShrunk, LogTruncated, LogDiverged>(payload)) return {StateShape::HalfDisc, p.warn};
  if (isOneOf<IsrExpanded, BrokerUnfenced, BrokerStarted, BrokerResumed, FaultHealed>(payload))
    return {StateShape::Disc, p.ok};
  if (isOneOf<BrokerFenced>(payload)) return {StateShape::BarredRing, p.fenced};
  if (isOneOf<BrokerDown, events::InvariantBroken, ProduceExpired, RecordsLost, LogDirectoryFailed>(payload))
    return {StateShape::Cross, p.bad};
  if (isOneOf<ProducerFenced>(payload)) return {StateShape::BarredRing, p.fenced};
  if (const auto* marker = std::get_if<MarkerWritten>(&payload))
    return marker->committed ? std::pair{StateShape::Lozenge, p.ok} : std::pair{StateShape::Cross, p.bad};
  if (isOneOf<TransactionOpened>(payload)) return {StateShape::Ring, p.highWatermark};
  if (isOneOf<BrokerPaused>(payload)) return {StateShape::Bars, p.warn};
  if (isOneOf<FaultInjected>(payload)) return {StateShape::Triangle, p.fault};
  if (isOneOf<HighWatermarkAdvanced>(payload)) return {StateShape::Disc, p.highWatermark};
  if (isOneOf<ProduceParked, ProduceCompleted>(payload)) return {StateShape::ClockRing, p.highWatermark};
  if (isOneOf<FetchParked, FetchCompleted, FetchExpired>(payload)) return {StateShape::ClockRing, p.ring};
  if (isOneOf<SegmentRolled, SegmentDeleted>(payload)) return {StateShape::Square, p.violet};
  if (isOneOf<PreVoteStarted, ElectionStarted, VoteGranted, VoteRefused>(payload)) return {StateShape::Ring, p.ring};
  if (isOneOf<SnapshotTaken>(payload)) return {StateShape::Lozenge, p.violet};
  if (isOneOf<BatchAppended, FollowerFetched, IndexEntryAdded>(payload)) return {StateShape::Disc, p.arrow};
  return {StateShape::Disc, p.muted};
}

}  // namespace

Weight weightOf(const Payload& payload) noexcept {
  if (isOneOf<BatchAppended, IndexEntryAdded, FollowerFetched, FetchParked, FetchCompleted, FetchExpired,
              OffsetCommitted>(payload))
    return Weight::Chatty;
  // An answer that nobody had to wait for is no news.
  if (const auto* answered = std::get_if<ProduceCompleted>(&payload); answered && answered->parkedFor < kNoticed)
    return Weight::Chatty;
  if (isOneOf<HighWatermarkAdvanced, ProduceParked, ProduceCompleted, BecameLeader, BecameFollower, TransactionOpened,
              MarkerWritten>(payload))
    return Weight::Frequent;
  if (isOneOf<IsrShrunk, BrokerDown, BrokerFenced, events::InvariantBroken, LogCut, LogTruncated, LogDiverged,
              RecordsLost, LogDirectoryFailed>(payload))
    return Weight::Grave;
  return Weight::Normal;
}

EventGroup groupOf(const Payload& payload) noexcept {
  if (isOneOf<BatchAppended, SegmentRolled, SegmentDeleted, IndexEntryAdded, LogStartAdvanced, LogTruncated,
              LogRecovered, LogCut, RecoveryProgressed, LogDirectoryFailed, DuplicateAnswered, TransactionOpened,
              MarkerWritten, ProducerFenced, CleanerPassStarted, CleanerPassFinished, CleanerSetAside>(payload))
    return EventGroup::Log;
  if (isOneOf<HighWatermarkAdvanced, IsrShrunk, IsrExpanded, LeaderElected, BecameLeader, BecameFollower, RecordsLost,
              LogDiverged, FollowerFetched, ReplicaMoveStarted, ReplicaMoved, ReplicaMoveCancelled>(payload))
    return EventGroup::Replication;
  if (isOneOf<ProduceParked, ProduceCompleted, ProduceExpired, FetchParked, FetchCompleted, FetchExpired>(payload))
    return EventGroup::Purgatory;
  if (isOneOf<PreVoteStarted, ElectionStarted, VoteGranted, VoteRefused, QuorumLeaderChanged, ControllerActivated,
              SnapshotTaken>(payload))
    return EventGroup::Quorum;
  if (isOneOf<ConnectionOpened, ConnectionIdentified, ConnectionClosed, GroupStateChanged, MemberJoined, MemberLeft,
              RebalanceStarted, RebalanceCompleted, MemberProgressed, OffsetCommitted, TransactionStateChanged>(
          payload))
    return EventGroup::Clients;
  if (isOneOf<FaultInjected, FaultHealed>(payload)) return EventGroup::Lab;
  return EventGroup::Brokers;
}

QString nameOf(EventGroup group) {
  switch (group) {
    case EventGroup::Replication:
      return EventHeads::tr("Replication");
    case EventGroup::Log:
      return EventHeads::tr("Log");
    case EventGroup::Purgatory:
      return EventHeads::tr("Purgatory");
    case EventGroup::Quorum:
      return EventHeads::tr("Quorum");
    case EventGroup::Brokers:
      return EventHeads::tr("Brokers and topics");
    case EventGroup::Clients:
      return EventHeads::tr("Clients and groups");
    case EventGroup::Lab:
      return EventHeads::tr("Lab");
  }
  return {};
}

EventWords wordsOf(const observe::ObservedEvent& observed, const observe::ClusterSnapshot& cluster) {
  const Payload& payload = observed.event.payload;
  EventWords words;
  words.group = groupOf(payload);
  words.weight = weightOf(payload);
  const NodeId from = observed.event.broker;
  words.source = words.group == EventGroup::Lab || from == kNoNode ? EventHeads::tr("lab")
                 : byController(payload)                           ? EventHeads::tr("controller %1").arg(from.value())
                                                                   : nodeText(cluster, from);
  words.name = fromUtf8(events::nameOf(payload));
  if (!observed.topic.empty())
    words.where =
        observed.partition.value() < 0 ? fromUtf8(observed.topic) : partitionText({observed.topic, observed.partition});
  else if (const NodeId about = nodeOf(payload); about != kNoNode)
    words.where = nodeText(cluster, about);
  words.detail = detailOf(payload);
  std::tie(words.shape, words.color) = markOf(payload);
  return words;
}

}  // namespace tidemark::widgets
