#pragma once

#include <functional>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "metadata/controller/heartbeat_tracker.h"
#include "metadata/controller/settings.h"
#include "metadata/features.h"
#include "metadata/image.h"
#include "metadata/records.h"
#include "platform/clock.h"
#include "platform/random.h"

namespace tidemark::metadata {

/// All that a handler may look at: handlers are functions of it and of their request, nothing else.
struct ControllerView {
  /// Committed records and the controller's own uncommitted ones.
  const Image& image;
  const HeartbeatTracker& heartbeats;
  const ControllerSettings& settings;
  platform::MonotonicTime now;
  platform::Random& random;
  /// Where the first record of the answer will land.
  Offset nextOffset;
  /// Of the request in hand.
  int16_t requestVersion = 0;

  MetadataVersion version() const noexcept { return MetadataVersion(image.features.metadataVersion()); }
  bool elrEnabled() const noexcept { return image.features.level(kEligibleLeaderReplicasFeature) > 0; }
  config::BrokerLayers layers() const {
    return {image.configs.broker(settings.nodeId), image.configs.clusterDefault(), settings.properties};
  }
  /// In force for a topic, through all layers.
  bool uncleanElectionEnabled(std::string_view topic) const;
  int32_t minInsyncReplicas(std::string_view topic, size_t replicas) const;
  /// Where a new replica on that broker lies: its only directory, or Unassigned until it says.
  Uuid defaultDirectory(NodeId broker) const;
  /// The registration, if it has that epoch; StaleBrokerEpoch or BrokerIdNotRegistered otherwise.
  Result<const BrokerRegistration*> checkBrokerEpoch(int32_t brokerId, int64_t brokerEpoch) const;
};

/// Records to append, and what to answer once they are committed.
template <class Response>
struct Outcome {
  Records records;
  Response response;
  /// All records in one batch, or none; a user's request too large for one is refused.
  bool atomic = true;
  /// What the soft state learns once the records were appended (the last at `lastOffset`).
  std::function<void(HeartbeatTracker&, Offset lastOffset)> soft;
};

/// An error that leaves no records and is the whole answer.
template <class Response>
using HandlerResult = Result<Outcome<Response>>;

/// Records of one user's request at most (Kafka's MAX_RECORDS_PER_USER_OP), and of one batch of an internal one.
inline constexpr size_t kMaxRecordsPerBatch = 10000;

}  // namespace tidemark::metadata
