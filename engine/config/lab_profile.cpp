#include <algorithm>
#include <string>

#include "config/broker_config.h"

namespace tidemark::config {

ConfigMap labProfile(int brokers) {
  const std::string replication = std::to_string(std::min(3, brokers));
  const std::string minIsr = std::to_string(std::min(2, brokers));
  return {
      {"broker.heartbeat.interval.ms", "250"},
      {"broker.session.timeout.ms", "1500"},
      {"controller.quorum.append.linger.ms", "0"},
      {"controller.quorum.election.timeout.ms", "250"},
      {"controller.quorum.fetch.timeout.ms", "1000"},
      {"metadata.max.idle.interval.ms", "5000"},
      {"num.io.threads", "4"},
      {"num.network.threads", "2"},
      {"offsets.topic.replication.factor", replication},
      {"replica.lag.time.max.ms", "3000"},
      {"share.coordinator.state.topic.min.isr", minIsr},
      {"share.coordinator.state.topic.replication.factor", replication},
      {"transaction.state.log.min.isr", minIsr},
      {"transaction.state.log.replication.factor", replication},
  };
}

}  // namespace tidemark::config
