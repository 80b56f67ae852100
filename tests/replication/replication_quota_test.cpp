#include "replication/replication_quota.h"

#include <gtest/gtest.h>

namespace tidemark::replication {
namespace {

using platform::MonotonicTime;
using std::chrono::milliseconds;
using std::chrono::seconds;

MonotonicTime after(int64_t ms) {
  return MonotonicTime(milliseconds(ms));
}

TEST(ReplicationRate, IsWhatCameInTheLastSeconds) {
  ReplicationRate rate;
  EXPECT_EQ(rate.bytesPerSecond(after(0)), 0);
  rate.record(1000, after(0));
  // Not more than in one second of the kind.
  EXPECT_EQ(rate.bytesPerSecond(after(1)), 1000);
  EXPECT_EQ(rate.bytesPerSecond(after(2000)), 500);
  rate.record(3000, after(2000));
  EXPECT_EQ(rate.bytesPerSecond(after(4000)), 1000);
  // The first is forgotten.
  EXPECT_EQ(rate.bytesPerSecond(after(12000)), 300);
  EXPECT_EQ(rate.bytesPerSecond(after(20000)), 0);
}

TEST(ReplicationRate, KeepsElevenSamplesWhateverComes) {
  ReplicationRate rate;
  for (int64_t second = 0; second < 40; ++second)
    for (int64_t part = 0; part < 4; ++part) rate.record(25, after(second * 1000 + part * 250));
  EXPECT_NEAR(rate.bytesPerSecond(after(40000)), 100, 5);
}

TEST(ThrottledReplicas, AreNamedOneByOneOrAll) {
  EXPECT_FALSE(isThrottled({}, PartitionIndex(0), NodeId(1)));
  EXPECT_TRUE(isThrottled({"*"}, PartitionIndex(7), NodeId(1)));
  EXPECT_TRUE(isThrottled({"0:2", "1:1"}, PartitionIndex(1), NodeId(1)));
  EXPECT_FALSE(isThrottled({"0:2", "1:1"}, PartitionIndex(0), NodeId(1)));
  EXPECT_FALSE(isThrottled({"11:1"}, PartitionIndex(1), NodeId(1)));
}

}  // namespace
}  // namespace tidemark::replication
