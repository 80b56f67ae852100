#include <gmock/gmock.h>

#include <map>

#include "disk_contents.h"
#include "golden_case.h"
#include "inspect/repair.h"
#include "log/checkpoints.h"
#include "log/file_names.h"
#include "platform/simulated/world.h"

// Repairs of directories that Apache Kafka wrote.

namespace tidemark::inspect {
namespace {

using testing::HasSubstr;

/// The log directories of a golden case on a simulated disk, which syncs at no cost.
class RepairGoldenTest : public testing::Test {
 protected:
  void unpack(const std::string& name) {
    GoldenCase& golden = GoldenCase::shared(name);
    const std::filesystem::path data = golden.folder() / "data";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
      const std::string path = "/" + std::filesystem::relative(entry.path(), data).string();
      if (entry.is_directory()) {
        ASSERT_TRUE(process_->files().createDirectories(path));
        continue;
      }
      const auto contents = golden.process().files().readFile(entry.path().string(), 64 << 20);
      ASSERT_TRUE(contents);
      write(path, *contents);
    }
    for (const std::string& directory : golden.directories()) directories_.push_back("/" + directory);
  }
  void write(const std::string& path, ByteView contents) {
    const auto file = process_->files().open(path, platform::OpenMode::Truncate);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->writeAt(0, contents));
  }
  ByteVector bytes(const std::string& path) {
    auto read = process_->files().readFile(path, 64 << 20);
    EXPECT_TRUE(read) << path;
    return read ? *std::move(read) : ByteVector();
  }
  /// The .log files of a folder, in order.
  std::vector<std::string> logs(const std::string& folder) {
    std::vector<std::string> found;
    const auto entries = process_->files().list(folder);
    if (entries)
      for (const auto& entry : *entries)
        if (entry.name.ends_with(".log")) found.push_back(folder + "/" + entry.name);
    std::ranges::sort(found);
    return found;
  }
  std::map<std::string, ByteVector> everything(const std::string& directory) {
    return contentsOf(process_->files(), directory);
  }
  RepairSummary repaired(bool apply) {
    steps_.clear();
    const auto summary = repair(*process_, directories_, {.apply = apply, .indexIntervalBytes = 256},
                                [this](const RepairStep& step) { steps_.push_back(step); });
    EXPECT_TRUE(summary) << (summary ? "" : summary.error().message);
    return summary ? *summary : RepairSummary();
  }
  bool planned(RepairStep::Kind kind, const std::string& path) const {
    return std::ranges::any_of(steps_, [&](const RepairStep& step) { return step.kind == kind && step.path == path; });
  }
  std::string told() const {
    std::string text;
    for (const RepairStep& step : steps_)
      text += fmt::format("{} {}: {}\n", repairStepName(step.kind), step.path, step.what);
    return text;
  }

  platform::World world_{
      platform::WorldOptions{.start = platform::WallTime(platform::milliseconds(1'795'963'000'000))}};
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("tool");
  std::vector<std::string> directories_;
  std::vector<RepairStep> steps_;
};

TEST_F(RepairGoldenTest, aTornDirectoryOfApacheKafkaIsGoodAfterwards) {
  unpack("single-torn");
  const RepairSummary summary = repaired(true);
  ASSERT_TRUE(summary.after);
  EXPECT_EQ(summary.after->errors, 0);
  EXPECT_EQ(summary.after->warnings, 0);
  EXPECT_EQ(summary.copies.size(), 2u);
}

TEST_F(RepairGoldenTest, theFolderOfALabStandsForItsLogDirectories) {
  unpack("cluster-clean");
  ASSERT_TRUE(process_->files().createDirectories("/lab"));
  for (std::string& directory : directories_) {
    const std::string inside = "/lab" + directory;
    ASSERT_TRUE(process_->files().rename(directory, inside));
    directory = inside;
  }
  write("/lab/tidemark.json", asBytes("{}"));
  ASSERT_GE(directories_.size(), 3u);
  std::vector<std::string> damaged;
  for (const std::string& directory : directories_) {
    damaged.push_back(directory + "/replication-offset-checkpoint");
    write(damaged.back(), asBytes("0\n1\nnonsense\n"));
  }
  directories_ = {"/lab/"};
  repaired(false);
  for (const std::string& path : damaged) EXPECT_TRUE(planned(RepairStep::Kind::SetAside, path)) << told();
  const RepairSummary done = repaired(true);
  EXPECT_EQ(done.copies.size(), damaged.size());
  ASSERT_TRUE(done.after);
  EXPECT_EQ(done.after->errors, 0);
  EXPECT_EQ(done.after->warnings, 0);
  EXPECT_EQ(repaired(false).steps, 0) << "the copies in it are no log directories";
}

TEST_F(RepairGoldenTest, whoseLogIsCutHasNotStoppedCleanly) {
  unpack("single-clean");
  const std::string marker = "/d0/.kafka_cleanshutdown";
  ASSERT_TRUE(process_->files().exists(marker));
  const ByteVector was = bytes(marker);
  const std::string log = logs("/d0/txn-0").front();
  ByteVector contents = bytes(log);
  contents[contents.size() / 2] ^= 4;
  write(log, contents);
  repaired(false);
  EXPECT_TRUE(planned(RepairStep::Kind::CutLog, log)) << told();
  EXPECT_TRUE(planned(RepairStep::Kind::SetAside, marker)) << told();
  EXPECT_EQ(bytes(marker), was);
  const RepairSummary done = repaired(true);
  EXPECT_TRUE(planned(RepairStep::Kind::SetAside, marker)) << told();
  EXPECT_FALSE(process_->files().exists(marker));
  ASSERT_EQ(done.copies.size(), 1u);
  EXPECT_EQ(bytes(done.copies[0] + "/.kafka_cleanshutdown"), was);
  EXPECT_TRUE(process_->files().exists("/d1/.kafka_cleanshutdown")) << "nothing was changed there";
  ASSERT_TRUE(done.after);
  EXPECT_EQ(done.after->errors, 0);
  EXPECT_EQ(done.after->warnings, 0);
}

TEST_F(RepairGoldenTest, withAMarkerThatCannotBeMovedNoLogIsCut) {
  unpack("single-clean");
  const std::string log = logs("/d0/txn-0").front();
  ByteVector contents = bytes(log);
  contents[contents.size() / 2] ^= 4;
  write(log, contents);
  const auto before = everything("/d0");
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return (call == platform::FileCall::Rename || call == platform::FileCall::Remove) &&
           path == "/d0/.kafka_cleanshutdown";
  });
  EXPECT_GE(repaired(true).impossible, 1);
  EXPECT_EQ(everything("/d0"), before);
}

TEST_F(RepairGoldenTest, aCheckpointThatIsLoweredTakesTheMarkerWithIt) {
  unpack("single-clean");
  const std::string file = "/d0/replication-offset-checkpoint";
  std::string text(asText(bytes(file)));
  const size_t at = text.find("txn 0 ");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 6, "9");
  write(file, asBytes(text));
  repaired(true);
  EXPECT_TRUE(planned(RepairStep::Kind::SetAside, "/d0/.kafka_cleanshutdown")) << told();
  EXPECT_FALSE(process_->files().exists("/d0/.kafka_cleanshutdown"));
}

TEST_F(RepairGoldenTest, aCleanersCheckpointThatCannotBeReadCostsNoSnapshots) {
  unpack("single-clean");
  for (const std::string& directory : directories_) write(directory + "/cleaner-offset-checkpoint", asBytes("garbage"));
  EXPECT_EQ(repaired(true).steps, 2) << told();
  const auto before = everything("/d0");
  const auto beside = everything("/d1");
  EXPECT_EQ(repaired(true).steps, 0) << told();
  EXPECT_EQ(everything("/d0"), before);
  EXPECT_EQ(everything("/d1"), beside);
}

TEST_F(RepairGoldenTest, whereLogsAreGoneTheRestIsLeftAndTold) {
  unpack("single-clean");
  for (const std::string& log : logs("/d0/txn-0")) ASSERT_TRUE(process_->files().remove(log));
  const auto before = everything("/d0");
  const RepairSummary done = repaired(true);
  EXPECT_GE(done.impossible, 1);
  EXPECT_EQ(done.steps, done.impossible) << told();
  EXPECT_THAT(told(), HasSubstr("records are gone"));
  EXPECT_THAT(told(), HasSubstr("other replicas"));
  EXPECT_EQ(everything("/d0"), before);
  VerifySummary verified = *verify(*process_, directories_, {}, [](const Finding&) {});
  EXPECT_GE(verified.errors, 1);
}

TEST_F(RepairGoldenTest, aFolderThatLostAllOfItsFilesIsToldAndLeft) {
  unpack("single-clean");
  for (const auto& [path, contents] : everything("/d0/txn-0"))
    if (!path.ends_with("partition.metadata")) {
      ASSERT_TRUE(process_->files().remove(path));
    }
  const auto before = everything("/d0");
  const RepairSummary done = repaired(true);
  EXPECT_GE(done.impossible, 1);
  EXPECT_EQ(done.steps, done.impossible) << told();
  EXPECT_EQ(everything("/d0"), before);
}

TEST_F(RepairGoldenTest, aLogStartBehindTheEndHidesNothing) {
  unpack("single-clean");
  const std::string file = "/d0/log-start-offset-checkpoint";
  const auto before = everything("/d0/txn-0");
  auto starts = *log::decodeOffsetCheckpoint(std::string(asText(bytes(file))));
  const TopicPartition partition = *log::partitionOfFolder("txn-0");
  starts[partition] = Offset(INT64_MAX);
  write(file, asBytes(log::encodeOffsetCheckpoint(starts)));
  const RepairSummary done = repaired(true);
  EXPECT_TRUE(planned(RepairStep::Kind::CorrectCheckpoint, file)) << told();
  EXPECT_THAT(told(), HasSubstr("txn-0 at 0 to "));
  starts[partition] = Offset(0);
  EXPECT_EQ(*log::decodeOffsetCheckpoint(std::string(asText(bytes(file)))), starts);
  EXPECT_EQ(everything("/d0/txn-0"), before);
  ASSERT_TRUE(done.after);
  EXPECT_EQ(done.after->errors, 0);
}

TEST_F(RepairGoldenTest, aSegmentUnderASecondNameIsSetAsideAlone) {
  unpack("single-clean");
  const auto before = everything("/d0/txn-0");
  const std::vector<std::string> all = logs("/d0/txn-0");
  ASSERT_GE(all.size(), 3u);
  // Between the second segment and the third, as a copy of the second.
  const int64_t second = std::stoll(all[1].substr(all[1].rfind('/') + 1));
  const std::string stray = fmt::format("/d0/txn-0/{:020}.log", second + 1);
  write(stray, bytes(all[1]));
  repaired(true);
  EXPECT_TRUE(planned(RepairStep::Kind::SetAside, stray)) << told();
  EXPECT_FALSE(process_->files().exists(stray));
  const auto after = everything("/d0/txn-0");
  for (const auto& [path, contents] : before)
    if (path.ends_with(".log")) {
      ASSERT_TRUE(after.contains(path)) << path;
      EXPECT_EQ(after.at(path), contents) << path;
    }
}

TEST_F(RepairGoldenTest, aSegmentUnderAnotherNameIsLeftWithAllThatFollows) {
  unpack("single-clean");
  const std::vector<std::string> all = logs("/d0/txn-0");
  ASSERT_GE(all.size(), 3u);
  const int64_t second = std::stoll(all[1].substr(all[1].rfind('/') + 1));
  ASSERT_TRUE(process_->files().rename(all[1], fmt::format("/d0/txn-0/{:020}.log", second + 1)));
  const auto before = everything("/d0/txn-0");
  EXPECT_GE(repaired(true).impossible, 1) << told();
  EXPECT_EQ(everything("/d0/txn-0"), before) << told();
}

TEST_F(RepairGoldenTest, anIndexThatIsBuiltAnewLeavesTheMarker) {
  unpack("single-clean");
  std::string index = logs("/d0/txn-0").front();
  index.replace(index.size() - 4, 4, ".timeindex");
  ASSERT_TRUE(process_->files().remove(index));
  EXPECT_GT(repaired(true).steps, 0);
  EXPECT_TRUE(process_->files().exists("/d0/.kafka_cleanshutdown"));
}

}  // namespace
}  // namespace tidemark::inspect
