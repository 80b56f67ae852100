#include "network/peer_versions.h"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/api.h"

namespace tidemark::network {

ApiTable tableOf(const protocol::ApiVersionsResponse& response) {
  std::vector<ApiRange> served;
  for (const auto& api : response.apiKeys) {
    const bool known = std::any_of(served.begin(), served.end(), [&](const ApiRange& range) {
      return static_cast<int16_t>(range.key) == api.apiKey;
    });
    if (known || api.apiKey < 0 || api.apiKey >= ApiTable::kMaxKeys) continue;
    if (api.minVersion < 0 || api.minVersion > api.maxVersion) continue;
    served.push_back({static_cast<protocol::ApiKey>(api.apiKey), api.minVersion, api.maxVersion});
  }
  return ApiTable(std::move(served));
}

FinalizedFeatures featuresOf(const protocol::ApiVersionsResponse& response) {
  FinalizedFeatures features{.epoch = response.finalizedFeaturesEpoch, .levels = {}};
  for (const auto& feature : response.finalizedFeatures) features.levels[feature.name.str()] = feature.maxVersionLevel;
  return features;
}

Result<int16_t> versionFor(const ApiRange& ours, const SendOptions& options, const ApiTable* theirs,
                           const platform::Endpoint& peer) {
  int16_t min = ours.min;
  int16_t max = std::min(ours.max, options.maxVersion);
  if (options.version) min = max = *options.version;
  if (theirs != nullptr) {
    const ApiRange* range = theirs->find(ours.key);
    if (range == nullptr)
      return fail(ErrorCode::UnsupportedVersion,
                  fmt::format("{} does not serve {}", peer, protocol::apiName(ours.key)));
    min = std::max(min, range->min);
    max = std::min(max, range->max);
  }
  if (min > max)
    return fail(ErrorCode::UnsupportedVersion,
                fmt::format("{} and we have no version of {} in common", peer, protocol::apiName(ours.key)));
  return max;
}

}  // namespace tidemark::network
