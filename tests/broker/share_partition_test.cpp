#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/share/dead_letters.h"
#include "broker/share/share_partition.h"
#include "records/batch_builder.h"
#include "records/record.h"

namespace tidemark::broker {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kAvailable = DeliveryState::Available;
constexpr auto kAcknowledged = DeliveryState::Acknowledged;
constexpr auto kArchived = DeliveryState::Archived;
constexpr auto kAccept = AcknowledgeType::Accept;
constexpr auto kRelease = AcknowledgeType::Release;
constexpr auto kReject = AcknowledgeType::Reject;
constexpr auto kRenew = AcknowledgeType::Renew;
constexpr auto kGap = AcknowledgeType::Gap;

StateBatch state(int64_t first, int64_t last, DeliveryState of, int16_t count) {
  return {Offset(first), Offset(last), of, count};
}
AcquiredRange range(int64_t first, int64_t last, int16_t count) {
  return {Offset(first), Offset(last), count};
}

class SharePartitions : public testing::Test {
 protected:
  SharePartitions() { load({}, 0); }

  void load(std::vector<StateBatch> batches, int64_t start) {
    share_ = std::make_unique<SharePartition>(coordinator::ShareKey{"group", Uuid({1}), PartitionIndex(0)},
                                              LeaderEpoch(3), config_);
    coordinator::ShareStateRead read;
    read.stateEpoch = 2;
    read.startOffset = Offset(start);
    read.batches = std::move(batches);
    share_->load(read, Offset(0));
  }
  /// Batches of the log, by their ends.
  static std::vector<LogBatchRange> log(std::initializer_list<std::pair<int64_t, int64_t>> batches) {
    std::vector<LogBatchRange> ranges;
    for (const auto& [first, last] : batches) ranges.push_back({Offset(first), Offset(last)});
    return ranges;
  }
  struct Fetching {
    int32_t maxRecords = INT32_MAX;
    bool strict = false;
    int32_t batchSize = INT32_MAX;
  };
  std::vector<AcquiredRange> acquire(const std::string& member, const std::vector<LogBatchRange>& batches,
                                     const Fetching& fetching) {
    return share_->acquire({.member = member,
                            .maxRecords = fetching.maxRecords,
                            .strict = fetching.strict,
                            .batchSize = fetching.batchSize,
                            .fetchOffset = share_->nextFetchOffset(),
                            .batches = batches,
                            .now = now_});
  }
  std::vector<AcquiredRange> acquire(const std::string& member, const std::vector<LogBatchRange>& batches) {
    return acquire(member, batches, Fetching());
  }
  ErrorCode acknowledge(const std::string& member, int64_t first, int64_t last, std::vector<AcknowledgeType> types) {
    const std::vector<AcknowledgeBatch> batches{{Offset(first), Offset(last), std::move(types)}};
    auto done = share_->acknowledge(member, batches, now_);
    return done ? ErrorCode::None : done.error().code;
  }
  /// The next write goes through, or does not.
  std::vector<StateBatch> persist(bool works = true) {
    const auto write = share_->takeWrite();
    if (!write) return {};
    share_->written(works);
    return write->batches;
  }
  ErrorCode acknowledgeNow(const std::string& member, int64_t first, int64_t last, std::vector<AcknowledgeType> types) {
    const ErrorCode error = acknowledge(member, first, last, std::move(types));
    persist();
    return error;
  }
  int64_t start() const { return share_->startOffset().value(); }
  int64_t next() const { return share_->nextFetchOffset().value(); }

  SharePartitionConfig config_{.lockDuration = 30s, .deliveryCountLimit = 5, .maxRecordLocks = 100};
  platform::MonotonicTime now_{1000s};
  std::unique_ptr<SharePartition> share_;
};

// --- acquiring

TEST_F(SharePartitions, GiveEachRecordToOneMember) {
  EXPECT_THAT(acquire("a", log({{0, 4}, {5, 9}})), ElementsAre(range(0, 9, 1)));
  EXPECT_EQ(next(), 10);
  EXPECT_THAT(acquire("b", log({{10, 14}})), ElementsAre(range(10, 14, 1)));
  EXPECT_THAT(acquire("b", log({{0, 4}, {5, 9}, {10, 14}})), IsEmpty()) << "all of it is locked";
}

TEST_F(SharePartitions, GiveWholeBatchesUpToTheLimitOrExactlyThatManyIfSoAsked) {
  EXPECT_THAT(acquire("a", log({{0, 4}, {5, 9}, {10, 14}}), {.maxRecords = 7}), ElementsAre(range(0, 9, 1)));
  EXPECT_THAT(acquire("a", log({{10, 14}, {15, 19}}), {.maxRecords = 3, .strict = true}),
              ElementsAre(range(10, 12, 1)));
  EXPECT_EQ(next(), 13);
  EXPECT_THAT(acquire("a", log({{10, 14}, {15, 19}}), {.maxRecords = 4, .strict = true}),
              ElementsAre(range(13, 16, 1)));
}

TEST_F(SharePartitions, CutRangesAlongTheBatchesOfTheLog) {
  EXPECT_THAT(acquire("a", log({{0, 2}, {3, 5}, {6, 8}, {9, 11}}), {.batchSize = 4}),
              ElementsAre(range(0, 5, 1), range(6, 11, 1)));
}

TEST_F(SharePartitions, LockNoMoreThanTheLimit) {
  EXPECT_THAT(acquire("a", log({{0, 89}})), ElementsAre(range(0, 89, 1)));
  EXPECT_THAT(acquire("a", log({{90, 94}, {95, 99}, {100, 104}})), ElementsAre(range(90, 99, 1)));
  EXPECT_FALSE(share_->canAcquire());
  EXPECT_THAT(acquire("a", log({{100, 104}})), IsEmpty());
  EXPECT_EQ(acknowledgeNow("a", 20, 20, {kRelease}), ErrorCode::None);
  EXPECT_TRUE(share_->canAcquire()) << "what was given back takes no more room";
  EXPECT_THAT(acquire("b", log({{0, 104}})), ElementsAre(range(20, 20, 2))) << "but nothing behind the end";
  EXPECT_EQ(acknowledgeNow("a", 0, 4, {kAccept}), ErrorCode::None);
  EXPECT_THAT(acquire("b", log({{100, 104}, {105, 109}})), ElementsAre(range(100, 104, 1)));
}

TEST_F(SharePartitions, PassOverWhatTheLogDoesNotHave) {
  EXPECT_THAT(acquire("a", log({{3, 4}, {8, 9}})), ElementsAre(range(3, 4, 1), range(8, 9, 1)));
  EXPECT_EQ(start(), 3);
  EXPECT_EQ(acknowledgeNow("a", 3, 4, {kAccept}), ErrorCode::None);
  EXPECT_EQ(start(), 8) << "the hole is done as well";
}

TEST_F(SharePartitions, PassOverAbortedTransactionsIfTheGroupReadsCommitted) {
  std::vector<LogBatchRange> batches = log({{0, 4}, {5, 9}, {10, 14}});
  batches[1].skipped = true;
  EXPECT_THAT(acquire("a", batches), ElementsAre(range(0, 4, 1), range(10, 14, 1)));
  acknowledgeNow("a", 0, 4, {kAccept});
  EXPECT_EQ(start(), 10);
}

TEST_F(SharePartitions, GiveWhatWasCompactedAwaySinceItWasGivenBackToNobody) {
  acquire("a", log({{0, 9}}));
  acknowledgeNow("a", 0, 9, {kRelease});
  EXPECT_EQ(next(), 0);
  EXPECT_THAT(acquire("b", log({{7, 9}})), ElementsAre(range(7, 9, 2)));
  EXPECT_EQ(start(), 7);
}

// --- acknowledging

TEST_F(SharePartitions, MoveTheirStartOnceAllBeforeItIsDone) {
  acquire("a", log({{0, 9}}));
  EXPECT_EQ(acknowledge("a", 0, 2, {kAccept}), ErrorCode::None);
  EXPECT_EQ(start(), 0) << "not persisted yet";
  EXPECT_THAT(persist(), ElementsAre(state(0, 2, kAcknowledged, 1)));
  EXPECT_EQ(start(), 3);
  EXPECT_EQ(acknowledgeNow("a", 5, 9, {kReject}), ErrorCode::None);
  EXPECT_EQ(start(), 3);
  EXPECT_EQ(share_->deliveryCompleteCount(), 5);
  EXPECT_EQ(acknowledgeNow("a", 3, 4, {kAccept}), ErrorCode::None);
  EXPECT_EQ(start(), 10);
  EXPECT_EQ(next(), 10);
  EXPECT_TRUE(share_->stretches().empty());
}

TEST_F(SharePartitions, TakeATypeForEachOffset) {
  acquire("a", log({{0, 5}}));
  EXPECT_EQ(acknowledge("a", 0, 5, {kAccept, kRelease, kReject, kGap, kAccept, kAccept}), ErrorCode::None);
  EXPECT_THAT(persist(),
              ElementsAre(state(0, 0, kAcknowledged, 1), state(1, 1, kAvailable, 1), state(2, 2, kArchived, 1),
                          state(3, 3, kArchived, 1), state(4, 5, kAcknowledged, 1)));
  EXPECT_EQ(start(), 1);
  EXPECT_EQ(next(), 1);
  EXPECT_THAT(acquire("b", log({{0, 5}})), ElementsAre(range(1, 1, 2)));
}

TEST_F(SharePartitions, RefuseWhatIsNotTheMembersAndChangeNothing) {
  acquire("a", log({{0, 4}}));
  acquire("b", log({{5, 9}}));
  const auto before = share_->stretches();
  EXPECT_EQ(acknowledge("a", 0, 9, {kAccept}), ErrorCode::InvalidRecordState) << "half of it is b's";
  EXPECT_EQ(acknowledge("a", 0, 10, {kAccept}), ErrorCode::InvalidRequest) << "10 was not given out";
  EXPECT_EQ(acknowledge("c", 5, 5, {kRelease}), ErrorCode::InvalidRecordState);
  EXPECT_EQ(share_->stretches(), before);
  EXPECT_FALSE(share_->takeWrite());
  EXPECT_EQ(acknowledge("a", 0, 0, {kAccept}), ErrorCode::None);
  EXPECT_EQ(acknowledge("a", 0, 0, {kAccept}), ErrorCode::InvalidRecordState) << "said already";
  persist();
  EXPECT_EQ(acknowledge("a", 0, 0, {kAccept}), ErrorCode::None) << "before the start everything is done";
}

TEST_F(SharePartitions, GiveUpARecordAfterItsLastDelivery) {
  config_.deliveryCountLimit = 2;
  load({}, 0);
  acquire("a", log({{0, 0}, {1, 1}}));
  acknowledgeNow("a", 0, 0, {kRelease});
  EXPECT_THAT(acquire("a", log({{0, 0}})), ElementsAre(range(0, 0, 2)));
  EXPECT_EQ(acknowledge("a", 0, 0, {kRelease}), ErrorCode::None);
  EXPECT_THAT(persist(), ElementsAre(state(0, 0, kArchived, 2)));
  EXPECT_EQ(start(), 1);
}

TEST_F(SharePartitions, IsolateRecordsThatWereDeliveredOften) {
  const auto releaseAll = [&](const std::vector<AcquiredRange>& ranges) {
    for (const AcquiredRange& one : ranges) acknowledgeNow("a", one.first.value(), one.last.value(), {kRelease});
  };
  releaseAll(acquire("a", log({{0, 7}})));
  releaseAll(acquire("a", log({{0, 7}})));
  auto third = acquire("a", log({{0, 7}}));
  EXPECT_THAT(third, ElementsAre(range(0, 7, 3)));
  releaseAll(third);
  EXPECT_THAT(acquire("a", log({{0, 7}})), ElementsAre(range(0, 3, 4))) << "half of them";
  releaseAll({range(0, 3, 4)});
  EXPECT_THAT(acquire("a", log({{0, 7}})), ElementsAre(range(0, 0, 5))) << "the last time alone";
  EXPECT_THAT(acquire("a", log({{0, 7}})), ElementsAre(range(1, 1, 5)));
}

TEST_F(SharePartitions, TakeBackWhatAMemberHeldThatIsGone) {
  acquire("a", log({{0, 4}}));
  acquire("b", log({{5, 9}}));
  EXPECT_TRUE(share_->release("a"));
  EXPECT_THAT(persist(), ElementsAre(state(0, 4, kAvailable, 0)));
  EXPECT_FALSE(share_->release("a"));
  EXPECT_THAT(acquire("c", log({{0, 4}, {5, 9}})), ElementsAre(range(0, 4, 1))) << "it does not count as a delivery";
}

// --- locks

TEST_F(SharePartitions, LetLocksRunOut) {
  acquire("a", log({{0, 4}}));
  now_ += 10s;
  acquire("b", log({{5, 9}}));
  EXPECT_EQ(share_->nextLockTimeout(), platform::MonotonicTime(1030s));
  now_ += 19s;
  EXPECT_THAT(share_->expire(now_), IsEmpty());
  now_ += 1s;
  const auto expired = share_->expire(now_);
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(expired[0].member, "a");
  EXPECT_EQ(expired[0].last, Offset(4));
  EXPECT_EQ(next(), 0) << "it waits for no write";
  EXPECT_EQ(acknowledge("a", 0, 4, {kAccept}), ErrorCode::InvalidRecordState) << "too late";
  EXPECT_THAT(persist(), ElementsAre(state(0, 4, kAvailable, 1)));
  EXPECT_THAT(acquire("b", log({{0, 4}})), ElementsAre(range(0, 4, 2)));
  EXPECT_EQ(share_->nextLockTimeout(), platform::MonotonicTime(1040s));
}

TEST_F(SharePartitions, RenewLocks) {
  acquire("a", log({{0, 4}}));
  now_ += 20s;
  EXPECT_EQ(acknowledge("a", 2, 3, {kRenew}), ErrorCode::None);
  EXPECT_FALSE(share_->takeWrite()) << "nothing to persist";
  now_ += 10s;
  EXPECT_EQ(share_->expire(now_).size(), 2u);
  EXPECT_EQ(acknowledge("a", 2, 3, {kAccept}), ErrorCode::None) << "still its own";
}

TEST_F(SharePartitions, ArchiveWithTheLock) {
  config_.deliveryCountLimit = 2;
  load({state(0, 0, kAvailable, 1)}, 0);
  acquire("a", log({{0, 0}}));
  now_ += 30s;
  EXPECT_TRUE(share_->expire(now_).at(0).archived);
  EXPECT_EQ(start(), 1);
}

TEST_F(SharePartitions, DoNotCallDoneWhatWasGivenUpBeforeThatIsPersisted) {
  config_.deliveryCountLimit = 1;
  load({}, 0);
  acquire("a", log({{0, 4}}));
  now_ += 30s;
  share_->expire(now_);
  ASSERT_EQ(start(), 5);
  const std::vector<AcknowledgeBatch> old{{Offset(0), Offset(4), {kAccept}}};
  const auto ticketOf = [&] { return share_->acknowledge("a", old, now_).value(); };

  ASSERT_TRUE(share_->takeWrite());
  const auto first = ticketOf();
  ASSERT_TRUE(first) << "the write that tells of it is under way";
  EXPECT_THAT(share_->written(false), ElementsAre(*first));

  const auto second = ticketOf();
  ASSERT_TRUE(second) << "nobody knows of it yet";
  const auto write = share_->takeWrite();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->startOffset, Offset(5)) << "which says all";
  EXPECT_THAT(write->batches, IsEmpty());
  const auto third = ticketOf();
  ASSERT_TRUE(third);
  EXPECT_THAT(share_->written(true), ElementsAre(*second, *third));

  EXPECT_FALSE(ticketOf()) << "done";
  EXPECT_FALSE(share_->takeWrite());
}

// --- dead letters

TEST_F(SharePartitions, HoldWhatIsGivenUpUntilItsDeadLetterIsWritten) {
  config_.deadLetters = true;
  config_.deliveryCountLimit = 2;
  load({state(3, 3, kAvailable, 1)}, 0);
  using Letter = SharePartition::Letter;
  acquire("a", log({{0, 3}}));
  EXPECT_EQ(acknowledge("a", 0, 3, {kReject, kReject, kGap, kRelease}), ErrorCode::None);
  EXPECT_THAT(share_->takeLetters(), IsEmpty()) << "not before it is persisted";
  EXPECT_THAT(persist(), ElementsAre(state(0, 1, DeliveryState::Archiving, 1), state(2, 2, kArchived, 1),
                                     state(3, 3, DeliveryState::Archiving, 2)));
  EXPECT_THAT(share_->takeLetters(),
              ElementsAre(Letter{Offset(0), Offset(1), 1, true}, Letter{Offset(3), Offset(3), 2, false}));
  EXPECT_EQ(start(), 0);
  EXPECT_EQ(share_->deliveryCompleteCount(), 1);
  EXPECT_EQ(next(), 4) << "nobody gets it meanwhile";
  share_->archive(Offset(0), Offset(1));
  EXPECT_THAT(persist(), ElementsAre(state(0, 1, kArchived, 1)));
  EXPECT_EQ(start(), 3);
  share_->archive(Offset(3), Offset(3));
  EXPECT_EQ(start(), 4);
}

TEST_F(SharePartitions, WriteDeadLettersAgainThatMayNotHaveBeenWritten) {
  config_.deadLetters = true;
  load({state(0, 1, DeliveryState::Archiving, 5), state(2, 2, DeliveryState::Archiving, 1)}, 0);
  EXPECT_THAT(share_->takeLetters(), ElementsAre(SharePartition::Letter{Offset(0), Offset(1), 5, false},
                                                 SharePartition::Letter{Offset(2), Offset(2), 1, true}));
  EXPECT_EQ(start(), 0);
}

TEST_F(SharePartitions, SendADeadLetterAfterTheLastLock) {
  config_.deadLetters = true;
  config_.deliveryCountLimit = 2;
  load({state(0, 0, kAvailable, 1)}, 0);
  acquire("a", log({{0, 0}}));
  now_ += 30s;
  EXPECT_TRUE(share_->expire(now_).at(0).archived);
  EXPECT_THAT(share_->takeLetters(), ElementsAre(SharePartition::Letter{Offset(0), Offset(0), 2, false}));
}

TEST(DeadLetterTopics, HaveTheClustersPrefix) {
  EXPECT_TRUE(checkDeadLetterTopic("dlq.orders", "dlq."));
  EXPECT_TRUE(checkDeadLetterTopic("any", ""));
  EXPECT_EQ(checkDeadLetterTopic("orders", "dlq.").error().code, ErrorCode::InvalidConfig);
  EXPECT_EQ(checkDeadLetterTopic("__consumer_offsets", "").error().code, ErrorCode::InvalidConfig);
}

TEST(DeadLetterBatches, SayWhereEachRecordCameFromAndHoldItIfTheGroupWants) {
  records::BatchBuilder builder;
  builder.append(1, asBytes("k0"), asBytes("v0"));
  builder.append(2, std::nullopt, asBytes("v1"));
  const ByteVector source = builder.build();
  const DeadLetters letters{.groupId = "g",
                            .source = {"orders", PartitionIndex(7)},
                            .first = Offset(0),
                            .last = Offset(2),
                            .deliveryCount = 4};
  const auto read = [](const std::vector<ByteVector>& batches) {
    std::vector<std::string> lines;
    for (const ByteVector& batch : batches) {
      records::BatchCursor cursor(batch, records::BatchCursor::Check::Checksum);
      while (cursor.next() == records::Step::Next)
        (void)records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
          std::string line =
              fmt::format("{}={}", record.key ? asText(*record.key) : "-", record.value ? asText(*record.value) : "-");
          records::HeaderCursor headers = record.headers();
          while (const auto header = headers.next())
            line += fmt::format(" {}:{}", asText(header->key), asText(*header->value));
          lines.push_back(line);
        });
    }
    return lines;
  };
  const auto headers = [](int offset) {
    return fmt::format(
        " __dlq.errors.topic:orders __dlq.errors.partition:7 __dlq.errors.offset:{} __dlq.errors.group:g "
        "__dlq.errors.delivery.count:4 "
        "__dlq.errors.message:Offset rejected by client.",
        offset);
  };
  EXPECT_THAT(read(deadLetterBatches(letters, std::nullopt, 1 << 20, 5)),
              ElementsAre("-=-" + headers(0), "-=-" + headers(1), "-=-" + headers(2)));
  EXPECT_THAT(read(deadLetterBatches(letters, ByteView(source), 1 << 20, 5)),
              ElementsAre("k0=v0" + headers(0), "-=v1" + headers(1), "-=-" + headers(2)));
  EXPECT_EQ(deadLetterBatches(letters, std::nullopt, 300, 5).size(), 3u) << "no batch larger than the topic takes";
}

// --- persistence

TEST_F(SharePartitions, TakeBackWhatCannotBePersisted) {
  acquire("a", log({{0, 4}}));
  const auto before = share_->stretches();
  EXPECT_EQ(acknowledge("a", 0, 4, {kAccept, kRelease, kReject, kAccept, kAccept}), ErrorCode::None);
  EXPECT_EQ(next(), 5) << "what is given back is nobody's before that is persisted";
  EXPECT_EQ(acknowledge("a", 1, 1, {kAccept}), ErrorCode::InvalidRecordState);
  persist(false);
  for (const auto& stretch : share_->stretches()) EXPECT_EQ(stretch.state, DeliveryState::Acquired);
  EXPECT_EQ(start(), 0);
  EXPECT_EQ(acknowledgeNow("a", 0, 4, {kAccept}), ErrorCode::None) << "it can say so again";
  EXPECT_EQ(start(), 5);
}

TEST_F(SharePartitions, CountADeliveryThatCouldNotBeTakenBack) {
  acquire("a", log({{0, 4}}));
  share_->release("a");
  persist(false);
  EXPECT_EQ(share_->stretches().at(0).deliveryCount, 1);
  EXPECT_EQ(share_->stretches().at(0).member, "a");
  now_ += 30s;
  EXPECT_EQ(share_->expire(now_).size(), 1u) << "a lock may have run out while the write was under way";
}

TEST_F(SharePartitions, WriteOneAtATimeAndGatherWhatComesMeanwhile) {
  acquire("a", log({{0, 9}}));
  const auto batch = [](int64_t first, int64_t last) {
    return std::vector<AcknowledgeBatch>{{Offset(first), Offset(last), {kAccept}}};
  };
  const auto first = share_->acknowledge("a", batch(0, 1), now_);
  const auto write = share_->takeWrite();
  ASSERT_TRUE(write);
  EXPECT_EQ(write->stateEpoch, 2);
  EXPECT_EQ(write->leaderEpoch, LeaderEpoch(3));
  const auto second = share_->acknowledge("a", batch(2, 3), now_);
  const auto third = share_->acknowledge("a", batch(4, 5), now_);
  EXPECT_FALSE(share_->takeWrite());
  EXPECT_THAT(share_->written(true), ElementsAre(**first));
  EXPECT_EQ(start(), 2);
  EXPECT_THAT(share_->takeWrite()->batches, ElementsAre(state(2, 3, kAcknowledged, 1), state(4, 5, kAcknowledged, 1)));
  EXPECT_THAT(share_->written(false), ElementsAre(**second, **third));
  EXPECT_EQ(acknowledge("a", 2, 5, {kAccept}), ErrorCode::None);
}

TEST_F(SharePartitions, GoOnFromWhatWasPersisted) {
  load({state(5, 6, kAcknowledged, 1), state(9, 9, kAvailable, 2), state(12, 13, kArchived, 1)}, 3);
  EXPECT_EQ(start(), 3);
  EXPECT_EQ(share_->endOffset(), Offset(14));
  EXPECT_EQ(share_->deliveryCompleteCount(), 4);
  EXPECT_THAT(acquire("a", log({{0, 20}})),
              ElementsAre(range(3, 4, 1), range(7, 8, 1), range(9, 9, 3), range(10, 11, 1), range(14, 20, 1)))
      << "what was given out before without a word is given again";
}

TEST_F(SharePartitions, ForgetWhatTheLogForgot) {
  acquire("a", log({{0, 9}}));
  share_->moveStart(Offset(5));
  EXPECT_EQ(start(), 5);
  EXPECT_EQ(acknowledgeNow("a", 0, 9, {kAccept}), ErrorCode::None) << "what is gone is done";
  EXPECT_EQ(start(), 10);
  share_->moveStart(Offset(50));
  EXPECT_EQ(next(), 50);
}

TEST(ShareAcknowledgements, MustMakeSense) {
  const auto read = [](std::vector<std::pair<Offset, Offset>> ranges, std::vector<std::vector<int8_t>> types,
                       bool renews = false) {
    const auto batches = readAcknowledgeBatches(ranges, types, renews);
    return batches ? ErrorCode::None : batches.error().code;
  };
  EXPECT_EQ(read({{Offset(0), Offset(4)}, {Offset(5), Offset(5)}}, {{1}, {2}}), ErrorCode::None);
  EXPECT_EQ(read({{Offset(0), Offset(2)}}, {{1, 0, 3}}), ErrorCode::None);
  EXPECT_EQ(read({{Offset(0), Offset(2)}}, {{4}}, true), ErrorCode::None);
  EXPECT_EQ(read({{Offset(0), Offset(2)}}, {{4}}), ErrorCode::InvalidRequest);
  EXPECT_EQ(read({{Offset(0), Offset(2)}}, {{5}}, true), ErrorCode::InvalidRequest);
  EXPECT_EQ(read({{Offset(0), Offset(2)}}, {{1, 1}}), ErrorCode::InvalidRequest);
  EXPECT_EQ(read({{Offset(0), Offset(2)}}, {{}}), ErrorCode::InvalidRequest);
  EXPECT_EQ(read({{Offset(3), Offset(2)}}, {{1}}), ErrorCode::InvalidRequest);
  EXPECT_EQ(read({{Offset(0), Offset(4)}, {Offset(4), Offset(5)}}, {{1}, {2}}), ErrorCode::InvalidRequest);
}

// --- at random

/// Against a list of offsets, each on its own.
TEST_F(SharePartitions, AtRandomDoAsASimpleModelDoes) {
  struct Model {
    DeliveryState state = kAvailable;
    int count = 0;
    std::string member;
  };
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t bound) { return static_cast<int64_t>(random() % bound); };
    config_.maxRecordLocks = 60;
    config_.deliveryCountLimit = 20;
    load({}, 0);
    std::map<int64_t, Model> model;
    const auto check = [&] {
      Offset expected = share_->startOffset();
      for (const auto& stretch : share_->stretches()) {
        ASSERT_EQ(stretch.first, expected) << "no gap";
        expected = stretch.last.next();
        for (Offset at = stretch.first; at <= stretch.last; at = at.next()) {
          ASSERT_EQ(stretch.state, model[at.value()].state) << at.value();
          if (stretch.state == DeliveryState::Acquired) {
            ASSERT_EQ(stretch.member, model[at.value()].member) << at.value();
          }
        }
      }
      ASSERT_EQ(expected, share_->endOffset());
      for (const auto& [at, one] : model) {
        if (at < start()) {
          ASSERT_TRUE(isFinal(one.state)) << at;
        }
      }
      ASSERT_LE(share_->inFlight(), 60 + 10);
    };
    for (int step = 0; step < 300; ++step) {
      const std::string member(1, static_cast<char>('a' + below(3)));
      if (below(2) == 0) {
        const int64_t from = next() / 5 * 5;
        for (const AcquiredRange& one :
             acquire(member, log({{from, from + 4}, {from + 5, from + 9}}),
                     {.maxRecords = static_cast<int32_t>(1 + below(12)), .strict = below(2) == 0}))
          for (int64_t at = one.first.value(); at <= one.last.value(); ++at) {
            ASSERT_EQ(model[at].state, kAvailable) << "given to two";
            ASSERT_EQ(one.deliveryCount, model[at].count + 1);
            model[at] = {DeliveryState::Acquired, model[at].count + 1, member};
          }
      } else {
        const int64_t first = start() + below(20), last = first + below(6);
        const AcknowledgeType type = std::array{kAccept, kRelease, kReject, kGap}[static_cast<size_t>(below(4))];
        bool allowed = last < share_->endOffset().value();
        for (int64_t at = first; at <= last; ++at)
          allowed = allowed && model[at].state == DeliveryState::Acquired && model[at].member == member;
        const bool works = below(4) != 0;
        ASSERT_EQ(acknowledge(member, first, last, {type}) == ErrorCode::None, allowed);
        if (allowed) persist(works);
        if (allowed && works)
          for (int64_t at = first; at <= last; ++at)
            model[at].state = type == kAccept ? kAcknowledged : type == kRelease ? kAvailable : kArchived;
      }
      check();
      if (HasFatalFailure()) {
        ADD_FAILURE() << "seed " << seed << " step " << step;
        return;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::broker
