#include "cluster/file_listing.h"

#include <gmock/gmock.h>

#include <array>

#include <fmt/format.h>

#include "cluster_fixture.h"
#include "faults/fault_json.h"

namespace tidemark::cluster {
namespace {

class FileListingTest : public testing::Test {
 protected:
  void SetUp() override {
    make("/a/orders-1", "00.log", 3);
    make("/a/orders-0", "00.log", 2);
    make("/a", "meta.properties", 1);
    make("/b/orders-2", "00.log", 0);
  }
  void make(const std::string& folder, const std::string& name, uint64_t size) {
    ASSERT_TRUE(files_.createDirectories(folder));
    const auto file = files_.open(folder + "/" + name, platform::OpenMode::CreateNew);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->truncate(size));
  }
  /// "path size" of files, "path/" of folders.
  static std::vector<std::string> textOf(const FileListing& listing) {
    std::vector<std::string> all;
    for (const FileListing::Entry& each : listing.entries)
      all.push_back(each.isDirectory ? each.path + "/" : fmt::format("{} {}", each.path, each.sizeInBytes));
    return all;
  }

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("tool");
  platform::FileSystem& files_ = process_->files();
};

TEST_F(FileListingTest, EachFolderStandsBeforeWhatIsInIt) {
  const auto all = listBelow(files_, std::array<std::string, 2>{"/a", "/b"}, SIZE_MAX);
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->cut);
  EXPECT_THAT(textOf(*all),
              testing::ElementsAre("/a/meta.properties 1", "/a/orders-0/", "/a/orders-0/00.log 2", "/a/orders-1/",
                                   "/a/orders-1/00.log 3", "/b/orders-2/", "/b/orders-2/00.log 0"));
}

TEST_F(FileListingTest, NoMoreIsListedThanIsWanted) {
  const auto listed = [&](size_t most) { return listBelow(files_, std::array<std::string, 2>{"/a", "/b"}, most); };
  EXPECT_THAT(textOf(*listed(3)), testing::ElementsAre("/a/meta.properties 1", "/a/orders-0/", "/a/orders-0/00.log 2"));
  EXPECT_TRUE(listed(3)->cut);
  EXPECT_TRUE(listed(6)->cut);
  EXPECT_FALSE(listed(7)->cut);
}

TEST_F(FileListingTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_FALSE(listBelow(files_, std::array<std::string, 2>{"/a", "/c"}, SIZE_MAX));
}

class CrowdedBrokerTest : public ClusterTest {
 protected:
  /// What nobody is of what a fault names.
  std::vector<std::string> unmatchedBy(std::string_view fault) {
    std::vector<std::string> all;
    bool answered = false;
    lab_.cluster().placeFault(faults::parseFault(fault).value(), [&](const Result<Cluster::PlacedFault>& placed) {
      lab_.change([&] {
        answered = true;
        ASSERT_TRUE(placed) << placed.error().message;
        for (const faults::Unmatched& each : placed->unmatched) all.push_back(faults::textOf(each, placed->who));
      });
    });
    EXPECT_TRUE(await([&] { return answered; }));
    return all;
  }
};

TEST_F(CrowdedBrokerTest, APathIsNotSaidToBeMissingWhereThereIsTooMuchToLookAt) {
  ASSERT_LAUNCHED(options(1));
  const char* fault = R"({"kind":"disk-error","target":"broker 1","path":"no-such-file"})";
  EXPECT_THAT(unmatchedBy(fault), testing::ElementsAre("broker 1 has no file or folder no-such-file"));
  platform::FileSystem& disk = files("broker-1");
  for (int i = 0; i < 10'000; ++i)
    ASSERT_TRUE(disk.createDirectories(fmt::format("{}/broker-1/orders-{}", kFolder, i)));
  EXPECT_THAT(unmatchedBy(fault), testing::ElementsAre());
}

}  // namespace
}  // namespace tidemark::cluster
