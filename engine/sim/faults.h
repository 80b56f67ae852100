#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faults/place.h"
#include "platform/simulated/generator.h"
#include "platform/simulated/world.h"
#include "sim/fault_budget.h"
#include "sim/losses.h"
#include "sim/sim_platform.h"
#include "sim/tally.h"
#include "sim/told_faults.h"
#include "sim/watch.h"

namespace tidemark::sim {

/// Members of a group of some kind: what happens to a client's link happens to one of theirs as well, what happens to
/// requests to theirs as well. Dice of their own say to which.
struct FurtherClients {
  /// Of the kind: its dice.
  std::string_view kind;
  std::span<const std::string_view> apis;
  /// The names of each member's processes.
  std::vector<std::vector<std::string>> processes;
};
FurtherClients furtherClientsOfShares(std::vector<std::vector<std::string>> processes);
FurtherClients furtherClientsOfStreams(std::vector<std::vector<std::string>> processes);

/// Breaks brokers and links at random times and in the middle of interesting moments, and mends each after a while;
/// what must not be broken together says FaultBudget. Each fault has a number and, from it, dice of its own: one that
/// is left out takes no other with it.
class Faults final : public Checker {
 public:
  struct Setup {
    platform::World& world;
    SimPlatform& platform;
    cluster::Cluster& cluster;
    const Watch& watch;
    Judge& judge;
    Losses& losses;
    Tally& tally;
    ToldFaults& told;
    int brokers;
    /// Brokers, and those that are controllers only behind them.
    std::vector<faults::Member> members;
    int minInsyncReplicas;
    std::vector<std::string> clients;
    /// Of groups that a seed may have or not.
    std::vector<FurtherClients> further;
    uint64_t seed;
    /// Only these happen; nothing: all.
    std::optional<std::set<size_t>> only;
    /// Told in words what is done.
    std::function<void(const std::string&)> note;
  };
  explicit Faults(Setup setup);

  void begin();
  /// No more faults; links are mended, brokers go on or start again. They may need a while.
  void end();
  void on(const Seen& seen) override;
  /// Does what the events of the last step have led to; after all checkers have seen them.
  void act();
  /// The numbers of those that came to pass.
  const std::vector<size_t>& done() const noexcept { return done_; }
  /// Whether it knows why that process says so: it was killed or crashed, or its disk is ill.
  bool explains(std::string_view process, std::string_view text) const;
  /// Whether a bit of the broker's file at that path may have been flipped.
  bool flipped(NodeId broker, std::string_view path) const;

 private:
  enum class Harm : uint8_t { Kill, PowerLoss, Pause, Stop, CrashInFile, Damage };
  /// One that is about to happen.
  struct Strike {
    size_t number;
    platform::Generator dice;
  };

  void later(platform::Duration after, std::move_only_function<void()> action);
  std::vector<std::string> allClients() const;
  /// The processes of one member of each kind of group.
  std::vector<std::string> anyFurther(const Strike& strike) const;
  /// With dice of its own; nothing if that one is left out.
  std::optional<Strike> strikeOf(size_t number) const;
  void happened(const Strike& strike, std::string_view what, const std::string& note);
  void strike();
  void harm(Strike& strike, NodeId broker, Harm how);
  /// From now on the broker may lack what it had.
  void losesData(NodeId broker);
  void hurtLink(Strike& strike);
  void hurtSeam(Strike& strike);
  void set(faults::Fault fault);
  /// What lies on its disk is changed or gone when it starts again.
  void damage(Strike& strike, NodeId broker);
  void loseWhoJoins(const Strike& strike, NodeId leader, NodeId follower);
  /// What was done to links goes; brokers do not crash any more.
  void mendLinks();
  void restart(NodeId broker);
  void mend();
  /// "broker 2", "controller 4".
  std::string nameOf(NodeId node) const;
  int nodes() const noexcept { return static_cast<int>(setup_.members.size()); }
  std::shared_ptr<platform::SimulatedProcess> process(NodeId broker) const;
  NodeId anyNode(platform::Generator& dice) const;

  /// Each seed breaks things in its own proportions: rarely or all the time, some of them or all.
  struct Habits {
    platform::Duration pause;
    unsigned kill, powerLoss, paused, stop, crash, link, seam;
    unsigned voteLoss, leaderKill, appendKill, appendReset, lateLoss;
    unsigned damage;
  };
  static Habits draw(platform::Generator& choices);

  const Setup setup_;
  platform::Generator choices_;
  /// For what comes of events, which are others when a fault is left out.
  platform::Generator moments_;
  const Habits habits_;
  FaultBudget budget_;
  /// Emptied at the end: what is scheduled looks here first.
  std::shared_ptr<Faults*> active_;
  bool striking_ = false;
  /// Those at random times are 1, 2, …, those in the middle of something kFirstMoment, …
  static constexpr size_t kFirstMoment = 10'000;
  size_t strikes_ = 0;
  size_t nextMoment_ = kFirstMoment;
  std::vector<size_t> done_;
  /// What comes of the events of this step.
  std::vector<std::move_only_function<void()>> moment_;
  /// Where bits were flipped: the paths of those faults.
  std::vector<std::pair<NodeId, std::string>> flips_;
  /// Until when its disk explains what a broker says, and that it dies.
  std::map<NodeId, platform::MonotonicTime> illUntil_;
};

}  // namespace tidemark::sim
