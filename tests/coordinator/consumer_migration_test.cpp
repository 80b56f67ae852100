#include <algorithm>

#include <gmock/gmock.h>

#include "coordinator/classic/consumer_protocol.h"
#include "coordinator/consumer_fixture.h"
#include "coordinator/record_encoding.h"
#include "protocol/generated/consumer_protocol_subscription.h"

namespace tidemark::coordinator {
namespace {

/// Groups whose members follow the classic protocol, the consumer protocol, or both.
class MixedGroups : public ConsumerProtocolGroups {
 protected:
  static std::string subscriptionTo(const std::string& topic, const Owned& owned = {}) {
    protocol::ConsumerProtocolSubscription subscription;
    subscription.topics.emplace_back(topic);
    subscription.userData.reset();
    subscription.rackId.reset();
    for (const auto& [name, partitions] : owned) {
      auto& one = subscription.ownedPartitions.emplace_back();
      one.topic = protocol::Text(name);
      one.partitions.assign(partitions.begin(), partitions.end());
    }
    const ByteVector bytes = encodedValue(subscription, 1);
    return {bytes.begin(), bytes.end()};
  }
  static std::string assignmentOf(const std::vector<int32_t>& partitions) {
    std::vector<TopicPartition> named;
    for (const int32_t partition : partitions) named.push_back({"orders", PartitionIndex(partition)});
    const ByteVector bytes = encodedAssignment(named, 1);
    return {bytes.begin(), bytes.end()};
  }
  static std::vector<int32_t> ownedIn(const protocol::SyncGroupResponse& response) {
    std::vector<int32_t> owned;
    for (const TopicPartition& one :
         assignedPartitionsOf(response.assignment.view()).value_or(std::vector<TopicPartition>())) {
      owned.push_back(one.partition.value());
    }
    return owned;
  }
  Joining classicJoin(const std::string& member, const Owned& owned = {}) {
    return {.group = "cg", .member = member, .metadata = subscriptionTo("orders", owned)};
  }

  /// One classic member that owns all of `orders`; its id.
  std::string classicGroup() {
    const std::string id = join(classicJoin("")).get().memberId.str();
    const auto joined = join(classicJoin(id));
    executor_->advance(3s);
    EXPECT_EQ(joined.error(), ErrorCode::None);
    EXPECT_EQ(sync(id, 1, {{id, assignmentOf({0, 1, 2})}}, "cg").error(), ErrorCode::None);
    return id;
  }
};

TEST_F(MixedGroups, AClassicGroupIsUpgradedByTheFirstMemberOfTheConsumerProtocol) {
  const std::string classic = classicGroup();
  const auto b = enter("b");
  ASSERT_EQ(b.error(), ErrorCode::None);
  EXPECT_EQ(describe().members.size(), 2u);
  EXPECT_EQ(assignedIn(b.get()), Owned()) << "the classic member owns everything still";
  expectOneOwnerEach();
  // It is told to join again, says what it has, and gives back what it is not to have.
  EXPECT_EQ(heartbeat(classic, 1, std::nullopt, "cg"), ErrorCode::RebalanceInProgress);
  const auto again = join(classicJoin(classic, {{"orders", {0, 1, 2}}}));
  ASSERT_EQ(again.error(), ErrorCode::None);
  EXPECT_EQ(again.get().generationId, 1);
  const auto synced = sync(classic, 1, {}, "cg");
  ASSERT_EQ(synced.error(), ErrorCode::None);
  EXPECT_EQ(ownedIn(synced.get()), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(heartbeat(classic, 1, std::nullopt, "cg"), ErrorCode::RebalanceInProgress);
  const auto gaveBack = join(classicJoin(classic, {{"orders", {0, 1}}}));
  ASSERT_EQ(gaveBack.error(), ErrorCode::None);
  const int32_t epoch = gaveBack.get().generationId;
  EXPECT_GT(epoch, 1);
  EXPECT_EQ(ownedIn(sync(classic, epoch, {}, "cg").get()), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(heartbeat(classic, epoch, std::nullopt, "cg"), ErrorCode::None);
  EXPECT_EQ(assignedIn(beat({.member = "b", .epoch = epoch}).get()), (Owned{{"orders", {2}}}));
  EXPECT_EQ(stateOfConsumers(), "Stable");
  EXPECT_EQ(describe().members.at(0).memberType + describe().members.at(1).memberType, 1) << "one of each";
  EXPECT_EQ(errorOf(commit({.group = "cg", .member = classic, .generation = epoch, .offset = 4})), ErrorCode::None);
  EXPECT_EQ(errorOf(commit({.group = "cg", .member = classic, .generation = 1, .offset = 4})),
            ErrorCode::IllegalGeneration);
}

TEST_F(MixedGroups, AGroupIsDowngradedWhenItsLastConsumerMemberLeaves) {
  const std::string classic = classicGroup();
  enter("b");
  recorder_.want(events::Kinds::all());
  EXPECT_EQ(beat({.member = "b", .epoch = -1}).error(), ErrorCode::None);
  const std::vector<std::string> lines = told();
  const auto ends = [](const std::string& line) { return line.find("to=Dead") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(lines, ends), 1) << "the consumer group's end";
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound);
  EXPECT_EQ(stateOf("cg"), "PreparingRebalance");
  const auto again = join(classicJoin(classic));
  ASSERT_EQ(again.error(), ErrorCode::None);
  EXPECT_EQ(again.get().leader, classic) << "it assigns by itself again";
  EXPECT_EQ(sync(classic, again.get().generationId, {{classic, assignmentOf({0, 1, 2})}}, "cg").error(),
            ErrorCode::None);
  restart();
  EXPECT_EQ(stateOf("cg"), "Stable") << "and the log says so";
}

TEST_F(MixedGroups, ThePolicyMayForbidUpgradeAndDowngrade) {
  config_.consumer.upgrades = false;
  restart();
  const std::string classic = classicGroup();
  EXPECT_EQ(enter("b").error(), ErrorCode::GroupIdNotFound);
  EXPECT_EQ(heartbeat(classic, 1, std::nullopt, "cg"), ErrorCode::None) << "nothing has happened to it";
  config_.consumer.upgrades = true;
  config_.consumer.downgrades = false;
  restart();
  EXPECT_EQ(enter("b").error(), ErrorCode::None);
  beat({.member = "b", .epoch = -1});
  EXPECT_EQ(describe().members.size(), 1u) << "it stays a consumer group";
}

TEST_F(MixedGroups, AnEmptyClassicGroupMakesRoomAndKeepsItsOffsets) {
  commit({.group = "cg", .offset = 7});
  EXPECT_EQ(stateOf("cg"), "Empty");
  EXPECT_EQ(enter("a").error(), ErrorCode::None);
  EXPECT_EQ(fetch("cg"), 7);
  restart();
  EXPECT_EQ(stateOfConsumers(), "Stable");
  EXPECT_EQ(fetch("cg"), 7);
}

TEST_F(MixedGroups, AnUpgradeTellsWhoWaitsInTheClassicGroupToJoinAgain) {
  const std::string classic = classicGroup();
  Joining other = classicJoin("");
  const std::string second = join(other).get().memberId.str();
  const auto waiting = join(classicJoin(second));
  EXPECT_FALSE(waiting.has());
  EXPECT_EQ(enter("b").error(), ErrorCode::None);
  EXPECT_EQ(waiting.error(), ErrorCode::RebalanceInProgress);
}

TEST_F(MixedGroups, AClassicMemberThatDoesNotJoinAgainInTimeIsFenced) {
  const std::string classic = classicGroup();
  enter("b");
  EXPECT_EQ(heartbeat(classic, 1, std::nullopt, "cg"), ErrorCode::RebalanceInProgress);
  for (int i = 0; i < 13; ++i) {
    executor_->advance(5s);
    heartbeat(classic, 1, std::nullopt, "cg");
    beat({.member = "b", .epoch = 2});
  }
  EXPECT_EQ(heartbeat(classic, 1, std::nullopt, "cg"), ErrorCode::UnknownMemberId);
}

}  // namespace
}  // namespace tidemark::coordinator
