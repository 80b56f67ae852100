#include <gtest/gtest.h>

#include <map>
#include <random>

#include "log/cleaner/cleaning_pass.h"
#include "log/segment.h"
#include "log_fixture.h"
#include "records/control.h"

// What the first half of a cleaning remembers of the batches spares the second half most of its reading and changes
// nothing else.

namespace tidemark::log {
namespace {

class CleanerNotesTest : public LogFixture {
 protected:
  void begin(uint64_t seed) {
    startWorld(seed);
    random_.seed(seed);
    background_ = process_->createExecutor({.name = "background"});
    throttle_ = std::make_unique<CleanerThrottle>(process_->clock());
    options_.config.compact = true;
    options_.config.remove = false;
    options_.config.segmentBytes = 200'000;
    options_.config.deleteRetentionMs = 10'000;
    options_.config.fileDeleteDelayMs = 0;
    open();
  }
  PassResources resources(size_t slots) {
    return {.context = context_.emplace(context()),
            .throttle = *throttle_,
            .executor = *background_,
            .maxSlots = slots,
            .loadFactor = 0.9,
            .ioBufferBytes = 20'000,
            .hashKey = {.low = 1, .high = 2}};
  }
  int64_t now() { return process_->clock().wallMs(); }
  int64_t any(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(below)); }

  /// A batch of the keys in `keys`; every tenth record is a tombstone if `tombstones`.
  void put(const std::vector<int64_t>& keys, size_t valueSize, records::BatchOptions options = {},
           bool tombstones = false) {
    records::BatchBuilder builder(options);
    for (const int64_t key : keys) {
      const std::string value(valueSize, static_cast<char>('a' + any(26)));
      builder.append(now() + any(5), asBytes(fmt::format("key-{}", key)),
                     tombstones && any(10) == 0 ? std::nullopt : std::optional<ByteView>(asBytes(value)));
    }
    ByteVector bytes = builder.build();
    const auto done = log_->appendAsLeader(bytes, LeaderEpoch(0));
    ASSERT_TRUE(done) << done.error().error.message;
  }
  std::vector<int64_t> someKeys() {
    std::vector<int64_t> keys(static_cast<size_t>(1 + any(any(4) == 0 ? 60 : 6)));
    for (int64_t& key : keys) key = any(any(3) == 0 ? 60 : 8);
    return keys;
  }
  void putAnything() {
    const auto keys = someKeys();
    const int64_t producer = any(6) - 3;
    records::BatchOptions options{.codec = any(4) == 0 ? records::Codec::Lz4 : records::Codec::None};
    if (producer >= 0) {
      options.producerId = ProducerId(producer);
      options.producerEpoch = ProducerEpoch(0);
      options.baseSequence = sequences_[producer];
      options.transactional = producer > 0;
      sequences_[producer] += static_cast<int32_t>(keys.size());
    }
    put(keys, static_cast<size_t>(any(any(5) == 0 ? 3000 : 200)), options, true);
    if (producer <= 0 || any(2) == 0) return;
    ByteVector marker = records::buildEndTxnMarker(ProducerId(producer), ProducerEpoch(0),
                                                   {.commit = any(2) == 0, .coordinatorEpoch = 0}, now());
    ASSERT_TRUE(log_->appendAsLeader(marker, LeaderEpoch(0), {.origin = records::Origin::Coordinator}));
  }
  /// Everything before is closed and stable but for open transactions.
  void close() {
    ASSERT_TRUE(log_->roll());
    log_->updateHighWatermark(log_->logEndOffset());
  }
  std::optional<CleanedPass> clean(size_t slots) {
    CleanView view = log_->cleanView(true);
    const auto plan = planFor(view, now());
    EXPECT_TRUE(plan);
    const PassResources used = resources(slots);
    const auto pass = CleaningPass(*log_, used, std::move(view), *plan).run();
    EXPECT_TRUE(pass) << (pass ? "" : pass.error().message);
    return pass ? *pass : std::nullopt;
  }

  /// What three rounds of appends and cleanings leave behind, and what they say that they did.
  struct Outcome {
    std::map<std::string, ByteVector> files;
    std::vector<std::vector<int64_t>> passes;
  };
  Outcome roundsWith(uint64_t seed, size_t slots) {
    begin(seed);
    sequences_.clear();
    Outcome outcome;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 150; ++i) putAnything();
      close();
      const auto pass = clean(slots);
      if (pass)
        outcome.passes.push_back({pass->endOffset.value(), pass->keys, pass->recordsRead, pass->recordsKept,
                                  pass->tombstonesKept, pass->tombstonesDropped, pass->markersDropped,
                                  pass->recordsWithoutKey, pass->bytesBefore, pass->bytesAfter});
      world_->runFor(std::chrono::seconds(20));
    }
    for (const std::string& name : names())
      if (!name.ends_with(".snapshot")) outcome.files[name] = bytes(options_.directory + "/" + name);
    return outcome;
  }

  std::mt19937_64 random_;
  std::map<int64_t, int32_t> sequences_;
  std::unique_ptr<CleanerThrottle> throttle_;
  std::optional<LogContext> context_;
};

TEST_F(CleanerNotesTest, theResultIsTheSameHoweverMuchOfThemHasRoom) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    // Not even a bit for each offset, then no notes, some, and all.
    const Outcome none = roundsWith(seed, 100);
    ASSERT_EQ(none.passes.size(), 3u);
    for (const size_t slots : {200, 300, 600, 1500, 100'000}) {
      const Outcome noted = roundsWith(seed, static_cast<size_t>(slots));
      ASSERT_EQ(noted.passes, none.passes) << "seed " << seed << ", slots " << slots;
      ASSERT_EQ(noted.files, none.files) << "seed " << seed << ", slots " << slots;
    }
  }
}

TEST_F(CleanerNotesTest, theirRoomIsPartOfTheMapsMemory) {
  begin(1);
  options_.config.segmentBytes = 10'000;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 200; ++i) put({i % 40}, 500);
  close();
  const CleanView view = log_->cleanView(true);
  const auto plan = planFor(view, now());
  const auto read = [&](size_t slots) {
    const PassResources used = resources(slots);
    DirtyPart part(*log_, used, view, *plan, [](size_t) { return Result<void>(); });
    ByteVector buffer;
    EXPECT_TRUE(part.read(buffer));
    size_t noted = 0;
    for (const auto& segment : view.segments)
      if (const NotedBatches* batches = part.notesOf(*segment)) noted += batches->size();
    EXPECT_LE(part.slots() * OffsetMap::kEntrySize + noted * sizeof(NotedBatch) + part.places().size_bytes(),
              slots * OffsetMap::kEntrySize);
    return noted;
  };
  EXPECT_EQ(read(100'000), 200u);
  EXPECT_EQ(read(60), 0u);
  const size_t some = read(700);
  EXPECT_GT(some, 0u);
  EXPECT_LT(some, 200u);
}

TEST_F(CleanerNotesTest, recordsThatGoAreNotReadAgain) {
  begin(1);
  // Two keys of which one is written once, between the values of the other.
  put({1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 4000);
  for (int i = 0; i < 3; ++i) put({1, 1, 1, 1}, 4000);
  close();
  const CleanView view = log_->cleanView(true);
  const auto plan = planFor(view, now());
  const PassResources used = resources(100'000);
  DirtyPart part(*log_, used, view, *plan, [](size_t) { return Result<void>(); });
  ByteVector buffer;
  ASSERT_TRUE(part.read(buffer));
  const Segment& segment = *view.segments.front();
  const NotedBatches& batches = *part.notesOf(segment);
  ASSERT_EQ(batches.size(), 4u);
  const std::vector<BatchNeed> needs{BatchNeed::Survivors, BatchNeed::Nothing, BatchNeed::Nothing,
                                     BatchNeed::Survivors};
  size_t bytesRead = 0;
  const auto files = segment.files();
  ASSERT_TRUE(files);
  std::ranges::fill(buffer, 0xee);
  SurvivorReader reader(*(*files)->log(), batches, part.places(), needs, part.superseded(), 1 << 20, buffer,
                        [&](size_t bytes) {
                          bytesRead += bytes;
                          return Result<void>();
                        });
  std::vector<int64_t> bases;
  while (*reader.next() == records::Step::Next) {
    bases.push_back(reader.batch().header.baseOffset.value());
    part.superseded().forEachLeft(reader.note().baseOffset, static_cast<size_t>(reader.note().records), [&](size_t i) {
      records::RecordCursor cursor(reader.batch().header,
                                   reader.batch().bytes.subspan(part.places()[reader.note().firstPlace + i]));
      ASSERT_EQ(cursor.next(), records::Step::Next);
      EXPECT_EQ(cursor.offset(), reader.note().baseOffset + static_cast<int64_t>(i));
      EXPECT_EQ(cursor.record().value->back(), cursor.record().value->front()) << "all of it is there";
    });
  }
  EXPECT_EQ(bases, (std::vector<int64_t>{0, 20}));
  EXPECT_GT(bytesRead, 8000u);
  EXPECT_LT(bytesRead, 30'000u) << "of " << segment.size();
}

TEST_F(CleanerNotesTest, aBatchThatBecameAnotherMeanwhileIsDamage) {
  begin(1);
  put({1, 2, 3}, 100);
  put({3, 4}, 100);
  close();
  const CleanView view = log_->cleanView(true);
  const auto plan = planFor(view, now());
  const PassResources used = resources(100'000);
  DirtyPart part(*log_, used, view, *plan, [](size_t) { return Result<void>(); });
  ByteVector buffer;
  ASSERT_TRUE(part.read(buffer));
  const Segment& segment = *view.segments.front();
  const auto files = segment.files();
  ASSERT_TRUE(files);
  NotedBatches batches = *part.notesOf(segment);
  batches.back().records += 1;
  const std::vector<BatchNeed> needs(2, BatchNeed::Everything);
  SurvivorReader reader(*(*files)->log(), batches, part.places(), needs, part.superseded(), 1 << 20, buffer,
                        [](size_t) { return Result<void>(); });
  EXPECT_EQ(*reader.next(), records::Step::Next);
  EXPECT_EQ(reader.next().error().code, ErrorCode::CorruptMessage);
}

}  // namespace
}  // namespace tidemark::log
