#pragma once

#include "sim/lab.h"

namespace tidemark::sim {

/// Three brokers, produce and consume, the leader killed and restarted, everything acknowledged read. Reports to gtest.
void runThreeBrokers(Lab& lab);

}  // namespace tidemark::sim
