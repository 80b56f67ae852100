#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/partition_log.h"
#include "platform/simulated/world.h"
#include "records/batch_builder.h"

namespace tidemark::log {

/// The file of the fixture's first segment.
inline const std::string kFirstLog = "/data/orders-0/00000000000000000000.log";

/// A batch of `count` records, "key-n" → "value-n" padded to `valueSize`, one timestamp a record from `firstTimestamp`.
struct BatchSpec {
  int count = 1;
  size_t valueSize = 10;
  int64_t firstTimestampMs = 1'700'000'000'000;
  Offset baseOffset{0};
  LeaderEpoch epoch{0};
  ProducerId producer;
  ProducerEpoch producerEpoch;
  int32_t baseSequence = records::kNoSequence;
  bool transactional = false;
  records::Codec codec = records::Codec::None;
};
ByteVector makeBatch(const BatchSpec& spec);

/// All batches of a log by reading it as a client does, header by header.
std::vector<records::BatchHeader> readHeaders(const PartitionLog& log, Offset from,
                                              FetchIsolation isolation = FetchIsolation::LogEnd);

/// A log on a simulated disk that can crash.
class LogFixture : public testing::Test {
 protected:
  using Crash = platform::SimulatedProcess::Crash;

  LogFixture() { startWorld(1); }
  void startWorld(uint64_t seed);
  /// A new process on the same disk.
  void restart();
  void crash(Crash how);

  platform::FileSystem& files() { return process_->files(); }
  LogContext context();
  Result<std::shared_ptr<PartitionLog>> tryOpen(bool clean = false);
  /// Opens the log into log_; fails the test if that fails.
  void open(bool clean = false);
  void crashAndReopen(Crash how = Crash::Kill) {
    crash(how);
    restart();
    open();
  }
  /// Appends as leader of `spec.epoch`; what was refused fails the test.
  AppendInfo append(const BatchSpec& spec = {});
  ErrorCode appendError(const BatchSpec& spec);
  /// Appends with offsets and epoch of `spec`.
  AppendInfo appendAsFollower(const BatchSpec& spec);
  void expectEnd(int64_t offset) { EXPECT_EQ(log_->logEndOffset(), Offset(offset)); }
  /// Every index entry names a batch that is there, and equals what a rebuild gives if `rebuilt`.
  void expectIndexesTrue(bool rebuilt = false);
  std::vector<std::string> names(const std::string& directory = "/data/orders-0");
  std::string text(const std::string& path);
  ByteVector bytes(const std::string& path);

  std::unique_ptr<platform::World> world_;
  std::shared_ptr<platform::SimulatedProcess> process_;
  std::shared_ptr<HandleCache> handles_;
  std::shared_ptr<platform::Executor> background_;
  PartitionLogOptions options_;
  std::shared_ptr<PartitionLog> log_;
};

}  // namespace tidemark::log
