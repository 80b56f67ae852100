#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"
#include "config/config_value.h"
#include "metadata/features.h"
#include "metadata/persistent_map.h"

// The state of the cluster as the metadata log says it, at one offset. Values only; immutable once in an Image; any
// thread. Field names are those of the records (facts of Kafka 4.4), where not said otherwise.

namespace tidemark::metadata {

// Reserved directory ids (Kafka's DirectoryId): an ordinary one is never one of them.
inline constexpr Uuid kMigratingDirectory{};
inline constexpr Uuid kUnassignedDirectory{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
inline constexpr Uuid kLostDirectory{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
/// Ids whose first 8 bytes are zero and whose value is below 100 are reserved.
bool isReservedDirectory(const Uuid& id) noexcept;

struct Endpoint {
  std::string name;  ///< of the listener
  std::string host;
  uint16_t port = 0;
  int16_t securityProtocol = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// The levels of a feature that a node can work with.
struct VersionRange {
  int16_t min = 0;
  int16_t max = 0;
  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};

struct BrokerRegistration {
  NodeId id;
  /// The offset of the registration that a new incarnation made; requests with another are stale.
  BrokerEpoch epoch;
  Uuid incarnationId;
  /// By name.
  std::vector<Endpoint> endpoints;
  std::map<std::string, VersionRange, std::less<>> features;
  std::optional<std::string> rack;
  bool fenced = true;
  bool inControlledShutdown = false;
  bool isMigratingZkBroker = false;
  /// Online ones, sorted.
  std::vector<Uuid> directories;
  /// Nothing: the broker does not tell.
  std::optional<std::vector<Uuid>> cordonedDirectories;

  /// New replicas may be placed on it: not all of its directories are cordoned.
  bool hasUncordonedDirectory() const noexcept;
  /// May lead partitions and be in an ISR.
  bool isActive() const noexcept { return !fenced && !inControlledShutdown; }
  const Endpoint* endpoint(std::string_view listener) const noexcept;
  /// Whether a replica in that directory is served: reserved ones but Lost are, and anything if directories are
  /// unknown.
  bool hasOnlineDirectory(const Uuid& directory) const noexcept;
  friend bool operator==(const BrokerRegistration&, const BrokerRegistration&) = default;
};

struct ControllerRegistration {
  NodeId id;
  Uuid incarnationId;
  bool zkMigrationReady = false;
  std::vector<Endpoint> endpoints;
  std::map<std::string, VersionRange, std::less<>> features;
  friend bool operator==(const ControllerRegistration&, const ControllerRegistration&) = default;
};

/// Recovering: the leader was elected uncleanly and has not yet finished cleaning up after that.
enum class LeaderRecoveryState : int8_t { Recovered = 0, Recovering = 1 };

struct PartitionRegistration {
  std::vector<NodeId> replicas;
  /// One per replica.
  std::vector<Uuid> directories;
  std::vector<NodeId> isr;
  std::vector<NodeId> removingReplicas;
  std::vector<NodeId> addingReplicas;
  std::vector<NodeId> elr;
  std::vector<NodeId> lastKnownElr;
  /// kNoNode: nobody leads.
  NodeId leader;
  LeaderRecoveryState leaderRecoveryState = LeaderRecoveryState::Recovered;
  /// Raised whenever a leader is (re)named.
  LeaderEpoch leaderEpoch{0};
  /// Raised at every change.
  PartitionEpoch partitionEpoch{0};

  bool hasLeader() const noexcept { return leader != kNoNode; }
  bool isReplica(NodeId node) const noexcept;
  bool isInIsr(NodeId node) const noexcept;
  /// The first replica, the one that should lead.
  NodeId preferredLeader() const noexcept { return replicas.empty() ? kNoNode : replicas.front(); }
  /// Migrating if `node` is no replica.
  Uuid directoryOf(NodeId node) const noexcept;
  /// Who may lead next: the ISR, without one the ELR, without both the last leader.
  const std::vector<NodeId>& electable() const noexcept {
    return !isr.empty() ? isr : !elr.empty() ? elr : lastKnownElr;
  }
  bool isReassigning() const noexcept { return !removingReplicas.empty() || !addingReplicas.empty(); }
  friend bool operator==(const PartitionRegistration&, const PartitionRegistration&) = default;
};
using PartitionPtr = std::shared_ptr<const PartitionRegistration>;

struct TopicImage {
  std::string name;
  Uuid id;
  PersistentMap<PartitionIndex, PartitionPtr> partitions;

  const PartitionRegistration* partition(PartitionIndex index) const noexcept;
  friend bool operator==(const TopicImage& a, const TopicImage& b);
};
using TopicPtr = std::shared_ptr<const TopicImage>;

struct TopicsImage {
  PersistentMap<Uuid, TopicPtr> byId;
  PersistentMap<std::string, TopicPtr> byName;

  const TopicImage* find(std::string_view name) const noexcept;
  const TopicImage* find(const Uuid& id) const noexcept;
  const PartitionRegistration* partition(std::string_view topic, PartitionIndex index) const noexcept;
  const PartitionRegistration* partition(const Uuid& topic, PartitionIndex index) const noexcept;
  friend bool operator==(const TopicsImage& a, const TopicsImage& b);
};

using BrokerPtr = std::shared_ptr<const BrokerRegistration>;

struct ClusterImage {
  PersistentMap<NodeId, BrokerPtr> brokers;
  PersistentMap<NodeId, std::shared_ptr<const ControllerRegistration>> controllers;

  const BrokerRegistration* broker(NodeId id) const noexcept;
  /// Registered, not fenced, not shutting down.
  bool isActive(NodeId id) const noexcept;
  friend bool operator==(const ClusterImage& a, const ClusterImage& b);
};

struct FeaturesImage {
  /// Without kraft.version, which lives in the quorum's own records. A level of 0 is no entry.
  std::map<std::string, int16_t, std::less<>> finalized;

  int16_t level(std::string_view feature) const noexcept;
  int16_t metadataVersion() const noexcept { return level(kMetadataVersionFeature); }
  friend bool operator==(const FeaturesImage&, const FeaturesImage&) = default;
};

/// A name under which configurations are kept; a broker's name is its id, or empty for the default of all brokers.
struct ConfigResource {
  config::ResourceType type = config::ResourceType::Unknown;
  std::string name;
  friend auto operator<=>(const ConfigResource&, const ConfigResource&) = default;
  friend bool operator==(const ConfigResource&, const ConfigResource&) = default;
};

struct ConfigsImage {
  PersistentMap<ConfigResource, std::shared_ptr<const config::ConfigMap>> resources;

  /// Empty if nothing is set. Valid while this image lives.
  const config::ConfigMap& of(config::ResourceType type, std::string_view name) const;
  const config::ConfigMap& topic(std::string_view name) const { return of(config::ResourceType::Topic, name); }
  const config::ConfigMap& broker(NodeId id) const;
  const config::ConfigMap& clusterDefault() const { return of(config::ResourceType::Broker, ""); }
  friend bool operator==(const ConfigsImage& a, const ConfigsImage& b);
};

struct AclEntry {
  int8_t resourceType = 0;
  std::string resourceName;
  int8_t patternType = 0;
  std::string principal;
  std::string host;
  int8_t operation = 0;
  int8_t permissionType = 0;
  friend bool operator==(const AclEntry&, const AclEntry&) = default;
};

struct ScramCredential {
  ByteVector salt;
  ByteVector storedKey;
  ByteVector serverKey;
  int32_t iterations = 0;
  friend bool operator==(const ScramCredential&, const ScramCredential&) = default;
};

struct DelegationToken {
  std::string owner;
  std::string requester;
  std::vector<std::string> renewers;
  int64_t issueTimestampMs = 0;
  int64_t maxTimestampMs = 0;
  int64_t expirationTimestampMs = 0;
  friend bool operator==(const DelegationToken&, const DelegationToken&) = default;
};

/// Entity type to name; no name: the default of that type.
using QuotaEntity = std::map<std::string, std::optional<std::string>>;

/// Replayed and written back; who uses them comes later.
struct SecurityImage {
  PersistentMap<Uuid, AclEntry> acls;
  /// By (mechanism, user).
  PersistentMap<std::pair<int8_t, std::string>, ScramCredential> scram;
  PersistentMap<QuotaEntity, std::map<std::string, double>> quotas;
  PersistentMap<std::string, DelegationToken> delegationTokens;
  friend bool operator==(const SecurityImage& a, const SecurityImage& b) = default;
};

/// The metadata log up to which an image is true.
struct Provenance {
  /// Last offset contained; −1: nothing was.
  Offset lastContainedOffset;
  LeaderEpoch lastContainedEpoch;
  /// Append time of the last batch, Unix milliseconds.
  int64_t lastContainedLogTimeMs = -1;
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// Everything. Copying is cheap (all maps share); usually held by shared_ptr<const Image>.
struct Image {
  Provenance provenance;
  FeaturesImage features;
  ClusterImage cluster;
  TopicsImage topics;
  ConfigsImage configs;
  /// The first producer id that no broker was given; nothing: none was given yet.
  std::optional<ProducerId> nextProducerId;
  SecurityImage security;

  /// All but the provenance.
  bool sameContents(const Image& other) const;
};
using ImagePtr = std::shared_ptr<const Image>;

}  // namespace tidemark::metadata
