#include "log/epoch_cache.h"

#include <algorithm>

#include "log/text_lines.h"

namespace tidemark::log {

bool EpochCache::assign(LeaderEpoch epoch, Offset startOffset) {
  if (epoch.value() < 0 || startOffset.value() < 0) return false;
  if (!entries_.empty()) {
    const EpochEntry& last = entries_.back();
    if (last.epoch == epoch && startOffset >= last.startOffset) return false;
  }
  while (!entries_.empty() && (entries_.back().epoch >= epoch || entries_.back().startOffset >= startOffset))
    entries_.pop_back();
  entries_.push_back({epoch, startOffset});
  dirty_ = true;
  return true;
}

EpochEndOffset EpochCache::endOffsetFor(LeaderEpoch epoch, Offset logEndOffset) const {
  if (epoch.value() < 0 || entries_.empty()) return {};
  if (entries_.back().epoch == epoch) return {epoch, logEndOffset};
  const auto higher = std::ranges::find_if(entries_, [epoch](const EpochEntry& entry) { return entry.epoch > epoch; });
  if (higher == entries_.end()) return {};
  if (higher == entries_.begin()) return {epoch, higher->startOffset};
  return {std::prev(higher)->epoch, higher->startOffset};
}

void EpochCache::truncateFromEnd(Offset endOffset) {
  while (!entries_.empty() && entries_.back().startOffset >= endOffset) {
    entries_.pop_back();
    dirty_ = true;
  }
}

void EpochCache::truncateFromStart(Offset startOffset) {
  const auto above = std::ranges::find_if(
      entries_, [startOffset](const EpochEntry& entry) { return entry.startOffset > startOffset; });
  if (above == entries_.begin()) return;
  const auto holder = std::prev(above);
  if (holder == entries_.begin() && holder->startOffset == startOffset) return;
  holder->startOffset = startOffset;
  entries_.erase(entries_.begin(), holder);
  dirty_ = true;
}

void EpochCache::clear() {
  if (entries_.empty()) return;
  entries_.clear();
  dirty_ = true;
}

std::optional<LeaderEpoch> EpochCache::latestEpoch() const {
  if (entries_.empty()) return std::nullopt;
  return entries_.back().epoch;
}

std::optional<EpochEntry> EpochCache::earliest() const {
  if (entries_.empty()) return std::nullopt;
  return entries_.front();
}

std::optional<LeaderEpoch> EpochCache::epochForOffset(Offset offset) const {
  std::optional<LeaderEpoch> epoch;
  for (const EpochEntry& entry : entries_) {
    if (entry.startOffset > offset) break;
    epoch = entry.epoch;
  }
  return epoch;
}

std::optional<LeaderEpoch> EpochCache::previousEpoch(LeaderEpoch epoch) const {
  std::optional<LeaderEpoch> previous;
  for (const EpochEntry& entry : entries_) {
    if (entry.epoch >= epoch) break;
    previous = entry.epoch;
  }
  return previous;
}

std::string EpochCache::encode() const {
  std::string text = fmt::format("0\n{}\n", entries_.size());
  for (const EpochEntry& entry : entries_) text += fmt::format("{} {}\n", entry.epoch, entry.startOffset);
  return text;
}

Result<EpochCache> EpochCache::decode(std::string_view text) {
  TIDEMARK_ASSIGN(const auto lines, checkpointLines(text));
  EpochCache cache;
  for (const std::string_view line : lines) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return fail(ErrorCode::CorruptMessage, "a line without a space");
    const auto epoch = parseDecimal<int32_t>(line.substr(0, space));
    const auto start = parseDecimal<int64_t>(line.substr(space + 1));
    if (!epoch || !start || *epoch < 0 || *start < 0)
      return fail(ErrorCode::CorruptMessage, "a line that is not an epoch and an offset");
    const EpochEntry entry{LeaderEpoch(*epoch), Offset(*start)};
    if (!cache.entries_.empty() &&
        (cache.entries_.back().epoch >= entry.epoch || cache.entries_.back().startOffset >= entry.startOffset))
      return fail(ErrorCode::CorruptMessage, "epochs that do not rise");
    cache.entries_.push_back(entry);
  }
  return cache;
}

}  // namespace tidemark::log
