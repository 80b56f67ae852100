#include "metadata/controller/feature_control.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "metadata/controller/config_control.h"

namespace tidemark::metadata {
namespace {

/// FeatureUpdate.UpgradeType
enum class UpgradeType : int8_t { Unknown = 0, Upgrade = 1, SafeDowngrade = 2, UnsafeDowngrade = 3 };

/// Levels of metadata.version that changed what records hold (facts: didMetadataChange).
constexpr int16_t kLevelsThatChangeMetadata[] = {7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33};

template <class Update>
UpgradeType upgradeType(const Update& update, int16_t requestVersion) {
  if (requestVersion == 0) return update.allowDowngrade ? UpgradeType::SafeDowngrade : UpgradeType::Upgrade;
  return update.upgradeType >= 1 && update.upgradeType <= 3 ? static_cast<UpgradeType>(update.upgradeType)
                                                            : UpgradeType::Unknown;
}

std::optional<std::string> reasonNotSupported(std::string_view who, int16_t level, const VersionRange& range) {
  if (level >= range.min && level <= range.max) return std::nullopt;
  if (range.max == 0) return fmt::format("{} does not support this feature.", who);
  return fmt::format("{} only supports versions {}-{}", who, range.min, range.max);
}

/// Why not everybody knows that level of the feature.
std::optional<std::string> reasonNotSupported(const ControllerView& view, std::string_view feature, int16_t level) {
  const FeatureDefinition* known = findFeature(feature);
  const VersionRange local = known ? VersionRange{known->minSupported, known->maxSupported} : VersionRange{};
  if (auto reason = reasonNotSupported(fmt::format("Local controller {}", view.settings.nodeId), level, local)) {
    return reason;
  }
  const auto rangeIn = [&](const auto& features) {
    const auto at = features.find(feature);
    return at == features.end() ? VersionRange{} : at->second;
  };
  for (const auto& [id, broker] : view.image.cluster.brokers) {
    if (auto reason = reasonNotSupported(fmt::format("Broker {}", id), level, rangeIn(broker->features))) {
      return reason;
    }
  }
  if (!view.version().supportsControllerRegistration()) return std::nullopt;
  for (NodeId id : view.settings.quorum) {
    if (id == view.settings.nodeId) continue;
    const auto* controller = view.image.cluster.controllers.find(id);
    if (!controller) return fmt::format("controller {} has not registered, and may not support this feature", id);
    if (auto reason = reasonNotSupported(fmt::format("Controller {}", id), level, rangeIn((*controller)->features))) {
      return reason;
    }
  }
  return std::nullopt;
}

Result<void> checkUpdate(const ControllerView& view, std::string_view feature, int16_t level, UpgradeType type) {
  const auto refuse = [&](std::string_view reason) {
    return fail(ErrorCode::InvalidUpdateVersion,
                fmt::format("Invalid update version {} for feature {}. {}", level, feature, reason));
  };
  if (type == UpgradeType::Unknown) return refuse("The controller does not support the given upgrade type.");
  if (level < 0) return refuse("A feature version cannot be less than 0.");
  if (const auto reason = reasonNotSupported(view, feature, level)) return refuse(*reason);
  if (feature == kEligibleLeaderReplicasFeature && level > 0 && !view.version().supportsElr()) {
    return refuse(fmt::format("It depends on {} level {}.", kMetadataVersionFeature, kFirstMetadataVersionWithElr));
  }
  const int16_t current = view.image.features.level(feature);
  if (level > current && type != UpgradeType::Upgrade) return refuse("Can't downgrade to a newer version.");
  if (level >= current) return {};
  if (type == UpgradeType::Upgrade) {
    return refuse(
        "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
        "downgrade.");
  }
  if (feature != kMetadataVersionFeature) return {};
  const bool changed = std::ranges::any_of(kLevelsThatChangeMetadata,
                                           [&](int16_t changing) { return changing > level && changing <= current; });
  if (!changed) return {};
  return fail(ErrorCode::InvalidUpdateVersion,
              fmt::format("Invalid metadata.version {}. {}", level,
                          type == UpgradeType::UnsafeDowngrade
                              ? "Unsafe metadata downgrade is not supported in this version."
                              : "Refusing to perform the requested downgrade because it might delete metadata "
                                "information."));
}

}  // namespace

HandlerResult<protocol::UpdateFeaturesResponse> handle(const ControllerView& view,
                                                       const protocol::UpdateFeaturesRequest& request) {
  Outcome<protocol::UpdateFeaturesResponse> outcome;
  outcome.response.errorMessage.reset();
  for (const auto& update : request.featureUpdates) {
    const Result<void> checked =
        checkUpdate(view, update.feature.view(), update.maxVersionLevel, upgradeType(update, view.requestVersion));
    if (!checked) {
      outcome.records.clear();
      outcome.response.results.clear();
      outcome.response.errorCode = static_cast<int16_t>(checked.error().code);
      outcome.response.errorMessage = protocol::Text(fmt::format(
          "The update failed for all features since the following feature had an error: {}", checked.error().message));
      return outcome;
    }
    // Before the level: nobody sees it without them.
    if (update.feature == kEligibleLeaderReplicasFeature && update.maxVersionLevel > 0)
      std::ranges::move(elrSafetyRecords(view), std::back_inserter(outcome.records));
    outcome.records.push_back(
        {protocol::FeatureLevelRecord{.name = update.feature, .featureLevel = update.maxVersionLevel}});
    protocol::UpdateFeaturesResponse::UpdatableFeatureResult result{.feature = update.feature};
    result.errorMessage.reset();
    outcome.response.results.push_back(std::move(result));
  }
  if (request.validateOnly) outcome.records.clear();
  return outcome;
}

HandlerResult<protocol::AllocateProducerIdsResponse> handle(const ControllerView& view,
                                                            const protocol::AllocateProducerIdsRequest& request) {
  TIDEMARK_TRY(view.checkBrokerEpoch(request.brokerId, request.brokerEpoch));
  const int64_t first = view.image.nextProducerId.value_or(ProducerId(0)).value();
  if (first > std::numeric_limits<int64_t>::max() - kProducerIdBlockSize) {
    return fail(ErrorCode::UnknownServerError, "Exhausted all producerIds");
  }
  Outcome<protocol::AllocateProducerIdsResponse> outcome;
  outcome.records.push_back({protocol::ProducerIdsRecord{.brokerId = request.brokerId,
                                                         .brokerEpoch = request.brokerEpoch,
                                                         .nextProducerId = first + kProducerIdBlockSize}});
  outcome.response.producerIdStart = first;
  outcome.response.producerIdLen = kProducerIdBlockSize;
  return outcome;
}

Records bootstrapRecords(const FeatureLevels& levels) {
  Records records;
  for (const FeatureDefinition& feature : knownFeatures()) {
    const auto wanted = levels.find(feature.name);
    const int16_t level = wanted == levels.end() ? feature.finalizedAtFormat : wanted->second;
    if (level == 0 || feature.name == kKRaftVersionFeature) continue;
    records.push_back({protocol::FeatureLevelRecord{.name = feature.name, .featureLevel = level}});
  }
  return records;
}

Records activationRecords(const Image& image, bool inTransaction, const Records& bootstrap, int32_t minInsyncReplicas) {
  Records records;
  if (inTransaction) {
    protocol::AbortTransactionRecord abort;
    abort.reason = protocol::Text("Controller failover");
    records.push_back({std::move(abort)});
  }
  if (image.features.metadataVersion() != 0 || bootstrap.empty()) return records;
  protocol::BeginTransactionRecord begin;
  begin.name = protocol::Text("Bootstrap records");
  records.push_back({std::move(begin)});
  std::ranges::copy(bootstrap, std::back_inserter(records));
  const bool elr = std::ranges::any_of(bootstrap, [](const Record& record) {
    const auto* level = record.as<protocol::FeatureLevelRecord>();
    return level != nullptr && level->name == kEligibleLeaderReplicasFeature && level->featureLevel > 0;
  });
  if (elr) records.push_back(minInsyncReplicasRecord(minInsyncReplicas));
  records.push_back({protocol::EndTransactionRecord()});
  return records;
}

}  // namespace tidemark::metadata
