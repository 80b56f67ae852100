#pragma once

#include "coordinator/coordinator_log.h"
#include "coordinator/share/share_group.h"

namespace tidemark::coordinator {

// Records of share groups in `__consumer_offsets` as Kafka 4.4 writes them.

CoordinatorRecord shareGroupRecord(std::string_view groupId, const ShareGroup& group);
CoordinatorRecord shareMemberRecord(std::string_view groupId, std::string_view memberId,
                                    const ShareGroupMember& member);
CoordinatorRecord shareTargetRecord(std::string_view groupId, const ShareGroup& group);
CoordinatorRecord shareTargetMemberRecord(std::string_view groupId, std::string_view memberId,
                                          const SharePartitions& target);
CoordinatorRecord shareCurrentRecord(std::string_view groupId, std::string_view memberId,
                                     const ShareGroupMember& member);
/// The partitions whose state is (being) set up.
CoordinatorRecord shareStatePartitionsRecord(std::string_view groupId, const ShareGroup& group);

/// Of a member that is gone: its assignment, its target, itself.
void addShareMemberTombstones(std::string_view groupId, std::string_view memberId,
                              std::vector<CoordinatorRecord>& into);
/// Of a group without members.
void addShareGroupTombstones(std::string_view groupId, std::vector<CoordinatorRecord>& into);

}  // namespace tidemark::coordinator
