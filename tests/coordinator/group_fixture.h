#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/group/group_coordinator.h"
#include "coordinator/memory_log.h"
#include "platform/logger.h"
#include "platform/random.h"
#include "protocol/generated/delete_groups_request.h"
#include "protocol/generated/delete_groups_response.h"
#include "protocol/generated/describe_groups_request.h"
#include "protocol/generated/describe_groups_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
#include "protocol/generated/list_groups_request.h"
#include "protocol/generated/list_groups_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_delete_request.h"
#include "protocol/generated/offset_delete_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"
#include "purgatory/manual_executor.h"

namespace tidemark::coordinator {

using namespace std::chrono_literals;

class SilentLogger : public platform::Logger {
 public:
  void write(Level, std::string_view, std::string_view) override {}
  bool enabled(Level) const noexcept override { return false; }
};

class CountingRandom : public platform::Random {
 public:
  uint64_t next() override { return ++last_ * 0x9e3779b97f4a7c15ULL; }

 private:
  uint64_t last_ = 0;
};

class KnownTopics : public TopicLookup {
 public:
  std::optional<std::string> topicName(const Uuid& id) const override {
    for (const auto& [name, known] : topics) {
      if (known.id == id) return name;
    }
    return std::nullopt;
  }
  std::optional<Uuid> topicId(std::string_view name) const override {
    const auto found = topics.find(name);
    if (found == topics.end()) return std::nullopt;
    return found->second.id;
  }
  std::optional<TopicFacts> topic(std::string_view name) const override {
    const auto found = topics.find(name);
    if (found == topics.end()) return std::nullopt;
    return found->second;
  }
  std::vector<std::string> topicNames() const override {
    std::vector<std::string> names;
    for (const auto& [name, topic] : topics) names.push_back(name);
    return names;
  }
  int64_t version() const override { return version_; }

  void add(const std::string& name, uint8_t number, size_t partitions = 3) {
    std::array<uint8_t, 16> bytes{};
    bytes[15] = number;
    topics[name] = {.name = name, .id = Uuid(bytes), .racks = std::vector<std::vector<std::string>>(partitions)};
    ++version_;
  }
  std::map<std::string, TopicFacts, std::less<>> topics;

 private:
  int64_t version_ = 0;
};

/// An answer that may not have come yet.
template <class Response>
class Answer {
 public:
  Reply<Response> reply() {
    return [state = state_](Response response) {
      ASSERT_FALSE(state->has_value()) << "answered twice";
      *state = std::move(response);
    };
  }
  bool has() const { return state_->has_value(); }
  Response& get() const {
    if (!state_->has_value()) throw std::runtime_error("no answer yet");
    return **state_;
  }
  ErrorCode error() const { return static_cast<ErrorCode>(get().errorCode); }

 private:
  std::shared_ptr<std::optional<Response>> state_ = std::make_shared<std::optional<Response>>();
};

/// A JoinGroup, with what most tests say.
struct Joining {
  std::string group = "group";
  std::string member;
  std::optional<std::string> instance;
  std::vector<std::string> protocols{"range"};
  int16_t version = 9;
  std::string metadata = "m";
  std::string protocolType = "consumer";
  int32_t sessionMs = 10000;
  int32_t rebalanceMs = 60000;
  std::string clientId = "client";
};

/// An OffsetCommit of one partition.
struct Committing {
  std::string group = "group";
  std::string member;
  int32_t generation = -1;
  std::string topic = "orders";
  int32_t partition = 0;
  int64_t offset = 0;
  std::string metadata;
  int16_t version = 9;
  int64_t retentionMs = -1;
};

/// One coordinator on a log in memory, with time and commits in the test's hands.
class Groups : public testing::Test {
 protected:
  static constexpr int32_t kPartitions = 3;

  Groups() {
    config_.recorder = &recorder_;
    topics_.add("orders", 1);
    topics_.add("bills", 2);
    start();
  }

  void start() {
    log_.listener = [this](PartitionIndex partition, Offset highWatermark) {
      coordinator_->onHighWatermark(partition, highWatermark);
    };
    coordinator_ = std::make_unique<GroupCoordinator>(
        GroupCoordinator::Dependencies{executor_, &clock_, &random_, &logger_, &log_, &topics_}, config_);
    coordinator_->setPartitionCount(kPartitions);
    lead();
  }
  void lead() {
    epoch_ = epoch_.next();
    for (int32_t i = 0; i < kPartitions; ++i) {
      log_.elect(PartitionIndex(i), epoch_, false);
      coordinator_->onBecomeLeader(PartitionIndex(i), epoch_);
    }
    executor_->drain();
  }
  void resign() {
    for (int32_t i = 0; i < kPartitions; ++i) coordinator_->onResign(PartitionIndex(i));
    executor_->drain();
  }
  PartitionIndex partitionOf(const std::string& group) { return *coordinator_->partitionFor(group); }

  Answer<protocol::JoinGroupResponse> join(const Joining& joining) {
    protocol::JoinGroupRequest request;
    request.groupId = joining.group;
    request.memberId = joining.member;
    if (joining.instance) request.groupInstanceId = *joining.instance;
    request.protocolType = joining.protocolType;
    request.sessionTimeoutMs = joining.sessionMs;
    request.rebalanceTimeoutMs = joining.rebalanceMs;
    for (const std::string& name : joining.protocols) {
      auto& protocol = request.protocols.emplace_back();
      protocol.name = name;
      protocol.metadata = asBytes(joining.metadata);
    }
    Answer<protocol::JoinGroupResponse> answer;
    coordinator_->joinGroup({joining.version, joining.clientId, "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    return answer;
  }
  /// Asks for an id first, as clients have done since KIP-394.
  Answer<protocol::JoinGroupResponse> joinNew(Joining joining = {}) {
    const auto first = join(joining);
    EXPECT_EQ(first.error(), ErrorCode::MemberIdRequired);
    joining.member = first.get().memberId.str();
    ids_[joining.clientId] = joining.member;
    return join(joining);
  }

  Answer<protocol::SyncGroupResponse> sync(const std::string& member, int32_t generation,
                                           const std::map<std::string, std::string>& assignments = {},
                                           const std::string& group = "group") {
    protocol::SyncGroupRequest request;
    request.groupId = group;
    request.memberId = member;
    request.generationId = generation;
    for (const auto& [id, assignment] : assignments) {
      auto& one = request.assignments.emplace_back();
      one.memberId = id;
      one.assignment = asBytes(assignment);
    }
    Answer<protocol::SyncGroupResponse> answer;
    coordinator_->syncGroup({5, "client", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    return answer;
  }

  Answer<protocol::HeartbeatResponse> heartbeatLater(const std::string& member, int32_t generation,
                                                     std::optional<std::string> instance = std::nullopt,
                                                     const std::string& group = "group") {
    protocol::HeartbeatRequest request;
    request.groupId = group;
    request.memberId = member;
    request.generationId = generation;
    if (instance) request.groupInstanceId = *instance;
    Answer<protocol::HeartbeatResponse> answer;
    coordinator_->heartbeat({4, "client", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    return answer;
  }
  ErrorCode heartbeat(const std::string& member, int32_t generation, std::optional<std::string> instance = std::nullopt,
                      const std::string& group = "group") {
    return heartbeatLater(member, generation, std::move(instance), group).error();
  }

  Answer<protocol::LeaveGroupResponse> leave(const std::string& member,
                                             std::optional<std::string> instance = std::nullopt, int16_t version = 5) {
    protocol::LeaveGroupRequest request;
    request.groupId = "group";
    if (version < 3) {
      request.memberId = member;
    } else {
      auto& one = request.members.emplace_back();
      one.memberId = member;
      if (instance) one.groupInstanceId = *instance;
    }
    Answer<protocol::LeaveGroupResponse> answer;
    coordinator_->leaveGroup({version, "client", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    return answer;
  }

  /// Asked, but not yet looked at.
  Answer<protocol::OffsetCommitResponse> commitLater(const Committing& committing) {
    protocol::OffsetCommitRequest request;
    request.groupId = committing.group;
    request.memberId = committing.member;
    request.generationIdOrMemberEpoch = committing.generation;
    request.retentionTimeMs = committing.retentionMs;
    auto& topic = request.topics.emplace_back();
    topic.name = committing.topic;
    if (committing.version >= 10) topic.topicId = topics_.topicId(committing.topic).value_or(Uuid());
    auto& partition = topic.partitions.emplace_back();
    partition.partitionIndex = committing.partition;
    partition.committedOffset = committing.offset;
    partition.committedMetadata = committing.metadata;
    Answer<protocol::OffsetCommitResponse> answer;
    coordinator_->commitOffsets({committing.version, "client", "/127.0.0.1"}, request, answer.reply());
    return answer;
  }
  Answer<protocol::OffsetCommitResponse> commit(const Committing& committing) {
    const auto answer = commitLater(committing);
    executor_->drain();
    return answer;
  }
  static ErrorCode errorOf(const Answer<protocol::OffsetCommitResponse>& answer) {
    return static_cast<ErrorCode>(answer.get().topics.at(0).partitions.at(0).errorCode);
  }

  Answer<protocol::OffsetFetchResponse> fetchLater(const std::string& group, const std::string& topic, bool stable) {
    protocol::OffsetFetchRequest request;
    auto& asked = request.groups.emplace_back();
    asked.groupId = group;
    auto& one = asked.topics->emplace_back();
    one.name = topic;
    one.partitionIndexes = {0};
    request.requireStable = stable;
    Answer<protocol::OffsetFetchResponse> answer;
    coordinator_->fetchOffsets({9, "client", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    return answer;
  }
  /// −1: none is committed.
  int64_t fetch(const std::string& group = "group", const std::string& topic = "orders") {
    const auto answer = fetchLater(group, topic, false);
    return answer.get().groups.at(0).topics.at(0).partitions.at(0).committedOffset;
  }

  std::string stateOf(const std::string& group) {
    protocol::DescribeGroupsRequest request;
    request.groups = {group};
    Answer<protocol::DescribeGroupsResponse> answer;
    coordinator_->describeGroups({6, "client", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    return answer.get().groups.at(0).groupState.str();
  }

  /// Two members, "a" and "b", stable in generation 1 with assignments "for-a" and "for-b"; ids by name in ids_. The
  /// first leads.
  void stableGroup() {
    const auto a = joinNew({.clientId = "a"});
    const auto b = joinNew({.clientId = "b"});
    executor_->advance(config_.initialRebalanceDelay * 2);
    ASSERT_EQ(a.error(), ErrorCode::None);
    ASSERT_EQ(b.error(), ErrorCode::None);
    ASSERT_EQ(a.get().generationId, 1);
    const auto follower = sync(ids_["b"], 1);
    EXPECT_FALSE(follower.has()) << "a follower waits for the leader";
    const auto leader = sync(ids_["a"], 1, {{ids_["a"], "for-a"}, {ids_["b"], "for-b"}});
    ASSERT_EQ(asText(leader.get().assignment), "for-a");
    ASSERT_EQ(asText(follower.get().assignment), "for-b");
    ASSERT_EQ(stateOf("group"), "Stable");
  }

  /// What was told since the last call, a line each.
  std::vector<std::string> told() {
    std::vector<events::Event> drained;
    recorder_.drain(drained);
    std::vector<std::string> lines;
    for (const events::Event& event : drained) {
      lines.push_back(std::string(events::nameOf(event.payload)) + " " + events::fieldsText(event.payload));
    }
    return lines;
  }

  GroupConfig config_;
  ManualClock clock_;
  events::Recorder recorder_{clock_, NodeId(1)};
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  CountingRandom random_;
  SilentLogger logger_;
  MemoryLog log_;
  KnownTopics topics_;
  LeaderEpoch epoch_{0};
  std::unique_ptr<GroupCoordinator> coordinator_;
  std::map<std::string, std::string> ids_;
};

}  // namespace tidemark::coordinator
