#include "metadata/features.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

namespace tidemark::metadata {
namespace {

// Raise `maxSupported` (what nodes offer) and `finalizedAtFormat` of a feature with the work that implements it.
constexpr std::array kFeatures = {
    FeatureDefinition{kMetadataVersionFeature, kMinimumMetadataVersion, kLatestMetadataVersion, kLatestMetadataVersion},
    FeatureDefinition{kEligibleLeaderReplicasFeature, 0, 1, 1},
    FeatureDefinition{kGroupVersionFeature, 0, 1, 1},
    FeatureDefinition{kKRaftVersionFeature, 0, 1, 1},
    FeatureDefinition{kShareVersionFeature, 0, 2, 2},
    FeatureDefinition{kStreamsVersionFeature, 0, 1, 1},
    FeatureDefinition{kTransactionVersionFeature, 0, 2, 2},
};

}  // namespace

std::span<const FeatureDefinition> knownFeatures() noexcept {
  static const std::vector<FeatureDefinition> kOffered = [] {
    std::vector<FeatureDefinition> offered;
    std::ranges::copy_if(kFeatures, std::back_inserter(offered), [](const auto& one) { return one.maxSupported > 0; });
    return offered;
  }();
  return kOffered;
}

const FeatureDefinition* findFeature(std::string_view name) noexcept {
  const auto at = std::ranges::find(kFeatures, name, &FeatureDefinition::name);
  return at == kFeatures.end() ? nullptr : &*at;
}

Result<void> checkFormatLevels(const FeatureLevels& levels) {
  for (const auto& [name, level] : levels) {
    const FeatureDefinition* known = findFeature(name);
    if (known == nullptr || known->name == kKRaftVersionFeature)
      return fail(ErrorCode::InvalidUpdateVersion, fmt::format("{} is no feature of the metadata log", name));
    if (level < known->minSupported || level > known->maxSupported)
      return fail(ErrorCode::InvalidUpdateVersion, fmt::format("{} {} is not supported, levels {} to {} are", name,
                                                               level, known->minSupported, known->maxSupported));
  }
  return {};
}

}  // namespace tidemark::metadata
