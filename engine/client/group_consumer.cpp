#include "client/group_consumer.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "client/member_consumer_core.h"
#include "protocol/generated/consumer_protocol_assignment.h"
#include "protocol/generated/consumer_protocol_subscription.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
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
constexpr int32_t kNoGeneration = -1;

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

class GroupConsumer::Core final : public MemberConsumer::Core {
 public:
  Core(Client& client, GroupOptions options, Handlers handlers)
      : MemberConsumer::Core(client, options.groupId, options.instanceId, options.consumer, std::move(handlers)),
        options_(std::move(options)) {
    epoch_ = kNoGeneration;
  }

  void commit(Done done) override;
  void leave(platform::Task done) override;
  void stop() override {
    MemberConsumer::Core::stop();
    heartbeat_.cancel();
    autoCommit_.cancel();
  }

 private:
  using Step = void (Core::*)();

  // One after another, until stable; any may lead back.
  void proceed() override { stable_ ? beat() : join(); }
  void join();
  void sync(const JoinGroupResponse& joined);
  void leadWith(std::shared_ptr<JoinGroupResponse> joined, int attempt);
  void sendSync(std::map<std::string, ConsumerProtocolAssignment> assignments);
  void takeAssignment(const Blob& assignment);
  void fetchOffsets();
  void becomeStable(const OffsetFetchResponse& offsets);
  void beat();
  void commitByItself();
  void part(platform::Task done);

  bool commitsByItself() const noexcept { return options_.autoCommitInterval > Duration{}; }
  void rejoin();
  /// Has nothing to read any more, and no part in the generation.
  void giveUpAll();
  void handle(const Error& error, Step again);
  std::map<std::string, ConsumerProtocolAssignment> assign(const JoinGroupResponse& joined) const;

  const GroupOptions options_;
  bool stable_ = false;
  platform::Timer heartbeat_;
  platform::Timer autoCommit_;
};

/// What an error of the coordinator means wherever it comes from. `again` is what is tried again.
void GroupConsumer::Core::handle(const Error& error, Step again) {
  switch (error.code) {
    case ErrorCode::UnknownMemberId:
      memberId_.clear();
      [[fallthrough]];
    case ErrorCode::IllegalGeneration:
    case ErrorCode::RebalanceInProgress:
      return rejoin();
    // Open transactions are still to be decided.
    case ErrorCode::UnstableOffsetCommit:
    case ErrorCode::CoordinatorLoadInProgress:
      return later(backoff(), again);
    default:
      return lose(error);
  }
}

void GroupConsumer::Core::rejoin() {
  if (stable_ && commitsByItself()) commit([](const Result<void>&) {});
  giveUpAll();
  later({}, &Core::join);
}

void GroupConsumer::Core::giveUpAll() {
  stable_ = false;
  heartbeat_.cancel();
  autoCommit_.cancel();
  owned_.clear();
  consumer_.assign({});
}

// --- Membership ------------------------------------------------------------------------------------------------------

void GroupConsumer::Core::join() {
  ConsumerProtocolSubscription subscription;
  for (const auto& topic : options_.topics) subscription.topics.emplace_back(topic);
  const auto metadata = encodeVersioned(subscription, 1);
  if (!metadata) return tell(metadata.error());
  JoinGroupRequest request;
  request.groupId = groupId_;
  request.sessionTimeoutMs = millis(options_.sessionTimeout);
  request.rebalanceTimeoutMs = millis(options_.rebalanceTimeout);
  request.memberId = memberId_;
  request.groupInstanceId = instanceId();
  request.protocolType = kProtocolType;
  request.protocols.push_back({.name = kAssignor, .metadata = *metadata});
  // The answer comes when everybody has joined.
  const Duration patience = options_.rebalanceTimeout + client_.options().requestTimeout;
  ask(std::move(request), {.maxVersion = 7, .timeout = patience},
      [this](const Result<network::Received<JoinGroupResponse>>& received) {
        if (!received) return handle(received.error(), &Core::join);
        const JoinGroupResponse& joined = received->message;
        const auto code = static_cast<ErrorCode>(joined.errorCode);
        if (code == ErrorCode::MemberIdRequired) {
          memberId_ = joined.memberId.str();
          return join();
        }
        if (code != ErrorCode::None) return handle(errorOf(joined.errorCode, {}, "joining"), &Core::join);
        attempts_ = 0;
        memberId_ = joined.memberId.str();
        epoch_ = joined.generationId;
        sync(joined);
      });
}

void GroupConsumer::Core::sync(const JoinGroupResponse& joined) {
  if (joined.leader != memberId_) return sendSync({});
  leadWith(std::make_shared<JoinGroupResponse>(joined), 1);
}

void GroupConsumer::Core::leadWith(std::shared_ptr<JoinGroupResponse> joined, int attempt) {
  // The leader decides, on metadata as fresh as can be. A topic that nobody could tell about would be given to nobody.
  client_.refresh(options_.topics, whileRunning([this, joined, attempt](const Result<void>&) {
                    if (epoch_ != joined->generationId) return;
                    const bool known = std::ranges::all_of(options_.topics, [&](const std::string& topic) {
                      const auto* found = client_.metadata().find(topic);
                      return found != nullptr && !found->partitions.empty();
                    });
                    if (known || attempt >= kMetadataAttempts) return sendSync(assign(*joined));
                    step_ = client_.executor().schedule(client_.backoff(attempt), whileRunning([this, joined, attempt] {
                                                          if (epoch_ == joined->generationId)
                                                            leadWith(joined, attempt + 1);
                                                        }));
                  }));
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
  request.groupId = groupId_;
  request.generationId = epoch_;
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
  ask(std::move(request), {.timeout = patience}, [this](const Result<network::Received<SyncGroupResponse>>& received) {
    if (!received) return handle(received.error(), &Core::join);
    if (received->message.errorCode != 0)
      return handle(errorOf(received->message.errorCode, {}, "taking part"), &Core::join);
    takeAssignment(received->message.assignment);
  });
}

void GroupConsumer::Core::takeAssignment(const Blob& assignment) {
  owned_.clear();
  if (!assignment.empty()) {
    const auto decoded = decodeVersionedAs<ConsumerProtocolAssignment>(assignment.view());
    if (!decoded) return tell(decoded.error());
    if (decoded->userData && decoded->userData->view().size() == sizeof(int32_t) &&
        !std::ranges::equal(decoded->userData->view(), generationMark(epoch_).view()))
      return tell({ErrorCode::IllegalGeneration,
                   fmt::format("in generation {} it is given an assignment of another one", epoch_)});
    for (const auto& topic : decoded->assignedPartitions) {
      for (const int32_t index : topic.partitions) owned_.insert({topic.topic.str(), PartitionIndex(index)});
    }
  }
  fetchOffsets();
}

// --- Offsets ---------------------------------------------------------------------------------------------------------

void GroupConsumer::Core::fetchOffsets() {
  OffsetFetchRequest request;
  request.groupId = groupId_;
  request.requireStable = true;
  for (const auto& where : owned_) {
    if (request.topics->empty() || request.topics->back().name != where.topic) {
      request.topics->push_back({.name = where.topic, .partitionIndexes = {}});
    }
    request.topics->back().partitionIndexes.push_back(where.partition.value());
  }
  ask(std::move(request), {.version = int16_t{7}},
      [this](const Result<network::Received<OffsetFetchResponse>>& received) {
        if (!received) return handle(received.error(), &Core::fetchOffsets);
        int16_t code = received->message.errorCode;
        for (const auto& topic : received->message.topics) {
          for (const auto& partition : topic.partitions) {
            if (code == 0) code = partition.errorCode;
          }
        }
        if (code != 0) return handle(errorOf(code, {}, "its offsets"), &Core::fetchOffsets);
        becomeStable(received->message);
      });
}

void GroupConsumer::Core::becomeStable(const OffsetFetchResponse& offsets) {
  std::vector<Consumer::Position> positions;
  for (const auto& topic : offsets.topics) {
    for (const auto& partition : topic.partitions) {
      Consumer::Position position{.where = {topic.name.str(), PartitionIndex(partition.partitionIndex)}};
      if (partition.committedOffset >= 0)
        position.at = {Offset(partition.committedOffset), LeaderEpoch(partition.committedLeaderEpoch)};
      positions.push_back(std::move(position));
    }
  }
  attempts_ = 0;
  stable_ = true;
  tellAssignment();
  if (stopped_) return;
  consumer_.assign(std::move(positions));
  beat();
  if (commitsByItself()) commitByItself();
}

void GroupConsumer::Core::beat() {
  heartbeat_ = client_.executor().schedule(
      options_.heartbeatInterval, whileRunning([this] {
        if (!stable_) return;
        HeartbeatRequest request;
        request.groupId = groupId_;
        request.generationId = epoch_;
        request.memberId = memberId_;
        request.groupInstanceId = instanceId();
        ask(std::move(request), {.timeout = options_.sessionTimeout},
            [this, generation = epoch_](const Result<network::Received<HeartbeatResponse>>& received) {
              if (!stable_ || epoch_ != generation) return;
              if (!received) return handle(received.error(), &Core::beat);
              if (received->message.errorCode != 0)
                return handle(errorOf(received->message.errorCode, {}, "a heartbeat"), &Core::beat);
              beat();
            });
      }));
}

void GroupConsumer::Core::commitByItself() {
  autoCommit_ = client_.executor().schedule(options_.autoCommitInterval, whileRunning([this] {
                                              if (!stable_) return;
                                              commit(whileRunning([this](const Result<void>&) {
                                                if (stable_) commitByItself();
                                              }));
                                            }));
}

void GroupConsumer::Core::commit(Done done) {
  if (stable_) return MemberConsumer::Core::commit(std::move(done));
  client_.executor().post([done = std::move(done)]() mutable {
    done(fail(ErrorCode::RebalanceInProgress, "the group is about to share its partitions out"));
  });
}

void GroupConsumer::Core::leave(platform::Task done) {
  if (stable_ && commitsByItself()) {
    return commit(whileRunning([this, done = std::move(done)](const Result<void>&) mutable { part(std::move(done)); }));
  }
  part(std::move(done));
}

void GroupConsumer::Core::part(platform::Task done) {
  left_ = true;
  epoch_ = kNoGeneration;
  step_.cancel();
  giveUpAll();
  if (memberId_.empty()) return client_.executor().post(std::move(done));
  LeaveGroupRequest request;
  request.groupId = groupId_;
  request.members.push_back({.memberId = memberId_, .groupInstanceId = std::nullopt});
  send(std::move(request), {.version = int16_t{4}},
       [done = std::move(done)](const Result<network::Received<LeaveGroupResponse>>&) mutable { done(); });
}

GroupConsumer::GroupConsumer(Client& client, GroupOptions options, Consumer::RecordHandler onRecord,
                             AssignmentHandler onAssignment, ErrorHandler onError)
    : MemberConsumer(
          std::make_shared<Core>(client, std::move(options),
                                 Core::Handlers{std::move(onRecord), std::move(onAssignment), std::move(onError)})) {}

}  // namespace tidemark::client
