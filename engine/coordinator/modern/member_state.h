#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::coordinator {

/// The member epoch by which a member says that it joins, leaves, or (static) goes away for a while.
inline constexpr int32_t kJoinEpoch = 0;
inline constexpr int32_t kLeaveEpoch = -1;
inline constexpr int32_t kStaticLeaveEpoch = -2;

/// How far a member of a server-assigned group is on the way to its target, in the numbers of Kafka's records.
enum class MemberState : int8_t {
  /// Owns what the target of its epoch says.
  Stable = 0,
  /// Was asked to give back partitions and still owns some of them.
  UnrevokedPartitions = 1,
  /// Is at the target's epoch; others have yet to give back the rest of what it is to own.
  UnreleasedPartitions = 2,
  /// Written by a later version.
  Unknown = 127,
};
/// Kafka's name ("STABLE").
std::string_view nameOf(MemberState state) noexcept;

/// Kafka's names of the states of server-assigned groups: "Empty", "Assigning" (its epoch is ahead of its target's),
/// "Reconciling" (a member is not at the target yet), "Stable".
namespace modern_state {
inline constexpr std::string_view kEmpty = "Empty";
inline constexpr std::string_view kAssigning = "Assigning";
inline constexpr std::string_view kReconciling = "Reconciling";
inline constexpr std::string_view kStable = "Stable";
inline constexpr std::string_view kDead = "Dead";
}  // namespace modern_state

}  // namespace tidemark::coordinator
