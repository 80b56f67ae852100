#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "memory_log.h"
#include "raft/invariants.h"
#include "raft/state_machine.h"

namespace tidemark::raft {

/// What a run is like.
struct SimulationOptions {
  uint64_t seed = 1;
  int voters = 3;
  int observers = 0;
  Rules rules;
  /// Off: quorum-state reaches the disk a while after the answer went out.
  bool voteSyncedBeforeAnswer = true;
  Duration faultsFor = std::chrono::seconds(15);
  /// Per message, in 1/1000.
  uint32_t drop = 30;
  uint32_t duplicate = 20;
  /// Mean time between crashes and between partitions; zero: none.
  Duration crashEvery = std::chrono::seconds(3);
  Duration partitionEvery = std::chrono::seconds(4);
};

/// What occurred, to see that a run was worth something.
struct SimulationCounts {
  uint64_t steps = 0;
  uint64_t elections = 0;
  uint64_t splitVotes = 0;
  uint64_t preVoteRounds = 0;
  uint64_t truncations = 0;
  uint64_t resignations = 0;
  uint64_t crashes = 0;
  uint64_t crashesWithinEffects = 0;
  uint64_t committed = 0;
  uint64_t lostUnsynced = 0;
};

/// N state machines, a message bus that delays, drops, reorders and duplicates, nodes that lose power and come back
/// with what was synced, partitions; one seed, one run. After every step K1–K5 are checked; a breach throws
/// InvariantBroken.
class Simulation {
 public:
  explicit Simulation(SimulationOptions options);
  /// Faults, then all healed, until everything is committed everywhere. Throws if that takes too long.
  void run();

  // For scenarios.
  void runFor(Duration duration);
  /// Runs until a leader is followed by all that run and all is committed; false after `limit`.
  bool settle(Duration limit);
  void isolate(NodeId id) { isolated_.insert(id); }
  void heal();
  void crash(NodeId id, bool losePower = true);
  void restart(NodeId id);
  void shutdown(NodeId id);
  void append();
  std::optional<NodeId> leader() const;
  LeaderEpoch epoch() const;
  const StateMachine* node(NodeId id) const;
  const SimulationCounts& counts() const { return counts_; }
  MonotonicTime now() const { return now_; }
  /// One line a step, equal for equal seeds.
  uint64_t traceHash() const { return trace_; }

 private:
  struct Parked {
    NodeId from;
    uint64_t correlation;
    FetchRequest request;
    MonotonicTime deadline;
    StateMachine::FetchVerdict verdict;
  };
  struct Node {
    ReplicaKey key;
    MemoryLog log;
    /// What quorum-state holds, and what of it is synced.
    std::optional<ElectionState> stored;
    std::optional<ElectionState> storedSynced;
    std::unique_ptr<StateMachine> machine;
    std::vector<Parked> parked;
    bool serving = false;
    NodeHistory history;
    uint64_t incarnation = 0;
    uint64_t timerSerial = 0;
    size_t checked = 0;
    Moment at;
  };
  struct Message {
    NodeId from;
    NodeId to;
    uint64_t correlation = 0;
    uint64_t incarnation = 0;
    std::variant<Request, Response> body;
  };
  struct Wake {
    NodeId node;
    uint64_t incarnation = 0;
    uint64_t serial = 0;
  };
  struct SyncLog {
    NodeId node;
    uint64_t incarnation = 0;
  };
  struct SyncVote {
    NodeId node;
    uint64_t incarnation = 0;
  };
  struct Crash {};
  struct Restart {
    NodeId node;
  };
  struct Partition {};
  struct Heal {};
  struct ClientAppend {};
  using What = std::variant<Message, Wake, SyncLog, SyncVote, Crash, Restart, Partition, Heal, ClientAppend>;
  struct Event {
    MonotonicTime at;
    uint64_t serial = 0;
    What what;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : serial > other.serial; }
  };

  uint64_t random();
  uint64_t below(uint64_t bound) { return random() % bound; }
  Moment moment();
  void schedule(Duration after, What what);
  bool step();
  void on(Message& message);
  void on(Wake& wake);
  void on(SyncLog& sync);
  void on(SyncVote& sync);
  void on(Crash&);
  void on(Restart& restart);
  void on(Partition&);
  void on(Heal&);
  void on(ClientAppend&);
  void send(Message message);
  Node& at(NodeId id) { return nodes_.at(id); }
  bool reachable(NodeId a, NodeId b) const;
  /// Carries effects out one by one; false if the node crashed in between.
  bool perform(Node& node, Effects effects);
  void poll(Node& node);
  void serveParked(Node& node);
  void answerFetch(Node& node, const Parked& parked, const StateMachine::FetchVerdict& verdict);
  void start(Node& node);
  void checkAll();
  void onHighWatermark(Node& node, Offset offset);
  void voted(NodeId voter, LeaderEpoch epoch, ReplicaKey candidate);
  void note(std::string_view what, int64_t a = 0, int64_t b = 0);

  SimulationOptions options_;
  RaftConfig config_;
  VoterSet voters_;
  uint64_t random_;
  MonotonicTime now_{};
  uint64_t serial_ = 0;
  uint64_t trace_ = 1469598103934665603ULL;
  bool faults_ = false;
  int64_t nextPayload_ = 1;
  std::map<NodeId, Node> nodes_;
  std::set<NodeId> isolated_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  SimulationCounts counts_;

  // What the checkers remember.
  std::map<LeaderEpoch, NodeId> leaders_;
  std::map<LeaderEpoch, std::set<NodeId>> candidates_;
  std::map<std::pair<NodeId, LeaderEpoch>, ReplicaKey> votes_;
  std::vector<Entry> committed_;
};

}  // namespace tidemark::raft
