#pragma once

#include "base/ids.h"

namespace tidemark::replication {

/// The topic of these tests and its partition.
inline constexpr Uuid kTopic{{7}};
inline constexpr TopicIdPartition kId{kTopic, PartitionIndex(0)};

}  // namespace tidemark::replication
