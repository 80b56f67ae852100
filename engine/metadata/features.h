#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::metadata {

inline constexpr std::string_view kMetadataVersionFeature = "metadata.version";
inline constexpr std::string_view kKRaftVersionFeature = "kraft.version";
inline constexpr std::string_view kTransactionVersionFeature = "transaction.version";
inline constexpr std::string_view kGroupVersionFeature = "group.version";
inline constexpr std::string_view kEligibleLeaderReplicasFeature = "eligible.leader.replicas.version";
inline constexpr std::string_view kShareVersionFeature = "share.version";
inline constexpr std::string_view kStreamsVersionFeature = "streams.version";

/// 4.4-IV2, the newest production level of Kafka 4.4, and the oldest that 4.4 starts from (3.3-IV3).
inline constexpr int16_t kLatestMetadataVersion = 33;
inline constexpr int16_t kMinimumMetadataVersion = 7;
/// 4.0-IV1
inline constexpr int16_t kFirstMetadataVersionWithElr = 23;

/// A feature as this program knows it. `finalizedAtFormat` is the one place where a level is raised once what it turns
/// on is implemented; a node registers with [min, max] as supported.
struct FeatureDefinition {
  std::string_view name;
  int16_t minSupported;
  int16_t maxSupported;
  int16_t finalizedAtFormat;
};

/// Those of which some level above 0 is implemented: what a node offers at registration and in ApiVersions (Kafka
/// leaves the others out as well). metadata.version first, the others by name. kraft.version is kept by the quorum, not
/// in the image.
std::span<const FeatureDefinition> knownFeatures() noexcept;
/// Any feature of Kafka 4.4.
const FeatureDefinition* findFeature(std::string_view name) noexcept;

/// Levels by feature.
using FeatureLevels = std::map<std::string, int16_t, std::less<>>;
/// Whether a cluster may be formatted with these instead of `finalizedAtFormat`: InvalidUpdateVersion for a feature
/// that is not known, or not kept in the metadata log, and for a level that is not supported.
Result<void> checkFormatLevels(const FeatureLevels& levels);

/// What a metadata.version turns on, and the versions in which records are written under it (facts/features.tsv).
class MetadataVersion {
 public:
  explicit constexpr MetadataVersion(int16_t level) noexcept : level_(level) {}
  constexpr int16_t level() const noexcept { return level_; }
  constexpr bool supportsScram() const noexcept { return level_ >= 11; }
  constexpr bool supportsTransactions() const noexcept { return level_ >= 13; }
  constexpr bool supportsDelegationTokens() const noexcept { return level_ >= 14; }
  constexpr bool supportsControllerRegistration() const noexcept { return level_ >= 15; }
  constexpr bool supportsDirectoryAssignment() const noexcept { return level_ >= 17; }
  constexpr bool supportsElr() const noexcept { return level_ >= kFirstMetadataVersionWithElr; }
  constexpr bool supportsCordonedDirectories() const noexcept { return level_ >= 30; }
  constexpr bool supportsControllerUnregistration() const noexcept { return level_ >= 33; }
  /// Below 12 (3.6-IV0), from 7 on: a smaller ISR raises the leader epoch.
  constexpr bool bumpsLeaderEpochOnIsrShrink() const noexcept { return level_ < 12; }
  constexpr int16_t partitionRecordVersion() const noexcept { return level_ >= 23 ? 2 : level_ >= 17 ? 1 : 0; }
  constexpr int16_t partitionChangeRecordVersion() const noexcept { return partitionRecordVersion(); }
  constexpr int16_t registerBrokerRecordVersion() const noexcept {
    return level_ >= 30 ? 4 : level_ >= 17 ? 3 : level_ >= 8 ? 2 : 1;
  }

 private:
  int16_t level_;
};

}  // namespace tidemark::metadata
