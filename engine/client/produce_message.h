#pragma once

#include <span>

#include "client/metadata_cache.h"
#include "client/record_accumulator.h"
#include "network/channel.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"

/// Batches of several partitions on the wire.
namespace tidemark::client {

/// `sendings` in order of their partitions.
protocol::ProduceRequest produceRequest(std::span<const ProducerSending> sendings, const ProducerOptions& options,
                                        const MetadataCache& metadata);

/// The newest version in which the request says all it has to.
int16_t newestVersionFor(const protocol::ProduceRequest& request);

/// What is answered for one partition; null: nothing.
const protocol::ProduceResponse::PartitionProduceResponse* answerFor(
    const TopicPartition& where, const network::Received<protocol::ProduceResponse>& received,
    const MetadataCache& metadata);

}  // namespace tidemark::client
