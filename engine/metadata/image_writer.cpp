#include "metadata/image_writer.h"

namespace tidemark::metadata {
namespace {

void writeFeatures(const FeaturesImage& features, Records& out) {
  const auto add = [&](const std::string& name, int16_t level) {
    out.push_back({protocol::FeatureLevelRecord{.name = name, .featureLevel = level}});
  };
  if (const int16_t level = features.metadataVersion(); level != 0) add(std::string(kMetadataVersionFeature), level);
  for (const auto& [name, level] : features.finalized) {
    if (name != kMetadataVersionFeature) add(name, level);
  }
}

void writeControllers(const ClusterImage& cluster, MetadataVersion version, Records& out) {
  if (!version.supportsControllerRegistration()) return;
  for (const auto& [id, controller] : cluster.controllers) {
    protocol::RegisterControllerRecord record{.controllerId = id.value(),
                                              .incarnationId = controller->incarnationId,
                                              .zkMigrationReady = controller->zkMigrationReady};
    for (const Endpoint& point : controller->endpoints) {
      record.endPoints.push_back(
          {.name = point.name, .host = point.host, .port = point.port, .securityProtocol = point.securityProtocol});
    }
    for (const auto& [name, range] : controller->features) {
      record.features.push_back({.name = name, .minSupportedVersion = range.min, .maxSupportedVersion = range.max});
    }
    out.push_back({std::move(record)});
  }
}

void writeQuotas(const SecurityImage& security, Records& out) {
  for (const auto& [entity, values] : security.quotas) {
    for (const auto& [key, value] : values) {
      protocol::ClientQuotaRecord record{.key = key, .value = value};
      for (const auto& [type, name] : entity) {
        protocol::ClientQuotaRecord::EntityData part{.entityType = type, .entityName = std::nullopt};
        if (name) part.entityName = protocol::Text(*name);
        record.entity.push_back(std::move(part));
      }
      out.push_back({std::move(record)});
    }
  }
}

void writeSecurity(const SecurityImage& security, MetadataVersion version, Records& out) {
  for (const auto& [id, acl] : security.acls) {
    out.push_back({protocol::AccessControlEntryRecord{.id = id,
                                                      .resourceType = acl.resourceType,
                                                      .resourceName = acl.resourceName,
                                                      .patternType = acl.patternType,
                                                      .principal = acl.principal,
                                                      .host = acl.host,
                                                      .operation = acl.operation,
                                                      .permissionType = acl.permissionType}});
  }
  if (version.supportsScram()) {
    for (const auto& [key, credential] : security.scram) {
      out.push_back({protocol::UserScramCredentialRecord{.name = key.second,
                                                         .mechanism = key.first,
                                                         .salt = credential.salt,
                                                         .storedKey = credential.storedKey,
                                                         .serverKey = credential.serverKey,
                                                         .iterations = credential.iterations}});
    }
  }
  if (!version.supportsDelegationTokens()) return;
  for (const auto& [id, token] : security.delegationTokens) {
    protocol::DelegationTokenRecord record{.owner = token.owner,
                                           .requester = token.requester,
                                           .issueTimestamp = token.issueTimestampMs,
                                           .maxTimestamp = token.maxTimestampMs,
                                           .expirationTimestamp = token.expirationTimestampMs,
                                           .tokenId = id};
    for (const std::string& renewer : token.renewers) record.renewers.emplace_back(renewer);
    out.push_back({std::move(record)});
  }
}

}  // namespace

std::vector<int32_t> toNumbers(const std::vector<NodeId>& nodes) {
  std::vector<int32_t> numbers;
  numbers.reserve(nodes.size());
  for (NodeId node : nodes) numbers.push_back(node.value());
  return numbers;
}

Record toRecord(const BrokerRegistration& broker, MetadataVersion version) {
  protocol::RegisterBrokerRecord record{.brokerId = broker.id.value(),
                                        .incarnationId = broker.incarnationId,
                                        .brokerEpoch = broker.epoch.value(),
                                        .fenced = broker.fenced};
  const int16_t recordVersion = version.registerBrokerRecordVersion();
  record.rack.reset();
  if (broker.rack) record.rack = protocol::Text(*broker.rack);
  for (const Endpoint& point : broker.endpoints) {
    record.endPoints.push_back(
        {.name = point.name, .host = point.host, .port = point.port, .securityProtocol = point.securityProtocol});
  }
  for (const auto& [name, range] : broker.features) {
    record.features.push_back({.name = name, .minSupportedVersion = range.min, .maxSupportedVersion = range.max});
  }
  if (recordVersion >= 1) record.inControlledShutdown = broker.inControlledShutdown;
  if (recordVersion >= 2) record.isMigratingZkBroker = broker.isMigratingZkBroker;
  if (recordVersion >= 3) record.logDirs = broker.directories;
  if (recordVersion >= 4) record.cordonedLogDirs = broker.cordonedDirectories;
  return {std::move(record), recordVersion};
}

Record toRecord(const Uuid& topic, PartitionIndex index, const PartitionRegistration& partition,
                MetadataVersion version) {
  const int16_t recordVersion = version.partitionRecordVersion();
  protocol::PartitionRecord record{.partitionId = index.value(),
                                   .topicId = topic,
                                   .replicas = toNumbers(partition.replicas),
                                   .isr = toNumbers(partition.isr),
                                   .removingReplicas = toNumbers(partition.removingReplicas),
                                   .addingReplicas = toNumbers(partition.addingReplicas),
                                   .leader = partition.leader.value(),
                                   .leaderRecoveryState = static_cast<int8_t>(partition.leaderRecoveryState),
                                   .leaderEpoch = partition.leaderEpoch.value(),
                                   .partitionEpoch = partition.partitionEpoch.value()};
  if (recordVersion >= 1) record.directories = partition.directories;
  if (recordVersion >= 2 && !partition.elr.empty()) record.eligibleLeaderReplicas = toNumbers(partition.elr);
  if (recordVersion >= 2 && !partition.lastKnownElr.empty()) record.lastKnownElr = toNumbers(partition.lastKnownElr);
  return {std::move(record), recordVersion};
}

Records writeRecords(const Image& image, MetadataVersion version) {
  Records out;
  writeFeatures(image.features, out);
  for (const auto& [id, broker] : image.cluster.brokers) out.push_back(toRecord(*broker, version));
  writeControllers(image.cluster, version, out);
  for (const auto& [id, topic] : image.topics.byId) {
    out.push_back({protocol::TopicRecord{.name = topic->name, .topicId = id}});
    for (const auto& [index, partition] : topic->partitions) out.push_back(toRecord(id, index, *partition, version));
  }
  for (const auto& [resource, values] : image.configs.resources) {
    for (const auto& [name, value] : *values) {
      protocol::ConfigRecord record{
          .resourceType = static_cast<int8_t>(resource.type), .resourceName = resource.name, .name = name};
      record.value = protocol::Text(value);
      out.push_back({std::move(record)});
    }
  }
  writeQuotas(image.security, out);
  if (image.nextProducerId) {
    out.push_back({protocol::ProducerIdsRecord{
        .brokerId = -1, .brokerEpoch = -1, .nextProducerId = image.nextProducerId->value()}});
  }
  writeSecurity(image.security, version, out);
  return out;
}

}  // namespace tidemark::metadata
