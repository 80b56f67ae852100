#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "coordinator/classic/classic_group.h"
#include "coordinator/coordinator_log.h"

namespace tidemark::coordinator {

/// Member id → assignment.
using Assignments = std::map<std::string, ByteVector, std::less<>>;

// Records of `__consumer_offsets` as Kafka 4.4 writes them: GroupMetadataValue 3. A member without an assignment gets
// an empty one.
CoordinatorRecord groupMetadataRecord(const ClassicGroup& group, const Assignments& assignments);
/// Of a group that is new: no protocol type, generation 0, no members.
CoordinatorRecord emptyGroupMetadataRecord(const ClassicGroup& group);
CoordinatorRecord groupTombstone(std::string_view groupId);

}  // namespace tidemark::coordinator
