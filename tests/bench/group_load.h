#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "broker_links.h"

namespace tidemark::bench {

/// So many groups of so many members each, all subscribed to one topic. Groups are spread over lanes: member m of every
/// group of a lane shares a connection, so that a request that waits for the others of its group (JoinGroup, SyncGroup)
/// holds up its own lane only, and never for good: every connection of a lane asks for the groups in the same order.
struct GroupShape {
  std::string prefix;
  std::string topic;
  Uuid topicId;
  int32_t partitions = 0;
  size_t groups = 0;
  size_t members = 0;
  size_t lanes = 0;

  size_t links() const { return std::min(lanes, groups) * members; }
  size_t link(size_t group, size_t member) const { return group % lanes * members + member; }
};

/// What is measured of groups of one kind. Each call lasts until all of it is answered.
class GroupLoad {
 public:
  virtual ~GroupLoad() = default;
  /// Until the coordinator of each group serves.
  void awaitCoordinators();
  /// All members join all groups, until every group is stable.
  virtual void join() = 0;
  /// Nobody asks: the other side answers whoever comes, as the least that a broker can be does.
  virtual void assumeJoined() = 0;
  /// Each member so many, the next when the last one is answered.
  void heartbeat(size_t times);
  /// Heartbeats as they come when each member sends one in `interval`, evenly spread, for so long. How many.
  size_t standBy(std::chrono::duration<double> interval, std::chrono::duration<double> span);
  /// The same as heartbeat() of commits of one partition's offset.
  void commit(size_t times);
  /// One rebalance of the first group, all of whose members take part: from the request that causes it until each has
  /// what it is assigned. Members hear of it by a heartbeat, which does not wait for its time. Milliseconds.
  virtual double rebalance() = 0;
  virtual void leave() = 0;

 protected:
  struct Identity {
    std::string_view id;
    int32_t generationOrEpoch;
  };

  GroupLoad(Links& links, GroupShape shape);
  virtual Identity identityOf(size_t group, size_t member) const = 0;
  virtual void beat(size_t group, size_t member, size_t times) = 0;
  template <class Body>
  void forEach(Body body) {
    for (size_t g = 0; g < shape_.groups; ++g) {
      for (size_t m = 0; m < shape_.members; ++m) body(g, m);
    }
  }

  Links& links_;
  const GroupShape shape_;
  std::vector<std::string> names_;

 private:
  void awaitCoordinatorOf(size_t group);
  /// Sends what is due of a stand-by that began then.
  void sendDue(Links::Clock::time_point began, double perSecond, size_t total, size_t sent);
  void commitOf(size_t group, size_t member, size_t times);

  int64_t committed_ = 0;
};

/// Members choose among themselves (JoinGroup, SyncGroup).
class ClassicLoad final : public GroupLoad {
 public:
  ClassicLoad(Links& links, GroupShape shape);
  void join() override;
  void assumeJoined() override;
  double rebalance() override;
  void leave() override;

 private:
  struct Member {
    std::string id;
    int32_t generation = -1;
  };
  struct Group {
    std::vector<Member> members;
    size_t leader = 0;
    /// As the leader was told.
    std::vector<std::string> gathered;
  };

  /// Asks for an id, or joins with it. `then` runs once it has one, or once the group has gathered.
  template <class Then>
  void sendJoin(size_t group, size_t member, Then then);
  template <class Then>
  void sendSync(size_t group, size_t member, Then then);
  Identity identityOf(size_t group, size_t member) const override;
  void beat(size_t group, size_t member, size_t times) override;
  /// A member of the first group hears that it must join again, does, and gets its assignment.
  void follow(size_t member);
  void joinAndSync(size_t member);
  const ByteVector subscription_;
  std::vector<ByteVector> assignments_;
  std::vector<Group> groups_;
};

/// The coordinator assigns (ConsumerGroupHeartbeat, KIP-848).
class ConsumerLoad final : public GroupLoad {
 public:
  ConsumerLoad(Links& links, GroupShape shape);
  void join() override;
  void assumeJoined() override;
  double rebalance() override;
  void leave() override;

 private:
  struct Member {
    std::string id;
    int32_t epoch = 0;
    std::vector<int32_t> owned;
    /// What it owns changed: the next heartbeat says so.
    bool tell = true;
    /// The last answer brought something new.
    bool moved = false;
  };
  struct Group {
    std::vector<Member> members;
  };

  template <class Then>
  void sendHeartbeat(size_t group, size_t member, Then then);
  Identity identityOf(size_t group, size_t member) const override;
  void beat(size_t group, size_t member, size_t times) override;
  /// Heartbeats of all members of these groups until each is at its group's epoch and owns an even share.
  void reconcile(const std::vector<size_t>& groups);
  bool isStable(const Group& group) const;
  std::vector<Group> groups_;
};

}  // namespace tidemark::bench
