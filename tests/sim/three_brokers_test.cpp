#include "sim/three_brokers.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "sim/trace_file.h"

namespace tidemark::sim {
namespace {

TEST(ThreeBrokers, SurviveTheDeathOfALeaderInTheSimulator) {
  SimulatedLab lab({.seed = 1});
  runThreeBrokers(lab);
}

TEST(ThreeBrokers, SurviveTheDeathOfALeaderOnRealThreads) {
  NativeLab lab;
  runThreeBrokers(lab);
}

TEST(ThreeBrokers, SurviveInAnyOrderOfEvents) {
  for (uint64_t seed = 1; seed <= 50 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SimulatedLab lab({.seed = seed});
    runThreeBrokers(lab);
  }
}

TEST(ThreeBrokers, LeaveTheSameTraceForTheSameSeed) {
  const auto traceOf = [](uint64_t seed) {
    SimulatedLab lab({.seed = seed});
    runThreeBrokers(lab);
    return lab.world().traceHash();
  };
  EXPECT_EQ(traceOf(3), traceOf(3));
  EXPECT_NE(traceOf(3), traceOf(4));
}

/// Run by the next one in processes of its own.
TEST(ThreeBrokers, DISABLED_WriteTheirTrace) {
  TraceFile file(TraceFile::pathOfChild());
  SimulatedLab lab({.seed = 5, .trace = file.sink()});
  runThreeBrokers(lab);
}

TEST(ThreeBrokers, LeaveTheSameTraceInTwoProcessesWithOtherAddresses) {
  EXPECT_EQ(compareTracesOfTwoProcesses("ThreeBrokers.DISABLED_WriteTheirTrace"), "");
}

}  // namespace
}  // namespace tidemark::sim
