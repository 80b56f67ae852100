#include <algorithm>
#include <string>

#include "config/broker_config.h"
#include "config/config_table.h"

namespace tidemark::config {

ConfigMap labProfile(int brokers) {
  const std::string copies = std::to_string(std::min(3, brokers));
  const std::string minimum = std::to_string(std::min(2, brokers));
  ConfigMap profile{
      // Shorter times, so that changes are seen at once.
      {"broker.heartbeat.interval.ms", "250"},
      {"broker.session.timeout.ms", "1500"},
      {"controller.quorum.append.linger.ms", "0"},
      {"controller.quorum.election.timeout.ms", "250"},
      {"controller.quorum.fetch.timeout.ms", "1000"},
      {"replica.lag.time.max.ms", "3000"},
      // All brokers share one machine: fewer threads, and an idle quorum writes less.
      {"metadata.max.idle.interval.ms", "5000"},
      {"num.io.threads", "4"},
      {"num.network.threads", "2"},
      // Buffers that grow with the connection: with Kafka's 100 KiB a fetch takes more wake-ups than work.
      {"socket.receive.buffer.bytes", "-1"},
      {"socket.send.buffer.bytes", "-1"},
      // A topic that comes into being by its first use outlives the loss of a broker; partitions for every broker.
      {"default.replication.factor", copies},
      {"min.insync.replicas", minimum},
      {"num.partitions", copies},
      // Not more copies than there are brokers.
      {"offsets.topic.replication.factor", copies},
      {"share.coordinator.state.topic.min.isr", minimum},
      {"share.coordinator.state.topic.replication.factor", copies},
      {"transaction.state.log.min.isr", minimum},
      {"transaction.state.log.replication.factor", copies},
  };
  // What Kafka does anyway is no part of it.
  std::erase_if(profile, [](const auto& entry) {
    const auto* known = configTable(ConfigLevel::Broker).find(entry.first);
    return known != nullptr && known->defaultValue == entry.second;
  });
  return profile;
}

}  // namespace tidemark::config
