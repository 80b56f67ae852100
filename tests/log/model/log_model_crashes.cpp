#include <algorithm>
#include <set>

#include "log/checkpoints.h"
#include "log/file_names.h"
#include "log_model.h"

// A modelled log dies or is stopped, and comes back: S1, S4 and S5.

namespace tidemark::log {

int LogModel::segmentsThatReachTheRecoveryPoint() {
  if (files().exists("/data/" + std::string(kCleanShutdownFile))) return 0;
  Offset point(0);
  const auto text = readTextFile(files(), "/data/" + std::string(kRecoveryPointFile));
  if (text && *text)
    if (const auto offsets = decodeOffsetCheckpoint(**text); offsets && offsets->contains(kModelled))
      point = offsets->at(kModelled);
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

void LogModel::checkScanned(int most) {
  std::vector<events::Event> told;
  recorder_->drain(told);
  int scanned = 0;
  for (const events::Event& event : told)
    if (const auto* recovered = std::get_if<events::LogRecovered>(&event.payload))
      scanned += recovered->segmentsScanned;
  ASSERT_LE(scanned, most);
  counts_.segmentsScanned += scanned;
}

void LogModel::reopen(Crash how, bool certain) {
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
  // What a lower log start brings back may bear sequences that were used anew: no producer that bumps its epoch does
  // that.
  if (log_->logStartOffset() < model_.start()) producerBase_ += 3;
  model_.adopt(log_->logStartOffset(), end);
  maybeFlushedTo_ = Offset(INT64_MAX);
  // It comes from a checkpoint, and may be older than what its readers saw.
  log_->updateHighWatermark(std::max(model_.highWatermark(), log_->logStartOffset()));
  model_.raiseHighWatermark(log_->highWatermark());
  resumeSequences();
  ++epoch_;
}

void LogModel::restartCleanly() {
  const auto stopped = manager_->shutdown(BrokerEpoch(1));
  if (!alive() || log_->offline()) return;
  ASSERT_TRUE(stopped) << stopped.error().message;
  model_.noteFlushed();
  const bool losesPower = chance(50);
  if (losesPower) process_->losePower();
  reopen(Crash::Kill, false);
  if (!log_ || HasFatalFailure()) return;
  EXPECT_TRUE(manager_->wasCleanShutdown());
  did(losesPower ? "clean restart and power loss" : "clean restart");
  if (chance(30)) closeTwice();
}

void LogModel::closeTwice() {
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
  did("opened and closed twice");
  cleans_ = true;
  manager_->configureCleaner(cleanerConfig());
}

}  // namespace tidemark::log
