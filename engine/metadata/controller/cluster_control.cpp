#include "metadata/controller/cluster_control.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "metadata/controller/leader_updates.h"

namespace tidemark::metadata {
namespace {

/// Where a broker stands, and where a heartbeat takes it (Kafka's BrokerControlState).
enum class BrokerState : uint8_t { Fenced, Unfenced, ControlledShutdown, ShutDownNow };

BrokerState currentState(const BrokerRegistration& broker) {
  if (broker.fenced) return BrokerState::Fenced;
  return broker.inControlledShutdown ? BrokerState::ControlledShutdown : BrokerState::Unfenced;
}

bool leadsAny(const ControllerView& view, NodeId broker) {
  for (const auto& [id, topic] : view.image.topics.byId) {
    for (const auto& [index, partition] : topic->partitions) {
      if (partition->leader == broker) return true;
    }
  }
  return false;
}

BrokerState nextState(const ControllerView& view, const BrokerRegistration& broker,
                      const protocol::BrokerHeartbeatRequest& request, bool caughtUp) {
  switch (currentState(broker)) {
    case BrokerState::Fenced:
      if (request.wantShutDown) return BrokerState::ShutDownNow;
      // An incarnation that asked to shut down does not come back: it could neither lead nor be in an ISR.
      return !request.wantFence && caughtUp && !broker.inControlledShutdown ? BrokerState::Unfenced
                                                                            : BrokerState::Fenced;
    case BrokerState::Unfenced:
      if (request.wantFence) return request.wantShutDown ? BrokerState::ShutDownNow : BrokerState::Fenced;
      if (!request.wantShutDown) return BrokerState::Unfenced;
      return leadsAny(view, broker.id) ? BrokerState::ControlledShutdown : BrokerState::ShutDownNow;
    case BrokerState::ControlledShutdown: {
      if (leadsAny(view, broker.id)) return BrokerState::ControlledShutdown;
      // It may go once every active broker knows who leads instead of it.
      const Offset needed = view.heartbeats.shutdownOffset(broker.id).value_or(view.nextOffset);
      return needed <= view.heartbeats.lowestActiveOffset(view.image.cluster) ? BrokerState::ShutDownNow
                                                                              : BrokerState::ControlledShutdown;
    }
    case BrokerState::ShutDownNow:
      break;
  }
  return BrokerState::ShutDownNow;
}

/// Directories that the broker says are offline, or cordoned.
void applyDirectories(const ControllerView& view, const BrokerRegistration& broker,
                      const protocol::BrokerHeartbeatRequest& request, Records& records) {
  if (!view.version().supportsDirectoryAssignment()) return;
  std::vector<Uuid> online;
  std::vector<Uuid> lost;
  for (const Uuid& directory : broker.directories) {
    const bool isLost = std::ranges::find(request.offlineLogDirs, directory) != request.offlineLogDirs.end();
    (isLost ? lost : online).push_back(directory);
  }
  if (!lost.empty()) {
    const auto isIn = [&](const PartitionRegistration& partition) {
      return std::ranges::find(lost, partition.directoryOf(broker.id)) != lost.end();
    };
    generateLeaderAndIsrUpdates(view, {.remove = broker.id}, isIn, records);
    records.push_back({protocol::BrokerRegistrationChangeRecord{
                           .brokerId = broker.id.value(), .brokerEpoch = broker.epoch.value(), .logDirs = online},
                       2});
  }
  if (request.cordonedLogDirs && request.cordonedLogDirs != broker.cordonedDirectories &&
      view.version().supportsCordonedDirectories()) {
    records.push_back({protocol::BrokerRegistrationChangeRecord{.brokerId = broker.id.value(),
                                                                .brokerEpoch = broker.epoch.value(),
                                                                .cordonedLogDirs = request.cordonedLogDirs},
                       3});
  }
}

Result<void> checkDirectories(const ControllerView& view, const protocol::BrokerRegistrationRequest& request) {
  if (!view.version().supportsDirectoryAssignment()) return {};
  const auto refuse = [](std::string message) { return fail(ErrorCode::InvalidRegistration, std::move(message)); };
  if (request.logDirs.empty()) return refuse("No directories specified in request");
  if (std::ranges::any_of(request.logDirs, isReservedDirectory)) return refuse("Reserved directory ID in request");
  if (std::set(request.logDirs.begin(), request.logDirs.end()).size() != request.logDirs.size()) {
    return refuse("Duplicate directory ID in request");
  }
  for (const auto& [id, broker] : view.image.cluster.brokers) {
    if (id.value() == request.brokerId) continue;
    for (const Uuid& directory : request.logDirs) {
      if (std::ranges::binary_search(broker->directories, directory)) {
        return refuse(fmt::format("Broker {} is already registered with directory {}", id, directory));
      }
    }
  }
  return {};
}

Result<void> checkFeatures(const ControllerView& view, const protocol::BrokerRegistrationRequest& request) {
  for (const auto& [name, level] : view.image.features.finalized) {
    VersionRange range = name == kMetadataVersionFeature
                             ? VersionRange{kMinimumMetadataVersion, kMinimumMetadataVersion}
                             : VersionRange{};
    for (const auto& feature : request.features) {
      if (feature.name == name) range = {feature.minSupportedVersion, feature.maxSupportedVersion};
    }
    if (level < range.min || level > range.max) {
      return fail(ErrorCode::UnsupportedVersion,
                  fmt::format("Unable to register because the broker does not support finalized version {} of {}. The "
                              "broker wants a version between {} and {}, inclusive.",
                              level, name, range.min, range.max));
    }
  }
  return {};
}

/// What brokers and controllers alike say of themselves when they register.
template <class Request, class Record>
void takeListenersAndFeatures(const Request& request, Record& record) {
  for (const auto& listener : request.listeners) {
    record.endPoints.push_back({.name = listener.name,
                                .host = listener.host,
                                .port = listener.port,
                                .securityProtocol = listener.securityProtocol});
  }
  for (const auto& feature : request.features) {
    record.features.push_back({.name = feature.name,
                               .minSupportedVersion = feature.minSupportedVersion,
                               .maxSupportedVersion = feature.maxSupportedVersion});
  }
}

}  // namespace

HandlerResult<protocol::BrokerRegistrationResponse> handle(const ControllerView& view,
                                                           const protocol::BrokerRegistrationRequest& request) {
  if (request.clusterId != view.settings.clusterId) {
    return fail(ErrorCode::InconsistentClusterId, fmt::format("Expected cluster ID {}, but got cluster ID {}",
                                                              view.settings.clusterId, request.clusterId));
  }
  const NodeId id(request.brokerId);
  const BrokerRegistration* existing = view.image.cluster.broker(id);
  const bool isNew = !existing || existing->incarnationId != request.incarnationId;
  if (existing && isNew && view.heartbeats.hasValidSession(*existing, view.now, view.settings.sessionTimeout)) {
    return fail(ErrorCode::DuplicateBrokerRegistration,
                "Another broker is registered with that broker id. If the broker was recently restarted this should "
                "self-resolve once the heartbeat manager expires the broker's session.");
  }
  if (request.isMigratingZkBroker) {
    return fail(ErrorCode::BrokerIdNotRegistered, "Controller does not support registering ZK brokers.");
  }
  TIDEMARK_TRY(checkDirectories(view, request));
  TIDEMARK_TRY(checkFeatures(view, request));

  Outcome<protocol::BrokerRegistrationResponse> outcome;
  protocol::RegisterBrokerRecord record{.brokerId = request.brokerId, .incarnationId = request.incarnationId};
  record.rack = request.rack;
  takeListenersAndFeatures(request, record);
  if (view.version().supportsDirectoryAssignment()) record.logDirs = request.logDirs;
  if (isNew) {
    const bool wasClean = existing && existing->epoch.value() == request.previousBrokerEpoch;
    cleanUpIncarnation(view, id, wasClean, outcome.records);
    record.brokerEpoch = view.nextOffset.value();
  } else {
    record.brokerEpoch = existing->epoch.value();
    record.fenced = existing->fenced;
    record.inControlledShutdown = existing->inControlledShutdown;
    if (view.version().supportsCordonedDirectories()) record.cordonedLogDirs = existing->cordonedDirectories;
  }
  outcome.response.brokerEpoch = record.brokerEpoch;
  outcome.records.push_back({std::move(record), view.version().registerBrokerRecordVersion()});
  outcome.soft = [id, isNew, now = view.now](HeartbeatTracker& heartbeats, Offset lastOffset) {
    heartbeats.registered(id, isNew, now, lastOffset);
  };
  return outcome;
}

HandlerResult<protocol::BrokerHeartbeatResponse> handle(const ControllerView& view,
                                                        const protocol::BrokerHeartbeatRequest& request) {
  TIDEMARK_ASSIGN(const BrokerRegistration* broker, view.checkBrokerEpoch(request.brokerId, request.brokerEpoch));
  const Offset read(request.currentMetadataOffset);
  const bool caughtUp = read >= view.heartbeats.registrationOffset(*broker);
  const BrokerState current = currentState(*broker);
  const BrokerState next = nextState(view, *broker, request, caughtUp);
  Outcome<protocol::BrokerHeartbeatResponse> outcome;
  outcome.atomic = false;
  if (next != current) {
    if (next == BrokerState::Fenced || next == BrokerState::ShutDownNow) {
      if (!broker->fenced) fenceBroker(view, *broker, outcome.records);
    } else if (next == BrokerState::Unfenced) {
      unfenceBroker(view, *broker, outcome.records);
    } else {
      beginControlledShutdown(view, *broker, outcome.records);
    }
  }
  applyDirectories(view, *broker, request, outcome.records);
  const bool isFenced = next == BrokerState::Fenced || next == BrokerState::ShutDownNow;
  outcome.response.isCaughtUp = caughtUp;
  outcome.response.isFenced = isFenced;
  outcome.response.shouldShutDown = next == BrokerState::ShutDownNow;
  outcome.soft = [id = broker->id, now = view.now, read, isFenced, next, changes = !outcome.records.empty()](
                     HeartbeatTracker& heartbeats, Offset lastOffset) {
    heartbeats.touched(id, now, read);
    if (isFenced) heartbeats.fenced(id);
    if (next == BrokerState::ControlledShutdown && changes) heartbeats.shutsDownAt(id, lastOffset);
  };
  return outcome;
}

HandlerResult<protocol::UnregisterBrokerResponse> handle(const ControllerView& view,
                                                         const protocol::UnregisterBrokerRequest& request) {
  const NodeId id(request.brokerId);
  const BrokerRegistration* broker = view.image.cluster.broker(id);
  if (!broker) {
    return fail(ErrorCode::BrokerIdNotRegistered, fmt::format("Broker ID {} is not currently registered", id));
  }
  Outcome<protocol::UnregisterBrokerResponse> outcome;
  outcome.atomic = false;
  generateLeaderAndIsrUpdates(
      view, {.remove = id},
      [id](const PartitionRegistration& partition) {
        return partition.isInIsr(id) || std::ranges::find(partition.elr, id) != partition.elr.end();
      },
      outcome.records);
  outcome.records.push_back(
      {protocol::UnregisterBrokerRecord{.brokerId = request.brokerId, .brokerEpoch = broker->epoch.value()}});
  outcome.soft = [id](HeartbeatTracker& heartbeats, Offset) { heartbeats.removed(id); };
  return outcome;
}

HandlerResult<protocol::ControllerRegistrationResponse> handle(const ControllerView& view,
                                                               const protocol::ControllerRegistrationRequest& request) {
  if (!view.version().supportsControllerRegistration()) {
    return fail(ErrorCode::UnsupportedVersion,
                "The current MetadataVersion is too old to support controller registrations.");
  }
  protocol::RegisterControllerRecord record{.controllerId = request.controllerId,
                                            .incarnationId = request.incarnationId};
  takeListenersAndFeatures(request, record);
  Outcome<protocol::ControllerRegistrationResponse> outcome;
  outcome.records.push_back({std::move(record)});
  return outcome;
}

HandlerResult<protocol::UnregisterControllerResponse> handle(const ControllerView& view,
                                                             const protocol::UnregisterControllerRequest& request) {
  const NodeId id(request.controllerId);
  if (!view.version().supportsControllerUnregistration()) {
    return fail(ErrorCode::UnsupportedVersion,
                "The current MetadataVersion is too old to support controller unregistration.");
  }
  if (!view.image.cluster.controllers.contains(id)) {
    return fail(ErrorCode::ControllerIdNotRegistered, fmt::format("Controller ID {} is not currently registered", id));
  }
  if (std::ranges::find(view.settings.quorum, id) != view.settings.quorum.end()) {
    return fail(ErrorCode::InvalidRequest, fmt::format("Controller ID {} is a member of the quorum", id));
  }
  Outcome<protocol::UnregisterControllerResponse> outcome;
  outcome.records.push_back({protocol::UnregisterControllerRecord{.controllerId = request.controllerId}});
  return outcome;
}

Outcome<std::optional<NodeId>> fenceStaleBroker(const ControllerView& view) {
  Outcome<std::optional<NodeId>> outcome;
  outcome.atomic = false;
  const auto stale = view.heartbeats.staleBroker(view.image.cluster, view.now, view.settings.sessionTimeout);
  if (!stale) return outcome;
  outcome.response = stale;
  fenceBroker(view, *view.image.cluster.broker(*stale), outcome.records);
  outcome.soft = [id = *stale](HeartbeatTracker& heartbeats, Offset) { heartbeats.fenced(id); };
  return outcome;
}

}  // namespace tidemark::metadata
