#pragma once

#include <utility>
#include <vector>

#include "observe/cluster_source.h"
#include "observe/recording.h"

namespace tidemark::observe {

/// A recording as a cluster that can be looked at and not touched: it comes up again in steps, one with each snapshot()
/// that is asked for, until all of it has happened. Commands and looks at files are refused. Belongs to one thread.
class RecordedCluster final : public ClusterSource {
 public:
  explicit RecordedCluster(Recording recording);

  /// All has happened.
  bool isOver() const noexcept { return over_; }
  const Recording& recording() const noexcept { return recording_; }

  SnapshotPtr snapshot() override;
  /// The oldest ones first: none is left out.
  EventBatch drainEvents(uint64_t since, size_t limit) override;
  bool isRecorded() const override { return true; }
  void onChange(std::function<void()> wake) override { wake_ = std::move(wake); }
  void watch(std::optional<TopicPartition> partition) override { watched_ = std::move(partition); }
  std::vector<Setting> profile(int /*brokers*/) const override { return {}; }
  Result<std::optional<StoredCluster>> stored(const std::string& /*folder*/) const override { return std::nullopt; }
  void launch(LaunchOptions options, Done done) override;
  void shutdown(Done done) override;
  void killBroker(NodeId broker, Done done) override;
  void pauseBroker(NodeId broker, Done done) override;
  void resumeBroker(NodeId broker, Done done) override;
  void restartBroker(NodeId broker, Done done) override;
  void stopBroker(NodeId broker, Done done) override;
  void createTopic(TopicOptions topic, Done done) override;
  void planOffsets(OffsetResetRequest request, OffsetsPlanned done) override;
  void editOffsets(std::string group, events::GroupKind kind, std::vector<OffsetEdit> edits, Done done) override;
  void deleteGroup(std::string group, Done done) override;
  void abortTransaction(std::string transactionalId, Done done) override;
  void setFault(faults::Fault fault, std::move_only_function<void(Result<int>)> done) override;
  void healFault(int id, FaultsHealed done) override;
  void healAll(FaultsHealed done) override;
  void stepFault(int id, size_t count, std::move_only_function<void(Result<size_t>)> done) override;
  void look(LookPlace place, Look look) override;

 private:
  void later(std::move_only_function<void()> answer);
  void refuse(Done done);

  Recording recording_;
  Recording::Moment now_;
  WallTime end_{};
  platform::WallClock::duration step_{};
  bool over_ = false;
  SnapshotPtr shown_;
  std::optional<TopicPartition> watched_;
  std::function<void()> wake_;
  /// Answers are never given inside the call.
  std::vector<std::move_only_function<void()>> answers_;
};

}  // namespace tidemark::observe
