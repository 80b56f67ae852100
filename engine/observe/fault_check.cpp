#include "observe/fault_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "faults/place.h"

namespace tidemark::observe {
namespace {

using faults::Kind;

/// Who is who in a snapshot.
class SnapshotView final : public faults::ClusterView {
 public:
  explicit SnapshotView(const ClusterSnapshot& cluster) : cluster_(cluster) {}

  std::vector<faults::Member> members() const override {
    std::vector<faults::Member> all;
    all.reserve(cluster_.brokers.size());
    for (const BrokerSnapshot& broker : cluster_.brokers)
      all.push_back({.id = broker.id, .isBroker = broker.isBroker, .isController = broker.isController});
    return all;
  }
  Result<NodeId> leaderOf(const TopicPartition& partition) const override {
    const PartitionSnapshot* found = findPartition(cluster_, partition);
    if (found == nullptr)
      return fail(ErrorCode::UnknownTopicOrPartition,
                  fmt::format("there is no partition {}-{}", partition.topic, partition.partition));
    if (found->leader == kNoNode)
      return fail(ErrorCode::LeaderNotAvailable,
                  fmt::format("{}-{} has no leader", partition.topic, partition.partition));
    return found->leader;
  }
  Result<NodeId> activeController() const override {
    if (cluster_.quorum.leader == kNoNode) return fail(ErrorCode::BrokerNotAvailable, "no controller is active");
    return cluster_.quorum.leader;
  }

 private:
  const ClusterSnapshot& cluster_;
};

std::unexpected<Error> wrongState(std::string_view who, BrokerState state) {
  const auto says = [who](const char* what) {
    return fail(ErrorCode::InvalidRequest, fmt::format("{} {}", who, what));
  };
  switch (state) {
    case BrokerState::Paused:
      return says("is paused: resume it first");
    case BrokerState::Killed:
      return says("was killed: restart it");
    case BrokerState::Stopped:
      return says("is stopped: restart it");
    case BrokerState::Stopping:
      return says("is stopping");
    case BrokerState::Starting:
      return says("is starting");
    case BrokerState::Fenced:
      return says("is fenced");
    case BrokerState::Running:
      break;
  }
  return says("is running");
}

}  // namespace

std::string nodeText(NodeId id, bool isBroker) {
  return fmt::format("{} {}", isBroker ? "broker" : "controller", id);
}

Result<void> checkState(Kind kind, std::string_view who, BrokerState state) {
  const bool down = state == BrokerState::Killed || state == BrokerState::Stopped;
  switch (kind) {
    case Kind::Kill:
    case Kind::PowerLoss:
      if (down) return wrongState(who, state);
      break;
    case Kind::Pause:
      if (state != BrokerState::Running) return wrongState(who, state);
      break;
    case Kind::Stop:
      if (state != BrokerState::Running && state != BrokerState::Fenced && state != BrokerState::Starting)
        return wrongState(who, state);
      break;
    case Kind::Restart:
      if (state == BrokerState::Stopping || state == BrokerState::Starting || state == BrokerState::Paused)
        return wrongState(who, state);
      break;
    case Kind::Wipe:
      if (!down) return fail(ErrorCode::InvalidRequest, fmt::format("{} holds its files: kill or stop it first", who));
      break;
    case Kind::ClockJump:
      if (down)
        return fail(ErrorCode::InvalidRequest,
                    fmt::format("{} does not run, and its clocks are right when it starts: restart it first", who));
      break;
    default:
      break;
  }
  return {};
}

Result<void> checkFault(const faults::Fault& fault, const ClusterSnapshot& cluster) {
  TIDEMARK_TRY(faults::check(fault));
  if (cluster.brokers.empty()) return fail(ErrorCode::BrokerNotAvailable, "no cluster is running");
  const bool later = !fault.trigger.isNow();
  const auto place = faults::placeOf(fault, SnapshotView(cluster));
  if (!place) {
    if (later && place.error().code != ErrorCode::InvalidRequest) return {};
    return fail(place.error());
  }
  const BrokerSnapshot* broker = later ? nullptr : findBroker(cluster, place->node);
  if (broker != nullptr) TIDEMARK_TRY(checkState(fault.kind, nodeText(broker->id, broker->isBroker), broker->state));
  return {};
}

Result<void> checkKind(Kind kind, const ClusterSnapshot& cluster) {
  if (cluster.brokers.empty()) return fail(ErrorCode::BrokerNotAvailable, "no cluster is running");
  if (kind == Kind::Halves && cluster.brokers.size() < 2)
    return fail(ErrorCode::InvalidRequest, "two groups need at least two brokers");
  if (kind == Kind::Bridge || kind == Kind::Ring) {
    faults::Fault shape;
    shape.kind = kind;
    if (kind == Kind::Bridge)
      shape.target = faults::NodeName{.by = {}, .id = cluster.brokers.front().id, .partition = {}};
    if (auto place = faults::placeOf(shape, SnapshotView(cluster)); !place) return fail(place.error());
  }
  if (faults::areaOf(kind) != faults::Area::Brokers && kind != Kind::ClockJump) return {};
  Result<void> first;
  for (const BrokerSnapshot& broker : cluster.brokers) {
    auto possible = checkState(kind, nodeText(broker.id, broker.isBroker), broker.state);
    if (possible) return {};
    if (first) first = std::move(possible);
  }
  return first;
}

Result<faults::Place> placeOf(const faults::Fault& fault, const ClusterSnapshot& cluster) {
  return faults::placeOf(fault, SnapshotView(cluster));
}

NodeId resolve(const faults::NodeName& name, const ClusterSnapshot& cluster) noexcept {
  switch (name.by) {
    case faults::NodeName::By::LeaderOf: {
      const PartitionSnapshot* found = findPartition(cluster, name.partition);
      return found == nullptr ? kNoNode : found->leader;
    }
    case faults::NodeName::By::ActiveController:
      return cluster.quorum.leader;
    case faults::NodeName::By::Number:
      break;
  }
  return name.id;
}

}  // namespace tidemark::observe
