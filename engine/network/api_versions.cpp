#include "network/api_versions.h"

#include <algorithm>

#include "protocol/api.h"

namespace tidemark::network {

namespace {

using protocol::ApiKey;
using protocol::ApiVersionsRequest;
using protocol::ApiVersionsResponse;

bool isAlphanumeric(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

ErrorCode check(const ApiVersionsRequest& request, int16_t version, const FeatureInfo& features) {
  if (version >= 3 && !(isValidSoftwareName(request.clientSoftwareName.view()) &&
                        isValidSoftwareName(request.clientSoftwareVersion.view()))) {
    return ErrorCode::InvalidRequest;
  }
  // The client wanted somebody else: another cluster has taken over the address.
  if (request.clusterId && !features.clusterId.empty() && *request.clusterId != features.clusterId) {
    return ErrorCode::RebootstrapRequired;
  }
  if (request.nodeId >= 0 && features.nodeId >= 0 && request.nodeId != features.nodeId) {
    return ErrorCode::RebootstrapRequired;
  }
  return ErrorCode::None;
}

}  // namespace

bool isValidSoftwareName(std::string_view name) noexcept {
  // [a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?
  return !name.empty() && isAlphanumeric(name.front()) && isAlphanumeric(name.back()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return isAlphanumeric(c) || c == '-' || c == '.'; });
}

ApiVersionsResponse answerApiVersions(const ApiVersionsRequest& request, int16_t version, const ApiTable& table,
                                      const FeatureInfo& features) {
  ApiVersionsResponse response;
  if (const ErrorCode error = check(request, version, features); error != ErrorCode::None) {
    response.errorCode = static_cast<int16_t>(error);
    return response;
  }
  response.apiKeys.reserve(table.served().size());
  for (const ApiRange& range : table.served()) {
    // Some clients stop compressing when Produce begins above 0, so that is what Kafka says.
    const int16_t min = range.key == ApiKey::Produce ? int16_t{0} : range.min;
    response.apiKeys.push_back({.apiKey = static_cast<int16_t>(range.key), .minVersion = min, .maxVersion = range.max});
  }
  for (const auto& feature : features.supported) {
    // Older readers fail on a least level of 0.
    if (version < 4 && feature.min == 0) continue;
    response.supportedFeatures.push_back({.name = feature.name, .minVersion = feature.min, .maxVersion = feature.max});
  }
  response.finalizedFeaturesEpoch = features.finalizedEpoch;
  for (const auto& feature : features.finalized) {
    response.finalizedFeatures.push_back(
        {.name = feature.name, .maxVersionLevel = feature.level, .minVersionLevel = feature.level});
  }
  return response;
}

ApiVersionsResponse refuseApiVersions(const ApiTable& table) {
  ApiVersionsResponse response;
  response.errorCode = static_cast<int16_t>(ErrorCode::UnsupportedVersion);
  if (const ApiRange* range = table.find(ApiKey::ApiVersions)) {
    response.apiKeys.push_back(
        {.apiKey = static_cast<int16_t>(range->key), .minVersion = range->min, .maxVersion = range->max});
  }
  return response;
}

}  // namespace tidemark::network
