#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/formatting.h"
#include "base/ids.h"
#include "base/uuid.h"

namespace tidemark::raft {

/// The name of the one topic that is replicated by the quorum; it has the one partition 0.
inline constexpr std::string_view kMetadataTopic = "__cluster_metadata";
/// The snapshot that formatting writes: what is true before the first record of the log.
inline constexpr OffsetAndEpoch kBootstrapSnapshotId{Offset(0), LeaderEpoch(0)};
/// Most bytes of one batch of metadata records (Kafka's KafkaRaftClient.MAX_BATCH_SIZE_BYTES).
inline constexpr size_t kMaxBatchBytes = 8 * 1024 * 1024;
/// Most voters we read from a record or a request.
inline constexpr size_t kMaxVoters = 1000;

/// A replica of the metadata log (KIP-853): a node id together with the id of the directory that holds its log. A zero
/// directory: not known (kraft.version 0), it matches any.
struct ReplicaKey {
  NodeId id;
  Uuid directoryId;

  bool exists() const noexcept { return id.value() >= 0; }
  /// Whether both name the same replica as far as the directories are known.
  bool matches(const ReplicaKey& other) const noexcept {
    return id == other.id && (directoryId.isZero() || other.directoryId.isZero() || directoryId == other.directoryId);
  }
  friend auto operator<=>(const ReplicaKey&, const ReplicaKey&) = default;
};

/// Where a voter is reached on one listener.
struct VoterEndpoint {
  std::string listener;
  std::string host;
  uint16_t port = 0;
  friend auto operator<=>(const VoterEndpoint&, const VoterEndpoint&) = default;
};

struct Voter {
  ReplicaKey key;
  std::vector<VoterEndpoint> endpoints;
  int16_t minKRaftVersion = 0;
  int16_t maxKRaftVersion = 1;
  friend bool operator==(const Voter&, const Voter&) = default;
};

/// The voters of a moment, in order of their ids. An immutable value.
class VoterSet {
 public:
  VoterSet() = default;
  /// Of two voters with one id the first stays.
  explicit VoterSet(std::vector<Voter> voters);

  bool empty() const noexcept { return voters_.empty(); }
  size_t size() const noexcept { return voters_.size(); }
  const std::vector<Voter>& all() const noexcept { return voters_; }
  const Voter* find(NodeId id) const noexcept;
  bool contains(NodeId id) const noexcept { return find(id) != nullptr; }
  /// Whether `key` votes: its id does, and its directory is the one that does (or is not known on either side).
  bool isVoter(const ReplicaKey& key) const noexcept;
  /// Voters that make a majority: more than half.
  size_t majority() const noexcept { return voters_.size() / 2 + 1; }
  friend bool operator==(const VoterSet&, const VoterSet&) = default;

 private:
  std::vector<Voter> voters_;
};

/// Who leads as far as a node knows. `leader` is kNoNode while the epoch has no known leader.
struct LeaderAndEpoch {
  NodeId leader;
  LeaderEpoch epoch{0};
  bool hasLeader() const noexcept { return leader.value() >= 0; }
  friend bool operator==(const LeaderAndEpoch&, const LeaderAndEpoch&) = default;
};

/// What a node must not forget (K2, K3): the highest epoch it has seen, whom it voted for in it, who leads it. Lies in
/// the file quorum-state; it is on disk before anybody is told.
struct ElectionState {
  LeaderEpoch epoch{0};
  NodeId leader;
  std::optional<ReplicaKey> voted;
  friend bool operator==(const ElectionState&, const ElectionState&) = default;
};

enum class RoleName : uint8_t { Unattached, Prospective, Candidate, Leader, Follower, Resigned };
std::string_view roleName(RoleName role) noexcept;

}  // namespace tidemark::raft

template <>
struct fmt::formatter<tidemark::raft::ReplicaKey> : tidemark::PlainFormatter {
  auto format(const tidemark::raft::ReplicaKey& key, format_context& context) const {
    if (key.directoryId.isZero()) return put(key.id.value(), context);
    return put(fmt::format("{}@{}", key.id.value(), key.directoryId.toString()), context);
  }
};
template <>
struct fmt::formatter<tidemark::raft::LeaderAndEpoch> : tidemark::PlainFormatter {
  auto format(const tidemark::raft::LeaderAndEpoch& value, format_context& context) const {
    return put(fmt::format("leader {} epoch {}", value.leader.value(), value.epoch.value()), context);
  }
};
