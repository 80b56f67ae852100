#pragma once

#include <memory>
#include <optional>

#include "broker/share/broker_channels.h"
#include "coordinator/request_info.h"
#include "replication/replica_manager.h"

namespace tidemark::broker {

/// The ends of partitions, wherever they are led. Any thread; answers come on the executor.
class LatestOffsets {
 public:
  LatestOffsets(platform::Process& process, std::shared_ptr<platform::Executor> executor,
                replication::ReplicaManager& replicas, NodeId self, std::string listener);
  ~LatestOffsets();

  /// Its high watermark; nothing if the leader cannot tell.
  void ask(const TopicPartition& partition, coordinator::Reply<std::optional<Offset>> reply);
  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::broker
