#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/file_names.h"
#include "log/log_manager.h"
#include "metadata/delta.h"
#include "metadata/image.h"
#include "platform/process.h"
#include "purgatory/purgatory.h"
#include "replication/alter_partition_manager.h"
#include "replication/delayed.h"
#include "replication/directory_assignments.h"
#include "replication/fetch_session.h"
#include "replication/fetcher.h"
#include "replication/log_dir_mover.h"
#include "replication/partition.h"
#include "replication/refused_batches.h"
#include "replication/replication_quota.h"

namespace tidemark::replication {

/// What a node's replicas need to know of a topic's configuration.
struct TopicSettings {
  log::LogConfig log;
  int minInsyncReplicas = 1;
  /// ….replication.throttled.replicas
  std::vector<std::string> leaderThrottled;
  std::vector<std::string> followerThrottled;
};

struct ReplicaManagerOptions {
  NodeId self;
  std::string interBrokerListener;
  platform::Duration lagMax = std::chrono::seconds(30);  ///< replica.lag.time.max.ms
  platform::Duration fetchMaxWait = std::chrono::milliseconds(500);
  platform::Duration fetchBackoff = std::chrono::milliseconds(1000);
  platform::Duration fetchRequestTimeout = std::chrono::seconds(30);
  int32_t fetchMinBytes = 1;
  int32_t fetchResponseMaxBytes = 10 << 20;
  int32_t fetchMaxBytes = 1 << 20;
  /// num.replica.fetchers: connections to each leader.
  int fetchersPerLeader = 1;
  /// replica.selector.class is RackAwareReplicaSelector: consumers are sent to a replica in their rack.
  bool rackAwareReads = false;
  size_t fetchSessions = 1000;  ///< max.incremental.fetch.session.cache.slots
  std::function<TopicSettings(const metadata::Image& image, const std::string& topic)> settingsOf;
  std::function<BrokerEpoch()> brokerEpoch;
  /// Serial: proposals to the controller and the checks of who lags.
  std::shared_ptr<platform::Executor> isrExecutor;
  /// Sends AlterPartition to the active controller; answers on `isrExecutor`.
  AlterPartitionManager::Send alterPartition;
  /// Sends AssignReplicasToDirs to the active controller; answers on `isrExecutor`. Null: nobody is told.
  DirectoryAssignments::Send assignDirectories;
  /// `num.replica.alter.log.dirs.threads`
  int moveThreads = 1;
};

/// What changed between two images, kept beyond the delta that told it.
struct MetadataChange {
  metadata::ImagePtr before;
  metadata::ImagePtr after;
  /// Changed, created and gone ones.
  std::vector<TopicIdPartition> partitions;
  std::set<NodeId> brokers;
  std::vector<std::string> configuredTopics;
  std::vector<std::string> configuredGroups;
  /// The default of all brokers or this broker's own configuration changed.
  bool brokerConfigChanged = false;

  static MetadataChange of(const metadata::Delta& delta, metadata::ImagePtr after, NodeId self);
};

/// All replicas of one broker: takes up the roles that the metadata gives, appends, reads, parks what must wait, runs
/// the fetchers; Kafka's ReplicaManager. Any thread, but for apply(), which one executor calls.
class ReplicaManager {
 public:
  ReplicaManager(platform::Process& process, std::shared_ptr<log::LogManager> logs, events::Recorder& recorder,
                 ReplicaManagerOptions options);
  ~ReplicaManager();

  // --- metadata -----------------------------------------------------------------------------------------------------

  void apply(const MetadataChange& change);
  metadata::ImagePtr image() const;
  /// Leads nothing and copies nothing any more; what is parked is answered NotLeaderOrFollower.
  void shutdown();

  // --- partitions ---------------------------------------------------------------------------------------------------

  /// Null if this broker has no such replica.
  std::shared_ptr<Partition> find(const TopicPartition& partition) const;
  std::shared_ptr<Partition> find(const TopicIdPartition& partition) const;
  std::vector<std::shared_ptr<Partition>> all() const;
  /// Why find() found nothing: NotLeaderOrFollower if the partition exists elsewhere, UnknownTopicId or
  /// UnknownTopicOrPartition if not.
  Error whyMissing(const TopicPartition& name, const Uuid& topicId) const;

  // --- requests -----------------------------------------------------------------------------------------------------

  /// Appends each item to its partition. acks=-1: `done` waits for the ISR, at most `timeout`. Results are in the order
  /// of the items. The items' bytes are not used after this returns; `done` runs once, perhaps before it does.
  void append(int16_t acks, platform::Duration timeout, std::span<const ProduceItem> items,
              const log::AppendOptions& options, const RequestLabel& label, ProduceDone done);

  /// For who appended to `partition` itself (a coordinator): wakes the followers, moves the high watermark.
  void appended(Partition& partition);

  void fetch(const FetchParams& params, std::vector<FetchItem> items, FetchDone done);

  /// Cuts each log start; `done` when all replicas that are alive have followed, at most `timeout`.
  struct DeleteItem {
    TopicPartition partition;
    Offset offset;
  };
  void deleteRecords(const std::vector<DeleteItem>& items, platform::Duration timeout, DeleteDone done);

  // --- log directories (KIP-113); by whoever calls apply()
  // ------------------------------------------------------------

  struct DirectoryItem {
    TopicPartition partition;
    /// The directory's path as configured.
    std::string path;
  };
  /// Moves each replica to the directory, in the background; to where it lies: gives up a move. What came of each:
  /// None; LogDirNotFound; KafkaStorageError; ReplicaNotAvailable (it will be made there); InvalidTopicException.
  std::vector<ErrorCode> alterLogDirs(const std::vector<DirectoryItem>& items);
  /// It went offline: moves from it and to it end.
  void directoryFailed(const Uuid& directory);
  void setMoveLimit(int64_t bytesPerSecond) { mover_.setLimit(bytesPerSecond); }

  // --- quotas of replication (KIP-73) -------------------------------------------------------------------------------

  /// leader.replication.throttled.rate and follower.….
  void setReplicationLimits(int64_t leaderBytesPerSecond, int64_t followerBytesPerSecond) {
    leaderQuota_.setLimit(leaderBytesPerSecond);
    followerQuota_.setLimit(followerBytesPerSecond);
  }
  /// num.replica.fetchers changed; by whoever calls apply().
  void setFetchersPerLeader(int count);
  /// Whether a follower that is not in sync gets nothing for now, since the leader's quota is used up.
  bool holdsBack(const FetchParams& params, const Partition& partition) const;
  /// What was read for a follower is about to be sent.
  void noteSent(const FetchParams& params, const std::vector<FetchResult>& results);

  FetchSessionCache& fetchSessions() noexcept { return sessions_; }

  // --- looks and hooks ----------------------------------------------------------------------------------------------

  /// Called with no lock held after the high watermark of a partition moved, on the thread that moved it.
  using HighWatermarkListener = std::function<void(Offset highWatermark)>;
  void onHighWatermark(const TopicPartition& partition, HighWatermarkListener listener);
  void forgetHighWatermark(const TopicPartition& partition);
  /// The same for every partition, by one who keeps it cheap. Set once, before there are any.
  void onAnyHighWatermark(std::function<void(const TopicIdPartition&)> listener) {
    anyHighWatermark_ = std::move(listener);
  }

  /// What waits in the purgatories now, by deadline.
  std::vector<ParkedView> parkedProduces() const;
  /// A fetch that waits for several partitions is shown at `preferred`, if that is among them.
  std::vector<ParkedView> parkedFetches(const TopicPartition* preferred = nullptr) const;
  int fetcherCount() const;

  /// For DelayedFetch: reads all items anew.
  std::vector<FetchResult> readAll(const FetchParams& params, const std::vector<FetchItem>& items, bool noteFollower);

 private:
  struct Placed {
    std::shared_ptr<Partition> partition;
    NodeId fetchedFrom = kNoNode;
  };

  void configure(const std::string& topic, const TopicSettings& settings);
  void throttle(Partition& partition, const TopicSettings& settings) const;
  void applyPartition(const MetadataChange& change, const TopicIdPartition& id);
  std::shared_ptr<Partition> open(const TopicIdPartition& id, const TopicPartition& name, const metadata::Image& image,
                                  const metadata::PartitionRegistration& registration);
  void drop(const TopicIdPartition& id, bool removeLog);
  void follow(const TopicIdPartition& id, Placed& placed, const metadata::Image& image,
              const metadata::PartitionRegistration& registration, bool anew);
  void unfollow(const TopicIdPartition& id, Placed& placed);
  /// Goes on with a copy that is there, and tells the controller where the replica lies if it believes otherwise.
  void settleDirectory(const TopicIdPartition& id, const std::shared_ptr<Partition>& partition,
                       const metadata::PartitionRegistration& registration, const metadata::Image& image);
  ErrorCode alterLogDir(const DirectoryItem& item);
  void cancelMove(Partition& partition, const std::string& reason);
  void restartFetchersOf(NodeId broker, const metadata::Image& image);
  /// Takes up what nobody copies yet.
  void followAll(const metadata::Image& image, const std::function<bool(NodeId leader)>& ofLeader);
  /// Which of a leader's fetchers copies the partition.
  int fetcherIdOf(const TopicPartition& partition) const;
  std::shared_ptr<Fetcher> fetcherFor(NodeId leader, const TopicPartition& partition, const metadata::Image& image);
  /// Where a consumer in that rack should read; nothing: here.
  std::optional<NodeId> preferredReadReplica(const Partition& partition, const std::string& rack, Offset offset) const;
  void dataArrived(Partition& partition);
  void highWatermarkMoved(Partition& partition);
  void lagDeadline(platform::MonotonicTime at);
  void checkIsrs();
  std::vector<std::shared_ptr<Partition>> leaders() const;

  platform::Process& process_;
  const std::shared_ptr<log::LogManager> logs_;
  events::Recorder& recorder_;
  const ReplicaManagerOptions options_;
  const std::shared_ptr<const PartitionEnvironment> environment_;
  AlterPartitionManager alterPartition_;
  DirectoryAssignments assignments_;
  LogDirMover mover_;
  FetchSessionCache sessions_;
  RefusedBatches refused_;
  ReplicationQuota leaderQuota_;
  ReplicationQuota followerQuota_;
  const std::shared_ptr<purgatory::ExpirationTimer> expiration_;
  purgatory::Purgatory<TopicIdPartition> produces_;
  purgatory::Purgatory<TopicIdPartition> fetches_;
  purgatory::Purgatory<TopicIdPartition> deletes_;

  /// Of the executor that calls apply().
  std::map<TopicIdPartition, Placed> placed_;
  struct RunningFetcher {
    std::shared_ptr<Fetcher> fetcher;
    platform::Endpoint endpoint;
    BrokerEpoch epoch;
  };
  /// By leader and number of the fetcher.
  std::map<std::pair<NodeId, int>, RunningFetcher> fetchers_;
  int fetchersPerLeader_;
  std::atomic<int> fetcherCount_{0};

  mutable SharedMutex mutex_;
  metadata::ImagePtr image_ GUARDED_BY(mutex_);
  std::unordered_map<TopicPartition, std::shared_ptr<Partition>> byName_ GUARDED_BY(mutex_);
  std::unordered_map<TopicIdPartition, std::shared_ptr<Partition>> byId_ GUARDED_BY(mutex_);
  std::unordered_map<TopicPartition, HighWatermarkListener> listeners_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::function<void(const TopicIdPartition&)> anyHighWatermark_;

  Mutex lagMutex_;
  platform::MonotonicTime lagArmedFor_ GUARDED_BY(lagMutex_) = platform::MonotonicTime::max();
  /// Of the ISR executor.
  platform::Timer lagTimer_;
};

}  // namespace tidemark::replication
