#include "broker/broker_apis.h"

#include <array>

#include <fmt/format.h>

#include "base/invariant.h"

namespace tidemark::broker {
namespace {

using protocol::ApiKey;

struct Served {
  ApiKey key;
  void (*handle)(BrokerContext&, network::RequestPtr);
};

/// The one list of what a broker serves, each API from its first to its last stable version. ApiVersions is answered by
/// the server itself.
constexpr std::array kServed = {
    Served{ApiKey::Produce, handleProduce},
    Served{ApiKey::Fetch, handleFetch},
    Served{ApiKey::ListOffsets, handleListOffsets},
    Served{ApiKey::Metadata, handleMetadata},
    Served{ApiKey::OffsetCommit, handleOffsetCommit},
    Served{ApiKey::OffsetFetch, handleOffsetFetch},
    Served{ApiKey::FindCoordinator, handleFindCoordinator},
    Served{ApiKey::JoinGroup, handleJoinGroup},
    Served{ApiKey::Heartbeat, handleHeartbeat},
    Served{ApiKey::LeaveGroup, handleLeaveGroup},
    Served{ApiKey::SyncGroup, handleSyncGroup},
    Served{ApiKey::DescribeGroups, handleDescribeGroups},
    Served{ApiKey::ListGroups, handleListGroups},
    Served{ApiKey::CreateTopics, handleForwarded},
    Served{ApiKey::DeleteTopics, handleForwarded},
    Served{ApiKey::DeleteRecords, handleDeleteRecords},
    Served{ApiKey::InitProducerId, handleInitProducerId},
    Served{ApiKey::OffsetForLeaderEpoch, handleOffsetForLeaderEpoch},
    Served{ApiKey::AddPartitionsToTxn, handleAddPartitionsToTxn},
    Served{ApiKey::AddOffsetsToTxn, handleAddOffsetsToTxn},
    Served{ApiKey::EndTxn, handleEndTxn},
    Served{ApiKey::WriteTxnMarkers, handleWriteTxnMarkers},
    Served{ApiKey::TxnOffsetCommit, handleTxnOffsetCommit},
    Served{ApiKey::DescribeConfigs, handleDescribeConfigs},
    Served{ApiKey::AlterConfigs, handleForwarded},
    Served{ApiKey::AlterReplicaLogDirs, handleAlterReplicaLogDirs},
    Served{ApiKey::DescribeLogDirs, handleDescribeLogDirs},
    Served{ApiKey::CreatePartitions, handleForwarded},
    Served{ApiKey::DeleteGroups, handleDeleteGroups},
    Served{ApiKey::ElectLeaders, handleForwarded},
    Served{ApiKey::IncrementalAlterConfigs, handleForwarded},
    Served{ApiKey::AlterPartitionReassignments, handleForwarded},
    Served{ApiKey::ListPartitionReassignments, handleForwarded},
    Served{ApiKey::OffsetDelete, handleOffsetDelete},
    Served{ApiKey::DescribeQuorum, handleForwarded},
    Served{ApiKey::DescribeCluster, handleDescribeCluster},
    Served{ApiKey::DescribeProducers, handleDescribeProducers},
    Served{ApiKey::DescribeTransactions, handleDescribeTransactions},
    Served{ApiKey::ListTransactions, handleListTransactions},
    Served{ApiKey::ConsumerGroupHeartbeat, handleConsumerGroupHeartbeat},
    Served{ApiKey::ConsumerGroupDescribe, handleConsumerGroupDescribe},
    Served{ApiKey::ListConfigResources, handleListConfigResources},
    Served{ApiKey::DescribeTopicPartitions, handleDescribeTopicPartitions},
    Served{ApiKey::ShareGroupHeartbeat, handleShareGroupHeartbeat},
    Served{ApiKey::ShareGroupDescribe, handleShareGroupDescribe},
    Served{ApiKey::ShareFetch, handleShareFetch},
    Served{ApiKey::ShareAcknowledge, handleShareAcknowledge},
    Served{ApiKey::InitializeShareGroupState, handleInitializeShareGroupState},
    Served{ApiKey::ReadShareGroupState, handleReadShareGroupState},
    Served{ApiKey::WriteShareGroupState, handleWriteShareGroupState},
    Served{ApiKey::DeleteShareGroupState, handleDeleteShareGroupState},
    Served{ApiKey::ReadShareGroupStateSummary, handleReadShareGroupStateSummary},
    Served{ApiKey::DescribeShareGroupOffsets, handleDescribeShareGroupOffsets},
    Served{ApiKey::AlterShareGroupOffsets, handleAlterShareGroupOffsets},
    Served{ApiKey::DeleteShareGroupOffsets, handleDeleteShareGroupOffsets},
    Served{ApiKey::StreamsGroupHeartbeat, handleStreamsGroupHeartbeat},
    Served{ApiKey::StreamsGroupDescribe, handleStreamsGroupDescribe},
    Served{ApiKey::StreamsGroupTopologyDescriptionUpdate, handleStreamsGroupTopologyDescriptionUpdate},
};

/// By key, for the dispatch.
constexpr auto handlersByKey = [] {
  std::array<void (*)(BrokerContext&, network::RequestPtr), network::ApiTable::kMaxKeys> table{};
  for (const Served& served : kServed) table[static_cast<size_t>(served.key)] = served.handle;
  return table;
}();

}  // namespace

network::ApiTable brokerApis() {
  std::vector<network::ApiRange> ranges;
  const protocol::ApiInfo& versions = protocol::apiInfo(ApiKey::ApiVersions);
  ranges.push_back({ApiKey::ApiVersions, versions.versions.first, versions.maxStable});
  for (const Served& served : kServed) {
    const protocol::ApiInfo& info = protocol::apiInfo(served.key);
    ranges.push_back({served.key, info.versions.first, info.maxStable});
  }
  return network::ApiTable(std::move(ranges));
}

bool isQuickApi(ApiKey key) {
  switch (key) {
    // They work in memory and the page cache, and park what has to wait.
    case ApiKey::Produce:
    case ApiKey::Fetch:
    // Checked and handed to a coordinator, which has a thread of its own.
    case ApiKey::OffsetCommit:
    case ApiKey::JoinGroup:
    case ApiKey::SyncGroup:
    case ApiKey::Heartbeat:
    case ApiKey::LeaveGroup:
    case ApiKey::ConsumerGroupHeartbeat:
    case ApiKey::ShareGroupHeartbeat:
    case ApiKey::StreamsGroupHeartbeat:
    case ApiKey::InitProducerId:
    case ApiKey::AddPartitionsToTxn:
    case ApiKey::AddOffsetsToTxn:
    case ApiKey::EndTxn:
    case ApiKey::TxnOffsetCommit:
      return true;
    default:
      return false;
  }
}

void handleApi(BrokerContext& broker, network::RequestPtr request) {
  const auto key = static_cast<size_t>(request->apiKey());
  TIDEMARK_INVARIANT(key < handlersByKey.size() && handlersByKey[key] != nullptr,
                     fmt::format("API {} is let through but not served", key));
  handlersByKey[key](broker, std::move(request));
}

}  // namespace tidemark::broker
