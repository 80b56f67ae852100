#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include <fmt/format.h>

#include "golden_case.h"
#include "inspect/check.h"
#include "inspect/dump_printer.h"
#include "log/checkpoints.h"

// Every directory that Apache Kafka 4.4 wrote is as it should be, or has exactly the damage that it is documented to
// have.

namespace tidemark::inspect {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Kind and file, without the folder the case was unpacked into.
std::vector<std::string> problems(GoldenCase& golden, const std::vector<std::string>& directories,
                                  VerifySummary* summary = nullptr) {
  std::vector<std::string> paths;
  const std::string data = (golden.folder() / "data").string() + "/";
  for (const std::string& name : directories) paths.push_back(data + name);
  std::vector<std::string> found;
  const auto verified = verify(golden.process(), paths, {}, [&](const Finding& finding) {
    if (finding.severity == Severity::Note) return;
    EXPECT_TRUE(finding.file.starts_with(data));
    found.push_back(fmt::format("{} {}", findingName(finding.kind), finding.file.substr(data.size())));
    if (::getenv("TIDEMARK_SHOW_FINDINGS") != nullptr) fmt::print("{}\n", findingText(finding));
  });
  EXPECT_TRUE(verified) << (verified ? "" : verified.error().message);
  if (summary != nullptr && verified) *summary = *verified;
  std::ranges::sort(found);
  return found;
}

class CleanGoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(CleanGoldenTest, isAsItShouldBe) {
  GoldenCase& golden = GoldenCase::shared(GetParam());
  ASSERT_FALSE(golden.empty());
  // Log directories of one node, or one of each of three.
  const bool oneNode = golden.directories().front().starts_with("d");
  VerifySummary summary;
  if (oneNode) {
    EXPECT_THAT(problems(golden, golden.directories(), &summary), IsEmpty());
    EXPECT_GT(summary.partitions, 0);
    return;
  }
  for (const std::string& directory : golden.directories()) {
    EXPECT_THAT(problems(golden, {directory}, &summary), IsEmpty()) << directory;
    EXPECT_GT(summary.batches, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CleanGoldenTest,
                         testing::Values("single-formatted", "single-clean", "single-unclean", "single-recovered",
                                         "cluster-clean", "diverge-before", "diverge-after", "old-formatted",
                                         "old-clean", "upgraded-clean"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(TornGoldenTest, eachDamageIsFoundWhereItWasDone) {
  GoldenCase& golden = GoldenCase::shared("single-torn");
  EXPECT_THAT(
      problems(golden, golden.directories()),
      ElementsAre(
          "batch-checksum-bad d1/codec-lz4-0/00000000000000000000.log",
          "batch-offsets-bad d0/codec-snappy-0/00000000000000000000.log",
          "checkpoint-false d1/log-start-offset-checkpoint", "checkpoint-false d1/recovery-point-offset-checkpoint",
          "checkpoint-false d1/replication-offset-checkpoint",
          "epoch-file-damaged d1/recompressed-0/leader-epoch-checkpoint",
          "index-entry-false d1/trimmed-1/00000000000000000160.index",
          "index-entry-false d1/trimmed-1/00000000000000000160.timeindex",
          "index-missing d1/timegaps-0/00000000000000000328.index",
          "index-missing d1/timegaps-0/00000000000000000328.timeindex",
          "index-size-odd d1/idem-1/00000000000000000000.index", "log-torn d0/codec-none-0/00000000000000000276.log",
          "log-torn d1/codec-gzip-0/00000000000000000000.log", "log-torn d1/trimmed-1/00000000000000000160.log",
          "snapshot-beyond-end d1/trimmed-1/00000000000000000200.snapshot",
          "snapshot-damaged d1/txn-1/00000000000000000102.snapshot",
          "trailing-zeros d0/codec-zstd-0/00000000000000000000.log"));
}

/// Kafka's recovery keeps a batch whose offsets are there already.
TEST(TornGoldenTest, afterKafkasRecoveryOnlyTheBatchThatIsThereTwiceIsLeft) {
  GoldenCase& golden = GoldenCase::shared("single-torn-recovered");
  EXPECT_THAT(problems(golden, golden.directories()),
              ElementsAre("batch-offsets-bad d0/codec-snappy-0/00000000000000000000.log"));
}

TEST(VerifyGoldenTest, directoriesOfSeveralNodesAreToldAndCheckedForThemselves) {
  GoldenCase& golden = GoldenCase::shared("cluster-clean");
  ASSERT_EQ(golden.directories().size(), 3u);
  VerifySummary summary;
  EXPECT_THAT(problems(golden, golden.directories(), &summary),
              ElementsAre("directories-disagree n2/meta.properties", "directories-disagree n3/meta.properties"));
  EXPECT_EQ(summary.directories, 3);
  int64_t partitions = 0;
  for (const std::string& directory : golden.directories()) {
    VerifySummary alone;
    problems(golden, {directory}, &alone);
    partitions += alone.partitions;
  }
  EXPECT_EQ(summary.partitions, partitions);
}

TEST(VerifyGoldenTest, theSameDirectoryTwiceIsStillToldAsSuch) {
  GoldenCase& golden = GoldenCase::shared("cluster-clean");
  EXPECT_THAT(problems(golden, {"n1", "n2", "n1"}), testing::Contains("directories-disagree n1/meta.properties"));
}

TEST(VerifyGoldenTest, theFolderOfALabStandsForItsLogDirectories) {
  GoldenCase golden("cluster-clean");
  const std::filesystem::path data = golden.folder() / "data";
  for (const std::string& name : golden.directories())
    std::filesystem::rename(data / name, data / ("broker-" + name.substr(1)));
  std::ofstream(data / "tidemark.json") << "{}";
  std::filesystem::create_directories(data / "settings");
  std::vector<std::string> found;
  const auto verified = verify(golden.process(), {data.string() + "/"}, {}, [&](const Finding& finding) {
    if (finding.severity != Severity::Note) found.push_back(findingText(finding));
  });
  ASSERT_TRUE(verified);
  EXPECT_THAT(found, IsEmpty());
  EXPECT_EQ(verified->directories, 3);
  EXPECT_GT(verified->partitions, 3);
}

TEST(VerifyGoldenTest, aDirectoryOfALabThatIsOfAnotherClusterOrNodeIsTold) {
  GoldenCase golden("cluster-clean");
  const std::filesystem::path data = golden.folder() / "data";
  for (const std::string& name : golden.directories())
    std::filesystem::rename(data / name, data / ("broker-" + name.substr(1)));
  const auto meta = log::readMetaProperties(golden.process().files(), (data / "broker-1").string());
  ASSERT_TRUE(meta && *meta);
  std::ofstream(data / "tidemark.json") << R"({"clusterId": ")" << (*meta)->clusterId << R"("})";
  const auto problems = [&](const std::filesystem::path& directory) {
    std::vector<std::string> found;
    EXPECT_TRUE(verify(golden.process(), {directory.string()}, {}, [&](const Finding& finding) {
      if (finding.severity != Severity::Note)
        found.push_back(fmt::format("{} {}: {}", findingName(finding.kind), finding.expected, finding.found));
    }));
    return found;
  };
  EXPECT_THAT(problems(data), IsEmpty());
  log::MetaProperties other = **meta;
  other.clusterId = "AAAAAAAAAAAAAAAAAAAAAA";
  ASSERT_TRUE(log::writeMetaProperties(golden.process().files(), (data / "broker-1").string(), other));
  const auto ofCluster = ElementsAre(fmt::format("directories-disagree cluster.id {} as in {}/tidemark.json: {}",
                                                 (*meta)->clusterId, data.string(), other.clusterId));
  EXPECT_THAT(problems(data), ofCluster);
  EXPECT_THAT(problems(data / "broker-1"), ofCluster) << "alone as well";
  other = **meta;
  other.nodeId = NodeId(7);
  ASSERT_TRUE(log::writeMetaProperties(golden.process().files(), (data / "broker-1").string(), other));
  EXPECT_THAT(problems(data / "broker-1"),
              ElementsAre("directories-disagree node.id 1, by the name of the directory: 7"));
}

TEST(VerifyGoldenTest, aFolderOfSomethingElseIsOneError) {
  GoldenCase& golden = GoldenCase::shared("single-formatted");
  const std::filesystem::path folder = golden.folder() / "etc";
  std::filesystem::create_directories(folder / "X11");
  std::filesystem::create_directories(folder / "release-7");
  std::ofstream(folder / "hosts") << "127.0.0.1 localhost";
  std::ofstream(folder / "release-7" / "notes") << "none";
  std::vector<std::string> found;
  const auto verified = verify(golden.process(), {folder.string()}, {},
                               [&](const Finding& finding) { found.push_back(findingText(finding)); });
  ASSERT_TRUE(verified);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], testing::HasSubstr("nothing else of a log directory"));
  EXPECT_EQ(verified->errors, 1);
}

TEST(VerifyGoldenTest, topicIdsAreThoseOfTheMetadataLog) {
  GoldenCase golden("single-clean");
  const auto d0 = golden.folder() / "data" / "d0";
  std::filesystem::rename(d0 / "codec-none-0" / "partition.metadata", d0 / "kept");
  std::filesystem::rename(d0 / "codec-zstd-0" / "partition.metadata", d0 / "codec-none-0" / "partition.metadata");
  std::filesystem::rename(d0 / "kept", d0 / "codec-zstd-0" / "partition.metadata");
  EXPECT_THAT(problems(golden, golden.directories()),
              ElementsAre("partition-file-damaged d0/codec-none-0/partition.metadata",
                          "partition-file-damaged d0/codec-zstd-0/partition.metadata"));
}

TEST(VerifyGoldenTest, whatIsNoDirectoryIsRefused) {
  GoldenCase& golden = GoldenCase::shared("single-formatted");
  const auto verified = verify(golden.process(), {"/no/such/place"}, {}, [](const Finding&) {});
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, ErrorCode::InvalidRequest);
}

}  // namespace
}  // namespace tidemark::inspect
