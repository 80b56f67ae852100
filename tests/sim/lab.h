#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "cluster/cluster.h"
#include "platform/process.h"
#include "platform/simulated/world.h"
#include "sim/sim_platform.h"

namespace tidemark::sim {

/// A cluster and a client's process on one of the two platforms, for tests that are written once. What handlers tell
/// the test they tell inside change(); the test waits with await(). Nobody sleeps.
class Lab {
 public:
  virtual ~Lab() = default;

  virtual cluster::Cluster& cluster() = 0;
  virtual std::shared_ptr<platform::Process> createProcess(const std::string& name) = 0;
  virtual void change(const std::function<void()>& action) = 0;
  /// Whether the predicate came true within a limit that is far too long. Asked after each change().
  virtual bool await(const std::function<bool()>& predicate) = 0;

  /// Has the cluster do something and waits for its end.
  Result<void> perform(const std::function<void(observe::ClusterSource::Done)>& command);
  /// The fault of that number, or all of them.
  Result<observe::Healed> heal(int id);
  Result<observe::Healed> healAll();
  /// Runs it on the executor and waits for its end.
  void run(platform::Executor& executor, const std::function<void()>& action);
  NodeId leaderOf(const TopicPartition& partition);
  /// Until a snapshot of the cluster fulfils it.
  bool awaitCluster(const std::function<bool(const observe::ClusterSnapshot&)>& predicate);

 private:
  template <class Value>
  Result<Value> answerOf(const std::function<void(std::move_only_function<void(Result<Value>)>)>& command);
};

class SimulatedLab final : public Lab {
 public:
  explicit SimulatedLab(platform::WorldOptions options);

  platform::World& world() { return world_; }
  /// What the broker's process decorates: for power losses, crashes at file calls and its disk. Null unless it lives.
  std::shared_ptr<platform::SimulatedProcess> alive(NodeId broker) const;
  cluster::Cluster& cluster() override { return cluster_; }
  std::shared_ptr<platform::Process> createProcess(const std::string& name) override;
  void change(const std::function<void()>& action) override;
  bool await(const std::function<bool()>& predicate) override;

 private:
  platform::World world_;
  /// The cluster's.
  SimPlatform* const platform_;
  cluster::Cluster cluster_;
  bool changed_ = false;
};

class NativeLab final : public Lab {
 public:
  NativeLab();

  cluster::Cluster& cluster() override { return cluster_; }
  std::shared_ptr<platform::Process> createProcess(const std::string& name) override;
  void change(const std::function<void()>& action) override;
  bool await(const std::function<bool()>& predicate) override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::unique_ptr<cluster::ClusterPlatform> platform_;
  cluster::Cluster cluster_;
};

}  // namespace tidemark::sim
