#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/share/dead_letters.h"
#include "broker/share/share_partition.h"
#include "broker/share/share_sessions.h"
#include "config/broker_config.h"
#include "coordinator/share/share_groups.h"
#include "coordinator/share_state/share_state_operations.h"
#include "platform/file_system.h"
#include "platform/process.h"
#include "purgatory/purgatory.h"
#include "replication/replica_manager.h"

namespace tidemark::broker {

/// A share-partition: the group and the partition.
struct SharePartitionId {
  std::string groupId;
  TopicIdPartition partition;
  friend auto operator<=>(const SharePartitionId&, const SharePartitionId&) = default;
  friend bool operator==(const SharePartitionId&, const SharePartitionId&) = default;
};

/// What may let a parked share fetch go on: something happened to the group's share-partition, or (without a group) to
/// the partition for whoever shares it.
struct ShareWaitKey {
  std::string groupId;
  TopicIdPartition partition;
  friend bool operator==(const ShareWaitKey&, const ShareWaitKey&) = default;
};

}  // namespace tidemark::broker

template <>
struct std::hash<tidemark::broker::ShareWaitKey> {
  size_t operator()(const tidemark::broker::ShareWaitKey& key) const noexcept {
    return std::hash<std::string>{}(key.groupId) * 31 + std::hash<tidemark::TopicIdPartition>{}(key.partition);
  }
};

namespace tidemark::broker {

/// What a share group may set for itself (`share.…`), resolved.
struct ShareGroupSettings {
  SharePartitionConfig partition;
  bool readCommitted = false;
  /// share.auto.offset.reset: a time for ListOffsets (−1 latest, −2 earliest), or how far back from now.
  int64_t resetTimestamp = -1;
  std::optional<platform::milliseconds> resetDuration;
  /// share.renew.acknowledge.enable
  bool renews = true;
};
/// The same for what concerns its members.
coordinator::ShareMembershipSettings shareMembershipSettings(const metadata::Image& image,
                                                             const config::BrokerConfig& config,
                                                             std::string_view groupId);
ShareGroupSettings shareGroupSettings(const metadata::Image& image, const config::BrokerConfig& config,
                                      std::string_view groupId);

/// A share-partition as views show it.
struct SharePartitionView {
  std::string groupId;
  TopicPartition partition;
  LeaderEpoch leaderEpoch;
  int32_t stateEpoch = 0;
  Offset startOffset;
  Offset endOffset;
  int32_t deliveryCompleteCount = 0;
  bool isActive = false;
  std::vector<SharePartition::Stretch> stretches;
};

/// What share groups do at this broker, which leads the partitions: sessions, share-partitions and their state, fetches
/// that wait; Kafka's SharePartitionManager. Everything runs on one serial executor, where answers come as well; calls
/// from any thread.
class ShareService final {
 public:
  struct Dependencies {
    platform::Process* process = nullptr;
    /// Serial.
    std::shared_ptr<platform::Executor> executor;
    replication::ReplicaManager* replicas = nullptr;
    /// Answers on the executor.
    coordinator::ShareStatePersister* persister = nullptr;
    /// Of the same executor.
    DeadLetterWriter* deadLetters = nullptr;
    std::function<std::shared_ptr<const config::BrokerConfig>()> config;
    /// Whether a connection is still there. Empty: each is.
    std::function<bool(std::string_view connectionId)> isConnected;
    /// `group.share.max.share.sessions`
    size_t sessions = 2000;
    /// `share.fetch.purgatory.purge.interval.requests`
    int64_t purgeInterval = 1000;
  };

  explicit ShareService(Dependencies dependencies);
  ~ShareService();

  struct Acknowledgement {
    TopicIdPartition partition;
    /// Or why it cannot be meant.
    Result<std::vector<AcknowledgeBatch>> batches;
  };
  struct Outcome {
    TopicIdPartition partition;
    Error error{ErrorCode::None, {}};
  };
  struct Fetched {
    TopicIdPartition partition;
    Error error{ErrorCode::None, {}};
    /// Whole batches of the log that hold what was acquired.
    platform::FileSlice records;
    std::vector<AcquiredRange> acquired;
  };
  struct FetchRequest {
    ShareSessions::Request session;
    std::vector<Acknowledgement> acknowledgements;
    platform::Duration maxWait{};
    int32_t minBytes = 0;
    int32_t maxBytes = 0;
    int32_t maxRecords = 0;
    int32_t batchSize = 0;
    bool strict = false;
    /// A request that only renews locks and acknowledges.
    bool renewsOnly = false;
  };
  struct FetchAnswer {
    /// Of the whole request.
    Error error{ErrorCode::None, {}};
    platform::milliseconds lockDuration{0};
    std::vector<Fetched> fetched;
    std::vector<Outcome> acknowledged;
  };
  void fetch(FetchRequest request, std::move_only_function<void(FetchAnswer)> done);
  /// `request.session` and `request.acknowledgements` alone count.
  void acknowledge(FetchRequest request, std::move_only_function<void(FetchAnswer)> done);

  /// A client's connection is gone: what its share sessions hold is given to others at once (KIP-932). Cheap if there
  /// are no sessions. Any thread.
  void disconnected(const std::string& connectionId);
  /// After ReplicaManager::apply() of the same change, on the same executor.
  void apply(const replication::MetadataChange& change, NodeId self);
  /// The partition's high watermark has moved. Costs nothing if nothing is shared here, little if it is not.
  void onHighWatermark(const TopicIdPartition& partition);
  /// What waits is answered; nothing is shared any more.
  void stop();

  /// All share-partitions of this broker, by group and name.
  void snapshot(std::move_only_function<void(std::vector<SharePartitionView>)> done);
  /// The same at once, for where nothing else runs, as between two steps of the simulator: sets nothing going.
  std::vector<SharePartitionView> snapshotNow() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::broker
