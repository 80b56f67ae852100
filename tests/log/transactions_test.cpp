#include <gmock/gmock.h>

#include <map>

#include <fmt/format.h>

#include "events/recorder.h"
#include "log/txn_index.h"
#include "log_fixture.h"
#include "records/control.h"

// Aborted transactions: what a read_committed reader is told, and the .txnindex files it is told from.

namespace tidemark::log {

void PrintTo(const AbortedTxn& entry, std::ostream* out) {
  *out << "producer " << entry.producerId.value() << " " << entry.firstOffset.value() << ".."
       << entry.lastOffset.value() << " stable " << entry.lastStableOffset.value();
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TransactionsTest : public LogFixture {
 protected:
  TransactionsTest() { open(); }

  AppendInfo write(int64_t producer, int count = 1, int16_t epoch = 0) {
    int32_t& sequence = sequences_[producer];
    const AppendInfo info = append({.count = count,
                                    .producer = ProducerId(producer),
                                    .producerEpoch = ProducerEpoch(epoch),
                                    .baseSequence = sequence,
                                    .transactional = true});
    sequence += count;
    return info;
  }
  Result<AppendInfo> end(int64_t producer, bool commit, int32_t coordinatorEpoch = 0) {
    ByteVector marker =
        records::buildEndTxnMarker(ProducerId(producer), ProducerEpoch(0),
                                   {.commit = commit, .coordinatorEpoch = coordinatorEpoch}, 1'700'000'000'000);
    const auto info = log_->appendAsLeader(marker, LeaderEpoch(0), {.origin = records::Origin::Coordinator});
    if (!info) return fail(info.error().error);
    return *info;
  }
  void abort(int64_t producer) { ASSERT_TRUE(end(producer, false)); }
  void commit(int64_t producer) { ASSERT_TRUE(end(producer, true)); }
  void allStable() { log_->updateHighWatermark(log_->logEndOffset()); }

  static AbortedTxn entry(int64_t producer, int64_t first, int64_t last, int64_t stable) {
    return {ProducerId(producer), Offset(first), Offset(last), Offset(stable)};
  }
  std::vector<AbortedTxn> all() { return log_->abortedTransactions(Offset(0), Offset(INT64_MAX)).value(); }
  std::vector<AbortedTransaction> told(int64_t from, size_t maxBytes = 1 << 20,
                                       FetchIsolation isolation = FetchIsolation::Committed) {
    const auto read = log_->read(Offset(from), maxBytes, isolation, true);
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read ? read->abortedTransactions : std::vector<AbortedTransaction>();
  }
  static AbortedTransaction aborted(int64_t producer, int64_t first) { return {ProducerId(producer), Offset(first)}; }

  /// T8: what reading the whole log says.
  std::vector<AbortedTxn> computed() {
    std::map<ProducerId, Offset> open;
    std::vector<AbortedTxn> found;
    Offset from = log_->logStartOffset();
    while (from < log_->logEndOffset()) {
      const auto bytes = log_->readBytes(from, 1 << 20, FetchIsolation::LogEnd);
      if (!bytes || bytes->empty()) break;
      records::BatchCursor cursor(*bytes);
      while (cursor.next() == records::Step::Next) {
        const auto& batch = cursor.batch();
        from = batch.header.nextOffset();
        if (!batch.header.isControl()) {
          if (batch.header.isTransactional()) open.try_emplace(batch.header.producerId, batch.header.baseOffset);
          continue;
        }
        records::RecordCursor record(batch.header, batch.payload());
        EXPECT_EQ(record.next(), records::Step::Next);
        const auto first = open.extract(batch.header.producerId);
        if (first.empty() || records::readEndTxnMarker(record.record())->commit) continue;
        Offset stable = from;
        for (const auto& [producer, offset] : open) stable = std::min(stable, offset);
        found.push_back({batch.header.producerId, first.mapped(), batch.header.lastOffset(), stable});
      }
    }
    return found;
  }

  std::map<int64_t, int32_t> sequences_;
};

TEST_F(TransactionsTest, readCommittedIsToldTheAbortedAndReadUncommittedNothing) {
  write(1, 2);  // 0, 1
  write(2);     // 2
  abort(1);     // 3
  commit(2);    // 4
  write(3);     // 5
  allStable();
  EXPECT_EQ(log_->lastStableOffset(), Offset(5)) << "3 is open";
  EXPECT_THAT(told(0), ElementsAre(aborted(1, 0)));
  EXPECT_THAT(told(0, 1 << 20, FetchIsolation::HighWatermark), IsEmpty());
  EXPECT_THAT(told(4), IsEmpty()) << "its marker is behind us";
  const auto read = log_->read(Offset(0), 1 << 20, FetchIsolation::Committed, true);
  EXPECT_EQ(read->slice.length, static_cast<uint64_t>(log_->locate(Offset(5))->position))
      << "it ends at the last stable offset";
}

TEST_F(TransactionsTest, anEntryTellsTheOldestTransactionStillOpen) {
  write(1);  // 0
  write(2);  // 1
  write(3);  // 2
  abort(2);  // 3
  abort(1);  // 4
  abort(3);  // 5
  EXPECT_THAT(all(), ElementsAre(entry(2, 1, 3, 0), entry(1, 0, 4, 2), entry(3, 2, 5, 6)));
  EXPECT_EQ(all(), computed());
}

TEST_F(TransactionsTest, theFileIsMadeWithTheFirstAbortInTheSegmentOfTheMarker) {
  write(1);
  EXPECT_FALSE(files().exists("/data/orders-0/00000000000000000000.txnindex"));
  ASSERT_TRUE(log_->roll());
  abort(1);
  EXPECT_FALSE(files().exists("/data/orders-0/00000000000000000000.txnindex"));
  EXPECT_EQ(bytes("/data/orders-0/00000000000000000001.txnindex"), encodeAbortedTxns(std::vector{entry(1, 0, 1, 2)}));
  allStable();
  EXPECT_THAT(told(0), ElementsAre(aborted(1, 0))) << "data here, marker in the next segment";
}

TEST_F(TransactionsTest, aReaderOfAFewBytesIsNotToldOfWhatLiesFarBehind) {
  for (int i = 0; i < 40; ++i) {
    write(i, 3);
    abort(i);
  }
  allStable();
  const auto near = told(0, 1);
  EXPECT_FALSE(near.empty());
  EXPECT_LT(near.size(), 6u);
  EXPECT_EQ(told(0).size(), 40u);
  EXPECT_EQ(told(4 * 39).size(), 1u);
}

TEST_F(TransactionsTest, aRepeatedMarkerChangesNothing) {
  write(1);
  abort(1);
  const auto before = all();
  abort(1);
  EXPECT_EQ(all(), before);
  EXPECT_EQ(all(), computed());
}

TEST_F(TransactionsTest, aMarkerOfAnOlderCoordinatorIsRefusedAndLeavesTheTransactionOpen) {
  write(1);
  ASSERT_TRUE(end(1, true, 5));
  write(1);
  EXPECT_EQ(end(1, false, 4).error().code, ErrorCode::TransactionCoordinatorFenced);
  allStable();
  EXPECT_EQ(log_->lastStableOffset(), Offset(2));
  EXPECT_THAT(all(), IsEmpty());
  crashAndReopen();
  EXPECT_EQ(end(1, false, 4).error().code, ErrorCode::TransactionCoordinatorFenced) << "the epoch is in the batches";
  ASSERT_TRUE(end(1, false, 5));
}

TEST_F(TransactionsTest, aFollowerWritesTheSameIndexAsItsLeader) {
  for (int i = 0; i < 6; ++i) {
    write(i % 3, 2);
    if (i % 2 == 1) abort(i % 3);
  }
  commit(0);
  const auto copied = log_->readBytes(Offset(0), 1 << 20, FetchIsolation::LogEnd);
  const auto expected = all();
  const auto file = bytes("/data/orders-0/00000000000000000000.txnindex");
  options_.directory = "/data/copy-0";
  options_.partition = {"copy", PartitionIndex(0)};
  open();
  ASSERT_TRUE(log_->appendAsFollower(*copied));
  EXPECT_EQ(all(), expected);
  EXPECT_EQ(bytes("/data/copy-0/00000000000000000000.txnindex"), file);
}

TEST_F(TransactionsTest, afterAKillTheIndexEqualsTheOneComputedFromTheLog) {
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 4; ++i) write(10 * round + i, 2);
    abort(10 * round + 1);
    if (round % 2 == 0) {
      ASSERT_TRUE(log_->roll());
    }
    abort(10 * round);
    commit(10 * round + 2);
  }
  const auto before = all();
  EXPECT_EQ(before, computed());
  crashAndReopen();
  EXPECT_EQ(all(), before);
  crashAndReopen(Crash::PowerLoss);
  EXPECT_EQ(all(), computed());
}

TEST_F(TransactionsTest, aPowerLossAfterAFlushKeepsTheIndex) {
  world_.reset();
  startWorld(7);
  process_->disk().setStrictDirectories(true);
  open();
  write(1);
  write(2);
  abort(1);
  ASSERT_TRUE(log_->roll());
  write(3);
  ASSERT_TRUE(log_->flush());
  const auto before = all();
  options_.recoveryPoint = log_->recoveryPoint();
  crashAndReopen(Crash::PowerLoss);
  EXPECT_EQ(all(), before);
  allStable();
  EXPECT_EQ(log_->lastStableOffset(), Offset(1));
}

TEST_F(TransactionsTest, aDamagedIndexIsRebuiltEvenAfterACleanStop) {
  write(1);
  write(2);
  ASSERT_TRUE(log_->roll());
  abort(1);
  abort(2);
  const std::string path = "/data/orders-0/00000000000000000002.txnindex";
  const ByteVector good = bytes(path);
  ASSERT_TRUE(log_->close());
  for (const auto& [position, text] :
       std::vector<std::pair<uint64_t, std::string>>{{68, "x"}, {1, "\1"}, {18, "\x7f"}}) {
    crash(Crash::Kill);
    restart();
    ASSERT_TRUE((*files().open(path, platform::OpenMode::ReadWrite))->writeAt(position, asBytes(text)));
    open(true);
    EXPECT_EQ(bytes(path), good) << "damaged at " << position;
    ASSERT_TRUE(log_->close());
  }
}

TEST_F(TransactionsTest, aTruncationTakesTheEntriesOfTheMarkersItTakes) {
  write(1);  // 0
  write(2);  // 1
  abort(1);  // 2
  abort(2);  // 3
  allStable();
  ASSERT_TRUE(log_->truncateTo(Offset(3)));
  EXPECT_THAT(all(), ElementsAre(entry(1, 0, 2, 1)));
  EXPECT_EQ(log_->lastStableOffset(), Offset(1)) << "2 is open again";
  commit(2);
  allStable();
  EXPECT_EQ(log_->lastStableOffset(), Offset(4));
  ASSERT_TRUE(log_->truncateTo(Offset(1)));
  EXPECT_THAT(all(), IsEmpty());
  abort(1);
  EXPECT_EQ(all(), computed());
  crashAndReopen();
  EXPECT_EQ(all(), computed());
}

TEST_F(TransactionsTest, aMarkerAboveTheHighWatermarkKeepsItsTransactionUnstableAcrossARestart) {
  write(1);   // 0
  append();   // 1
  commit(1);  // 2
  log_->updateHighWatermark(Offset(2));
  EXPECT_EQ(log_->lastStableOffset(), Offset(0));
  ASSERT_TRUE(log_->close());
  crash(Crash::Kill);
  restart();
  options_.highWatermark = Offset(2);
  open(true);
  log_->updateHighWatermark(Offset(2));
  EXPECT_EQ(log_->lastStableOffset(), Offset(0)) << "its marker may yet be lost";
  log_->updateHighWatermark(Offset(3));
  EXPECT_EQ(log_->lastStableOffset(), Offset(3));
}

TEST_F(TransactionsTest, theIndexGoesWithItsSegment) {
  options_.config.retentionBytes = 0;
  log_->updateConfig(options_.config);
  write(1);
  abort(1);
  ASSERT_TRUE(log_->roll());
  append();
  allStable();
  ASSERT_TRUE(log_->deleteOldSegments());
  EXPECT_THAT(all(), IsEmpty());
  for (const std::string& name : names()) EXPECT_EQ(name.find("txnindex"), std::string::npos) << name;
}

TEST_F(TransactionsTest, aFullDiskAtTheIndexTakesTheLogOffline) {
  write(1);
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Write && path.ends_with(".txnindex");
  });
  EXPECT_EQ(end(1, false).error().code, ErrorCode::KafkaStorageError);
  EXPECT_TRUE(log_->offline());
}

TEST_F(TransactionsTest, TellsWhatBeginsWhatEndsAndWhoIsRefused) {
  log_.reset();
  restart();
  events::Recorder recorder(process_->clock(), NodeId(1));
  recorder.want(events::Kinds::all());
  LogContext told = context();
  told.recorder = &recorder;
  const auto opened = PartitionLog::open(told, options_);
  ASSERT_TRUE(opened) << opened.error().message;
  log_ = *opened;
  std::vector<events::Event> events;
  recorder.drain(events);
  events.clear();
  write(1, 2);
  write(2);
  write(1);
  abort(1);
  commit(2);
  // A zombie: the next epoch was in use.
  append({.producer = ProducerId(3), .producerEpoch = ProducerEpoch(5), .baseSequence = 0, .transactional = true});
  ByteVector late = makeBatch(
      {.producer = ProducerId(3), .producerEpoch = ProducerEpoch(4), .baseSequence = 0, .transactional = true});
  EXPECT_FALSE(log_->appendAsLeader(late, LeaderEpoch(0)));
  recorder.drain(events);
  std::vector<std::string> lines;
  for (const events::Event& event : events)
    if (!std::holds_alternative<events::BatchAppended>(event.payload) &&
        !std::holds_alternative<events::IndexEntryAdded>(event.payload))
      lines.push_back(fmt::format("{} {}", events::nameOf(event.payload), events::fieldsText(event.payload)));
  EXPECT_THAT(
      lines, ElementsAre("TransactionOpened producer=1 epoch=0 first=0", "TransactionOpened producer=2 epoch=0 first=2",
                         "MarkerWritten producer=1 epoch=0 committed=false first=0 marker=4 lastStable=2",
                         "MarkerWritten producer=2 epoch=0 committed=true first=2 marker=5 lastStable=6",
                         "TransactionOpened producer=3 epoch=5 first=6", "ProducerFenced producer=3 epoch=4"));
  log_.reset();
}

}  // namespace
}  // namespace tidemark::log
