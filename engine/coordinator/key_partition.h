#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace tidemark::coordinator {

/// String.hashCode() of Java for a UTF-8 text: 31-polynomial over its UTF-16 code units, modulo 2³².
int32_t javaHashCode(std::string_view utf8) noexcept;

/// Which partition of a coordinator's topic holds `key` (a group id, a transactional id): |hash| modulo `partitions`,
/// as Kafka's Utils.abs, for which the absolute value of the smallest int is 0. `partitions` > 0.
PartitionIndex partitionForKey(std::string_view key, int32_t partitions) noexcept;

}  // namespace tidemark::coordinator
