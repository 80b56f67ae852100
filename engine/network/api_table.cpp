#include "network/api_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/invariant.h"
#include "protocol/api.h"

namespace tidemark::network {

namespace {

ApiTable tableOf(std::span<const protocol::ApiKey> implemented, bool protocol::ApiInfo::* listener) {
  std::vector<ApiRange> served;
  for (const protocol::ApiKey key : implemented) {
    const protocol::ApiInfo& info = protocol::apiInfo(key);
    if (info.*listener) served.push_back({key, info.versions.first, info.maxStable});
  }
  return ApiTable(std::move(served));
}

}  // namespace

ApiTable ApiTable::broker(std::span<const protocol::ApiKey> implemented) {
  return tableOf(implemented, &protocol::ApiInfo::onBroker);
}

ApiTable ApiTable::controller(std::span<const protocol::ApiKey> implemented) {
  return tableOf(implemented, &protocol::ApiInfo::onController);
}

ApiTable::ApiTable(std::vector<ApiRange> served) : served_(std::move(served)) {
  std::sort(served_.begin(), served_.end(), [](const ApiRange& a, const ApiRange& b) { return a.key < b.key; });
  for (size_t i = 0; i < served_.size(); ++i) {
    const ApiRange& range = served_[i];
    const auto number = static_cast<int16_t>(range.key);
    TIDEMARK_INVARIANT(number >= 0 && number < kMaxKeys && range.min >= 0 && range.min <= range.max,
                       fmt::format("API {} cannot be served from version {} to {}", number, range.min, range.max));
    auto& place = places_[static_cast<size_t>(number)];
    TIDEMARK_INVARIANT(place < 0, fmt::format("API {} is served twice", number));
    place = static_cast<int16_t>(i);
  }
}

}  // namespace tidemark::network
