#include "client/group_consumer.h"

#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "client/client_fixture.h"
#include "records/batch_builder.h"

namespace tidemark::test {
namespace {

using client::GroupConsumer;
using client::GroupOptions;
using namespace std::chrono_literals;

class GroupConsumerTest : public ClientTest {
 protected:
  struct Member {
    std::unique_ptr<GroupConsumer> consumer;
    std::vector<std::string> seen;
    std::vector<TopicPartition> assignment;
    int32_t generation = -1;
    std::vector<ErrorCode> errors;
  };

  void release() override {
    for (auto& member : members) member->consumer.reset();
  }

  Member& join(platform::Duration autoCommit = 0s) {
    members.push_back(std::make_unique<Member>());
    Member& member = *members.back();
    run([&] {
      GroupOptions options{
          .groupId = "g", .topics = {"t"}, .heartbeatInterval = 10ms, .autoCommitInterval = autoCommit};
      options.consumer.maxWait = 20ms;
      member.consumer = std::make_unique<GroupConsumer>(
          *client, options,
          [&](const client::ConsumedRecord& record) {
            change([&] { member.seen.push_back(fmt::format("{}@{}", record.where, record.record.offset)); });
          },
          [&](int32_t generation, const std::vector<TopicPartition>& assignment) {
            change([&] {
              member.generation = generation;
              member.assignment = assignment;
            });
          },
          [&](const Error& error) { change([&] { member.errors.push_back(error.code); }); });
    });
    return member;
  }
  /// Inside change().
  void append(int32_t partition) {
    auto& held = cluster.at("t", partition);
    records::BatchBuilder builder({.baseOffset = held.end, .leaderEpoch = held.epoch});
    builder.append(1000, std::nullopt, asBytes("x"));
    held.batches.push_back(builder.build());
    held.end = held.end.next();
    cluster.elect("t", partition, held.leader.value());
  }

  std::vector<std::unique_ptr<Member>> members;
};

TIDEMARK_ON_EACH_PLATFORM(GroupConsumerTest);

TEST_P(GroupConsumerTest, ReadsAllPartitionsAloneAndGoesOnWhereItHadCommitted) {
  cluster.createTopic("t", 3);
  for (int32_t i = 0; i < 3; ++i) append(i);
  start({.retryBackoff = 5ms});
  Member& first = join();
  ASSERT_TRUE(await([&] { return first.seen.size() == 3; }));
  EXPECT_EQ(first.assignment.size(), 3u);
  bool committed = false;
  run([&] {
    first.consumer->commit([&](const Result<void>& result) { change([&] { committed = result.has_value(); }); });
  });
  ASSERT_TRUE(await([&] { return committed; }));
  change([&] {
    EXPECT_EQ((cluster.group.committed[{"t", PartitionIndex(1)}]), 1);
    EXPECT_EQ((cluster.group.committedEpochs[{"t", PartitionIndex(1)}]), 0) << "that of the record before";
  });
  bool left = false;
  run([&] { first.consumer->leave([&] { change([&] { left = true; }); }); });
  ASSERT_TRUE(await([&] { return left; }));
  // Nobody leads in the epoch yet that the record before was written in.
  change([&] {
    append(1);
    cluster.group.committedEpochs[{"t", PartitionIndex(1)}] = 7;
  });
  Member& second = join();
  int asked = 0;
  change([&] { asked = cluster.requests[protocol::ApiKey::Metadata]; });
  ASSERT_TRUE(await([&] { return cluster.requests[protocol::ApiKey::Metadata] >= asked + 3; }));
  change([&] {
    EXPECT_TRUE(second.seen.empty());
    cluster.at("t", 1).epoch = LeaderEpoch(7);
  });
  ASSERT_TRUE(await([&] { return !second.seen.empty(); }));
  EXPECT_EQ(second.seen, (std::vector<std::string>{"t-1@1"}));
  EXPECT_TRUE(first.errors.empty() && second.errors.empty());
}

// The answer of the commit was taken for one of a membership that was over, and nobody heard of it.
TEST_P(GroupConsumerTest, ACommitThatIsUnderWayWhenItLeavesIsAnswered) {
  cluster.createTopic("t", 1);
  append(0);
  start({.retryBackoff = 5ms});
  Member& member = join();
  ASSERT_TRUE(await([&] { return member.seen.size() == 1; }));
  bool committed = false;
  bool left = false;
  run([&] {
    member.consumer->commit([&](const Result<void>& result) { change([&] { committed = result.has_value(); }); });
    member.consumer->leave([&] { change([&] { left = true; }); });
  });
  ASSERT_TRUE(await([&] { return committed && left; }));
}

TEST_P(GroupConsumerTest, SharesThePartitionsWithWhoeverJoinsAndTakesThemBack) {
  cluster.createTopic("t", 5);
  start({.retryBackoff = 5ms});
  Member& first = join();
  ASSERT_TRUE(await([&] { return first.assignment.size() == 5; }));
  Member& second = join();
  ASSERT_TRUE(await([&] { return first.generation == second.generation && second.generation >= 2; }));
  change([&] {
    std::set<TopicPartition> all(first.assignment.begin(), first.assignment.end());
    all.insert(second.assignment.begin(), second.assignment.end());
    EXPECT_EQ(all.size(), 5u);
    EXPECT_EQ(first.assignment.size() + second.assignment.size(), 5u);
    EXPECT_GE(second.assignment.size(), 2u);
  });
  run([&] { second.consumer->leave([] {}); });
  ASSERT_TRUE(await([&] { return first.assignment.size() == 5; }));
}

// It assigned nothing then, and nobody asked again.
TEST_P(GroupConsumerTest, AsksAgainForATopicThatNobodyCanTellAboutBeforeItAssigns) {
  cluster.autoCreate = false;
  start({.retryBackoff = 5ms, .allowAutoTopicCreation = false});
  Member& member = join();
  ASSERT_TRUE(
      await([&] { return cluster.group.generation == 1 && cluster.requests[protocol::ApiKey::Metadata] >= 2; }));
  change([&] { cluster.createTopic("t", 2); });
  ASSERT_TRUE(await([&] { return member.generation == 1; }));
  EXPECT_EQ(member.assignment.size(), 2u);
}

TEST_P(GroupConsumerTest, JoinsAgainUnderANewIdWhenItWasExpelled) {
  cluster.createTopic("t", 2);
  start({.retryBackoff = 5ms});
  Member& member = join();
  ASSERT_TRUE(await([&] { return member.generation == 1; }));
  change([&] { cluster.group.expel("member-1"); });
  ASSERT_TRUE(await([&] { return member.generation == 2; }));
  run([&] { EXPECT_EQ(member.consumer->memberId(), "member-2"); });
}

TEST_P(GroupConsumerTest, LooksForItsCoordinatorAgainWithoutJoiningAnew) {
  cluster.createTopic("t", 2);
  start({.retryBackoff = 5ms});
  Member& member = join();
  ASSERT_TRUE(await([&] { return member.generation == 1; }));
  int heartbeats = 0;
  change([&] {
    cluster.group.nextError = ErrorCode::NotCoordinator;
    heartbeats = cluster.requests[protocol::ApiKey::Heartbeat];
  });
  ASSERT_TRUE(await([&] { return cluster.requests[protocol::ApiKey::Heartbeat] >= heartbeats + 3; }));
  change([&] {
    EXPECT_EQ(cluster.group.generation, 1);
    EXPECT_GE(cluster.requests[protocol::ApiKey::FindCoordinator], 2);
  });
}

TEST_P(GroupConsumerTest, CommitsByItself) {
  cluster.createTopic("t", 1);
  append(0);
  start({.retryBackoff = 5ms});
  join(15ms);
  EXPECT_TRUE(await([&] { return cluster.group.committed[{"t", PartitionIndex(0)}] == 1; }));
}

TEST(RangeAssignmentTest, GivesConsecutiveRangesTheFirstOnesMore) {
  using Ranges = std::vector<std::vector<int32_t>>;
  EXPECT_EQ(client::rangeAssignment(2, 5), (Ranges{{0, 1, 2}, {3, 4}}));
  EXPECT_EQ(client::rangeAssignment(3, 2), (Ranges{{0}, {1}, {}}));
  EXPECT_EQ(client::rangeAssignment(1, 0), (Ranges{{}}));
}

}  // namespace
}  // namespace tidemark::test
