#include "protocol/api.h"

#include "protocol/schema_tables.h"

namespace tidemark::protocol {

std::span<const ApiInfo> allApis() noexcept {
  return {kApis, kApiCount};
}

const ApiInfo* findApi(int16_t key) noexcept {
  // The generator insists that keys follow each other from 0.
  return key >= 0 && static_cast<size_t>(key) < kApiCount ? &kApis[key] : nullptr;
}

const ApiInfo* findApi(std::string_view name) noexcept {
  for (const ApiInfo& api : allApis())
    if (api.name == name) return &api;
  return nullptr;
}

const ApiInfo& apiInfo(ApiKey key) noexcept {
  const ApiInfo* api = findApi(static_cast<int16_t>(key));
  return api != nullptr ? *api : kApis[0];
}

std::string_view apiName(ApiKey key) noexcept {
  const ApiInfo* api = findApi(static_cast<int16_t>(key));
  return api != nullptr ? api->name : "unknown";
}

bool isFlexible(ApiKey key, int16_t version) noexcept {
  return version >= apiInfo(key).flexibleFrom;
}

int16_t requestHeaderVersion(ApiKey key, int16_t version) noexcept {
  return isFlexible(key, version) ? 2 : 1;
}

int16_t responseHeaderVersion(ApiKey key, int16_t version) noexcept {
  return key != ApiKey::ApiVersions && isFlexible(key, version) ? 1 : 0;
}

}  // namespace tidemark::protocol
