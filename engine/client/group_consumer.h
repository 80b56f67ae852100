#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/consumer.h"
#include "client/member_consumer.h"

namespace tidemark::client {

struct GroupOptions {
  std::string groupId;
  /// A static member's (KIP-345); empty: a dynamic one.
  std::string instanceId;
  std::vector<std::string> topics;
  platform::Duration sessionTimeout = std::chrono::seconds(45);
  platform::Duration rebalanceTimeout = std::chrono::minutes(5);
  platform::Duration heartbeatInterval = std::chrono::seconds(3);
  /// Commits the positions this often, before each rebalance and when it leaves. 0: only commit() does.
  platform::Duration autoCommitInterval = std::chrono::seconds(5);
  /// `reset` decides where partitions without a committed offset begin.
  ConsumerOptions consumer = {};
};

/// Who gets which partitions of a topic, by Kafka's range assignor: `members` in order of their ids, consecutive
/// ranges, the first ones get one more. Pure.
std::vector<std::vector<int32_t>> rangeAssignment(size_t members, int32_t partitions);

/// A consumer that shares topics with the other members of its group (the classic protocol, range assignor): finds its
/// coordinator, joins, reads what it is assigned from where the group left off, and joins again whenever it has to.
/// commit() fails with RebalanceInProgress while it has no assignment; leave() commits first, if it does so by itself.
/// Among the errors that it tells is IllegalGeneration: it was given what the leader of another generation had
/// assigned.
class GroupConsumer : public MemberConsumer {
 public:
  GroupConsumer(Client& client, GroupOptions options, Consumer::RecordHandler onRecord,
                AssignmentHandler onAssignment = {}, ErrorHandler onError = {});

  /// −1 while it is not a member.
  int32_t generation() const noexcept { return epoch(); }

 private:
  class Core;
};

}  // namespace tidemark::client
