#include <gmock/gmock.h>

#include <fstream>

#include "coordinator/group_fixture.h"
#include "coordinator/share/share_group_coordinator.h"
#include "protocol/generated/alter_share_group_offsets_request.h"
#include "protocol/generated/alter_share_group_offsets_response.h"
#include "protocol/generated/delete_share_group_offsets_request.h"
#include "protocol/generated/delete_share_group_offsets_response.h"
#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"
#include "protocol/generated/share_group_describe_request.h"

namespace tidemark::coordinator {
namespace {

using testing::ElementsAre;
using testing::Pair;

// ---- the assignor

using Members = std::map<std::string, ShareGroupMember, std::less<>>;
using Topics = std::map<std::string, std::pair<Uuid, std::set<int32_t>>, std::less<>>;
using Target = std::map<std::string, SharePartitions, std::less<>>;

const Uuid kOrders{{1}};
const Uuid kBills{{2}};

Members membersOf(std::initializer_list<std::pair<std::string, std::set<std::string>>> subscriptions) {
  Members members;
  for (const auto& [id, topics] : subscriptions) members[id].topics = topics;
  return members;
}

TEST(ShareAssignor, GivesEachPartitionToSomebodyAndEachMemberAsMuch) {
  const Target target =
      assignSimply(membersOf({{"a", {"orders"}}, {"b", {"orders"}}}), {{"orders", {kOrders, {0, 1, 2, 3}}}}, {});
  std::set<int32_t> all;
  for (const auto& [member, assigned] : target) {
    EXPECT_EQ(assigned.at(kOrders).size(), 2u) << member;
    all.insert(assigned.at(kOrders).begin(), assigned.at(kOrders).end());
  }
  EXPECT_THAT(all, ElementsAre(0, 1, 2, 3));
}

TEST(ShareAssignor, SharesPartitionsAmongMoreMembersThanThereAre) {
  const Target target = assignSimply(
      membersOf({{"a", {"orders"}}, {"b", {"orders"}}, {"c", {"orders"}}, {"d", {"orders"}}, {"e", {"orders"}}}),
      {{"orders", {kOrders, {0, 1}}}}, {});
  std::map<int32_t, int> sharers;
  for (const auto& [member, assigned] : target) {
    ASSERT_EQ(assigned.at(kOrders).size(), 1u) << member;
    ++sharers[*assigned.at(kOrders).begin()];
  }
  EXPECT_EQ(sharers[0] + sharers[1], 5);
  EXPECT_LE(std::abs(sharers[0] - sharers[1]), 1);
}

TEST(ShareAssignor, GivesNobodyWhatHeDoesNotWant) {
  const Target target = assignSimply(membersOf({{"a", {"orders"}}, {"b", {"bills", "orders"}}, {"c", {"none"}}}),
                                     {{"orders", {kOrders, {0, 1}}}, {"bills", {kBills, {0}}}}, {});
  EXPECT_THAT(target.at("a"), ElementsAre(Pair(kOrders, std::set<int32_t>{0, 1})));
  EXPECT_TRUE(target.at("b").contains(kBills));
  EXPECT_TRUE(target.at("c").empty());
}

TEST(ShareAssignor, KeepsWhatIsAsFair) {
  const Members three = membersOf({{"a", {"orders"}}, {"b", {"orders"}}, {"c", {"orders"}}});
  const Topics topics{{"orders", {kOrders, {0, 1, 2, 3, 4, 5}}}};
  const Target before = assignSimply(three, topics, {});
  EXPECT_EQ(assignSimply(three, topics, before), before);
  const Target after = assignSimply(membersOf({{"a", {"orders"}}, {"c", {"orders"}}}), topics, before);
  for (const char* stays : {"a", "c"}) {
    EXPECT_EQ(after.at(stays).at(kOrders).size(), 3u);
    for (const int32_t kept : before.at(stays).at(kOrders)) EXPECT_TRUE(after.at(stays).at(kOrders).contains(kept));
  }
}

// ---- groups

/// Remembers what it was told, and answers when the test says so.
class FakePersister : public ShareStatePersister {
 public:
  void initialize(ShareStateInitialization what, Reply<ShareStateAnswer> reply) override {
    states[what.key] = {what.stateEpoch, what.startOffset};
    pending.emplace_back([reply = std::move(reply)]() mutable { reply({}); });
  }
  void read(ShareStateReading, Reply<ShareStateRead>) override {}
  void write(ShareStateWrite, Reply<ShareStateAnswer>) override {}
  void remove(ShareKey key, Reply<ShareStateAnswer> reply) override {
    states.erase(key);
    pending.emplace_back([reply = std::move(reply)]() mutable { reply({}); });
  }
  void summarize(ShareStateReading what, Reply<ShareStateSummary> reply) override {
    ShareStateSummary summary;
    summary.startOffset = states[what.key].second;
    summary.deliveryCompleteCount = 1;
    pending.emplace_back([summary, reply = std::move(reply)]() mutable { reply(summary); });
  }
  void answerAll() {
    for (auto& one : std::exchange(pending, {})) one();
  }
  std::map<ShareKey, std::pair<int32_t, Offset>> states;
  std::vector<std::move_only_function<void()>> pending;
};

class ShareGroupsTest : public Groups {
 protected:
  ShareGroupsTest() {
    config_.share.topic = [this](std::string_view name) { return topicOf(name); };
    config_.share.settings = [](std::string_view) { return ShareMembershipSettings{}; };
    config_.share.maxSize = 3;
    config_.share.remove = [this](const std::string& group, std::move_only_function<void(ErrorCode)> done) {
      shares_->remove(group, std::move(done));
    };
    restart();
  }
  /// The old coordinator is gone, its log is not.
  void restart() {
    resign();
    start();
    shares_ = std::make_unique<ShareGroupCoordinator>(ShareGroupCoordinator::Dependencies{
        coordinator_.get(), &persister_, &topics_, [this](std::string_view name) { return topicOf(name); },
        [](const TopicPartition&, Reply<std::optional<Offset>> reply) { reply(Offset(10)); }});
  }
  std::optional<ShareTopic> topicOf(std::string_view name) const {
    const auto id = topics_.topicId(name);
    if (!id) return std::nullopt;
    return ShareTopic{*id, partitions_, partitions_};
  }
  Answer<protocol::ShareGroupHeartbeatResponse> beat(const std::string& member, int32_t epoch,
                                                     std::vector<std::string> topics = {},
                                                     const std::string& group = "share") {
    protocol::ShareGroupHeartbeatRequest request;
    request.groupId = group;
    request.memberId = member;
    request.memberEpoch = epoch;
    if (!topics.empty()) {
      request.subscribedTopicNames.emplace();
      for (const std::string& topic : topics) request.subscribedTopicNames->push_back(protocol::Text(topic));
    }
    Answer<protocol::ShareGroupHeartbeatResponse> answer;
    shares_->heartbeat({1, "client", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    return answer;
  }
  void persist() {
    persister_.answerAll();
    executor_->drain();
  }
  /// How many partitions the answer assigns; −1: it does not say.
  static int assigned(const Answer<protocol::ShareGroupHeartbeatResponse>& answer) {
    if (!answer.get().assignment) return -1;
    int count = 0;
    for (const auto& topic : answer.get().assignment->topicPartitions)
      count += static_cast<int>(topic.partitions.size());
    return count;
  }
  /// A member that has all partitions; its epoch.
  int32_t joined(const std::string& member) {
    beat(member, 0, {"orders"});
    persist();
    executor_->advance(2s);
    const auto second = beat(member, memberEpoch(member));
    int count = 0;
    for (const auto& one : describe().members)
      for (const auto& topic : one.assignment.topicPartitions) count += static_cast<int>(topic.partitions.size());
    EXPECT_EQ(count, partitions_);
    return second.get().memberEpoch;
  }
  protocol::ShareGroupDescribeResponse::DescribedGroup describe(const std::string& group = "share") {
    protocol::ShareGroupDescribeRequest request;
    request.groupIds = {group};
    Answer<protocol::ShareGroupDescribeResponse> answer;
    shares_->describe({1, "client", ""}, request, answer.reply());
    executor_->drain();
    return answer.get().groups.at(0);
  }
  int32_t memberEpoch(const std::string& member) {
    for (const auto& one : describe().members)
      if (one.memberId == member) return one.memberEpoch;
    return -1;
  }
  ErrorCode remove(const std::string& group) {
    protocol::DeleteGroupsRequest request;
    request.groupsNames = {group};
    Answer<protocol::DeleteGroupsResponse> answer;
    coordinator_->deleteGroups({2, "client", ""}, request, answer.reply());
    executor_->drain();
    persist();
    return static_cast<ErrorCode>(answer.get().results.at(0).errorCode);
  }
  std::optional<std::string> listedState(const std::string& type) {
    protocol::ListGroupsRequest request;
    request.typesFilter = {type};
    Answer<protocol::ListGroupsResponse> answer;
    coordinator_->listGroups({5, "client", ""}, request, answer.reply());
    executor_->drain();
    for (const auto& group : answer.get().groups)
      if (group.groupId == "share") return group.groupState.str();
    return std::nullopt;
  }

  int32_t partitions_ = 2;
  FakePersister persister_;
  std::unique_ptr<ShareGroupCoordinator> shares_;
};

TEST_F(ShareGroupsTest, AssignPartitionsOnceTheirStateIsSetUp) {
  const auto first = beat("a", 0, {"orders"});
  EXPECT_EQ(first.error(), ErrorCode::None);
  EXPECT_EQ(first.get().heartbeatIntervalMs, 5000);
  EXPECT_EQ(assigned(first), 0);
  EXPECT_EQ(persister_.states.size(), 2u);
  EXPECT_EQ(assigned(beat("a", first.get().memberEpoch)), -1) << "not before";
  EXPECT_EQ(persister_.pending.size(), 2u) << "asked once";
  persist();
  EXPECT_EQ(assigned(beat("a", first.get().memberEpoch)), -1) << "one new target a second";
  executor_->advance(2s);
  const auto second = beat("a", first.get().memberEpoch);
  EXPECT_EQ(assigned(second), 2);
  EXPECT_GT(second.get().memberEpoch, first.get().memberEpoch);
  EXPECT_EQ(assigned(beat("a", second.get().memberEpoch)), -1) << "nothing new";
  for (const auto& [key, state] : persister_.states) EXPECT_EQ(state.second, kUndecidedStart);
}

TEST_F(ShareGroupsTest, AreTheSameAfterTheirCoordinatorMoved) {
  const int32_t epoch = joined("a");
  const auto before = describe();
  restart();
  const auto after = describe();
  EXPECT_EQ(after.groupState, "Stable");
  EXPECT_EQ(after.groupEpoch, before.groupEpoch);
  EXPECT_EQ(after.assignmentEpoch, before.assignmentEpoch);
  EXPECT_EQ(after.members, before.members);
  EXPECT_EQ(beat("a", epoch).error(), ErrorCode::None);
}

TEST_F(ShareGroupsTest, ShareWithWhoeverComes) {
  int32_t epoch = joined("a");
  beat("b", 0, {"orders"});
  executor_->advance(2s);
  const auto a = beat("a", epoch), b = beat("b", memberEpoch("b"));
  EXPECT_EQ(describe().members.size(), 2u);
  EXPECT_EQ(a.error(), ErrorCode::None);
  EXPECT_EQ(b.error(), ErrorCode::None);
  executor_->advance(2s);
  int total = 0;
  for (const auto& member : describe().members)
    for (const auto& topic : member.assignment.topicPartitions) total += static_cast<int>(topic.partitions.size());
  EXPECT_EQ(total, 2) << "one for each";
}

TEST_F(ShareGroupsTest, AreAssignedAlthoughTheClockWasSetBack) {
  joined("a");
  clock_.jump(-1h);
  beat("b", 0, {"orders"});
  EXPECT_EQ(describe().assignmentEpoch, describe().groupEpoch);
}

TEST_F(ShareGroupsTest, RefuseWhoDoesNotBelong) {
  EXPECT_EQ(beat("a", 1).error(), ErrorCode::GroupIdNotFound);
  EXPECT_EQ(beat("a", 0).error(), ErrorCode::InvalidRequest) << "subscribes to nothing";
  EXPECT_EQ(beat("", 0, {"orders"}).error(), ErrorCode::InvalidRequest);
  EXPECT_EQ(beat("a", -2).error(), ErrorCode::InvalidRequest);
  const int32_t epoch = joined("a");
  EXPECT_EQ(beat("b", 1).error(), ErrorCode::UnknownMemberId);
  EXPECT_EQ(beat("a", epoch + 1).error(), ErrorCode::FencedMemberEpoch);
  EXPECT_EQ(beat("a", epoch - 1).error(), ErrorCode::None) << "the answer was lost";
  beat("b", 0, {"orders"});
  beat("c", 0, {"orders"});
  EXPECT_EQ(beat("d", 0, {"orders"}).error(), ErrorCode::GroupMaxSizeReached);
}

TEST_F(ShareGroupsTest, AreNoClassicGroupsAndTheOtherWayRound) {
  joined("a");
  EXPECT_EQ(join({.group = "share"}).error(), ErrorCode::InconsistentGroupProtocol);
  EXPECT_EQ(errorOf(commit({.group = "simple", .offset = 1})), ErrorCode::None);
  EXPECT_EQ(beat("a", 0, {"orders"}, "simple").error(), ErrorCode::GroupIdNotFound);
  EXPECT_EQ(listedState("share"), "Stable");
  EXPECT_EQ(listedState("classic"), std::nullopt);
}

TEST_F(ShareGroupsTest, LoseMembersThatLeaveOrAreSilent) {
  const int32_t epoch = joined("a");
  const auto left = beat("a", -1);
  EXPECT_EQ(left.error(), ErrorCode::None);
  EXPECT_EQ(left.get().memberEpoch, -1);
  EXPECT_EQ(describe().groupState, "Empty");
  EXPECT_EQ(beat("a", epoch).error(), ErrorCode::UnknownMemberId);
  joined("b");
  executor_->advance(44s);
  EXPECT_EQ(describe().members.size(), 1u);
  executor_->advance(2s);
  EXPECT_EQ(describe().groupState, "Empty") << "its session is over";
}

TEST_F(ShareGroupsTest, TakeUpPartitionsThatAreAdded) {
  const int32_t epoch = joined("a");
  partitions_ = 3;
  executor_->advance(2s);
  const auto noticed = beat("a", epoch);
  EXPECT_EQ(persister_.states.size(), 3u);
  persist();
  executor_->advance(2s);
  EXPECT_EQ(assigned(beat("a", noticed.get().memberEpoch)), 3);
}

TEST_F(ShareGroupsTest, TryAgainWhatWasNotSetUp) {
  beat("a", 0, {"orders"});
  persister_.pending.clear();
  persister_.states.clear();
  restart();
  beat("a", memberEpoch("a"));
  EXPECT_EQ(persister_.states.size(), 2u) << "a new coordinator asks again";
}

// ---- their offsets

TEST_F(ShareGroupsTest, TellAndSetTheirStartOffsets) {
  const auto describeOffsets = [&] {
    protocol::DescribeShareGroupOffsetsRequest request;
    auto& group = request.groups.emplace_back();
    group.groupId = "share";
    group.topics.reset();
    Answer<protocol::DescribeShareGroupOffsetsResponse> answer;
    shares_->describeOffsets({1, "client", ""}, request, answer.reply());
    executor_->drain();
    persist();
    return answer.get().groups.at(0);
  };
  const auto alter = [&](int64_t start, int32_t partition = 0) {
    protocol::AlterShareGroupOffsetsRequest request;
    request.groupId = "share";
    auto& topic = request.topics.emplace_back();
    topic.topicName = "orders";
    topic.partitions.push_back({.partitionIndex = partition, .startOffset = start});
    Answer<protocol::AlterShareGroupOffsetsResponse> answer;
    shares_->alterOffsets({0, "client", ""}, request, answer.reply());
    executor_->drain();
    persist();
    return answer.get();
  };
  EXPECT_EQ(static_cast<ErrorCode>(describeOffsets().errorCode), ErrorCode::GroupIdNotFound);
  EXPECT_EQ(static_cast<ErrorCode>(alter(3).errorCode), ErrorCode::GroupIdNotFound);
  joined("a");
  EXPECT_EQ(describeOffsets().topics.at(0).partitions.at(0).lag, -1) << "nothing was fetched";
  EXPECT_EQ(static_cast<ErrorCode>(alter(3).errorCode), ErrorCode::NonEmptyGroup);
  beat("a", -1);
  const int32_t epoch = describe().groupEpoch;
  EXPECT_EQ(alter(3).errorCode, 0);
  EXPECT_EQ(static_cast<ErrorCode>(alter(3, 7).responses.at(0).partitions.at(0).errorCode),
            ErrorCode::UnknownTopicOrPartition);
  const auto& [stateEpoch, start] = persister_.states.at({"share", *topics_.topicId("orders"), PartitionIndex(0)});
  EXPECT_GT(stateEpoch, epoch) << "writes of before are fenced";
  EXPECT_EQ(start, Offset(3));
  const auto seen = describeOffsets();
  ASSERT_EQ(seen.topics.at(0).partitions.size(), 2u);
  for (const auto& partition : seen.topics.at(0).partitions)
    if (partition.partitionIndex == 0) {
      EXPECT_EQ(partition.startOffset, 3);
      EXPECT_EQ(partition.lag, 6) << "10 − 3 − 1 that is done";
    }
  joined("b");
}

TEST_F(ShareGroupsTest, ForgetATopicIfAsked) {
  joined("a");
  const auto forget = [&] {
    protocol::DeleteShareGroupOffsetsRequest request;
    request.groupId = "share";
    request.topics.emplace_back().topicName = "orders";
    Answer<protocol::DeleteShareGroupOffsetsResponse> answer;
    shares_->deleteOffsets({0, "client", ""}, request, answer.reply());
    executor_->drain();
    persist();
    return static_cast<ErrorCode>(answer.get().errorCode);
  };
  EXPECT_EQ(forget(), ErrorCode::NonEmptyGroup);
  beat("a", -1);
  EXPECT_EQ(forget(), ErrorCode::None);
  EXPECT_TRUE(persister_.states.empty());
  beat("a", 0, {"orders"});
  EXPECT_EQ(persister_.states.size(), 2u) << "set up anew";
}

TEST_F(ShareGroupsTest, AreDeletedWithTheirState) {
  joined("a");
  EXPECT_EQ(remove("share"), ErrorCode::NonEmptyGroup);
  beat("a", -1);
  EXPECT_EQ(remove("share"), ErrorCode::None);
  EXPECT_TRUE(persister_.states.empty());
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound);
  restart();
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound);
}

// ---- golden

TEST_F(ShareGroupsTest, OfARealKafkaAreLoaded) {
  for (int i = 0; i < kPartitions; ++i) {
    std::ifstream file(
        std::string(TIDEMARK_TEST_DATA) + "/coordinator/__consumer_offsets-" + std::to_string(i) + ".log",
        std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    log_.load(PartitionIndex(i), {bytes.begin(), bytes.end()});
  }
  restart();
  const auto group = describe("share-group");
  EXPECT_EQ(group.errorCode, 0);
  EXPECT_EQ(group.groupState, "Empty");
  EXPECT_GT(group.groupEpoch, 0);
}

}  // namespace
}  // namespace tidemark::coordinator
