#include <algorithm>

#include "base/mutation.h"
#include "log/header_scanner.h"
#include "log/lookup_trace.h"
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

Result<ReadResult> PartitionLog::read(Offset start, size_t maxBytes, FetchIsolation isolation, bool minOneMessage,
                                      LookupTrace* trace) const {
  return stable([&] { return readBounded(start, maxBytes, isolation, kNoOffset, minOneMessage, trace); });
}

Result<ReadResult> PartitionLog::readBelow(Offset start, size_t maxBytes, Offset upperBound, bool minOneMessage) const {
  return stable([&] { return readBounded(start, maxBytes, std::nullopt, upperBound, minOneMessage); });
}

Result<ReadResult> PartitionLog::readBounded(Offset start, size_t maxBytes, std::optional<FetchIsolation> isolation,
                                             Offset upperBound, bool minOneMessage, LookupTrace* trace) const {
  if (trace != nullptr) trace->begin();
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
    if (trace != nullptr && segment && start < bound.offset) {
      const size_t index = segments_->floorIndex(start);
      trace->add({.kind = LookupStep::Kind::SegmentChosen,
                  .segmentBase = segment->baseOffset(),
                  .entry = index,
                  .count = segments_->size(),
                  .offset = start});
    }
    if (bound.offsetOnly()) segmentOfBound = segments_->floor(bound.offset);
  }
  if (bound.offsetOnly() && start < bound.offset) {
    TIDEMARK_ASSIGN(bound, locateFrom(segmentOfBound, bound.offset));
    const Changing lock(*this);
    if (highWatermark_.offset == bound.offset && highWatermark_.offsetOnly()) highWatermark_ = bound;
  }
  ReadResult result;
  result.start.offset = start;
  if (trace != nullptr && start >= bound.offset)
    trace->add({.kind = LookupStep::Kind::KnownOffset, .segmentBase = bound.segmentBaseOffset, .offset = start});
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
    TIDEMARK_ASSIGN(const auto found, segment->find(start, end, trace));
    if (found) {
      result.start = {start, segment->baseOffset(), static_cast<int64_t>(found->position)};
      const size_t firstSize = found->header.sizeInBytes();
      const size_t allowed = minOneMessage ? std::max(maxBytes, firstSize) : maxBytes;
      if (allowed == 0) return result;
      TIDEMARK_ASSIGN(const auto files, segment->files());
      result.slice = {files->log(), found->position, std::min<uint64_t>(end - found->position, allowed)};
      result.firstBatchIncomplete = allowed < firstSize;
      if (isolation == FetchIsolation::Committed) {
        TIDEMARK_ASSIGN(result.abortedTransactions,
                        abortedIn(*segment, start, found->position + result.slice.length, bound.offset));
      }
      return result;
    }
    // Nothing that high in this one (compaction, or a truncation inside a batch): the next that has data.
    const Lock lock(mutex_);
    segment = segments_->higher(segment->baseOffset());
    if (trace != nullptr && segment)
      trace->add({.kind = LookupStep::Kind::SegmentChosen,
                  .segmentBase = segment->baseOffset(),
                  .entry = segments_->floorIndex(segment->baseOffset()),
                  .count = segments_->size(),
                  .offset = start});
  }
  result.start = bound;
  return result;
}

Result<std::vector<AbortedTxn>> PartitionLog::abortedTransactions(Offset from, Offset upTo) const {
  std::vector<std::shared_ptr<Segment>> segments;
  {
    const Lock lock(mutex_);
    size_t index = segments_->floorIndex(from);
    for (index = index == segments_->size() ? 0 : index; index < segments_->size(); ++index)
      if (segments_->at(index)->hasAborted()) segments.push_back(segments_->at(index));
  }
  std::vector<AbortedTxn> aborted;
  for (const auto& segment : segments) {
    TIDEMARK_ASSIGN(const auto entries, segment->abortedTxns());
    if (selectAborted(entries, from, upTo, aborted)) break;
  }
  if (isMutated(Mutation::AbortedWithoutLast) && !aborted.empty()) aborted.pop_back();
  return aborted;
}

/// For a reader who gets the bytes below `end` of `segment`, from `start` on and below `bound`.
Result<std::vector<AbortedTransaction>> PartitionLog::abortedIn(const Segment& segment, Offset start, uint64_t end,
                                                                Offset bound) const {
  Offset upTo = bound;
  {
    const Lock lock(mutex_);
    if (const auto next = segments_->higher(segment.baseOffset())) upTo = std::min(upTo, next->baseOffset());
  }
  TIDEMARK_ASSIGN(upTo, segment.boundOfBytes(end, upTo));
  TIDEMARK_ASSIGN(const auto found, abortedTransactions(start, upTo));
  std::vector<AbortedTransaction> aborted;
  aborted.reserve(found.size());
  for (const AbortedTxn& entry : found) aborted.push_back({entry.producerId, entry.firstOffset});
  return aborted;
}

Result<LogOffsetMetadata> PartitionLog::locateFrom(std::shared_ptr<Segment> segment, Offset offset) const {
  while (segment) {
    // Where the search ended, not where the log ends once it has: a batch that was appended meanwhile lies behind
    // `offset`.
    const uint64_t end = segment->size();
    TIDEMARK_ASSIGN(const auto found, segment->find(offset, end));
    if (found) return LogOffsetMetadata{offset, segment->baseOffset(), static_cast<int64_t>(found->position)};
    const Lock lock(mutex_);
    auto next = segments_->higher(segment->baseOffset());
    if (!next) return LogOffsetMetadata{offset, segment->baseOffset(), static_cast<int64_t>(end)};
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

Result<std::optional<TimestampAndOffset>> PartitionLog::offsetForTimestamp(int64_t timestampMs,
                                                                           LookupTrace* trace) const {
  using Answer = Result<std::optional<TimestampAndOffset>>;
  using Kind = LookupStep::Kind;
  return stable([&]() -> Answer {
    if (trace != nullptr) trace->begin();
    Offset start;
    {
      const Lock lock(mutex_);
      TIDEMARK_TRY(checkUsable());
      start = logStart_;
      if (timestampMs == kEarliestTimestamp || timestampMs == kEarliestLocalTimestamp) {
        TimestampAndOffset earliest;
        earliest.offset = logStart_;
        if (trace != nullptr) trace->add({.kind = Kind::KnownOffset, .offset = logStart_});
        const auto entry = epochs_.earliest();
        if (entry && entry->startOffset <= logStart_) earliest.leaderEpoch = entry->epoch;
        return earliest;
      }
      if (timestampMs == kLatestTimestamp && trace != nullptr)
        trace->add({.kind = Kind::KnownOffset, .offset = logEnd_.offset});
      if (timestampMs == kLatestTimestamp)
        return TimestampAndOffset{.offset = logEnd_.offset,
                                  .leaderEpoch = epochs_.latestEpoch().value_or(kNoLeaderEpoch)};
    }
    if (timestampMs == kLatestTieredTimestamp || timestampMs < kLatestTieredTimestamp) return std::nullopt;
    const auto segments = segmentsFrom(start);
    const auto told = [&](Kind kind, size_t index, int64_t largest) {
      if (trace != nullptr)
        trace->add({.kind = kind,
                    .segmentBase = segments[index]->baseOffset(),
                    .entry = index,
                    .count = segments.size(),
                    .timestampMs = largest});
    };
    while (timestampMs == kMaxTimestamp) {
      std::optional<size_t> best;
      int64_t bestTimestamp = records::kNoTimestamp;
      for (size_t i = 0; i < segments.size(); ++i) {
        TIDEMARK_ASSIGN(const int64_t largest, segments[i]->maxTimestampMs());
        if (largest <= bestTimestamp) {
          told(Kind::SegmentSkipped, i, largest);
          continue;
        }
        // Until a later one has a larger one.
        if (best) told(Kind::SegmentSkipped, *best, bestTimestamp);
        best = i;
        bestTimestamp = largest;
      }
      if (!best) return std::nullopt;
      told(Kind::SegmentChosen, *best, bestTimestamp);
      TIDEMARK_ASSIGN(auto found, segments[*best]->findMaxTimestamp(segments[*best]->size(), trace));
      if (found) return found;
      // Its time index was wrong: now that its largest is known, it may be another segment.
      TIDEMARK_ASSIGN(const int64_t largest, segments[*best]->maxTimestampMs());
      if (largest >= bestTimestamp) return std::nullopt;
    }
    for (size_t i = 0; i < segments.size(); ++i) {
      TIDEMARK_ASSIGN(const int64_t largest, segments[i]->maxTimestampMs());
      told(largest < timestampMs ? Kind::SegmentSkipped : Kind::SegmentChosen, i, largest);
      if (largest < timestampMs) continue;
      TIDEMARK_ASSIGN(auto found, segments[i]->findByTimestamp(timestampMs, start, segments[i]->size(), trace));
      if (found) return found;
    }
    return std::nullopt;
  });
}

// --- for views ---
Offset PartitionLog::firstSegmentBase() const {
  return published().segments->front()->baseOffset();
}

int64_t PartitionLog::sizeInBytes() const {
  return look().sizeInBytes;
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
