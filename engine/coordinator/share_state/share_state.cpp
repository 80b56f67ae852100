#include "coordinator/share_state/share_state.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace tidemark::coordinator {

std::string ShareKey::text() const {
  return fmt::format("{}:{}:{}", groupId, topicId, partition);
}

std::optional<ShareKey> ShareKey::parse(std::string_view text) {
  const size_t second = text.rfind(':');
  if (second == std::string_view::npos || second == 0) return std::nullopt;
  const size_t first = text.rfind(':', second - 1);
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  const std::string_view number = text.substr(second + 1);
  int32_t partition = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), partition);
  const std::optional<Uuid> id = Uuid::parse(text.substr(first + 1, second - first - 1));
  if (error != std::errc() || end != number.data() + number.size() || partition < 0 || !id) return std::nullopt;
  return ShareKey{std::string(text.substr(0, first)), *id, PartitionIndex(partition)};
}

std::vector<StateBatch> combineBatches(std::span<const StateBatch> older, std::span<const StateBatch> newer,
                                       Offset start) {
  // From the weakest to the strongest, each painted over what is there.
  std::vector<StateBatch> all(older.begin(), older.end());
  all.insert(all.end(), newer.begin(), newer.end());
  std::stable_sort(all.begin(), all.end(), [](const StateBatch& a, const StateBatch& b) {
    return std::tie(a.deliveryCount, a.state) < std::tie(b.deliveryCount, b.state);
  });
  std::map<Offset, StateBatch> painted;
  for (StateBatch batch : all) {
    if (start != kUndecidedStart) batch.first = std::max(batch.first, start);
    if (batch.last < batch.first) continue;
    auto at = painted.upper_bound(batch.first);
    if (at != painted.begin()) --at;
    while (at != painted.end() && at->second.first <= batch.last) {
      const StateBatch covered = at->second;
      if (covered.last < batch.first) {
        ++at;
        continue;
      }
      at = painted.erase(at);
      if (covered.first < batch.first) {
        StateBatch left = covered;
        left.last = batch.first - 1;
        painted.emplace(left.first, left);
      }
      if (covered.last > batch.last) {
        StateBatch right = covered;
        right.first = batch.last.next();
        painted.emplace(right.first, right);
        break;
      }
    }
    painted.emplace(batch.first, batch);
  }
  std::vector<StateBatch> combined;
  for (const auto& [first, batch] : painted) {
    if (!combined.empty() && combined.back().last.next() == batch.first && combined.back().state == batch.state &&
        combined.back().deliveryCount == batch.deliveryCount) {
      combined.back().last = batch.last;
    } else {
      combined.push_back(batch);
    }
  }
  return combined;
}

}  // namespace tidemark::coordinator
