#pragma once

#include "base/ids.h"

namespace tidemark::client {

/// Where to go on in a partition, and the leader epoch of the record before it. Whoever goes on there (KIP-320) is not
/// misled by a broker that has not heard of that epoch yet, and is told where the log was cut. No epoch: it is not
/// known.
struct LogPosition {
  LogPosition() = default;
  constexpr LogPosition(Offset at, LeaderEpoch before = kNoLeaderEpoch) noexcept : offset(at), leaderEpoch(before) {}

  Offset offset;
  LeaderEpoch leaderEpoch = kNoLeaderEpoch;

  friend bool operator==(const LogPosition&, const LogPosition&) = default;
};

}  // namespace tidemark::client
