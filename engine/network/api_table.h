#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace tidemark::protocol {
enum class ApiKey : int16_t;
}  // namespace tidemark::protocol

namespace tidemark::network {

/// An API and the versions of it that a listener serves.
struct ApiRange {
  protocol::ApiKey key{-1};
  int16_t min = 0;
  int16_t max = -1;
};

/// What a listener serves: the truth for both what is let through and what ApiVersions advertises. Immutable.
class ApiTable {
 public:
  ApiTable() = default;
  /// What Kafka serves on its brokers' listeners up to the last stable version, of the APIs that are implemented.
  static ApiTable broker(std::span<const protocol::ApiKey> implemented);
  /// The same for the controllers' listener.
  static ApiTable controller(std::span<const protocol::ApiKey> implemented);

  /// At most one range a key, keys below kMaxKeys.
  explicit ApiTable(std::vector<ApiRange> served);
  ApiTable(std::initializer_list<ApiRange> served) : ApiTable(std::vector<ApiRange>(served)) {}

  bool serves(protocol::ApiKey key, int16_t version) const noexcept {
    const ApiRange* range = find(key);
    return range != nullptr && version >= range->min && version <= range->max;
  }
  /// Nothing if the key is not served.
  const ApiRange* find(protocol::ApiKey key) const noexcept {
    const auto number = static_cast<int16_t>(key);
    if (number < 0 || number >= kMaxKeys || places_[static_cast<size_t>(number)] < 0) return nullptr;
    return &served_[static_cast<size_t>(places_[static_cast<size_t>(number)])];
  }
  /// Ordered by key.
  const std::vector<ApiRange>& served() const noexcept { return served_; }

  static constexpr int16_t kMaxKeys = 128;

 private:
  std::vector<ApiRange> served_;
  std::vector<int16_t> places_ = std::vector<int16_t>(kMaxKeys, -1);
};

}  // namespace tidemark::network
