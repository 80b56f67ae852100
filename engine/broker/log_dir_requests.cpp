#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "broker/requests.h"
#include "protocol/generated/alter_replica_log_dirs_request.h"
#include "protocol/generated/alter_replica_log_dirs_response.h"
#include "protocol/generated/describe_log_dirs_request.h"
#include "protocol/generated/describe_log_dirs_response.h"

// AlterReplicaLogDirs 1–2: moves replicas to other directories of this broker. DescribeLogDirs 1–5: which log lies in
// which directory, how large it is, and how much room there is.

namespace tidemark::broker {
namespace {

using protocol::AlterReplicaLogDirsRequest;
using protocol::AlterReplicaLogDirsResponse;
using protocol::DescribeLogDirsRequest;
using protocol::DescribeLogDirsResponse;

/// Everything, or the partitions that were asked for.
bool isWanted(const DescribeLogDirsRequest& message, const TopicPartition& partition) {
  if (!message.topics) return true;
  for (const auto& topic : *message.topics) {
    if (topic.topic.view() != partition.topic) continue;
    for (int32_t index : topic.partitions)
      if (index == partition.partition.value()) return true;
  }
  return false;
}

/// What a copy lacks of its log; what a log lacks of what it knows to be committed.
int64_t lagOf(const BrokerContext& broker, const TopicPartition& name, const log::OffsetSnapshot& ends, bool future) {
  if (!future) return std::max<int64_t>(0, ends.highWatermark.offset - ends.logEndOffset.offset);
  const auto current = broker.logs.get(name);
  return current ? current->logEndOffset() - ends.logEndOffset.offset : -1;
}

DescribeLogDirsResponse::DescribeLogDirsResult directoryAnswer(const BrokerContext& broker,
                                                               const DescribeLogDirsRequest& message,
                                                               const log::LogDirectoryInfo& directory) {
  DescribeLogDirsResponse::DescribeLogDirsResult result;
  result.logDir = protocol::Text(directory.path);
  result.isCordoned = directory.cordoned;
  if (directory.offline) {
    result.errorCode = static_cast<int16_t>(ErrorCode::KafkaStorageError);
    return result;
  }
  if (const auto space = broker.process.files().space(directory.path)) {
    result.totalBytes = static_cast<int64_t>(std::min<uint64_t>(space->capacity, INT64_MAX));
    result.usableBytes = static_cast<int64_t>(std::min<uint64_t>(space->available, INT64_MAX));
  }
  std::vector<std::shared_ptr<log::PartitionLog>> logs = broker.logs.all();
  const std::vector<std::shared_ptr<log::PartitionLog>> futures = broker.logs.futures();
  logs.insert(logs.end(), futures.begin(), futures.end());
  // By name, so that a topic's partitions stand together.
  std::ranges::sort(logs, {}, [](const auto& log) -> const TopicPartition& { return log->partition(); });
  for (const auto& log : logs) {
    const TopicPartition& name = log->partition();
    const auto future = std::ranges::find(futures, log) != futures.end();
    const Uuid lies = future ? broker.logs.futureDirectoryOf(name) : broker.logs.directoryOf(name);
    if (!isWanted(message, name) || lies != directory.id) continue;
    if (result.topics.empty() || result.topics.back().name.view() != name.topic)
      result.topics.push_back({.name = protocol::Text(name.topic), .partitions = {}});
    const log::OffsetSnapshot ends = log->offsetSnapshot();
    result.topics.back().partitions.push_back({.partitionIndex = name.partition.value(),
                                               .partitionSize = log->sizeInBytes(),
                                               .offsetLag = lagOf(broker, name, ends, future),
                                               .isFutureKey = future});
  }
  return result;
}

}  // namespace

void handleAlterReplicaLogDirs(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<AlterReplicaLogDirsRequest>(
      std::move(request), [&broker](network::RequestPtr held, const AlterReplicaLogDirsRequest& message) {
        // Of a partition that is named twice the last word counts.
        std::map<TopicPartition, std::string> wanted;
        for (const auto& directory : message.dirs)
          for (const auto& topic : directory.topics)
            for (const int32_t index : topic.partitions)
              wanted[{std::string(topic.name.view()), PartitionIndex(index)}] = std::string(directory.path.view());
        const auto answer = [](const std::map<TopicPartition, ErrorCode>& codes) {
          AlterReplicaLogDirsResponse response;
          for (const auto& [partition, code] : codes) {
            if (response.results.empty() || response.results.back().topicName.view() != partition.topic)
              response.results.push_back({.topicName = protocol::Text(partition.topic), .partitions = {}});
            response.results.back().partitions.push_back(
                {.partitionIndex = partition.partition.value(), .errorCode = static_cast<int16_t>(code)});
          }
          return response;
        };
        if (!broker.allows(held->context(), network::AclOperation::Alter, network::ResourceType::Cluster,
                           network::kClusterResource)) {
          std::map<TopicPartition, ErrorCode> refused;
          for (const auto& [partition, path] : wanted) refused[partition] = ErrorCode::ClusterAuthorizationFailed;
          held->respond(answer(refused));
          return;
        }
        broker.byMetadata([&broker, held = std::move(held), wanted = std::move(wanted), answer]() mutable {
          std::vector<replication::ReplicaManager::DirectoryItem> items;
          for (const auto& [partition, path] : wanted) items.push_back({partition, path});
          const std::vector<ErrorCode> codes = broker.replicas.alterLogDirs(items);
          std::map<TopicPartition, ErrorCode> results;
          for (size_t i = 0; i < items.size(); ++i) results[items[i].partition] = codes[i];
          held->respond(answer(results));
        });
      });
}

void handleDescribeLogDirs(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<DescribeLogDirsRequest>(
      std::move(request), [&broker](network::RequestPtr held, const DescribeLogDirsRequest& message) {
        DescribeLogDirsResponse response;
        if (!broker.allows(held->context(), network::AclOperation::Describe, network::ResourceType::Cluster,
                           network::kClusterResource)) {
          response.errorCode = static_cast<int16_t>(ErrorCode::ClusterAuthorizationFailed);
          held->respond(response);
          return;
        }
        for (const log::LogDirectoryInfo& directory : broker.logs.directories())
          response.results.push_back(directoryAnswer(broker, message, directory));
        held->respond(response);
      });
}

}  // namespace tidemark::broker
