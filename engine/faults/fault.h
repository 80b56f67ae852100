#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"
#include "base/result.h"
#include "faults/target.h"
#include "platform/clock.h"

namespace tidemark::faults {

using platform::Duration;
using platform::MonotonicTime;
using std::chrono::milliseconds;

/// What goes wrong. README.md has a table of what each does at the seam.
enum class Kind : uint8_t {
  // Links: what is sent from one end to the other.
  Cut,
  Delay,
  Reset,
  Throttle,
  Hold,
  // Shapes: several links cut at once.
  Isolate,
  Halves,
  Bridge,
  Ring,
  // Brokers.
  Kill,
  PowerLoss,
  Pause,
  Slow,
  Stop,
  Restart,
  Wipe,
  // Disks.
  SlowDisk,
  DiskError,
  FullDisk,
  TornWrite,
  BitFlip,
  // Clocks.
  ClockOffset,
  ClockJump,
  ClockDrift,
  // Requests.
  RequestError,
  RequestDelay,
  RequestDrop,
  RequestDisconnect,
};

/// Where a kind acts.
enum class Area : uint8_t { Links, Brokers, Disks, Clocks, Requests };

/// Calls of a disk that a fault may be about, as bits.
enum FileCalls : uint8_t { kReads = 1, kWrites = 2, kSyncs = 4 };

/// Which clocks of a broker, as bits.
enum Clocks : uint8_t { kWall = 1, kMonotonic = 2 };

/// Which of the occasions that a fault may take it takes: transfers, file calls or requests that its target matches.
struct Trigger {
  enum class Which : uint8_t {
    Each,
    Nth,  ///< that one, then the fault is over
    EveryNth,
    Chance,  ///< each with `chance`, drawn from `seed`
  };
  /// How long after it was set, or after the event, the fault begins; symbolic names are resolved then.
  Duration after{};
  /// Name of an event (events/) that it waits for: the next one that `teller` tells about `about`. Empty: it waits for
  /// none.
  std::string event = {};
  /// None: any broker.
  NodeId teller = kNoNode;
  /// No topic: whatever it is about.
  TopicPartition about = {};
  Which which = Which::Each;
  /// Nth, EveryNth: at least 1.
  uint64_t n = 1;
  /// In (0, 1].
  double chance = 1;
  uint64_t seed = 0;

  /// It begins as soon as it is set.
  bool isNow() const noexcept { return after == Duration{} && event.empty(); }
  friend bool operator==(const Trigger&, const Trigger&) = default;
};

/// Something that is to go wrong: what, where, how much, when, how long. A plain value.
struct Fault {
  Kind kind = Kind::Cut;
  Target target;
  Trigger trigger;
  /// Zero: until it is healed.
  Duration duration{};

  // Parameters; which of them a kind takes says parametersOf().
  milliseconds delay{};
  milliseconds jitter{};
  int64_t bytesPerSecond = 0;
  /// Halves.
  std::vector<NodeId> left;
  std::vector<NodeId> right;
  /// Isolate: from clients as well.
  bool clients = true;
  /// Part of a file's path below the broker's folders; '*' stands for anything. Empty: all files.
  std::string path;
  uint8_t fileCalls = kReads | kWrites | kSyncs;
  milliseconds offset{};
  uint8_t clocks = kWall;
  /// How fast a clock goes: 1.01 gains a hundredth.
  double rate = 1;
  /// Kafka's name of an API; empty: all.
  std::string api;
  /// Empty: all.
  std::string topic;
  std::optional<PartitionIndex> partition;
  ErrorCode error = ErrorCode::None;

  friend bool operator==(const Fault&, const Fault&) = default;
};

/// What may stand beside "kind" in a fault's JSON, as bits.
enum Parameter : uint32_t {
  kTarget = 1 << 0,
  kDuration = 1 << 1,
  /// nth, every and probability of the trigger; when it begins may always be said.
  kOccasions = 1 << 2,
  kDelay = 1 << 3,
  kJitter = 1 << 4,
  kBytesPerSecond = 1 << 5,
  kGroups = 1 << 6,
  kWithClients = 1 << 7,
  kPath = 1 << 8,
  kFileCalls = 1 << 9,
  kOffset = 1 << 10,
  kClocks = 1 << 11,
  kRate = 1 << 12,
  kApi = 1 << 13,
  kTopic = 1 << 14,
  kPartition = 1 << 15,
  kError = 1 << 16,
};

/// "cut", "power-loss", …
std::string_view nameOf(Kind kind) noexcept;
std::optional<Kind> kindOf(std::string_view name) noexcept;
/// In the order of the enumeration.
const std::vector<Kind>& allKinds();
Area areaOf(Kind kind) noexcept;
/// Which parameters the kind takes, and which of these it must have.
uint32_t parametersOf(Kind kind) noexcept;
uint32_t requiredOf(Kind kind) noexcept;
/// Over at once: there is nothing left to heal.
bool isMomentary(Kind kind) noexcept;
/// What its links carry waits until it is healed.
bool keepsBack(Kind kind) noexcept;

/// InvalidRequest that says what is impossible about it whatever the cluster.
Result<void> check(const Fault& fault);

/// In words, for lists and events: "delay link 1->3".
std::string textOf(const Fault& fault);

}  // namespace tidemark::faults
