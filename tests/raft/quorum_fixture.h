#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "network/server.h"
#include "platform/simulated/world.h"
#include "raft/raft_node.h"

namespace tidemark::raft {

/// Follows the log and keeps what it was told.
class Recording final : public Listener {
 public:
  void onCommit(std::span<const CommittedBatch> batches) override;
  void onLoadSnapshot(SnapshotReader& reader) override;
  void onLeaderChange(LeaderAndEpoch leader) override;
  void onShutdown() override { stopped = true; }

  /// Values of committed records by offset, control records left out.
  std::map<Offset, std::string> records;
  std::vector<std::string> fromSnapshot;
  std::vector<OffsetAndEpoch> snapshots;
  std::vector<LeaderAndEpoch> leaders;
  Offset next;
  bool stopped = false;
};

/// A quorum of RaftNodes, each in a process of a simulated world: real files, real connections, virtual time.
class Quorum : public network::RequestHandler {
 public:
  struct Options {
    int voters = 3;
    int observers = 0;
    uint64_t seed = 1;
    bool voteSynced = true;
    RaftConfig config;
  };
  static RaftConfig labConfig();

  explicit Quorum(Options options);
  ~Quorum() override;

  void startAll();
  void start(int id);
  void kill(int id, bool losePower = false);
  bool isRunning(int id) const { return nodes_.at(id).node != nullptr; }
  RaftNode& node(int id) { return *nodes_.at(id).node; }
  Recording& listener(int id) { return *nodes_.at(id).listener; }
  platform::Executor& executor(int id) { return *nodes_.at(id).executor; }
  platform::World& world() { return world_; }
  platform::SimulatedProcess& process(int id) { return *nodes_.at(id).process; }

  /// Waits (virtual time) for one leader that all running nodes follow, and whose listener was told.
  int awaitLeader(Duration limit = std::chrono::seconds(10));
  bool await(const std::function<bool()>& condition, Duration limit = std::chrono::seconds(10)) {
    return world_.runUntil(condition, limit);
  }
  /// Appends one record at the leader and waits until all running nodes have seen it committed.
  Result<Offset> append(int leader, const std::string& value);
  bool awaitCommitted(Offset offset, const std::string& value, Duration limit = std::chrono::seconds(10));

  void handle(network::RequestPtr request) override;

 private:
  struct Node {
    ReplicaKey key;
    std::shared_ptr<platform::SimulatedProcess> process;
    std::shared_ptr<platform::Executor> executor;
    std::unique_ptr<network::Server> server;
    std::unique_ptr<RaftNode> node;
    std::shared_ptr<Recording> listener;
  };
  static std::string name(int id) { return "node-" + std::to_string(id); }

  Options options_;
  platform::World world_;
  VoterSet voters_;
  std::map<int, Node> nodes_;
};

}  // namespace tidemark::raft
