#include "log/cleaner/cleanable.h"

#include <algorithm>

namespace tidemark::log {
namespace {

/// The segment that holds `offset`: the last that begins at or below it, the first if none does.
size_t holderOf(std::span<const SegmentFacts> segments, Offset offset) {
  const auto above = std::ranges::upper_bound(segments, offset, {}, &SegmentFacts::baseOffset);
  return above == segments.begin() ? 0 : static_cast<size_t>(above - segments.begin()) - 1;
}

int64_t bytesOf(std::span<const SegmentFacts> segments) {
  int64_t bytes = 0;
  for (const SegmentFacts& segment : segments) bytes += segment.sizeInBytes;
  return bytes;
}

void sooner(std::optional<int64_t>& when, int64_t candidate) {
  when = when ? std::min(*when, candidate) : candidate;
}

}  // namespace

double CleanPlan::dirtyRatio() const noexcept {
  const int64_t total = cleanBytes + cleanableBytes;
  return total == 0 ? 0 : static_cast<double>(cleanableBytes) / static_cast<double>(total);
}

CleanPlan planCleaning(const CleanableFacts& facts, const LogConfig& config, int64_t nowMs) {
  CleanPlan plan;
  plan.firstDirty = facts.cleanedTo.value_or(facts.logStart);
  if (plan.firstDirty < facts.logStart || plan.firstDirty > facts.logEnd) {
    plan.firstDirty = facts.logStart;
    plan.checkpointWrong = true;
  }
  const std::span all(facts.segments);
  if (all.empty()) return plan;
  const size_t active = all.size() - 1;
  const size_t firstDirty = holderOf(all, plan.firstDirty);

  size_t uncleanable = std::min(active, holderOf(all, facts.lastStable));
  if (config.minCompactionLagMs > 0) {
    for (size_t i = firstDirty; i < uncleanable; ++i) {
      if (all[i].largestTimestampMs <= nowMs - config.minCompactionLagMs) continue;
      uncleanable = i;
      sooner(plan.lookAgainAtMs, all[i].largestTimestampMs + config.minCompactionLagMs);
      break;
    }
  }
  uncleanable = std::max(uncleanable, std::min(firstDirty, active));
  plan.firstUncleanable = all[uncleanable].baseOffset;

  // As Kafka counts: a segment that holds the first dirty offset in its middle is on both sides.
  const size_t cleanEnd =
      static_cast<size_t>(std::ranges::lower_bound(all, plan.firstDirty, {}, &SegmentFacts::baseOffset) - all.begin());
  plan.cleanBytes = bytesOf(all.first(cleanEnd));
  if (firstDirty < uncleanable) plan.cleanableBytes = bytesOf(all.subspan(firstDirty, uncleanable - firstDirty));
  plan.uncleanableBytes = bytesOf(all.subspan(uncleanable));

  if (config.maxCompactionLagMs < INT64_MAX) {
    int64_t earliest = INT64_MAX;
    for (size_t i = firstDirty; i < active; ++i)
      if (all[i].firstTimestampMs > 0) earliest = std::min(earliest, all[i].firstTimestampMs);
    plan.overdue = earliest < nowMs - config.maxCompactionLagMs;
    if (!plan.overdue && earliest < INT64_MAX && earliest < INT64_MAX - config.maxCompactionLagMs - 1)
      sooner(plan.lookAgainAtMs, earliest + config.maxCompactionLagMs + 1);
  }
  plan.due = plan.cleanableBytes > 0 && (plan.overdue || plan.dirtyRatio() > config.minCleanableDirtyRatio);
  return plan;
}

std::vector<SegmentGroup> groupSegments(std::span<const SegmentFacts> segments, const LogConfig& config, Offset end) {
  std::vector<SegmentGroup> groups;
  for (size_t first = 0; first < segments.size();) {
    int64_t size = segments[first].sizeInBytes;
    int64_t offsetIndex = segments[first].offsetIndexBytes;
    int64_t timeIndex = segments[first].timeIndexBytes;
    size_t last = first + 1;
    for (; last < segments.size(); ++last) {
      const SegmentFacts& next = segments[last];
      const Offset nextEnd = last + 1 < segments.size() ? segments[last + 1].baseOffset : end;
      const bool fits = size + next.sizeInBytes <= config.segmentBytes &&
                        offsetIndex + next.offsetIndexBytes <= config.segmentIndexBytes &&
                        timeIndex + next.timeIndexBytes <= config.segmentIndexBytes &&
                        (next.sizeInBytes == 0 || nextEnd - 1 - segments[first].baseOffset <= INT32_MAX);
      if (!fits) break;
      size += next.sizeInBytes;
      offsetIndex += next.offsetIndexBytes;
      timeIndex += next.timeIndexBytes;
    }
    groups.push_back({first, last});
    first = last;
  }
  return groups;
}

}  // namespace tidemark::log
