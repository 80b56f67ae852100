#include "text/event_words.h"

#include <QCoreApplication>

#include "text/format.h"
#include "theme/theme.h"

namespace tidemark::widgets {
namespace {

using namespace events;  // NOLINT(google-build-using-namespace): each kind of event is named below

struct Words {
  Q_DECLARE_TR_FUNCTIONS(Events)
};

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

template <size_t N>
QString text(const ShortText<N>& value) {
  return fromUtf8(value.view()) + (value.cut() ? QStringLiteral("…") : QString());
}
QString node(NodeId id) {
  return id == kNoNode ? Words::tr("none") : QString::number(id.value());
}
QString nodes(const NodeList& list) {
  return nodesText(list.view());
}
QString broker(NodeId id) {
  return Words::tr("broker %1").arg(node(id));
}

QString cause(ElectionCause value) {
  switch (value) {
    case ElectionCause::Created:
      return Words::tr("partition created");
    case ElectionCause::LeaderFenced:
      return Words::tr("the leader was fenced");
    case ElectionCause::ControlledShutdown:
      return Words::tr("the leader shuts down");
    case ElectionCause::Preferred:
      return Words::tr("preferred replica");
    case ElectionCause::Unclean:
      return Words::tr("unclean: records may be lost");
    case ElectionCause::Returned:
      return Words::tr("an eligible replica came back");
    case ElectionCause::Reassigned:
      return Words::tr("replicas reassigned");
  }
  return {};
}

/// What a reader notices of a wait.
constexpr Duration kNoticed = std::chrono::milliseconds(20);

/// Where one sentence ends and the next begins, as wide as in the table's heads.
const QString& gap() {
  static const QString value = QStringLiteral("   ");
  return value;
}

QString finished(const QString& what, const ClientText& client, int32_t correlation, Duration parkedFor) {
  return what.arg(text(client)).arg(correlation).arg(durationText(parkedFor));
}

QString detailOf(const Payload& payload) {
  return std::visit(
      Overloaded{
          [](const BatchAppended& e) {
            return Words::tr("%1 – %2").arg(offsetText(e.baseOffset), offsetText(e.lastOffset)) + gap() +
                   Words::tr("%n record(s)", nullptr, e.recordCount) + gap() + bytesText(e.sizeInBytes) + gap() +
                   Words::tr("epoch %1").arg(e.epoch.value()) + gap() +
                   (e.asLeader ? Words::tr("as leader") : Words::tr("as follower"));
          },
          [](const SegmentRolled& e) {
            return segmentFileName(e.baseOffset) + gap() +
                   Words::tr("closed %1 with %2")
                       .arg(segmentFileName(e.closedBaseOffset), bytesText(e.closedSizeInBytes));
          },
          [](const SegmentDeleted& e) { return segmentFileName(e.baseOffset) + gap() + bytesText(e.sizeInBytes); },
          [](const IndexEntryAdded& e) {
            return Words::tr("offset %1 at position %2").arg(offsetText(e.offset), grouped(e.position));
          },
          [](const LogStartAdvanced& e) { return Words::tr("%1 → %2").arg(offsetText(e.from), offsetText(e.to)); },
          [](const LogTruncated& e) {
            return Words::tr("%1 → %2").arg(offsetText(e.from), offsetText(e.to)) + gap() +
                   Words::tr("%n record(s) given up", nullptr, static_cast<int>(e.from - e.to));
          },
          [](const LogRecovered& e) {
            return Words::tr("%n segment(s) scanned", nullptr, e.segmentsScanned) + gap() +
                   Words::tr("log end %1").arg(offsetText(e.logEnd)) + gap() +
                   Words::tr("%1 cut off").arg(bytesText(e.removedBytes));
          },
          [](const DuplicateAnswered& e) {
            return Words::tr("producer %1 repeats sequence %2: stands at %3")
                .arg(e.producer.value())
                .arg(e.baseSequence)
                .arg(offsetText(e.baseOffset));
          },
          [](const HighWatermarkAdvanced& e) {
            QString result = Words::tr("%1 → %2").arg(offsetText(e.from), offsetText(e.to));
            if (e.slowest != kNoNode) result += gap() + Words::tr("slowest in-sync replica: %1").arg(node(e.slowest));
            return result;
          },
          [](const IsrShrunk& e) {
            return Words::tr("%1 → %2").arg(nodes(e.before), nodes(e.after)) + gap() +
                   Words::tr("broker %1 last caught up %2").arg(node(e.removed), agoText(e.behindFor)) + gap() +
                   Words::tr("partition epoch %1").arg(e.epoch.value());
          },
          [](const IsrExpanded& e) {
            return Words::tr("%1 → %2").arg(nodes(e.before), nodes(e.after)) + gap() +
                   Words::tr("broker %1 caught up").arg(node(e.added)) + gap() +
                   Words::tr("partition epoch %1").arg(e.epoch.value());
          },
          [](const LeaderElected& e) {
            return Words::tr("leader %1 → %2").arg(node(e.from), node(e.to)) + gap() +
                   Words::tr("epoch %1").arg(e.epoch.value()) + gap() + cause(e.cause);
          },
          [](const BecameLeader& e) {
            return Words::tr("epoch %1 from offset %2").arg(e.epoch.value()).arg(offsetText(e.epochStart));
          },
          [](const BecameFollower& e) {
            return Words::tr("of broker %1").arg(node(e.leader)) + gap() + Words::tr("epoch %1").arg(e.epoch.value()) +
                   gap() + Words::tr("log end %1").arg(offsetText(e.logEnd));
          },
          [](const FollowerFetched& e) {
            return Words::tr("broker %1 from %2").arg(node(e.follower), offsetText(e.fetchOffset)) + gap() +
                   Words::tr("%n record(s) behind", nullptr, static_cast<int>(e.leaderLogEnd - e.fetchOffset));
          },
          [](const ProduceParked& e) {
            return Words::tr("%1, correlation %2: acks=all, waits for HW ≥ %3")
                       .arg(text(e.client))
                       .arg(e.correlation)
                       .arg(offsetText(e.needs)) +
                   gap() + Words::tr("purgatory size %1").arg(e.parkedCount);
          },
          [](const ProduceCompleted& e) {
            return finished(Words::tr("%1, correlation %2: answered after %3"), e.client, e.correlation, e.parkedFor);
          },
          [](const ProduceExpired& e) {
            return finished(Words::tr("%1, correlation %2: timed out after %3"), e.client, e.correlation, e.parkedFor);
          },
          [](const FetchParked& e) {
            return Words::tr("%1, correlation %2: waits for %3 from %4")
                .arg(e.follower == kNoNode ? text(e.client) : broker(e.follower))
                .arg(e.correlation)
                .arg(bytesText(e.minBytes), offsetText(e.needs));
          },
          [](const FetchCompleted& e) {
            return finished(Words::tr("%1, correlation %2: answered after %3"), e.client, e.correlation, e.parkedFor);
          },
          [](const FetchExpired& e) {
            return finished(Words::tr("%1, correlation %2: answered at its time, %3"), e.client, e.correlation,
                            e.parkedFor);
          },
          [](const PreVoteStarted& e) { return Words::tr("epoch stays %1").arg(e.epoch.value()); },
          [](const ElectionStarted& e) { return Words::tr("candidate in epoch %1").arg(e.epoch.value()); },
          [](const VoteGranted& e) {
            return (e.preVote ? Words::tr("pre-vote for %1 in epoch %2") : Words::tr("for %1 in epoch %2"))
                .arg(node(e.candidate))
                .arg(e.epoch.value());
          },
          [](const VoteRefused& e) {
            return (e.preVote ? Words::tr("pre-vote to %1 in epoch %2") : Words::tr("to %1 in epoch %2"))
                .arg(node(e.candidate))
                .arg(e.epoch.value());
          },
          [](const QuorumLeaderChanged& e) {
            return Words::tr("leader %1").arg(node(e.leader)) + gap() + Words::tr("epoch %1").arg(e.epoch.value());
          },
          [](const ControllerActivated& e) { return Words::tr("epoch %1").arg(e.epoch.value()); },
          [](const SnapshotTaken& e) {
            return Words::tr("up to %1").arg(offsetText(e.end)) + gap() + bytesText(e.sizeInBytes);
          },
          [](const BrokerRegistered& e) { return Words::tr("broker epoch %1").arg(grouped(e.epoch.value())); },
          [](const BrokerFenced& e) { return Words::tr("broker epoch %1").arg(grouped(e.epoch.value())); },
          [](const BrokerUnfenced& e) { return Words::tr("broker epoch %1").arg(grouped(e.epoch.value())); },
          [](const BrokerStarted&) { return Words::tr("all roles are up"); },
          [](const BrokerDown& e) {
            switch (e.cause) {
              case DownCause::Stopped:
                return Words::tr("stopped in control");
              case DownCause::Killed:
                return Words::tr("killed");
              case DownCause::InvariantBroken:
                return Words::tr("stopped itself: an invariant was broken");
            }
            return QString();
          },
          [](const BrokerPaused&) { return Words::tr("runs nothing, its sockets stay open"); },
          [](const BrokerResumed&) { return Words::tr("goes on"); },
          [](const ConnectionOpened& e) { return Words::tr("%1 on %2").arg(text(e.address), text(e.listener)); },
          [](const ConnectionIdentified& e) {
            return Words::tr("%1 is %2 %3").arg(text(e.client), text(e.software), text(e.version));
          },
          [](const ConnectionClosed& e) { return text(e.client); },
          [](const TopicCreated& e) {
            return Words::tr("%n partition(s)", nullptr, e.partitions) + gap() +
                   Words::tr("replication factor %1").arg(e.replicationFactor);
          },
          [](const TopicDeleted&) { return QString(); },
          [](const ConfigChanged& e) { return text(e.key); },
          [](const GroupStateChanged& e) {
            return Words::tr("%1: %2 → %3")
                       .arg(text(e.group), fromUtf8(events::nameOf(e.from)), fromUtf8(events::nameOf(e.to))) +
                   gap() + Words::tr("generation %1").arg(e.generation) + gap() +
                   Words::tr("%n member(s)", nullptr, e.members);
          },
          [](const OffsetCommitted& e) { return Words::tr("%1: %2").arg(text(e.group), offsetText(e.offset)); },
          [](const FaultInjected& e) {
            QString what = e.kind == FaultKind::Kill    ? Words::tr("killed by you")
                           : e.kind == FaultKind::Pause ? Words::tr("paused by you")
                                                        : text(e.target);
            return e.duration > Duration::zero() ? Words::tr("%1, for %2").arg(what, durationText(e.duration)) : what;
          },
          [](const FaultHealed& e) { return e.kind == FaultKind::Other ? text(e.target) : Words::tr("healed"); },
          [](const events::InvariantBroken& e) { return text(e.rule); },
      },
      payload);
}

/// The broker an event is about, if it is about one and not about a partition.
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
  if (isOneOf<IsrShrunk, LogTruncated>(payload)) return {StateShape::HalfDisc, p.warn};
  if (isOneOf<IsrExpanded, BrokerUnfenced, BrokerStarted, BrokerResumed, FaultHealed>(payload))
    return {StateShape::Disc, p.ok};
  if (isOneOf<BrokerFenced>(payload)) return {StateShape::BarredRing, p.fenced};
  if (isOneOf<BrokerDown, events::InvariantBroken, ProduceExpired>(payload)) return {StateShape::Cross, p.bad};
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
  if (isOneOf<HighWatermarkAdvanced, ProduceParked, ProduceCompleted, BecameLeader, BecameFollower>(payload))
    return Weight::Frequent;
  if (const auto* elected = std::get_if<LeaderElected>(&payload))
    return elected->cause == ElectionCause::Created ? Weight::Frequent : Weight::Normal;
  if (isOneOf<IsrShrunk, BrokerDown, BrokerFenced, events::InvariantBroken, LogTruncated>(payload))
    return Weight::Grave;
  return Weight::Normal;
}

EventGroup groupOf(const Payload& payload) noexcept {
  if (isOneOf<BatchAppended, SegmentRolled, SegmentDeleted, IndexEntryAdded, LogStartAdvanced, LogTruncated,
              LogRecovered, DuplicateAnswered>(payload))
    return EventGroup::Log;
  if (isOneOf<HighWatermarkAdvanced, IsrShrunk, IsrExpanded, LeaderElected, BecameLeader, BecameFollower,
              FollowerFetched>(payload))
    return EventGroup::Replication;
  if (isOneOf<ProduceParked, ProduceCompleted, ProduceExpired, FetchParked, FetchCompleted, FetchExpired>(payload))
    return EventGroup::Purgatory;
  if (isOneOf<PreVoteStarted, ElectionStarted, VoteGranted, VoteRefused, QuorumLeaderChanged, ControllerActivated,
              SnapshotTaken>(payload))
    return EventGroup::Quorum;
  if (isOneOf<ConnectionOpened, ConnectionIdentified, ConnectionClosed, GroupStateChanged, OffsetCommitted>(payload))
    return EventGroup::Clients;
  if (isOneOf<FaultInjected, FaultHealed>(payload)) return EventGroup::Lab;
  return EventGroup::Brokers;
}

QString nameOf(EventGroup group) {
  switch (group) {
    case EventGroup::Replication:
      return Words::tr("Replication");
    case EventGroup::Log:
      return Words::tr("Log");
    case EventGroup::Purgatory:
      return Words::tr("Purgatory");
    case EventGroup::Quorum:
      return Words::tr("Quorum");
    case EventGroup::Brokers:
      return Words::tr("Brokers and topics");
    case EventGroup::Clients:
      return Words::tr("Clients and groups");
    case EventGroup::Lab:
      return Words::tr("Lab");
  }
  return {};
}

EventWords wordsOf(const observe::ObservedEvent& observed) {
  const Payload& payload = observed.event.payload;
  EventWords words;
  words.group = groupOf(payload);
  words.weight = weightOf(payload);
  const NodeId from = observed.event.broker;
  words.source = words.group == EventGroup::Lab || from == kNoNode ? Words::tr("lab")
                 : byController(payload)                           ? Words::tr("controller %1").arg(from.value())
                                                                   : broker(from);
  words.name = fromUtf8(events::nameOf(payload));
  if (!observed.topic.empty())
    words.where =
        observed.partition.value() < 0 ? fromUtf8(observed.topic) : partitionText({observed.topic, observed.partition});
  else if (const NodeId about = nodeOf(payload); about != kNoNode)
    words.where = broker(about);
  words.detail = detailOf(payload);
  std::tie(words.shape, words.color) = markOf(payload);
  return words;
}

}  // namespace tidemark::widgets
