#include "group_load.h"
#include "protocol/generated/consumer_protocol_assignment.h"
#include "protocol/generated/consumer_protocol_subscription.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"

namespace tidemark::bench {

using namespace protocol;

namespace {

constexpr int16_t kJoinVersion = 9, kSyncVersion = 5, kClassicHeartbeatVersion = 4, kLeaveVersion = 5;
/// Of the formats in which members speak to each other.
constexpr int16_t kConsumerProtocolVersion = 3;
/// Nobody's session ends while others join.
constexpr int32_t kSessionMs = 600'000;
constexpr std::string_view kProtocolType = "consumer", kProtocol = "range";

ByteVector subscriptionTo(const std::string& topic) {
  ConsumerProtocolSubscription subscription;
  subscription.topics.emplace_back(topic);
  return value(encodeVersioned(subscription, kConsumerProtocolVersion));
}

ByteVector assignmentOf(const std::string& topic, int32_t partition) {
  ConsumerProtocolAssignment assignment;
  auto& assigned = assignment.assignedPartitions.emplace_back();
  assigned.topic = Text(topic);
  assigned.partitions = {partition};
  return value(encodeVersioned(assignment, kConsumerProtocolVersion));
}

}  // namespace

ClassicLoad::ClassicLoad(Links& links, GroupShape shape)
    : GroupLoad(links, std::move(shape)), subscription_(subscriptionTo(shape_.topic)) {
  for (size_t m = 0; m < shape_.members; ++m) {
    assignments_.push_back(assignmentOf(shape_.topic, static_cast<int32_t>(m) % shape_.partitions));
  }
  groups_.resize(shape_.groups);
  for (Group& group : groups_) group.members.resize(shape_.members);
}

GroupLoad::Identity ClassicLoad::identityOf(size_t group, size_t member) const {
  const Member& who = groups_[group].members[member];
  return {.id = who.id, .generationOrEpoch = who.generation};
}

template <class Then>
void ClassicLoad::sendJoin(size_t group, size_t member, Then then) {
  Member& asks = groups_[group].members[member];
  JoinGroupRequest request;
  request.groupId = Text::borrowed(names_[group]);
  request.sessionTimeoutMs = request.rebalanceTimeoutMs = kSessionMs;
  request.memberId = Text::borrowed(asks.id);
  request.protocolType = Text::borrowed(kProtocolType);
  auto& protocol = request.protocols.emplace_back();
  protocol.name = Text::borrowed(kProtocol);
  protocol.metadata = Blob::borrowed(subscription_);
  links_.ask(shape_.link(group, member), request, kJoinVersion,
             [this, group, member, then = std::move(then)](JoinGroupResponse response) mutable {
               Member& who = groups_[group].members[member];
               if (who.id.empty() && response.errorCode == static_cast<int16_t>(ErrorCode::MemberIdRequired)) {
                 who.id = response.memberId.str();
                 return then();
               }
               expect(response.errorCode, "JoinGroup");
               who.generation = response.generationId;
               if (response.leader == response.memberId) {
                 groups_[group].leader = member;
                 groups_[group].gathered.clear();
                 for (const auto& one : response.members) groups_[group].gathered.push_back(one.memberId.str());
               }
               then();
             });
}

template <class Then>
void ClassicLoad::sendSync(size_t group, size_t member, Then then) {
  const Group& of = groups_[group];
  const Member& who = of.members[member];
  SyncGroupRequest request;
  request.groupId = Text::borrowed(names_[group]);
  request.generationId = who.generation;
  request.memberId = Text::borrowed(who.id);
  request.protocolType = Text::borrowed(kProtocolType);
  request.protocolName = Text::borrowed(kProtocol);
  if (of.leader == member) {
    for (size_t m = 0; m < of.gathered.size(); ++m) {
      request.assignments.push_back(
          {.memberId = Text::borrowed(of.gathered[m]), .assignment = Blob::borrowed(assignments_[m])});
    }
  }
  links_.ask(shape_.link(group, member), request, kSyncVersion,
             [then = std::move(then)](const SyncGroupResponse& response) mutable {
               expect(response.errorCode, "SyncGroup");
               if (response.assignment.empty()) throw std::runtime_error("SyncGroup: an empty assignment");
               then();
             });
}

void ClassicLoad::assumeJoined() {
  // As long as those that a broker gives out.
  forEach([this](size_t g, size_t m) {
    groups_[g].members[m] = {.id = fmt::format("tidemark-bench-{:036}", g * shape_.members + m), .generation = 1};
  });
}

void ClassicLoad::join() {
  // The first member alone: a group that has one gathers until all who asked for an id have come, however long.
  for (size_t g = 0; g < shape_.groups; ++g) {
    sendJoin(g, 0, [this, g] { sendJoin(g, 0, [this, g] { sendSync(g, 0, [] {}); }); });
  }
  links_.run();
  forEach([this](size_t g, size_t m) {
    if (m != 0) sendJoin(g, m, [] {});
  });
  links_.run();
  forEach([this](size_t g, size_t m) { sendJoin(g, m, [] {}); });
  links_.run();
  forEach([this](size_t g, size_t m) {
    if (groups_[g].members[m].generation != groups_[g].members[0].generation)
      throw std::runtime_error(names_[g] + ": its members are in two generations");
  });
  forEach([this](size_t g, size_t m) { sendSync(g, m, [] {}); });
  links_.run();
}

void ClassicLoad::beat(size_t group, size_t member, size_t times) {
  if (times == 0) return;
  const Member& who = groups_[group].members[member];
  HeartbeatRequest request;
  request.groupId = Text::borrowed(names_[group]);
  request.generationId = who.generation;
  request.memberId = Text::borrowed(who.id);
  links_.ask(shape_.link(group, member), request, kClassicHeartbeatVersion,
             [this, group, member, times](const HeartbeatResponse& response) {
               expect(response.errorCode, "Heartbeat");
               beat(group, member, times - 1);
             });
}

void ClassicLoad::joinAndSync(size_t member) {
  sendJoin(0, member, [this, member] { sendSync(0, member, [] {}); });
}

void ClassicLoad::follow(size_t member) {
  const Member& who = groups_[0].members[member];
  HeartbeatRequest request;
  request.groupId = Text::borrowed(names_[0]);
  request.generationId = who.generation;
  request.memberId = Text::borrowed(who.id);
  links_.ask(shape_.link(0, member), request, kClassicHeartbeatVersion,
             [this, member](const HeartbeatResponse& response) {
               if (response.errorCode == 0) return follow(member);
               if (response.errorCode != static_cast<int16_t>(ErrorCode::RebalanceInProgress))
                 expect(response.errorCode, "Heartbeat");
               joinAndSync(member);
             });
}

double ClassicLoad::rebalance() {
  const auto began = Links::Clock::now();
  const size_t leader = groups_[0].leader;
  joinAndSync(leader);
  for (size_t m = 0; m < shape_.members; ++m) {
    if (m != leader) follow(m);
  }
  links_.run();
  return std::chrono::duration<double, std::milli>(Links::Clock::now() - began).count();
}

void ClassicLoad::leave() {
  for (size_t g = 0; g < shape_.groups; ++g) {
    LeaveGroupRequest request;
    request.groupId = Text::borrowed(names_[g]);
    for (const Member& member : groups_[g].members) {
      request.members.emplace_back().memberId = Text::borrowed(member.id);
    }
    links_.ask(shape_.link(g, 0), request, kLeaveVersion,
               [](const LeaveGroupResponse& response) { expect(response.errorCode, "LeaveGroup"); });
  }
  links_.run();
}

}  // namespace tidemark::bench
