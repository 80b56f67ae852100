#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/streams/sticky_task_assignor.h"

namespace tidemark::coordinator {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class StickyTasks : public testing::Test {
 protected:
  void stateless(const std::string& id, int32_t tasks) { subtopologies_[id].tasks = tasks; }
  void stateful(const std::string& id, int32_t tasks) {
    stateless(id, tasks);
    subtopologies_[id].stateChangelogTopics["changelog-" + id];
  }
  TaskCandidate& member(const std::string& id, const std::string& process) {
    TaskCandidate& candidate = members_.emplace_back();
    candidate.memberId = id;
    candidate.processId = process;
    return candidate;
  }
  /// Assigns, and lets everybody have what it was given.
  std::map<std::string, StreamsTasks> assign() {
    auto result = assignTasks(members_, subtopologies_, replicas_);
    for (TaskCandidate& candidate : members_) candidate.current = result.at(candidate.memberId);
    return result;
  }
  void remove(const std::string& id) {
    std::erase_if(members_, [&](const TaskCandidate& candidate) { return candidate.memberId == id; });
  }
  void expectEachTaskOnce(const std::map<std::string, StreamsTasks>& result) {
    std::map<TaskId, int> runners;
    for (const auto& [id, tasks] : result) {
      for (const TaskId& task : tasks.active) ++runners[task];
    }
    size_t expected = 0;
    for (const auto& [id, subtopology] : subtopologies_) {
      expected += static_cast<size_t>(subtopology.tasks);
      for (int32_t i = 0; i < subtopology.tasks; ++i) EXPECT_EQ((runners[{id, i}]), 1) << id << "_" << i;
    }
    EXPECT_EQ(runners.size(), expected);
  }
  /// No process has two copies of one task's state.
  void expectCopiesApart(const std::map<std::string, StreamsTasks>& result) {
    std::set<std::pair<std::string, TaskId>> seen;
    for (const TaskCandidate& candidate : members_) {
      const StreamsTasks& tasks = result.at(candidate.memberId);
      for (const TaskSet* set : {&tasks.active, &tasks.standby}) {
        for (const TaskId& task : *set) {
          EXPECT_TRUE(seen.emplace(candidate.processId, task).second)
              << task.subtopology << "_" << task.partition << " twice in " << candidate.processId;
        }
      }
    }
  }

  std::vector<TaskCandidate> members_;
  std::map<std::string, ConfiguredSubtopology, std::less<>> subtopologies_;
  int32_t replicas_ = 0;
};

TEST_F(StickyTasks, GoToAllMembersAlike) {
  stateless("0", 4);
  stateful("1", 4);
  member("a", "p1");
  member("b", "p2");
  member("c", "p3");
  const auto result = assign();
  expectEachTaskOnce(result);
  for (const auto& [id, tasks] : result) {
    EXPECT_GE(tasks.active.size(), 2u) << id;
    EXPECT_LE(tasks.active.size(), 3u) << id;
  }
}

TEST_F(StickyTasks, GoByThreadsOfAProcess) {
  stateful("0", 6);
  member("a1", "p1");
  member("a2", "p1");
  member("b", "p2");
  const auto result = assign();
  expectEachTaskOnce(result);
  for (const auto& [id, tasks] : result) EXPECT_THAT(tasks.active, SizeIs(2)) << id;
}

TEST_F(StickyTasks, StayWhereTheyAre) {
  stateful("0", 6);
  member("a", "p1");
  member("b", "p2");
  const auto first = assign();
  EXPECT_EQ(assign(), first);
}

TEST_F(StickyTasks, MoveOnlyAsManyAsANewMemberNeeds) {
  stateful("0", 6);
  member("a", "p1");
  member("b", "p2");
  const auto first = assign();
  member("c", "p3");
  const auto second = assign();
  expectEachTaskOnce(second);
  EXPECT_THAT(second.at("c").active, SizeIs(2));
  for (const char* id : {"a", "b"}) {
    EXPECT_THAT(second.at(id).active, SizeIs(2));
    EXPECT_TRUE(std::ranges::includes(first.at(id).active, second.at(id).active)) << id;
  }
}

TEST_F(StickyTasks, GoBackToWhoIsLeft) {
  stateful("0", 6);
  member("a", "p1");
  member("b", "p2");
  member("c", "p3");
  const auto first = assign();
  remove("b");
  const auto second = assign();
  expectEachTaskOnce(second);
  for (const char* id : {"a", "c"}) {
    EXPECT_THAT(second.at(id).active, SizeIs(3));
    EXPECT_TRUE(std::ranges::includes(second.at(id).active, first.at(id).active)) << id;
  }
}

TEST_F(StickyTasks, MoveToWhereACopyOfTheirStateIs) {
  stateful("0", 1);
  member("a", "p1");
  member("b", "p2").current.standby = {{"0", 0}};
  EXPECT_THAT(assign().at("b").active, UnorderedElementsAre(TaskId{"0", 0}));
}

TEST_F(StickyTasks, ComeBackToStateThatARestartedMemberStillHas) {
  stateful("0", 2);
  member("a", "p1").offsets = {{{"0", 1}, 100}};
  member("b", "p2").offsets = {{{"0", 0}, 100}};
  const auto result = assign();
  EXPECT_THAT(result.at("a").active, UnorderedElementsAre(TaskId{"0", 1}));
  EXPECT_THAT(result.at("b").active, UnorderedElementsAre(TaskId{"0", 0}));
}

TEST_F(StickyTasks, PreferTheCopyThatIsFurthest) {
  stateful("0", 1);
  member("a", "p1").offsets = {{{"0", 0}, 10}};
  member("b", "p2").offsets = {{{"0", 0}, 900}};
  EXPECT_THAT(assign().at("b").active, SizeIs(1));
}

TEST_F(StickyTasks, HaveStandbysInOtherProcesses) {
  replicas_ = 1;
  stateful("0", 4);
  stateless("1", 4);
  member("a", "p1");
  member("a2", "p1");
  member("b", "p2");
  const auto result = assign();
  expectEachTaskOnce(result);
  expectCopiesApart(result);
  size_t standbys = 0;
  for (const auto& [id, tasks] : result) {
    standbys += tasks.standby.size();
    for (const TaskId& task : tasks.standby) EXPECT_EQ(task.subtopology, "0") << "nothing to keep a copy of";
  }
  EXPECT_EQ(standbys, 4u);
}

TEST_F(StickyTasks, HaveAsManyStandbysAsThereAreProcessesFor) {
  replicas_ = 2;
  stateful("0", 2);
  member("a", "p1");
  member("b", "p2");
  const auto result = assign();
  expectCopiesApart(result);
  EXPECT_EQ(result.at("a").standby.size() + result.at("b").standby.size(), 2u);
}

TEST_F(StickyTasks, KeepTheirStandbys) {
  replicas_ = 1;
  stateful("0", 6);
  member("a", "p1");
  member("b", "p2");
  member("c", "p3");
  const auto first = assign();
  expectCopiesApart(first);
  EXPECT_EQ(assign(), first);
}

TEST_F(StickyTasks, AreNobodysWithoutMembers) {
  stateful("0", 6);
  EXPECT_THAT(assign(), IsEmpty());
}

}  // namespace
}  // namespace tidemark::coordinator
