#include "client/reconciling_consumer.h"

#include <algorithm>
#include <utility>

#include "client/member_consumer_core.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"

namespace tidemark::client {

class ReconcilingConsumer::Core final : public MemberConsumer::Core {
 public:
  Core(Client& client, ReconcilingOptions options, Handlers handlers)
      : MemberConsumer::Core(client, options.groupId, options.instanceId, options.consumer, std::move(handlers)),
        options_(std::move(options)) {
    memberId_ = client.process().random().uuid().toString();
    epoch_ = kJoinsGroup;
  }

  void leave(platform::Task done) override;

 private:
  friend class GroupMembership;

  void proceed() override { beat(); }
  void beat() { exchangeHeartbeats(*this); }
  protocol::ConsumerGroupHeartbeatRequest heartbeat() const;
  void answered(const protocol::ConsumerGroupHeartbeatResponse& response);
  /// Goes one step towards what it is to own.
  void reconcile();
  void fetchOffsets(const Partitions& added);
  void take(const protocol::OffsetFetchResponse& offsets, const Partitions& added);
  void giveUpAll();
  /// Where the reading of what it has already goes on: where it is.
  std::vector<Consumer::Position> ownPositions() const;

  const ReconcilingOptions options_;
  platform::Duration interval_ = std::chrono::seconds(1);
  /// Where to begin in them is being asked. To the coordinator they are owned from now on: of what a member does not
  /// name it takes for given that it may go to somebody else at once.
  Partitions taking_;
  uint64_t takings_ = 0;
  /// As it was told last.
  Target target_;
};

protocol::ConsumerGroupHeartbeatRequest ReconcilingConsumer::Core::heartbeat() const {
  protocol::ConsumerGroupHeartbeatRequest request;
  request.groupId = groupId_;
  request.memberId = memberId_;
  request.memberEpoch = epoch_;
  request.instanceId = instanceId();
  request.rebalanceTimeoutMs = millis(options_.rebalanceTimeout);
  request.subscribedTopicNames.emplace();
  for (const std::string& topic : options_.topics) request.subscribedTopicNames->emplace_back(topic);
  request.topicPartitions.emplace();
  Partitions held = owned_;
  held.insert(taking_.begin(), taking_.end());
  for (const auto& each : held) {
    const auto* topic = client_.metadata().find(each.topic);
    if (topic == nullptr) continue;
    if (request.topicPartitions->empty() || request.topicPartitions->back().topicId != topic->id)
      request.topicPartitions->emplace_back().topicId = topic->id;
    request.topicPartitions->back().partitions.push_back(each.partition.value());
  }
  return request;
}

void ReconcilingConsumer::Core::giveUpAll() {
  epoch_ = kJoinsGroup;
  owned_.clear();
  taking_.clear();
  ++takings_;
  target_.clear();
  consumer_.assign({});
  tellAssignment();
}

std::vector<Consumer::Position> ReconcilingConsumer::Core::ownPositions() const {
  std::vector<Consumer::Position> positions;
  for (const auto& each : owned_) positions.push_back({.where = each});
  return positions;
}

void ReconcilingConsumer::Core::answered(const protocol::ConsumerGroupHeartbeatResponse& response) {
  attempts_ = 0;
  const bool moved = epoch_ != response.memberEpoch;
  epoch_ = response.memberEpoch;
  interval_ = std::chrono::milliseconds(response.heartbeatIntervalMs);
  if (response.assignment) {
    target_.clear();
    for (const auto& topic : response.assignment->topicPartitions)
      target_[topic.topicId].insert(topic.partitions.begin(), topic.partitions.end());
  }
  if (moved) tellAssignment();
  if (stopped_) return;
  later(interval_, &Core::beat);
  reconcile();
}

void ReconcilingConsumer::Core::reconcile() {
  const auto target = named(target_);
  if (!target) {
    return client_.refresh(options_.topics, whileRunning([this](const Result<void>& refreshed) {
                             if (refreshed && named(target_)) reconcile();
                           }));
  }
  const auto wantedOf = [&](const Partitions& held) {
    Partitions kept;
    std::ranges::set_intersection(held, *target, std::inserter(kept, kept.end()));
    return kept;
  };
  if (Partitions still = wantedOf(taking_); still != taking_) {
    taking_ = std::move(still);
    later({}, &Core::beat);
  }
  if (Partitions kept = wantedOf(owned_); kept != owned_) {
    owned_ = std::move(kept);
    consumer_.assign(ownPositions());
    tellAssignment();
    if (stopped_) return;
    // Others wait for what it has given back.
    later({}, &Core::beat);
  }
  Partitions added;
  std::ranges::set_difference(*target, owned_, std::inserter(added, added.end()));
  // Not while the coordinator is told what is owned without them.
  if (!added.empty() && taking_.empty() && !isBeating()) fetchOffsets(added);
}

void ReconcilingConsumer::Core::fetchOffsets(const Partitions& added) {
  protocol::OffsetFetchRequest request;
  request.requireStable = true;
  auto& group = request.groups.emplace_back();
  group.groupId = groupId_;
  group.memberId = memberId_;
  group.memberEpoch = epoch_;
  for (const auto& each : added) {
    if (group.topics->empty() || group.topics->back().name != each.topic)
      group.topics->emplace_back().name = each.topic;
    group.topics->back().partitionIndexes.push_back(each.partition.value());
  }
  taking_ = added;
  ask(std::move(request), {.version = int16_t{9}, .timeout = client_.options().requestTimeout / 10},
      [this, added, number = ++takings_](const Result<network::Received<protocol::OffsetFetchResponse>>& received) {
        // It was fenced meanwhile.
        if (number != takings_) return;
        const bool wantsAll = std::exchange(taking_, {}) == added;
        // The next heartbeat's answer comes here again.
        if (!wantsAll || !received || received->message.groups.size() != 1 ||
            received->message.groups[0].errorCode != 0)
          return;
        take(received->message, added);
      });
}

void ReconcilingConsumer::Core::take(const protocol::OffsetFetchResponse& offsets, const Partitions& added) {
  std::vector<Consumer::Position> positions = ownPositions();
  for (const auto& topic : offsets.groups[0].topics) {
    for (const auto& one : topic.partitions) {
      // Of open transactions, which are still to be decided.
      if (one.errorCode != 0) return;
      const tidemark::TopicPartition where{topic.name.str(), PartitionIndex(one.partitionIndex)};
      if (!added.contains(where)) continue;
      Consumer::Position position{.where = where};
      if (one.committedOffset >= 0) position.at = {Offset(one.committedOffset), LeaderEpoch(one.committedLeaderEpoch)};
      positions.push_back(std::move(position));
    }
  }
  owned_.insert(added.begin(), added.end());
  tellAssignment();
  if (stopped_) return;
  consumer_.assign(std::move(positions));
  later({}, &Core::beat);
}

void ReconcilingConsumer::Core::leave(platform::Task done) {
  protocol::ConsumerGroupHeartbeatRequest request = heartbeat();
  request.memberEpoch = instanceId_.empty() ? kLeavesGroup : kLeavesGroupForAWhile;
  request.topicPartitions.reset();
  left_ = true;
  giveUpAll();
  if (stopped_) return;
  step_.cancel();
  send(std::move(request), {.timeout = client_.options().requestTimeout / 10},
       [done = std::move(done)](const Result<network::Received<protocol::ConsumerGroupHeartbeatResponse>>&) mutable {
         done();
       });
}

ReconcilingConsumer::ReconcilingConsumer(Client& client, ReconcilingOptions options, Consumer::RecordHandler onRecord,
                                         AssignmentHandler onAssignment, ErrorHandler onError)
    : MemberConsumer(
          std::make_shared<Core>(client, std::move(options),
                                 Core::Handlers{std::move(onRecord), std::move(onAssignment), std::move(onError)})) {}

}  // namespace tidemark::client
