#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/generated/api_keys.h"

namespace tidemark::protocol {

/// Versions `first` to `last`, both included; empty if last < first.
struct VersionRange {
  int16_t first = 0;
  int16_t last = -1;
  constexpr bool contains(int16_t version) const noexcept { return version >= first && version <= last; }
  constexpr bool empty() const noexcept { return last < first; }
  friend constexpr bool operator==(VersionRange, VersionRange) = default;
};

/// What Kafka 4.4 says about one API (from apis.tsv).
struct ApiInfo {
  ApiKey key{};
  std::string_view name;
  /// Empty for an API that was removed.
  VersionRange versions;
  /// The last version that is not marked unstable; what brokers advertise by default.
  int16_t maxStable = -1;
  /// From this version on the request is flexible: header 2 (else 1), and the response's header 1 (else 0).
  int16_t flexibleFrom = 0;
  bool onBroker = false;
  bool onController = false;
  /// Needs CLUSTER_ACTION.
  bool clusterAction = false;
  /// A broker may forward it to the controller in an Envelope.
  bool forwardable = false;
};

/// All APIs by key, removed ones too.
std::span<const ApiInfo> allApis() noexcept;
/// Null if no API has that number or name.
const ApiInfo* findApi(int16_t key) noexcept;
const ApiInfo* findApi(std::string_view name) noexcept;
/// For a key that exists (any enumerator).
const ApiInfo& apiInfo(ApiKey key) noexcept;
/// "Fetch"; "unknown" for a number without API.
std::string_view apiName(ApiKey key) noexcept;

/// Whether strings, arrays and tags are written compactly. Versions beyond the last count as flexible if it is.
bool isFlexible(ApiKey key, int16_t version) noexcept;
int16_t requestHeaderVersion(ApiKey key, int16_t version) noexcept;
/// 0 for ApiVersions whatever the version: its asker may not know better.
int16_t responseHeaderVersion(ApiKey key, int16_t version) noexcept;

}  // namespace tidemark::protocol
