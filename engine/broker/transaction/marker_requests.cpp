#include <algorithm>

#include "base/mutex.h"
#include "broker/requests.h"
#include "broker/transaction/transaction_service.h"
#include "protocol/generated/write_txn_markers_request.h"
#include "protocol/generated/write_txn_markers_response.h"

// WriteTxnMarkers 1–2: of transaction coordinators, and of whoever aborts a hanging transaction.

namespace tidemark::broker {
namespace {

using protocol::WriteTxnMarkersRequest;
using protocol::WriteTxnMarkersResponse;

/// Answers when the last marker is written or has failed.
struct MarkerGather {
  MarkerGather(network::RequestPtr held, size_t markers) : request(std::move(held)), left(markers) {}

  void answer(size_t index, const MarkerWriter::Results& results) {
    {
      const Lock lock(mutex);
      auto& marker = response.markers[index];
      for (const auto& [partition, error] : results) {
        auto topic = std::ranges::find_if(marker.topics, [&](const auto& one) { return one.name == partition.topic; });
        if (topic == marker.topics.end())
          topic = marker.topics.insert(topic, {.name = protocol::Text(partition.topic), .partitions = {}});
        topic->partitions.push_back(
            {.partitionIndex = partition.partition.value(), .errorCode = static_cast<int16_t>(error)});
      }
      if (--left > 0) return;
    }
    request->respond(response);
  }

  network::RequestPtr request;
  WriteTxnMarkersResponse response;
  Mutex mutex;
  size_t left;
};

}  // namespace

void handleWriteTxnMarkers(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<WriteTxnMarkersRequest>(
      std::move(request), [&broker](network::RequestPtr held, WriteTxnMarkersRequest message) {
        using network::AclOperation;
        const auto mayOnCluster = [&](AclOperation operation) {
          return broker.allows(held->context(), operation, network::ResourceType::Cluster, network::kClusterResource);
        };
        const bool allowed = mayOnCluster(AclOperation::Alter) || mayOnCluster(AclOperation::ClusterAction);
        if (message.markers.empty()) {
          held->respond(WriteTxnMarkersResponse());
          return;
        }
        const network::FramePtr frame = held->frame();
        held->releaseFrame();
        const auto gather = std::make_shared<MarkerGather>(std::move(held), message.markers.size());
        for (const auto& marker : message.markers)
          gather->response.markers.emplace_back().producerId = marker.producerId;
        for (size_t i = 0; i < message.markers.size(); ++i) {
          const auto& marker = message.markers[i];
          std::vector<TopicPartition> partitions;
          for (const auto& topic : marker.topics)
            for (const int32_t index : topic.partitionIndexes)
              partitions.push_back({topic.name.str(), PartitionIndex(index)});
          if (!allowed) {
            MarkerWriter::Results refused;
            for (TopicPartition& partition : partitions)
              refused.emplace_back(std::move(partition), ErrorCode::ClusterAuthorizationFailed);
            gather->answer(i, refused);
            continue;
          }
          broker.transactions.markerWriter().write(
              {.producerId = ProducerId(marker.producerId),
               .producerEpoch = ProducerEpoch(marker.producerEpoch),
               .commit = marker.transactionResult,
               .coordinatorEpoch = marker.coordinatorEpoch,
               .transactionVersion = marker.transactionVersion},
              partitions, [gather, i](const MarkerWriter::Results& results) { gather->answer(i, results); });
        }
      });
}

}  // namespace tidemark::broker
