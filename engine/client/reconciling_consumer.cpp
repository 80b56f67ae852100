#include "client/reconciling_consumer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client/client_codec.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"

namespace tidemark::client {
namespace {

constexpr int32_t kJoining = 0;
constexpr int32_t kLeaving = -1;
constexpr int32_t kLeavingForAWhile = -2;

}  // namespace

class ReconcilingConsumer::Core : public std::enable_shared_from_this<ReconcilingConsumer::Core> {
 public:
  using Partitions = std::set<tidemark::TopicPartition>;

  Core(Client& client, ReconcilingOptions options, Consumer::RecordHandler onRecord, AssignmentHandler onAssignment,
       ErrorHandler onError)
      : client_(client),
        options_(std::move(options)),
        onAssignment_(std::move(onAssignment)),
        onError_(std::move(onError)),
        memberId_(client.process().random().uuid().toString()),
        consumer_(client, options_.consumer, std::move(onRecord),
                  [this](const tidemark::TopicPartition&, const Error& error) { tell(error); }) {}

  void begin() { later({}, &Core::findCoordinator); }
  void commit(Done done);
  void leave(platform::Task done);
  void stop() {
    stopped_ = true;
    step_.cancel();
  }
  int32_t epoch() const noexcept { return epoch_; }
  std::vector<tidemark::TopicPartition> assignment() const { return {owned_.begin(), owned_.end()}; }

 private:
  using Step = void (Core::*)();

  void findCoordinator();
  void beat();
  protocol::ConsumerGroupHeartbeatRequest heartbeat() const;
  void answered(const protocol::ConsumerGroupHeartbeatResponse& response);
  void refused(ErrorCode code, const std::optional<protocol::Text>& message);
  /// Goes one step towards what it is to own.
  void reconcile();
  /// Nothing: the metadata lacks a topic that is assigned.
  std::optional<Partitions> wanted() const;
  void fetchOffsets(const Partitions& added);
  void take(const protocol::OffsetFetchResponse& offsets, const Partitions& added);
  void giveUpAll();
  void tellAssignment();

  void later(platform::Duration after, Step step) {
    step_ = client_.executor().schedule(after, [weak = weak_from_this(), step] {
      const auto self = weak.lock();
      if (self && !self->stopped_) ((*self).*step)();
    });
  }
  void tell(const Error& error) {
    if (onError_) onError_(error);
  }
  template <class Request, class Then>
  void ask(Request request, network::SendOptions how, Then then) {
    using Response = typename Request::Response;
    auto handler = [weak = weak_from_this(), then = std::move(then)](Result<network::Received<Response>> received) {
      const auto self = weak.lock();
      if (self && !self->stopped_) then(std::move(received));
    };
    if (coordinator_) return coordinator_->send(std::move(request), how, std::move(handler));
    client_.executor().post([handler = std::move(handler)] {
      handler(fail(ErrorCode::CoordinatorNotAvailable, "the coordinator is being looked for"));
    });
  }

  Client& client_;
  const ReconcilingOptions options_;
  const AssignmentHandler onAssignment_;
  const ErrorHandler onError_;
  const std::string memberId_;
  Consumer consumer_;
  std::unique_ptr<network::Channel> coordinator_;
  int32_t epoch_ = kJoining;
  platform::Duration interval_ = std::chrono::seconds(1);
  Partitions owned_;
  /// As it was told last; by topic id.
  std::map<Uuid, std::set<int32_t>> target_;
  bool fetching_ = false;
  bool left_ = false;
  int attempts_ = 0;
  platform::Timer step_;
  bool stopped_ = false;
};

void ReconcilingConsumer::Core::findCoordinator() {
  protocol::FindCoordinatorRequest request;
  request.coordinatorKeys.emplace_back(options_.groupId);
  client_.sendToAny(
      std::move(request), {.version = int16_t{4}},
      [weak = weak_from_this()](Result<network::Received<protocol::FindCoordinatorResponse>> received) {
        const auto self = weak.lock();
        if (!self || self->stopped_) return;
        if (!received || received->message.coordinators.size() != 1 || received->message.coordinators[0].errorCode != 0)
          return self->later(self->client_.backoff(++self->attempts_), &Core::findCoordinator);
        const auto& found = received->message.coordinators[0];
        self->client_.retire(std::move(self->coordinator_));
        self->coordinator_ = self->client_.newChannel({found.host.str(), static_cast<uint16_t>(found.port)});
        self->beat();
      });
}

protocol::ConsumerGroupHeartbeatRequest ReconcilingConsumer::Core::heartbeat() const {
  protocol::ConsumerGroupHeartbeatRequest request;
  request.groupId = options_.groupId;
  request.memberId = memberId_;
  request.memberEpoch = epoch_;
  if (!options_.instanceId.empty()) request.instanceId = options_.instanceId;
  request.rebalanceTimeoutMs = millis(options_.rebalanceTimeout);
  request.subscribedTopicNames.emplace();
  for (const std::string& topic : options_.topics) request.subscribedTopicNames->emplace_back(topic);
  request.topicPartitions.emplace();
  for (const auto& each : owned_) {
    const auto* topic = client_.metadata().find(each.topic);
    if (topic == nullptr) continue;
    if (request.topicPartitions->empty() || request.topicPartitions->back().topicId != topic->id)
      request.topicPartitions->emplace_back().topicId = topic->id;
    request.topicPartitions->back().partitions.push_back(each.partition.value());
  }
  return request;
}

void ReconcilingConsumer::Core::beat() {
  step_.cancel();
  if (left_) return;
  ask(heartbeat(), {.timeout = client_.options().requestTimeout / 10},
      [this, sent = epoch_](Result<network::Received<protocol::ConsumerGroupHeartbeatResponse>> received) {
        if (left_) return;
        if (!received) return refused(received.error().code, {});
        const auto code = static_cast<ErrorCode>(received->message.errorCode);
        if (code != ErrorCode::None) return refused(code, received->message.errorMessage);
        // It has another epoch by now: this one was asked before.
        if (sent != epoch_) return;
        answered(received->message);
      });
}

void ReconcilingConsumer::Core::refused(ErrorCode code, const std::optional<protocol::Text>& message) {
  switch (code) {
    case ErrorCode::FencedMemberEpoch:
    case ErrorCode::UnknownMemberId:
      giveUpAll();
      return later(client_.backoff(++attempts_), &Core::beat);
    case ErrorCode::UnreleasedInstanceId:
    case ErrorCode::CoordinatorLoadInProgress:
      return later(client_.backoff(++attempts_), &Core::beat);
    default:
      break;
  }
  if (isRetriable(code) || code == ErrorCode::BrokerNotAvailable) {
    client_.retire(std::move(coordinator_));
    return later(client_.backoff(++attempts_), &Core::findCoordinator);
  }
  tell({code, fmt::format("group {}: {}", options_.groupId, message ? message->str() : std::string(errorName(code)))});
}

void ReconcilingConsumer::Core::giveUpAll() {
  epoch_ = kJoining;
  owned_.clear();
  target_.clear();
  consumer_.assign({});
  tellAssignment();
}

void ReconcilingConsumer::Core::tellAssignment() {
  if (onAssignment_) onAssignment_(epoch_, assignment());
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

std::optional<ReconcilingConsumer::Core::Partitions> ReconcilingConsumer::Core::wanted() const {
  Partitions wanted;
  for (const auto& [id, partitions] : target_) {
    const std::string name(client_.metadata().nameOf(id));
    if (name.empty()) return std::nullopt;
    for (const int32_t index : partitions) wanted.insert({name, PartitionIndex(index)});
  }
  return wanted;
}

void ReconcilingConsumer::Core::reconcile() {
  const auto target = wanted();
  if (!target) {
    client_.refresh(options_.topics, [weak = weak_from_this()](const Result<void>& refreshed) {
      const auto self = weak.lock();
      if (self && !self->stopped_ && refreshed && self->wanted()) self->reconcile();
    });
    return;
  }
  Partitions kept;
  std::ranges::set_intersection(owned_, *target, std::inserter(kept, kept.end()));
  if (kept != owned_) {
    owned_ = std::move(kept);
    std::vector<Consumer::Position> positions;
    for (const auto& each : owned_) positions.push_back({.where = each, .offset = {}});
    consumer_.assign(std::move(positions));
    tellAssignment();
    if (stopped_) return;
    // Others wait for what it has given back.
    later({}, &Core::beat);
  }
  Partitions added;
  std::ranges::set_difference(*target, owned_, std::inserter(added, added.end()));
  if (!added.empty() && !fetching_) fetchOffsets(added);
}

void ReconcilingConsumer::Core::fetchOffsets(const Partitions& added) {
  protocol::OffsetFetchRequest request;
  request.requireStable = true;
  auto& group = request.groups.emplace_back();
  group.groupId = options_.groupId;
  group.memberId = memberId_;
  group.memberEpoch = epoch_;
  for (const auto& each : added) {
    if (group.topics->empty() || group.topics->back().name != each.topic)
      group.topics->emplace_back().name = each.topic;
    group.topics->back().partitionIndexes.push_back(each.partition.value());
  }
  fetching_ = true;
  ask(std::move(request), {.version = int16_t{9}, .timeout = client_.options().requestTimeout / 10},
      [this, added, asked = epoch_](Result<network::Received<protocol::OffsetFetchResponse>> received) {
        fetching_ = false;
        if (left_) return;
        // The next heartbeat's answer comes here again.
        if (!received || received->message.groups.size() != 1 || received->message.groups[0].errorCode != 0) return;
        // It was fenced meanwhile, or is to do without some of them.
        const auto target = wanted();
        if (asked != epoch_ || !target || !std::ranges::includes(*target, added)) return;
        take(received->message, added);
      });
}

void ReconcilingConsumer::Core::take(const protocol::OffsetFetchResponse& offsets, const Partitions& added) {
  std::vector<Consumer::Position> positions;
  for (const auto& each : owned_) positions.push_back({.where = each, .offset = {}});
  for (const auto& topic : offsets.groups[0].topics) {
    for (const auto& one : topic.partitions) {
      // Of open transactions, which are still to be decided.
      if (one.errorCode != 0) return;
      const tidemark::TopicPartition where{topic.name.str(), PartitionIndex(one.partitionIndex)};
      if (!added.contains(where)) continue;
      Consumer::Position position{.where = where, .offset = {}};
      if (one.committedOffset >= 0) position.offset = Offset(one.committedOffset);
      positions.push_back(std::move(position));
    }
  }
  owned_.insert(added.begin(), added.end());
  tellAssignment();
  if (stopped_) return;
  consumer_.assign(std::move(positions));
  later({}, &Core::beat);
}

void ReconcilingConsumer::Core::commit(Done done) {
  auto finish = std::make_shared<Done>(std::move(done));
  protocol::OffsetCommitRequest request;
  request.groupId = options_.groupId;
  request.generationIdOrMemberEpoch = epoch_;
  request.memberId = memberId_;
  if (!options_.instanceId.empty()) request.groupInstanceId = options_.instanceId;
  for (const auto& where : owned_) {
    const auto position = consumer_.position(where);
    if (!position) continue;
    if (request.topics.empty() || request.topics.back().name != where.topic)
      request.topics.push_back({.name = where.topic, .topicId = {}, .partitions = {}});
    request.topics.back().partitions.push_back(
        {.partitionIndex = where.partition.value(), .committedOffset = position->value()});
  }
  if (request.topics.empty()) return client_.executor().post([finish] { (*finish)({}); });
  ask(std::move(request), {.maxVersion = 9},
      [this, finish](const Result<network::Received<protocol::OffsetCommitResponse>>& received) {
        ErrorCode code = received ? ErrorCode::None : received.error().code;
        if (received)
          for (const auto& topic : received->message.topics)
            for (const auto& partition : topic.partitions)
              if (code == ErrorCode::None) code = static_cast<ErrorCode>(partition.errorCode);
        if (code == ErrorCode::None) return (*finish)({});
        (*finish)(fail(code, fmt::format("group {}: {}", options_.groupId, errorName(code))));
      });
}

void ReconcilingConsumer::Core::leave(platform::Task done) {
  auto finish = std::make_shared<platform::Task>(std::move(done));
  protocol::ConsumerGroupHeartbeatRequest request = heartbeat();
  request.memberEpoch = options_.instanceId.empty() ? kLeaving : kLeavingForAWhile;
  request.topicPartitions.reset();
  left_ = true;
  giveUpAll();
  if (stopped_) return;
  step_.cancel();
  ask(std::move(request), {.timeout = client_.options().requestTimeout / 10},
      [finish](const Result<network::Received<protocol::ConsumerGroupHeartbeatResponse>>&) { (*finish)(); });
}

ReconcilingConsumer::ReconcilingConsumer(Client& client, ReconcilingOptions options, Consumer::RecordHandler onRecord,
                                         AssignmentHandler onAssignment, ErrorHandler onError)
    : core_(std::make_shared<Core>(client, std::move(options), std::move(onRecord), std::move(onAssignment),
                                   std::move(onError))) {
  core_->begin();
}

ReconcilingConsumer::~ReconcilingConsumer() {
  core_->stop();
}

void ReconcilingConsumer::commit(Done done) {
  core_->commit(std::move(done));
}

void ReconcilingConsumer::leave(platform::Task done) {
  core_->leave(std::move(done));
}

int32_t ReconcilingConsumer::epoch() const noexcept {
  return core_->epoch();
}

std::vector<TopicPartition> ReconcilingConsumer::assignment() const {
  return core_->assignment();
}

}  // namespace tidemark::client
