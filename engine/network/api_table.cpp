#include "network/api_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/invariant.h"

namespace tidemark::network {

ApiTable::ApiTable(std::vector<ApiRange> served) : served_(std::move(served)) {
  std::sort(served_.begin(), served_.end(), [](const ApiRange& a, const ApiRange& b) { return a.key < b.key; });
  for (size_t i = 0; i < served_.size(); ++i) {
    const ApiRange& range = served_[i];
    TIDEMARK_INVARIANT(range.key >= 0 && range.key < kMaxKeys && range.min >= 0 && range.min <= range.max,
                       fmt::format("API {} cannot be served from version {} to {}", range.key, range.min, range.max));
    auto& place = places_[static_cast<size_t>(range.key)];
    TIDEMARK_INVARIANT(place < 0, fmt::format("API {} is served twice", range.key));
    place = static_cast<int16_t>(i);
  }
}

}  // namespace tidemark::network
