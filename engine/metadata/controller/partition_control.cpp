#include "metadata/controller/partition_control.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/mutation.h"
#include "metadata/controller/leader_updates.h"
#include "metadata/controller/partition_change_builder.h"
#include "metadata/image_writer.h"
#include "metadata/replay.h"

namespace tidemark::metadata {
namespace {

using protocol::AlterPartitionRequest;
using protocol::AlterPartitionResponse;

/// The ISR a leader asks for; epoch −1: not said (version 2, or a broker that the leader knows no epoch of).
struct Member {
  NodeId node;
  int64_t brokerEpoch = -1;
};

std::vector<Member> newIsrOf(const AlterPartitionRequest::PartitionData& request, int16_t version) {
  std::vector<Member> members;
  if (version < 3) {
    for (int32_t id : request.newIsr) members.push_back({NodeId(id), -1});
  } else {
    for (const auto& one : request.newIsrWithEpochs) members.push_back({NodeId(one.brokerId), one.brokerEpoch});
  }
  return members;
}

bool isEligible(const ControllerView& view, const Member& member) {
  const BrokerRegistration* broker = view.image.cluster.broker(member.node);
  return broker && broker->isActive() &&
         (member.brokerEpoch == -1 || member.brokerEpoch == broker->epoch.value() || isMutated(Mutation::IsrByIdAlone));
}

ErrorCode validate(const ControllerView& view, NodeId leader, const PartitionRegistration* partition,
                   const AlterPartitionRequest::PartitionData& request, const std::vector<Member>& isr) {
  if (!partition) return ErrorCode::UnknownTopicOrPartition;
  // Who knows a later epoch than we do was told by a newer controller.
  if (request.leaderEpoch > partition->leaderEpoch.value()) return ErrorCode::NotController;
  if (request.partitionEpoch > partition->partitionEpoch.value()) return ErrorCode::NotController;
  if (request.leaderEpoch < partition->leaderEpoch.value()) return ErrorCode::FencedLeaderEpoch;
  if (leader != partition->leader) return ErrorCode::InvalidRequest;
  if (request.partitionEpoch < partition->partitionEpoch.value()) return ErrorCode::InvalidUpdateVersion;
  std::set<NodeId> distinct;
  for (const Member& member : isr) {
    if (!partition->isReplica(member.node) || !distinct.insert(member.node).second) return ErrorCode::InvalidRequest;
  }
  if (!distinct.contains(partition->leader)) return ErrorCode::InvalidRequest;
  if (request.leaderRecoveryState != 0 && request.leaderRecoveryState != 1) return ErrorCode::InvalidRequest;
  const auto state = static_cast<LeaderRecoveryState>(request.leaderRecoveryState);
  if (state == LeaderRecoveryState::Recovering &&
      (isr.size() > 1 || partition->leaderRecoveryState == LeaderRecoveryState::Recovered)) {
    return ErrorCode::InvalidRequest;
  }
  const bool allEligible = std::ranges::all_of(isr, [&](const Member& member) { return isEligible(view, member); });
  return allEligible ? ErrorCode::None : ErrorCode::IneligibleReplica;
}

AlterPartitionResponse::PartitionData refused(int32_t index, ErrorCode error) {
  return {.partitionIndex = index, .errorCode = static_cast<int16_t>(error)};
}

AlterPartitionResponse::PartitionData alter(const ControllerView& view, NodeId leader, const TopicImage& topic,
                                            const AlterPartitionRequest::PartitionData& request, Records& records) {
  const PartitionIndex index(request.partitionIndex);
  const PartitionRegistration* before = topic.partition(index);
  const std::vector<Member> isr = newIsrOf(request, view.requestVersion);
  if (const ErrorCode error = validate(view, leader, before, request, isr); error != ErrorCode::None) {
    return refused(request.partitionIndex, error);
  }
  std::vector<NodeId> nodes;
  for (const Member& member : isr) nodes.push_back(member.node);
  PartitionChangeBuilder builder(view, topic, index, *before);
  builder.election(view.uncleanElectionEnabled(topic.name) ? Election::Unclean : Election::Online)
      .targetIsr(std::move(nodes))
      .targetLeaderRecoveryState(static_cast<LeaderRecoveryState>(request.leaderRecoveryState));
  PartitionRegistration after = *before;
  if (std::optional<Record> record = builder.build()) {
    const auto& change = *record->as<protocol::PartitionChangeRecord>();
    after = merge(*before, change);
    const bool otherLeader = change.leader != kNoLeaderChange && change.leader != leader.value();
    records.push_back(std::move(*record));
    if (otherLeader) return refused(request.partitionIndex, ErrorCode::NewLeaderElected);
  }
  return {.partitionIndex = request.partitionIndex,
          .leaderId = after.leader.value(),
          .leaderEpoch = after.leaderEpoch.value(),
          .isr = toNumbers(after.isr),
          .leaderRecoveryState = static_cast<int8_t>(after.leaderRecoveryState),
          .partitionEpoch = after.partitionEpoch.value()};
}

constexpr int8_t kPreferredElection = 0;
constexpr int8_t kUncleanElection = 1;

Result<void> electLeader(const ControllerView& view, const TopicImage* topic, std::string_view name, int32_t index,
                         int8_t type, Records& records) {
  if (!topic) return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("No such topic as {}", name));
  const PartitionRegistration* partition = topic->partition(PartitionIndex(index));
  if (!partition) {
    return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("No such partition as {}-{}", name, index));
  }
  const bool preferred = type == kPreferredElection;
  if (preferred ? partition->leader == partition->preferredLeader() : partition->hasLeader()) {
    return fail(ErrorCode::ElectionNotNeeded, "Leader election not needed for topic partition.");
  }
  PartitionChangeBuilder builder(view, *topic, PartitionIndex(index), *partition);
  builder.election(preferred ? Election::Preferred : Election::Unclean);
  std::optional<Record> record = builder.build();
  if (!record) {
    return preferred
               ? fail(ErrorCode::PreferredLeaderNotAvailable, "The preferred leader was not available.")
               : fail(ErrorCode::EligibleLeadersNotAvailable, "Eligible topic partition leaders are not available.");
  }
  records.push_back(std::move(*record));
  return {};
}

protocol::ElectLeadersResponse::PartitionResult electionResult(int32_t index, const Result<void>& elected) {
  protocol::ElectLeadersResponse::PartitionResult result{.partitionId = index};
  result.errorMessage.reset();
  if (!elected) {
    result.errorCode = static_cast<int16_t>(elected.error().code);
    result.errorMessage = protocol::Text(elected.error().message);
  }
  return result;
}

}  // namespace

HandlerResult<AlterPartitionResponse> handle(const ControllerView& view, const AlterPartitionRequest& request) {
  TIDEMARK_ASSIGN(const BrokerRegistration* broker, view.checkBrokerEpoch(request.brokerId, request.brokerEpoch));
  Outcome<AlterPartitionResponse> outcome;
  outcome.atomic = false;
  for (const auto& topicData : request.topics) {
    AlterPartitionResponse::TopicData answer{.topicId = topicData.topicId};
    const TopicImage* topic = view.image.topics.find(topicData.topicId);
    for (const auto& partition : topicData.partitions) {
      answer.partitions.push_back(topic ? alter(view, broker->id, *topic, partition, outcome.records)
                                        : refused(partition.partitionIndex, ErrorCode::UnknownTopicId));
    }
    outcome.response.topics.push_back(std::move(answer));
  }
  return outcome;
}

HandlerResult<protocol::ElectLeadersResponse> handle(const ControllerView& view,
                                                     const protocol::ElectLeadersRequest& request) {
  if (request.electionType != kPreferredElection && request.electionType != kUncleanElection) {
    return fail(ErrorCode::InvalidRequest, fmt::format("Unknown election type {}", request.electionType));
  }
  Outcome<protocol::ElectLeadersResponse> outcome;
  outcome.atomic = false;
  auto& results = outcome.response.replicaElectionResults;
  if (!request.topicPartitions) {
    for (const auto& [name, topic] : view.image.topics.byName) {
      protocol::ElectLeadersResponse::ReplicaElectionResult result{.topic = name};
      for (const auto& [index, partition] : topic->partitions) {
        const Result<void> elected =
            electLeader(view, topic.get(), name, index.value(), request.electionType, outcome.records);
        if (!elected && elected.error().code == ErrorCode::ElectionNotNeeded) continue;
        result.partitionResult.push_back(electionResult(index.value(), elected));
      }
      results.push_back(std::move(result));
    }
    return outcome;
  }
  for (const auto& one : *request.topicPartitions) {
    protocol::ElectLeadersResponse::ReplicaElectionResult result{.topic = one.topic};
    const TopicImage* topic = view.image.topics.find(one.topic.view());
    for (int32_t index : one.partitions) {
      result.partitionResult.push_back(electionResult(
          index, electLeader(view, topic, one.topic.view(), index, request.electionType, outcome.records)));
    }
    results.push_back(std::move(result));
  }
  return outcome;
}

HandlerResult<protocol::AssignReplicasToDirsResponse> handle(const ControllerView& view,
                                                             const protocol::AssignReplicasToDirsRequest& request) {
  using Response = protocol::AssignReplicasToDirsResponse;
  TIDEMARK_ASSIGN(const BrokerRegistration* broker, view.checkBrokerEpoch(request.brokerId, request.brokerEpoch));
  Outcome<Response> outcome;
  outcome.atomic = false;
  std::set<const PartitionRegistration*> lost;
  for (const auto& directory : request.directories) {
    Response::DirectoryData answer{.id = directory.id};
    for (const auto& topicData : directory.topics) {
      Response::TopicData topicAnswer{.topicId = topicData.topicId};
      const TopicImage* topic = view.image.topics.find(topicData.topicId);
      for (const auto& [partitionIndex] : topicData.partitions) {
        const PartitionRegistration* partition = topic ? topic->partition(PartitionIndex(partitionIndex)) : nullptr;
        ErrorCode error = ErrorCode::None;
        if (!topic) {
          error = ErrorCode::UnknownTopicId;
        } else if (!partition) {
          error = ErrorCode::UnknownTopicOrPartition;
        } else if (!partition->isReplica(broker->id)) {
          error = ErrorCode::NotLeaderOrFollower;
        } else {
          PartitionChangeBuilder builder(view, *topic, PartitionIndex(partitionIndex), *partition);
          builder.directory(broker->id, directory.id);
          if (std::optional<Record> record = builder.build()) outcome.records.push_back(std::move(*record));
          if (!broker->hasOnlineDirectory(directory.id)) lost.insert(partition);
        }
        topicAnswer.partitions.push_back({.partitionIndex = partitionIndex, .errorCode = static_cast<int16_t>(error)});
      }
      answer.topics.push_back(std::move(topicAnswer));
    }
    outcome.response.directories.push_back(std::move(answer));
  }
  if (!lost.empty()) {
    generateLeaderAndIsrUpdates(
        view, {.remove = broker->id}, [&](const PartitionRegistration& partition) { return lost.contains(&partition); },
        outcome.records);
  }
  return outcome;
}

}  // namespace tidemark::metadata
