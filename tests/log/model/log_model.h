#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/recorder.h"
#include "log/log_manager.h"
#include "log_fixture.h"
#include "record_model.h"

namespace tidemark::log {

/// The log that the model is of.
inline const TopicPartition kModelled{"orders", PartitionIndex(0)};
/// File calls from now at which nothing crashes any more.
inline constexpr uint64_t kNever = uint64_t{1} << 60;

/// What a run of many seeds came to, all of them together.
struct Counts {
  /// What was done and met, by what it is called where it is demanded (log_model_test.cpp).
  std::map<std::string, int64_t, std::less<>> done;
  int steps = 0;
  int crashes = 0;
  int lostTails = 0;
  int diskFailures = 0;
  int64_t passes = 0;
  int compactedAway = 0;
  int abortedSeen = 0;
  int retries = 0;
  int64_t segmentsScanned = 0;
};

/// One log under a log manager, and the list of records that it is held against. Verbs do something to both and know
/// what must come of it; check() and reopen() hold them against each other. One thread.
class LogModel : public LogFixture {
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

  void did(std::string_view what, int64_t times = 1);
  /// Once for each disk: it counts itself.
  void addDamage();

  // --- life ---
  void start(uint64_t seed);
  void forget();
  CleanerConfig cleanerConfig() const;
  void openManager();

  // --- operations ---
  ModelRecord record(int64_t producer, bool transactional);
  ByteVector batchOf(const std::vector<ModelRecord>& records, const records::BatchOptions& options);
  records::Codec anyCodec() { return chance(70) ? records::Codec::None : static_cast<records::Codec>(below(5)); }
  void remember(std::vector<ModelRecord> records, Offset first, LeaderEpoch epoch);
  /// Producers go on where the log says that they are; whom it no longer knows begins at 0.
  void resumeSequences();
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

  void appendAsLeader();
  void endTransaction();
  /// Several batches of rising epochs, some with gaps where there may be some, as a follower gets them.
  void appendAsFollower();
  void moveHighWatermark();
  void truncate();
  void deleteRecords();
  void cleanUp();
  void flush();
  /// A read in whose middle something else happens to the log: it gets committed records as they are, and none beyond.
  void readMeanwhile();

  // --- what must hold ---
  static void addRecords(ByteView bytes, std::vector<ModelRecord>& found);
  static std::vector<ModelRecord> readAll(const PartitionLog& log, Offset from);

  /// The log holds the model's records, but for what compaction may have taken. Nothing that it must not hold.
  void compare(const std::vector<ModelRecord>& found, Offset start, Offset end);
  void check();

  /// R11: every record lies in its epoch. Without compaction as rebuilt from the records, but for an entry at the log
  /// end and the first one, which is cut at the log start.
  void checkEpochs(const std::vector<ModelRecord>& found);

  /// T2: each of the last five batches of a producer that lie in the log is known as sent before.
  void checkRetries();

  /// T4 and T8 as a read_committed reader notices them.
  void checkStable(const std::vector<ModelRecord>& found);
  std::string lookupStory(const std::vector<ModelRecord>& found);
  /// S2: lookups equal a scan.
  void checkLookups(const std::vector<ModelRecord>& found);

  // --- crashes ---
  /// S5: how many segments the next opening may read, by the files as they are.
  int segmentsThatReachTheRecoveryPoint();
  void checkScanned(int most);
  void reopen(Crash how, bool certain);
  void restartCleanly();
  /// S4: opened and closed without a write it stays byte for byte.
  void closeTwice();

  LogConfig config_;
  int64_t dedupeBytes_ = 0;
  size_t sectorSize_ = 512;
  uint64_t valueBytes_ = 90;  // less than so many
  bool cleans_ = true;
  std::unique_ptr<events::Recorder> recorder_;
  std::shared_ptr<LogManager> manager_;
  RecordModel model_;
  int32_t epoch_ = 0;
  int valueNumber_ = 0;
  std::map<int64_t, int32_t> sequences_;
  /// Added to the ids of producers.
  int64_t producerBase_ = 0;
  /// After a truncation that was cut short: what was flushed counts only up to here.
  Offset maybeFlushedTo_{INT64_MAX};
  bool syncFailed_ = false;
  std::vector<std::string> story_;
  Counts counts_;
};

}  // namespace tidemark::log
