#include "broker/broker_fixture.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"

namespace tidemark::broker {
namespace {

using protocol::FindCoordinatorRequest;
using protocol::HeartbeatRequest;
using protocol::JoinGroupRequest;
using protocol::LeaveGroupRequest;
using protocol::OffsetCommitRequest;
using protocol::OffsetFetchRequest;
using protocol::SyncGroupRequest;

class GroupRequests : public BrokerTest {
 protected:
  GroupRequests() { createTopic("orders"); }

  struct Found {
    ErrorCode error;
    int node;
  };
  Found find(const std::string& group, int16_t version, int8_t type = 0) {
    FindCoordinatorRequest request{.keyType = type};
    if (version < 4) {
      request.key = group;
      const auto answer = ask(1, request, version);
      return {code(answer.errorCode), answer.nodeId};
    }
    request.coordinatorKeys.push_back(group);
    const auto answer = ask(1, request, version);
    return {code(answer.coordinators.at(0).errorCode), answer.coordinators.at(0).nodeId};
  }
  /// The group's coordinator, once it has loaded.
  int coordinatorOf(const std::string& group) {
    Found found{ErrorCode::CoordinatorNotAvailable, -1};
    for (int tries = 0; tries < 100; ++tries) {
      found = find(group, 4);
      if (found.error == ErrorCode::None &&
          code(ask(found.node, HeartbeatRequest{.groupId = protocol::Text(group), .memberId = "x"}).errorCode) ==
              ErrorCode::UnknownMemberId)
        return found.node;
      lab_.world().runFor(std::chrono::milliseconds(200));
    }
    ADD_FAILURE() << "no coordinator: " << errorName(found.error);
    return 1;
  }
  static JoinGroupRequest joining(const std::string& group, const std::string& member, int16_t version) {
    JoinGroupRequest request{.groupId = protocol::Text(group),
                             .sessionTimeoutMs = 10000,
                             .memberId = protocol::Text(member),
                             .protocolType = "consumer"};
    if (version >= 1) request.rebalanceTimeoutMs = 10000;
    request.protocols.push_back({.name = "range", .metadata = protocol::Blob(ByteVector{1, 2})});
    return request;
  }
  /// As a client does: asks again with the id that it is given.
  protocol::JoinGroupResponse join(int coordinator, const std::string& group, int16_t version) {
    auto answer = ask(coordinator, joining(group, "", version), version);
    if (code(answer.errorCode) == ErrorCode::MemberIdRequired)
      answer = ask(coordinator, joining(group, answer.memberId.str(), version), version);
    return answer;
  }
  OffsetCommitRequest committing(const std::string& group, int64_t offset) {
    OffsetCommitRequest request{.groupId = protocol::Text(group)};
    auto& topic = request.topics.emplace_back();
    topic.name = "orders";
    topic.topicId = topicId("orders");
    topic.partitions.push_back(
        {.partitionIndex = 0, .committedOffset = offset, .committedMetadata = protocol::Text("m")});
    return request;
  }
  int64_t committed(int coordinator, const std::string& group, int16_t version) {
    OffsetFetchRequest request;
    if (version < 8) {
      request.groupId = group;
      request.topics.emplace();
      request.topics->push_back({.name = "orders", .partitionIndexes = {0}});
      const auto answer = ask(coordinator, request, version);
      EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
      return answer.topics.at(0).partitions.at(0).committedOffset;
    }
    auto& asked = request.groups.emplace_back();
    asked.groupId = group;
    asked.topics.emplace();
    asked.topics->push_back({.name = "orders", .topicId = topicId("orders"), .partitionIndexes = {0}});
    const auto answer = ask(coordinator, request, version);
    EXPECT_EQ(code(answer.groups.at(0).errorCode), ErrorCode::None);
    return answer.groups.at(0).topics.at(0).partitions.at(0).committedOffset;
  }
};

TEST_F(GroupRequests, FindCoordinatorMakesTheTopicAndNamesOneNodeInEachVersion) {
  const int expected = coordinatorOf("g");
  inEachVersion<FindCoordinatorRequest>([&](int16_t version) {
    const Found found = find("g", version);
    EXPECT_EQ(found.error, ErrorCode::None);
    EXPECT_EQ(found.node, expected);
    if (version >= 1) {
      EXPECT_EQ(find("share", version, 2).error, ErrorCode::InvalidRequest)
          << "a share-partition is group:topicId:partition";
      EXPECT_EQ(find("g", version, 3).error, ErrorCode::InvalidRequest) << "there is no such kind of coordinator";
    }
  });
}

TEST_F(GroupRequests, AMemberJoinsSyncsBeatsAndLeavesInEachVersion) {
  const int coordinator = coordinatorOf("g0");
  inEachVersion<JoinGroupRequest>([&](int16_t version) {
    const std::string group = "g0";
    const auto joined = join(coordinator, group, version);
    ASSERT_EQ(code(joined.errorCode), ErrorCode::None);
    EXPECT_EQ(joined.leader.view(), joined.memberId.view());
    ASSERT_EQ(joined.members.size(), 1u);
    EXPECT_EQ(joined.protocolName->view(), "range");
    const auto last = [version](int16_t most) { return std::min(version, most); };
    SyncGroupRequest sync{.groupId = protocol::Text(group),
                          .generationId = joined.generationId,
                          .memberId = protocol::Text(joined.memberId.str())};
    sync.assignments.push_back(
        {.memberId = protocol::Text(joined.memberId.str()), .assignment = protocol::Blob(ByteVector{9, 9})});
    const auto synced = ask(coordinator, sync, last(lastVersion<SyncGroupRequest>()));
    EXPECT_EQ(code(synced.errorCode), ErrorCode::None);
    EXPECT_EQ(synced.assignment.bytes(), (ByteVector{9, 9}));
    HeartbeatRequest beat{.groupId = protocol::Text(group),
                          .generationId = joined.generationId,
                          .memberId = protocol::Text(joined.memberId.str())};
    EXPECT_EQ(code(ask(coordinator, beat, last(lastVersion<HeartbeatRequest>())).errorCode), ErrorCode::None);
    beat.generationId += 5;
    EXPECT_EQ(code(ask(coordinator, beat, last(lastVersion<HeartbeatRequest>())).errorCode),
              ErrorCode::IllegalGeneration);
    sync.generationId += 5;
    EXPECT_EQ(code(ask(coordinator, sync, last(lastVersion<SyncGroupRequest>())).errorCode),
              ErrorCode::IllegalGeneration);
    const int16_t leaving = last(lastVersion<LeaveGroupRequest>());
    LeaveGroupRequest leave{.groupId = protocol::Text(group)};
    if (leaving < 3) {
      leave.memberId = protocol::Text(joined.memberId.str());
    } else {
      leave.members.push_back({.memberId = protocol::Text(joined.memberId.str())});
    }
    EXPECT_EQ(code(ask(coordinator, leave, leaving).errorCode), ErrorCode::None);
    const auto again = ask(coordinator, leave, leaving);
    EXPECT_EQ(leaving < 3 ? code(again.errorCode) : code(again.members.at(0).errorCode), ErrorCode::UnknownMemberId);
  });
}

TEST_F(GroupRequests, WhoeverIsNotTheCoordinatorSaysSoInEachVersion) {
  const int elsewhere = otherThan(coordinatorOf("g"));
  inEachVersion<JoinGroupRequest>([&](int16_t version) {
    EXPECT_EQ(code(ask(elsewhere, joining("g", "", version), version).errorCode), ErrorCode::NotCoordinator);
  });
  inEachVersion<HeartbeatRequest>([&](int16_t version) {
    EXPECT_EQ(code(ask(elsewhere, HeartbeatRequest{.groupId = "g", .memberId = "m"}, version).errorCode),
              ErrorCode::NotCoordinator);
  });
  inEachVersion<SyncGroupRequest>([&](int16_t version) {
    EXPECT_EQ(code(ask(elsewhere, SyncGroupRequest{.groupId = "g", .memberId = "m"}, version).errorCode),
              ErrorCode::NotCoordinator);
  });
  inEachVersion<LeaveGroupRequest>([&](int16_t version) {
    LeaveGroupRequest leave{.groupId = "g"};
    if (version < 3) {
      leave.memberId = "m";
    } else {
      leave.members.push_back({.memberId = "m"});
    }
    EXPECT_EQ(code(ask(elsewhere, leave, version).errorCode), ErrorCode::NotCoordinator);
  });
  inEachVersion<OffsetCommitRequest>([&](int16_t version) {
    EXPECT_EQ(code(ask(elsewhere, committing("g", 1), version).topics.at(0).partitions.at(0).errorCode),
              ErrorCode::NotCoordinator);
  });
}

TEST_F(GroupRequests, OffsetsAreCommittedAndFetchedInEachVersion) {
  const int coordinator = coordinatorOf("g");
  int64_t offset = 0;
  inEachVersion<OffsetCommitRequest>([&](int16_t version) {
    const auto answer = ask(coordinator, committing("g", ++offset), version);
    EXPECT_EQ(code(answer.topics.at(0).partitions.at(0).errorCode), ErrorCode::None);
    EXPECT_EQ(committed(coordinator, "g", 8), offset);
    auto unknown = committing("g", 99);
    unknown.topics[0].name = "none";
    unknown.topics[0].topicId = Uuid({1, 2, 3});
    EXPECT_EQ(code(ask(coordinator, unknown, version).topics.at(0).partitions.at(0).errorCode),
              version >= 10 ? ErrorCode::UnknownTopicId : ErrorCode::UnknownTopicOrPartition);
  });
  inEachVersion<OffsetFetchRequest>([&](int16_t version) {
    EXPECT_EQ(committed(coordinator, "g", version), offset);
    EXPECT_EQ(committed(coordinatorOf("never"), "never", version), -1);
  });
}

}  // namespace
}  // namespace tidemark::broker
