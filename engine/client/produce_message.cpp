#include "client/produce_message.h"

#include <algorithm>
#include <cstdint>

#include "client/client_codec.h"

namespace tidemark::client {
namespace {

/// From here on topics are named by their ids alone.
constexpr int16_t kFirstVersionWithIds = 13;

}  // namespace

protocol::ProduceRequest produceRequest(std::span<const ProducerSending> sendings, const ProducerOptions& options,
                                        const MetadataCache& metadata) {
  protocol::ProduceRequest request;
  request.acks = options.acks;
  request.timeoutMs = millis(options.requestTimeout);
  request.transactionalId.reset();
  if (!options.transactionalId.empty()) request.transactionalId = options.transactionalId;
  for (const ProducerSending& sending : sendings) {
    const TopicPartition& where = sending.lane->where;
    if (request.topicData.empty() || request.topicData.back().name != where.topic) {
      const auto* topic = metadata.find(where.topic);
      request.topicData.push_back({.name = where.topic, .topicId = topic != nullptr ? topic->id : Uuid()});
    }
    const auto& bytes = sending.batch->bytes;
    request.topicData.back().partitionData.push_back(
        {.index = where.partition.value(), .records = protocol::Records(SharedBytes(bytes, ByteView(*bytes)))});
  }
  return request;
}

int16_t newestVersionFor(const protocol::ProduceRequest& request) {
  const bool isNamed = std::ranges::any_of(request.topicData, [](const auto& topic) { return topic.topicId.isZero(); });
  return isNamed ? kFirstVersionWithIds - 1 : INT16_MAX;
}

const protocol::ProduceResponse::PartitionProduceResponse* answerFor(
    const TopicPartition& where, const network::Received<protocol::ProduceResponse>& received,
    const MetadataCache& metadata) {
  const auto* topic = metadata.find(where.topic);
  for (const auto& each : received.message.responses) {
    const bool isSame = received.version >= kFirstVersionWithIds ? topic != nullptr && each.topicId == topic->id
                                                                 : each.name == where.topic;
    if (!isSame) continue;
    for (const auto& partition : each.partitionResponses) {
      if (partition.index == where.partition.value()) return &partition;
    }
  }
  return nullptr;
}

}  // namespace tidemark::client
