#pragma once

#include <string>

#include "platform/clock.h"

namespace tidemark::platform {

struct WorldCore;

/// How bytes travel from one process to another. Order within a connection is kept whatever the delays.
struct LinkOptions {
  Duration minDelay = std::chrono::microseconds(20);
  Duration maxDelay = std::chrono::microseconds(300);
  /// 0: as much as comes.
  uint64_t bytesPerSecond = 0;
  friend bool operator==(const LinkOptions&, const LinkOptions&) = default;
};

/// What a test may do to the links of a World. Links lie between process names, so they outlive restarts. A cut link
/// loses nothing: TCP repeats, so what is on its way arrives after the link is healed, unless somebody gave up.
class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(WorldCore& core) noexcept : core_(core) {}

  /// Nothing passes between the two, in either direction, until healed.
  void cut(const std::string& a, const std::string& b);
  /// Nothing passes from the one to the other; the way back stays open.
  void cutOneWay(const std::string& from, const std::string& to);
  /// Cuts a process off from all others, those that start later included.
  void isolate(const std::string& name);
  void heal(const std::string& a, const std::string& b);
  /// Ends isolate(name).
  void heal(const std::string& name);
  /// Mends every link. Delays stay.
  void heal();
  /// One direction.
  void setLink(const std::string& from, const std::string& to, LinkOptions options);
  /// Both sides of every connection between the two see it reset.
  void reset(const std::string& a, const std::string& b);
  /// Whether the one is cut off from the other, isolations aside.
  bool isCut(const std::string& from, const std::string& to) const;
  bool isIsolated(const std::string& name) const;
  /// Of that direction.
  LinkOptions link(const std::string& from, const std::string& to) const;
  /// Connections that are open on at least one side.
  size_t connectionCount() const;

 private:
  WorldCore& core_;
};

}  // namespace tidemark::platform
