#include <gmock/gmock.h>

#include <random>

#include "coordinator/consumer/assignors.h"

namespace tidemark::coordinator {
namespace {

Uuid topicNumber(uint8_t number) {
  std::array<uint8_t, 16> bytes{};
  bytes[15] = number;
  return Uuid(bytes);
}

/// Every partition of every topic that somebody reads has exactly one owner, who reads it (G1, G2).
void expectWhole(const AssignorInput& input, const AssignorOutput& output) {
  std::map<std::pair<Uuid, int32_t>, std::string> owners;
  for (const auto& [id, partitions] : output) {
    for (const auto& [topic, indexes] : partitions) {
      EXPECT_TRUE(input.members.at(id).topics.contains(topic)) << id << " does not read it";
      for (const int32_t index : indexes)
        EXPECT_TRUE(owners.emplace(std::pair(topic, index), id).second) << "two owners";
    }
  }
  size_t total = 0;
  for (const auto& [topic, count] : input.partitionCounts) total += static_cast<size_t>(count);
  EXPECT_EQ(owners.size(), total);
}

size_t moved(const AssignorInput& input, const AssignorOutput& output) {
  size_t count = 0;
  for (const auto& [id, member] : input.members) {
    for (const auto& [topic, indexes] : member.assigned) {
      const auto now = output.find(id);
      for (const int32_t index : indexes) {
        if (now == output.end() || !contains(now->second, topic, index)) ++count;
      }
    }
  }
  return count;
}

TEST(UniformAssignor, BalancesAndMovesNoMoreThanThatTakes) {
  AssignorInput input;
  input.partitionCounts = {{topicNumber(1), 6}, {topicNumber(2), 4}};
  for (const char* id : {"a", "b", "c"}) input.members[id].topics = {topicNumber(1), topicNumber(2)};
  const UniformAssignor uniform;
  AssignorOutput output = uniform.assign(input);
  expectWhole(input, output);
  std::multiset<int32_t> sizes;
  for (const auto& [id, partitions] : output) sizes.insert(countOf(partitions));
  EXPECT_EQ(sizes, (std::multiset<int32_t>{3, 3, 4}));
  // A fourth comes: two are all that must move.
  for (auto& [id, member] : input.members) member.assigned = output[id];
  input.members["d"].topics = {topicNumber(1), topicNumber(2)};
  output = uniform.assign(input);
  expectWhole(input, output);
  EXPECT_EQ(moved(input, output), 2u);
  // Nothing has changed: nothing moves.
  for (auto& [id, member] : input.members) member.assigned = output[id];
  EXPECT_EQ(moved(input, uniform.assign(input)), 0u);
}

TEST(UniformAssignor, GivesTopicsThatFewReadToThemAndEvensOutTheRest) {
  AssignorInput input;
  input.homogeneous = false;
  input.partitionCounts = {{topicNumber(1), 4}, {topicNumber(2), 4}};
  input.members["a"].topics = {topicNumber(1)};
  input.members["b"].topics = {topicNumber(1), topicNumber(2)};
  const AssignorOutput output = UniformAssignor().assign(input);
  expectWhole(input, output);
  EXPECT_EQ(countOf(output.at("a")), 4);
  EXPECT_EQ(countOf(output.at("b")), 4);
}

TEST(UniformAssignor, KeepsItsPromisesForAnyInput) {
  std::mt19937_64 random(7);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  for (int run = 0; run < 300; ++run) {
    AssignorInput input;
    const size_t topics = 1 + below(4);
    const size_t members = 1 + below(6);
    for (size_t m = 0; m < members; ++m) {
      AssignorMember& member = input.members["m" + std::to_string(m)];
      for (size_t t = 0; t < topics; ++t) {
        if (below(3) != 0) member.topics.insert(topicNumber(static_cast<uint8_t>(t)));
        // What it had may be of topics it no longer reads, partitions that are gone, or another's.
        if (below(2) == 0) member.assigned[topicNumber(static_cast<uint8_t>(t))].insert(static_cast<int32_t>(below(9)));
      }
      for (const Uuid& topic : member.topics) input.partitionCounts[topic] = 0;
    }
    for (auto& [topic, count] : input.partitionCounts) count = static_cast<int32_t>(1 + below(7));
    for (const auto& [id, member] : input.members) {
      input.homogeneous = input.homogeneous && member.topics == input.members.begin()->second.topics;
    }
    if (input.partitionCounts.empty()) continue;
    SCOPED_TRACE(run);
    const AssignorOutput output = UniformAssignor().assign(input);
    expectWhole(input, output);
    expectWhole(input, RangeAssignor().assign(input));
    // Nobody who could take one has two fewer than its owner.
    for (const auto& [id, partitions] : output) {
      for (const auto& [topic, indexes] : partitions) {
        for (const auto& [other, member] : input.members) {
          if (!member.topics.contains(topic)) continue;
          const auto has = output.find(other);
          EXPECT_LE(countOf(partitions), (has == output.end() ? 0 : countOf(has->second)) + 1);
        }
      }
    }
  }
}

TEST(RangeAssignor, GivesEqualTopicsAlikeInTheOrderOfInstanceIds) {
  AssignorInput input;
  input.partitionCounts = {{topicNumber(1), 3}, {topicNumber(2), 3}};
  input.members["a"].topics = input.members["z"].topics = {topicNumber(1), topicNumber(2)};
  input.members["z"].instanceId = "i1";
  const AssignorOutput output = RangeAssignor().assign(input);
  expectWhole(input, output);
  EXPECT_EQ(output.at("z"), (PartitionsByTopic{{topicNumber(1), {0, 1}}, {topicNumber(2), {0, 1}}}))
      << "static members come first";
  EXPECT_EQ(output.at("a"), (PartitionsByTopic{{topicNumber(1), {2}}, {topicNumber(2), {2}}}));
}

}  // namespace
}  // namespace tidemark::coordinator
