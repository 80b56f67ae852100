#include "log/epoch_cache.h"

#include <gmock/gmock.h>

namespace tidemark::log {
namespace {

using testing::ElementsAre;

EpochEntry at(int epoch, int64_t offset) {
  return {LeaderEpoch(epoch), Offset(offset)};
}

EpochCache cacheOf(std::initializer_list<EpochEntry> entries) {
  EpochCache cache;
  for (const EpochEntry& entry : entries) cache.assign(entry.epoch, entry.startOffset);
  cache.markClean();
  return cache;
}

TEST(EpochCacheTest, anEpochIsRememberedFromItsFirstOffsetOn) {
  EpochCache cache;
  EXPECT_TRUE(cache.assign(LeaderEpoch(2), Offset(10)));
  EXPECT_FALSE(cache.assign(LeaderEpoch(2), Offset(20)));
  EXPECT_TRUE(cache.dirty());
  EXPECT_THAT(cache.entries(), ElementsAre(at(2, 10)));
}

TEST(EpochCacheTest, whatContradictsANewEntryGoes) {
  EpochCache cache = cacheOf({at(1, 0), at(2, 10), at(4, 20)});
  cache.assign(LeaderEpoch(5), Offset(20));  // the leader of 4 never wrote
  EXPECT_THAT(cache.entries(), ElementsAre(at(1, 0), at(2, 10), at(5, 20)));
  cache.assign(LeaderEpoch(3), Offset(15));
  EXPECT_THAT(cache.entries(), ElementsAre(at(1, 0), at(2, 10), at(3, 15)));
  cache.assign(LeaderEpoch(3), Offset(5));
  EXPECT_THAT(cache.entries(), ElementsAre(at(1, 0), at(3, 5)));
}

TEST(EpochCacheTest, endOffsetsFollowTheFourRules) {
  const EpochCache cache = cacheOf({at(2, 10), at(4, 20), at(7, 30)});
  const Offset end(40);
  EXPECT_EQ(cache.endOffsetFor(LeaderEpoch(-1), end), EpochEndOffset{});
  EXPECT_EQ(cache.endOffsetFor(LeaderEpoch(8), end), EpochEndOffset{});
  EXPECT_EQ(cache.endOffsetFor(LeaderEpoch(7), end), (EpochEndOffset{LeaderEpoch(7), end}));
  EXPECT_EQ(cache.endOffsetFor(LeaderEpoch(1), end), (EpochEndOffset{LeaderEpoch(1), Offset(10)}));
  EXPECT_EQ(cache.endOffsetFor(LeaderEpoch(4), end), (EpochEndOffset{LeaderEpoch(4), Offset(30)}));
  EXPECT_EQ(cache.endOffsetFor(LeaderEpoch(5), end), (EpochEndOffset{LeaderEpoch(4), Offset(30)}));
  EXPECT_EQ(EpochCache().endOffsetFor(LeaderEpoch(0), end), EpochEndOffset{});
}

TEST(EpochCacheTest, truncationFromBothEnds) {
  EpochCache cache = cacheOf({at(2, 10), at(4, 20), at(7, 30)});
  cache.truncateFromEnd(Offset(31));
  EXPECT_FALSE(cache.dirty());
  cache.truncateFromEnd(Offset(30));
  EXPECT_THAT(cache.entries(), ElementsAre(at(2, 10), at(4, 20)));
  cache.markClean();
  cache.truncateFromStart(Offset(10));
  EXPECT_FALSE(cache.dirty());
  cache.truncateFromStart(Offset(15));
  EXPECT_THAT(cache.entries(), ElementsAre(at(2, 15), at(4, 20)));
  cache.truncateFromStart(Offset(20));
  EXPECT_THAT(cache.entries(), ElementsAre(at(4, 20)));
  cache.truncateFromStart(Offset(99));
  EXPECT_THAT(cache.entries(), ElementsAre(at(4, 99)));
}

TEST(EpochCacheTest, looksUpEpochs) {
  const EpochCache cache = cacheOf({at(2, 10), at(4, 20)});
  EXPECT_EQ(cache.epochForOffset(Offset(9)), std::nullopt);
  EXPECT_EQ(cache.epochForOffset(Offset(10)), LeaderEpoch(2));
  EXPECT_EQ(cache.epochForOffset(Offset(50)), LeaderEpoch(4));
  EXPECT_EQ(cache.previousEpoch(LeaderEpoch(4)), LeaderEpoch(2));
  EXPECT_EQ(cache.previousEpoch(LeaderEpoch(2)), std::nullopt);
}

TEST(EpochCacheTest, itsTextReadsBackAndNothingElseDoes) {
  const EpochCache cache = cacheOf({at(0, 0), at(4, 1234567890123)});
  EXPECT_EQ(cache.encode(), "0\n2\n0 0\n4 1234567890123\n");
  EXPECT_EQ(EpochCache::decode(cache.encode())->entries(), cache.entries());
  EXPECT_TRUE(EpochCache::decode("0\n0\n"));
  for (const char* text : {"", "0", "1\n0\n", "0\n2\n0 0\n", "0\n1\n0 0\n4 5\n", "0\n1\n00\n", "0\n1\n-1 0\n",
                           "0\n1\n1 -1\n", "0\n1\n1 2 3\n", "0\n2\n3 0\n2 5\n", "0\n2\n3 5\n4 5\n"})
    EXPECT_FALSE(EpochCache::decode(text)) << text;
}

}  // namespace
}  // namespace tidemark::log
