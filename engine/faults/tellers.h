#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::faults {

/// Who tells of an event, as bits. None: nobody does.
enum Tellers : uint8_t {
  kNobodyTells = 0,
  kBrokersTell = 1,
  kControllersTell = 2,
  kNodesTell = kBrokersTell | kControllersTell,
  /// The lab itself, of no node.
  kLabTells = 4,
};

/// By the name of the event's kind.
Tellers tellersOf(std::string_view event) noexcept;

/// Whether events of that kind are about one partition: not about none, nor about a whole topic.
bool isAboutPartition(std::string_view event) noexcept;

}  // namespace tidemark::faults
