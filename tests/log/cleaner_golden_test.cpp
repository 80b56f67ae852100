#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "log/file_names.h"
#include "log/log_manager.h"
#include "platform/simulated/world.h"

// One log before and after Apache Kafka 4.4.0 compacted it: nine segments that clients wrote with idempotent producers
// (`dirty`), and what Kafka's cleaner made of them (`kafka`). Ours must make the same of them, byte for byte.

namespace tidemark::log {
namespace {

namespace fs = std::filesystem;

ByteVector contentOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return ByteVector(std::istreambuf_iterator<char>(in), {});
}

TEST(CleanerGoldenTest, aLogIsCompactedByteForByteAsKafkaCompactsIt) {
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("tidemark-compaction-{}", ::getpid());
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path archive = fs::path(TIDEMARK_TEST_DATA) / "compaction" / "kafka-4.4.tar.zst";
  const std::string command =
      fmt::format("cd '{}' && '{}' -E tar xf '{}'", folder.string(), TIDEMARK_CMAKE, archive.string());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;

  platform::World world({.start = platform::WallTime(platform::milliseconds(1'796'022'900'000))});
  const auto process = world.createProcess("broker");
  ASSERT_TRUE(process->files().createDirectories("/data/tbl-0"));
  for (const auto& entry : fs::directory_iterator(folder / "compaction" / "dirty" / "tbl-0")) {
    const auto file =
        process->files().open("/data/tbl-0/" + entry.path().filename().string(), platform::OpenMode::CreateNew);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE((*file)->writeAt(0, ByteView(contentOf(entry.path()))));
  }
  const auto background = process->createExecutor({.name = "background"});
  LogManagerOptions options;
  options.directories = {"/data"};
  options.defaults.compact = true;
  options.defaults.remove = false;
  options.defaults.minCleanableDirtyRatio = 0.01;
  options.defaults.indexIntervalBytes = 300;
  options.defaults.fileDeleteDelayMs = 0;
  const auto manager = LogManager::open(*process, background, nullptr, options);
  ASSERT_TRUE(manager) << manager.error().message;
  ASSERT_TRUE((*manager)->load({}));
  const auto log = (*manager)->get({"tbl", PartitionIndex(0)});
  ASSERT_TRUE(log);
  log->updateHighWatermark(log->logEndOffset());
  world.runFor(std::chrono::seconds(5));
  ASSERT_EQ((*manager)->cleanerStatus().at(0).passes, 1);

  int compared = 0;
  for (const auto& entry : fs::directory_iterator(folder / "compaction" / "kafka" / "tbl-0")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kLogSuffix) && !name.ends_with(kOffsetIndexSuffix) && !name.ends_with(kTimeIndexSuffix))
      continue;
    // The last time index entry of the active segment comes with a clean stop.
    if (name.starts_with("00000000000000002407") && name.ends_with(kTimeIndexSuffix)) continue;
    const auto ours = process->files().readFile("/data/tbl-0/" + name, 1 << 20);
    ASSERT_TRUE(ours) << ours.error().message;
    EXPECT_TRUE(*ours == contentOf(entry.path())) << name << " differs: " << ours->size() << " bytes";
    ++compared;
  }
  EXPECT_EQ(compared, 5);
  const auto entries = process->files().list("/data/tbl-0");
  const auto segments =
      std::ranges::count_if(entries.value(), [](const auto& entry) { return entry.name.ends_with(kLogSuffix); });
  EXPECT_EQ(segments, 2);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tidemark::log
