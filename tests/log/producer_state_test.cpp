#include <gmock/gmock.h>

#include "log/producer_state.h"
#include "log_fixture.h"
#include "records/control.h"

namespace tidemark::log {
namespace {

using testing::ElementsAre;

class ProducerStateTest : public LogFixture {
 protected:
  ProducerStateTest() { open(); }

  static BatchSpec from(int64_t producer, int32_t sequence, int count = 1, int16_t epoch = 0) {
    return {.count = count,
            .producer = ProducerId(producer),
            .producerEpoch = ProducerEpoch(epoch),
            .baseSequence = sequence};
  }
  static BatchSpec transactional(BatchSpec spec) {
    spec.transactional = true;
    return spec;
  }
  Result<AppendInfo> end(int64_t producer, bool commit, int16_t epoch = 0, int32_t coordinatorEpoch = 0,
                         int16_t transactionVersion = 0) {
    ByteVector marker =
        records::buildEndTxnMarker(ProducerId(producer), ProducerEpoch(epoch),
                                   {.commit = commit, .coordinatorEpoch = coordinatorEpoch}, 1'700'000'000'000);
    const auto info = log_->appendAsLeader(
        marker, LeaderEpoch(0), {.origin = records::Origin::Coordinator, .transactionVersion = transactionVersion});
    if (!info) return fail(info.error().error);
    return *info;
  }
  /// None if it was taken.
  ErrorCode appendVerified(const BatchSpec& spec, VerificationGuard guard) {
    ByteVector batch = makeBatch(transactional(spec));
    const auto info = log_->appendAsLeader(batch, LeaderEpoch(0), {.verification = guard});
    return info ? ErrorCode::None : info.error().error.code;
  }
  ProducerInfo only() {
    const auto all = log_->producers();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? ProducerInfo{} : all.front();
  }
};

TEST_F(ProducerStateTest, aRetryWithinTheWindowGetsItsFirstOffsetsAndAppendsNothing) {
  for (int i = 0; i < 7; ++i) append(from(1, 2 * i, 2));
  for (int i = 2; i < 7; ++i) {
    const AppendInfo again = append(from(1, 2 * i, 2));
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(again.firstOffset, Offset(2 * i));
    EXPECT_EQ(again.lastOffset, Offset(2 * i + 1));
  }
  expectEnd(14);
  EXPECT_EQ(appendError(from(1, 2, 2)), ErrorCode::OutOfOrderSequenceNumber) << "older than five batches";
  EXPECT_EQ(appendError(from(1, 12, 1)), ErrorCode::OutOfOrderSequenceNumber) << "not the same batch";
  expectEnd(14);
}

TEST_F(ProducerStateTest, sequencesFollowEachOther) {
  append(from(1, 0, 3));
  EXPECT_EQ(appendError(from(1, 4)), ErrorCode::OutOfOrderSequenceNumber);
  append(from(1, 3));
  append(from(2, 17));  // nobody knows 2: it may have been forgotten
  expectEnd(5);
}

TEST_F(ProducerStateTest, aTruncationAboveTheHighWatermarkForgetsNobodyWhoseBatchesAreGone) {
  append(from(1, 0, 3));
  ASSERT_TRUE(log_->roll());
  for (int i = 0; i < 4; ++i) append({.count = 2});
  log_->updateHighWatermark(Offset(5));
  ASSERT_TRUE(log_->deleteRecords(Offset(5)));
  ASSERT_TRUE(log_->roll());
  append({.count = 2});
  append({.count = 2});
  ASSERT_TRUE(log_->truncateTo(Offset(13)));
  expectEnd(13);
  EXPECT_EQ(only().lastSequence, 2);
  EXPECT_TRUE(append(from(1, 0, 3)).duplicate) << "a retry is still known as one";
}

TEST_F(ProducerStateTest, sequencesWrapAfterTheLargest) {
  append(from(1, INT32_MAX - 1, 4));  // …, 2³¹−1, 0, 1
  EXPECT_EQ(only().lastSequence, 1);
  EXPECT_TRUE(append(from(1, INT32_MAX - 1, 4)).duplicate);
  append(from(1, 2));
  expectEnd(5);
  crashAndReopen();
  EXPECT_EQ(only().lastSequence, 2);
  EXPECT_TRUE(append(from(1, 2)).duplicate);
  append(from(1, 3));
}

TEST_F(ProducerStateTest, aNewEpochBeginsAtZeroAndAnOldOneIsFenced) {
  append(from(1, 0, 3, 4));
  EXPECT_EQ(appendError(from(1, 3, 1, 3)), ErrorCode::InvalidProducerEpoch);
  EXPECT_EQ(appendError(from(1, 3, 1, 5)), ErrorCode::OutOfOrderSequenceNumber);
  append(from(1, 0, 1, 5));
  EXPECT_EQ(only().producerEpoch, ProducerEpoch(5));
  EXPECT_EQ(appendError(from(1, 3, 1, 4)), ErrorCode::InvalidProducerEpoch);
}

TEST_F(ProducerStateTest, aFollowerTakesWhatItsLeaderTook) {
  BatchSpec first = from(1, 5, 2);
  BatchSpec gap = from(1, 50, 2);
  gap.baseOffset = Offset(2);
  appendAsFollower(first);
  appendAsFollower(gap);
  EXPECT_EQ(only().lastSequence, 51);
}

TEST_F(ProducerStateTest, theStateSurvivesKillRollAndTruncation) {
  for (int i = 0; i < 6; ++i) {
    append(from(1, i));
    append(from(2, i));
    if (i % 2 == 0) continue;
    ASSERT_TRUE(log_->roll());
  }
  crashAndReopen();
  EXPECT_TRUE(append(from(1, 5)).duplicate);
  EXPECT_TRUE(append(from(2, 5)).duplicate);
  ASSERT_TRUE(log_->truncateTo(Offset(5)));
  EXPECT_TRUE(append(from(1, 2)).duplicate);
  EXPECT_EQ(appendError(from(2, 3)), ErrorCode::OutOfOrderSequenceNumber);
  append(from(2, 2));
  expectEnd(6);
}

TEST_F(ProducerStateTest, aSnapshotIsWrittenAtARollAndAtACleanStop) {
  append(from(1, 0));
  ASSERT_TRUE(log_->roll());
  append(from(1, 1));
  ASSERT_TRUE(log_->close());
  EXPECT_THAT(names(), testing::IsSupersetOf({"00000000000000000001.snapshot", "00000000000000000002.snapshot"}));
  const auto entries = decodeProducerSnapshot(bytes("/data/orders-0/00000000000000000002.snapshot"));
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(entries->front().lastSequence(), 1);
  EXPECT_EQ(entries->front().lastBatch().lastOffset, Offset(1));
}

TEST_F(ProducerStateTest, aDamagedSnapshotIsDroppedAndTheStateRebuilt) {
  for (int i = 0; i < 4; ++i) {
    append(from(1, i));
    ASSERT_TRUE(log_->roll());
  }
  ASSERT_TRUE(log_->close());
  for (size_t cut : {0u, 5u, 10u, 40u, 56u}) {
    crash(Crash::Kill);
    restart();
    const std::string path = "/data/orders-0/00000000000000000004.snapshot";
    const auto file = files().open(path, platform::OpenMode::Create);
    ASSERT_TRUE(cut == 56 ? (*file)->writeAt(20, asBytes("x")) : (*file)->truncate(cut));
    open(true);
    EXPECT_EQ(only().lastSequence, 3) << "cut at " << cut;
    ASSERT_TRUE(log_->close());
  }
}

TEST_F(ProducerStateTest, aSilentProducerIsForgottenUnlessItsTransactionIsOpen) {
  options_.config.producerIdExpirationMs = 1000;
  log_->updateConfig(options_.config);
  BatchSpec old = from(1, 0);
  old.firstTimestampMs = process_->clock().wallMs() - 5000;
  append(old);
  BatchSpec open = transactional(from(2, 0));
  open.firstTimestampMs = old.firstTimestampMs;
  append(open);
  BatchSpec recent = from(3, 0);
  recent.firstTimestampMs = process_->clock().wallMs();
  append(recent);
  log_->expireProducers();
  std::vector<int64_t> ids;
  for (const auto& producer : log_->producers()) ids.push_back(producer.producerId.value());
  EXPECT_THAT(ids, ElementsAre(2, 3));
}

TEST_F(ProducerStateTest, theLastStableOffsetIsTheOldestOpenTransactionOrTheHighWatermark) {
  append(from(9, 0));                    // 0
  append(transactional(from(1, 0)));     // 1
  append(transactional(from(2, 0, 2)));  // 2, 3
  log_->updateHighWatermark(Offset(4));
  EXPECT_EQ(log_->lastStableOffset(), Offset(1));
  ASSERT_TRUE(end(1, true));  // 4
  EXPECT_EQ(log_->lastStableOffset(), Offset(1)) << "its marker is not below the high watermark";
  log_->updateHighWatermark(Offset(5));
  EXPECT_EQ(log_->lastStableOffset(), Offset(2));
  ASSERT_TRUE(end(2, false));  // 5
  log_->updateHighWatermark(Offset(6));
  EXPECT_EQ(log_->lastStableOffset(), Offset(6));
}

TEST_F(ProducerStateTest, anOpenTransactionSurvivesAKill) {
  append(transactional(from(1, 0)));
  append(from(9, 0));
  crashAndReopen();
  log_->updateHighWatermark(Offset(2));
  EXPECT_EQ(log_->lastStableOffset(), Offset(0));
  EXPECT_EQ(log_->producers().front().currentTransactionStartOffset, Offset(0));
}

TEST_F(ProducerStateTest, plainRecordsInsideATransactionAreRefused) {
  append(transactional(from(1, 0)));
  EXPECT_EQ(appendError(from(1, 1)), ErrorCode::InvalidTxnState);
}

TEST_F(ProducerStateTest, aMarkerOfAnOlderCoordinatorOrProducerEpochIsRefused) {
  append(transactional(from(1, 0, 1, 3)));
  ASSERT_TRUE(end(1, true, 3, 7));
  EXPECT_EQ(end(1, true, 3, 6).error().code, ErrorCode::TransactionCoordinatorFenced);
  EXPECT_EQ(end(1, true, 2, 7).error().code, ErrorCode::InvalidProducerEpoch);
}

TEST_F(ProducerStateTest, aMarkerThatRaisesTheEpochForgetsTheSequences) {
  append(transactional(from(1, 0, 5, 3)));
  ASSERT_TRUE(end(1, true, 4));
  EXPECT_EQ(only().lastSequence, -1);
  EXPECT_EQ(only().producerEpoch, ProducerEpoch(4));
  EXPECT_EQ(appendError(transactional(from(1, 5, 1, 4))), ErrorCode::OutOfOrderSequenceNumber);
  append(transactional(from(1, 0, 1, 4)));
}

// ---- verification (KIP-890)

TEST_F(ProducerStateTest, theFirstBatchOfATransactionBringsItsVerificationAlong) {
  const auto guard = log_->beginVerification(ProducerId(1), ProducerEpoch(0), 0);
  ASSERT_TRUE(guard);
  EXPECT_EQ(log_->beginVerification(ProducerId(1), ProducerEpoch(0), 1), guard) << "asked twice before the answer";
  EXPECT_EQ(appendVerified(from(1, 0), *guard + 1), ErrorCode::InvalidTxnState);
  EXPECT_EQ(appendVerified(from(2, 0), *guard), ErrorCode::InvalidTxnState) << "another producer's";
  EXPECT_EQ(appendVerified(from(1, 1), *guard), ErrorCode::OutOfOrderSequenceNumber) << "0 was sent first";
  expectEnd(0);
  EXPECT_EQ(appendVerified(from(1, 0), *guard), ErrorCode::None);
  EXPECT_FALSE(log_->beginVerification(ProducerId(1), ProducerEpoch(0), 1)) << "it is open here";
  EXPECT_EQ(appendVerified(from(1, 1), kWasOpen), ErrorCode::None);
}

TEST_F(ProducerStateTest, aBatchThatNobodyAskedAboutComesAgainUnlessItsTransactionIsOpen) {
  EXPECT_EQ(appendVerified(from(1, 0), kNotAsked), ErrorCode::NotLeaderOrFollower);
  const auto guard = log_->beginVerification(ProducerId(1), ProducerEpoch(0), 0);
  ASSERT_TRUE(guard);
  EXPECT_EQ(appendVerified(from(1, 0), kNotAsked), ErrorCode::NotLeaderOrFollower) << "another batch was asked about";
  expectEnd(0);
  EXPECT_EQ(appendVerified(from(1, 0), *guard), ErrorCode::None);
  EXPECT_EQ(appendVerified(from(1, 1), kNotAsked), ErrorCode::None);
}

TEST_F(ProducerStateTest, aVerificationIsVoidOnceTheTransactionHasEnded) {
  const auto guard = log_->beginVerification(ProducerId(1), ProducerEpoch(0), 0);
  ASSERT_TRUE(end(1, false));
  EXPECT_EQ(appendVerified(from(1, 0), *guard), ErrorCode::InvalidTxnState) << "it would stay open for good";
  EXPECT_EQ(log_->lastStableOffset(), log_->highWatermark());
  const auto next = log_->beginVerification(ProducerId(1), ProducerEpoch(0), 0);
  ASSERT_TRUE(next);
  EXPECT_NE(next, guard);
  EXPECT_EQ(appendVerified(from(1, 0), *next), ErrorCode::None);
}

TEST_F(ProducerStateTest, aMarkerOfVersion2LeavesTheVerificationOfTheNextTransaction) {
  append(transactional(from(1, 0)));
  // Its producer goes on before the marker of the last transaction is written.
  const auto next = log_->beginVerification(ProducerId(1), ProducerEpoch(1), 0);
  ASSERT_TRUE(next);
  ASSERT_TRUE(end(1, true, 1, 0, 2));
  EXPECT_EQ(appendVerified(from(1, 0, 1, 1), *next), ErrorCode::None);
}

TEST_F(ProducerStateTest, aMarkerOfVersion2EndsNothingOfItsOwnEpoch) {
  append(transactional(from(1, 0)));
  EXPECT_EQ(end(1, true, 0, 0, 2).error().code, ErrorCode::InvalidProducerEpoch);
  ASSERT_TRUE(end(1, true, 1, 0, 2));
  EXPECT_TRUE(end(1, true, 1, 0, 2)) << "a repetition changes nothing";
  EXPECT_EQ(only().currentTransactionStartOffset, kNoOffset);
}

// ---- the last five batches, whatever happened to the log

/// Two producers whose batches alternate, of which a snapshot near the log's end remembers the last ones only.
class ProducerWindowTest : public ProducerStateTest {
 protected:
  /// Batches `first` to `last` of both, two records each.
  void appendBatches(int first, int last) {
    for (int i = first; i <= last; ++i)
      for (int producer : {1, 2}) append(from(producer, 2 * i, 2));
  }
  /// The last five of each, up to the batch `last`, are known, and none before.
  void expectWindow(int last) {
    const Offset end = log_->logEndOffset();
    for (int producer : {1, 2}) {
      for (int i = std::max(0, last - 4); i <= last; ++i) {
        SCOPED_TRACE(testing::Message() << "batch " << i << " of producer " << producer);
        const AppendInfo again = append(from(producer, 2 * i, 2));
        EXPECT_TRUE(again.duplicate);
        EXPECT_EQ(again.firstOffset, Offset(4 * i + 2 * (producer - 1)));
      }
      if (last >= 5) {
        EXPECT_EQ(appendError(from(producer, 2 * (last - 5), 2)), ErrorCode::OutOfOrderSequenceNumber);
      }
      EXPECT_EQ(appendError(from(producer, 2 * last, 1)), ErrorCode::OutOfOrderSequenceNumber) << "not the same batch";
      EXPECT_EQ(appendError(from(producer, 2 * last + 4, 2)), ErrorCode::OutOfOrderSequenceNumber) << "a gap";
    }
    EXPECT_EQ(log_->logEndOffset(), end);
  }
  uint64_t readsOfLogs(const std::function<void()>& work) {
    uint64_t reads = 0;
    process_->disk().failWhen([&](platform::FileCall call, const std::string& path) {
      reads += call == platform::FileCall::Read && path.ends_with(".log");
      return false;
    });
    work();
    process_->disk().failWhen({});
    return reads;
  }
};

TEST_F(ProducerWindowTest, aRetryIsKnownAfterTwoTruncations) {
  appendBatches(0, 9);
  log_->updateHighWatermark(Offset(40));
  // The first leaves a snapshot at the log's end, from which the second goes on.
  ASSERT_TRUE(log_->truncateTo(Offset(36)));
  expectWindow(8);
  appendBatches(9, 9);
  ASSERT_TRUE(log_->truncateTo(Offset(36)));
  expectWindow(8);
  appendBatches(9, 10);
  expectWindow(10);
}

TEST_F(ProducerWindowTest, aRetryIsKnownAfterACleanStop) {
  appendBatches(0, 9);
  ASSERT_TRUE(log_->close());
  open(true);
  expectWindow(9);
}

TEST_F(ProducerWindowTest, aRetryIsKnownAfterAKillAlsoIfItsBatchesLieInAnotherSegment) {
  appendBatches(0, 6);
  ASSERT_TRUE(log_->roll());
  appendBatches(7, 7);
  ASSERT_TRUE(log_->roll());
  appendBatches(8, 8);
  ASSERT_TRUE(log_->flush());
  options_.recoveryPoint = log_->recoveryPoint();
  crashAndReopen();
  expectWindow(8);
}

TEST_F(ProducerWindowTest, whatANewEpochOrTheLogStartVoidedIsNotRecalled) {
  append(from(1, 0, 2, 0));
  append(from(1, 2, 2, 0));
  append(from(1, 0, 2, 1));
  append(from(1, 2, 2, 1));
  log_->updateHighWatermark(Offset(8));
  ASSERT_TRUE(log_->close());
  open(true);
  EXPECT_EQ(appendError(from(1, 2, 2, 0)), ErrorCode::InvalidProducerEpoch);
  EXPECT_EQ(append(from(1, 0, 2, 1)).firstOffset, Offset(4)) << "of the epoch before it is 0";
  ASSERT_TRUE(log_->close());
  options_.logStartOffset = Offset(6);
  open(true);
  EXPECT_EQ(appendError(from(1, 0, 2, 1)), ErrorCode::OutOfOrderSequenceNumber);
  EXPECT_EQ(append(from(1, 2, 2, 1)).firstOffset, Offset(6));
}

TEST_F(ProducerWindowTest, sequencesThatWrapAreRecalled) {
  // The third one has 2³¹−1 and 0.
  const std::vector<int32_t> sequences{INT32_MAX - 4, INT32_MAX - 2, INT32_MAX, 1, 3};
  for (const int32_t sequence : sequences) append(from(1, sequence, 2));
  ASSERT_TRUE(log_->close());
  open(true);
  for (size_t i = 0; i < sequences.size(); ++i)
    EXPECT_EQ(append(from(1, sequences[i], 2)).firstOffset, Offset(static_cast<int64_t>(2 * i)));
  expectEnd(10);
}

TEST_F(ProducerWindowTest, theLogIsReadOnceAndOnlyForWhatMayBeARetry) {
  appendBatches(0, 9);
  ASSERT_TRUE(log_->close());
  open(true);
  append();  // the first one asks how old the segment is
  EXPECT_EQ(readsOfLogs([this] {
              EXPECT_EQ(appendError(from(1, 30, 2)), ErrorCode::OutOfOrderSequenceNumber) << "a gap";
              EXPECT_TRUE(append(from(1, 18, 2)).duplicate) << "the snapshot knows it";
              append(from(1, 20, 2));
              append(from(3, 7, 2));
            }),
            0u);
  EXPECT_GT(readsOfLogs([this] { EXPECT_TRUE(append(from(1, 16, 2)).duplicate); }), 0u);
  EXPECT_EQ(readsOfLogs([this] {
              EXPECT_TRUE(append(from(2, 14, 2)).duplicate);
              EXPECT_EQ(appendError(from(1, 0, 2)), ErrorCode::OutOfOrderSequenceNumber);
            }),
            0u);
}

}  // namespace
}  // namespace tidemark::log
