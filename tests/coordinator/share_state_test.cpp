#include <gmock/gmock.h>

#include <fstream>

#include "coordinator/group_fixture.h"
#include "coordinator/key_partition.h"
#include "coordinator/share_state/share_state_coordinator.h"
#include "coordinator/share_state/share_state_records.h"
#include "protocol/generated/delete_share_group_state_request.h"
#include "protocol/generated/delete_share_group_state_response.h"
#include "protocol/generated/initialize_share_group_state_request.h"
#include "protocol/generated/initialize_share_group_state_response.h"
#include "protocol/generated/read_share_group_state_request.h"
#include "protocol/generated/read_share_group_state_response.h"
#include "protocol/generated/read_share_group_state_summary_request.h"
#include "protocol/generated/read_share_group_state_summary_response.h"
#include "protocol/generated/share_snapshot_value.h"
#include "protocol/generated/write_share_group_state_request.h"
#include "protocol/generated/write_share_group_state_response.h"

namespace tidemark::coordinator {
namespace {

using testing::ElementsAre;

constexpr auto kAvailable = DeliveryState::Available;
constexpr auto kAcknowledged = DeliveryState::Acknowledged;
constexpr auto kArchived = DeliveryState::Archived;

StateBatch stateBatch(int64_t first, int64_t last, DeliveryState state, int16_t count) {
  return {Offset(first), Offset(last), state, count};
}

// ---- combining

TEST(ShareStateBatches, OfWhatOverlapsTheLaterDeliveryHolds) {
  const std::vector<StateBatch> older{stateBatch(0, 9, kAvailable, 1)};
  EXPECT_THAT(combineBatches(older, std::vector{stateBatch(3, 5, kAcknowledged, 2)}, Offset(-1)),
              ElementsAre(stateBatch(0, 2, kAvailable, 1), stateBatch(3, 5, kAcknowledged, 2),
                          stateBatch(6, 9, kAvailable, 1)));
  EXPECT_THAT(
      combineBatches(std::vector{stateBatch(3, 5, kAcknowledged, 2)}, older, Offset(-1)),
      ElementsAre(stateBatch(0, 2, kAvailable, 1), stateBatch(3, 5, kAcknowledged, 2), stateBatch(6, 9, kAvailable, 1)))
      << "whichever comes first";
  EXPECT_THAT(combineBatches(older, std::vector{stateBatch(5, 12, kArchived, 1)}, Offset(-1)),
              ElementsAre(stateBatch(0, 4, kAvailable, 1), stateBatch(5, 12, kArchived, 1)));
}

TEST(ShareStateBatches, NeighboursThatSayTheSameAreOne) {
  EXPECT_THAT(
      combineBatches(std::vector{stateBatch(0, 4, kAcknowledged, 1)},
                     std::vector{stateBatch(5, 9, kAcknowledged, 1), stateBatch(11, 12, kAcknowledged, 1)}, Offset(-1)),
      ElementsAre(stateBatch(0, 9, kAcknowledged, 1), stateBatch(11, 12, kAcknowledged, 1)));
}

TEST(ShareStateBatches, NothingBelowTheStartIsKept) {
  EXPECT_THAT(
      combineBatches(std::vector{stateBatch(0, 4, kAvailable, 1), stateBatch(5, 9, kAcknowledged, 1)}, {}, Offset(7)),
      ElementsAre(stateBatch(7, 9, kAcknowledged, 1)));
}

TEST(ShareKeys, AreReadFromTheTextThatTheyGive) {
  const ShareKey key{"a:group", Uuid({1, 2, 3}), PartitionIndex(7)};
  EXPECT_EQ(ShareKey::parse(key.text()), key);
  for (const char* wrong : {"", "group", ":AAAAAAAAAAAAAAAAAAAAAQ:1", "group:AAAAAAAAAAAAAAAAAAAAAQ:",
                            "group:AAAAAAAAAAAAAAAAAAAAAQ:x", "group:short:1", "group:AAAAAAAAAAAAAAAAAAAAAQ:-1"})
    EXPECT_EQ(ShareKey::parse(wrong), std::nullopt) << wrong;
}

TEST(ShareKeys, GoToThePartitionsThatKafkaComputes) {
  std::ifstream file(std::string(TIDEMARK_TEST_DATA) + "/coordinator/share_partitions.tsv");
  size_t lines = 0;
  std::string text, hash, of50;
  while (std::getline(file, text, '\t') && std::getline(file, hash, '\t') && std::getline(file, of50)) {
    const auto key = ShareKey::parse(text);
    ASSERT_TRUE(key) << text;
    EXPECT_EQ(javaHashCode(key->text()), std::stoi(hash)) << text;
    EXPECT_EQ(partitionForKey(key->text(), 50), PartitionIndex(std::stoi(of50))) << text;
    ++lines;
  }
  EXPECT_GT(lines, 5u);
}

// ---- the coordinator

class ShareStates : public testing::Test {
 protected:
  static constexpr int32_t kPartitions = 3;

  ShareStates() { start(); }

  void start() {
    log_.listener = [this](PartitionIndex partition, Offset highWatermark) {
      coordinator_->onHighWatermark(partition, highWatermark);
    };
    coordinator_ = std::make_unique<ShareStateCoordinator>(
        ShareStateCoordinator::Dependencies{
            executor_, &clock_, &logger_, &log_,
            [this](const Uuid& topic, PartitionIndex partition) { return topic == topic_ && partition.value() < 8; },
            [this](PartitionIndex partition, Offset upTo) { pruned_[partition] = upTo; }},
        config_);
    coordinator_->setPartitionCount(kPartitions);
    epoch_ = epoch_.next();
    for (int32_t i = 0; i < kPartitions; ++i) {
      log_.elect(PartitionIndex(i), epoch_, false);
      coordinator_->onBecomeLeader(PartitionIndex(i), epoch_);
    }
    executor_->drain();
  }
  ShareKey key(int32_t partition = 0, std::string group = "group") const {
    return {std::move(group), topic_, PartitionIndex(partition)};
  }
  PartitionIndex partitionOf(const ShareKey& key) const { return *coordinator_->partitionFor(key); }

  template <class Request, class Serve>
  auto ask(const Request& request, Serve serve) {
    Answer<typename Request::Response> answer;
    ((*coordinator_).*serve)(request, answer.reply());
    executor_->drain();
    return answer;
  }
  template <class Request>
  Request about(const ShareKey& key) {
    Request request;
    request.groupId = key.groupId;
    auto& topic = request.topics.emplace_back();
    topic.topicId = key.topicId;
    topic.partitions.emplace_back().partition = key.partition.value();
    return request;
  }
  template <class Response>
  static ErrorCode errorOf(const Answer<Response>& answer) {
    return static_cast<ErrorCode>(answer.get().results.at(0).partitions.at(0).errorCode);
  }

  ErrorCode initialize(const ShareKey& key, int32_t stateEpoch = 1, int64_t start = 0) {
    auto request = about<protocol::InitializeShareGroupStateRequest>(key);
    request.topics[0].partitions[0].stateEpoch = stateEpoch;
    request.topics[0].partitions[0].startOffset = start;
    return errorOf(ask(request, &ShareStateCoordinator::initialize));
  }
  Answer<protocol::ReadShareGroupStateResponse> readLater(const ShareKey& key, int32_t leaderEpoch) {
    auto request = about<protocol::ReadShareGroupStateRequest>(key);
    request.topics[0].partitions[0].leaderEpoch = leaderEpoch;
    return ask(request, &ShareStateCoordinator::read);
  }
  struct Seen {
    int32_t stateEpoch;
    int64_t start;
    std::vector<StateBatch> batches;
  };
  Seen read(const ShareKey& key, int32_t leaderEpoch = 0) {
    const auto answer = readLater(key, leaderEpoch);
    EXPECT_EQ(errorOf(answer), ErrorCode::None);
    const auto& partition = answer.get().results.at(0).partitions.at(0);
    Seen seen{partition.stateEpoch, partition.startOffset, {}};
    for (const auto& batch : partition.stateBatches)
      seen.batches.push_back(stateBatch(batch.firstOffset, batch.lastOffset,
                                        static_cast<DeliveryState>(batch.deliveryState), batch.deliveryCount));
    return seen;
  }
  struct Writing {
    int32_t stateEpoch = 1;
    int32_t leaderEpoch = 0;
    int64_t start = 0;
    int32_t complete = 0;
    std::vector<StateBatch> batches;
  };
  Answer<protocol::WriteShareGroupStateResponse> writeLater(const ShareKey& key, const Writing& writing) {
    auto request = about<protocol::WriteShareGroupStateRequest>(key);
    auto& partition = request.topics[0].partitions[0];
    partition.stateEpoch = writing.stateEpoch;
    partition.leaderEpoch = writing.leaderEpoch;
    partition.startOffset = writing.start;
    partition.deliveryCompleteCount = writing.complete;
    for (const StateBatch& batch : writing.batches)
      partition.stateBatches.push_back({.firstOffset = batch.first.value(),
                                        .lastOffset = batch.last.value(),
                                        .deliveryState = static_cast<int8_t>(batch.state),
                                        .deliveryCount = batch.deliveryCount});
    return ask(request, &ShareStateCoordinator::write);
  }
  ErrorCode write(const ShareKey& key, const Writing& writing) { return errorOf(writeLater(key, writing)); }
  protocol::ReadShareGroupStateSummaryResponse::PartitionResult summary(const ShareKey& key) {
    const auto answer = ask(about<protocol::ReadShareGroupStateSummaryRequest>(key), &ShareStateCoordinator::summarize);
    EXPECT_EQ(errorOf(answer), ErrorCode::None);
    return answer.get().results.at(0).partitions.at(0);
  }
  /// Types of the records: 0 a snapshot, 1 an update; −1 a tombstone.
  std::vector<int> types(const ShareKey& key) {
    std::vector<int> types;
    for (const CoordinatorRecord& record : log_.records(partitionOf(key)))
      types.push_back(record.value ? protocol::decodeCoordinatorKey(record.key)->type : -1);
    return types;
  }

  ShareStateConfig config_{.updatesPerSnapshot = 3};
  const Uuid topic_{{9, 9}};
  ManualClock clock_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  SilentLogger logger_;
  MemoryLog log_;
  LeaderEpoch epoch_{0};
  std::map<PartitionIndex, Offset> pruned_;
  std::unique_ptr<ShareStateCoordinator> coordinator_;
};

TEST_F(ShareStates, AreReadAsTheyWereWritten) {
  ASSERT_EQ(initialize(key(), 4, 10), ErrorCode::None);
  EXPECT_EQ(write(key(), {.stateEpoch = 4,
                          .start = 12,
                          .complete = 2,
                          .batches = {stateBatch(10, 13, kAcknowledged, 1), stateBatch(14, 20, kAvailable, 2)}}),
            ErrorCode::None);
  const auto check = [&] {
    const Seen seen = read(key());
    EXPECT_EQ(seen.stateEpoch, 4);
    EXPECT_EQ(seen.start, 12);
    EXPECT_THAT(seen.batches, ElementsAre(stateBatch(12, 13, kAcknowledged, 1), stateBatch(14, 20, kAvailable, 2)));
    EXPECT_EQ(summary(key()).deliveryCompleteCount, 2);
    EXPECT_EQ(summary(key()).startOffset, 12);
  };
  check();
  start();
  check();
}

TEST_F(ShareStates, MustBeInitializedFirst) {
  EXPECT_EQ(write(key(), {}), ErrorCode::InvalidRequest);
  EXPECT_EQ(errorOf(readLater(key(), 0)), ErrorCode::InvalidRequest);
  EXPECT_EQ(summary(key()).startOffset, -1);
  EXPECT_EQ(initialize({"group", Uuid({7}), PartitionIndex(0)}), ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(initialize(key(8)), ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(initialize({"", topic_, PartitionIndex(0)}), ErrorCode::InvalidRequest);
  EXPECT_EQ(log_.appends, 0u);
}

TEST_F(ShareStates, OfOlderEpochsAreFenced) {
  ASSERT_EQ(initialize(key(), 2), ErrorCode::None);
  read(key(), 5);
  EXPECT_EQ(errorOf(readLater(key(), 4)), ErrorCode::FencedLeaderEpoch);
  EXPECT_EQ(write(key(), {.stateEpoch = 2, .leaderEpoch = 4}), ErrorCode::FencedLeaderEpoch);
  EXPECT_EQ(write(key(), {.stateEpoch = 1, .leaderEpoch = 5}), ErrorCode::FencedStateEpoch);
  EXPECT_EQ(initialize(key(), 1), ErrorCode::FencedStateEpoch);
  start();
  EXPECT_EQ(errorOf(readLater(key(), 4)), ErrorCode::FencedLeaderEpoch) << "a new coordinator knows as well";
  EXPECT_EQ(write(key(), {.stateEpoch = 2, .leaderEpoch = 5}), ErrorCode::None);
}

TEST_F(ShareStates, InitializedAnewForgetWhatWas) {
  ASSERT_EQ(initialize(key(), 1), ErrorCode::None);
  ASSERT_EQ(write(key(), {.batches = {stateBatch(0, 5, kAcknowledged, 1)}}), ErrorCode::None);
  ASSERT_EQ(initialize(key(), 3, 2), ErrorCode::None);
  const Seen seen = read(key());
  EXPECT_EQ(seen.stateEpoch, 3);
  EXPECT_EQ(seen.start, 2);
  EXPECT_TRUE(seen.batches.empty());
}

TEST_F(ShareStates, AreWrittenAsSnapshotsNowAndThen) {
  ASSERT_EQ(initialize(key()), ErrorCode::None);
  for (int i = 0; i < 8; ++i)
    ASSERT_EQ(write(key(), {.start = 0,
                            .complete = i,
                            .batches = {stateBatch(i * 2, i * 2 + 1, i % 2 == 0 ? kAcknowledged : kArchived, 1)}}),
              ErrorCode::None);
  EXPECT_THAT(types(key()), ElementsAre(0, 1, 1, 1, 0, 1, 1, 1, 0));
  const auto records = log_.records(partitionOf(key()));
  const auto last = protocol::decodeVersionedAs<protocol::ShareSnapshotValue>(*records.back().value);
  EXPECT_EQ(last->snapshotEpoch, 2);
  EXPECT_EQ(last->stateBatches.size(), 8u) << "the whole state, not what changed";
  const auto before = read(key()).batches;
  start();
  EXPECT_EQ(read(key()).batches, before);
}

TEST_F(ShareStates, AreToldOnceCommitted) {
  ASSERT_EQ(initialize(key()), ErrorCode::None);
  log_.commitsAtOnce = false;
  const auto written = writeLater(key(), {.batches = {stateBatch(0, 0, kAcknowledged, 1)}});
  EXPECT_FALSE(written.has());
  const auto seen = readLater(key(), 0);
  EXPECT_FALSE(seen.has()) << "it would give away what may be lost";
  log_.commit(partitionOf(key()));
  executor_->drain();
  EXPECT_EQ(errorOf(written), ErrorCode::None);
  EXPECT_EQ(seen.get().results[0].partitions[0].stateBatches.size(), 1u);
}

TEST_F(ShareStates, ThatCannotBeWrittenStayAsTheyWere) {
  ASSERT_EQ(initialize(key()), ErrorCode::None);
  log_.failWith = ErrorCode::NotEnoughReplicas;
  EXPECT_EQ(write(key(), {.batches = {stateBatch(0, 0, kAcknowledged, 1)}}), ErrorCode::CoordinatorNotAvailable);
  log_.failWith.reset();
  EXPECT_TRUE(read(key()).batches.empty());
}

TEST_F(ShareStates, GoWithTheirGroupAndTheirTopic) {
  ASSERT_EQ(initialize(key(0)), ErrorCode::None);
  ASSERT_EQ(initialize(key(1)), ErrorCode::None);
  EXPECT_EQ(errorOf(ask(about<protocol::DeleteShareGroupStateRequest>(key(0)), &ShareStateCoordinator::remove)),
            ErrorCode::None);
  EXPECT_EQ(errorOf(ask(about<protocol::DeleteShareGroupStateRequest>(key(5)), &ShareStateCoordinator::remove)),
            ErrorCode::None)
      << "what is not there is gone";
  EXPECT_EQ(errorOf(readLater(key(0), 0)), ErrorCode::InvalidRequest);
  EXPECT_EQ(read(key(1)).start, 0);
  coordinator_->onTopicsDeleted({topic_});
  executor_->drain();
  EXPECT_EQ(errorOf(readLater(key(1), 0)), ErrorCode::InvalidRequest);
  start();
  EXPECT_EQ(errorOf(readLater(key(1), 0)), ErrorCode::InvalidRequest);
}

TEST_F(ShareStates, OfNobodyWhoWritesDoNotHoldTheLogBack) {
  // Two share-partitions on one partition of the topic: one is written, the other is not.
  ShareKey cold = key(0), busy = key(0);
  for (int i = 0; partitionOf(busy) != partitionOf(cold) || busy == cold; ++i) busy.groupId = "g" + std::to_string(i);
  ASSERT_EQ(initialize(cold), ErrorCode::None);
  ASSERT_EQ(initialize(busy), ErrorCode::None);
  for (int i = 0; i < 4; ++i)
    ASSERT_EQ(write(busy, {.batches = {stateBatch(i, i, kAcknowledged, 1)}}), ErrorCode::None);
  executor_->advance(config_.pruneInterval / 2);
  EXPECT_TRUE(pruned_.empty());
  executor_->advance(config_.pruneInterval * 2);
  EXPECT_GE(pruned_[partitionOf(cold)], Offset(5)) << "the cold one got a snapshot, so what was before it can go";
  const size_t appends = log_.appends;
  executor_->advance(config_.pruneInterval * 5);
  EXPECT_EQ(log_.appends, appends) << "more snapshots would free nothing";
}

TEST_F(ShareStates, ElsewhereAreNotAnswered) {
  coordinator_->onResign(partitionOf(key()));
  executor_->drain();
  EXPECT_EQ(errorOf(readLater(key(), 0)), ErrorCode::NotCoordinator);
}

TEST_F(ShareStates, OfARealKafkaAreLoaded) {
  // The partition that share-group's state lies in where the topic has three.
  std::ifstream file(std::string(TIDEMARK_TEST_DATA) + "/coordinator/__share_group_state-0.log", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(bytes.empty());
  ShareStateShard shard(config_, {&clock_, [](const Uuid&, PartitionIndex) { return true; }, [](Offset) {}});
  records::BatchCursor cursor(asBytes(bytes), records::BatchCursor::Check::Checksum);
  while (cursor.next() == records::Step::Next)
    (void)records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
      ASSERT_TRUE(shard.replay(record.offset, kNoProducerId, *record.key, record.value));
    });
  ASSERT_EQ(shard.size(), 1u);
  const ShareKey known{"share-group", *Uuid::parse("RrJDi3vqQB2K4cV9G_HQ3w"), PartitionIndex(0)};
  EXPECT_EQ(partitionForKey(known.text(), 3), PartitionIndex(0));
  const ShareState* state = shard.find(known);
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(state->stateEpoch, 2);
  EXPECT_EQ(state->snapshotEpoch, 0);
  // As Kafka's own tool prints them; each tenth record was released up to the end of the traffic.
  EXPECT_EQ(state->startOffset, Offset(37));
  EXPECT_EQ(state->deliveryCompleteCount, 102);
  std::vector<int64_t> available;
  int64_t complete = 0;
  for (const StateBatch& batch : state->batches) {
    if (batch.state == kAvailable) {
      EXPECT_EQ(batch.first, batch.last);
      available.push_back(batch.first.value());
    } else {
      complete += batch.last - batch.first + 1;
    }
  }
  EXPECT_THAT(available, ElementsAre(72, 107, 117, 127, 137));
  EXPECT_EQ(complete, 102);
}

}  // namespace
}  // namespace tidemark::coordinator
