#include "log/directories.h"

#include <gtest/gtest.h>

#include "platform/simulated/world.h"

namespace tidemark::log {
namespace {

// It went up from the root for ever: nothing exists for a process that is dead.
TEST(Directories, aProcessThatIsDeadMakesNone) {
  platform::World world;
  const auto process = world.createProcess("broker");
  process->kill("the test kills it");
  EXPECT_FALSE(makeDirectories(process->files(), "/data/orders-0"));
}

TEST(Directories, thoseThatWereMadeOutliveAPowerLoss) {
  platform::World world;
  world.disk("broker").setStrictDirectories(true);
  const auto process = world.createProcess("broker");
  ASSERT_TRUE(makeDirectories(process->files(), "/data/orders-0/deeper"));
  process->losePower();
  const auto again = world.createProcess("broker");
  EXPECT_TRUE(again->files().exists("/data/orders-0/deeper"));
}

}  // namespace
}  // namespace tidemark::log
