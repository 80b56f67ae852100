#include "text/event_words.h"

#include <QCoreApplication>

#include "text/format.h"

// What each kind of event says.

namespace tidemark::widgets {
namespace {

using namespace events;  // NOLINT(google-build-using-namespace): each kind of event is named below

struct EventNames {
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
  return id == kNoNode ? EventNames::tr("none") : QString::number(id.value());
}
QString nodes(const NodeList& list) {
  return nodesText(list.view());
}
QString broker(NodeId id) {
  return EventNames::tr("broker %1").arg(node(id));
}

QString cause(ElectionCause value) {
  switch (value) {
    case ElectionCause::Created:
      return EventNames::tr("partition created");
    case ElectionCause::LeaderFenced:
      return EventNames::tr("the leader was fenced");
    case ElectionCause::ControlledShutdown:
      return EventNames::tr("the leader shuts down");
    case ElectionCause::Preferred:
      return EventNames::tr("preferred replica");
    case ElectionCause::Unclean:
      return EventNames::tr("unclean: records may be lost");
    case ElectionCause::Returned:
      return EventNames::tr("an eligible replica came back");
    case ElectionCause::Reassigned:
      return EventNames::tr("replicas reassigned");
    case ElectionCause::LastLeader:
      return EventNames::tr("the last leader came back: records may be lost");
  }
  return {};
}

QString cause(GroupCause value) {
  switch (value) {
    case GroupCause::Unknown:
      break;
    case GroupCause::MemberJoined:
      return EventNames::tr("a member joined");
    case GroupCause::MemberLeft:
      return EventNames::tr("a member left");
    case GroupCause::SessionMissed:
      return EventNames::tr("session missed");
    case GroupCause::RebalanceTimedOut:
      return EventNames::tr("too late for the rebalance");
    case GroupCause::SyncTimedOut:
      return EventNames::tr("did not synchronise in time");
    case GroupCause::MemberReplaced:
      return EventNames::tr("a static member came back");
    case GroupCause::SubscriptionChanged:
      return EventNames::tr("a subscription changed");
    case GroupCause::TopicsChanged:
      return EventNames::tr("topics changed");
    case GroupCause::AllJoined:
      return EventNames::tr("all have joined");
    case GroupCause::Assigned:
      return EventNames::tr("assigned");
    case GroupCause::Reconciled:
      return EventNames::tr("all own what they are to own");
    case GroupCause::WriteFailed:
      return EventNames::tr("the assignment could not be stored");
    case GroupCause::Upgraded:
      return EventNames::tr("upgraded to the consumer protocol");
    case GroupCause::Downgraded:
      return EventNames::tr("downgraded to the classic protocol");
    case GroupCause::Loaded:
      return EventNames::tr("loaded with too many members");
    case GroupCause::Removed:
      return EventNames::tr("removed");
  }
  return EventNames::tr("cause unknown");
}

QString step(MemberStep value) {
  switch (value) {
    case MemberStep::Rejoined:
      return EventNames::tr("joined");
    case MemberStep::Synced:
      return EventNames::tr("was given its assignment");
    case MemberStep::Revoking:
      return EventNames::tr("is to give back");
    case MemberStep::Waiting:
      return EventNames::tr("waits for others to give back");
    case MemberStep::Reconciled:
      return EventNames::tr("owns what it is to own");
  }
  return {};
}

/// Where one sentence ends and the next begins, as wide as in the table's heads.
const QString& gap() {
  static const QString value = QStringLiteral("   ");
  return value;
}

QString finished(const QString& what, const ClientText& client, int32_t correlation, Duration parkedFor) {
  return what.arg(text(client)).arg(correlation).arg(durationText(parkedFor));
}

}  // namespace

QString detailOf(const Payload& payload) {
  return std::visit(
      Overloaded{
          [](const BatchAppended& e) {
            return EventNames::tr("%1 – %2").arg(offsetText(e.baseOffset), offsetText(e.lastOffset)) + gap() +
                   EventNames::tr("%n record(s)", nullptr, e.recordCount) + gap() + bytesText(e.sizeInBytes) + gap() +
                   EventNames::tr("epoch %1").arg(e.epoch.value()) + gap() +
                   (e.asLeader ? EventNames::tr("as leader") : EventNames::tr("as follower"));
          },
          [](const SegmentRolled& e) {
            return segmentFileName(e.baseOffset) + gap() +
                   EventNames::tr("closed %1 with %2")
                       .arg(segmentFileName(e.closedBaseOffset), bytesText(e.closedSizeInBytes));
          },
          [](const SegmentDeleted& e) { return segmentFileName(e.baseOffset) + gap() + bytesText(e.sizeInBytes); },
          [](const IndexEntryAdded& e) {
            return EventNames::tr("offset %1 at position %2").arg(offsetText(e.offset), grouped(e.position));
          },
          [](const LogStartAdvanced& e) { return EventNames::tr("%1 → %2").arg(offsetText(e.from), offsetText(e.to)); },
          [](const LogTruncated& e) {
            return EventNames::tr("%1 → %2").arg(offsetText(e.from), offsetText(e.to)) + gap() +
                   EventNames::tr("%n record(s) given up", nullptr, static_cast<int>(e.from - e.to));
          },
          [](const LogRecovered& e) {
            return EventNames::tr("%n segment(s) scanned", nullptr, e.segmentsScanned) + gap() +
                   EventNames::tr("log end %1").arg(offsetText(e.logEnd)) + gap() +
                   EventNames::tr("%1 cut off").arg(bytesText(e.removedBytes));
          },
          [](const LogCut& e) {
            const QString file =
                EventNames::tr("%1 from byte %2 on").arg(segmentFileName(e.segmentBaseOffset), grouped(e.position));
            const QString offsets =
                e.lastOffset < e.from
                    ? EventNames::tr("offsets from %1 on").arg(offsetText(e.from))
                    : EventNames::tr("offsets %1 to %2 at least").arg(offsetText(e.from), offsetText(e.lastOffset));
            return file + gap() + EventNames::tr("%1 given up").arg(bytesText(e.bytes)) + gap() + offsets + gap() +
                   text(e.reason);
          },
          [](const RecoveryProgressed& e) {
            return EventNames::tr("%1 logs of %2 left").arg(e.remainingLogs).arg(text(e.directory)) + gap() +
                   EventNames::tr("thread %1: %2 segments left").arg(e.thread).arg(e.remainingSegments);
          },
          [](const LogDirectoryFailed& e) { return text(e.directory) + gap() + text(e.reason); },
          [](const DuplicateAnswered& e) {
            return EventNames::tr("producer %1 repeats sequence %2: stands at %3")
                .arg(e.producer.value())
                .arg(e.baseSequence)
                .arg(offsetText(e.baseOffset));
          },
          [](const TransactionOpened& e) {
            return EventNames::tr("producer %1, epoch %2: from %3 on")
                .arg(e.producer.value())
                .arg(e.epoch.value())
                .arg(offsetText(e.first));
          },
          [](const MarkerWritten& e) {
            const QString what = e.committed ? EventNames::tr("COMMIT at %1").arg(offsetText(e.marker))
                                             : EventNames::tr("ABORT at %1").arg(offsetText(e.marker));
            return EventNames::tr("producer %1, epoch %2: %3").arg(e.producer.value()).arg(e.epoch.value()).arg(what) +
                   gap() + EventNames::tr("from %1 on").arg(offsetText(e.first)) + gap() +
                   EventNames::tr("LSO %1").arg(offsetText(e.lastStable));
          },
          [](const ProducerFenced& e) {
            return EventNames::tr("producer %1, epoch %2 is fenced: INVALID_PRODUCER_EPOCH, nothing appended")
                .arg(e.producer.value())
                .arg(e.epoch.value());
          },
          [](const CleanerPassStarted& e) {
            return EventNames::tr("dirty from %1 to %2").arg(offsetText(e.firstDirty), offsetText(e.firstUncleanable)) +
                   gap() + EventNames::tr("%1 clean, %2 dirty").arg(bytesText(e.cleanBytes), bytesText(e.dirtyBytes));
          },
          [](const CleanerPassFinished& e) {
            return EventNames::tr("clean up to %1").arg(offsetText(e.endOffset)) + gap() +
                   EventNames::tr("%1 of %2 records kept").arg(grouped(e.recordsKept), grouped(e.recordsRead)) + gap() +
                   EventNames::tr("%1 → %2").arg(bytesText(e.bytesBefore), bytesText(e.bytesAfter)) + gap() +
                   EventNames::tr("tombstones: %1 wait, %2 went")
                       .arg(grouped(e.tombstonesKept), grouped(e.tombstonesDropped));
          },
          [](const CleanerSetAside& e) { return text(e.reason); },
          [](const ReplicaMoveStarted& e) { return EventNames::tr("%1 → %2").arg(text(e.from), text(e.to)); },
          [](const ReplicaMoved& e) {
            return EventNames::tr("%1 → %2").arg(text(e.from), text(e.to)) + gap() +
                   EventNames::tr("log end %1").arg(offsetText(e.logEnd));
          },
          [](const ReplicaMoveCancelled& e) {
            return EventNames::tr("to %1").arg(text(e.to)) + gap() + text(e.reason);
          },
          [](const HighWatermarkAdvanced& e) {
            QString result = EventNames::tr("%1 → %2").arg(offsetText(e.from), offsetText(e.to));
            if (e.slowest != kNoNode)
              result += gap() + EventNames::tr("slowest in-sync replica: %1").arg(node(e.slowest));
            return result;
          },
          [](const IsrShrunk& e) {
            return EventNames::tr("%1 → %2").arg(nodes(e.before), nodes(e.after)) + gap() +
                   EventNames::tr("broker %1 last caught up %2").arg(node(e.removed), agoText(e.behindFor)) + gap() +
                   EventNames::tr("partition epoch %1").arg(e.epoch.value());
          },
          [](const IsrExpanded& e) {
            return EventNames::tr("%1 → %2").arg(nodes(e.before), nodes(e.after)) + gap() +
                   EventNames::tr("broker %1 caught up").arg(node(e.added)) + gap() +
                   EventNames::tr("partition epoch %1").arg(e.epoch.value());
          },
          [](const LeaderElected& e) {
            return EventNames::tr("leader %1 → %2").arg(node(e.from), node(e.to)) + gap() +
                   EventNames::tr("epoch %1").arg(e.epoch.value()) + gap() + cause(e.cause);
          },
          [](const RecordsLost& e) {
            const QString under =
                gap() + EventNames::tr("leader %1, epoch %2").arg(node(e.leader)).arg(e.epoch.value());
            if (e.to == kNoOffset)
              return EventNames::tr("whatever others held from %1 on").arg(offsetText(e.from)) + under;
            // Others may have known of more.
            return EventNames::tr("gives up %1 – %2, which it knew as committed")
                       .arg(offsetText(e.from), offsetText(e.to - 1)) +
                   gap() + EventNames::tr("%n record(s)", nullptr, static_cast<int>(e.to - e.from)) + under;
          },
          [](const LogDiverged& e) {
            return EventNames::tr("with leader %1, epoch %2 ends at %3")
                       .arg(QString::number(e.leader.value()), QString::number(e.inEpoch.value()),
                            offsetText(e.leaderEnd)) +
                   gap() + EventNames::tr("gives up %1 → %2").arg(offsetText(e.from), offsetText(e.logEnd));
          },
          [](const BecameLeader& e) {
            return EventNames::tr("epoch %1 from offset %2").arg(e.epoch.value()).arg(offsetText(e.epochStart));
          },
          [](const BecameFollower& e) {
            return EventNames::tr("of broker %1").arg(node(e.leader)) + gap() +
                   EventNames::tr("epoch %1").arg(e.epoch.value()) + gap() +
                   EventNames::tr("log end %1").arg(offsetText(e.logEnd));
          },
          [](const FollowerFetched& e) {
            return EventNames::tr("broker %1 from %2").arg(node(e.follower), offsetText(e.fetchOffset)) + gap() +
                   EventNames::tr("%n record(s) behind", nullptr, static_cast<int>(e.leaderLogEnd - e.fetchOffset));
          },
          [](const ProduceParked& e) {
            return EventNames::tr("%1, correlation %2: acks=all, waits for HW ≥ %3")
                       .arg(text(e.client))
                       .arg(e.correlation)
                       .arg(offsetText(e.needs)) +
                   gap() + EventNames::tr("purgatory size %1").arg(e.parkedCount);
          },
          [](const ProduceCompleted& e) {
            return finished(EventNames::tr("%1, correlation %2: answered after %3"), e.client, e.correlation,
                            e.parkedFor);
          },
          [](const ProduceExpired& e) {
            return finished(EventNames::tr("%1, correlation %2: timed out after %3"), e.client, e.correlation,
                            e.parkedFor);
          },
          [](const FetchParked& e) {
            return EventNames::tr("%1, correlation %2: waits for %3 from %4")
                .arg(e.follower == kNoNode ? text(e.client) : broker(e.follower))
                .arg(e.correlation)
                .arg(bytesText(e.minBytes), offsetText(e.needs));
          },
          [](const FetchCompleted& e) {
            return finished(EventNames::tr("%1, correlation %2: answered after %3"), e.client, e.correlation,
                            e.parkedFor);
          },
          [](const FetchExpired& e) {
            return finished(EventNames::tr("%1, correlation %2: answered at its time, %3"), e.client, e.correlation,
                            e.parkedFor);
          },
          [](const PreVoteStarted& e) { return EventNames::tr("epoch stays %1").arg(e.epoch.value()); },
          [](const ElectionStarted& e) { return EventNames::tr("candidate in epoch %1").arg(e.epoch.value()); },
          [](const VoteGranted& e) {
            return (e.preVote ? EventNames::tr("pre-vote for %1 in epoch %2") : EventNames::tr("for %1 in epoch %2"))
                .arg(node(e.candidate))
                .arg(e.epoch.value());
          },
          [](const VoteRefused& e) {
            return (e.preVote ? EventNames::tr("pre-vote to %1 in epoch %2") : EventNames::tr("to %1 in epoch %2"))
                .arg(node(e.candidate))
                .arg(e.epoch.value());
          },
          [](const QuorumLeaderChanged& e) {
            return EventNames::tr("leader %1").arg(node(e.leader)) + gap() +
                   EventNames::tr("epoch %1").arg(e.epoch.value());
          },
          [](const ControllerActivated& e) { return EventNames::tr("epoch %1").arg(e.epoch.value()); },
          [](const SnapshotTaken& e) {
            return EventNames::tr("up to %1").arg(offsetText(e.end)) + gap() + bytesText(e.sizeInBytes);
          },
          [](const BrokerRegistered& e) { return EventNames::tr("broker epoch %1").arg(grouped(e.epoch.value())); },
          [](const BrokerFenced& e) { return EventNames::tr("broker epoch %1").arg(grouped(e.epoch.value())); },
          [](const BrokerUnfenced& e) { return EventNames::tr("broker epoch %1").arg(grouped(e.epoch.value())); },
          [](const BrokerStarted&) { return EventNames::tr("all roles are up"); },
          [](const BrokerDown& e) {
            switch (e.cause) {
              case DownCause::Stopped:
                return EventNames::tr("stopped in control");
              case DownCause::Killed:
                return EventNames::tr("killed");
              case DownCause::InvariantBroken:
                return EventNames::tr("stopped itself: an invariant was broken");
            }
            return QString();
          },
          [](const BrokerPaused&) { return EventNames::tr("runs nothing, its sockets stay open"); },
          [](const BrokerResumed&) { return EventNames::tr("goes on"); },
          [](const ConnectionOpened& e) { return EventNames::tr("%1 on %2").arg(text(e.address), text(e.listener)); },
          [](const ConnectionIdentified& e) {
            return EventNames::tr("%1 is %2 %3").arg(text(e.client), text(e.software), text(e.version));
          },
          [](const ConnectionClosed& e) { return text(e.client); },
          [](const TopicCreated& e) {
            return EventNames::tr("%n partition(s)", nullptr, e.partitions) + gap() +
                   EventNames::tr("replication factor %1").arg(e.replicationFactor);
          },
          [](const TopicDeleted&) { return QString(); },
          [](const ConfigChanged& e) { return text(e.key); },
          [](const GroupStateChanged& e) {
            return EventNames::tr("%1: %2 → %3")
                       .arg(text(e.group), fromUtf8(events::nameOf(e.from)), fromUtf8(events::nameOf(e.to))) +
                   gap() + EventNames::tr("generation %1").arg(e.generation) + gap() +
                   EventNames::tr("%n member(s)", nullptr, e.members) + gap() + cause(e.cause);
          },
          [](const MemberJoined& e) {
            return EventNames::tr("%1: %2").arg(text(e.group), text(e.member)) +
                   (e.isStatic ? gap() + EventNames::tr("static") : QString());
          },
          [](const MemberLeft& e) {
            const QString who = EventNames::tr("%1: %2").arg(text(e.group), text(e.member)) + gap();
            if (e.silent > e.allowed && e.allowed > Duration::zero())
              return who + EventNames::tr("missed its session by %1").arg(durationText(e.silent - e.allowed));
            return who + cause(e.cause);
          },
          [](const RebalanceStarted& e) {
            return text(e.group) + gap() + cause(e.cause) + gap() + EventNames::tr("generation %1").arg(e.generation) +
                   gap() + EventNames::tr("%n member(s)", nullptr, e.members);
          },
          [](const RebalanceCompleted& e) {
            return text(e.group) + gap() + EventNames::tr("took %1").arg(durationText(e.took)) + gap() +
                   EventNames::tr("generation %1").arg(e.generation) + gap() +
                   EventNames::tr("%n member(s)", nullptr, e.members);
          },
          [](const MemberProgressed& e) {
            return EventNames::tr("%1: %2").arg(text(e.group), text(e.member)) + gap() + step(e.step) + gap() +
                   EventNames::tr("%n partition(s)", nullptr, e.partitions) + gap() +
                   EventNames::tr("epoch %1 of %2").arg(e.epoch).arg(e.target);
          },
          [](const OffsetCommitted& e) { return EventNames::tr("%1: %2").arg(text(e.group), offsetText(e.offset)); },
          [](const TransactionStateChanged& e) {
            return EventNames::tr("%1: %2 → %3")
                       .arg(text(e.transactionalId), fromUtf8(events::nameOf(e.from)), fromUtf8(events::nameOf(e.to))) +
                   gap() + EventNames::tr("epoch %1").arg(e.epoch.value()) + gap() +
                   EventNames::tr("%n partition(s)", nullptr, e.partitions);
          },
          [](const FaultInjected& e) {
            QString what = e.kind == FaultKind::Kill    ? EventNames::tr("killed by you")
                           : e.kind == FaultKind::Pause ? EventNames::tr("paused by you")
                                                        : text(e.target);
            return e.duration > Duration::zero() ? EventNames::tr("%1, for %2").arg(what, durationText(e.duration))
                                                 : what;
          },
          [](const FaultHealed& e) { return e.kind == FaultKind::Other ? text(e.target) : EventNames::tr("healed"); },
          [](const events::InvariantBroken& e) { return text(e.rule); },
      },
      payload);
}

}  // namespace tidemark::widgets
