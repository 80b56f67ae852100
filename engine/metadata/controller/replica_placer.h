#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "metadata/image.h"
#include "platform/random.h"

namespace tidemark::metadata {

/// Chooses replicas for new partitions as Kafka's StripedReplicaPlacer does: round robin over racks and over the
/// brokers of each rack, from random starts, moving on by one with each partition, so that leaders and replicas spread
/// evenly and each partition spreads over racks. Fenced brokers come last and never lead; brokers that shut down, and
/// those all of whose directories are cordoned (KIP-1066), are left out. InvalidReplicationFactor if there are too few
/// brokers, or all are fenced.
Result<std::vector<std::vector<NodeId>>> placeReplicas(const ClusterImage& cluster, int32_t partitions,
                                                       int16_t replicationFactor, platform::Random& random);

}  // namespace tidemark::metadata
