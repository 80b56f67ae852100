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

TEST(ThreeBrokers, LeaveTheSameTraceInTwoProcessesWithOtherAddresses) {
  expectTheSameTraceInTwoProcesses([](const TraceSink& trace) {
    SimulatedLab lab({.seed = 5, .trace = trace});
    runThreeBrokers(lab);
  });
}

}  // namespace
}  // namespace tidemark::sim
