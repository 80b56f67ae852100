#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "base/crc32c.h"
#include "log/partition_log.h"
#include "log_fixture.h"
#include "platform/native/native.h"

// Counts what this program allocates. Sanitizers have their own operators.
#ifndef TIDEMARK_SANITIZED

static std::atomic<size_t> allocations{0};
static void onAllocation(size_t) {
  allocations.fetch_add(1, std::memory_order_relaxed);
}
#include "base/replaced_new.h"

namespace tidemark::log {
namespace {

/// Allocations of each of many appends, once the log has what it keeps.
size_t allocationsOf(ByteVector batch, ProducerId producer) {
  const auto folder = std::filesystem::temp_directory_path() / std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const auto process = platform::makeNativeProcess({.name = "test", .level = platform::Logger::Level::Error});
  const auto handles = std::make_shared<HandleCache>(16);
  PartitionLogOptions options;
  options.partition = {"orders", PartitionIndex(0)};
  options.directory = (folder / "orders-0").string();
  const auto log = PartitionLog::open({.files = &process->files(),
                                       .clock = &process->clock(),
                                       .logger = &process->log(),
                                       .background = nullptr,
                                       .handles = handles},
                                      options)
                       .value();
  int32_t sequence = 0;
  const auto append = [&] {
    writeBigEndian<int64_t>(batch.data(), 0);
    if (producer.value() >= 0) {
      writeBigEndian<int32_t>(batch.data() + records::kBaseSequenceAt, sequence);
      writeBigEndian<uint32_t>(batch.data() + records::kCrcAt, crc32c(ByteView(batch).subspan(records::kAttributesAt)));
    }
    const auto appended = log->appendAsLeader(batch, LeaderEpoch(0));
    ASSERT_TRUE(appended) << appended.error().error.message;
    sequence += static_cast<int32_t>(appended->lastOffset - appended->firstOffset) + 1;
  };
  for (int i = 0; i < 300; ++i) append();
  const size_t before = allocations.load();
  EXPECT_GT(before, 0u) << "nothing is counted";
  for (int i = 0; i < 1000; ++i) append();
  const size_t counted = allocations.load() - before;
  log->abandon();
  process->kill("done");
  process->awaitStopped();
  std::filesystem::remove_all(folder);
  return counted;
}

TEST(AllocationsTest, anAppendTakesNoMemory) {
  EXPECT_EQ(allocationsOf(makeBatch({.count = 60, .valueSize = 1000}), ProducerId()), 0u);
}

TEST(AllocationsTest, anIdempotentAppendTakesNoMemory) {
  EXPECT_EQ(allocationsOf(makeBatch({.count = 60,
                                     .valueSize = 1000,
                                     .producer = ProducerId(7),
                                     .producerEpoch = ProducerEpoch(0),
                                     .baseSequence = 0}),
                          ProducerId(7)),
            0u);
}

}  // namespace
}  // namespace tidemark::log

#endif
