#include <algorithm>

#include "log/header_scanner.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

namespace tidemark::log {

using records::Step;

template <class Look>
auto PartitionLog::stable(const Look& look) const -> decltype(look()) {
  // Truncation and retention are rare, so that a few attempts are always enough but for a log that is being torn down.
  constexpr int kAttempts = 8;
  for (int attempt = 1;; ++attempt) {
    uint64_t before = 0;
    {
      const Lock lock(mutex_);
      before = removals_;
    }
    auto result = look();
    const Lock lock(mutex_);
    if (before == removals_ || attempt == kAttempts) return result;
  }
}

Result<ReadResult> PartitionLog::read(Offset start, size_t maxBytes, FetchIsolation isolation,
                                      bool minOneMessage) const {
  return stable([&] { return readBounded(start, maxBytes, isolation, kNoOffset, minOneMessage); });
}

Result<ReadResult> PartitionLog::readBelow(Offset start, size_t maxBytes, Offset upperBound, bool minOneMessage) const {
  return stable([&] { return readBounded(start, maxBytes, std::nullopt, upperBound, minOneMessage); });
}

Result<ReadResult> PartitionLog::readBounded(Offset start, size_t maxBytes, std::optional<FetchIsolation> isolation,
                                             Offset upperBound, bool minOneMessage) const {
  LogOffsetMetadata bound;
  std::shared_ptr<Segment> segment;
  std::shared_ptr<Segment> segmentOfBound;
  {
    const Lock lock(mutex_);
    TIDEMARK_TRY(checkUsable());
    if (start < logStart_ || start > logEnd_.offset)
      return fail(ErrorCode::OffsetOutOfRange,
                  fmt::format("{}: offset {} is outside {} to {}", directory_, start, logStart_, logEnd_.offset));
    if (!isolation)
      bound = upperBound >= logEnd_.offset ? logEnd_ : LogOffsetMetadata{.offset = upperBound};
    else if (*isolation == FetchIsolation::LogEnd)
      bound = logEnd_;
    else if (*isolation == FetchIsolation::HighWatermark)
      bound = highWatermark_;
    else
      bound = lastStableMetadata();
    segment = segments_->floor(start);
    if (bound.offsetOnly()) segmentOfBound = segments_->floor(bound.offset);
  }
  if (bound.offsetOnly() && start < bound.offset) {
    TIDEMARK_ASSIGN(bound, locateFrom(segmentOfBound, bound.offset));
    const Lock lock(mutex_);
    if (highWatermark_.offset == bound.offset && highWatermark_.offsetOnly()) highWatermark_ = bound;
  }
  ReadResult result;
  result.start.offset = start;
  if (start == bound.offset && !bound.offsetOnly()) {
    result.start = bound;
    return result;
  }
  if (start >= bound.offset) {
    TIDEMARK_ASSIGN(result.start, locateFrom(segment, start));
    return result;
  }
  while (segment && segment->baseOffset() <= bound.segmentBaseOffset) {
    const uint64_t end =
        segment->baseOffset() == bound.segmentBaseOffset ? static_cast<uint64_t>(bound.position) : segment->size();
    TIDEMARK_ASSIGN(const auto found, segment->find(start, end));
    if (found) {
      result.start = {start, segment->baseOffset(), static_cast<int64_t>(found->position)};
      const size_t firstSize = found->header.sizeInBytes();
      const size_t allowed = minOneMessage ? std::max(maxBytes, firstSize) : maxBytes;
      if (allowed == 0) return result;
      TIDEMARK_ASSIGN(const auto files, segment->files());
      result.slice = {files->log(), found->position, std::min<uint64_t>(end - found->position, allowed)};
      result.firstBatchIncomplete = allowed < firstSize;
      return result;
    }
    // Nothing that high in this one (compaction, or a truncation inside a batch): the next that has data.
    const Lock lock(mutex_);
    segment = segments_->higher(segment->baseOffset());
  }
  result.start = bound;
  return result;
}

Result<LogOffsetMetadata> PartitionLog::locateFrom(std::shared_ptr<Segment> segment, Offset offset) const {
  while (segment) {
    TIDEMARK_ASSIGN(const auto found, segment->find(offset, segment->size()));
    if (found) return LogOffsetMetadata{offset, segment->baseOffset(), static_cast<int64_t>(found->position)};
    const Lock lock(mutex_);
    auto next = segments_->higher(segment->baseOffset());
    if (!next) return LogOffsetMetadata{offset, logEnd_.segmentBaseOffset, logEnd_.position};
    segment = std::move(next);
  }
  return fail(ErrorCode::OffsetOutOfRange, fmt::format("{}: no segment holds offset {}", directory_, offset));
}

Result<LogOffsetMetadata> PartitionLog::locate(Offset offset) const {
  return stable([&]() -> Result<LogOffsetMetadata> {
    std::shared_ptr<Segment> segment;
    {
      const Lock lock(mutex_);
      TIDEMARK_TRY(checkUsable());
      if (offset < logStart_ || offset > logEnd_.offset)
        return fail(ErrorCode::OffsetOutOfRange,
                    fmt::format("{}: offset {} is outside {} to {}", directory_, offset, logStart_, logEnd_.offset));
      if (offset == logEnd_.offset) return logEnd_;
      if (offset == highWatermark_.offset && !highWatermark_.offsetOnly()) return highWatermark_;
      segment = segments_->floor(offset);
    }
    return locateFrom(std::move(segment), offset);
  });
}

Result<ByteVector> PartitionLog::wholeBatches(const Result<ReadResult>& read) const {
  if (!read) return fail(read.error());
  ByteVector bytes(read->slice.length);
  if (bytes.empty()) return bytes;
  TIDEMARK_ASSIGN(const size_t got, read->slice.file->readAt(read->slice.position, bytes));
  bytes.resize(got);
  records::BatchCursor cursor(bytes);
  while (cursor.next() == Step::Next) {
  }
  bytes.resize(cursor.position());
  return bytes;
}

Result<ByteVector> PartitionLog::readBytes(Offset start, size_t maxBytes, FetchIsolation isolation,
                                           bool minOneMessage) const {
  return stable([&] { return wholeBatches(readBounded(start, maxBytes, isolation, kNoOffset, minOneMessage)); });
}

Result<ByteVector> PartitionLog::readBytesBelow(Offset start, size_t maxBytes, Offset upperBound,
                                                bool minOneMessage) const {
  return stable([&] { return wholeBatches(readBounded(start, maxBytes, std::nullopt, upperBound, minOneMessage)); });
}

std::vector<std::shared_ptr<Segment>> PartitionLog::segmentsFrom(Offset offset) const {
  const Lock lock(mutex_);
  size_t index = segments_->floorIndex(offset);
  if (index == segments_->size()) index = 0;
  std::vector<std::shared_ptr<Segment>> segments;
  for (; index < segments_->size(); ++index) segments.push_back(segments_->at(index));
  return segments;
}

Result<std::optional<TimestampAndOffset>> PartitionLog::offsetForTimestamp(int64_t timestampMs) const {
  using Answer = Result<std::optional<TimestampAndOffset>>;
  return stable([&]() -> Answer {
    Offset start;
    {
      const Lock lock(mutex_);
      TIDEMARK_TRY(checkUsable());
      start = logStart_;
      if (timestampMs == kEarliestTimestamp || timestampMs == kEarliestLocalTimestamp) {
        TimestampAndOffset earliest;
        earliest.offset = logStart_;
        const auto entry = epochs_.earliest();
        if (entry && entry->startOffset <= logStart_) earliest.leaderEpoch = entry->epoch;
        return earliest;
      }
      if (timestampMs == kLatestTimestamp)
        return TimestampAndOffset{.offset = logEnd_.offset,
                                  .leaderEpoch = epochs_.latestEpoch().value_or(kNoLeaderEpoch)};
    }
    if (timestampMs == kLatestTieredTimestamp || timestampMs < kLatestTieredTimestamp) return std::nullopt;
    const auto segments = segmentsFrom(start);
    if (timestampMs == kMaxTimestamp) {
      std::shared_ptr<Segment> best;
      int64_t bestTimestamp = records::kNoTimestamp;
      for (const auto& segment : segments) {
        TIDEMARK_ASSIGN(const int64_t largest, segment->maxTimestampMs());
        if (largest <= bestTimestamp) continue;
        best = segment;
        bestTimestamp = largest;
      }
      if (!best) return std::nullopt;
      return best->findMaxTimestamp(best->size());
    }
    for (const auto& segment : segments) {
      TIDEMARK_ASSIGN(const int64_t largest, segment->maxTimestampMs());
      if (largest < timestampMs) continue;
      TIDEMARK_ASSIGN(auto found, segment->findByTimestamp(timestampMs, start, segment->size()));
      if (found) return found;
    }
    return std::nullopt;
  });
}

// --- for views ---
Offset PartitionLog::firstSegmentBase() const {
  const Lock lock(mutex_);
  return segments_->first()->baseOffset();
}

int64_t PartitionLog::sizeInBytes() const {
  const Lock lock(mutex_);
  int64_t size = 0;
  for (const auto& segment : *segments_) size += static_cast<int64_t>(segment->size());
  return size;
}

std::vector<SegmentInfo> PartitionLog::segments() const {
  std::vector<SegmentInfo> infos;
  for (const auto& segment : segmentsFrom(Offset(0))) infos.push_back(segment->info());
  return infos;
}

namespace {

template <class View, class Entries>
void copyEntries(const View& view, size_t from, size_t count, Entries& into) {
  const size_t first = std::min(from, view.count());
  const size_t last = first + std::min(count, view.count() - first);
  into.reserve(last - first);
  for (size_t i = first; i < last; ++i) into.push_back(view.entryAt(i));
}

}  // namespace

Result<std::vector<OffsetIndexEntry>> PartitionLog::offsetIndexEntries(Offset segmentBase, size_t from,
                                                                       size_t count) const {
  std::shared_ptr<Segment> segment;
  {
    const Lock lock(mutex_);
    segment = segments_->exactly(segmentBase);
  }
  std::vector<OffsetIndexEntry> entries;
  if (!segment) return entries;
  TIDEMARK_ASSIGN(const auto files, segment->files());
  TIDEMARK_ASSIGN(const auto view, files->offsetIndex().view());
  copyEntries(view, from, count, entries);
  return entries;
}

Result<std::vector<TimeIndexEntry>> PartitionLog::timeIndexEntries(Offset segmentBase, size_t from,
                                                                   size_t count) const {
  std::shared_ptr<Segment> segment;
  {
    const Lock lock(mutex_);
    segment = segments_->exactly(segmentBase);
  }
  std::vector<TimeIndexEntry> entries;
  if (!segment) return entries;
  TIDEMARK_ASSIGN(const auto files, segment->files());
  TIDEMARK_ASSIGN(const auto view, files->timeIndex().view());
  copyEntries(view, from, count, entries);
  return entries;
}

Result<std::vector<BatchInfo>> PartitionLog::batches(Offset start, size_t count) const {
  return stable([&]() -> Result<std::vector<BatchInfo>> {
    std::vector<BatchInfo> found;
    for (const auto& segment : segmentsFrom(start)) {
      const uint64_t end = segment->size();
      TIDEMARK_ASSIGN(const auto first, segment->find(start, end));
      if (!first) continue;
      TIDEMARK_ASSIGN(const auto files, segment->files());
      HeaderScanner scanner(*files->log(), first->position, end);
      while (found.size() < count) {
        TIDEMARK_ASSIGN(const Step step, scanner.next());
        if (step != Step::Next) break;
        found.push_back({segment->baseOffset(), static_cast<int64_t>(scanner.position()), scanner.header()});
      }
      if (found.size() >= count) break;
    }
    return found;
  });
}

std::vector<ProducerInfo> PartitionLog::producers() const {
  const Lock lock(mutex_);
  return producers_->producers();
}

}  // namespace tidemark::log
