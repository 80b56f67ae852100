#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "events/event.h"

namespace tidemark::events {

inline constexpr size_t kKindCount = std::variant_size_v<Payload>;

/// The place of a kind in Payload.
template <class Kind, size_t I = 0>
constexpr size_t indexOf() noexcept {
  if constexpr (std::is_same_v<Kind, std::variant_alternative_t<I, Payload>>)
    return I;
  else
    return indexOf<Kind, I + 1>();
}

/// A set of kinds of events.
class Kinds {
 public:
  static constexpr size_t kBits = 64;
  using Words = std::array<uint64_t, (kKindCount + kBits - 1) / kBits>;

  constexpr Kinds() = default;
  static constexpr Kinds all() noexcept {
    Kinds kinds;
    for (size_t i = 0; i < kKindCount; ++i) kinds.add(i);
    return kinds;
  }
  template <class... Kind>
  static constexpr Kinds of() noexcept {
    Kinds kinds;
    (kinds.add(indexOf<Kind>()), ...);
    return kinds;
  }
  /// The one of that name (`kName`), or none.
  static Kinds named(std::string_view name) noexcept;

  constexpr bool empty() const noexcept { return *this == Kinds(); }
  constexpr const Words& words() const noexcept { return words_; }
  constexpr Kinds& operator|=(const Kinds& other) noexcept {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  friend constexpr bool operator==(const Kinds&, const Kinds&) = default;

 private:
  constexpr void add(size_t index) noexcept { words_[index / kBits] |= uint64_t{1} << (index % kBits); }

  Words words_{};
};

}  // namespace tidemark::events
