#include "client/streams_member.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "client/client_fixture.h"
#include "client/held_requests.h"
#include "protocol/generated/streams_group_heartbeat_request.h"
#include "protocol/generated/streams_group_heartbeat_response.h"

namespace tidemark::test {
namespace {

using namespace std::chrono_literals;
using protocol::ApiKey;
using protocol::StreamsGroupHeartbeatRequest;
using protocol::StreamsGroupHeartbeatResponse;

/// "a0 a1 b0"
std::string namesOf(const std::set<client::StreamsTask>& tasks) {
  std::string text;
  for (const auto& task : tasks)
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", task.subtopology, task.partition);
  return text;
}
std::string ownedIn(const StreamsGroupHeartbeatRequest& request) {
  std::string text;
  for (const auto& list : *request.activeTasks)
    for (const int32_t partition : list.partitions)
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", list.subtopologyId.str(), partition);
  return text;
}

/// A member whose coordinator is the test.
class StreamsMemberTest : public ClientTest {
 protected:
  void SetUp() override {
    cluster.createTopic("t", 3);
    cluster.takes = [this](network::RequestPtr& request) {
      if (request->apiKey() == ApiKey::StreamsGroupHeartbeat) asked_.take(request);
    };
    start({.retryBackoff = 5ms});
  }
  void join(const std::string& instanceId = {}, bool closesByHand = false) {
    client::StreamsMember::Handlers handlers;
    handlers.onTasks = [this](int32_t epoch, const client::StreamsTasks& tasks) {
      change([&] { told_.push_back(fmt::format("{}: {}", epoch, namesOf(tasks.active))); });
    };
    if (closesByHand)
      handlers.onRevoked = [this](const client::StreamsTasks& tasks, platform::Task closed) {
        change([&] {
          revoked_.push_back(namesOf(tasks.active));
          closed_ = std::move(closed);
        });
      };
    handlers.onError = [this](const Error& error) { change([&] { errors_.push_back(error.code); }); };
    run([&] {
      member_ = std::make_unique<client::StreamsMember>(
          *client,
          client::StreamsOptions{.groupId = "g",
                                 .instanceId = instanceId,
                                 .topology = {{.id = "a", .sourceTopics = {"t"}, .changelogs = {{.name = "g-store"}}}},
                                 .rebalanceTimeout = 30s},
          std::move(handlers));
    });
  }
  void release() override {
    member_.reset();
    asked_.clear();
  }

  StreamsGroupHeartbeatRequest beat(size_t number) { return asked_.read<StreamsGroupHeartbeatRequest>(number); }
  /// Answers it; `active`: partitions of the subtopology, nothing: its tasks did not change.
  void answer(size_t number, int32_t epoch, std::optional<std::vector<int32_t>> active,
              ErrorCode error = ErrorCode::None) {
    StreamsGroupHeartbeatResponse response;
    response.errorCode = static_cast<int16_t>(error);
    response.memberEpoch = epoch;
    response.heartbeatIntervalMs = 10;
    if (active) {
      response.activeTasks.emplace();
      if (!active->empty()) response.activeTasks->push_back({.subtopologyId = "a", .partitions = std::move(*active)});
      response.standbyTasks.emplace();
      response.warmupTasks.emplace();
    }
    asked_.answer(number, response);
  }

  std::unique_ptr<client::StreamsMember> member_;
  std::vector<std::string> told_;
  std::vector<std::string> revoked_;
  std::vector<ErrorCode> errors_;
  platform::Task closed_;
  /// Heartbeats.
  HeldRequests asked_{*stage};
};

TIDEMARK_ON_EACH_PLATFORM(StreamsMemberTest);

TEST_P(StreamsMemberTest, BringsItsTopologyWhenItJoinsAndThenSaysWhatItOwns) {
  join();
  const auto first = beat(1);
  EXPECT_EQ(first.memberEpoch, 0);
  EXPECT_EQ(first.rebalanceTimeoutMs, 30'000);
  ASSERT_TRUE(first.topology);
  ASSERT_EQ(first.topology->subtopologies.size(), 1u);
  EXPECT_EQ(first.topology->subtopologies[0].sourceTopics[0].str(), "t");
  EXPECT_EQ(first.topology->subtopologies[0].stateChangelogTopics[0].name.str(), "g-store");
  // What is decoded refers to the request, which ends with its answer.
  const std::string memberId = first.memberId.str();
  answer(1, 3, std::vector<int32_t>{0, 1});
  const auto second = beat(2);
  EXPECT_EQ(second.memberId.str(), memberId);
  EXPECT_EQ(second.memberEpoch, 3);
  EXPECT_FALSE(second.topology) << "the coordinator has it";
  EXPECT_EQ(ownedIn(second), "a0 a1");
  answer(2, 3, std::nullopt);
  EXPECT_EQ(ownedIn(beat(3)), "a0 a1") << "nothing was said of its tasks";
  change([&] { EXPECT_EQ(told_, (std::vector<std::string>{"3: ", "3: a0 a1"})); });
}

TEST_P(StreamsMemberTest, OwnsATaskUntilWhoeverRunsItIsDoneAndTakesOthersOnlyThen) {
  join({}, true);
  answer(1, 3, std::vector<int32_t>{0, 1});
  answer(2, 4, std::vector<int32_t>{1, 2});
  EXPECT_EQ(ownedIn(beat(3)), "a0 a1") << "a0 is not closed yet";
  answer(3, 4, std::nullopt);
  EXPECT_EQ(ownedIn(beat(4)), "a0 a1");
  change([&] { EXPECT_EQ(revoked_, (std::vector<std::string>{"a0"})); });
  run([&] { closed_(); });
  answer(4, 4, std::nullopt);
  EXPECT_EQ(ownedIn(beat(5)), "a1 a2");
  change([&] { EXPECT_EQ(told_, (std::vector<std::string>{"3: ", "3: a0 a1", "4: a0 a1", "4: a1", "4: a1 a2"})); });
}

TEST_P(StreamsMemberTest, OnceFencedItOwnsNothingAndJoinsAgain) {
  join({}, true);
  answer(1, 3, std::vector<int32_t>{0, 1});
  answer(2, 4, std::vector<int32_t>{1});
  ASSERT_TRUE(await([&] { return revoked_.size() == 1; }));
  answer(3, 0, std::nullopt, ErrorCode::FencedMemberEpoch);
  const auto again = beat(4);
  EXPECT_EQ(again.memberEpoch, 0);
  EXPECT_TRUE(again.topology);
  EXPECT_EQ(ownedIn(again), "");
  // What was closed for its last life is nothing to this one.
  run([&] { closed_(); });
  answer(4, 6, std::vector<int32_t>{0});
  EXPECT_EQ(ownedIn(beat(5)), "a0");
  change([&] {
    EXPECT_EQ(told_, (std::vector<std::string>{"3: ", "3: a0 a1", "4: a0 a1", "0: ", "6: ", "6: a0"}));
    EXPECT_TRUE(errors_.empty());
  });
}

TEST_P(StreamsMemberTest, WhatDoesNotPassIsTold) {
  join();
  answer(1, 0, std::nullopt, ErrorCode::StreamsInvalidTopology);
  ASSERT_TRUE(await([&] { return !errors_.empty(); }));
  change([&] { EXPECT_EQ(errors_, (std::vector<ErrorCode>{ErrorCode::StreamsInvalidTopology})); });
}

TEST_P(StreamsMemberTest, LeavesForEverOrAStaticOneForAWhile) {
  size_t beats = 0;
  for (const std::string& instanceId : {std::string(), std::string("static-1")}) {
    join(instanceId);
    answer(++beats, 3, std::vector<int32_t>{0});
    EXPECT_EQ(ownedIn(beat(++beats)), "a0");
    bool left = false;
    run([&] { member_->leave([&] { change([&] { left = true; }); }); });
    // A connection's requests are read one after the other. What it is told meanwhile is nothing to it any more.
    answer(beats, 3, std::vector<int32_t>{0, 1});
    const auto last = beat(++beats);
    EXPECT_EQ(last.memberEpoch, instanceId.empty() ? -1 : -2);
    answer(beats, last.memberEpoch, std::nullopt);
    ASSERT_TRUE(await([&] { return left; }));
    run([&] {
      EXPECT_EQ(member_->epoch(), 0);
      EXPECT_TRUE(member_->tasks().empty());
      member_.reset();
    });
  }
}

}  // namespace
}  // namespace tidemark::test
