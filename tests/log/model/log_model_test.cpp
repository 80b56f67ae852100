#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/seeds.h"
#include "events/recorder.h"
#include "log/checkpoints.h"
#include "log/file_names.h"
#include "log/log_manager.h"
#include "log_fixture.h"
#include "record_model.h"
#include "records/control.h"

// Random operations on one log under a log manager with its cleaner, retention and background flushes, against a plain
// list of records; with crashes at any file call, power losses that forget, tear (sectors of 512 and of 4096) and
// reorder unsynced writes, full disks and calls that fail. After each step S1 to S5, R11 and T8. TIDEMARK_LOG_SEEDS=N
// runs more or fewer, TIDEMARK_LOG_SEED=N one of them.

namespace tidemark::log {
namespace {

const TopicPartition kPartition{"orders", PartitionIndex(0)};
const Uuid kId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
constexpr uint64_t kNever = uint64_t{1} << 60;

struct Counts {
  int steps = 0;
  int crashes = 0;
  int lostTails = 0;
  int diskFailures = 0;
  int64_t passes = 0;
  int compactedAway = 0;
  int abortedSeen = 0;
  int64_t segmentsScanned = 0;
};

class LogModelTest : public LogFixture {
 protected:
  uint64_t below(uint64_t bound) { return world_->random().below(bound); }
  bool chance(uint64_t percent) { return below(100) < percent; }
  bool alive() const { return process_->state() != platform::Process::State::Dead; }

  /// Told if the run fails.
  template <class... Arguments>
  void note(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    story_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
    if (story_.size() > 40) story_.erase(story_.begin());
  }

  // --- life ---
  void start(uint64_t seed) {
    forget();
    startWorld(seed);
    model_ = {};
    maybeFlushedTo_ = Offset(INT64_MAX);
    syncFailed_ = false;
    epoch_ = 0;
    sequences_.clear();
    config_ = {};
    // Larger than any batch.
    config_.segmentBytes = 700 + static_cast<int32_t>(below(1500));
    config_.indexIntervalBytes = static_cast<int32_t>(below(300));
    config_.segmentIndexBytes = 64 + static_cast<int32_t>(below(400));
    config_.compact = chance(70);
    config_.remove = !config_.compact || chance(20);
    config_.retentionMs = -1;
    config_.retentionBytes = config_.remove && chance(50) ? static_cast<int64_t>(below(8000)) : -1;
    config_.minCleanableDirtyRatio = static_cast<double>(below(50)) / 100;
    config_.deleteRetentionMs = static_cast<int64_t>(below(3)) * 2000;
    config_.minCompactionLagMs = chance(20) ? 1000 : 0;
    config_.flushMessages = chance(20) ? 5 : INT64_MAX;
    config_.fileDeleteDelayMs = static_cast<int64_t>(below(3)) * 500;
    config_.timestampAfterMaxMs = INT64_MAX;
    config_.producerIdExpirationMs = INT64_MAX;
    dedupeBytes_ = chance(30) ? 24 * 8 : 1 << 16;
    process_->disk().setSectorSize(chance(50) ? 512 : 4096);
    openManager();
  }
  void forget() {
    log_.reset();
    manager_.reset();
    background_.reset();
  }
  CleanerConfig cleanerConfig() const {
    CleanerConfig config;
    config.enabled = cleans_;
    config.dedupeBufferBytes = dedupeBytes_;
    config.backoff = std::chrono::milliseconds(500);
    return config;
  }
  void openManager() {
    background_ = process_->createExecutor({.name = "background"});
    LogManagerOptions options;
    options.directories = {"/data"};
    options.defaults = config_;
    options.openSegments = 2;
    options.cleaner = cleanerConfig();
    recorder_ = std::make_unique<events::Recorder>(process_->clock(), NodeId(1));
    recorder_->enable(true);
    auto manager = LogManager::open(*process_, background_, recorder_.get(), options);
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
  }

  // --- operations ---
  ModelRecord record(int64_t producer, bool transactional) {
    ModelRecord record;
    record.timestampMs = process_->clock().wallMs() + static_cast<int64_t>(below(5000));
    record.producer = ProducerId(producer);
    record.transactional = transactional;
    record.key = fmt::format("k{}", below(14));
    if (!chance(12)) record.value = fmt::format("v{}-{}", valueNumber_++, std::string(below(90), 'x'));
    return record;
  }
  ByteVector batchOf(const std::vector<ModelRecord>& records, const records::BatchOptions& options) {
    records::BatchBuilder builder(options);
    for (const ModelRecord& record : records)
      builder.append(record.timestampMs, asBytes(record.key),
                     record.value ? std::optional<ByteView>(asBytes(*record.value)) : std::nullopt);
    return builder.build();
  }
  records::Codec anyCodec() { return chance(70) ? records::Codec::None : static_cast<records::Codec>(below(5)); }
  void remember(std::vector<ModelRecord> records, Offset first, LeaderEpoch epoch) {
    model_.noteBatch(first, first + static_cast<int64_t>(records.size()));
    Offset next = first;
    for (ModelRecord& record : records) {
      record.offset = next;
      record.epoch = epoch;
      next = next.next();
    }
    model_.append(std::move(records), next);
  }
  /// True if `done`; otherwise the log died or went offline, and whether the operation came to pass is open.
  template <class Outcome>
  bool came(const Outcome& done) {
    if (done) return true;
    if constexpr (requires { done.error().message; })
      EXPECT_TRUE(!alive() || log_->offline()) << done.error().message;
    else
      EXPECT_TRUE(!alive() || log_->offline()) << done.error().error.message;
    return false;
  }

  void appendAsLeader() {
    if (chance(10)) ++epoch_;
    const auto open = model_.open();
    const bool transactional = chance(30);
    const int64_t producer = transactional ? static_cast<int64_t>(1 + below(2)) : chance(40) ? 3 : -1;
    std::vector<ModelRecord> records;
    for (uint64_t i = 1 + below(4); i > 0; --i) records.push_back(record(producer, transactional));
    records::BatchOptions options{.codec = anyCodec(),
                                  .producerId = ProducerId(producer),
                                  .producerEpoch = ProducerEpoch(producer < 0 ? -1 : 0),
                                  .baseSequence = producer < 0 ? -1 : sequences_[producer],
                                  .transactional = transactional};
    ByteVector bytes = batchOf(records, options);
    ByteVector again = bytes;
    const Offset at = model_.end();
    const auto info = log_->appendAsLeader(bytes, LeaderEpoch(epoch_));
    // S3: never an offset twice.
    if (info) {
      ASSERT_EQ(info->firstOffset, at);
    }
    if (producer >= 0) sequences_[producer] += static_cast<int32_t>(records.size());
    remember(std::move(records), at, LeaderEpoch(epoch_));
    if (!came(info) || producer < 0 || !chance(30)) return;
    const auto retry = log_->appendAsLeader(again, LeaderEpoch(epoch_));
    if (!came(retry)) return;
    ASSERT_TRUE(retry->duplicate);
    ASSERT_EQ(retry->firstOffset, at);
  }

  void endTransaction() {
    const auto open = model_.open();
    if (open.empty()) return;
    const int64_t producer = std::next(open.begin(), static_cast<ptrdiff_t>(below(open.size())))->first.value();
    const bool commit = chance(50);
    ModelRecord marker;
    marker.timestampMs = process_->clock().wallMs();
    marker.producer = ProducerId(producer);
    marker.control = true;
    marker.key = commit ? "commit" : "abort";
    ByteVector bytes = records::buildEndTxnMarker(ProducerId(producer), ProducerEpoch(0),
                                                  {.commit = commit, .coordinatorEpoch = 0}, marker.timestampMs);
    const Offset at = model_.end();
    const auto info = log_->appendAsLeader(bytes, LeaderEpoch(epoch_), {.origin = records::Origin::Coordinator});
    if (info) {
      ASSERT_EQ(info->firstOffset, at);
    }
    remember({marker}, at, LeaderEpoch(epoch_));
    came(info);
  }

  /// Several batches of rising epochs, some with gaps where there may be some, as a follower gets them.
  void appendAsFollower() {
    ByteVector all;
    Offset next = model_.end();
    std::vector<std::pair<std::vector<ModelRecord>, std::pair<Offset, LeaderEpoch>>> batches;
    for (uint64_t i = 1 + below(5); i > 0; --i) {
      if (chance(30)) ++epoch_;
      if (config_.compact && chance(10)) next = next + static_cast<int64_t>(below(5));
      std::vector<ModelRecord> records;
      for (uint64_t k = 1 + below(3); k > 0; --k) records.push_back(record(-1, false));
      const ByteVector bytes =
          batchOf(records, {.baseOffset = next, .leaderEpoch = LeaderEpoch(epoch_), .codec = anyCodec()});
      all.insert(all.end(), bytes.begin(), bytes.end());
      batches.push_back({records, {next, LeaderEpoch(epoch_)}});
      next = next + static_cast<int64_t>(records.size());
    }
    came(log_->appendAsFollower(all));
    for (auto& [records, place] : batches) remember(std::move(records), place.first, place.second);
  }

  void moveHighWatermark() {
    const auto room = static_cast<uint64_t>(model_.end() - model_.highWatermark());
    const Offset target = chance(60) ? model_.end() : model_.highWatermark() + static_cast<int64_t>(below(room + 1));
    log_->updateHighWatermark(target);
    model_.raiseHighWatermark(target);
  }

  void truncate() {
    const Offset lowest = std::max(model_.highWatermark(), model_.start());
    const auto room = static_cast<uint64_t>(model_.end() - lowest);
    if (room == 0) return;
    const Offset target = lowest + static_cast<int64_t>(below(room));
    const Offset cut = model_.batchStart(target);
    if (cut < lowest) return;
    ++epoch_;
    const RecordModel before = model_;
    const auto moved = log_->truncateTo(target);
    model_.truncate(cut);
    sequences_.clear();
    for (const ProducerInfo& producer : alive() && !log_->offline() ? log_->producers() : std::vector<ProducerInfo>())
      sequences_[producer.producerId.value()] = producer.lastSequence + 1;
    if (came(moved)) return;
    // Whether it came to pass is open: batches from the cut on may be there in part.
    const Offset flushed = model_.flushed();
    model_ = before;
    model_.adopt(model_.start(), model_.end());
    maybeFlushedTo_ = flushed;
  }

  void deleteRecords() {
    const auto room = static_cast<uint64_t>(model_.highWatermark() - model_.start());
    const Offset target = model_.start() + static_cast<int64_t>(below(room + 1));
    if (const auto start = log_->deleteRecords(target); start) model_.moveStart(*start);
  }
  void cleanUp() {
    manager_->cleanup();
    if (alive() && !log_->offline()) model_.moveStart(log_->logStartOffset());
  }
  void flush() {
    if (came(log_->flush())) model_.noteFlushed();
    if (chance(40) && alive()) manager_->checkpoint();
  }

  // --- what must hold ---
  static std::vector<ModelRecord> readAll(const PartitionLog& log, Offset from) {
    std::vector<ModelRecord> found;
    while (true) {
      const auto bytes = log.readBytes(from, 1 << 20, FetchIsolation::LogEnd);
      EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
      if (!bytes || bytes->empty()) return found;
      records::BatchCursor cursor(*bytes, records::BatchCursor::Check::Checksum);
      while (cursor.next() == records::Step::Next) {
        const records::BatchHeader& header = cursor.batch().header;
        from = header.nextOffset();
        EXPECT_TRUE(records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
          ModelRecord& each = found.emplace_back();
          each.offset = record.offset;
          each.timestampMs = record.timestampMs;
          each.epoch = header.leaderEpoch;
          each.producer = header.producerId;
          each.transactional = header.isTransactional() && !header.isControl();
          each.control = header.isControl();
          if (header.isControl())
            each.key = records::controlType(record) == records::ControlType::Commit ? "commit" : "abort";
          else
            each.key = asText(*record.key);
          if (record.value && !header.isControl()) each.value = asText(*record.value);
        }));
      }
      EXPECT_EQ(cursor.position(), bytes->size());
    }
  }

  /// The log holds the model's records, but for what compaction may have taken. Nothing that it must not hold.
  void compare(const std::vector<ModelRecord>& found, Offset start, Offset end) {
    auto at = found.begin();
    for (const ModelRecord& expected : model_.records()) {
      if (expected.offset >= end) break;
      // The first batch read may begin below the log start.
      if (at != found.end() && at->offset < expected.offset) FAIL() << "nobody appended " << described(*at);
      const bool there = at != found.end() && at->offset == expected.offset;
      if (there) {
        ASSERT_EQ(*at, expected) << described(*at) << " should be " << described(expected);
      }
      if (there) ++at;
      if (there || expected.offset < start) continue;
      ASSERT_TRUE(config_.compact && model_.mayBeGone(expected)) << described(expected) << " is missing";
      ++counts_.compactedAway;
    }
    ASSERT_TRUE(at == found.end()) << described(*at) << " is too much";
  }

  void check() {
    ASSERT_EQ(log_->logEndOffset(), model_.end());
    ASSERT_EQ(log_->logStartOffset(), model_.start());
    ASSERT_EQ(log_->highWatermark(), std::max(model_.start(), model_.highWatermark()));
    const std::vector<ModelRecord> found = readAll(*log_, model_.start());
    compare(found, model_.start(), model_.end());
    if (HasFatalFailure()) return;
    checkEpochs(found);
    if (HasFatalFailure()) return;
    checkStable(found);
    if (HasFatalFailure()) return;
    checkLookups(found);
  }

  /// R11: every record lies in its epoch. Without compaction as rebuilt from the records, but for an entry at the log
  /// end and the first one, which is cut at the log start.
  void checkEpochs(const std::vector<ModelRecord>& found) {
    std::vector<EpochEntry> entries = log_->epochEntries();
    for (size_t i = 1; i < entries.size(); ++i)
      ASSERT_TRUE(entries[i - 1].epoch < entries[i].epoch && entries[i - 1].startOffset < entries[i].startOffset);
    size_t at = 0;
    for (const ModelRecord& record : found) {
      if (record.offset < model_.start()) continue;
      while (at + 1 < entries.size() && entries[at + 1].startOffset <= record.offset) ++at;
      ASSERT_TRUE(at < entries.size() && entries[at].startOffset <= record.offset) << described(record);
      ASSERT_EQ(entries[at].epoch, record.epoch) << described(record);
    }
    if (config_.compact) return;
    EpochCache rebuilt;
    for (const ModelRecord& record : model_.records())
      if (rebuilt.latestEpoch().value_or(kNoLeaderEpoch) < record.epoch) rebuilt.assign(record.epoch, record.offset);
    rebuilt.truncateFromStart(model_.start());
    std::vector<EpochEntry> expected = rebuilt.entries();
    for (auto* list : {&entries, &expected})
      if (!list->empty() && list->back().startOffset == model_.end()) list->pop_back();
    ASSERT_EQ(entries, expected);
  }

  /// T4 and T8 as a read_committed reader notices them.
  void checkStable(const std::vector<ModelRecord>& found) {
    Offset stable = log_->highWatermark();
    // What began below the log start and has nothing above it may be forgotten.
    for (const auto& [producer, first] : model_.open(model_.start())) stable = std::min(stable, first);
    // A transaction whose marker is not below the high watermark counts as open.
    ASSERT_LE(log_->lastStableOffset(), stable);
    const auto told = log_->abortedTransactions(model_.start(), model_.end());
    ASSERT_TRUE(told) << told.error().message;
    const std::set<Offset> aborted = model_.aborted();
    for (const ModelRecord& record : found) {
      if (record.control || !record.transactional) continue;
      const bool told1 = std::ranges::any_of(*told, [&](const AbortedTxn& entry) {
        return entry.producerId == record.producer && entry.firstOffset <= record.offset &&
               record.offset < entry.lastOffset;
      });
      ASSERT_EQ(told1, aborted.contains(record.offset)) << described(record);
      counts_.abortedSeen += told1;
    }
  }

  std::string lookupStory(const std::vector<ModelRecord>& found) {
    std::string story;
    for (const ModelRecord& record : found) story += fmt::format(" {}@{}", record.offset, record.timestampMs);
    for (const SegmentInfo& segment : log_->segments()) {
      story += fmt::format("; segment {} max {}", segment.baseOffset, segment.maxTimestampMs);
      const auto entries = log_->timeIndexEntries(segment.baseOffset, 0, SIZE_MAX);
      for (const TimeIndexEntry& entry : entries.value())
        story += fmt::format(" {}@{}", entry.offset, entry.timestampMs);
    }
    return story;
  }
  /// S2: lookups equal a scan.
  void checkLookups(const std::vector<ModelRecord>& found) {
    if (found.empty()) return;
    const auto& any = found[below(found.size())];
    const auto bytes = log_->readBytes(std::max(any.offset, model_.start()), 1, FetchIsolation::LogEnd, true);
    ASSERT_TRUE(bytes && !bytes->empty());
    const auto header = records::BatchHeader::read(bytes->data());
    ASSERT_TRUE(header.baseOffset <= any.offset && any.offset <= header.lastOffset());
    const int64_t timestamp = any.timestampMs + static_cast<int64_t>(below(3)) - 1;
    const auto answer = log_->offsetForTimestamp(timestamp);
    ASSERT_TRUE(answer) << answer.error().message;
    const auto scan = std::ranges::find_if(found, [&](const ModelRecord& record) {
      return record.timestampMs >= timestamp && record.offset >= model_.start();
    });
    ASSERT_EQ(answer->has_value(), scan != found.end()) << timestamp << " of " << lookupStory(found);
    if (*answer) {
      ASSERT_EQ((*answer)->offset, scan->offset) << timestamp;
    }
  }

  // --- crashes ---
  /// S5: how many segments the next opening may read, by the files as they are.
  int segmentsThatReachTheRecoveryPoint() {
    if (files().exists("/data/" + std::string(kCleanShutdownFile))) return 0;
    Offset point(0);
    const auto text = readTextFile(files(), "/data/" + std::string(kRecoveryPointFile));
    if (text && *text)
      if (const auto offsets = decodeOffsetCheckpoint(**text); offsets && offsets->contains(kPartition))
        point = offsets->at(kPartition);
    std::set<Offset> bases;
    if (files().exists("/data/orders-0"))
      for (const std::string& name : names())
        for (const std::string_view extra : {std::string_view(), kSwapSuffix})
          if (const auto base = offsetOfFileName(name, std::string(kLogSuffix).append(extra))) bases.insert(*base);
    int count = 0;
    for (auto at = bases.begin(); at != bases.end(); ++at)
      count += std::next(at) == bases.end() || *std::next(at) > point;
    return count;
  }
  void checkScanned(int most) {
    std::vector<events::Event> told;
    recorder_->drain(told);
    int scanned = 0;
    for (const events::Event& event : told)
      if (const auto* recovered = std::get_if<events::LogRecovered>(&event.payload))
        scanned += recovered->segmentsScanned;
    ASSERT_LE(scanned, most);
    counts_.segmentsScanned += scanned;
  }
  void reopen(Crash how, bool certain) {
    if (alive()) crash(how);
    // What a failed sync left in memory looks good, and later syncs do not bring it to the disk: only a power loss
    // shows what is there.
    if (std::exchange(syncFailed_, false)) world_->disk("broker-1").losePower();
    process_->disk().failWhen(nullptr);
    process_->disk().setCapacity(UINT64_MAX);
    forget();
    restart();
    const int mayBeScanned = segmentsThatReachTheRecoveryPoint();
    openManager();
    ASSERT_TRUE(log_);
    checkScanned(mayBeScanned);
    // S1: what is there is the front of what was appended, at least what was flushed.
    const Offset end = log_->logEndOffset();
    note("after the crash: end {} start {}; was {} to {}, flushed {}", end, log_->logStartOffset(), model_.start(),
         model_.end(), std::min(model_.flushed(), maybeFlushedTo_));
    ASSERT_LE(end, model_.end());
    ASSERT_GE(end, std::min(model_.flushed(), maybeFlushedTo_));
    if (certain && how == Crash::Kill) {
      ASSERT_GE(end, std::max(log_->logStartOffset(), model_.dataEnd()));
    }
    const std::vector<ModelRecord> found = readAll(*log_, log_->logStartOffset());
    compare(found, std::max(log_->logStartOffset(), log_->firstSegmentBase()), end);
    if (end < model_.end()) ++counts_.lostTails;
    model_.adopt(log_->logStartOffset(), end);
    maybeFlushedTo_ = Offset(INT64_MAX);
    // It comes from a checkpoint, and may be older than what its readers saw.
    log_->updateHighWatermark(std::max(model_.highWatermark(), log_->logStartOffset()));
    model_.raiseHighWatermark(log_->highWatermark());
    sequences_.clear();
    for (const ProducerInfo& producer : log_->producers())
      sequences_[producer.producerId.value()] = producer.lastSequence + 1;
    ++epoch_;
  }
  void restartCleanly() {
    const auto stopped = manager_->shutdown(BrokerEpoch(1));
    if (!alive() || log_->offline()) return;
    ASSERT_TRUE(stopped) << stopped.error().message;
    model_.noteFlushed();
    if (chance(50)) process_->losePower();
    reopen(Crash::Kill, false);
    if (!log_ || HasFatalFailure()) return;
    EXPECT_TRUE(manager_->wasCleanShutdown());
    if (chance(30)) closeTwice();
  }
  /// S4: opened and closed without a write it stays byte for byte.
  void closeTwice() {
    cleans_ = false;
    std::map<std::string, ByteVector> before;
    for (int round = 0; round < 3; ++round) {
      // The first open may still be one of a cleaner at work.
      ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
      std::map<std::string, ByteVector> now;
      for (const std::string& folder : {std::string("/data"), std::string("/data/orders-0")}) {
        const auto entries = files().list(folder);
        for (const auto& entry : entries.value())
          if (!entry.isDirectory) now[folder + "/" + entry.name] = bytes(folder + "/" + entry.name);
      }
      if (round < 2) before.clear();
      for (const auto& [path, content] : before)
        ASSERT_TRUE(now.contains(path) && now[path] == content) << path << " changed";
      if (round == 2) {
        ASSERT_EQ(now.size(), before.size()) << "a file is new";
      }
      before = std::move(now);
      crash(Crash::Kill);
      forget();
      restart();
      openManager();
      ASSERT_TRUE(log_);
      log_->updateHighWatermark(std::max(model_.highWatermark(), model_.start()));
    }
    cleans_ = true;
    manager_->configureCleaner(cleanerConfig());
  }

  void breakDisk() {
    ++counts_.diskFailures;
    if (chance(50)) {
      process_->disk().setCapacity(process_->disk().used() + below(300));
      return;
    }
    auto left = std::make_shared<uint64_t>(1 + below(10));
    process_->disk().failWhen([this, left](platform::FileCall call, const std::string&) {
      if (call == platform::FileCall::LockFile || call == platform::FileCall::Size) return false;
      const bool fails = *left > 0 && --*left == 0;
      syncFailed_ = syncFailed_ || (fails && call == platform::FileCall::Sync);
      return fails;
    });
  }

  void step() {
    const Crash how = chance(50) ? Crash::Kill : Crash::PowerLoss;
    if (chance(4)) process_->crashAtFileCall(1 + below(30), how);
    if (chance(2)) breakDisk();
    const uint64_t choice = below(100);
    note("choice {} crash {}", choice, how == Crash::Kill ? "kill" : "power");
    if (choice < 34) {
      appendAsLeader();
    } else if (choice < 46) {
      appendAsFollower();
    } else if (choice < 56) {
      endTransaction();
    } else if (choice < 68) {
      moveHighWatermark();
    } else if (choice < 72) {
      truncate();
    } else if (choice < 75) {
      deleteRecords();
    } else if (choice < 78) {
      cleanUp();
    } else if (choice < 82) {
      flush();
    } else if (choice < 87) {
      came(log_->roll());
    } else if (choice < 95) {
      world_->runFor(std::chrono::milliseconds(200 + below(2000)));
    } else if (choice < 97) {
      ++counts_.crashes;
      reopen(how, true);
    } else if (choice < 99) {
      restartCleanly();
    }
    if (HasFatalFailure()) return;
    if (!alive() || log_->offline()) {
      ++counts_.crashes;
      reopen(how, false);
      if (HasFatalFailure()) return;
    }
    process_->disk().failWhen(nullptr);
    process_->disk().setCapacity(UINT64_MAX);
    process_->crashAtFileCall(kNever, Crash::Kill);  // not in what only looks
    note("end {} start {} high watermark {} flushed {}", log_->logEndOffset(), log_->logStartOffset(),
         log_->highWatermark(), model_.flushed());
    check();
    ++counts_.steps;
  }

  void run(uint64_t seed, int steps) {
    start(seed);
    ASSERT_TRUE(log_);
    for (int i = 0; i < steps && !HasFailure(); ++i) {
      SCOPED_TRACE(fmt::format("TIDEMARK_LOG_SEED={} step {}", seed, i));
      step();
    }
    if (HasFailure()) return;
    for (const CleanerStatus& status : manager_->cleanerStatus()) {
      counts_.passes += status.passes;
      EXPECT_EQ(status.uncleanableReason, "");
    }
    options_.config.indexIntervalBytes = config_.indexIntervalBytes;
    expectIndexesTrue();
  }

  // --- each file call once ---
  /// What a broker does with a log in an hour, in the same order each time. Ends early if the process dies.
  void live() {
    const auto goesOn = [this] { return !HasFatalFailure() && alive() && log_ && !log_->offline(); };
    const auto each = [&](int times, const auto& what) {
      for (int i = 0; i < times && goesOn(); ++i) what();
    };
    each(6, [&] { appendAsLeader(); });
    each(1, [&] { endTransaction(); });
    each(1, [&] { flush(); });
    each(3, [&] { appendAsFollower(); });
    each(1, [&] { moveHighWatermark(); });
    each(1, [&] { came(log_->roll()); });
    each(4, [&] { appendAsLeader(); });
    each(1, [&] { truncate(); });
    each(3, [&] { appendAsLeader(); });
    each(1, [&] { moveHighWatermark(); });
    each(1, [&] { deleteRecords(); });
    each(1, [&] { came(log_->roll()); });
    each(1, [&] { world_->runFor(std::chrono::seconds(3)); });
    each(1, [&] { cleanUp(); });
    each(1, [&] { manager_->checkpoint(); });
    each(2, [&] { appendAsLeader(); });
    if (goesOn()) static_cast<void>(manager_->shutdown(BrokerEpoch(1)));
  }

  LogConfig config_;
  int64_t dedupeBytes_ = 0;
  bool cleans_ = true;
  std::unique_ptr<events::Recorder> recorder_;
  std::shared_ptr<LogManager> manager_;
  RecordModel model_;
  int32_t epoch_ = 0;
  int valueNumber_ = 0;
  std::map<int64_t, int32_t> sequences_;
  /// After a truncation that was cut short: what was flushed counts only up to here.
  Offset maybeFlushedTo_{INT64_MAX};
  bool syncFailed_ = false;
  std::vector<std::string> story_;
  Counts counts_;
};

TEST_F(LogModelTest, aLogIsWhatWasAppendedWhateverHappensToIt) {
  uint64_t first = 1;
  uint64_t seeds = seedsOf(700);
  if (const char* one = std::getenv("TIDEMARK_LOG_SEED")) first = std::strtoull(one, nullptr, 10), seeds = 1;
  if (const char* many = std::getenv("TIDEMARK_LOG_SEEDS")) seeds = std::strtoull(many, nullptr, 10);
  for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    story_.clear();
    run(seed, 150);
    if (!HasFailure()) continue;
    for (const std::string& line : story_) fmt::print("{}\n", line);
  }
  fmt::print(
      "{} steps, {} crashes, {} lost tails, {} disk failures, {} passes of living brokers, {} records compacted away, "
      "{} aborted seen, {} segments scanned\n",
      counts_.steps, counts_.crashes, counts_.lostTails, counts_.diskFailures, counts_.passes, counts_.compactedAway,
      counts_.abortedSeen, counts_.segmentsScanned);
  // What a run of so many seeds must have seen, or it proves little.
  if (seeds < 100) return;
  const auto expected = [seeds](int64_t each100) { return static_cast<int64_t>(seeds) * each100 / 100; };
  EXPECT_GT(counts_.crashes, expected(66));
  EXPECT_GT(counts_.lostTails, expected(13));
  EXPECT_GT(counts_.diskFailures, expected(33));
  EXPECT_GT(counts_.passes, expected(33));
  EXPECT_GT(counts_.compactedAway, expected(660));
  EXPECT_GT(counts_.abortedSeen, expected(66));
}

/// Each call that a log makes is once the last one, in the middle of which the process dies or the power goes.
TEST_F(LogModelTest, aCrashInAnyFileCallLeavesTheFrontOfTheLog) {
  struct Way {
    Crash how;
    size_t sectorSize;
  };
  int calls = 0;
  for (const uint64_t seed : {3, 8, 21})
    for (const Way& way : {Way{Crash::Kill, 512}, Way{Crash::PowerLoss, 512}, Way{Crash::PowerLoss, 4096}}) {
      bool died = true;
      for (uint64_t call = 1; died && !HasFailure(); ++call) {
        story_.clear();
        start(seed);
        ASSERT_TRUE(log_);
        SCOPED_TRACE(fmt::format("seed {}, {} in file call {}, sectors of {}", seed,
                                 way.how == Crash::Kill ? "killed" : "without power", call, way.sectorSize));
        process_->disk().setSectorSize(way.sectorSize);
        process_->crashAtFileCall(call, way.how);
        live();
        died = !alive();
        if (!died) break;
        reopen(way.how, false);
        if (HasFatalFailure()) break;
        process_->crashAtFileCall(kNever, Crash::Kill);
        check();
        ++calls;
      }
    }
  EXPECT_GT(calls, 300);
  for (const std::string& line : story_)
    if (HasFailure()) fmt::print("{}\n", line);
}

}  // namespace
}  // namespace tidemark::log
