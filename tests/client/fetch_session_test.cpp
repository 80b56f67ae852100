#include "client/fetch_session.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tidemark::client {
namespace {

using testing::ElementsAre;

class FetchSessionTest : public testing::Test {
 protected:
  static Uuid id(uint8_t number) { return Uuid(std::array<uint8_t, 16>{number}); }
  static TopicPartition name(const std::string& topic, int partition) { return {topic, PartitionIndex(partition)}; }
  void want(const std::string& topic, int partition, int64_t offset, uint64_t seeks = 0) {
    wanted_[name(topic, partition)] = {
        .topicId = ids_[topic], .offset = Offset(offset), .leaderEpoch = {}, .lastEpoch = {}, .seeks = seeks};
  }
  /// "session id/epoch", "topic-partition@offset" of what is asked for, "-topic-partition" of what is forgotten.
  static std::vector<std::string> ask(FetchSession& session, const AskedAll& wanted) {
    protocol::FetchRequest request;
    session.ask(wanted, 1000, request);
    std::vector<std::string> said{fmt::format("session {}/{}", request.sessionId, request.sessionEpoch)};
    for (const auto& topic : request.topics)
      for (const auto& each : topic.partitions)
        said.push_back(fmt::format("{}-{}@{}", topic.topic.view(), each.partition, each.fetchOffset));
    for (const auto& topic : request.forgottenTopicsData)
      for (const int32_t each : topic.partitions) said.push_back(fmt::format("-{}-{}", topic.topic.view(), each));
    return said;
  }
  std::vector<std::string> ask() { return ask(session_, wanted_); }

  FetchSession session_{true};
  AskedAll wanted_;
  std::map<std::string, Uuid> ids_{{"a", id(1)}, {"b", id(2)}};
};

TEST_F(FetchSessionTest, OnlyWhatChangedIsNamedOnceTheLeaderKeepsASession) {
  want("a", 0, 5);
  want("a", 1, 7);
  want("b", 0, 9);
  EXPECT_THAT(ask(), ElementsAre("session 0/0", "a-0@5", "a-1@7", "b-0@9"));
  session_.answered(44);
  EXPECT_THAT(ask(), ElementsAre("session 44/1"));
  session_.answered(44);
  want("a", 1, 8);
  wanted_.erase(name("b", 0));
  EXPECT_THAT(ask(), ElementsAre("session 44/2", "a-1@8", "-b-0"));
  session_.answered(44);
  want("a", 0, 5, 1);
  EXPECT_THAT(ask(), ElementsAre("session 44/3", "a-0@5")) << "somebody has sought to where it was";
}

TEST_F(FetchSessionTest, AllIsAskedForAgainWhereTheLeaderKeepsNoneOrHasForgottenIt) {
  want("a", 0, 5);
  ask();
  session_.answered(0);
  EXPECT_THAT(ask(), ElementsAre("session 0/0", "a-0@5"));
  session_.answered(44);
  session_.forget();
  EXPECT_THAT(ask(), ElementsAre("session 0/0", "a-0@5"));
}

TEST_F(FetchSessionTest, ATopicThatWasMadeAnewBeginsASession) {
  want("a", 0, 5);
  want("b", 0, 9);
  ask();
  session_.answered(44);
  ids_["b"] = id(3);
  want("b", 0, 0);
  EXPECT_THAT(ask(), ElementsAre("session 0/0", "a-0@5", "b-0@0"));
}

TEST_F(FetchSessionTest, WhatIsAskedForAgainIsForgottenWhereItIsNotWanted) {
  want("a", 0, 5);
  want("b", 0, 9);
  ask();
  session_.answered(44);
  session_.askAgain(name("a", 0));
  session_.askAgain(name("b", 0));
  wanted_.erase(name("b", 0));
  EXPECT_THAT(ask(), ElementsAre("session 44/1", "a-0@5", "-b-0"));
}

TEST_F(FetchSessionTest, WithoutSessionsEachRequestAsksForEverything) {
  FetchSession session(false);
  want("a", 0, 5);
  EXPECT_THAT(ask(session, wanted_), ElementsAre("session 0/-1", "a-0@5"));
  session.answered(44);
  wanted_.erase(name("a", 0));
  want("a", 1, 7);
  EXPECT_THAT(ask(session, wanted_), ElementsAre("session 0/-1", "a-1@7"));
}

}  // namespace
}  // namespace tidemark::client
