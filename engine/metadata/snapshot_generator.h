#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "metadata/publisher.h"
#include "platform/executor.h"
#include "raft/snapshot.h"

namespace tidemark::platform {
class Process;
}

namespace tidemark::metadata {

/// Cuts a snapshot of the newest image when enough of the log was read or enough time has passed since the last one, so
/// that a restart reads little and the quorum may delete old segments. Every node does it for itself (KIP-630).
///
/// A Publisher; the file is written on an executor of its own, one at a time. Nothing polls: time is looked at when
/// something was committed, as Kafka does.
class SnapshotGenerator final : public Publisher {
 public:
  struct Setup {
    /// metadata.log.max.record.bytes.between.snapshots
    uint64_t maxBytes = 20 * 1024 * 1024;
    /// metadata.log.max.snapshot.interval.ms; 0: not by time.
    platform::Duration maxInterval = std::chrono::hours(1);
    platform::Process* process = nullptr;
    /// Serial, for slow file calls. Runs nothing any more when this object is destroyed.
    std::shared_ptr<platform::Executor> executor;
    /// raft::RaftNode::createSnapshot; any thread. Null: there is such a snapshot already.
    std::function<Result<std::unique_ptr<raft::SnapshotWriter>>(OffsetAndEpoch id, int64_t lastContainedLogTimestampMs)>
        create;
  };

  explicit SnapshotGenerator(Setup setup);
  ~SnapshotGenerator() override;

  std::string name() const override { return "snapshots"; }
  void onCommitted(const CommittedState& state) override;
  void onUpdate(const Delta& delta, ImagePtr image) override;

 private:
  Result<void> write(const Image& image) const;
  void begin(ImagePtr image);

  const Setup setup_;
  /// A snapshot is being written.
  std::atomic<bool> underWay_{false};

  // Of the loader's executor.
  uint64_t bytesRead_ = 0;
  uint64_t bytesAtLast_ = 0;
  platform::MonotonicTime last_;
};

}  // namespace tidemark::metadata
