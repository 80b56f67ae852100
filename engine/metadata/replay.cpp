#include "metadata/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "metadata/records.h"

namespace tidemark::metadata {
namespace {

std::unexpected<Error> corrupt(std::string message) {
  return fail(ErrorCode::CorruptMessage, std::move(message));
}

std::vector<NodeId> nodes(const std::vector<int32_t>& ids) {
  std::vector<NodeId> result;
  result.reserve(ids.size());
  for (int32_t id : ids) result.emplace_back(id);
  return result;
}

std::vector<NodeId> nodesOr(const std::optional<std::vector<int32_t>>& ids, const std::vector<NodeId>& otherwise) {
  return ids ? nodes(*ids) : otherwise;
}

std::vector<Uuid> sorted(std::vector<Uuid> ids) {
  std::ranges::sort(ids);
  return ids;
}

/// By name: to Kafka they are a map, in no order.
template <class Endpoints>
std::vector<Endpoint> endpoints(const Endpoints& from) {
  std::vector<Endpoint> result;
  for (const auto& point : from) {
    result.push_back({point.name.str(), point.host.str(), point.port, point.securityProtocol});
  }
  std::ranges::sort(result, {}, &Endpoint::name);
  return result;
}

template <class Features>
std::map<std::string, VersionRange, std::less<>> ranges(const Features& from) {
  std::map<std::string, VersionRange, std::less<>> result;
  for (const auto& feature : from) {
    result.insert_or_assign(feature.name.str(), VersionRange{feature.minSupportedVersion, feature.maxSupportedVersion});
  }
  return result;
}

/// One overload a record type.
class Replayer {
 public:
  Replayer(Image& image, Changes& changes) noexcept : image_(image), changes_(changes) {}

  Result<void> operator()(const protocol::FeatureLevelRecord& record) {
    if (record.featureLevel == 0) {
      image_.features.finalized.erase(record.name.str());
    } else {
      image_.features.finalized.insert_or_assign(record.name.str(), record.featureLevel);
    }
    changes_.features.insert(record.name.str());
    return {};
  }

  Result<void> operator()(const protocol::RegisterBrokerRecord& record) {
    auto broker = std::make_shared<BrokerRegistration>();
    broker->id = NodeId(record.brokerId);
    broker->epoch = BrokerEpoch(record.brokerEpoch);
    broker->incarnationId = record.incarnationId;
    broker->endpoints = endpoints(record.endPoints);
    broker->features = ranges(record.features);
    if (record.rack) broker->rack = record.rack->str();
    broker->fenced = record.fenced;
    broker->inControlledShutdown = record.inControlledShutdown;
    broker->isMigratingZkBroker = record.isMigratingZkBroker;
    broker->directories = sorted(record.logDirs);
    broker->cordonedDirectories = record.cordonedLogDirs;
    setBroker(std::move(broker));
    return {};
  }

  Result<void> operator()(const protocol::UnregisterBrokerRecord& record) {
    TIDEMARK_TRY(findBroker(record.brokerId, record.brokerEpoch, "unregister"));
    image_.cluster.brokers.erase(NodeId(record.brokerId));
    changes_.brokers.insert(NodeId(record.brokerId));
    return {};
  }

  Result<void> operator()(const protocol::FenceBrokerRecord& record) {
    return setFenced(record.id, record.epoch, true);
  }
  Result<void> operator()(const protocol::UnfenceBrokerRecord& record) {
    return setFenced(record.id, record.epoch, false);
  }

  Result<void> operator()(const protocol::BrokerRegistrationChangeRecord& record) {
    TIDEMARK_ASSIGN(const BrokerRegistration* before, findBroker(record.brokerId, record.brokerEpoch, "change"));
    if (record.fenced < -1 || record.fenced > 1 || record.inControlledShutdown < 0 || record.inControlledShutdown > 1) {
      return corrupt(
          fmt::format("The registration of broker {} is changed to values that do not exist", record.brokerId));
    }
    auto broker = std::make_shared<BrokerRegistration>(*before);
    if (record.fenced != 0) broker->fenced = record.fenced > 0;
    if (record.inControlledShutdown != 0) broker->inControlledShutdown = true;
    if (!record.logDirs.empty()) broker->directories = sorted(record.logDirs);
    if (record.cordonedLogDirs) broker->cordonedDirectories = record.cordonedLogDirs;
    setBroker(std::move(broker));
    return {};
  }

  Result<void> operator()(const protocol::RegisterControllerRecord& record) {
    auto controller = std::make_shared<ControllerRegistration>();
    controller->id = NodeId(record.controllerId);
    controller->incarnationId = record.incarnationId;
    controller->zkMigrationReady = record.zkMigrationReady;
    controller->endpoints = endpoints(record.endPoints);
    controller->features = ranges(record.features);
    image_.cluster.controllers.set(controller->id, controller);
    changes_.controllers.insert(controller->id);
    return {};
  }

  Result<void> operator()(const protocol::UnregisterControllerRecord& record) {
    if (!image_.cluster.controllers.erase(NodeId(record.controllerId))) {
      return corrupt(fmt::format("Controller {} is unregistered but not registered", record.controllerId));
    }
    changes_.controllers.insert(NodeId(record.controllerId));
    return {};
  }

  Result<void> operator()(const protocol::TopicRecord& record) {
    if (image_.topics.find(record.topicId)) {
      return corrupt(fmt::format("Topic {} is created with the id {} that is taken", record.name, record.topicId));
    }
    if (image_.topics.find(record.name.view())) {
      return corrupt(fmt::format("Topic {} is created with id {} but exists", record.name, record.topicId));
    }
    auto topic = std::make_shared<TopicImage>();
    topic->name = record.name.str();
    topic->id = record.topicId;
    setTopic(std::move(topic));
    return {};
  }

  Result<void> operator()(const protocol::PartitionRecord& record) {
    const TopicImage* before = image_.topics.find(record.topicId);
    if (!before) return unknownTopic(record.topicId, record.partitionId);
    PartitionRegistration partition = fromRecord(record);
    if (partition.directories.size() != partition.replicas.size()) {
      return corrupt(fmt::format("Partition {}-{} has {} replicas and {} directories", before->name, record.partitionId,
                                 partition.replicas.size(), partition.directories.size()));
    }
    setPartition(*before, PartitionIndex(record.partitionId), std::move(partition));
    return {};
  }

  Result<void> operator()(const protocol::PartitionChangeRecord& record) {
    const TopicImage* topic = image_.topics.find(record.topicId);
    if (!topic) return unknownTopic(record.topicId, record.partitionId);
    const PartitionRegistration* before = topic->partition(PartitionIndex(record.partitionId));
    if (!before)
      return corrupt(fmt::format("Partition {}-{} is changed but does not exist", topic->name, record.partitionId));
    PartitionRegistration after = merge(*before, record);
    if (after.directories.size() != after.replicas.size()) {
      return corrupt(fmt::format("Partition {}-{} is changed to {} replicas and {} directories", topic->name,
                                 record.partitionId, after.replicas.size(), after.directories.size()));
    }
    setPartition(*topic, PartitionIndex(record.partitionId), std::move(after));
    return {};
  }

  Result<void> operator()(const protocol::RemoveTopicRecord& record) {
    const TopicImage* found = image_.topics.find(record.topicId);
    if (!found) return corrupt(fmt::format("Topic {} is removed but does not exist", record.topicId));
    const std::string name = found->name;
    image_.topics.byId.erase(record.topicId);
    image_.topics.byName.erase(name);
    changes_.topics.insert(record.topicId);
    const ConfigResource resource{config::ResourceType::Topic, name};
    if (image_.configs.resources.erase(resource)) changes_.configs.insert(resource);
    return {};
  }

  Result<void> operator()(const protocol::ClearElrRecord& record) {
    if (!record.topicName.empty()) {
      const TopicImage* topic = image_.topics.find(record.topicName.view());
      if (!topic) return corrupt(fmt::format("Topic {} loses its ELR but does not exist", record.topicName));
      clearElr(*topic);
      return {};
    }
    const auto all = image_.topics.byId;
    for (const auto& [id, topic] : all) clearElr(*topic);
    return {};
  }

  Result<void> operator()(const protocol::ConfigRecord& record) {
    ConfigResource resource{static_cast<config::ResourceType>(record.resourceType), record.resourceName.str()};
    const auto* before = image_.configs.resources.find(resource);
    auto values = before ? std::make_shared<config::ConfigMap>(**before) : std::make_shared<config::ConfigMap>();
    if (record.value) {
      values->insert_or_assign(record.name.str(), record.value->str());
    } else {
      values->erase(record.name.str());
    }
    changes_.configs.insert(resource);
    if (values->empty()) {
      image_.configs.resources.erase(resource);
    } else {
      image_.configs.resources.set(std::move(resource), std::move(values));
    }
    return {};
  }

  Result<void> operator()(const protocol::ProducerIdsRecord& record) {
    image_.nextProducerId = ProducerId(record.nextProducerId);
    changes_.producerIds = true;
    return {};
  }

  Result<void> operator()(const protocol::AccessControlEntryRecord& record) {
    changes_.security = true;
    image_.security.acls.set(
        record.id, AclEntry{record.resourceType, record.resourceName.str(), record.patternType, record.principal.str(),
                            record.host.str(), record.operation, record.permissionType});
    return {};
  }

  Result<void> operator()(const protocol::RemoveAccessControlEntryRecord& record) {
    changes_.security = true;
    if (image_.security.acls.erase(record.id)) return {};
    return corrupt(fmt::format("ACL {} is removed but does not exist", record.id));
  }

  Result<void> operator()(const protocol::UserScramCredentialRecord& record) {
    changes_.security = true;
    image_.security.scram.set(
        {record.mechanism, record.name.str()},
        ScramCredential{record.salt.bytes(), record.storedKey.bytes(), record.serverKey.bytes(), record.iterations});
    return {};
  }

  Result<void> operator()(const protocol::RemoveUserScramCredentialRecord& record) {
    changes_.security = true;
    if (image_.security.scram.erase(std::pair(record.mechanism, record.name.str()))) return {};
    return corrupt(fmt::format("The SCRAM credential of {} is removed but does not exist", record.name));
  }

  Result<void> operator()(const protocol::ClientQuotaRecord& record) {
    changes_.security = true;
    QuotaEntity entity;
    for (const auto& part : record.entity) {
      entity.insert_or_assign(part.entityType.str(),
                              part.entityName ? std::optional(part.entityName->str()) : std::nullopt);
    }
    const auto* before = image_.security.quotas.find(entity);
    std::map<std::string, double> values = before ? *before : std::map<std::string, double>();
    if (record.remove) {
      values.erase(record.key.str());
    } else {
      values.insert_or_assign(record.key.str(), record.value);
    }
    if (values.empty()) {
      image_.security.quotas.erase(entity);
    } else {
      image_.security.quotas.set(std::move(entity), std::move(values));
    }
    return {};
  }

  Result<void> operator()(const protocol::DelegationTokenRecord& record) {
    changes_.security = true;
    DelegationToken token{record.owner.str(),    record.requester.str(), {},
                          record.issueTimestamp, record.maxTimestamp,    record.expirationTimestamp};
    for (const auto& renewer : record.renewers) token.renewers.push_back(renewer.str());
    image_.security.delegationTokens.set(record.tokenId.str(), std::move(token));
    return {};
  }

  Result<void> operator()(const protocol::RemoveDelegationTokenRecord& record) {
    changes_.security = true;
    image_.security.delegationTokens.erase(record.tokenId.str());
    return {};
  }

  Result<void> operator()(const protocol::NoOpRecord&) { return {}; }
  Result<void> operator()(const protocol::ZkMigrationStateRecord&) { return {}; }
  Result<void> operator()(const protocol::BeginTransactionRecord&) { return {}; }
  Result<void> operator()(const protocol::EndTransactionRecord&) { return {}; }
  Result<void> operator()(const protocol::AbortTransactionRecord&) { return {}; }

 private:
  Result<const BrokerRegistration*> findBroker(int32_t id, int64_t epoch, std::string_view what) const {
    const BrokerRegistration* broker = image_.cluster.broker(NodeId(id));
    if (!broker) return corrupt(fmt::format("A record would {} broker {}, which is not registered", what, id));
    if (broker->epoch.value() != epoch) {
      return corrupt(fmt::format("A record would {} broker {} of epoch {}, but its epoch is {}", what, id, epoch,
                                 broker->epoch.value()));
    }
    return broker;
  }

  Result<void> setFenced(int32_t id, int64_t epoch, bool fenced) {
    TIDEMARK_ASSIGN(const BrokerRegistration* before, findBroker(id, epoch, fenced ? "fence" : "unfence"));
    auto broker = std::make_shared<BrokerRegistration>(*before);
    broker->fenced = fenced;
    setBroker(std::move(broker));
    return {};
  }

  void setBroker(BrokerPtr broker) {
    changes_.brokers.insert(broker->id);
    const NodeId id = broker->id;
    image_.cluster.brokers.set(id, std::move(broker));
  }

  void setTopic(TopicPtr topic) {
    changes_.topics.insert(topic->id);
    image_.topics.byName.set(topic->name, topic);
    const Uuid id = topic->id;
    image_.topics.byId.set(id, std::move(topic));
  }

  void setPartition(const TopicImage& before, PartitionIndex index, PartitionRegistration partition) {
    auto topic = std::make_shared<TopicImage>(before);
    topic->partitions.set(index, std::make_shared<const PartitionRegistration>(std::move(partition)));
    changes_.partitions[topic->id].insert(index);
    setTopic(std::move(topic));
  }

  void clearElr(const TopicImage& before) {
    auto topic = std::make_shared<TopicImage>(before);
    bool changed = false;
    for (const auto& [index, partition] : before.partitions) {
      if (partition->elr.empty() && partition->lastKnownElr.empty()) continue;
      auto cleared = std::make_shared<PartitionRegistration>(*partition);
      cleared->elr.clear();
      cleared->lastKnownElr.clear();
      topic->partitions.set(index, std::move(cleared));
      changes_.partitions[topic->id].insert(index);
      changed = true;
    }
    if (changed) setTopic(std::move(topic));
  }

  static std::unexpected<Error> unknownTopic(const Uuid& topic, int32_t partition) {
    return corrupt(fmt::format("A record is for partition {} of topic {}, which does not exist", partition, topic));
  }

  Image& image_;
  Changes& changes_;
};

}  // namespace

Result<void> replayRecord(Image& image, const Record& record, Changes& changes) {
  return std::visit(Replayer(image, changes), record.body);
}

PartitionRegistration fromRecord(const protocol::PartitionRecord& record) {
  PartitionRegistration partition;
  partition.replicas = nodes(record.replicas);
  partition.directories = record.directories;
  // Written before directories were known (metadata.version below 3.7-IV2).
  if (record.directories.empty()) partition.directories.assign(partition.replicas.size(), kMigratingDirectory);
  partition.isr = nodes(record.isr);
  partition.removingReplicas = nodes(record.removingReplicas);
  partition.addingReplicas = nodes(record.addingReplicas);
  partition.elr = nodesOr(record.eligibleLeaderReplicas, {});
  partition.lastKnownElr = nodesOr(record.lastKnownElr, {});
  partition.leader = NodeId(record.leader);
  partition.leaderRecoveryState = static_cast<LeaderRecoveryState>(record.leaderRecoveryState);
  partition.leaderEpoch = LeaderEpoch(record.leaderEpoch);
  partition.partitionEpoch = PartitionEpoch(record.partitionEpoch);
  return partition;
}

PartitionRegistration merge(const PartitionRegistration& before, const protocol::PartitionChangeRecord& change) {
  PartitionRegistration after;
  after.replicas = nodesOr(change.replicas, before.replicas);
  if (change.directories && !change.directories->empty()) {
    after.directories = *change.directories;
  } else if (change.replicas) {
    // Without directories in the record those of replicas that stay are kept.
    for (NodeId node : after.replicas) after.directories.push_back(before.directoryOf(node));
  } else {
    after.directories = before.directories;
  }
  after.isr = nodesOr(change.isr, before.isr);
  after.removingReplicas = nodesOr(change.removingReplicas, before.removingReplicas);
  after.addingReplicas = nodesOr(change.addingReplicas, before.addingReplicas);
  after.elr = nodesOr(change.eligibleLeaderReplicas, before.elr);
  after.lastKnownElr = nodesOr(change.lastKnownElr, before.lastKnownElr);
  const bool named = change.leader != kNoLeaderChange;
  after.leader = named ? NodeId(change.leader) : before.leader;
  after.leaderEpoch = named ? before.leaderEpoch.next() : before.leaderEpoch;
  after.leaderRecoveryState = change.leaderRecoveryState < 0
                                  ? before.leaderRecoveryState
                                  : static_cast<LeaderRecoveryState>(change.leaderRecoveryState);
  after.partitionEpoch = PartitionEpoch(before.partitionEpoch.value() + 1);
  return after;
}

}  // namespace tidemark::metadata
