#include "replication/fetch_session.h"

#include <gtest/gtest.h>

#include "replication/fetch_session_client.h"
#include "replication/topic.h"

namespace tidemark::replication {
namespace {

using platform::MonotonicTime;

class CountingRandom : public platform::Random {
 public:
  uint64_t next() override { return ++count_ << 40; }

 private:
  uint64_t count_ = 0;
};

FetchItem item(int partition, int64_t offset = 0, Uuid topic = kTopic) {
  return {.key = {.topicId = topic, .topic = "orders", .partition = PartitionIndex(partition)},
          .ask = {.fetchOffset = Offset(offset), .logStartOffset = kNoOffset, .maxBytes = 1 << 20}};
}

FetchFacts quiet(int64_t highWatermark = 5) {
  return {.highWatermark = Offset(highWatermark), .logStartOffset = Offset(0)};
}

class FetchSessions : public testing::Test {
 protected:
  FetchSessionCache::Request full(std::vector<FetchItem> items, bool follower = false) {
    return {.sessionId = 0,
            .sessionEpoch = 0,
            .fromFollower = follower,
            .usesTopicIds = true,
            .items = std::move(items),
            .forgotten = {}};
  }
  FetchSessionCache::Request incremental(int32_t id, int32_t epoch, std::vector<FetchItem> items = {},
                                         std::vector<FetchKey> forgotten = {}) {
    return {.sessionId = id,
            .sessionEpoch = epoch,
            .usesTopicIds = true,
            .items = std::move(items),
            .forgotten = std::move(forgotten)};
  }
  int32_t open(std::vector<FetchItem> items, bool follower = false) {
    auto context = cache_.begin(full(std::move(items), follower), now_);
    EXPECT_TRUE(context);
    std::vector<FetchFacts> facts(context->items().size(), quiet());
    context->select(facts);
    return context->sessionId();
  }

  CountingRandom random_;
  FetchSessionCache cache_{2, random_};
  MonotonicTime now_{std::chrono::hours(1)};
};

TEST_F(FetchSessions, AnswerInFullAtFirstAndThenOnlyWhatChanged) {
  const int32_t id = open({item(0), item(1), item(2)});
  ASSERT_NE(id, 0);
  auto context = cache_.begin(incremental(id, 1), now_);
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->isIncremental());
  EXPECT_TRUE(context->namesNothing());
  ASSERT_EQ(context->items().size(), 3u);
  FetchFacts data = quiet();
  data.hasRecords = true;
  EXPECT_EQ(context->select({quiet(), data, quiet(6)}), (std::vector<bool>{false, true, true}))
      << "records, and a moved high watermark";
  context = cache_.begin(incremental(id, 2), now_);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->items().back().key.partition, PartitionIndex(1)) << "who got data goes to the end";
}

TEST_F(FetchSessions, TellAnErrorEachTimeAndTheStateAfterIt) {
  const int32_t id = open({item(0)});
  FetchFacts failed{.error = ErrorCode::NotLeaderOrFollower};
  EXPECT_EQ(cache_.begin(incremental(id, 1), now_)->select({failed}), std::vector<bool>{true});
  EXPECT_EQ(cache_.begin(incremental(id, 2), now_)->select({failed}), std::vector<bool>{true});
  EXPECT_EQ(cache_.begin(incremental(id, 3), now_)->select({quiet()}), std::vector<bool>{true});
  EXPECT_EQ(cache_.begin(incremental(id, 4), now_)->select({quiet()}), std::vector<bool>{false});
}

TEST_F(FetchSessions, FollowWhatTheClientAddsChangesAndForgets) {
  const int32_t id = open({item(0), item(1)});
  auto context = cache_.begin(incremental(id, 1, {item(1, 9), item(2)}, {item(0).key}), now_);
  ASSERT_TRUE(context);
  ASSERT_EQ(context->items().size(), 2u);
  EXPECT_EQ(context->items()[0].ask.fetchOffset, Offset(9));
  EXPECT_EQ(context->items()[1].key.partition, PartitionIndex(2));
  EXPECT_FALSE(context->namesNothing());
}

TEST_F(FetchSessions, EndWhenTheirLastPartitionIsForgotten) {
  const int32_t id = open({item(0)});
  auto context = cache_.begin(incremental(id, 1, {}, {item(0).key}), now_);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->sessionId(), 0);
  EXPECT_EQ(cache_.size(), 0u);
}

TEST_F(FetchSessions, RefuseAWrongEpochAnUnknownIdAndAMixOfNamesAndIds) {
  const int32_t id = open({item(0)});
  EXPECT_EQ(cache_.begin(incremental(id, 2), now_).error().code, ErrorCode::InvalidFetchSessionEpoch);
  EXPECT_EQ(cache_.begin(incremental(id + 1, 1), now_).error().code, ErrorCode::FetchSessionIdNotFound);
  auto byName = incremental(id, 1);
  byName.usesTopicIds = false;
  EXPECT_EQ(cache_.begin(byName, now_).error().code, ErrorCode::FetchSessionTopicIdError);
}

TEST_F(FetchSessions, MakeRoomForAFollowerButNotForAnotherConsumer) {
  const int32_t first = open({item(0)});
  open({item(1)});
  EXPECT_EQ(open({item(2)}), 0) << "full, and nobody is idle";
  EXPECT_NE(open({item(2)}, true), 0) << "a follower takes a consumer's place";
  EXPECT_EQ(cache_.begin(incremental(first, 1), now_).error().code, ErrorCode::FetchSessionIdNotFound);
  now_ += std::chrono::minutes(3);
  EXPECT_NE(open({item(3)}), 0) << "one idle for long gives its place";
}

TEST(FetchSessionOfAFetcher, NamesDifferencesOnly) {
  FetchSessionClient client;
  auto plan = client.next({item(0), item(1)});
  EXPECT_EQ(plan.sessionEpoch, 0);
  EXPECT_EQ(plan.items.size(), 2u);
  client.answered(ErrorCode::None, 77);
  plan = client.next({item(0), item(1, 4), item(2)});
  EXPECT_EQ(plan.sessionId, 77);
  EXPECT_EQ(plan.sessionEpoch, 1);
  ASSERT_EQ(plan.items.size(), 2u);
  EXPECT_EQ(plan.items[0].ask.fetchOffset, Offset(4));
  client.answered(ErrorCode::None, 77);
  plan = client.next({item(2)});
  EXPECT_EQ(plan.sessionEpoch, 2);
  EXPECT_TRUE(plan.items.empty());
  EXPECT_EQ(plan.forgotten.size(), 2u);
}

TEST(FetchSessionOfAFetcher, StartsAnewAfterAnErrorOrALostAnswer) {
  FetchSessionClient client;
  client.next({item(0)});
  client.answered(ErrorCode::None, 77);
  client.next({item(0)});
  client.answered(ErrorCode::InvalidFetchSessionEpoch, 0);
  auto plan = client.next({item(0)});
  EXPECT_EQ(plan.sessionEpoch, 0);
  EXPECT_EQ(plan.sessionId, 77) << "closes the old one";
  client.answered(ErrorCode::None, 78);
  client.next({item(0)});
  client.failed();
  plan = client.next({item(0)});
  EXPECT_EQ(plan.sessionEpoch, 0);
  EXPECT_EQ(plan.items.size(), 1u);
}

}  // namespace
}  // namespace tidemark::replication
