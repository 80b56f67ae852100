#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/share/share_sessions.h"

namespace tidemark::broker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TopicIdPartition part(int32_t index) {
  return {Uuid({1}), PartitionIndex(index)};
}

class ShareSessionsTest : public testing::Test {
 protected:
  ErrorCode fetch(const std::string& member, int32_t epoch, std::vector<TopicIdPartition> wanted = {},
                  std::vector<TopicIdPartition> forgotten = {}, bool acknowledges = false) {
    auto turn = sessions_.fetch({.member = {"g", member},
                                 .epoch = epoch,
                                 .wanted = std::move(wanted),
                                 .forgotten = std::move(forgotten),
                                 .acknowledges = acknowledges});
    if (!turn) return turn.error().code;
    turn_ = std::move(*turn);
    return ErrorCode::None;
  }
  ShareSessions sessions_{2};
  ShareSessions::Turn turn_;
};

TEST_F(ShareSessionsTest, KeepWhatAMemberFetches) {
  EXPECT_EQ(fetch("a", 0, {part(0), part(1), part(1)}), ErrorCode::None);
  EXPECT_THAT(turn_.partitions, ElementsAre(part(0), part(1)));
  EXPECT_TRUE(turn_.isFirst);
  EXPECT_EQ(fetch("a", 1, {part(2)}, {part(0)}), ErrorCode::None);
  EXPECT_THAT(turn_.partitions, UnorderedElementsAre(part(1), part(2)));
  const auto before = turn_.partitions;
  EXPECT_EQ(fetch("a", 2), ErrorCode::None);
  EXPECT_NE(turn_.partitions, before) << "each comes first in its turn";
}

TEST_F(ShareSessionsTest, CountTheirRequests) {
  EXPECT_EQ(fetch("a", 1), ErrorCode::ShareSessionNotFound);
  EXPECT_EQ(fetch("a", 0, {part(0)}), ErrorCode::None);
  EXPECT_EQ(fetch("a", 2), ErrorCode::InvalidShareSessionEpoch);
  EXPECT_EQ(fetch("a", 1), ErrorCode::None);
  EXPECT_TRUE(sessions_.acknowledge({.member = {"g", "a"}, .epoch = 2, .wanted = {}, .forgotten = {}}));
  EXPECT_EQ(fetch("a", 2), ErrorCode::InvalidShareSessionEpoch) << "an acknowledgement counts as well";
  EXPECT_EQ(fetch("a", 3), ErrorCode::None);
  EXPECT_EQ(fetch("a", 0, {part(3)}), ErrorCode::None) << "it begins anew";
  EXPECT_THAT(turn_.partitions, ElementsAre(part(3)));
}

TEST_F(ShareSessionsTest, AreNoMoreThanTheLimit) {
  EXPECT_EQ(fetch("a", 0, {part(0)}), ErrorCode::None);
  EXPECT_EQ(fetch("b", 0, {part(0)}), ErrorCode::None);
  EXPECT_EQ(fetch("c", 0, {part(0)}), ErrorCode::ShareSessionLimitReached);
  EXPECT_EQ(fetch("b", 0, {part(0)}), ErrorCode::None);
  EXPECT_EQ(fetch("b", -1), ErrorCode::None);
  EXPECT_TRUE(turn_.isFinal);
  EXPECT_THAT(sessions_.end({"g", "b"}), ElementsAre(part(0)));
  EXPECT_THAT(sessions_.end({"g", "b"}), IsEmpty());
  EXPECT_TRUE(sessions_.hasGroup("g"));
  EXPECT_FALSE(sessions_.hasGroup("f"));
  EXPECT_EQ(fetch("c", 0, {part(0)}), ErrorCode::None);
}

TEST_F(ShareSessionsTest, BelongToTheConnectionThatTheyBeganOn) {
  const auto begin = [&](const std::string& member, const std::string& connection) {
    return sessions_.fetch({.member = {"g", member},
                            .epoch = 0,
                            .wanted = {part(0)},
                            .forgotten = {},
                            .acknowledges = false,
                            .connection = connection});
  };
  const uint64_t first = begin("a", "one")->session;
  EXPECT_TRUE(sessions_.isCurrent({"g", "a"}, first));
  ASSERT_TRUE(begin("b", "one"));
  EXPECT_THAT(sessions_.membersOn("one"), ElementsAre(ShareMember{"g", "a"}, ShareMember{"g", "b"}));
  const uint64_t second = begin("a", "two")->session;
  EXPECT_FALSE(sessions_.isCurrent({"g", "a"}, first));
  EXPECT_TRUE(sessions_.isCurrent({"g", "a"}, second));
  EXPECT_THAT(sessions_.membersOn("one"), ElementsAre(ShareMember{"g", "b"}));
  EXPECT_THAT(sessions_.membersOn("two"), ElementsAre(ShareMember{"g", "a"}));
  sessions_.end({"g", "a"});
  EXPECT_THAT(sessions_.membersOn("two"), IsEmpty());
  EXPECT_FALSE(sessions_.isCurrent({"g", "a"}, second));
  EXPECT_THAT(sessions_.membersOn("three"), IsEmpty());
}

TEST_F(ShareSessionsTest, AcknowledgeNothingAtTheirBeginning) {
  EXPECT_EQ(fetch("a", 0, {part(0)}, {}, true), ErrorCode::InvalidRequest);
  EXPECT_FALSE(sessions_.acknowledge({.member = {"g", "a"}, .epoch = 0, .wanted = {}, .forgotten = {}}));
  EXPECT_EQ(sessions_.size(), 0u);
}

}  // namespace
}  // namespace tidemark::broker
