#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "broker/node.h"
#include "cluster/cluster.h"
#include "cluster/topology.h"
#include "events/recorder.h"
#include "faults/faulty_process.h"
#include "observe/fault_check.h"
#include "observe/snapshot.h"

namespace tidemark::cluster {

/// One broker of the cluster and whatever of it is alive. Of the cluster's executor.
struct Cluster::Slot {
  NodePlace place;
  observe::BrokerState state = observe::BrokerState::Stopped;
  platform::MonotonicTime since{};
  /// Why the process died by itself, or, while it is stopped, why it did not start with the others.
  std::string diedOf;
  /// Another one at each start, so that news of an earlier life is told apart.
  uint64_t incarnation = 0;
  std::shared_ptr<faults::FaultyProcess> process;
  std::shared_ptr<events::Recorder> recorder;
  /// What the collector listens to the recorder for.
  events::Kinds heard;
  std::shared_ptr<platform::Executor> main;
  /// Where its files are looked at: made at the first look.
  std::shared_ptr<platform::Executor> looker;
  std::unique_ptr<broker::Node> node;
  /// open() has succeeded: the node may be asked things.
  bool isOpen = false;
  /// Says what it waits for, unless it runs by then.
  platform::Timer notReady;
  /// Whoever waits for the start or the stop under way.
  std::vector<Handler> waiting;
  /// As last seen, for when it does not run any more.
  std::map<TopicPartition, observe::ReplicaSnapshot> lastSeen;
  int64_t lastDiskBytes = 0;
  int lastSegmentCount = 0;
  /// That it coordinates, as it told last; when it was asked, and in which life it was if the answer is not there yet.
  std::vector<observe::GroupSnapshot> groups;
  /// What share groups have of the partitions it leads, by group.
  std::vector<std::pair<std::string, observe::SharePartitionSnapshot>> shared;
  platform::MonotonicTime groupsAskedAt{};
  uint64_t groupsAskedIn = 0;
  /// As its coordinator answered last, and the life in which it was asked and has not answered yet; 0: none.
  std::vector<observe::TransactionSnapshot> transactions;
  uint64_t transactionsAsked = 0;

  /// "broker 3", or "controller 4" of a node that is nothing else.
  std::string name() const { return observe::nodeText(place.id, place.isBroker); }
  /// It did not start with the others, who do without it.
  bool isLeftOut() const { return state == observe::BrokerState::Stopped && !diedOf.empty(); }
};

inline bool isAlive(observe::BrokerState state) {
  using observe::BrokerState;
  return state == BrokerState::Running || state == BrokerState::Fenced || state == BrokerState::Starting;
}

/// Somebody may get an answer from it, now or when it is resumed.
inline bool isUp(observe::BrokerState state) {
  return isAlive(state) || state == observe::BrokerState::Paused || state == observe::BrokerState::Stopping;
}

/// The name of the machine that a broker runs on.
inline std::string machineOf(NodeId id) {
  return fmt::format("broker-{}", id);
}

}  // namespace tidemark::cluster
