#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faults/fault.h"

namespace tidemark::faults {

/// How a fault came to its end.
enum class Ending : uint8_t {
  Healed,
  /// Its duration was over.
  Expired,
  /// It has happened: a momentary one, an nth, a write that tore.
  FiredOut,
  /// It could not begin when it was due, or what it acted on was gone.
  Dropped,
};
std::string_view nameOf(Ending ending) noexcept;

/// What a fault leaves behind, or has left already while it is set. Nobody looks after it: a file may have been written
/// over since.
struct Lasting {
  /// Of one file, this is the byte whose lowest bit is not what was written.
  std::optional<uint64_t> flippedByte = {};
  /// Files that were flipped, torn or cut off, folders that were removed; at most kMostPaths are named.
  std::vector<std::string> paths = {};
  /// Those that are not.
  size_t morePaths = 0;
  /// Of files that were cut off: how many bytes each of `paths` lost, and all of them together. Else empty.
  std::vector<uint64_t> lostBytes = {};
  uint64_t lostInAll = 0;
  /// By how much clocks stay wrong until the broker starts anew.
  milliseconds wall{};
  Duration monotonic{};

  static constexpr size_t kMostPaths = 16;
  void add(std::string path);
  /// One that was cut off.
  void addCut(std::string path, uint64_t lost);
  bool isNothing() const noexcept;
  friend bool operator==(const Lasting&, const Lasting&) = default;
};

/// A fault that is over.
struct FaultOver {
  int id = 0;
  Fault fault;
  /// Where it acted; none if it was not about one broker, or had not begun.
  NodeId node = kNoNode;
  Ending ending{};
  /// Why it could not begin; else empty.
  std::string reason = {};
  /// Since it was set, and since it ended.
  Duration since{};
  Duration ago{};
  uint64_t fired = 0;
  Lasting lasting = {};
};

}  // namespace tidemark::faults
