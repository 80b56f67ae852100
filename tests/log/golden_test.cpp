#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "log/checkpoints.h"
#include "log/file_names.h"
#include "log/log_manager.h"
#include "log/segment_scan.h"
#include "log_fixture.h"

// Data directories that Apache Kafka 4.4.0 wrote, and what its clients saw after it had opened them.

namespace tidemark::log {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

ByteVector readAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return ByteVector(std::istreambuf_iterator<char>(in), {});
}

json expectations(const std::string& name) {
  return json::parse(std::ifstream(fs::path(TIDEMARK_TEST_DATA) / "data-dirs" / (name + ".expected.json")));
}

/// When Kafka's runs took place, shortly afterwards.
constexpr platform::WallTime kAfterTheRun{platform::milliseconds(1'795'963'000'000)};
constexpr int64_t kDayMs = 86'400'000;

/// Kafka's default; some directories were looked at before Kafka had aged their producers.
int64_t producerExpirationMs = kDayMs;

/// The settings of the topics there (the run's own configuration).
LogConfig configOf(const std::string& topic) {
  LogConfig config;
  const bool internal = topic.starts_with("__");
  config.segmentBytes = internal ? 100 << 20 : 16384;
  config.indexIntervalBytes = topic == "timegaps" ? 128 : internal ? 4096 : 256;
  config.segmentIndexBytes = 4096;
  config.retentionMs = -1;
  config.timestampAfterMaxMs = INT64_MAX;
  config.producerIdExpirationMs = producerExpirationMs;
  return config;
}

class GoldenLogTest : public testing::Test {
 protected:
  GoldenLogTest() { producerExpirationMs = kDayMs; }

  /// Puts the log directories of a case on the simulated disk, as /d0, /d1 …
  void unpack(const std::string& name) {
    const fs::path archive = fs::path(TIDEMARK_TEST_DATA) / "data-dirs" / (name + ".tar.zst");
    const fs::path folder = fs::path(testing::TempDir()) / fmt::format("tidemark-golden-{}-{}", name, ::getpid());
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string command =
        fmt::format("cd '{}' && '{}' -E tar xf '{}'", folder.string(), TIDEMARK_CMAKE, archive.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string path = "/" + fs::relative(entry.path(), folder).string();
      // The quorum's log is not the manager's.
      if (path.find("/__cluster_metadata-0/") != std::string::npos) continue;
      if (entry.is_directory()) {
        ASSERT_TRUE(process_->files().createDirectories(path));
        if (path.find('/', 1) == std::string::npos) directories_.push_back(path);
        continue;
      }
      auto file = process_->files().open(path, platform::OpenMode::CreateNew);
      ASSERT_TRUE(file) << file.error().message;
      ASSERT_TRUE((*file)->writeAt(0, ByteView(readAll(entry.path()))));
    }
    fs::remove_all(folder);
    std::ranges::sort(directories_);
  }

  std::shared_ptr<LogManager> openManager(std::vector<std::string> directories) {
    background_ = process_->createExecutor({.name = "background"});
    LogManagerOptions options;
    options.directories = std::move(directories);
    auto manager = LogManager::open(*process_, background_, nullptr, std::move(options));
    EXPECT_TRUE(manager) << (manager ? "" : manager.error().message);
    const auto loaded = (*manager)->load({.configOf = configOf});
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    world_->runFor(std::chrono::seconds(1));
    return *manager;
  }

  void restart() {
    process_->kill("restart");
    background_.reset();
    process_.reset();
    process_ = world_->createProcess("broker");
  }

  /// Every file below the log directories.
  std::map<std::string, ByteVector> contents() {
    std::map<std::string, ByteVector> all;
    std::vector<std::string> open = directories_;
    while (!open.empty()) {
      const std::string directory = open.back();
      open.pop_back();
      const auto entries = process_->files().list(directory);
      EXPECT_TRUE(entries);
      for (const auto& entry : *entries) {
        const std::string path = directory + "/" + entry.name;
        if (entry.isDirectory)
          open.push_back(path);
        else
          all[path] = process_->files().readFile(path, 1 << 26).value();
      }
    }
    return all;
  }

  enum class Stop { CleanAtFirst, Clean, Unclean };
  void expectFacts(const LogManager& manager, const json& expected, const std::string& replica, Stop stop) {
    int seen = 0;
    for (const json& partition : expected["partitions"]) {
      const TopicPartition name{partition["topic"].get<std::string>(),
                                PartitionIndex(partition["partition"].get<int>())};
      SCOPED_TRACE(fmt::format("{}", name));
      if (partition["replicas"].get<std::string>().find(replica) == std::string::npos) continue;
      const auto log = manager.get(name);
      ASSERT_TRUE(log);
      ++seen;
      EXPECT_EQ(log->topicId().toString(), partition["topicId"].get<std::string>());
      EXPECT_EQ(log->logStartOffset().value(), partition["logStartOffset"].get<int64_t>());
      EXPECT_EQ(log->logEndOffset().value(), partition["highWatermark"].get<int64_t>());
      if (stop != Stop::Unclean) {
        EXPECT_EQ(log->highWatermark(), log->logEndOffset());
      }
      // Once started again, its leader has a new epoch.
      if (stop == Stop::CleanAtFirst && log->logEndOffset() > log->logStartOffset()) {
        EXPECT_EQ(log->latestEpoch().value_or(kNoLeaderEpoch).value(), partition["leaderEpochAtEnd"].get<int>());
      }
      log->updateHighWatermark(log->logEndOffset());
      EXPECT_EQ(log->lastStableOffset().value(), partition["lastStableOffset"].get<int64_t>());
      expectMaxTimestamp(*log, partition);
      expectProducers(*log, partition["producers"]);
      expectReadable(*log);
    }
    EXPECT_GT(seen, 0);
  }

  static void expectMaxTimestamp(const PartitionLog& log, const json& partition) {
    const auto found = log.offsetForTimestamp(kMaxTimestamp);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found ? (*found)->offset.value() : -1, partition["maxTimestampOffset"].get<int64_t>());
    EXPECT_EQ(*found ? (*found)->timestampMs : -1, partition["maxTimestamp"].get<int64_t>());
  }

  static void expectProducers(const PartitionLog& log, const json& expected) {
    std::map<int64_t, ProducerInfo> producers;
    for (const ProducerInfo& info : log.producers()) producers[info.producerId.value()] = info;
    size_t alive = 0;
    for (const json& producer : expected) {
      // Which silent producers a node still knew depends on when it was last restarted.
      const bool open = producer["currentTransactionStartOffset"].get<int64_t>() >= 0;
      const int64_t silent = kAfterTheRun.time_since_epoch().count() - producer["lastTimestamp"].get<int64_t>();
      if (!open && silent >= producerExpirationMs) continue;
      ++alive;
      const auto found = producers.find(producer["producerId"].get<int64_t>());
      ASSERT_NE(found, producers.end()) << producer.dump();
      EXPECT_EQ(found->second.producerEpoch.value(), producer["producerEpoch"].get<int>()) << producer.dump();
      EXPECT_EQ(found->second.lastSequence, producer["lastSequence"].get<int>()) << producer.dump();
      EXPECT_EQ(found->second.lastTimestampMs, producer["lastTimestamp"].get<int64_t>()) << producer.dump();
      EXPECT_EQ(found->second.coordinatorEpoch, producer["coordinatorEpoch"].get<int>()) << producer.dump();
      EXPECT_EQ(found->second.currentTransactionStartOffset.value(),
                producer["currentTransactionStartOffset"].get<int64_t>())
          << producer.dump();
    }
    EXPECT_EQ(producers.size(), alive);
  }

  /// Every batch from start to end, offsets without a step back, every offset found through the index.
  static void expectReadable(const PartitionLog& log) {
    const auto headers = readHeaders(log, log.logStartOffset());
    for (size_t i = 1; i < headers.size(); ++i) EXPECT_GE(headers[i].baseOffset, headers[i - 1].baseOffset);
    const auto batches = log.batches(log.logStartOffset(), SIZE_MAX);
    ASSERT_TRUE(batches);
    EXPECT_EQ(batches->size(), headers.size());
  }

  std::unique_ptr<platform::World> world_ =
      std::make_unique<platform::World>(platform::WorldOptions{.start = kAfterTheRun});
  std::shared_ptr<platform::SimulatedProcess> process_ = world_->createProcess("broker");
  std::shared_ptr<platform::Executor> background_;
  std::vector<std::string> directories_;
};

TEST_F(GoldenLogTest, aCleanlyStoppedDirectoryLoadsAsKafkaSawIt) {
  producerExpirationMs = INT64_MAX;  // as seen before the stop
  unpack("single-clean");
  const auto manager = openManager(directories_);
  EXPECT_TRUE(manager->wasCleanShutdown());
  EXPECT_EQ(manager->metaProperties()[0]->nodeId, NodeId(1));
  EXPECT_EQ(manager->metaProperties()[0]->clusterId, "AAAAAAAAQACAAAAAAAAAAQ");
  const json expected = expectations("single-clean");
  expectFacts(*manager, expected, "1", Stop::CleanAtFirst);
  const auto timegaps = manager->get({"timegaps", PartitionIndex(0)});
  for (const json& lookup : expected["timegapsLookups"]) {
    const auto found = timegaps->offsetForTimestamp(lookup["timestamp"].get<int64_t>()).value();
    EXPECT_EQ(found ? found->offset.value() : -1, lookup["offset"].get<int64_t>()) << lookup.dump();
    if (!found) continue;
    EXPECT_EQ(found->timestampMs, lookup["foundTimestamp"].get<int64_t>()) << lookup.dump();
  }
}

TEST_F(GoldenLogTest, afterAKillItRecoversToWhatKafkaRecoveredTo) {
  unpack("single-unclean");
  const auto manager = openManager(directories_);
  EXPECT_FALSE(manager->wasCleanShutdown());
  expectFacts(*manager, expectations("single-unclean"), "1", Stop::Unclean);
}

TEST_F(GoldenLogTest, aDamagedDirectoryRecoversToWhatKafkaRecoveredTo) {
  unpack("single-torn");
  const auto manager = openManager(directories_);
  expectFacts(*manager, expectations("single-torn"), "1", Stop::Unclean);
  EXPECT_EQ(manager->get({"recompressed", PartitionIndex(0)})->latestEpoch(), LeaderEpoch(0)) << "rebuilt from batches";
}

TEST_F(GoldenLogTest, whatKafkaRecoveredAndStoppedLoads) {
  unpack("single-recovered");
  const auto manager = openManager(directories_);
  EXPECT_TRUE(manager->wasCleanShutdown());
  expectFacts(*manager, expectations("single-unclean"), "1", Stop::Unclean);
}

TEST_F(GoldenLogTest, eachReplicaOfAClusterLoadsAsTheOthers) {
  unpack("cluster-clean");
  const json expected = expectations("cluster-clean");
  const auto all = directories_;
  ASSERT_GE(all.size(), 3u);
  std::map<TopicPartition, std::vector<EpochEntry>> epochs;
  for (const std::string node : {"1", "2", "3"}) {
    SCOPED_TRACE("node " + node);
    std::vector<std::string> own;
    for (const std::string& directory : all)
      if (directory.starts_with("/n" + node)) own.push_back(directory);
    const auto manager = openManager(own);
    expectFacts(*manager, expected, node, Stop::Clean);
    for (const auto& log : manager->all()) {
      std::vector<EpochEntry> entries = log->epochEntries();
      const auto first = epochs.try_emplace(log->partition(), entries).first;
      EXPECT_EQ(first->second, entries) << log->directory();
    }
    restart();
  }
}

TEST_F(GoldenLogTest, indexEntriesEqualARebuildAndLoadingOpensNothingElse) {
  unpack("single-clean");
  const auto manager = openManager(directories_);
  int segments = 0;
  for (const auto& log : manager->all()) {
    for (const SegmentInfo& segment : log->segments()) {
      SCOPED_TRACE(fmt::format("{} {}", log->directory(), segment.baseOffset));
      const auto file = process_->files().open(offsetFilePath(log->directory(), segment.baseOffset, kLogSuffix),
                                               platform::OpenMode::Read);
      auto scan = scanSegment(**file, static_cast<uint64_t>(segment.sizeInBytes), segment.baseOffset,
                              configOf(log->partition().topic).indexIntervalBytes, {});
      ASSERT_TRUE(scan);
      if (scan->rule.takeTimeEntry()) scan->timeEntries.push_back(scan->rule.timeEntry());
      EXPECT_EQ(log->offsetIndexEntries(segment.baseOffset, 0, SIZE_MAX).value(), scan->offsetEntries);
      EXPECT_EQ(log->timeIndexEntries(segment.baseOffset, 0, SIZE_MAX).value(), scan->timeEntries);
      ++segments;
    }
  }
  EXPECT_GT(segments, 50);
}

TEST_F(GoldenLogTest, transactionIndexesRebuiltFromTheBatchesEqualKafkas) {
  unpack("single-clean");
  std::map<std::string, ByteVector> kafkas;
  for (const auto& [path, content] : contents()) {
    if (!path.ends_with(kTxnIndexSuffix)) continue;
    // Where nothing was compacted away the batches still tell all of it.
    if (path.find("/txn-") != std::string::npos || path.find("/__consumer_offsets-") != std::string::npos)
      kafkas[path] = content;
  }
  ASSERT_GE(kafkas.size(), 5u);
  for (const auto& [path, content] : kafkas)
    ASSERT_TRUE((*process_->files().open(path, platform::OpenMode::ReadWrite))->truncate(content.size() - 1));
  const auto manager = openManager(directories_);
  const auto after = contents();
  for (const auto& [path, content] : kafkas) EXPECT_TRUE(after.at(path) == content) << path;
}

TEST_F(GoldenLogTest, openedAndClosedTwiceItStaysByteForByte) {
  unpack("single-clean");
  std::map<std::string, ByteVector> first;
  for (int round = 0; round < 2; ++round) {
    const auto before = contents();
    {
      const auto manager = openManager(directories_);
      ASSERT_TRUE(manager->shutdown(manager->previousBrokerEpoch()));
    }
    auto after = contents();
    for (const auto& [path, content] : before) {
      // Kafka lists checkpoints in hash order; its leaders leave an epoch at the log end that a start forgets.
      if (round == 0 && path.ends_with("-checkpoint")) continue;
      // Those at or below the log start (117 and 200) go at the next start, Kafka's too.
      if (round == 0 && path.find("/trimmed-") != std::string::npos && path.ends_with(kSnapshotSuffix)) continue;
      ASSERT_TRUE(after.contains(path)) << path << " is gone";
      EXPECT_TRUE(after[path] == content) << path << " changed in round " << round;
    }
    for (const auto& [path, content] : after)
      EXPECT_TRUE(before.contains(path)) << path << " is new in round " << round;
    restart();
  }
}

}  // namespace
}  // namespace tidemark::log
