#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "coordinator/runtime.h"
#include "coordinator/share_state/share_state_operations.h"
#include "platform/clock.h"

namespace tidemark::coordinator {

/// Kafka's settings of the share coordinator, under their names and with their defaults.
struct ShareStateConfig {
  /// `share.coordinator.snapshot.update.records.per.snapshot`
  int32_t updatesPerSnapshot = 500;
  /// `share.coordinator.cold.partition.snapshot.interval.ms`
  platform::milliseconds coldSnapshotInterval{300000};
  /// `share.coordinator.state.topic.prune.interval.ms`
  platform::milliseconds pruneInterval{300000};
  /// `share.coordinator.write.timeout.ms`
  platform::milliseconds writeTimeout{5000};
  /// `share.coordinator.load.buffer.size`
  size_t loadBufferSize = 5242880;
  /// `share.coordinator.state.topic.compression.codec`
  records::Codec codec = records::Codec::None;
};

/// One partition of `__share_group_state`. A share-partition's state is its last snapshot with the updates behind it;
/// everything before the oldest of the last snapshots is of no use and is cut off from time to time. For that a
/// share-partition that nobody writes gets a new snapshot now and then.
class ShareStateShard final : public Shard {
 public:
  struct Dependencies {
    const platform::Clock* clock = nullptr;
    /// Whether the partition exists, by the newest metadata.
    std::function<bool(const Uuid& topic, PartitionIndex partition)> exists;
    /// Cuts the log off below an offset; later is fine, and so is never.
    std::function<void(Offset)> prune;
  };

  ShareStateShard(const ShareStateConfig& config, Dependencies dependencies)
      : config_(config), dependencies_(std::move(dependencies)) {}

  Result<void> replay(Offset offset, ProducerId producerId, ByteView key, std::optional<ByteView> value) override;
  void replayEndTxn(Offset, ProducerId, bool) override {}
  void onHighWatermark(Offset highWatermark) override { highWatermark_ = highWatermark; }
  Effects onLoaded() override;
  Effects onUnloaded() override { return {}; }
  Effects onTimeout(const TimerKey& key) override;

  // Errors of all: InvalidRequest, UnknownTopicOrPartition, FencedStateEpoch, FencedLeaderEpoch, and those of a write.

  /// Sets the state anew, whatever it was.
  Effects initialize(const ShareStateInitialization& what, Reply<ShareStateAnswer> reply) const;
  /// From now on leaders before `what.leaderEpoch` are fenced.
  Effects read(const ShareStateReading& what, Reply<ShareStateRead> reply) const;
  Effects write(const ShareStateWrite& what, Reply<ShareStateAnswer> reply) const;
  /// What is not there is gone.
  Effects remove(const ShareKey& key, Reply<ShareStateAnswer> reply) const;
  Effects summarize(const ShareStateReading& what, Reply<ShareStateSummary> reply) const;
  /// Their states go.
  Effects onTopicsDeleted(const std::set<Uuid>& topics) const;

  size_t size() const noexcept { return states_.size(); }
  const ShareState* find(const ShareKey& key) const;

 private:
  struct Kept {
    ShareState state;
    /// Where its last snapshot lies, and how many updates follow.
    Offset snapshotAt;
    int32_t updates = 0;
  };
  ShareStateAnswer check(const ShareKey& key) const;
  Effects snapshotCold() const;
  void prune();
  Offset oldestSnapshot() const;

  const ShareStateConfig& config_;
  const Dependencies dependencies_;
  std::map<ShareKey, Kept> states_;
  /// Behind the last record replayed.
  Offset end_{0};
  Offset highWatermark_{0};
  /// Where the log was cut last.
  Offset prunedTo_{0};
};

}  // namespace tidemark::coordinator
