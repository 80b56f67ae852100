// A copy that is offline, in a recording: it is written and read, and ends with the life of its broker.
#include <gtest/gtest.h>

#include "observe/recording.h"
#include "observe/recording_file.h"

namespace tidemark::observe {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kThen{1'790'000'000'000ms};
const TopicPartition kPayments{"payments", PartitionIndex(0)};

class OfflineRecordingTest : public testing::Test {
 protected:
  OfflineRecordingTest() {
    cluster.clusterId = "a-cluster";
    cluster.at = MonotonicTime(100s);
    cluster.wall = kThen;
    cluster.brokers.resize(1);
    cluster.brokers[0].id = NodeId(1);
    cluster.brokers[0].state = BrokerState::Running;
    cluster.topics.resize(1);
    cluster.topics[0].name = kPayments.topic;
    cluster.topics[0].partitions.resize(1);
    cluster.topics[0].partitions[0].index = kPayments.partition;
    cluster.topics[0].partitions[0].copies.resize(1);
    cluster.topics[0].partitions[0].copies[0].broker = NodeId(1);
  }
  void tell(std::chrono::milliseconds after, const events::Payload& payload) {
    ObservedEvent one;
    one.number = ++number;
    one.event.at = cluster.at + after;
    one.event.wall = cluster.wall + after;
    one.event.broker = NodeId(1);
    one.event.payload = payload;
    recording.add(one);
  }
  SnapshotPtr at(std::chrono::milliseconds after) { return recording.show(recording.at(kThen + after), kPayments); }
  static std::string reasonIn(const SnapshotPtr& then) {
    return findReplica(*findPartition(*then, kPayments), NodeId(1))->offlineReason;
  }

  ClusterSnapshot cluster;
  Recording recording;
  uint64_t number = 0;
};

TEST_F(OfflineRecordingTest, ItIsTriedAgainWhenItsBrokerStartsAnew) {
  cluster.brokers[0].failedDirectories = {{"/data/disk-2", "no space"}};
  cluster.topics[0].partitions[0].copies[0].offlineReason = "no space";
  recording.add(cluster);
  tell(300ms, events::BrokerDown{NodeId(1), events::DownCause::Killed});
  tell(500ms, events::BrokerStarted{NodeId(1)});
  EXPECT_EQ(reasonIn(at(200ms)), "no space");
  EXPECT_EQ(at(200ms)->brokers[0].failedDirectories.size(), 1u);
  EXPECT_EQ(reasonIn(at(600ms)), "");
  EXPECT_TRUE(at(600ms)->brokers[0].failedDirectories.empty());
}

TEST_F(OfflineRecordingTest, ADirectoryThatFailsIsToldAtOnce) {
  recording.add(cluster);
  tell(300ms, events::LogDirectoryFailed{"/data/disk-2", "no space"});
  EXPECT_TRUE(at(200ms)->brokers[0].failedDirectories.empty());
  ASSERT_EQ(at(400ms)->brokers[0].failedDirectories.size(), 1u);
  EXPECT_EQ(at(400ms)->brokers[0].failedDirectories[0].reason, "no space");
}

TEST_F(OfflineRecordingTest, WhatWasWrittenIsReadAgain) {
  cluster.brokers[0].failedDirectories = {{"/data/disk-2", "no space"}};
  cluster.topics[0].partitions[0].copies[0].offlineReason = "no space";
  recording.add(cluster);
  RecordingReader reader;
  RecordingWriter writer([&reader](std::string_view line) { ASSERT_TRUE(reader.take(line)); });
  writer.add(recording);
  const auto again = reader.finish();
  ASSERT_TRUE(again) << again.error().message;
  const SnapshotPtr then = again->show(again->at(kThen), kPayments);
  EXPECT_EQ(reasonIn(then), "no space");
  EXPECT_EQ(then->brokers[0].failedDirectories, cluster.brokers[0].failedDirectories);
}

}  // namespace
}  // namespace tidemark::observe
