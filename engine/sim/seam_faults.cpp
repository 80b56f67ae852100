#include "sim/seam_faults.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

using faults::Fault;
using faults::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Not those that take a node down or cut everything off: the plan does so by itself.
constexpr std::array kDrawn = {Kind::Delay,        Kind::Delay,       Kind::Reset,
                               Kind::Throttle,     Kind::Hold,        Kind::Halves,
                               Kind::Bridge,       Kind::Ring,        Kind::Slow,
                               Kind::SlowDisk,     Kind::SlowDisk,    Kind::DiskError,
                               Kind::FullDisk,     Kind::TornWrite,   Kind::ClockOffset,
                               Kind::ClockJump,    Kind::ClockDrift,  Kind::RequestError,
                               Kind::RequestDelay, Kind::RequestDrop, Kind::RequestDisconnect};

constexpr std::array<std::string_view, 10> kApis = {"Produce",         "Fetch",       "Metadata",     "AlterPartition",
                                                    "BrokerHeartbeat", "ListOffsets", "OffsetCommit", "Heartbeat",
                                                    "FindCoordinator", "Vote"};

class Drawing {
 public:
  Drawing(platform::Generator& choices, std::span<const faults::Member> members)
      : choices_(choices), members_(members), nodes_(static_cast<int>(members.size())) {}

  SeamFault draw() {
    Fault& fault = drawn_.fault;
    fault.kind = kDrawn[choices_.below(kDrawn.size())];
    if (!faults::isMomentary(fault.kind) && fault.kind != Kind::TornWrite)
      fault.duration = choices_.between(milliseconds(100), seconds(4));
    switch (faults::areaOf(fault.kind)) {
      case faults::Area::Links:
        link();
        break;
      case faults::Area::Brokers:
        target(true);
        fault.delay = milliseconds(1 + choices_.below(20));
        break;
      case faults::Area::Disks:
        disk();
        break;
      case faults::Area::Clocks:
        clock();
        break;
      case faults::Area::Requests:
        request();
        break;
    }
    return std::move(drawn_);
  }

 private:
  NodeId any() { return NodeId(static_cast<int32_t>(1 + choices_.below(static_cast<uint64_t>(nodes_)))); }

  const faults::Member& member(NodeId id) const { return members_[static_cast<size_t>(id.value() - 1)]; }

  NodeId target(bool harmed) {
    const NodeId id = any();
    if (harmed) drawn_.harms.push_back(id);
    drawn_.fault.target = faults::NodeName{
        .by = faults::NodeName::By::Number, .id = id, .partition = {}, .isController = !member(id).isBroker};
    return id;
  }

  void chance(unsigned mostPercent) {
    drawn_.fault.trigger.which = faults::Trigger::Which::Chance;
    drawn_.fault.trigger.chance = static_cast<double>(1 + choices_.below(mostPercent)) / 100;
    drawn_.fault.trigger.seed = choices_.next();
  }

  void link() {
    Fault& fault = drawn_.fault;
    if (fault.kind == Kind::Ring && (nodes_ < 5 || nodes_ % 2 == 0)) fault.kind = Kind::Halves;
    if (fault.kind == Kind::Bridge && nodes_ < 3) fault.kind = Kind::Halves;
    if (fault.kind == Kind::Halves && nodes_ < 2) fault.kind = Kind::Delay;
    if (fault.kind == Kind::Halves || fault.kind == Kind::Bridge || fault.kind == Kind::Ring) {
      for (int i = 1; i <= nodes_; ++i) drawn_.harms.emplace_back(i);
      if (fault.kind == Kind::Bridge) target(false);
      if (fault.kind == Kind::Halves) halves();
      return;
    }
    const NodeId from = any();
    const NodeId to = any();
    const bool clients = from == to;
    const std::string_view arrow = choices_.chance(50) ? "->" : "<->";
    const auto parsed = clients ? faults::parseTarget(fmt::format("link clients{}{}", arrow, to))
                                : faults::parseTarget(fmt::format("link {}{}{}", from, arrow, to));
    fault.target = *parsed;
    if (fault.kind == Kind::Delay) {
      fault.delay = milliseconds(1 + choices_.below(200));
      fault.jitter = milliseconds(choices_.below(100));
    } else if (fault.kind == Kind::Throttle) {
      fault.bytesPerSecond = static_cast<int64_t>(2000 + choices_.below(200'000));
    } else if (fault.kind == Kind::Reset) {
      chance(20);
    }
    if (fault.kind != Kind::Delay && !clients) drawn_.harms = {from, to};
  }

  void halves() {
    for (int i = 1; i <= nodes_; ++i) (choices_.chance(50) ? drawn_.fault.left : drawn_.fault.right).emplace_back(i);
    if (drawn_.fault.left.empty()) std::swap(drawn_.fault.left, drawn_.fault.right);
    if (drawn_.fault.right.empty()) {
      drawn_.fault.right.push_back(drawn_.fault.left.back());
      drawn_.fault.left.pop_back();
    }
  }

  void disk() {
    Fault& fault = drawn_.fault;
    target(fault.kind != Kind::SlowDisk);
    switch (fault.kind) {
      case Kind::SlowDisk:
        fault.delay = milliseconds(1 + choices_.below(100));
        fault.fileCalls = choices_.chance(50) ? faults::kSyncs : faults::kReads | faults::kWrites | faults::kSyncs;
        chance(50);
        break;
      case Kind::DiskError:
        fault.fileCalls = faults::kWrites | faults::kSyncs;
        chance(30);
        drawn_.brings = true;
        break;
      default:
        drawn_.brings = true;
        if (fault.kind == Kind::TornWrite) {
          fault.path = "*.log";
          fault.trigger.which = faults::Trigger::Which::Nth;
          fault.trigger.n = 1 + choices_.below(20);
        }
    }
  }

  void clock() {
    Fault& fault = drawn_.fault;
    target(fault.kind == Kind::ClockDrift);
    if (fault.kind == Kind::ClockDrift) {
      fault.clocks = faults::kMonotonic | faults::kWall;
      fault.rate = 0.5 + static_cast<double>(choices_.below(150)) / 100;
    } else {
      fault.offset = milliseconds(1 + choices_.below(3'600'000));
      if (choices_.chance(50)) fault.offset = -fault.offset;
    }
  }

  void request() {
    Fault& fault = drawn_.fault;
    const NodeId whom = target(fault.kind == Kind::RequestDrop || fault.kind == Kind::RequestDelay);
    fault.api = kApis[choices_.below(kApis.size())];
    chance(40);
    if (fault.kind == Kind::RequestError) {
      fault.api = choices_.chance(50) ? "Produce" : "Fetch";
      fault.error = ErrorCode::NotLeaderOrFollower;
    } else if (fault.kind == Kind::RequestDelay) {
      fault.delay = milliseconds(1 + choices_.below(500));
    }
    // That is what everybody takes.
    if (!faults::takes(member(whom), fault.api)) fault.api = "Fetch";
  }

  platform::Generator& choices_;
  const std::span<const faults::Member> members_;
  const int nodes_;
  SeamFault drawn_;
};

}  // namespace

SeamFault drawSeamFault(platform::Generator& choices, std::span<const faults::Member> members) {
  return Drawing(choices, members).draw();
}

faults::Fault drawDamage(platform::Generator& choices, NodeId broker) {
  Fault damage{.kind = choices.chance(50) ? Kind::Wipe : Kind::BitFlip,
               .target = faults::NodeName{.by = faults::NodeName::By::Number, .id = broker, .partition = {}}};
  constexpr std::array<std::string_view, 5> kFolders = {"orders-0", "orders-1", "orders-2", "orders-*",
                                                        "__consumer_offsets-*"};
  damage.path = kFolders[choices.below(kFolders.size())];
  // Not those whose texts say something else unnoticed: a high watermark, a log start, a vote have no sums.
  constexpr std::array<std::string_view, 4> kFiles = {"/*.index", "/*.timeindex", "/leader-epoch-checkpoint",
                                                      "/partition.metadata"};
  if (damage.kind == Kind::BitFlip) damage.path += kFiles[choices.below(kFiles.size())];
  return damage;
}

}  // namespace tidemark::sim
