#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "coordinator/coordinator_log.h"
#include "coordinator/effects.h"
#include "platform/executor.h"
#include "platform/logger.h"
#include "purgatory/expiration_timer.h"
#include "records/batch.h"
#include "records/codec.h"
#include "records/record.h"

namespace tidemark::coordinator {

/// The state that one partition of a coordinator's topic holds, as a state machine without I/O: it decides, the runtime
/// does. State follows the log by replay(). Called on the runtime's executor only.
class Shard {
 public:
  virtual ~Shard() = default;

  /// Applies a record, on loading and after each append. `offset` is its own. `producerId`: none, or that of the
  /// transaction it belongs to. Records that it does not know are passed over; ones it cannot read are an error.
  virtual Result<void> replay(Offset offset, ProducerId producerId, ByteView key, std::optional<ByteView> value) = 0;
  /// A transaction has ended, by the marker at `offset`: its records count from now on, or never.
  virtual void replayEndTxn(Offset offset, ProducerId producerId, bool commit) = 0;
  /// Everything below is committed.
  virtual void onHighWatermark(Offset highWatermark) = 0;
  /// All of the log was replayed; the shard serves from now on.
  virtual Effects onLoaded() = 0;
  /// The last call: answers what is parked with NotCoordinator.
  virtual Effects onUnloaded() = 0;
  virtual Effects onTimeout(const TimerKey& key) = 0;
};

/// The end of a producer's transaction, as WriteTxnMarkers brings it.
struct TransactionMarker {
  ProducerId producerId;
  ProducerEpoch producerEpoch;
  bool commit = false;
  int32_t coordinatorEpoch = 0;
  int16_t transactionVersion = 0;
};

/// Runs the shards of one coordinator (Kafka's CoordinatorRuntime): loads them when this broker becomes the leader of
/// their partition, serialises what happens to them, appends what they write, and holds answers back until the high
/// watermark has passed. One serial executor for all. All public calls on that executor, but for those marked.
class CoordinatorRuntime : public std::enable_shared_from_this<CoordinatorRuntime> {
 public:
  struct Dependencies {
    std::shared_ptr<platform::Executor> executor;
    const platform::Clock* clock = nullptr;
    platform::Logger* log = nullptr;
    CoordinatorLog* partitions = nullptr;
  };
  struct Options {
    std::string name;
    platform::milliseconds commitTimeout{5000};
    size_t loadBufferSize = 5242880;
    /// Of the batches that are written, which have no producer: Kafka's coordinators differ in it.
    int32_t baseSequence = 0;
    /// Of the batches that are written.
    records::Codec codec = records::Codec::None;
  };
  using ShardFactory = std::function<std::unique_ptr<Shard>(PartitionIndex)>;

  CoordinatorRuntime(Dependencies dependencies, Options options, ShardFactory factory);
  ~CoordinatorRuntime();

  void load(PartitionIndex partition, LeaderEpoch epoch);
  void unload(PartitionIndex partition);
  void unloadAll();
  /// Any thread.
  void onHighWatermark(PartitionIndex partition, Offset highWatermark);

  /// Whether a handler sees what Effects::gather has put off.
  enum class Sees : uint8_t {
    All,            ///< That is appended before.
    AllButGathered  ///< It neither asks for nor changes what such records are about.
  };
  /// Runs `handler(Shard&)`, which answers with Effects, on the partition's shard. `unavailable(ErrorCode)` is called
  /// instead if there is none: with NotCoordinator, or with CoordinatorLoadInProgress. One of the two, before it
  /// returns.
  template <class Handler, class Unavailable>
  void run(PartitionIndex index, Sees sees, Handler&& handler, Unavailable&& unavailable) {
    const std::expected<Partition*, ErrorCode> partition = serving(index, sees);
    if (!partition) return unavailable(partition.error());
    perform(**partition, handler(*(*partition)->shard));
  }
  /// Writes the marker that ends a producer's transaction in the partition and has the shard take it up. `done` at its
  /// commit or failure: as append(), NotCoordinator, CoordinatorLoadInProgress, InvalidProducerEpoch,
  /// TransactionCoordinatorFenced.
  void endTransaction(PartitionIndex partition, const TransactionMarker& marker,
                      std::move_only_function<void(ErrorCode)> done);
  /// Each shard that serves.
  void forEach(const std::function<void(PartitionIndex, Shard&)>& visit);
  /// Runs `handler` on every shard that serves, effects included.
  void runOnAll(const std::function<Effects(Shard&)>& handler);
  /// Whether any partition is being loaded.
  bool isLoading() const;
  size_t shardCount() const { return partitions_.size(); }

 private:
  struct ArmedTimer;
  struct CommitTimeout;
  struct Pending {
    Offset end;
    Effects::Committed whenCommitted;
    platform::MonotonicTime deadline;
  };
  struct Gathered {
    std::vector<CoordinatorRecord> records;
    Effects::Committed whenCommitted;
  };
  struct Partition {
    PartitionIndex index;
    LeaderEpoch epoch;
    std::unique_ptr<Shard> shard;
    bool loading = true;
    Offset loadedTo;
    /// End of what was appended or loaded, and how much of it is committed.
    Offset end{0};
    Offset highWatermark{0};
    /// How far it is committed, as told inside an append: taken up when what was appended has been replayed.
    Offset announced{0};
    bool appending = false;
    /// In order of their ends, and so of their deadlines.
    std::deque<Pending> pending;
    /// Asks for the first of them, if any is there; stays armed for a while when none is left.
    std::shared_ptr<CommitTimeout> commitTimeout;
    /// Not yet appended: what waits to be written with others. In all no more than a batch.
    std::vector<Gathered> gathered;
    size_t gatheredSize = 0;
    size_t gatheredLimit = 0;
    /// Committed; called when all that was queued before has been handled.
    std::deque<Effects::Committed> inTurn;
    std::unordered_map<TimerKey, std::shared_ptr<ArmedTimer>, TimerKey::Hash> timers;
    /// Tells a partition from one that was unloaded and loaded again.
    uint64_t incarnation = 0;
  };

  Partition* find(PartitionIndex index, uint64_t incarnation);
  std::expected<Partition*, ErrorCode> serving(PartitionIndex index, Sees sees);
  void loadNext(PartitionIndex index, uint64_t incarnation);
  Result<bool> loadSome(Partition& partition);
  Result<void> replayBatch(Partition& partition, const records::BatchView& batch, ByteVector& buffer);
  void finishLoading(Partition& partition);
  void perform(Partition& partition, Effects effects);
  void gather(Partition& partition, Effects effects);
  /// Appends what was gathered, as one batch.
  void writeGathered(Partition& partition);
  Result<void> write(Partition& partition, const Effects& effects);
  Result<void> writeBatch(Partition& partition, std::span<const CoordinatorRecord> records, const Effects& effects);
  /// Calls it once all that is written by now is committed.
  void awaitCommit(Partition& partition, Effects::Committed whenCommitted);
  void callInTurn(Partition& partition, Effects::Committed whenCommitted);
  void takeUpAnnounced(Partition& partition);
  void change(Partition& partition, TimerChange change);
  void advance(Partition& partition, Offset highWatermark);
  void completeUpTo(Partition& partition);
  void onTimer(PartitionIndex index, uint64_t incarnation, const std::shared_ptr<ArmedTimer>& timer);
  void watchCommits(Partition& partition);
  void onCommitTimeout(PartitionIndex index, uint64_t incarnation);

  const Dependencies dependencies_;
  const Options options_;
  const ShardFactory factory_;
  const std::shared_ptr<purgatory::ExpirationTimer> timer_;
  std::map<PartitionIndex, std::unique_ptr<Partition>> partitions_;
  uint64_t lastNumber_ = 0;
  /// Read buffer while loading.
  ByteVector buffer_;
};

}  // namespace tidemark::coordinator
