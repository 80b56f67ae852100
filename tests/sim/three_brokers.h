#pragma once

#include <vector>

#include "sim/lab.h"

namespace tidemark::sim {

struct ThreeBrokersOptions {
  /// Override the lab's profile.
  std::vector<observe::Setting> settings;
  /// How often a leader is killed and restarted, each time another partition's.
  int kills = 1;
};

/// Three brokers, produce and consume, leaders killed and restarted, everything acknowledged read. Reports to gtest.
void runThreeBrokers(Lab& lab, const ThreeBrokersOptions& how = {});

}  // namespace tidemark::sim
