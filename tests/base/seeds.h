#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace tidemark {

/// Seeds that the simulator runs if nothing else is said.
inline constexpr uint64_t kSimulatorSeeds = 300;

/// TIDEMARK_SEEDS, or kSimulatorSeeds.
inline uint64_t simulatorSeeds() {
  const char* asked = std::getenv("TIDEMARK_SEEDS");
  return asked != nullptr && *asked != '\0' ? std::max<uint64_t>(1, std::strtoull(asked, nullptr, 10))
                                            : kSimulatorSeeds;
}

/// How many seeds a test runs that has `all` of its own: fewer or more in the proportion in which the simulator does.
inline uint64_t seedsOf(uint64_t all) {
  return std::max<uint64_t>(1, all * simulatorSeeds() / kSimulatorSeeds);
}

}  // namespace tidemark
