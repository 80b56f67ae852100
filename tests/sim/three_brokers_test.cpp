#include "sim/three_brokers.h"

#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "config/broker_config.h"
#include "config/config_table.h"
#include "sim/trace_file.h"

namespace tidemark::sim {
namespace {

#ifdef TIDEMARK_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

std::string kafkasDefault(const std::string& key) {
  return std::string(config::configTable(config::ConfigLevel::Broker).find(key)->defaultValue.value());
}

TEST(ThreeBrokers, SurviveTheDeathOfALeaderInTheSimulator) {
  SimulatedLab lab({.seed = 1});
  runThreeBrokers(lab);
}

// Under a sanitizer real threads are too slow for the lab's short times: Kafka's own are in force there.
TEST(ThreeBrokers, SurviveTheDeathsOfLeadersOnRealThreads) {
  ThreeBrokersOptions how{.settings = {}, .kills = 2};
  if (kSanitized)
    for (const auto& [key, value] : config::labProfile(3))
      if (key.ends_with(".ms")) how.settings.push_back({key, kafkasDefault(key)});
  NativeLab lab;
  runThreeBrokers(lab, how);
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
