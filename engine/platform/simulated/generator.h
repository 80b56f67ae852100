#pragma once

#include <cstdint>
#include <string_view>

#include "platform/clock.h"

namespace tidemark::platform {

__extension__ using WideUint = unsigned __int128;

/// One step of a hash that tells order: used for traces and to derive one seed from another.
constexpr uint64_t mix(uint64_t hash, uint64_t value) noexcept {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  hash ^= hash >> 30;
  hash *= 0xbf58476d1ce4e5b9ULL;
  hash ^= hash >> 27;
  hash *= 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

constexpr uint64_t mix(uint64_t hash, std::string_view text) noexcept {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  return mix(hash, text.size());
}

/// A source of pseudo-random numbers (xoshiro256**), the same on every machine.
class Generator {
 public:
  explicit Generator(uint64_t seed) noexcept {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }

  uint64_t next() noexcept {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// In [0, bound), `bound` > 0.
  uint64_t below(uint64_t bound) noexcept {
    return static_cast<uint64_t>((static_cast<WideUint>(next()) * bound) >> 64);
  }
  bool chance(unsigned percent) noexcept { return below(100) < percent; }
  /// Between the two, both included.
  Duration between(Duration low, Duration high) noexcept {
    return high <= low ? low
                       : low + Duration(static_cast<int64_t>(below(static_cast<uint64_t>((high - low).count()) + 1)));
  }
  /// Between half and one and a half of it.
  Duration around(Duration typical) noexcept { return between(typical / 2, typical + typical / 2); }

 private:
  static constexpr uint64_t rotate(uint64_t x, int k) noexcept { return (x << k) | (x >> (64 - k)); }
  uint64_t state_[4];
};

}  // namespace tidemark::platform
