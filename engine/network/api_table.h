#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tidemark::network {

/// An API and the versions of it that a listener serves.
struct ApiRange {
  int16_t key = -1;
  int16_t min = 0;
  int16_t max = -1;
};

/// What a listener serves: the truth for both what is let through and what ApiVersions advertises. Immutable.
class ApiTable {
 public:
  ApiTable() = default;
  /// At most one range a key, keys below kMaxKeys.
  explicit ApiTable(std::vector<ApiRange> served);
  ApiTable(std::initializer_list<ApiRange> served) : ApiTable(std::vector<ApiRange>(served)) {}

  bool serves(int16_t key, int16_t version) const noexcept {
    const ApiRange* range = find(key);
    return range != nullptr && version >= range->min && version <= range->max;
  }
  /// Nothing if the key is not served.
  const ApiRange* find(int16_t key) const noexcept {
    if (key < 0 || key >= kMaxKeys || places_[static_cast<size_t>(key)] < 0) return nullptr;
    return &served_[static_cast<size_t>(places_[static_cast<size_t>(key)])];
  }
  /// Ordered by key.
  const std::vector<ApiRange>& served() const noexcept { return served_; }

  static constexpr int16_t kMaxKeys = 128;

 private:
  std::vector<ApiRange> served_;
  std::vector<int16_t> places_ = std::vector<int16_t>(kMaxKeys, -1);
};

}  // namespace tidemark::network
