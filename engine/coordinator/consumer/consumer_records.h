#pragma once

#include <string>
#include <string_view>

#include "coordinator/consumer/consumer_group.h"
#include "coordinator/coordinator_log.h"

namespace tidemark::coordinator {

// Records of `__consumer_offsets` about groups of the consumer protocol, in the versions that Kafka 4.4 writes.
CoordinatorRecord consumerEpochRecord(std::string_view group, int32_t epoch, int64_t metadataHash);
CoordinatorRecord memberFactsRecord(std::string_view group, std::string_view member, const MemberFacts& facts);
CoordinatorRecord targetEpochRecord(std::string_view group, int32_t epoch, int64_t timestampMs);
CoordinatorRecord targetRecord(std::string_view group, std::string_view member, const PartitionsByTopic& target);
CoordinatorRecord progressRecord(std::string_view group, std::string_view member, const MemberProgress& progress);
CoordinatorRecord regexRecord(std::string_view group, std::string_view regex, const ResolvedRegex& resolved);
CoordinatorRecord regexTombstone(std::string_view group, std::string_view regex);
/// All that is there about a member, in the order in which it must go.
void removeMemberRecords(std::string_view group, std::string_view member, std::vector<CoordinatorRecord>& out);
/// All that is there about a group.
void removeGroupRecords(const ConsumerGroup& group, std::vector<CoordinatorRecord>& out);
/// All that is there to be said about a group.
void wholeGroupRecords(const ConsumerGroup& group, std::vector<CoordinatorRecord>& out);

}  // namespace tidemark::coordinator
