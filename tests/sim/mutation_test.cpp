// The proof of the proof: each rule that a build can break on purpose must be missed by some invariant.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/mutations.h"
#include "sim/scenario.h"

namespace tidemark::sim {
namespace {

/// Where the recorded seed no longer finds it.
constexpr uint64_t kMostSeedsOfMutation = 200;

TEST(MutationTable, NamesEachMutationOnce) {
  Mutation last = Mutation::None;
  for (const MutationRow& row : allMutations()) {
    EXPECT_LT(last, row.mutation) << row.name;
    last = row.mutation;
    EXPECT_EQ(findMutation(row.name), &row) << row.name;
  }
  EXPECT_EQ(findMutation("no-such"), nullptr);
}

TEST(MutationTable, IsTheOneOfTheReadme) {
  std::ifstream file(TIDEMARK_SIM_README);
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(readme.contains(mutationTable())) << "tests/sim/README.md needs this table:\n" << mutationTable();
}

#ifdef TIDEMARK_MUTATIONS

class Mutations : public testing::TestWithParam<std::string> {};

TEST_P(Mutations, AreFound) {
  const MutationRow& row = *findMutation(GetParam());
  const MutationInForce inForce(row.mutation);
  std::string others;
  for (uint64_t i = 0; i <= kMostSeedsOfMutation; ++i) {
    const uint64_t seed = i == 0 ? row.seed : i;
    const ScenarioResult result = runScenario({.seed = seed, .allKinds = row.allKinds});
    if (!result.breach) continue;
    const std::string text =
        fmt::format("{}: seed {}: {}: {}\n", row.name, seed, result.breach->invariant, result.breach->text);
    if (isExpected(row, result.breach->invariant)) {
      std::cout << text;
      if (seed != row.seed) std::cout << row.name << ": the table should say seed " << seed << '\n';
      return;
    }
    if (others.size() < 4000) others += text;
  }
  FAIL() << row.name << " survives " << kMostSeedsOfMutation << " seeds; these found something else:\n" << others;
}

std::vector<std::string> mutationNames() {
  std::vector<std::string> names;
  for (const MutationRow& row : allMutations()) names.emplace_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Mutations, testing::ValuesIn(mutationNames()),
                         [](const testing::TestParamInfo<std::string>& each) {
                           std::string name = each.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

#endif

}  // namespace
}  // namespace tidemark::sim
