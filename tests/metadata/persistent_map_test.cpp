#include "metadata/persistent_map.h"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace tidemark::metadata {
namespace {

using Map = PersistentMap<int, std::string>;

TEST(PersistentMap, BehavesAsAnOrdinaryMapUnderRandomChanges) {
  std::mt19937 random(7);
  Map map;
  std::map<int, std::string> model;
  for (int step = 0; step < 5000; ++step) {
    const int key = static_cast<int>(random() % 300);
    if (random() % 3 == 0) {
      EXPECT_EQ(map.erase(key), model.erase(key) == 1);
    } else {
      map.set(key, std::to_string(step));
      model[key] = std::to_string(step);
    }
    ASSERT_EQ(map.size(), model.size());
    if (step % 50 == 0) {
      ASSERT_TRUE(std::equal(map.begin(), map.end(), model.begin(), model.end()));
      const auto from = map.lowerBound(key);
      const auto expected = model.lower_bound(key);
      ASSERT_EQ(from == map.end(), expected == model.end());
      if (expected != model.end()) {
        ASSERT_EQ(from->first, expected->first);
      }
    }
  }
}

TEST(PersistentMap, ACopyKeepsWhatItWas) {
  Map map;
  for (int i = 0; i < 100; ++i) map.set(i, "old");
  const Map copy = map;
  EXPECT_TRUE(copy.sharesAllWith(map));
  const std::string* where = copy.find(50);
  map.set(50, "new");
  map.erase(51);
  EXPECT_FALSE(copy.sharesAllWith(map));
  EXPECT_EQ(copy.find(50), where);
  EXPECT_EQ(*copy.find(50), "old");
  EXPECT_TRUE(copy.contains(51));
  EXPECT_EQ(*map.find(50), "new");
  EXPECT_FALSE(map.contains(51));
  EXPECT_FALSE(copy == map);
}

TEST(PersistentMap, EqualityLooksAtEntriesNotAtShape) {
  Map up, down;
  for (int i = 0; i < 64; ++i) up.set(i, "x");
  for (int i = 63; i >= 0; --i) down.set(i, "x");
  EXPECT_TRUE(up == down);
}

}  // namespace
}  // namespace tidemark::metadata
