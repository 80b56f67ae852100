#include "sim/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/mutations.h"

namespace tidemark::sim {
namespace {

TEST(Scenarios, AFaultThatIsLeftOutTakesNoOtherWithIt) {
  const ScenarioResult all = runScenario({.seed = 4, .faultsFor = std::chrono::seconds(6)});
  ASSERT_FALSE(all.breach) << all.breach->text;
  ASSERT_GE(all.faults.size(), 2u);
  const size_t last = all.faults.back();
  const ScenarioResult one = runScenario({.seed = 4, .faults = std::set{last}, .faultsFor = std::chrono::seconds(6)});
  EXPECT_FALSE(one.breach) << one.breach->text;
  EXPECT_EQ(one.faults, std::vector{last});
}

TEST(Scenarios, EndAtTheTimeThatWasSaid) {
  const ScenarioResult result = runScenario({.seed = 4, .until = std::chrono::seconds(5)});
  EXPECT_FALSE(result.breach);
  EXPECT_GE(result.length, std::chrono::seconds(5));
  EXPECT_LT(result.length, std::chrono::seconds(6));
}

#ifdef TIDEMARK_MUTATIONS

TEST(Shrinking, FindsAFailureWithFewerFaultsThatIsTheSameEachTime) {
  const MutationRow& row = *findMutation("elects-anybody");
  const MutationInForce inForce(row.mutation);
  const ScenarioOptions options{.seed = row.seed};
  const ScenarioResult failing = runScenario(options);
  ASSERT_TRUE(failing.breach);
  EXPECT_NE(failing.excerpt, "");
  const Shrunk smallest = shrink(options, failing);
  EXPECT_LT(smallest.result.faults.size(), failing.faults.size());
  const ScenarioResult again = runScenario(smallest.options);
  ASSERT_TRUE(again.breach);
  EXPECT_EQ(again.breach->invariant, failing.breach->invariant);
  EXPECT_EQ(again.breach->text, smallest.result.breach->text);
  EXPECT_EQ(again.excerpt, smallest.result.excerpt);
}

#endif

}  // namespace
}  // namespace tidemark::sim
