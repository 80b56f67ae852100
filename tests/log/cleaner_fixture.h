#pragma once

#include <gtest/gtest.h>

#include <map>

#include "log/log_manager.h"
#include "log_fixture.h"
#include "records/control.h"

namespace tidemark::log {

inline const TopicPartition kTable{"table", PartitionIndex(0)};
inline const Uuid kTableId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
inline const std::string kFolder = "/data/table-0";

/// A compacted topic of a log manager with a cleaner of its own, in virtual time.
class CleanerFixture : public LogFixture {
 protected:
  CleanerFixture() {
    config_.compact = true;
    config_.remove = false;
    config_.indexIntervalBytes = 256;
    config_.timestampAfterMaxMs = INT64_MAX;
    config_.producerIdExpirationMs = INT64_MAX;
    config_.deleteRetentionMs = 60'000;
    config_.fileDeleteDelayMs = 0;
    startCleaner();
  }

  void startCleaner() {
    background_ = process_->createExecutor({.name = "background"});
    LogManagerOptions options;
    options.directories = {"/data"};
    options.defaults = config_;
    options.cleaner = cleaner_;
    auto manager = LogManager::open(*process_, background_, nullptr, options);
    ASSERT_TRUE(manager) << manager.error().message;
    manager_ = *manager;
    ASSERT_TRUE(manager_->load({}));
    auto log = manager_->getOrCreate(kTable, kTableId, config_);
    ASSERT_TRUE(log) << log.error().message;
    log_ = *log;
    stable();
    settle();
  }
  void stopCleanly() {
    ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
    crashCleaner(Crash::Kill);
  }
  void crashCleaner(Crash how) {
    if (process_->state() != platform::Process::State::Dead) crash(how);
    log_.reset();
    manager_.reset();
    background_.reset();
    restart();
  }
  void settle(platform::Duration duration = std::chrono::seconds(1)) { world_->runFor(duration); }

  int64_t now() { return process_->clock().wallMs(); }
  /// One batch of records "key=value", "key" for a tombstone.
  Offset put(const std::vector<std::string>& lines, records::BatchOptions options = {}) {
    records::BatchBuilder builder(options);
    for (const std::string& line : lines) {
      const size_t split = line.find('=');
      const std::string value = split == std::string::npos ? "" : line.substr(split + 1);
      builder.append(now(), asBytes(line.substr(0, split)),
                     split == std::string::npos ? std::nullopt : std::optional<ByteView>(asBytes(value)));
    }
    ByteVector bytes = builder.build();
    const auto info = log_->appendAsLeader(bytes, LeaderEpoch(0));
    EXPECT_TRUE(info) << (info ? "" : info.error().error.message);
    return info ? info->lastOffset : kNoOffset;
  }
  records::BatchOptions from(int64_t producer, bool transactional = false) {
    return {.producerId = ProducerId(producer),
            .producerEpoch = ProducerEpoch(0),
            .baseSequence = sequences_[producer],
            .transactional = transactional};
  }
  void putFrom(int64_t producer, const std::vector<std::string>& lines, bool transactional = false) {
    put(lines, from(producer, transactional));
    sequences_[producer] += static_cast<int32_t>(lines.size());
  }
  void mark(int64_t producer, bool commit) {
    ByteVector marker = records::buildEndTxnMarker(ProducerId(producer), ProducerEpoch(0),
                                                   {.commit = commit, .coordinatorEpoch = 0}, now());
    ASSERT_TRUE(log_->appendAsLeader(marker, LeaderEpoch(0), {.origin = records::Origin::Coordinator}));
  }
  void stable() { log_->updateHighWatermark(log_->logEndOffset()); }
  /// Closes the active segment, which may be cleaned then.
  void close() {
    ASSERT_TRUE(log_->roll());
    stable();
  }
  /// Makes the clean part so small that the next closed segment is due.
  void alwaysDue() {
    config_.minCleanableDirtyRatio = 0;
    log_->updateConfig(config_);
  }

  static std::vector<records::BatchHeader> headersIn(const PartitionLog& log) {
    std::vector<records::BatchHeader> headers;
    const auto batches = log.batches(Offset(0), SIZE_MAX);
    for (const BatchInfo& batch : batches.value()) headers.push_back(batch.header);
    return headers;
  }
  std::vector<records::BatchHeader> headers() { return headersIn(*log_); }
  /// "offset:key=value" of every data record, as a reader who reads from the start sees them.
  std::vector<std::string> lines(FetchIsolation isolation = FetchIsolation::LogEnd) {
    std::vector<std::string> all;
    Offset from = log_->logStartOffset();
    while (true) {
      const auto bytes = log_->readBytes(from, 1 << 20, isolation);
      EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
      if (!bytes || bytes->empty()) return all;
      records::BatchCursor cursor(*bytes, records::BatchCursor::Check::Checksum);
      while (cursor.next() == records::Step::Next) {
        from = cursor.batch().header.nextOffset();
        if (cursor.batch().header.isControl()) continue;
        EXPECT_TRUE(records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
          all.push_back(fmt::format("{}:{}{}", record.offset, asText(*record.key),
                                    record.value ? fmt::format("={}", asText(*record.value)) : ""));
        }));
      }
      EXPECT_EQ(cursor.position(), bytes->size());
    }
  }
  std::vector<int64_t> bases() {
    std::vector<int64_t> all;
    for (const SegmentInfo& info : log_->segments()) all.push_back(info.baseOffset.value());
    return all;
  }
  CleanerStatus status() { return manager_->cleanerStatus().at(0); }
  std::string checkpoint() { return text("/data/cleaner-offset-checkpoint"); }

  LogConfig config_;
  CleanerConfig cleaner_;
  std::shared_ptr<LogManager> manager_;
  std::map<int64_t, int32_t> sequences_;
};

}  // namespace tidemark::log
