#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "coordinator/streams/configured_topology.h"

namespace tidemark::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

InternalTopicInfo internal(std::string name, int32_t partitions = 0) {
  return {.name = std::move(name), .partitions = partitions, .replicationFactor = 0, .configs = {}};
}

class StreamsTopologies : public testing::Test {
 protected:
  Subtopology& subtopology(const std::string& id) {
    Subtopology& made = topology_.subtopologies[id];
    made.id = id;
    return made;
  }
  Result<ConfiguredTopology> configure() {
    return configureTopology(topology_, [this](std::string_view topic) -> std::optional<int32_t> {
      const auto found = existing_.find(topic);
      return found != existing_.end() ? std::optional(found->second) : std::nullopt;
    });
  }
  ConfiguredTopology configured() {
    Result<ConfiguredTopology> made = configure();
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    return made.value_or(ConfiguredTopology());
  }
  static std::map<std::string, int32_t> toCreate(const ConfiguredTopology& configured) {
    std::map<std::string, int32_t> topics;
    for (const auto& [name, topic] : configured.topicsToCreate) topics[name] = topic.partitions;
    return topics;
  }
  static int32_t tasksOf(const ConfiguredTopology& configured, std::string_view id) {
    return configured.subtopologies->find(id)->second.tasks;
  }
  /// Words are read, repartitioned by key and counted: what a word count is.
  void wordCount() {
    Subtopology& split = subtopology("0");
    split.sourceTopics = {"lines"};
    split.repartitionSinkTopics = {"words"};
    Subtopology& count = subtopology("1");
    count.repartitionSourceTopics = {internal("words")};
    count.stateChangelogTopics = {internal("counts")};
  }

  StreamsTopology topology_{.epoch = 3, .subtopologies = {}};
  std::map<std::string, int32_t, std::less<>> existing_;
};

TEST_F(StreamsTopologies, GiveInternalTopicsThePartitionsOfWhatFeedsThem) {
  wordCount();
  existing_ = {{"lines", 4}};
  const ConfiguredTopology made = configured();
  EXPECT_EQ(made.epoch, 3);
  EXPECT_THAT(toCreate(made), ElementsAre(Pair("counts", 4), Pair("words", 4)));
  EXPECT_EQ(tasksOf(made, "0"), 4);
  EXPECT_EQ(tasksOf(made, "1"), 4);
  EXPECT_FALSE(made.subtopologies->at("0").isStateful());
  EXPECT_TRUE(made.subtopologies->at("1").isStateful());
  ASSERT_TRUE(made.problem.has_value());
  EXPECT_EQ(made.problem->status, StreamsStatus::MissingInternalTopics);
  EXPECT_EQ(made.problem->detail, "Internal topics are missing: counts, words");
}

TEST_F(StreamsTopologies, AreReadyOnceAllTopicsAreThere) {
  wordCount();
  existing_ = {{"lines", 4}, {"words", 4}, {"counts", 4}};
  const ConfiguredTopology made = configured();
  EXPECT_TRUE(made.isReady());
  EXPECT_TRUE(made.topicsToCreate.empty());
}

TEST_F(StreamsTopologies, SayWhichSourceTopicsAreMissing) {
  wordCount();
  subtopology("0").sourceTopics = {"d", "c", "b", "a", "lines"};
  existing_ = {{"lines", 4}};
  const ConfiguredTopology made = configured();
  EXPECT_FALSE(made.subtopologies.has_value());
  EXPECT_EQ(made.problem->status, StreamsStatus::MissingSourceTopics);
  EXPECT_EQ(made.problem->detail, "Source topics a, b, c and 1 additional topics are missing.");
}

TEST_F(StreamsTopologies, TakeTheWidestSource) {
  wordCount();
  subtopology("0").sourceTopics = {"lines", "more"};
  existing_ = {{"lines", 2}, {"more", 6}};
  const ConfiguredTopology made = configured();
  EXPECT_EQ(tasksOf(made, "0"), 6);
  EXPECT_THAT(toCreate(made), ElementsAre(Pair("counts", 6), Pair("words", 6)));
}

TEST_F(StreamsTopologies, KeepTheNumberThatTheApplicationSet) {
  wordCount();
  subtopology("1").repartitionSourceTopics = {internal("words", 9)};
  existing_ = {{"lines", 2}};
  const ConfiguredTopology made = configured();
  EXPECT_THAT(toCreate(made), ElementsAre(Pair("counts", 9), Pair("words", 9)));
  EXPECT_EQ(tasksOf(made, "0"), 2);
  EXPECT_EQ(tasksOf(made, "1"), 9);
}

TEST_F(StreamsTopologies, DeriveNumbersThroughAChainInAnyOrder) {
  Subtopology& last = subtopology("0");
  last.repartitionSourceTopics = {internal("r2")};
  Subtopology& middle = subtopology("1");
  middle.repartitionSourceTopics = {internal("r1")};
  middle.repartitionSinkTopics = {"r2"};
  Subtopology& first = subtopology("2");
  first.sourceTopics = {"lines"};
  first.repartitionSinkTopics = {"r1"};
  existing_ = {{"lines", 5}};
  EXPECT_THAT(toCreate(configured()), ElementsAre(Pair("r1", 5), Pair("r2", 5)));
}

TEST_F(StreamsTopologies, AreInvalidIfRepartitionTopicsFeedEachOther) {
  Subtopology& a = subtopology("0");
  a.repartitionSourceTopics = {internal("r1")};
  a.repartitionSinkTopics = {"r2"};
  Subtopology& b = subtopology("1");
  b.repartitionSourceTopics = {internal("r2")};
  b.repartitionSinkTopics = {"r1"};
  const auto made = configure();
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::StreamsInvalidTopology);
  EXPECT_THAT(made.error().message, HasSubstr("loops"));
}

TEST_F(StreamsTopologies, AreInvalidIfNobodyWritesARepartitionTopic) {
  wordCount();
  subtopology("0").repartitionSinkTopics.clear();
  existing_ = {{"lines", 4}};
  const auto made = configure();
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::StreamsInvalidTopology);
}

TEST_F(StreamsTopologies, GiveJoinedRepartitionTopicsTheNumberOfTheSourceTheyAreJoinedWith) {
  wordCount();
  Subtopology& join = subtopology("1");
  join.sourceTopics = {"table"};
  join.copartitionGroups = {{.sourceTopics = {0}, .sourceTopicRegex = {}, .repartitionSourceTopics = {0}}};
  existing_ = {{"lines", 2}, {"table", 3}};
  const ConfiguredTopology made = configured();
  EXPECT_THAT(toCreate(made), ElementsAre(Pair("counts", 3), Pair("words", 3)));
  EXPECT_EQ(tasksOf(made, "1"), 3);
}

TEST_F(StreamsTopologies, GiveJoinedRepartitionTopicsTheWidestOfTheirNumbers) {
  Subtopology& a = subtopology("0");
  a.sourceTopics = {"narrow"};
  a.repartitionSinkTopics = {"r1"};
  Subtopology& b = subtopology("1");
  b.sourceTopics = {"wide"};
  b.repartitionSinkTopics = {"r2"};
  Subtopology& join = subtopology("2");
  join.repartitionSourceTopics = {internal("r1"), internal("r2")};
  join.copartitionGroups = {{.sourceTopics = {}, .sourceTopicRegex = {}, .repartitionSourceTopics = {0, 1}}};
  existing_ = {{"narrow", 2}, {"wide", 7}};
  EXPECT_THAT(toCreate(configured()), ElementsAre(Pair("r1", 7), Pair("r2", 7)));
}

TEST_F(StreamsTopologies, RefuseJoinedSourcesOfDifferentNumbers) {
  Subtopology& join = subtopology("0");
  join.sourceTopics = {"left", "right"};
  join.copartitionGroups = {{.sourceTopics = {0, 1}, .sourceTopicRegex = {}, .repartitionSourceTopics = {}}};
  existing_ = {{"left", 2}, {"right", 3}};
  const ConfiguredTopology made = configured();
  ASSERT_TRUE(made.problem.has_value());
  EXPECT_EQ(made.problem->status, StreamsStatus::IncorrectlyPartitionedTopics);
  EXPECT_EQ(made.problem->detail, "Following topics do not have the same number of partitions: [{left=2, right=3}]");
  EXPECT_FALSE(made.subtopologies.has_value());
}

TEST_F(StreamsTopologies, RefuseASetNumberThatDoesNotFitTheSourceItIsJoinedWith) {
  wordCount();
  Subtopology& join = subtopology("1");
  join.sourceTopics = {"table"};
  join.repartitionSourceTopics = {internal("words", 8)};
  join.copartitionGroups = {{.sourceTopics = {0}, .sourceTopicRegex = {}, .repartitionSourceTopics = {0}}};
  existing_ = {{"lines", 2}, {"table", 3}};
  const ConfiguredTopology made = configured();
  EXPECT_EQ(made.problem->status, StreamsStatus::IncorrectlyPartitionedTopics);
  EXPECT_THAT(made.problem->detail, HasSubstr("[8] of repartition topic [words]"));
}

TEST_F(StreamsTopologies, RefuseAnInternalTopicThatExistsWithAnotherNumber) {
  wordCount();
  existing_ = {{"lines", 4}, {"words", 4}, {"counts", 3}};
  const ConfiguredTopology made = configured();
  EXPECT_EQ(made.problem->status, StreamsStatus::IncorrectlyPartitionedTopics);
  EXPECT_EQ(made.problem->detail, "Existing topic counts has different number of partitions: expected 4, found 3");
  EXPECT_TRUE(made.topicsToCreate.empty());
}

// ---- as it comes from a member

class GivenTopologies : public testing::Test {
 protected:
  GivenTopologies() {
    given_.epoch = 1;
    auto& one = given_.subtopologies.emplace_back();
    one.subtopologyId = "0";
    one.sourceTopics = {"lines"};
    auto& changelog = one.stateChangelogTopics.emplace_back();
    changelog.name = "counts";
    changelog.replicationFactor = 3;
    changelog.topicConfigs.push_back({"cleanup.policy", "compact"});
  }
  ErrorCode refused() const {
    const auto made = topologyOf(given_);
    return made ? ErrorCode::None : made.error().code;
  }
  protocol::StreamsGroupHeartbeatRequest::Topology given_;
};

TEST_F(GivenTopologies, AreTheSameAfterTheirRecord) {
  const auto made = topologyOf(given_);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(topologyOf(topologyValue(*made)), *made);
  EXPECT_THAT(made->requiredTopics(), UnorderedElementsAre("lines", "counts"));
  ASSERT_NE(made->readerOf("lines"), nullptr);
  EXPECT_EQ(made->readerOf("lines")->id, "0");
  EXPECT_EQ(made->readerOf("counts"), nullptr);
}

TEST_F(GivenTopologies, AreRefusedIfTheyCannotBe) {
  const auto good = given_;
  given_.epoch = -1;
  EXPECT_EQ(refused(), ErrorCode::StreamsInvalidTopology);
  given_ = good;
  given_.subtopologies.push_back(given_.subtopologies[0]);
  EXPECT_EQ(refused(), ErrorCode::StreamsInvalidTopology);
  given_ = good;
  given_.subtopologies[0].stateChangelogTopics[0].partitions = 2;
  EXPECT_EQ(refused(), ErrorCode::StreamsInvalidTopology);
  given_ = good;
  given_.subtopologies[0].copartitionGroups.emplace_back().sourceTopics = {1};
  EXPECT_EQ(refused(), ErrorCode::StreamsInvalidTopology) << "there is one source topic only";
  given_ = good;
  given_.subtopologies[0].sourceTopicRegex = {"lines-.*"};
  EXPECT_EQ(refused(), ErrorCode::InvalidRequest);
  given_ = good;
  EXPECT_EQ(refused(), ErrorCode::None);
}

}  // namespace
}  // namespace tidemark::coordinator
