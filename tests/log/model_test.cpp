#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "log/checkpoints.h"
#include "log/log_manager.h"
#include "log_fixture.h"

// Random operations on a log, crashes in the middle of any file call included, against a list of batches.

namespace tidemark::log {
namespace {

const TopicPartition kPartition{"orders", PartitionIndex(0)};
const Uuid kId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");

struct ModelBatch {
  Offset base;
  Offset last;
  LeaderEpoch epoch;
  uint32_t crc = 0;
  friend bool operator==(const ModelBatch&, const ModelBatch&) = default;
};

/// What was appended and not truncated, and how far a power loss must leave it.
struct Model {
  std::vector<ModelBatch> batches;
  Offset end{0};
  Offset start{0};
  /// Everything below was flushed (and nothing of it truncated since).
  Offset flushed{0};

  void truncate(Offset offset) {
    while (!batches.empty() && batches.back().last >= offset) batches.pop_back();
    end = std::min(end, offset);
    // Behind a gap only memory knows the end.
    flushed = std::min(flushed, batches.empty() ? Offset(0) : batches.back().last.next());
    start = std::min(start, offset);
  }
};

class ModelTest : public LogFixture {
 protected:
  uint64_t below(uint64_t bound) { return world_->random().below(bound); }
  bool chance(uint64_t percent) { return below(100) < percent; }

  bool alive() const { return process_->state() != platform::Process::State::Dead; }

  void openManager() {
    background_ = process_->createExecutor({.name = "background"});
    LogManagerOptions options;
    options.directories = {"/data"};
    options.defaults = config_;
    options.openSegments = 2;
    auto manager = LogManager::open(*process_, background_, nullptr, options);
    ASSERT_TRUE(manager || !alive()) << manager.error().message;
    if (!manager) return;
    const auto loaded = (*manager)->load({});
    ASSERT_TRUE(loaded || !alive()) << loaded.error().message;
    if (!loaded) return;
    auto log = (*manager)->getOrCreate(kPartition, kId, config_);
    ASSERT_TRUE(log || !alive()) << log.error().message;
    if (!log) return;
    manager_ = *manager;
    log_ = *log;
    ++opened_;
  }

  void start(uint64_t seed) {
    manager_.reset();
    background_.reset();
    startWorld(seed);
    model_ = {};
    epoch_ = 0;
    config_ = {};
    config_.segmentBytes = 1100 + static_cast<int32_t>(below(2000));
    config_.indexIntervalBytes = static_cast<int32_t>(below(400));
    config_.segmentIndexBytes = 64 + static_cast<int32_t>(below(400));
    config_.retentionMs = -1;
    config_.compact = chance(50);  // only there offsets have gaps
    config_.timestampAfterMaxMs = INT64_MAX;
    config_.producerIdExpirationMs = INT64_MAX;
    openManager();
  }

  // --- operations; each leaves the model as what must be there, or as two possibilities if it crashed in between ---
  void appendOne() {
    if (chance(20)) ++epoch_;
    const ByteVector batch = makeBatch({.count = 1 + static_cast<int>(below(5)),
                                        .valueSize = below(120),
                                        .firstTimestampMs = 1'700'000'000'000 + static_cast<int64_t>(below(100'000)),
                                        .epoch = LeaderEpoch(epoch_)});
    ByteVector bytes = batch;
    const auto info = log_->appendAsLeader(bytes, LeaderEpoch(epoch_));
    if (!info) {
      ASSERT_FALSE(alive()) << info.error().error.message;
      remember(bytes);
      return;
    }
    ASSERT_EQ(info->firstOffset, model_.end);
    remember(bytes);
  }

  /// Several batches of rising epochs, some with gaps, as a follower gets them.
  void appendMany() {
    ByteVector all;
    std::vector<ByteVector> batches;
    Offset next = model_.end;
    const uint64_t count = 1 + below(6);
    for (uint64_t i = 0; i < count; ++i) {
      if (chance(30)) ++epoch_;
      if (config_.compact && chance(10)) next = next + static_cast<int64_t>(below(5));
      const int records = 1 + static_cast<int>(below(4));
      batches.push_back(
          makeBatch({.count = records, .valueSize = below(200), .baseOffset = next, .epoch = LeaderEpoch(epoch_)}));
      next = next + records;
      all.insert(all.end(), batches.back().begin(), batches.back().end());
    }
    const auto info = log_->appendAsFollower(all);
    ASSERT_TRUE(info || !alive()) << info.error().message;
    for (const ByteVector& batch : batches) remember(batch);
  }

  /// Told if the run fails.
  template <class... Arguments>
  void note(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    story_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
    if (story_.size() > 25) story_.erase(story_.begin());
  }
  static std::string text(const std::vector<ModelBatch>& batches) {
    std::string text;
    for (const ModelBatch& batch : batches) text += fmt::format(" {}-{}@{}", batch.base, batch.last, batch.epoch);
    return text;
  }
  std::string state() {
    if (!alive()) return "dead";
    std::string text = fmt::format("end {} start {} recovery point {} flushed {}; segments", log_->logEndOffset(),
                                   log_->logStartOffset(), log_->recoveryPoint(), model_.flushed);
    for (const auto& segment : log_->segments()) text += fmt::format(" {}", segment.baseOffset);
    return text;
  }

  void remember(const ByteVector& bytes) {
    const auto header = records::BatchHeader::read(bytes.data());
    model_.batches.push_back({header.baseOffset, header.lastOffset(), header.leaderEpoch, header.crc});
    model_.end = header.nextOffset();
  }

  void truncate() {
    if (model_.batches.empty()) return;
    const ModelBatch at =
        model_.batches[model_.batches.size() - 1 - below(std::min<size_t>(model_.batches.size(), 12))];
    // Nobody truncates below the log start: it is below the high watermark.
    if (at.base < model_.start) return;
    // Inside a batch or at its start: it goes whole.
    const Offset target =
        chance(70) ? at.base : at.base + static_cast<int64_t>(below(static_cast<uint64_t>(at.last - at.base) + 1));
    const Model before = model_;
    model_.truncate(at.base);
    ++epoch_;
    const auto moved = log_->truncateTo(target);
    if (moved) return;
    ASSERT_FALSE(alive()) << moved.error().message;
    // Whether it came to pass is open; the batches it should have removed may be there in part.
    model_.batches = before.batches;
    model_.end = before.end;
  }

  void deleteRecords() {
    log_->updateHighWatermark(model_.end);
    const Offset target =
        model_.start + static_cast<int64_t>(below(static_cast<uint64_t>(model_.end - model_.start) + 1));
    const auto start = log_->deleteRecords(target);
    if (!start) return;
    model_.start = *start;
    if (chance(50)) return;
    ASSERT_TRUE(log_->deleteOldSegments() || !alive());
  }

  void flush() {
    const Offset end = model_.end;
    if (log_->flush()) model_.flushed = end;
    if (chance(30) && alive()) manager_->checkpoint();
  }

  void check() {
    ASSERT_EQ(log_->logEndOffset(), model_.end);
    ASSERT_EQ(log_->logStartOffset(), model_.start);
    const auto all = log_->batches(model_.start, SIZE_MAX);
    ASSERT_TRUE(all) << all.error().message;
    std::vector<ModelBatch> found;
    for (const BatchInfo& batch : *all)
      found.push_back({batch.header.baseOffset, batch.header.lastOffset(), batch.header.leaderEpoch, batch.header.crc});
    std::vector<ModelBatch> expected;
    for (const ModelBatch& batch : model_.batches)
      if (batch.last >= model_.start) expected.push_back(batch);
    ASSERT_EQ(found, expected);
    checkEpochs();
    checkReads();
  }

  /// R11: as rebuilt from the batches, but for an entry at the log end and the first one cut at the log start.
  void checkEpochs() {
    EpochCache rebuilt;
    for (const ModelBatch& batch : model_.batches)
      if (rebuilt.latestEpoch().value_or(kNoLeaderEpoch) < batch.epoch) rebuilt.assign(batch.epoch, batch.base);
    rebuilt.truncateFromStart(model_.start);
    auto entries = log_->epochEntries();
    if (!entries.empty() && entries.back().startOffset == model_.end) entries.pop_back();
    std::vector<EpochEntry> expected = rebuilt.entries();
    if (!expected.empty() && expected.back().startOffset == model_.end) expected.pop_back();
    ASSERT_EQ(entries, expected);
  }

  /// Lookups equal a scan of the model.
  void checkReads() {
    for (int i = 0; i < 5 && model_.end > model_.start; ++i) {
      const Offset offset =
          model_.start + static_cast<int64_t>(below(static_cast<uint64_t>(model_.end - model_.start)));
      const auto holder =
          std::ranges::find_if(model_.batches, [&](const ModelBatch& batch) { return batch.last >= offset; });
      const auto read = log_->readBytes(offset, 1, FetchIsolation::LogEnd, true);
      ASSERT_TRUE(read) << read.error().message;
      if (holder == model_.batches.end()) {
        ASSERT_TRUE(read->empty());
        continue;
      }
      ASSERT_GE(read->size(), records::kBatchHeaderSize);
      const auto header = records::BatchHeader::read(read->data());
      ASSERT_EQ(header.baseOffset, holder->base) << "for offset " << offset.value();
      ASSERT_EQ(header.crc, holder->crc);
    }
  }

  /// S1: a front part of what was appended, at least all that was flushed. The model becomes what is there.
  void adopt(Crash how, bool truncating) {
    const auto all = log_->batches(Offset(0), SIZE_MAX);
    ASSERT_TRUE(all) << all.error().message;
    std::vector<ModelBatch> found;
    for (const BatchInfo& batch : *all)
      found.push_back({batch.header.baseOffset, batch.header.lastOffset(), batch.header.leaderEpoch, batch.header.crc});
    // Segments below the log start may be gone.
    std::vector<ModelBatch> expected = model_.batches;
    const Offset first = found.empty() ? log_->logStartOffset() : found.front().base;
    std::erase_if(expected, [&](const ModelBatch& batch) { return batch.last < first; });
    note("after the crash: {}; found {}; expected {}", state(), text(found), text(expected));
    ASSERT_LE(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], expected[i]) << "batch " << i << " at " << found[i].base.value();
    ASSERT_GE(log_->logEndOffset(), model_.flushed);
    ASSERT_TRUE(how == Crash::PowerLoss || crashedInCall_ || found.size() == expected.size());
    if (found.size() < expected.size()) ++lostTails_;
    (void)truncating;
    model_.batches.resize(model_.batches.size() - (expected.size() - found.size()));
    model_.end = log_->logEndOffset();
    model_.start = log_->logStartOffset();
    model_.flushed = std::min(model_.flushed, model_.end);
  }

  void crashNow(Crash how, bool truncating) {
    if (alive()) {
      crashedInCall_ = false;
      crash(how);
    } else {
      crashedInCall_ = true;
    }
    log_.reset();
    manager_.reset();
    background_.reset();
    restart();
    openManager();
    ASSERT_TRUE(log_);
    adopt(how, truncating);
  }

  void restartCleanly() {
    const auto stopped = manager_->shutdown(BrokerEpoch(1));
    if (!alive()) return;
    ASSERT_TRUE(stopped) << stopped.error().message;
    model_.flushed = model_.end;
    if (chance(50)) process_->losePower();
    crash(Crash::Kill);
    log_.reset();
    manager_.reset();
    background_.reset();
    restart();
    openManager();
    ASSERT_TRUE(log_);
    ASSERT_TRUE(manager_->wasCleanShutdown());
    // A truncation inside a gap leaves an end that only memory knows.
    ASSERT_LE(log_->logEndOffset(), model_.end);
    model_.end = log_->logEndOffset();
    model_.flushed = std::min(model_.flushed, model_.end);
  }

  void run(uint64_t seed) {
    start(seed);
    ASSERT_TRUE(log_);
    for (int step = 0; step < 120 && !HasFatalFailure(); ++step) {
      SCOPED_TRACE(fmt::format("seed {} step {}", seed, step));
      Crash how = chance(50) ? Crash::Kill : Crash::PowerLoss;
      if (chance(6)) process_->crashAtFileCall(1 + below(12), how);
      const uint64_t choice = below(100);
      note("{}: choice {} crash {}", step, choice, how == Crash::Kill ? "kill" : "power");
      const bool truncating = choice >= 70 && choice < 78;
      if (choice < 50)
        appendOne();
      else if (choice < 70)
        appendMany();
      else if (truncating)
        truncate();
      else if (choice < 82)
        deleteRecords();
      else if (choice < 88)
        flush();
      else if (choice < 91)
        (void)log_->roll();
      else if (choice < 93)
        world_->runFor(std::chrono::seconds(1));
      else if (choice < 95 && alive())
        crashNow(how, truncating);
      else if (choice < 97 && alive())
        restartCleanly();
      if (HasFatalFailure()) return;
      if (!alive()) {
        ++crashesInCalls_;
        crashNow(how, truncating);
      }
      if (HasFatalFailure()) return;
      process_->crashAtFileCall(uint64_t{1} << 60, Crash::Kill);  // not in what only looks
      note("{}: {}", step, state());
      check();
    }
    if (!HasFatalFailure()) expectIndexesTrue();
  }

  LogConfig config_;
  std::vector<std::string> story_;
  std::shared_ptr<LogManager> manager_;
  Model model_;
  int32_t epoch_ = 0;
  bool crashedInCall_ = false;
  int opened_ = 0;
  int crashesInCalls_ = 0;
  int lostTails_ = 0;
};

TEST_F(ModelTest, randomOperationsAndCrashesLeaveAPrefixOfWhatWasAppended) {
  uint64_t seeds = 40;
  if (const char* text = std::getenv("TIDEMARK_LOG_SEEDS")) seeds = std::strtoull(text, nullptr, 10);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    story_.clear();
    run(seed);
    if (!HasFatalFailure() && !HasNonfatalFailure()) continue;
    for (const std::string& line : story_) fmt::print("{}\n", line);
    return;
  }
  EXPECT_GT(crashesInCalls_, 20) << "crashes in the middle of a file call";
  EXPECT_GT(lostTails_, 5) << "power losses that took unsynced records";
}

}  // namespace
}  // namespace tidemark::log
