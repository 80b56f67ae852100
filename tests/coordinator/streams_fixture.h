#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/group_fixture.h"
#include "coordinator/streams/streams_groups.h"
#include "protocol/generated/streams_group_describe_request.h"
#include "protocol/generated/streams_group_describe_response.h"

namespace tidemark::coordinator {

/// Tasks of the test's subtopology "0": active and standby partitions.
using Partitions = std::set<int32_t>;

/// A StreamsGroupHeartbeat, with what most tests say.
struct Beating {
  std::string member = "a";
  int32_t epoch = 0;
  /// What it owns, if it says so.
  std::optional<Partitions> active;
  Partitions standby;
  std::optional<std::string> instance;
  std::string process;
  std::optional<int32_t> topologyEpoch;
  std::optional<std::string> endpointHost;
  int32_t endpointEpoch = 0;
  bool shutdown = false;
  std::map<std::string, std::string> tags;
  std::map<int32_t, int64_t> offsets;
  int16_t version = 1;
  std::string group = "app";
};

/// A coordinator with an application that counts what is in `orders` (three partitions): subtopology "0" with the
/// changelog `app-counts`.
class StreamsApplications : public Groups {
 protected:
  StreamsApplications() {
    settings_.initialRebalanceDelay = 0ms;
    settings_.assignmentInterval = 0ms;
    topics_.add("app-counts", 7);
    restart();
  }

  /// A coordinator that starts from the log.
  void restart() {
    coordinator_.reset();
    log_.listener = [this](PartitionIndex partition, Offset highWatermark) {
      coordinator_->onHighWatermark(partition, highWatermark);
    };
    coordinator_ = std::make_unique<GroupCoordinator>(
        GroupCoordinator::Dependencies{executor_, &clock_, &random_, &logger_, &log_, &topics_,
                                       [this](std::string_view) { return settings_; }},
        config_);
    coordinator_->setPartitionCount(kPartitions);
    lead();
  }

  static protocol::StreamsGroupHeartbeatRequest::Topology topology(int32_t epoch = 0) {
    protocol::StreamsGroupHeartbeatRequest::Topology made;
    made.epoch = epoch;
    auto& one = made.subtopologies.emplace_back();
    one.subtopologyId = "0";
    one.sourceTopics = {"orders"};
    one.stateChangelogTopics.emplace_back().name = "app-counts";
    return made;
  }

  static protocol::StreamsGroupHeartbeatRequest requestOf(const Beating& beating) {
    using Request = protocol::StreamsGroupHeartbeatRequest;
    Request request;
    request.groupId = beating.group;
    request.memberId = beating.member;
    request.memberEpoch = beating.epoch;
    request.endpointInformationEpoch = beating.endpointEpoch;
    if (beating.instance) request.instanceId = *beating.instance;
    request.shutdownApplication = beating.shutdown;
    if (beating.epoch < 0) return request;
    const auto listOf = [](const Partitions& partitions) {
      std::vector<Request::TaskIds> list;
      if (!partitions.empty()) list.push_back({"0", {partitions.begin(), partitions.end()}});
      return list;
    };
    if (beating.epoch == 0) {
      request.rebalanceTimeoutMs = 60000;
      request.topology = topology(beating.topologyEpoch.value_or(0));
      request.processId = beating.process.empty() ? "process-of-" + beating.member : beating.process;
      request.activeTasks.emplace();
      request.standbyTasks.emplace();
      request.warmupTasks.emplace();
      request.clientTags.emplace();
      for (const auto& [key, value] : beating.tags) request.clientTags->push_back({key, value});
      if (beating.endpointHost) request.userEndpoint = {*beating.endpointHost, 8080};
    } else if (beating.active) {
      request.activeTasks = listOf(*beating.active);
      request.standbyTasks = listOf(beating.standby);
      request.warmupTasks.emplace();
    }
    if (!beating.offsets.empty()) {
      request.taskOffsets.emplace();
      for (const auto& [partition, offset] : beating.offsets) request.taskOffsets->push_back({"0", partition, offset});
    }
    return request;
  }

  Answer<StreamsHeartbeatAnswer> send(const protocol::StreamsGroupHeartbeatRequest& request, int16_t version = 1) {
    Answer<StreamsHeartbeatAnswer> answer;
    coordinator_->streamsHeartbeat({version, "client", "/127.0.0.1", {}}, request, answer.reply());
    executor_->drain();
    return answer;
  }
  Answer<StreamsHeartbeatAnswer> beatLater(const Beating& beating) { return send(requestOf(beating), beating.version); }
  StreamsHeartbeatAnswer whole(const Beating& beating) { return beatLater(beating).get(); }
  protocol::StreamsGroupHeartbeatResponse beat(const Beating& beating) { return whole(beating).response; }
  ErrorCode errorOf(const Beating& beating) { return static_cast<ErrorCode>(beat(beating).errorCode); }

  static Partitions activeOf(const protocol::StreamsGroupHeartbeatResponse& response) {
    return partitionsOf(response.activeTasks);
  }
  static Partitions standbyOf(const protocol::StreamsGroupHeartbeatResponse& response) {
    return partitionsOf(response.standbyTasks);
  }
  static std::set<StreamsStatus> statusOf(const protocol::StreamsGroupHeartbeatResponse& response) {
    std::set<StreamsStatus> told;
    if (!response.status) return told;
    for (const auto& status : *response.status) told.insert(static_cast<StreamsStatus>(status.statusCode));
    return told;
  }

  protocol::StreamsGroupDescribeResponse::DescribedGroup describe(const std::string& group = "app") {
    protocol::StreamsGroupDescribeRequest request;
    request.groupIds = {group};
    Answer<protocol::StreamsGroupDescribeResponse> answer;
    coordinator_->describeStreamsGroups({1, "client", "/127.0.0.1", {}}, request, answer.reply());
    executor_->drain();
    return answer.get().groups.at(0);
  }
  std::string state() { return describe().groupState.str(); }
  /// Of a member that is described: active tasks now.
  Partitions runs(const std::string& member) {
    for (const auto& one : describe().members) {
      if (one.memberId != member) continue;
      Partitions partitions;
      for (const auto& list : one.assignment.activeTasks) {
        partitions.insert(list.partitions.begin(), list.partitions.end());
      }
      return partitions;
    }
    return {};
  }

  /// "a" runs all three tasks, in the epoch that is returned.
  int32_t runningAlone() {
    const auto joined = beat({});
    EXPECT_EQ(activeOf(joined), (Partitions{0, 1, 2}));
    EXPECT_EQ(state(), "Stable");
    return joined.memberEpoch;
  }
  void topicsChanged(std::set<std::string, std::less<>> topics) {
    coordinator_->onTopicsChanged(std::move(topics));
    executor_->drain();
  }

  StreamsGroupConfig settings_;

 private:
  template <class Lists>
  static Partitions partitionsOf(const std::optional<Lists>& lists) {
    Partitions partitions;
    if (!lists) return partitions;
    for (const auto& list : *lists) partitions.insert(list.partitions.begin(), list.partitions.end());
    return partitions;
  }
};

}  // namespace tidemark::coordinator
