#include "metadata/loader.h"

#include <gmock/gmock.h>

#include "metadata/log_files.h"

namespace tidemark::metadata {
namespace {

Record topic(const std::string& name, uint8_t id) {
  Uuid topicId({id, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  return {protocol::TopicRecord{.name = name, .topicId = topicId}};
}

Record partitionOf(uint8_t id, int32_t index) {
  Uuid topicId({id, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  return {protocol::PartitionRecord{.partitionId = index,
                                    .topicId = topicId,
                                    .replicas = {1},
                                    .isr = {1},
                                    .leader = 1,
                                    .leaderEpoch = 0,
                                    .partitionEpoch = 0}};
}

class Recorder final : public Publisher {
 public:
  std::string name() const override { return "recorder"; }
  void onUpdate(const Delta& delta, ImagePtr image) override {
    images.push_back(std::move(image));
    changes.push_back(delta.partitionChanges().size());
    created.push_back(delta.createdTopics().size());
    deleted.push_back(delta.deletedTopics().size());
    bases.push_back(delta.basePtr());
  }
  void onCommitted(const CommittedState& state) override { committed.push_back(state); }
  void onLeaderChange(const raft::LeaderAndEpoch& now, const CommittedState&) override { leader = now; }
  raft::LeaderAndEpoch leader;
  std::vector<ImagePtr> images, bases;
  std::vector<size_t> changes, created, deleted;
  std::vector<CommittedState> committed;
};

class Snapshot final : public raft::SnapshotReader {
 public:
  Snapshot(OffsetAndEpoch id, Records records) : id_(id) { bytes_ = *encodeRecords(records); }
  OffsetAndEpoch id() const override { return id_; }
  int64_t lastContainedLogTimestampMs() const override { return 77; }
  Result<std::optional<std::vector<ByteView>>> next() override {
    if (done_) return std::optional<std::vector<ByteView>>();
    done_ = true;
    return std::optional(std::vector<ByteView>(bytes_.begin(), bytes_.end()));
  }

 private:
  OffsetAndEpoch id_;
  std::vector<ByteVector> bytes_;
  bool done_ = false;
};

class LoaderTest : public testing::Test {
 protected:
  LoaderTest() { loader_.addPublisher(recorder_); }
  void commit(const Records& records) {
    const std::vector<ByteVector> bytes = *encodeRecords(records);
    const raft::CommittedBatch batch = test::batchOf(next_, LeaderEpoch(3), bytes);
    next_ = batch.lastOffset.next();
    loader_.onCommit(std::span(&batch, 1));
  }
  void commitControl() {
    const raft::CommittedBatch batch{
        .baseOffset = next_, .lastOffset = next_, .epoch = LeaderEpoch(3), .appendTimestampMs = 5, .isControl = true};
    next_ = next_.next();
    loader_.onCommit(std::span(&batch, 1));
  }

  std::vector<std::string> faults_;
  Loader loader_{[this](const std::string& reason) { faults_.push_back(reason); }};
  Recorder recorder_;
  Offset next_{0};
};

TEST_F(LoaderTest, EachCommitGivesAnImageWithItsProvenance) {
  commit({topic("a", 1), partitionOf(1, 0), partitionOf(1, 1)});
  commitControl();
  ASSERT_EQ(recorder_.images.size(), 2u);
  EXPECT_EQ(recorder_.images[0]->provenance.lastContainedOffset, Offset(2));
  EXPECT_EQ(recorder_.images[0]->provenance.lastContainedEpoch, LeaderEpoch(3));
  EXPECT_EQ(recorder_.images[0]->provenance.lastContainedLogTimeMs, 1000);
  EXPECT_EQ(recorder_.changes[0], 2u);
  EXPECT_EQ(recorder_.created[0], 1u);
  EXPECT_EQ(recorder_.images[1]->provenance.lastContainedOffset, Offset(3));
  EXPECT_EQ(recorder_.changes[1], 0u);
  EXPECT_EQ(recorder_.bases[1], recorder_.images[0]);
  EXPECT_TRUE(recorder_.images[1]->topics.byId.sharesAllWith(recorder_.images[0]->topics.byId));
  EXPECT_EQ(loader_.image(), recorder_.images[1]);
}

TEST_F(LoaderTest, ATransactionIsSeenAtItsEndAndNotBefore) {
  commit({topic("a", 1), {protocol::BeginTransactionRecord()}, topic("b", 2)});
  EXPECT_TRUE(loader_.image()->topics.find("a"));
  EXPECT_FALSE(loader_.image()->topics.find("b"));
  EXPECT_TRUE(loader_.committed().inTransaction);
  EXPECT_EQ(loader_.committed().end.offset, Offset(2));
  commit({topic("c", 3)});
  EXPECT_FALSE(loader_.image()->topics.find("c"));
  commit({{protocol::EndTransactionRecord()}, topic("d", 4)});
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_TRUE(loader_.image()->topics.find(name)) << name;
  EXPECT_FALSE(loader_.committed().inTransaction);
  EXPECT_EQ(loader_.image()->provenance.lastContainedOffset, Offset(5));
}

TEST_F(LoaderTest, AnAbortedTransactionLeavesNothing) {
  commit({{protocol::BeginTransactionRecord()}, topic("b", 2)});
  commit({{protocol::AbortTransactionRecord()}, topic("c", 3)});
  EXPECT_FALSE(loader_.image()->topics.find("b"));
  EXPECT_TRUE(loader_.image()->topics.find("c"));
}

TEST_F(LoaderTest, ALatePublisherGetsEverythingAtOnce) {
  commit({topic("a", 1), partitionOf(1, 0)});
  commit({topic("b", 2), partitionOf(2, 0)});
  Recorder late;
  loader_.onLeaderChange({NodeId(3), LeaderEpoch(3)});
  loader_.addPublisher(late);
  EXPECT_EQ(late.leader.leader, NodeId(3));
  ASSERT_EQ(late.images.size(), 1u);
  EXPECT_EQ(late.images[0], loader_.image());
  EXPECT_EQ(late.created[0], 2u);
  EXPECT_EQ(late.changes[0], 2u);
  loader_.removePublisher(late);
  commit({topic("c", 3)});
  EXPECT_EQ(late.images.size(), 1u);
}

TEST_F(LoaderTest, ASnapshotReplacesEverything) {
  commit({topic("a", 1), partitionOf(1, 0), topic("b", 2)});
  Snapshot snapshot({Offset(100), LeaderEpoch(7)}, {topic("b", 2), topic("c", 3), partitionOf(3, 0)});
  loader_.onLoadSnapshot(snapshot);
  EXPECT_FALSE(loader_.image()->topics.find("a"));
  EXPECT_TRUE(loader_.image()->topics.find("c"));
  EXPECT_EQ(loader_.image()->provenance.lastContainedOffset, Offset(99));
  EXPECT_EQ(loader_.image()->provenance.lastContainedLogTimeMs, 77);
  EXPECT_EQ(recorder_.deleted.back(), 1u);
  EXPECT_EQ(recorder_.created.back(), 1u);
  EXPECT_EQ(recorder_.changes.back(), 2u);
}

TEST_F(LoaderTest, TheBootstrapSnapshotIsKeptForTheControllerOnly) {
  Snapshot snapshot({Offset(0), LeaderEpoch(0)}, {topic("b", 2)});
  loader_.onLoadSnapshot(snapshot);
  EXPECT_TRUE(recorder_.images.empty());
  ASSERT_TRUE(loader_.committed().bootstrap);
  EXPECT_EQ(loader_.committed().bootstrap->size(), 1u);
  EXPECT_TRUE(loader_.committed().image->topics.byId.empty());
}

TEST_F(LoaderTest, WhatCannotBeReplayedIsAFaultThatNamesTheOffsetAndStopsEverything) {
  commit({topic("a", 1)});
  commit({topic("b", 2), partitionOf(9, 0)});
  ASSERT_EQ(faults_.size(), 1u);
  EXPECT_THAT(faults_[0], testing::HasSubstr("record 2"));
  commit({topic("c", 3)});
  EXPECT_EQ(recorder_.images.size(), 1u);
  EXPECT_EQ(faults_.size(), 1u);
}

TEST_F(LoaderTest, AnUnknownTypeOfRecordIsNamed) {
  const ByteVector bytes{1, 13, 0, 0};
  raft::CommittedBatch batch{.baseOffset = Offset(0), .lastOffset = Offset(0), .epoch = LeaderEpoch(1)};
  batch.records.emplace_back(bytes);
  loader_.onCommit(std::span(&batch, 1));
  ASSERT_EQ(faults_.size(), 1u);
  EXPECT_THAT(faults_[0], testing::HasSubstr("type 13"));
}

TEST(Replay, ContradictionsAreErrorsAndLeaveTheImageAlone) {
  Image image;
  Changes changes;
  const auto fails = [&](const Record& record) { return !replayRecord(image, record, changes).has_value(); };
  ASSERT_TRUE(replayRecord(image, topic("a", 1), changes));
  EXPECT_TRUE(fails(topic("a", 2)));
  EXPECT_TRUE(fails(topic("b", 1)));
  EXPECT_TRUE(fails({protocol::RemoveTopicRecord{.topicId = Uuid({9})}}));
  EXPECT_TRUE(fails({protocol::PartitionChangeRecord{.partitionId = 0, .topicId = Uuid({1, 1, 1})}}));
  ASSERT_TRUE(replayRecord(image, {protocol::RegisterBrokerRecord{.brokerId = 1, .brokerEpoch = 5}}, changes));
  EXPECT_TRUE(fails({protocol::FenceBrokerRecord{.id = 1, .epoch = 4}}));
  EXPECT_TRUE(fails({protocol::UnregisterBrokerRecord{.brokerId = 2, .brokerEpoch = 4}}));
  EXPECT_TRUE(fails({protocol::BrokerRegistrationChangeRecord{.brokerId = 1, .brokerEpoch = 5, .fenced = 3}}));
  EXPECT_EQ(image.topics.byId.size(), 1u);
  EXPECT_TRUE(image.cluster.broker(NodeId(1))->fenced);
}

}  // namespace
}  // namespace tidemark::metadata
