#pragma once

#include <optional>
#include <vector>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// A position that has not moved for so much longer than another one of the same name is not a second consumer: it is
/// what a broker remembers that it does not read from any more.
inline constexpr auto kReaderMoved = std::chrono::seconds(1);

/// Where consumers stand, each once: a broker that a consumer left (another leads the partition now, or one that is
/// closer was preferred) remembers it for as long as the connection lives. Of one client and partition those positions
/// count that are as new as its newest, of which there are several only if several consumers bear one name. In the
/// order of the snapshot; of one partition, or of all. The pointers live as long as the snapshot.
std::vector<const observe::ReaderSnapshot*> readersOf(const observe::ClusterSnapshot& cluster,
                                                      const std::optional<TopicPartition>& partition = std::nullopt);

}  // namespace tidemark::widgets
