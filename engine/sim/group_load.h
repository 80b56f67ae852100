#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/group_admin.h"
#include "client/reconciling_consumer.h"
#include "sim/applications.h"
#include "sim/group_history.h"
#include "sim/tally.h"

namespace tidemark::sim {

/// What a seed says of groups. "readers", which is classic, is in every one.
struct GroupPlan {
  /// A group by the consumer protocol (KIP-848), too.
  bool hasWatchers = false;
  /// In that group a static member, which dies and comes back before it is missed.
  bool hasStatic = false;
  /// In the classic one, too.
  bool hasStaticReader = false;
  /// Offsets of a group without members are kept for a minute only, which a clock can jump over.
  bool offsetsExpire = false;
  /// Guests say that they leave.
  bool politeGuests = false;

  /// The names of the processes whose links may break, but for those that every seed has.
  std::vector<std::string> clients() const;
};

GroupPlan drawGroups(uint64_t seed);

/// A member of a consumer group that commits what it reads.
class Member final : public Application {
 public:
  struct Options {
    std::string topic;
    /// By the consumer protocol.
    bool reconciles = false;
    /// A static member's; empty: a dynamic one.
    std::string instanceId;
  };
  Member(platform::World& world, const std::string& name, const std::vector<platform::Endpoint>& bootstrap,
         Options options, const std::string& group, Judge& judge, Tally& tally, Journal& journal,
         GroupHistory& history);
  ~Member() override;

  /// Generation or member epoch; −1 or 0 while it is no member.
  int32_t generation() const;
  std::vector<TopicPartition> assignment() const;
  const std::string& error() const noexcept { return error_; }
  /// Says so and reads no more.
  void leave();
  /// Asks what its group has committed, until it is known.
  void askForOffsets();
  const std::optional<GroupHistory::Offsets>& offsets() const noexcept { return offsets_; }
  /// What was known to be committed when it asked: more may have been since.
  const GroupHistory::Offsets& knownBefore() const noexcept { return knownBefore_; }

 private:
  void start();
  /// Another process took its instance id, or one whose answer was lost: as whoever looks after a process would.
  void startAgain();
  void consumed(const client::ConsumedRecord& record);
  void assigned(int32_t generation, const std::vector<TopicPartition>& partitions);
  void commit();
  const std::string& identity() const noexcept { return options_.instanceId.empty() ? name_ : options_.instanceId; }

  const Options options_;
  const std::string group_;
  Judge& judge_;
  Tally& tally_;
  Journal& journal_;
  GroupHistory& history_;
  bool committing_ = false;
  /// What became of a commit for them is not known, and it may still come to pass: until they are given anew.
  std::set<TopicPartition> inDoubt_;
  std::unique_ptr<client::GroupConsumer> classic_;
  std::unique_ptr<client::ReconcilingConsumer> reconciling_;
  std::set<TopicPartition> owned_;
  /// Behind what was read, and what was committed when it got the partition, until the first record.
  std::map<TopicPartition, Offset> positions_;
  std::map<TopicPartition, Offset> begins_;
  platform::Timer timer_;
  std::string error_;
  std::unique_ptr<client::GroupAdmin> admin_;
  platform::Timer asking_;
  GroupHistory::Offsets knownBefore_;
  std::optional<GroupHistory::Offsets> offsets_;
};

/// The groups of a scenario: members that stay, guests that come and go, static ones that die and come back.
class GroupLoad final : public Checker {
 public:
  struct Setup {
    platform::World& world;
    Judge& judge;
    Tally& tally;
    Journal& journal;
    std::string topic;
    int partitions;
  };
  GroupLoad(Setup setup, GroupPlan plan);

  const GroupPlan& plan() const noexcept { return plan_; }
  void begin(const std::vector<platform::Endpoint>& bootstrap);
  /// The next third of the faults begins: whoever was a guest goes, in the first two others come.
  void third(int number);
  /// Records are lost by Kafka's rules: what groups remember may be among them.
  void lost();
  /// "L4: …"; empty if in each group every partition belongs to one member.
  std::string whatIsNotWhole() const;
  /// Once it is whole: asks what is committed.
  void askForOffsets();
  /// What is not known of that yet; empty if all is.
  std::string whatIsNotTold() const;
  /// G5, once all is told: nothing that was committed is gone, of a group that had members all the time.
  void judgeAtRest();
  void on(const Seen& seen) override;

 private:
  struct Group {
    std::string name;
    bool reconciles;
    GroupHistory history;
    std::vector<std::unique_ptr<Member>> members;
    std::unique_ptr<Member> guest;
    std::unique_ptr<Member> isStatic;
  };

  std::unique_ptr<Member> member(Group& group, const std::string& name, const std::string& instanceId = {});
  std::string whatOf(const Group& group) const;

  const Setup setup_;
  const GroupPlan plan_;
  std::vector<platform::Endpoint> bootstrap_;
  std::vector<std::unique_ptr<Group>> groups_;
  /// They have said that they leave.
  std::vector<std::unique_ptr<Member>> leaving_;
};

}  // namespace tidemark::sim
