#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "client/consumer.h"

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
/// Tells only errors that do not pass; IllegalGeneration among them: it was given what the leader of another generation
/// had assigned. Executor as the Client's.
class GroupConsumer {
 public:
  using Done = Client::Done;
  /// After each rebalance, before the first record: what it reads from now on.
  using AssignmentHandler = std::function<void(int32_t generation, const std::vector<TopicPartition>&)>;
  using ErrorHandler = std::function<void(const Error&)>;

  GroupConsumer(Client& client, GroupOptions options, Consumer::RecordHandler onRecord,
                AssignmentHandler onAssignment = {}, ErrorHandler onError = {});
  ~GroupConsumer();
  GroupConsumer(const GroupConsumer&) = delete;
  GroupConsumer& operator=(const GroupConsumer&) = delete;

  /// Commits the positions behind the records that were given so far. RebalanceInProgress while it has no assignment.
  void commit(Done done);
  /// Commits (if it does so by itself), leaves and reads no more.
  void leave(platform::Task done);

  /// −1 while it is not a member.
  int32_t generation() const noexcept;
  std::string memberId() const;
  std::vector<TopicPartition> assignment() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
