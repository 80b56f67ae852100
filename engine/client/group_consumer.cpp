#include "client/group_consumer.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "client/client_codec.h"
#include "protocol/generated/consumer_protocol_assignment.h"
#include "protocol/generated/consumer_protocol_subscription.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"

namespace tidemark::client {

using platform::Duration;
using namespace protocol;  // The messages are most of what follows.
using PartitionOf = tidemark::TopicPartition;

namespace {

constexpr std::string_view kProtocolType = "consumer";
constexpr std::string_view kAssignor = "range";
/// How often the leader asks for the topics' partitions before it assigns what it knows.
constexpr int kMetadataAttempts = 8;

Blob generationMark(int32_t generation) {
  ByteVector bytes(sizeof(generation));
  writeBigEndian(bytes.data(), generation);
  return bytes;
}

}  // namespace

std::vector<std::vector<int32_t>> rangeAssignment(size_t members, int32_t partitions) {
  std::vector<std::vector<int32_t>> assignment(members);
  int32_t next = 0;
  for (size_t i = 0; i < members; ++i) {
    const auto share = partitions / static_cast<int32_t>(members) +
                       (static_cast<int32_t>(i) < partitions % static_cast<int32_t>(members) ? 1 : 0);
    for (int32_t j = 0; j < share; ++j) assignment[i].push_back(next++);
  }
  return assignment;
}

class GroupConsumer::Core : public std::enable_shared_from_this<GroupConsumer::Core> {
 public:
  Core(Client& client, GroupOptions options, Consumer::RecordHandler onRecord, AssignmentHandler onAssignment,
       ErrorHandler onError)
      : client_(client),
        options_(std::move(options)),
        onAssignment_(std::move(onAssignment)),
        onError_(std::move(onError)),
        consumer_(client, options_.consumer, std::move(onRecord),
                  [this](const PartitionOf&, const Error& error) { tell(error); }) {}

  void begin() { later({}, &Core::findCoordinator); }
  void commit(Done done);
  void leave(platform::Task done);
  void stop() {
    stopped_ = true;
    step_.cancel();
    heartbeat_.cancel();
    autoCommit_.cancel();
  }
  int32_t generation() const noexcept { return generation_; }
  const std::string& memberId() const noexcept { return memberId_; }
  const std::vector<PartitionOf>& assignment() const noexcept { return assignment_; }

 private:
  using Step = void (Core::*)();

  // One after another, until stable; any may lead back.
  void findCoordinator();
  void join();
  void sync(const JoinGroupResponse& joined);
  void leadWith(std::shared_ptr<JoinGroupResponse> joined, int attempt);
  void sendSync(std::map<std::string, ConsumerProtocolAssignment> assignments);
  void takeAssignment(const Blob& assignment);
  void fetchOffsets();
  void becomeStable(const OffsetFetchResponse& offsets);
  void beat();
  void commitByItself();

  void rejoin();
  void handle(ErrorCode code, Step again);
  void later(Duration after, Step step);
  void tell(const Error& error) {
    if (onError_) onError_(error);
  }
  std::map<std::string, ConsumerProtocolAssignment> assign(const JoinGroupResponse& joined) const;
  std::optional<Text> instanceId() const {
    return options_.instanceId.empty() ? std::nullopt : std::optional<Text>(options_.instanceId);
  }

  /// To the coordinator; `then` is called with the answer or, if there is none, with the error.
  template <class Request, class Then>
  void ask(Request request, network::SendOptions how, Then then) {
    using Response = typename Request::Response;
    auto handler = [weak = weak_from_this(), left = left_,
                    then = std::move(then)](Result<network::Received<Response>> received) {
      const auto self = weak.lock();
      // Whoever has left does not come back with the answer of a join that was under way.
      if (self && !self->stopped_ && self->left_ == left) then(std::move(received));
    };
    if (coordinator_) return coordinator_->send(std::move(request), how, std::move(handler));
    client_.executor().post([handler = std::move(handler)] {
      handler(fail(ErrorCode::CoordinatorNotAvailable, "the coordinator is being looked for"));
    });
  }

  Client& client_;
  const GroupOptions options_;
  const AssignmentHandler onAssignment_;
  const ErrorHandler onError_;
  Consumer consumer_;

  /// A connection of its own: a parked JoinGroup holds up whatever comes behind it.
  std::unique_ptr<network::Channel> coordinator_;
  std::string memberId_;
  int32_t generation_ = -1;
  std::vector<PartitionOf> assignment_;
  bool stable_ = false;
  int attempts_ = 0;
  platform::Timer step_;
  platform::Timer heartbeat_;
  platform::Timer autoCommit_;
  bool left_ = false;
  bool stopped_ = false;
};

void GroupConsumer::Core::later(Duration after, Step step) {
  step_ = client_.executor().schedule(after, [weak = weak_from_this(), step] {
    const auto self = weak.lock();
    if (self && !self->stopped_) ((*self).*step)();
  });
}

/// What an error of the coordinator means wherever it comes from. `again` is what is tried again.
void GroupConsumer::Core::handle(ErrorCode code, Step again) {
  switch (code) {
    case ErrorCode::UnknownMemberId:
      memberId_.clear();
      [[fallthrough]];
    case ErrorCode::IllegalGeneration:
    case ErrorCode::RebalanceInProgress:
      return rejoin();
    case ErrorCode::CoordinatorLoadInProgress:
      return later(client_.backoff(++attempts_), again);
    default:
      break;
  }
  if (isRetriable(code) || code == ErrorCode::BrokerNotAvailable) {
    client_.retire(std::move(coordinator_));
    return later(client_.backoff(++attempts_), &Core::findCoordinator);
  }
  tell({code, fmt::format("group {}: {}", options_.groupId, errorName(code))});
}

void GroupConsumer::Core::rejoin() {
  if (stable_ && options_.autoCommitInterval > Duration{}) commit([](const Result<void>&) {});
  stable_ = false;
  heartbeat_.cancel();
  autoCommit_.cancel();
  assignment_.clear();
  consumer_.assign({});
  later({}, &Core::join);
}

// --- Coordinator and membership --------------------------------------------------------------------------------------

void GroupConsumer::Core::findCoordinator() {
  FindCoordinatorRequest request;
  request.coordinatorKeys.emplace_back(options_.groupId);
  client_.sendToAny(std::move(request), {.version = int16_t{4}},
                    [weak = weak_from_this()](Result<network::Received<FindCoordinatorResponse>> received) {
                      const auto self = weak.lock();
                      if (!self || self->stopped_ || self->left_) return;
                      if (!received) return self->handle(received.error().code, &Core::findCoordinator);
                      if (received->message.coordinators.size() != 1) {
                        return self->handle(ErrorCode::CoordinatorNotAvailable, &Core::findCoordinator);
                      }
                      const auto& found = received->message.coordinators[0];
                      if (found.errorCode != 0) {
                        return self->handle(static_cast<ErrorCode>(found.errorCode), &Core::findCoordinator);
                      }
                      self->client_.retire(std::move(self->coordinator_));
                      self->coordinator_ =
                          self->client_.newChannel({found.host.str(), static_cast<uint16_t>(found.port)});
                      if (self->stable_) return self->beat();
                      self->join();
                    });
}

void GroupConsumer::Core::join() {
  ConsumerProtocolSubscription subscription;
  for (const auto& topic : options_.topics) subscription.topics.emplace_back(topic);
  const auto metadata = encodeVersioned(subscription, 1);
  if (!metadata) return tell(metadata.error());
  JoinGroupRequest request;
  request.groupId = options_.groupId;
  request.sessionTimeoutMs = millis(options_.sessionTimeout);
  request.rebalanceTimeoutMs = millis(options_.rebalanceTimeout);
  request.memberId = memberId_;
  request.groupInstanceId = instanceId();
  request.protocolType = kProtocolType;
  request.protocols.push_back({.name = kAssignor, .metadata = *metadata});
  // The answer comes when everybody has joined.
  const Duration patience = options_.rebalanceTimeout + client_.options().requestTimeout;
  ask(std::move(request), {.maxVersion = 7, .timeout = patience},
      [this](Result<network::Received<JoinGroupResponse>> received) {
        if (!received) return handle(received.error().code, &Core::join);
        const JoinGroupResponse& joined = received->message;
        const auto code = static_cast<ErrorCode>(joined.errorCode);
        if (code == ErrorCode::MemberIdRequired) {
          memberId_ = joined.memberId.str();
          return join();
        }
        if (code != ErrorCode::None) return handle(code, &Core::join);
        attempts_ = 0;
        memberId_ = joined.memberId.str();
        generation_ = joined.generationId;
        sync(joined);
      });
}

void GroupConsumer::Core::sync(const JoinGroupResponse& joined) {
  if (joined.leader != memberId_) return sendSync({});
  leadWith(std::make_shared<JoinGroupResponse>(joined), 1);
}

void GroupConsumer::Core::leadWith(std::shared_ptr<JoinGroupResponse> joined, int attempt) {
  // The leader decides, on metadata as fresh as can be. A topic that nobody could tell about would be given to nobody.
  client_.refresh(options_.topics, [weak = weak_from_this(), joined, attempt](const Result<void>&) {
    const auto self = weak.lock();
    if (!self || self->stopped_ || self->generation_ != joined->generationId) return;
    const bool known = std::ranges::all_of(self->options_.topics, [&](const std::string& topic) {
      const auto* found = self->client_.metadata().find(topic);
      return found != nullptr && !found->partitions.empty();
    });
    if (known || attempt >= kMetadataAttempts) return self->sendSync(self->assign(*joined));
    self->step_ = self->client_.executor().schedule(self->client_.backoff(attempt), [weak, joined, attempt] {
      const auto again = weak.lock();
      if (again && !again->stopped_ && again->generation_ == joined->generationId) again->leadWith(joined, attempt + 1);
    });
  });
}

std::map<std::string, ConsumerProtocolAssignment> GroupConsumer::Core::assign(const JoinGroupResponse& joined) const {
  std::map<std::string, std::set<std::string>> membersByTopic;
  std::map<std::string, ConsumerProtocolAssignment> assignments;
  for (const auto& member : joined.members) {
    // In which generation it was made: whoever is given it in another one knows.
    assignments[member.memberId.str()].userData = generationMark(joined.generationId);
    const auto subscription = decodeVersionedAs<ConsumerProtocolSubscription>(member.metadata.view());
    if (!subscription) continue;
    for (const auto& topic : subscription->topics) membersByTopic[topic.str()].insert(member.memberId.str());
  }
  for (const auto& [topic, members] : membersByTopic) {
    const auto* known = client_.metadata().find(topic);
    if (known == nullptr) continue;
    const auto ranges = rangeAssignment(members.size(), static_cast<int32_t>(known->partitions.size()));
    size_t i = 0;
    for (const auto& member : members) {
      if (!ranges[i].empty()) {
        assignments[member].assignedPartitions.push_back({.topic = topic, .partitions = ranges[i]});
      }
      ++i;
    }
  }
  return assignments;
}

void GroupConsumer::Core::sendSync(std::map<std::string, ConsumerProtocolAssignment> assignments) {
  SyncGroupRequest request;
  request.groupId = options_.groupId;
  request.generationId = generation_;
  request.memberId = memberId_;
  request.groupInstanceId = instanceId();
  request.protocolType = Text(kProtocolType);
  request.protocolName = Text(kAssignor);
  for (const auto& [member, assignment] : assignments) {
    const auto encoded = encodeVersioned(assignment, 1);
    if (!encoded) return tell(encoded.error());
    request.assignments.push_back({.memberId = member, .assignment = *encoded});
  }
  const Duration patience = options_.rebalanceTimeout + client_.options().requestTimeout;
  ask(std::move(request), {.timeout = patience}, [this](Result<network::Received<SyncGroupResponse>> received) {
    if (!received) return handle(received.error().code, &Core::join);
    const auto code = static_cast<ErrorCode>(received->message.errorCode);
    if (code != ErrorCode::None) return handle(code, &Core::join);
    takeAssignment(received->message.assignment);
  });
}

void GroupConsumer::Core::takeAssignment(const Blob& assignment) {
  assignment_.clear();
  if (!assignment.empty()) {
    const auto decoded = decodeVersionedAs<ConsumerProtocolAssignment>(assignment.view());
    if (!decoded) return tell(decoded.error());
    if (decoded->userData && decoded->userData->view().size() == sizeof(int32_t) &&
        !std::ranges::equal(decoded->userData->view(), generationMark(generation_).view()))
      return tell({ErrorCode::IllegalGeneration,
                   fmt::format("group {}: in generation {} it is given an assignment of another one", options_.groupId,
                               generation_)});
    for (const auto& topic : decoded->assignedPartitions) {
      for (const int32_t index : topic.partitions) assignment_.push_back({topic.topic.str(), PartitionIndex(index)});
    }
  }
  std::sort(assignment_.begin(), assignment_.end());
  fetchOffsets();
}

// --- Offsets ---------------------------------------------------------------------------------------------------------

void GroupConsumer::Core::fetchOffsets() {
  OffsetFetchRequest request;
  request.groupId = options_.groupId;
  request.requireStable = true;
  for (const auto& where : assignment_) {
    if (request.topics->empty() || request.topics->back().name != where.topic) {
      request.topics->push_back({.name = where.topic, .partitionIndexes = {}});
    }
    request.topics->back().partitionIndexes.push_back(where.partition.value());
  }
  ask(std::move(request), {.version = int16_t{7}}, [this](Result<network::Received<OffsetFetchResponse>> received) {
    if (!received) return handle(received.error().code, &Core::fetchOffsets);
    ErrorCode code = static_cast<ErrorCode>(received->message.errorCode);
    for (const auto& topic : received->message.topics) {
      for (const auto& partition : topic.partitions) {
        if (code == ErrorCode::None) code = static_cast<ErrorCode>(partition.errorCode);
      }
    }
    // Open transactions are still to be decided.
    if (code == ErrorCode::UnstableOffsetCommit) return later(client_.backoff(++attempts_), &Core::fetchOffsets);
    if (code != ErrorCode::None) return handle(code, &Core::fetchOffsets);
    becomeStable(received->message);
  });
}

void GroupConsumer::Core::becomeStable(const OffsetFetchResponse& offsets) {
  std::vector<Consumer::Position> positions;
  for (const auto& topic : offsets.topics) {
    for (const auto& partition : topic.partitions) {
      Consumer::Position position{{topic.name.str(), PartitionIndex(partition.partitionIndex)}, std::nullopt};
      if (partition.committedOffset >= 0) position.offset = Offset(partition.committedOffset);
      positions.push_back(std::move(position));
    }
  }
  attempts_ = 0;
  stable_ = true;
  if (onAssignment_) onAssignment_(generation_, assignment_);
  if (stopped_) return;
  consumer_.assign(std::move(positions));
  beat();
  if (options_.autoCommitInterval > Duration{}) commitByItself();
}

void GroupConsumer::Core::beat() {
  heartbeat_ = client_.executor().schedule(options_.heartbeatInterval, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->stopped_ || !self->stable_) return;
    HeartbeatRequest request;
    request.groupId = self->options_.groupId;
    request.generationId = self->generation_;
    request.memberId = self->memberId_;
    request.groupInstanceId = self->instanceId();
    const int32_t generation = self->generation_;
    self->ask(std::move(request), {.timeout = self->options_.sessionTimeout},
              [core = self.get(), generation](Result<network::Received<HeartbeatResponse>> received) {
                if (!core->stable_ || core->generation_ != generation) return;
                const ErrorCode code =
                    received ? static_cast<ErrorCode>(received->message.errorCode) : received.error().code;
                if (code == ErrorCode::None) return core->beat();
                core->handle(code, &Core::beat);
              });
  });
}

void GroupConsumer::Core::commitByItself() {
  autoCommit_ = client_.executor().schedule(options_.autoCommitInterval, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->stopped_ || !self->stable_) return;
    self->commit([weak](const Result<void>&) {
      const auto again = weak.lock();
      if (again && !again->stopped_ && again->stable_) again->commitByItself();
    });
  });
}

void GroupConsumer::Core::commit(Done done) {
  auto finish = std::make_shared<Done>(std::move(done));
  auto answer = [this, finish](Result<void> result) {
    client_.executor().post([finish, result = std::move(result)] { (*finish)(result); });
  };
  if (!stable_) return answer(fail(ErrorCode::RebalanceInProgress, "the group is about to share its partitions out"));
  OffsetCommitRequest request;
  request.groupId = options_.groupId;
  request.generationIdOrMemberEpoch = generation_;
  request.memberId = memberId_;
  request.groupInstanceId = instanceId();
  for (const auto& where : assignment_) {
    const auto position = consumer_.position(where);
    if (!position) continue;
    if (request.topics.empty() || request.topics.back().name != where.topic) {
      request.topics.push_back({.name = where.topic, .topicId = {}, .partitions = {}});
    }
    request.topics.back().partitions.push_back(
        {.partitionIndex = where.partition.value(), .committedOffset = position->value()});
  }
  if (request.topics.empty()) return answer({});
  ask(std::move(request), {.maxVersion = 9}, [this, finish](Result<network::Received<OffsetCommitResponse>> received) {
    ErrorCode code = received ? ErrorCode::None : received.error().code;
    if (received) {
      for (const auto& topic : received->message.topics) {
        for (const auto& partition : topic.partitions) {
          if (code == ErrorCode::None) code = static_cast<ErrorCode>(partition.errorCode);
        }
      }
    }
    if (code == ErrorCode::None) return (*finish)({});
    // Heartbeats find out what has become of the group; here it is only told.
    (*finish)(fail(code, fmt::format("group {}: {}", options_.groupId, errorName(code))));
  });
}

void GroupConsumer::Core::leave(platform::Task done) {
  auto finish = std::make_shared<platform::Task>(std::move(done));
  auto part = [weak = weak_from_this(), finish] {
    const auto self = weak.lock();
    if (!self || self->stopped_) return;
    LeaveGroupRequest request;
    request.groupId = self->options_.groupId;
    request.members.push_back({.memberId = self->memberId_, .groupInstanceId = std::nullopt});
    self->left_ = true;
    self->stable_ = false;
    self->generation_ = -1;
    self->assignment_.clear();
    self->heartbeat_.cancel();
    self->autoCommit_.cancel();
    self->step_.cancel();
    self->consumer_.assign({});
    if (self->memberId_.empty()) return self->client_.executor().post([finish] { (*finish)(); });
    self->ask(std::move(request), {.version = int16_t{4}},
              [finish](const Result<network::Received<LeaveGroupResponse>>&) { (*finish)(); });
  };
  if (stable_ && options_.autoCommitInterval > Duration{}) return commit([part](const Result<void>&) { part(); });
  part();
}

GroupConsumer::GroupConsumer(Client& client, GroupOptions options, Consumer::RecordHandler onRecord,
                             AssignmentHandler onAssignment, ErrorHandler onError)
    : core_(std::make_shared<Core>(client, std::move(options), std::move(onRecord), std::move(onAssignment),
                                   std::move(onError))) {
  core_->begin();
}

GroupConsumer::~GroupConsumer() {
  core_->stop();
}

void GroupConsumer::commit(Done done) {
  core_->commit(std::move(done));
}

void GroupConsumer::leave(platform::Task done) {
  core_->leave(std::move(done));
}

int32_t GroupConsumer::generation() const noexcept {
  return core_->generation();
}

std::string GroupConsumer::memberId() const {
  return core_->memberId();
}

std::vector<TopicPartition> GroupConsumer::assignment() const {
  return core_->assignment();
}

}  // namespace tidemark::client
