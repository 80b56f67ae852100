#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "inspect/partition_view.h"
#include "log/partition_log.h"
#include "platform/simulated/world.h"
#include "records/batch_builder.h"

namespace tidemark::inspect {

/// A folder /data/orders-0 on a simulated disk, written by a log of ours.
class InspectFixture : public testing::Test {
 protected:
  struct Spec {
    int count = 2;
    size_t valueSize = 100;
    int64_t firstTimestampMs = 1'700'000'000'000;
    records::Codec codec = records::Codec::None;
    ProducerId producer;
    ProducerEpoch producerEpoch;
    int32_t baseSequence = records::kNoSequence;
    bool transactional = false;
  };

  InspectFixture();
  /// Opens (or makes) the log as a broker would.
  void openLog(bool clean = true);
  /// Appends as leader of `epoch_`.
  void append(const Spec& spec);
  void append() { append(Spec()); }
  /// `count` batches, a second apart.
  void appendMany(int count);
  void endTransaction(ProducerId producer, ProducerEpoch epoch, bool commit);
  /// As after a clean stop.
  void closeLog();
  std::shared_ptr<const PartitionView> view(const std::string& path = "/data/orders-0");

  ByteVector bytes(const std::string& path);
  void write(const std::string& path, ByteView bytes);
  /// Turns one bit of a file.
  void flip(const std::string& path, uint64_t position, uint8_t mask = 1);
  /// Writes `value` big-endian.
  template <class Integer>
  void poke(const std::string& path, uint64_t position, Integer value) {
    ByteVector all = bytes(path);
    writeBigEndian(all.data() + position, value);
    write(path, all);
  }
  static std::string file(int64_t base, std::string_view suffix);

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("tool");
  std::shared_ptr<log::HandleCache> handles_ = std::make_shared<log::HandleCache>(8);
  log::PartitionLogOptions options_;
  LeaderEpoch epoch_{0};
  int64_t nextTimestampMs_ = 1'700'000'000'000;
  std::shared_ptr<log::PartitionLog> log_;
};

}  // namespace tidemark::inspect
