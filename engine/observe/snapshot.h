#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/uuid.h"
#include "faults/fault.h"
#include "faults/fault_over.h"
#include "faults/place.h"
#include "faults/unmatched.h"
#include "observe/cleaner.h"
#include "observe/groups.h"
#include "platform/clock.h"
#include "platform/network.h"

// What a cluster is at one moment: plain values, made on request by whoever runs the brokers, never changed afterwards,
// shared between threads as shared_ptr to const. Codes and numbers only, no sentences: words are the window's business.
namespace tidemark::observe {

using platform::Duration;
using platform::MonotonicTime;
using platform::WallTime;

/// What a broker does, seen from outside.
enum class BrokerState : uint8_t {
  Starting,
  Running,
  /// Runs, but the active controller keeps it out of every ISR.
  Fenced,
  /// Runs no task, its sockets stay open, as after SIGSTOP.
  Paused,
  /// Controlled shutdown is under way.
  Stopping,
  Stopped,
  Killed,
};

/// A log directory that failed: nothing in it is read or written until its broker starts anew.
struct FailedDirectorySnapshot {
  std::string path;
  std::string reason;
  friend bool operator==(const FailedDirectorySnapshot&, const FailedDirectorySnapshot&) = default;
};

struct BrokerSnapshot {
  NodeId id;
  BrokerState state = BrokerState::Starting;
  /// False: a controller that is nothing else. It leads and holds no partition.
  bool isBroker = true;
  /// A voter of the quorum.
  bool isController = true;
  /// Why its process ended without anybody's doing; empty in every other state.
  std::string diedOf;
  /// Where clients connect.
  platform::Endpoint listener;
  /// Where its controller listens.
  platform::Endpoint controller;
  /// None until registered.
  BrokerEpoch epoch;
  /// Since it entered `state`.
  Duration inState{};
  int networkThreads = 0;
  int handlerThreads = 0;
  int fetcherThreads = 0;
  /// Partitions it leads, in the newest committed metadata.
  int leaderCount = 0;
  int replicaCount = 0;
  int64_t diskBytes = 0;
  int segmentCount = 0;
  /// Of a broker that goes on with its other ones.
  std::vector<FailedDirectorySnapshot> failedDirectories = {};
  /// Bytes of records that clients produced and fetched since the broker started; only grow.
  int64_t producedBytes = 0;
  int64_t fetchedBytes = 0;
  /// As the active controller knows it; empty without one.
  std::optional<Duration> sinceHeartbeat;
  /// Time left until the controller fences a broker it no longer hears; empty while heartbeats come.
  std::optional<Duration> fencedIn;
};

struct VoterSnapshot {
  NodeId id;
  /// As the leader learnt it from the last fetch; none if it knows nothing.
  Offset logEnd;
  std::optional<Duration> sinceFetch;
  std::optional<Duration> sinceCaughtUp;
  /// Not a voter: it follows only.
  bool observer = false;
};

/// The metadata quorum as its leader, or failing that any running voter, sees it.
struct QuorumSnapshot {
  /// None during an election.
  NodeId leader;
  LeaderEpoch epoch;
  Offset highWatermark;
  std::vector<VoterSnapshot> voters;
};

/// What became of the transaction that a batch belongs to. Unknown: it is in none, or its end is not known.
enum class TransactionFate : uint8_t { Unknown, Open, Committed, Aborted };

/// Header of one record batch.
struct BatchSnapshot {
  Offset baseOffset;
  Offset lastOffset;
  LeaderEpoch epoch;
  int32_t recordCount = 0;
  int32_t sizeInBytes = 0;
  /// Of its first byte in its segment.
  int64_t position = 0;
  ProducerId producer;
  int32_t baseSequence = -1;
  /// "none", "gzip", "snappy", "lz4", "zstd".
  std::string_view codec = "none";
  bool control = false;
  bool transactional = false;
  /// Of a control batch: what it says.
  TransactionFate fate = TransactionFate::Unknown;
  ProducerEpoch producerEpoch;
  WallTime maxTimestamp{};
};

struct SegmentSnapshot {
  Offset baseOffset;
  int64_t sizeInBytes = 0;
};

struct IndexEntrySnapshot {
  Offset offset;
  /// Of the batch that holds it, in the segment of that offset.
  int64_t position = 0;
};

/// One copy of a partition, on one broker. Numbers of a broker that does not run are the last ones known.
struct ReplicaSnapshot {
  NodeId broker;
  bool leader = false;
  /// Member of the committed ISR.
  bool inSync = false;
  /// In the eligible leader replicas (KIP-966).
  bool eligible = false;
  /// Whether its broker can be asked now; otherwise the numbers are old.
  bool online = false;
  /// Why its log is offline although its broker runs: its log directory failed. Empty: it is not.
  std::string offlineReason = {};
  LeaderEpoch epoch;
  Offset logStart;
  Offset logEnd;
  /// Of a broker that lost power and is down: [logEnd, lostTo) was in its log, and is not on its disk. None: it has
  /// lost nothing that is known.
  Offset lostTo;
  /// As this broker knows it.
  Offset highWatermark;
  /// Up to where a read_committed consumer is given records; behind it a transaction is open.
  Offset lastStable;
  /// Of a follower, known by the leader: since it was last caught up.
  std::optional<Duration> sinceCaughtUp;
  /// Of a follower: where its newest fetch began, and how long ago that fetch reached the leader.
  Offset fetchOffset;
  std::optional<Duration> sinceFetch;
  int64_t sizeInBytes = 0;
  /// How many there are; 0 while the log never held a record.
  int segmentCount = 0;
  /// Oldest first: all of them for the partition that is watched, the newest kSegmentsKept for others.
  std::vector<SegmentSnapshot> segments;
  /// Only for the partition that is watched, as are its index entries. The newest ones, oldest first, without gaps
  /// between them: at most kMaxBatches.
  std::vector<BatchSnapshot> batches;
  /// Those that lie among `batches`.
  std::vector<IndexEntrySnapshot> indexEntries;

  static constexpr size_t kMaxBatches = 400;
  static constexpr size_t kSegmentsKept = 64;
};

struct PartitionSnapshot {
  PartitionIndex index;
  /// None: offline.
  NodeId leader;
  LeaderEpoch leaderEpoch;
  PartitionEpoch partitionEpoch;
  /// In the order of the assignment: the first is the preferred leader.
  std::vector<NodeId> replicas;
  std::vector<NodeId> isr;
  /// As the leader knows them.
  Offset highWatermark;
  Offset lastStable;
  /// By first offset; the first one holds back `lastStable`.
  std::vector<OpenTransactionSnapshot> openTransactions;
  Offset logStart;
  Offset logEnd;
  /// One for each of `replicas`, by broker.
  std::vector<ReplicaSnapshot> copies;

  bool underReplicated() const noexcept { return isr.size() < replicas.size(); }
};

struct TopicSnapshot {
  Uuid id;
  std::string name;
  /// __consumer_offsets, __transaction_state, …; also __cluster_metadata, which is listed as a topic of one partition
  /// whose copies are the voters.
  bool internal = false;
  bool compacted = false;
  int replicationFactor = 0;
  int minInSync = 1;
  std::vector<PartitionSnapshot> partitions;
};

enum class ParkedKind : uint8_t { Produce, Fetch, Join, Other };

/// An operation that waits in a purgatory.
struct ParkedSnapshot {
  NodeId broker;
  ParkedKind kind = ParkedKind::Produce;
  std::string client;
  int32_t correlation = 0;
  TopicPartition partition;
  /// A produce: the high watermark it waits for. A fetch: the offset it starts at.
  Offset needs;
  /// A fetch: bytes it waits for, and the broker that fetches, none for a consumer.
  int32_t minBytes = 0;
  NodeId follower;
  /// All the time it was given, and what is left of it.
  Duration timeout{};
  Duration left{};
};

/// A connection of a client; those of brokers among each other are not listed.
struct ConnectionSnapshot {
  int64_t id = 0;
  NodeId broker;
  /// Name of the listener.
  std::string listener;
  std::string client;
  /// As told by ApiVersions; empty from clients that do not tell.
  std::string softwareName;
  std::string softwareVersion;
  platform::Endpoint peer;
  /// Opened by this program's own producer or consumer dialogs.
  bool own = false;
};

/// Where a consumer stands, as the leader knows it from its newest fetch.
struct ReaderSnapshot {
  std::string client;
  /// Empty if unknown.
  std::string group;
  std::string softwareName;
  TopicPartition partition;
  Offset fetchOffset;
  Duration sinceFetch{};
  bool external = true;
};

/// A transactional id, as its coordinator knows it.
struct TransactionSnapshot {
  std::string id;
  /// As Kafka names it: "Empty", "Ongoing", "PrepareCommit", …
  std::string state;
  ProducerId producer;
  ProducerEpoch epoch;
  /// transaction.timeout.ms of its producer.
  Duration timeout{};
  /// When the open or last transaction began; empty: none since the producer began.
  std::optional<WallTime> start;
  WallTime lastUpdate{};
  /// 2: its producer's epoch rises at the end of each transaction (transaction.version).
  int version = 0;
  /// That an open transaction touches, or that have still to get their marker.
  std::vector<TopicPartition> partitions;
  /// Those of an ended one that have no marker yet.
  std::vector<TopicPartition> pendingMarkers;
  /// Of `__transaction_state`, and who leads it.
  PartitionIndex coordinatorPartition;
  NodeId coordinator;
  friend bool operator==(const TransactionSnapshot&, const TransactionSnapshot&) = default;
};

/// Something that is broken on purpose, or will be.
struct FaultSnapshot {
  int id = 0;
  faults::Fault fault;
  /// Where it acts; none if it is not about one broker, or has not begun.
  NodeId broker;
  /// Which links it is about, names resolved; empty if it is not about links, or has not begun.
  std::vector<faults::LinkRule> links;
  /// It has not begun yet.
  bool waits = false;
  /// Since it was set.
  Duration since{};
  /// Until it begins, or until it ends by itself; empty: until it is healed.
  std::optional<Duration> left;
  /// How many transfers, calls, requests or tasks it has met; known anew whenever it has doubled.
  uint64_t fired = 0;
  /// Of a link: how many transfers and connections it keeps back.
  size_t held = 0;
  /// What it has done to files so far.
  faults::Lasting lasting = {};
  /// What it named and nobody was when it was set, if somebody looked then.
  std::vector<faults::Unmatched> unmatched = {};
};

/// Something that was broken on purpose.
struct FaultOverSnapshot {
  int id = 0;
  faults::Fault fault;
  /// Where it acted; none if it was not about one broker, or had not begun.
  NodeId broker;
  faults::Ending ending{};
  /// Why it could not begin; else empty.
  std::string reason = {};
  MonotonicTime setAt{};
  MonotonicTime endedAt{};
  uint64_t fired = 0;
  faults::Lasting lasting = {};
  std::vector<faults::Unmatched> unmatched = {};
  friend bool operator==(const FaultOverSnapshot&, const FaultOverSnapshot&) = default;
};

/// One value of the configuration that differs from Kafka's default, as Kafka's configuration file writes it.
struct Setting {
  std::string key;
  std::string value;
  friend bool operator==(const Setting&, const Setting&) = default;
};

/// The whole. Two snapshots of one cluster have equal `clusterId` and rising `version`.
struct ClusterSnapshot {
  uint64_t version = 0;
  /// 22 characters; empty while no cluster is launched.
  std::string clusterId;
  MonotonicTime at;
  WallTime wall;
  /// Where a client begins: "127.0.0.1:19092".
  std::string bootstrap;
  /// Empty: a temporary folder, removed at the end.
  std::string dataFolder;
  std::vector<Setting> settings;
  std::vector<BrokerSnapshot> brokers;
  QuorumSnapshot quorum;
  /// By name, internal ones last.
  std::vector<TopicSnapshot> topics;
  std::vector<ParkedSnapshot> parked;
  std::vector<ConnectionSnapshot> connections;
  std::vector<ReaderSnapshot> readers;
  /// By id; a broker tells of them after it was asked, so they may be one snapshot behind.
  std::vector<GroupSnapshot> groups;
  /// By transactional id; a broker tells of them after it was asked, so they may be one snapshot behind.
  std::vector<TransactionSnapshot> transactions;
  std::vector<FaultSnapshot> faults;
  /// The newest ones, in the order in which they ended.
  std::vector<FaultOverSnapshot> faultsOver;
  /// Of the brokers that run, by broker and name.
  std::vector<CleanerSnapshot> cleaners;
  /// Events that no one will see because a ring was full; only grows.
  uint64_t lostEvents = 0;
};

using SnapshotPtr = std::shared_ptr<const ClusterSnapshot>;

/// Nothing if the snapshot has none of that name; the pointer lives as long as the snapshot.
const BrokerSnapshot* findBroker(const ClusterSnapshot& cluster, NodeId id) noexcept;
const TopicSnapshot* findTopic(const ClusterSnapshot& cluster, std::string_view name) noexcept;
const PartitionSnapshot* findPartition(const ClusterSnapshot& cluster, const TopicPartition& partition) noexcept;
const ReplicaSnapshot* findReplica(const PartitionSnapshot& partition, NodeId broker) noexcept;

/// Fewer copies are in sync than min.insync.replicas (or the replication factor, if that is less) asks for: acks=all is
/// refused, and the high watermark stands still.
bool isBelowMinInSync(const TopicSnapshot& topic, const PartitionSnapshot& partition) noexcept;

/// How far a copy is behind the leader's log end; 0 for the leader, empty if either end is unknown.
std::optional<int64_t> lagOf(const PartitionSnapshot& partition, const ReplicaSnapshot& replica) noexcept;

}  // namespace tidemark::observe
