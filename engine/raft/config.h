#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "platform/clock.h"
#include "platform/network.h"

namespace tidemark::raft {

using platform::Duration;
using platform::MonotonicTime;
using std::chrono::milliseconds;

/// Settings of the quorum, with Kafka's defaults. Constant after start.
struct RaftConfig {
  /// controller.quorum.election.timeout.ms: how long a voter waits in an election, plus as much again at random.
  Duration electionTimeout = milliseconds(1000);
  /// controller.quorum.election.backoff.max.ms: longest pause after an election that was lost.
  Duration electionBackoffMax = milliseconds(1000);
  /// controller.quorum.fetch.timeout.ms: a follower without a good fetch for that long starts an election; a leader
  /// that was not fetched from by a majority for 1.5 times that resigns.
  Duration fetchTimeout = milliseconds(2000);
  /// controller.quorum.request.timeout.ms
  Duration requestTimeout = milliseconds(2000);
  /// controller.quorum.retry.backoff.ms
  Duration retryBackoff = milliseconds(20);
  /// controller.quorum.append.linger.ms: how long records wait for others before they are appended as one batch.
  Duration appendLinger = milliseconds(25);
  /// controller.quorum.fetch.max.bytes
  int32_t fetchMaxBytes = 1024 * 1024;
  /// controller.quorum.fetch.snapshot.max.bytes
  int32_t fetchSnapshotMaxBytes = 1024 * 1024;
  /// metadata.max.retention.bytes: while log and snapshots together are larger, the oldest snapshot goes and with it
  /// what the log holds below the next one. Negative: no limit.
  int64_t retentionBytes = 100 * 1024 * 1024;
  /// metadata.max.retention.ms: so does a snapshot whose newest record is older than this, unless it is the only one.
  /// Negative: no limit.
  milliseconds retention = std::chrono::hours(24 * 7);
  /// How long a leader may keep a fetch of ours without data. 500 ms in Kafka; never above a quarter of fetchTimeout.
  Duration fetchMaxWait = milliseconds(500);
  /// The lab's rule, off in Kafka: in a quorum without history the voter with the lowest id starts the first election
  /// at once instead of waiting for its timeout.
  bool lowestVoterStartsAtOnce = false;
  /// controller.quorum.bootstrap.servers (or the addresses of controller.quorum.voters): where a node that knows no
  /// leader asks.
  std::vector<platform::Endpoint> bootstrapServers;

  Duration effectiveFetchWait() const noexcept { return std::min(fetchMaxWait, fetchTimeout / 4); }
  /// A leader that no majority fetched from for this long resigns (check quorum).
  Duration checkQuorumTimeout() const noexcept { return fetchTimeout * 3 / 2; }
  /// How often a leader tells voters that do not fetch who leads.
  Duration beginQuorumInterval() const noexcept { return fetchTimeout / 2; }
};

}  // namespace tidemark::raft
