#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/ids.h"
#include "events/broker_events.h"
#include "events/group_events.h"
#include "events/log_events.h"
#include "events/purgatory_events.h"
#include "events/quorum_events.h"
#include "events/replication_events.h"
#include "events/text.h"
#include "events/transaction_events.h"
#include "platform/clock.h"

namespace tidemark::events {

/// Which event it is and what it tells.
using Payload = std::variant<
    BatchAppended, SegmentRolled, SegmentDeleted, IndexEntryAdded, LogStartAdvanced, LogTruncated, LogRecovered, LogCut,
    RecoveryProgressed, LogDirectoryFailed, DuplicateAnswered, TransactionOpened, MarkerWritten, ProducerFenced,
    CleanerPassStarted, CleanerPassFinished, CleanerSetAside, HighWatermarkAdvanced, IsrShrunk, IsrExpanded,
    LeaderElected, BecameLeader, BecameFollower, RecordsLost, LogDiverged, FollowerFetched, ReplicaMoveStarted,
    ReplicaMoved, ReplicaMoveCancelled, ProduceParked, ProduceCompleted, ProduceExpired, FetchParked, FetchCompleted,
    FetchExpired, PreVoteStarted, ElectionStarted, VoteGranted, VoteRefused, QuorumLeaderChanged, ControllerActivated,
    SnapshotTaken, BrokerRegistered, BrokerFenced, BrokerUnfenced, BrokerStarted, BrokerDown, BrokerPaused,
    BrokerResumed, ConnectionOpened, ConnectionIdentified, ConnectionClosed, TopicCreated, TopicDeleted, ConfigChanged,
    GroupStateChanged, MemberJoined, MemberLeft, RebalanceStarted, RebalanceCompleted, MemberProgressed,
    OffsetCommitted, TransactionStateChanged, FaultInjected, FaultHealed, InvariantBroken>;

/// One thing that happened. Fixed size, trivially copyable: it lives in rings.
struct Event {
  /// Drawn by the recorder under the lock that guards the change: rises by one with each event of a broker, so that a
  /// gap is a lost event and the order of two changes of one partition is the order of their numbers.
  uint64_t sequence = 0;
  platform::MonotonicTime at;
  platform::WallTime wall;
  /// Whose recorder it was.
  NodeId broker;
  Payload payload;
};
static_assert(std::is_trivially_copyable_v<Event>);
static_assert(sizeof(Event) <= 128, "an event fills at most two cache lines");

/// "HighWatermarkAdvanced".
std::string_view nameOf(const Payload& payload) noexcept;

/// The partition the event is about, {none, -1} if it is about none, {topic, -1} if about a topic.
PartitionTag partitionOf(const Payload& payload) noexcept;

/// Puts other tags in the place of the event's own, as when events of several recorders meet in one table.
void retag(Payload& payload, TopicTag topic) noexcept;

/// `key=value` for each field but the partition, in order: stable, for traces that must be equal byte for byte.
std::string fieldsText(const Payload& payload);

/// One line: sequence, time since the start of the monotonic clock in ns, broker, kind, partition (as `topic`-n),
/// fields.
std::string traceLine(const Event& event, std::string_view topic);

}  // namespace tidemark::events
