#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/simulated/generator.h"
#include "platform/simulated/world.h"
#include "sim/sim_platform.h"
#include "sim/tally.h"
#include "sim/watch.h"

namespace tidemark::sim {

/// Breaks brokers and links at random times and in the middle of interesting moments, and mends each after a while.
///
/// Power is lost by one broker at a time, when every ISR is full, and until they are again only one other broker is
/// harmed: beyond that records may be lost (invariants, R2).
class Faults final : public Checker {
 public:
  struct Setup {
    platform::World& world;
    SimPlatform& platform;
    cluster::Cluster& cluster;
    const Watch& watch;
    Judge& judge;
    Tally& tally;
    int brokers;
    std::vector<std::string> clients;
    uint64_t seed;
  };
  explicit Faults(Setup setup);

  void begin();
  /// No more faults; links are mended, brokers go on or start again. They may need a while.
  void end();
  void on(const Seen& seen) override;
  /// Whether it knows why a process died with that reason.
  static bool explains(std::string_view reason);

 private:
  enum class Harm : uint8_t { Kill, PowerLoss, Pause, Stop, CrashInFile };

  void later(platform::Duration after, std::move_only_function<void()> action);
  void strike();
  void harm(NodeId broker, Harm how);
  void hurtLink();
  void restart(NodeId broker);
  void mend();
  /// Something is done to the broker that may have effects for that long.
  void troubled(NodeId broker, platform::Duration length);
  std::shared_ptr<platform::SimulatedProcess> process(NodeId broker) const;
  std::string name(NodeId broker) const;
  NodeId anyBroker();
  /// May anything happen to it now?
  bool mayHarm(NodeId broker);
  bool mayLosePower(NodeId broker);
  void updateWindow();
  metadata::ImagePtr newestImage() const;
  bool everyIsrIsFull(const metadata::Image& image) const;

  /// Each seed breaks things in its own proportions: rarely or all the time, some of them or all.
  struct Habits {
    platform::Duration pause;
    unsigned kill, powerLoss, paused, stop, crash, link;
    unsigned voteLoss, leaderKill, appendKill, appendReset;
  };
  static Habits draw(platform::Generator& choices);

  const Setup setup_;
  platform::Generator choices_;
  const Habits habits_;
  /// Emptied at the end: what is scheduled looks here first.
  std::shared_ptr<Faults*> active_;
  bool striking_ = false;
  std::map<NodeId, platform::MonotonicTime> calmAt_;
  struct Window {
    NodeId victim;
    BrokerEpoch before;
    std::optional<NodeId> second;
  };
  std::optional<Window> window_;
};

}  // namespace tidemark::sim
