#include <gmock/gmock.h>

#include "coordinator/group_fixture.h"

namespace tidemark::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Groups, TellARebalanceFromTheMemberThatCausesItToItsEnd) {
  stableGroup();
  recorder_.want(events::Kinds::all());
  const auto c = joinNew({.clientId = "c"});
  EXPECT_THAT(told(), ElementsAre(StartsWith("MemberJoined group=\"group\" member=\"c-"),
                                  "GroupStateChanged group=\"group\" from=Stable to=PreparingRebalance kind=Classic "
                                  "cause=MemberJoined generation=1 members=3",
                                  testing::AllOf(StartsWith("RebalanceStarted group=\"group\" member=\"c-"),
                                                 HasSubstr("cause=MemberJoined generation=1 members=3"))));
  executor_->advance(2s);
  join({.member = ids_["a"]});
  EXPECT_THAT(told(),
              ElementsAre(testing::AllOf(StartsWith("MemberProgressed group=\"group\" member=\"a-"),
                                         HasSubstr("step=Rejoined epoch=1 target=2"), HasSubstr("took=2000000000ns"))));
  join({.member = ids_["b"]});
  ASSERT_TRUE(c.has());
  EXPECT_THAT(told(), testing::Contains("GroupStateChanged group=\"group\" from=PreparingRebalance "
                                        "to=CompletingRebalance kind=Classic cause=AllJoined generation=2 members=3"));
  executor_->advance(1s);
  sync(ids_["a"], 2, {{ids_["a"], "x"}, {ids_["b"], "x"}, {ids_["c"], "x"}});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("step=Synced epoch=2 target=2"),
                                  "GroupStateChanged group=\"group\" from=CompletingRebalance to=Stable kind=Classic "
                                  "cause=Assigned generation=2 members=3",
                                  "RebalanceCompleted group=\"group\" kind=Classic generation=2 members=3 "
                                  "took=3000000000ns"));
}

TEST_F(Groups, TellHowLongAMemberWasSilentThatMissedItsSession) {
  stableGroup();
  recorder_.want(events::Kinds::all());
  executor_->advance(6s);
  EXPECT_EQ(heartbeat(ids_["a"], 1), ErrorCode::None);
  EXPECT_TRUE(told().empty()) << "heartbeats are no news";
  executor_->advance(4500ms);
  const auto lines = told();
  ASSERT_GE(lines.size(), 2u);
  EXPECT_THAT(lines[0], testing::AllOf(StartsWith("MemberLeft group=\"group\" member=\"b-"),
                                       HasSubstr("cause=SessionMissed"), HasSubstr("allowed=10000000000ns")));
  EXPECT_THAT(lines[1], HasSubstr("from=Stable to=PreparingRebalance kind=Classic cause=SessionMissed"));
}

TEST_F(Groups, ShowEachMemberAsFarAsItIs) {
  stableGroup();
  joinNew({.clientId = "c"});
  Answer<std::vector<GroupSnapshot>> answer;
  coordinator_->snapshot(answer.reply());
  executor_->drain();
  const GroupSnapshot& group = answer.get().at(0);
  EXPECT_EQ(group.kind, events::GroupKind::Classic);
  EXPECT_EQ(group.generation, 1);
  std::map<std::string, std::string> states;
  for (const GroupMemberSnapshot& member : group.members) states[member.memberId.substr(0, 1)] = member.state;
  EXPECT_EQ(states, (std::map<std::string, std::string>{{"a", "Away"}, {"b", "Away"}, {"c", "Joining"}}));
}

}  // namespace
}  // namespace tidemark::coordinator
