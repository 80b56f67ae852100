#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "broker/node.h"
#include "cluster/cluster.h"
#include "cluster/topology.h"
#include "events/recorder.h"
#include "observe/snapshot.h"

namespace tidemark::cluster {

/// One broker of the cluster and whatever of it is alive. Of the cluster's executor.
struct Cluster::Slot {
  NodePlace place;
  observe::BrokerState state = observe::BrokerState::Stopped;
  platform::MonotonicTime since{};
  /// Why the process died by itself.
  std::string diedOf;
  /// Another one at each start, so that news of an earlier life is told apart.
  uint64_t incarnation = 0;
  std::shared_ptr<platform::Process> process;
  std::shared_ptr<events::Recorder> recorder;
  /// The recorder is attached to the collector.
  bool observed = false;
  std::shared_ptr<platform::Executor> main;
  std::unique_ptr<broker::Node> node;
  /// open() has succeeded: the node may be asked things.
  bool isOpen = false;
  /// Whoever waits for the start or the stop under way.
  std::vector<Handler> waiting;
  /// What is broken on purpose: its number in the list of faults.
  std::optional<observe::FaultSnapshot> fault;
  platform::MonotonicTime faultSince{};
  /// As last seen, for when it does not run any more.
  std::map<TopicPartition, observe::ReplicaSnapshot> lastSeen;
  int64_t lastDiskBytes = 0;
  int lastSegmentCount = 0;
};

}  // namespace tidemark::cluster
