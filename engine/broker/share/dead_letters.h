#pragma once

#include <functional>
#include <memory>
#include <string>

#include "broker/forwarding.h"
#include "broker/share/broker_channels.h"
#include "config/broker_config.h"
#include "replication/replica_manager.h"

namespace tidemark::broker {

/// Records that a share group gives up, all for the same reason; both ends inside.
struct DeadLetters {
  enum class Cause : uint8_t { Rejected, DeliveredTooOften };
  std::string groupId;
  TopicPartition source;
  Offset first;
  Offset last;
  int16_t deliveryCount = 0;
  Cause cause = Cause::Rejected;
};

/// Writes what share groups give up to the topics that they name for it (KIP-1191): for each record one with headers
/// that say where it came from and why, and, if the group wants it, the record itself. Belongs to its serial executor.
class DeadLetterWriter {
 public:
  struct Dependencies {
    platform::Process* process = nullptr;
    /// Serial.
    std::shared_ptr<platform::Executor> executor;
    replication::ReplicaManager* replicas = nullptr;
    Forwarding* forwarding = nullptr;
    NodeId self;
    std::string listener;
    std::function<std::shared_ptr<const config::BrokerConfig>()> config;
  };

  explicit DeadLetterWriter(Dependencies dependencies);
  ~DeadLetterWriter();

  /// `done` once they are written by all replicas in sync, or never will be: then with why not, which is also logged.
  /// InvalidConfig (the topic may not be used for it), and those of Produce.
  void write(DeadLetters letters, std::move_only_function<void(Error)> done);
  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// Whether a dead letter queue may go by that name: not an internal one, and with the cluster's prefix.
Result<void> checkDeadLetterTopic(std::string_view topic, std::string_view prefix);

/// The batches for them, none larger than `maxBytes` if it can be helped. `source`: whole batches of the log from their
/// first offset on, if they are to be copied; what they do not hold is left without key and value.
std::vector<ByteVector> deadLetterBatches(const DeadLetters& letters, std::optional<ByteView> source, size_t maxBytes,
                                          int64_t nowMs);

}  // namespace tidemark::broker
