#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace tidemark::faults {

/// Something that a fault names and that is not there when it is set. It may come, and until then the fault meets
/// nothing.
struct Unmatched {
  enum class What : uint8_t {
    Client,
    Topic,
    Partition,
    /// Neither a file nor a folder of `node` has that path.
    Path,
  };
  What what{};
  /// "billing", "orders", "orders-7", "*.log".
  std::string name = {};
  NodeId node = kNoNode;

  friend bool operator==(const Unmatched&, const Unmatched&) = default;
};

/// "no client named billing is connected". `who`: what its node is called.
std::string textOf(const Unmatched& unmatched, std::string_view who);

}  // namespace tidemark::faults
