#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/formatting.h"

namespace tidemark {

/// 128 bits, as Kafka writes them: 16 bytes on the wire, 22 characters of URL-safe base64 in text. All zero: none.
class Uuid {
 public:
  constexpr Uuid() = default;
  explicit constexpr Uuid(const std::array<uint8_t, 16>& bytes) noexcept : bytes_(bytes) {}

  constexpr bool isZero() const noexcept { return *this == Uuid(); }
  constexpr const std::array<uint8_t, 16>& bytes() const noexcept { return bytes_; }
  /// 22 characters of base64 (RFC 4648 §5), no padding.
  std::string toString() const;
  /// Nothing if the text is not 22 characters of URL-safe base64.
  static std::optional<Uuid> parse(std::string_view text);

  friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;

 private:
  std::array<uint8_t, 16> bytes_{};
};

/// The topic id of `__cluster_metadata` (text form AAAAAAAAAAAAAAAAAAAAAQ).
inline constexpr Uuid kMetadataTopicId{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

}  // namespace tidemark

template <>
struct std::hash<tidemark::Uuid> {
  size_t operator()(const tidemark::Uuid& id) const noexcept {
    uint64_t halves[2];
    std::memcpy(halves, id.bytes().data(), sizeof halves);
    return halves[0] ^ (halves[1] * 0x9e3779b97f4a7c15ULL);
  }
};
template <>
struct fmt::formatter<tidemark::Uuid> : tidemark::PlainFormatter {
  auto format(const tidemark::Uuid& id, format_context& context) const { return put(id.toString(), context); }
};
