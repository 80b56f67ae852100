#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/event.h"
#include "faults/fault.h"
#include "faults/place.h"
#include "observe/snapshot.h"
#include "platform/simulated/world.h"
#include "sim/sim_platform.h"

namespace tidemark::sim {

/// What Faults does to processes and links with its own hands, told as the faults of the list are: the cluster, which
/// tells of those, does not know of it. Each has a number, begins with FaultInjected and ends with FaultHealed.
///
/// Faults tells it what it is about to do; that it is over is seen from the processes and links, whoever brought it
/// about. Only looks. Of the world's thread.
class ToldFaults {
 public:
  /// Above all numbers of the list.
  static constexpr int kFirstNumber = 1'000'000;

  /// `nodes`: all of the cluster. `wanted`: else nothing is told.
  ToldFaults(platform::World& world, const SimPlatform& platform, std::vector<faults::Member> nodes, bool wanted)
      : world_(world), platform_(platform), nodes_(std::move(nodes)), wanted_(wanted) {}

  /// Kill, PowerLoss or Stop of one that lives: until there is another process of it.
  void takesDown(NodeId broker, faults::Kind how);
  /// A Stop that was refused.
  void doesNotStop(NodeId broker);
  void pauses(NodeId broker);
  /// In its file call of that number from now on: told once it has died so.
  void willCrash(NodeId broker, uint64_t call);
  void nobodyWillCrash() { armed_.clear(); }
  void cutsOff(NodeId broker);
  // Links of a process to others; the last of `ends` stands for all in words.
  void cuts(const std::string& one, const std::vector<std::string>& ends, bool bothWays);
  /// What it sends to them.
  void slows(const std::string& one, const std::vector<std::string>& ends, const platform::LinkOptions& link);
  /// Over at once. No ends: all clients.
  void resets(const std::string& one, const std::vector<std::string>& ends);

  /// To be called after every step of the world: what is over now?
  void look();
  /// What was told since the last call, in order.
  std::vector<events::Event> take() { return std::exchange(events_, {}); }
  /// What there is now: faults, brokers that are paused.
  void describe(observe::ClusterSnapshot& into) const;

 private:
  struct Fault {
    int number;
    faults::Fault what;
    faults::Place place;
    std::string text;
    platform::MonotonicTime since;
    std::function<bool()> isOver;
  };
  struct Armed {
    std::weak_ptr<platform::SimulatedProcess> process;
    uint64_t fileCall;
  };

  /// As the lab calls it: a controller, if it is nothing else.
  faults::NodeName nameOf(NodeId node) const;
  void begins(faults::Kind kind, NodeId broker, std::string_view more, std::function<bool()> isOver);
  void begins(faults::Fault what, faults::Place place, std::string_view more, std::function<bool()> isOver);
  void ends(const Fault& fault);
  void tell(NodeId broker, const events::Payload& payload);
  /// There is a process of the broker, and it is not that one.
  std::function<bool()> isUpAgain(NodeId broker, std::weak_ptr<platform::SimulatedProcess> before) const;

  platform::World& world_;
  const SimPlatform& platform_;
  const std::vector<faults::Member> nodes_;
  const bool wanted_;
  int next_ = kFirstNumber;
  std::vector<Fault> faults_;
  std::map<NodeId, Armed> armed_;
  std::vector<events::Event> events_;
};

}  // namespace tidemark::sim
