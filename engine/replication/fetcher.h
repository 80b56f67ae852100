#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "network/channel.h"
#include "platform/process.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/list_offsets_response.h"
#include "replication/fetch_session_client.h"
#include "replication/partition.h"
#include "replication/replication_quota.h"

namespace tidemark::replication {

struct FetcherOptions {
  NodeId self;
  NodeId leader;
  /// Which of the fetchers from that leader.
  int id = 0;
  platform::Endpoint endpoint;
  std::function<BrokerEpoch()> brokerEpoch;
  /// Told after each append of fetched records, with no lock held.
  std::function<void(Partition& partition, bool highWatermarkMoved)> appended;
  /// The log of a partition cannot be written any more: it is not fetched again.
  std::function<void(Partition& partition, const Error& error)> failed;
  /// Of followers; null: none. Outlives the fetcher.
  ReplicationQuota* quota = nullptr;
  platform::Duration maxWait = std::chrono::milliseconds(500);  ///< replica.fetch.wait.max.ms
  platform::Duration backoff =
      std::chrono::milliseconds(1000);  ///< replica.fetch.backoff.ms: the longest wait after errors
  platform::Duration requestTimeout = std::chrono::seconds(30);  ///< replica.socket.timeout.ms
  int32_t minBytes = 1;                                          ///< replica.fetch.min.bytes
  int32_t maxBytes = 10 << 20;                                   ///< replica.fetch.response.max.bytes
  int32_t partitionMaxBytes = 1 << 20;                           ///< replica.fetch.max.bytes
};

/// Copies partitions from one leader broker, as a consumer does, over a connection of its own: one fetch under way at
/// any time, and the next as soon as its answer is appended. Says in each fetch where its log ends and of which epoch
/// the last record is; truncates when the leader answers that the logs part there; Kafka's ReplicaFetcherThread.
///
/// Belongs to its serial executor; add(), remove() and stop() may be called on any thread and are carried out there.
class Fetcher : public std::enable_shared_from_this<Fetcher> {
 public:
  Fetcher(platform::Process& process, std::shared_ptr<platform::Executor> executor, FetcherOptions options);
  ~Fetcher();

  /// Follows `partition` in `epoch` from its log end on.
  void add(std::shared_ptr<Partition> partition, LeaderEpoch epoch);
  void remove(const TopicIdPartition& partition);
  /// Fetches no more; the connection is closed.
  void stop();

 private:
  struct Followed {
    std::shared_ptr<Partition> partition;
    LeaderEpoch epoch;
    Offset fetchOffset;
    std::optional<LeaderEpoch> lastFetchedEpoch;
    /// Not fetched before; min(): at once.
    platform::MonotonicTime notBefore = platform::MonotonicTime::min();
    /// Errors in a row, as far as they lengthen the wait.
    int failures = 0;
    /// The leader is being asked where its log begins and ends.
    bool askingOffsets = false;
    /// It had all that the leader had committed: such a replica is not held back by the quota.
    bool inSync = false;
  };
  using Key = TopicIdPartition;

  void fetch();
  void answered(Result<network::Received<protocol::FetchResponse>> response, const std::map<Key, LeaderEpoch>& asked);
  void partitionAnswered(Followed& followed, protocol::FetchResponse::PartitionData& data);
  void records(Followed& followed, protocol::FetchResponse::PartitionData& data);
  void diverged(Followed& followed, LeaderEpoch leaderEpoch, Offset leaderEnd);
  void outOfRange(const Key& key);
  void askOffset(const Key& key, LeaderEpoch epoch, int64_t timestamp);
  void offsetAnswered(const Key& key, LeaderEpoch epoch, int64_t timestamp, ErrorCode error, Offset offset);
  void positionAt(Followed& followed, Offset offset);
  /// After an error: longer each time, up to FetcherOptions::backoff.
  void delay(Followed& followed);
  /// For the quota's sake.
  void holdBack(Followed& followed);
  bool isHeldBack(const Followed& followed) const;
  void giveUp(const Key& key, const Error& error);
  void fetchLater(platform::MonotonicTime at);

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  const FetcherOptions options_;

  // Of the executor.
  std::unique_ptr<network::Channel> channel_;
  FetchSessionClient session_;
  std::map<Key, Followed> followed_;
  bool underWay_ = false;
  bool stopped_ = false;
  platform::Timer wakeUp_;
};

}  // namespace tidemark::replication
