#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coordinator/streams/tasks.h"
#include "platform/clock.h"

namespace tidemark::coordinator {

/// How far a member has followed the target assignment; the numbers are those of its record.
enum class StreamsMemberState : int8_t {
  /// Has all that its epoch gives it.
  Stable = 1,
  /// Still runs tasks that it has to give up: it stays in its epoch until it has said that they are gone.
  UnrevokedTasks = 2,
  /// Is in the target's epoch and waits for tasks that others have yet to give up.
  UnreleasedTasks = 3,
  /// Written by a later version.
  Unknown = 127,
};
StreamsMemberState streamsMemberState(int8_t number) noexcept;
/// Kafka's name ("UNREVOKED_TASKS").
std::string_view stateName(StreamsMemberState state) noexcept;

/// Where the application's own server of a member listens (`application.server`).
struct UserEndpoint {
  std::string host;
  uint16_t port = 0;
  friend bool operator==(const UserEndpoint&, const UserEndpoint&) = default;
};

/// A member of a streams group (Kafka's StreamsGroupMember): one stream thread. A value; what it is made of is in the
/// records StreamsGroupMemberMetadata (the client's own) and StreamsGroupCurrentMemberAssignment (epochs and tasks).
struct StreamsMember {
  std::string id;
  int32_t epoch = 0;
  /// Before the last change: a member that missed an answer still names it.
  int32_t previousEpoch = 0;
  StreamsMemberState state = StreamsMemberState::Stable;
  std::optional<std::string> instanceId;
  std::optional<std::string> rackId;
  std::string clientId;
  /// With Java's leading slash: "/127.0.0.1".
  std::string clientHost;
  platform::milliseconds rebalanceTimeout{-1};
  int32_t topologyEpoch = -1;
  /// Of the instance whose thread it is: its threads share state directories.
  std::string processId;
  std::optional<UserEndpoint> userEndpoint;
  std::map<std::string, std::string> clientTags;
  AssignedTasks assigned;
  /// What it was told to give up and has not yet.
  AssignedTasks pendingRevocation;

  bool isReconciledTo(int32_t assignmentEpoch) const noexcept {
    return state == StreamsMemberState::Stable && epoch == assignmentEpoch;
  }
  friend bool operator==(const StreamsMember&, const StreamsMember&) = default;
};

}  // namespace tidemark::coordinator
