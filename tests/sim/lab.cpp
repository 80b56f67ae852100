#include "sim/lab.h"

#include <chrono>
#include <optional>
#include <utility>

namespace tidemark::sim {

template <class Value>
Result<Value> Lab::answerOf(const std::function<void(std::move_only_function<void(Result<Value>)>)>& command) {
  auto answer = std::make_shared<std::optional<Result<Value>>>();
  command([this, answer](Result<Value> result) { change([&] { *answer = std::move(result); }); });
  if (!await([&] { return answer->has_value(); }))
    return fail(ErrorCode::RequestTimedOut, "the cluster did not answer");
  return **answer;
}

Result<void> Lab::perform(const std::function<void(observe::ClusterSource::Done)>& command) {
  return answerOf<void>(command);
}

Result<observe::Healed> Lab::heal(int id) {
  return answerOf<observe::Healed>([&](auto done) { cluster().healFault(id, std::move(done)); });
}

Result<observe::Healed> Lab::healAll() {
  return answerOf<observe::Healed>([&](auto done) { cluster().healAll(std::move(done)); });
}

void Lab::run(platform::Executor& executor, const std::function<void()>& action) {
  bool done = false;
  executor.post([&] {
    action();
    change([&] { done = true; });
  });
  await([&] { return done; });
}

NodeId Lab::leaderOf(const TopicPartition& partition) {
  auto leader = std::make_shared<std::optional<NodeId>>();
  cluster().findLeader(partition,
                       [this, leader](Result<NodeId> found) { change([&] { *leader = found ? *found : kNoNode; }); });
  await([&] { return leader->has_value(); });
  return leader->value_or(kNoNode);
}

bool Lab::awaitCluster(const std::function<bool(const observe::ClusterSnapshot&)>& predicate) {
  constexpr int kMostChanges = 100'000;
  // A wake-up comes under the cluster's lock, so the cluster is asked without ours.
  bool woken = true;
  cluster().onChange([&] { change([&] { woken = true; }); });
  bool reached = false;
  for (int i = 0; i < kMostChanges && !reached; ++i) {
    if (!await([&] { return std::exchange(woken, false); })) break;
    reached = predicate(*cluster().snapshot());
  }
  cluster().onChange({});
  return reached;
}

// --- simulated
// --------------------------------------------------------------------------------------------------------

SimulatedLab::SimulatedLab(platform::WorldOptions options)
    : world_(std::move(options)),
      platform_(new SimPlatform(world_)),
      cluster_(std::unique_ptr<SimPlatform>(platform_)) {}

std::shared_ptr<platform::SimulatedProcess> SimulatedLab::alive(NodeId broker) const {
  return platform_->alive("broker-" + std::to_string(broker.value()));
}

std::shared_ptr<platform::Process> SimulatedLab::createProcess(const std::string& name) {
  return world_.createProcess({.name = name});
}

void SimulatedLab::change(const std::function<void()>& action) {
  action();
  changed_ = true;
}

bool SimulatedLab::await(const std::function<bool()>& predicate) {
  changed_ = true;
  return world_.runUntil([&] { return std::exchange(changed_, false) && predicate(); }, std::chrono::minutes(5));
}

// --- native
// -----------------------------------------------------------------------------------------------------------

NativeLab::NativeLab() : platform_(cluster::nativePlatform()), cluster_(cluster::nativePlatform()) {}

std::shared_ptr<platform::Process> NativeLab::createProcess(const std::string& name) {
  return platform_->createProcess(name);
}

void NativeLab::change(const std::function<void()>& action) {
  const std::lock_guard lock(mutex_);
  action();
  changed_.notify_all();
}

bool NativeLab::await(const std::function<bool()>& predicate) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::minutes(2), predicate);
}

}  // namespace tidemark::sim
