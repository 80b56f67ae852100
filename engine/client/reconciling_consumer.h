#pragma once

#include <string>
#include <vector>

#include "client/consumer.h"
#include "client/member_consumer.h"

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
/// gives up everything and joins again. A static member leaves for a while.
class ReconcilingConsumer : public MemberConsumer {
 public:
  /// Epoch 0 in `onAssignment`: it was fenced, or has left.
  ReconcilingConsumer(Client& client, ReconcilingOptions options, Consumer::RecordHandler onRecord,
                      AssignmentHandler onAssignment = {}, ErrorHandler onError = {});

  /// The member epoch; 0 while it joins.
  using MemberConsumer::epoch;

 private:
  class Core;
};

}  // namespace tidemark::client
