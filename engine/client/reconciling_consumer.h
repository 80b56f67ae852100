#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "client/consumer.h"

namespace tidemark::client {

struct ReconcilingOptions {
  std::string groupId;
  /// A static member's; empty: a dynamic one.
  std::string instanceId;
  std::vector<std::string> topics;
  platform::Duration rebalanceTimeout = std::chrono::minutes(5);
  /// `reset` decides where partitions without a committed offset begin.
  ConsumerOptions consumer = {};
};

/// A consumer that shares topics by the consumer protocol (KIP-848): the coordinator assigns, by heartbeats; what it
/// takes away is given back and said so, what it gives is read from where the group left off. A member that was fenced
/// gives up everything and joins again. Tells only errors that do not pass. Executor as the Client's.
class ReconcilingConsumer {
 public:
  using Done = Client::Done;
  /// What it owns from now on, whenever that or its epoch has changed, before the first record. Epoch 0: it was fenced,
  /// or has left.
  using AssignmentHandler = std::function<void(int32_t epoch, const std::vector<TopicPartition>&)>;
  using ErrorHandler = std::function<void(const Error&)>;

  ReconcilingConsumer(Client& client, ReconcilingOptions options, Consumer::RecordHandler onRecord,
                      AssignmentHandler onAssignment = {}, ErrorHandler onError = {});
  ~ReconcilingConsumer();
  ReconcilingConsumer(const ReconcilingConsumer&) = delete;
  ReconcilingConsumer& operator=(const ReconcilingConsumer&) = delete;

  /// Commits the positions behind the records that were given so far.
  void commit(Done done);
  /// Leaves (a static member: for a while) and reads no more.
  void leave(platform::Task done);

  /// The member epoch; 0 while it joins.
  int32_t epoch() const noexcept;
  std::vector<TopicPartition> assignment() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
