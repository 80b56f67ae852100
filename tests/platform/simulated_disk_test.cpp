#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "platform/simulated/world.h"

namespace tidemark::platform {
namespace {

using testing::HasSubstr;

class SimulatedDiskTest : public testing::Test {
 protected:
  void make(uint64_t seed, bool strict = true) {
    world_ = std::make_unique<World>(WorldOptions{.seed = seed});
    process_ = world_->createProcess("one");
    process_->disk().setStrictDirectories(strict);
  }
  void restart() {
    process_ = nullptr;
    process_ = world_->createProcess("one");
  }
  void losePowerAndRestart() {
    process_->losePower();
    restart();
  }
  FileSystem& files() { return process_->files(); }
  std::shared_ptr<File> open(const std::string& path, OpenMode mode = OpenMode::Create) {
    auto file = files().open(path, mode);
    EXPECT_TRUE(file) << file.error().message;
    return file.value_or(nullptr);
  }
  std::string contents(const std::string& path) {
    const auto bytes = files().readFile(path, 1 << 30);
    return bytes ? std::string(asText(*bytes)) : "<none>";
  }
  /// A file that is certain to survive with these contents.
  void keep(const std::string& path, const std::string& text) { ASSERT_TRUE(files().replaceFile(path, asBytes(text))); }

  std::unique_ptr<World> world_;
  std::shared_ptr<SimulatedProcess> process_;
};

TEST_F(SimulatedDiskTest, aKillLosesNothing) {
  make(1);
  ASSERT_TRUE(open("/a")->writeAt(0, asBytes("unsynced")));
  process_->kill("to see");
  restart();
  EXPECT_EQ(contents("/a"), "unsynced");
}

TEST_F(SimulatedDiskTest, aPowerLossKeepsWhatWasSynced) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    make(seed);
    keep("/a", "certain");
    auto file = open("/a");
    ASSERT_TRUE(file->writeAt(7, asBytes(" too")));
    ASSERT_TRUE(file->sync());
    ASSERT_TRUE(file->writeAt(11, asBytes(" perhaps")));
    losePowerAndRestart();
    const auto after = contents("/a");
    EXPECT_EQ(after.substr(0, 11), "certain too");
    EXPECT_LE(after.size(), 19u);
  }
}

TEST_F(SimulatedDiskTest, aLargerSectorIsWrittenWholeOrNotAtAll) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    make(seed);
    process_->disk().setSectorSize(4096);
    keep("/a", std::string(16'384, 'o'));
    ASSERT_TRUE(open("/a")->writeAt(0, asBytes(std::string(16'384, 'n'))));
    losePowerAndRestart();
    const auto after = contents("/a");
    ASSERT_EQ(after.size(), 16'384u);
    std::string sectors;
    for (size_t at = 0; at < after.size(); at += 4096) {
      sectors += after[at];
      ASSERT_EQ(after.substr(at, 4096), std::string(4096, after[at])) << at << " in " << seed;
    }
    seen.insert(sectors);
  }
  EXPECT_TRUE(seen.contains("nono") || seen.contains("onon") || seen.contains("oonn"))
      << "later ones without earlier ones";
  EXPECT_GT(seen.size(), 8u) << "of 16";
}

TEST_F(SimulatedDiskTest, aPowerLossTearsWhatWasNotSyncedAtSectors) {
  std::set<std::string> seen;
  bool torn = false;
  bool shorter = false;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    make(seed);
    keep("/a", std::string(3000, 'o'));
    auto file = open("/a");
    ASSERT_TRUE(file->writeAt(0, asBytes(std::string(6000, 'n'))));
    losePowerAndRestart();
    const auto after = contents("/a");
    EXPECT_GE(after.size(), 3000u);
    EXPECT_LE(after.size(), 6000u);
    shorter |= after.size() < 6000;
    seen.insert(after);
    for (size_t i = 0; i < after.size(); ++i) {
      ASSERT_TRUE(after[i] == 'n' || (i < 3000 ? after[i] == 'o' : after[i] == '\0')) << i << " in " << seed;
      // Within a sector all is old or all is new.
      if (i % 512 != 0 && i != 3000) {
        ASSERT_EQ(after[i], after[i - 1]) << i << " in " << seed;
      }
    }
    torn |= after.find('n') != std::string::npos && after.find_first_not_of('n') != std::string::npos;
  }
  EXPECT_TRUE(torn);
  EXPECT_TRUE(shorter);
  EXPECT_GT(seen.size(), 30u);
}

TEST_F(SimulatedDiskTest, anUnsyncedTruncationMayBeUndoneButNeverInventsBytes) {
  std::set<std::string> seen;
  const std::string old = std::string(5000, 'a') + std::string(5000, 'b');
  for (uint64_t seed = 0; seed < 40; ++seed) {
    make(seed);
    keep("/a", old);
    ASSERT_TRUE(open("/a")->truncate(2000));
    losePowerAndRestart();
    const auto after = contents("/a");
    EXPECT_GE(after.size(), 2000u);
    EXPECT_TRUE(after == old.substr(0, after.size())) << seed;
    seen.insert(after);
  }
  EXPECT_TRUE(seen.contains(old));
  EXPECT_TRUE(seen.contains(old.substr(0, 2000)));
}

TEST_F(SimulatedDiskTest, namesAreLostUntilTheirDirectoryIsSynced) {
  make(3);
  keep("/kept", "kept");
  ASSERT_TRUE(files().createDirectories("/d/e"));
  ASSERT_TRUE(files().syncDirectory("/"));
  auto file = open("/new");
  ASSERT_TRUE(file->writeAt(0, asBytes("synced, but nameless")));
  ASSERT_TRUE(file->sync());
  ASSERT_TRUE(files().rename("/kept", "/renamed"));
  losePowerAndRestart();
  EXPECT_FALSE(files().exists("/new"));
  EXPECT_EQ(contents("/kept"), "kept");
  EXPECT_FALSE(files().exists("/renamed"));
  EXPECT_TRUE(files().exists("/d"));
  EXPECT_FALSE(files().exists("/d/e"));

  ASSERT_TRUE(files().remove("/kept"));
  losePowerAndRestart();
  EXPECT_EQ(contents("/kept"), "kept");
  ASSERT_TRUE(files().remove("/kept"));
  ASSERT_TRUE(files().syncDirectory("/"));
  losePowerAndRestart();
  EXPECT_FALSE(files().exists("/kept"));
}

TEST_F(SimulatedDiskTest, aRenameBetweenDirectoriesHappensInBothOrInNeither) {
  for (const bool sync : {false, true}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      make(seed, false);
      ASSERT_TRUE(files().createDirectories("/x"));
      ASSERT_TRUE(files().createDirectories("/y"));
      ASSERT_TRUE(files().syncDirectory("/"));
      keep("/x/f", "once");
      ASSERT_TRUE(files().rename("/x/f", "/y/f"));
      if (sync) {
        ASSERT_TRUE(files().syncDirectory("/x"));
      }
      losePowerAndRestart();
      EXPECT_NE(files().exists("/x/f"), files().exists("/y/f"));
      if (sync) {
        EXPECT_TRUE(files().exists("/y/f"));
      }
    }
  }
}

TEST_F(SimulatedDiskTest, unlessStrictSomeUnsyncedNamesSurviveInOrder) {
  std::set<size_t> survivors;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    make(seed, false);
    for (int i = 0; i < 5; ++i) open("/" + std::to_string(i));
    losePowerAndRestart();
    const auto left = *files().list("/");
    for (size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].name, std::to_string(i));
    survivors.insert(left.size());
  }
  EXPECT_TRUE(survivors.contains(0));
  EXPECT_GT(survivors.size(), 3u);
}

TEST_F(SimulatedDiskTest, replaceFileLeavesOldOrNewAtEveryCrashPoint) {
  for (const auto how : {SimulatedProcess::Crash::Kill, SimulatedProcess::Crash::PowerLoss}) {
    std::set<std::string> seen;
    uint64_t point = 1;
    for (bool crashed = true; crashed; ++point) {
      crashed = false;
      for (uint64_t seed = 0; seed < 12; ++seed) {
        make(seed, false);
        keep("/a", "old contents");
        process_->crashAtFileCall(point, how);
        const auto result = files().replaceFile("/a", asBytes("new"));
        if (process_->state() == Process::State::Dead) {
          crashed = true;
          EXPECT_FALSE(result);
        } else {
          EXPECT_TRUE(result);
        }
        restart();
        seen.insert(contents("/a"));
      }
    }
    EXPECT_EQ(seen, (std::set<std::string>{"old contents", "new"}));
    EXPECT_GE(point, 5u);
  }
}

TEST_F(SimulatedDiskTest, aCrashInTheMiddleOfAWriteLeavesAPartOfIt) {
  std::set<size_t> sizes;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    make(seed);
    auto file = open("/a");
    process_->crashAtFileCall(1, SimulatedProcess::Crash::Kill);
    EXPECT_FALSE(file->writeAt(0, asBytes(std::string(1000, 'x'))));
    EXPECT_EQ(process_->state(), Process::State::Dead);
    restart();
    sizes.insert(contents("/a").size());
  }
  EXPECT_TRUE(sizes.contains(0));
  EXPECT_TRUE(sizes.contains(1000));
  EXPECT_GT(sizes.size(), 8u);
}

TEST_F(SimulatedDiskTest, aFullDiskTakesWhatFitsAndSaysSo) {
  make(1);
  world_->disk("one").setCapacity(1000);
  auto file = open("/a");
  ASSERT_TRUE(file->writeAt(0, asBytes(std::string(900, 'x'))));
  EXPECT_EQ(files().space("/")->available, 100u);
  const auto result = file->writeAt(900, asBytes(std::string(200, 'y')));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("no space left"));
  EXPECT_EQ(*file->size(), 1000u);
  EXPECT_TRUE(file->writeAt(0, asBytes("over")));
  ASSERT_TRUE(file->truncate(10));
  EXPECT_TRUE(file->writeAt(10, asBytes("again")));
  EXPECT_EQ(world_->disk("one").used(), 15u);
  ASSERT_TRUE(files().remove("/a"));
  EXPECT_EQ(world_->disk("one").used(), 15u);
}

TEST_F(SimulatedDiskTest, callsCanBeMadeToFail) {
  make(1);
  auto file = open("/a");
  world_->disk("one").failWhen(
      [](FileCall call, const std::string& path) { return call == FileCall::Write && path == "/a"; });
  EXPECT_THAT(file->writeAt(0, asBytes("x")).error().message, HasSubstr("input/output error"));
  EXPECT_TRUE(open("/b")->writeAt(0, asBytes("x")));
  world_->disk("one").failWhen({});
  EXPECT_TRUE(file->writeAt(0, asBytes("x")));
}

TEST_F(SimulatedDiskTest, ofAFailedWriteAFrontPartMayBeThere) {
  bool part = false;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    make(seed);
    auto file = open("/a");
    world_->disk("one").failWhen([](FileCall call, const std::string&) { return call == FileCall::Write; });
    EXPECT_FALSE(file->writeAt(0, asBytes(std::string(1000, 'x'))));
    world_->disk("one").failWhen({});
    const std::string after = contents("/a");
    EXPECT_EQ(after, std::string(after.size(), 'x'));
    part = part || (!after.empty() && after.size() < 1000);
    EXPECT_EQ(world_->disk("one").damage().failed, 1u);
    EXPECT_EQ(world_->disk("one").damage().cutShort, uint64_t{!after.empty() && after.size() < 1000});
  }
  EXPECT_TRUE(part);
}

TEST_F(SimulatedDiskTest, whatBecameOfWritesIsCounted) {
  DiskDamage all;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    make(seed);
    keep("/a", std::string(4096, 'o'));
    ASSERT_TRUE(open("/a")->writeAt(0, asBytes(std::string(4096, 'n'))));
    losePowerAndRestart();
    const std::string after = contents("/a");
    const DiskDamage& damage = world_->disk("one").damage();
    EXPECT_EQ(damage.lost, uint64_t{after.contains('o')});
    EXPECT_EQ(damage.torn, uint64_t{after.contains('o') && after.contains('n')});
    EXPECT_EQ(damage.reordered, uint64_t{after.contains("on")});
    all.reordered += damage.reordered;
  }
  EXPECT_GT(all.reordered, 0u);
}

TEST_F(SimulatedDiskTest, whatAFailedSyncLostALaterOneDoesNotBringBack) {
  make(1);
  keep("/a", std::string(10'000, 'o'));
  auto file = open("/a");
  ASSERT_TRUE(file->writeAt(0, asBytes(std::string(12'000, 'n'))));
  world_->disk("one").failWhen([](FileCall call, const std::string&) { return call == FileCall::Sync; });
  EXPECT_FALSE(file->sync());
  world_->disk("one").failWhen({});
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(contents("/a") == std::string(12'000, 'n'));
  ASSERT_TRUE(file->writeAt(0, asBytes("N")));
  ASSERT_TRUE(file->sync());
  losePowerAndRestart();
  const auto after = contents("/a");
  EXPECT_EQ(after.size(), 12'000u);
  EXPECT_TRUE(after.substr(0, 4096) == "N" + std::string(4095, 'n'));
  EXPECT_TRUE(after.substr(4096, 10'000 - 4096) == std::string(10'000 - 4096, 'o'));
  EXPECT_EQ(after.find('n', 4096), std::string::npos);
}

TEST_F(SimulatedDiskTest, locksGoWithTheirProcess) {
  make(1);
  auto lock = files().lock("/.lock");
  ASSERT_TRUE(lock);
  process_->kill("to see");
  auto dead = process_;
  process_ = world_->createProcess("one");
  EXPECT_TRUE(files().lock("/.lock"));
}

TEST_F(SimulatedDiskTest, twoProcessesMayShareADisk) {
  make(1);
  keep("/a", "shared");
  auto other = world_->createProcess({.name = "two", .disk = "one"});
  EXPECT_EQ(asText(*other->files().readFile("a", 100)), "shared");
  auto third = world_->createProcess("three");
  EXPECT_FALSE(third->files().exists("/a"));
}

}  // namespace
}  // namespace tidemark::platform
