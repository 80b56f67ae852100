#include "log/cleaner/cleaning_pass.h"

#include <algorithm>

#include "log/batch_walk.h"
#include "log/cleaner/batch_reader.h"
#include "log/partition_log.h"
#include "log/segment.h"

namespace tidemark::log {

using records::BatchHeader;
using records::BatchView;
using records::RecordCursor;
using records::Step;

namespace {

/// Slots a map is given beyond twice the offsets it may have to hold.
constexpr size_t kSpareSlots = 64;
/// One bit for each dirty offset may take this part of the memory of a map, or is done without.
constexpr size_t kPartOfBits = 16;
/// Keys that are looked up together: as many as a batch may well have.
constexpr size_t kMostWaiting = 128;

std::unexpected<Error> ended() {
  return fail(ErrorCode::UnknownServerError, "the cleaning was ended");
}

}  // namespace

// --- what there is to clean ---
Result<std::vector<SegmentFacts>> factsOf(const CleanView& view, bool withTimes) {
  std::vector<SegmentFacts> facts;
  facts.reserve(view.segments.size());
  for (const auto& segment : view.segments) {
    SegmentFacts fact{.baseOffset = segment->baseOffset(),
                      .sizeInBytes = static_cast<int64_t>(segment->size()),
                      .offsetIndexBytes = segment->offsetIndexBytes(),
                      .timeIndexBytes = segment->timeIndexBytes()};
    if (withTimes && segment != view.segments.back()) {
      if (view.config->minCompactionLagMs > 0) {
        TIDEMARK_ASSIGN(const int64_t largest, segment->maxTimestampMs());
        fact.largestTimestampMs = largest >= 0 ? largest : segment->createdMs();
      }
      if (view.config->maxCompactionLagMs < INT64_MAX) {
        TIDEMARK_ASSIGN(fact.firstTimestampMs, segment->firstTimestampMs());
      }
    }
    facts.push_back(fact);
  }
  return facts;
}

Result<CleanPlan> planFor(const CleanView& view, int64_t nowMs) {
  CleanableFacts facts{.logStart = view.logStart,
                       .logEnd = view.logEnd,
                       .lastStable = view.lastStable,
                       .cleanedTo = view.cleanedTo,
                       .segments = {}};
  TIDEMARK_ASSIGN(facts.segments, factsOf(view, true));
  return planCleaning(facts, *view.config, nowMs);
}

// --- the pass ---
CleaningPass::CleaningPass(PartitionLog& log, const PassResources& resources, CleanView view, const CleanPlan& plan)
    : log_(log),
      resources_(resources),
      view_(std::move(view)),
      plan_(plan),
      nowMs_(resources.context.clock->wallMs()),
      mappedTo_(plan.firstDirty),
      filter_(nowMs_, view_.config->deleteRetentionMs) {}

Result<std::optional<CleanedPass>> CleaningPass::run() {
  const auto begun = resources_.context.clock->monotonic();
  pass_.startedAt = resources_.context.clock->wall();
  pass_.firstDirty = plan_.firstDirty;
  const auto work = [this]() -> Result<void> {
    TIDEMARK_TRY(buildMap());
    pass_.endOffset = mappedTo_;
    pass_.keys = static_cast<int64_t>(map_->size());
    // What supersedes must not be lost by a power loss that what was superseded would have survived; nor a marker that
    // aborts, which may lie anywhere behind its records.
    TIDEMARK_TRY(log_.flush());
    std::vector<std::shared_ptr<Segment>> segments;
    for (const auto& segment : view_.segments)
      if (segment->baseOffset() < mappedTo_ && segment != view_.segments.back()) segments.push_back(segment);
    TIDEMARK_ASSIGN(std::vector<SegmentFacts> facts, factsOf(view_, false));
    facts.resize(segments.size());
    for (const SegmentGroup& group : groupSegments(facts, *view_.config, plan_.firstUncleanable))
      TIDEMARK_TRY(cleanGroup(std::span(segments).subspan(group.first, group.last - group.first)));
    return {};
  };
  const auto worked = work();
  pass_.took = resources_.context.clock->monotonic() - begun;
  // A truncation or a stop under it shows as all kinds of errors.
  if (ended_ || !log_.mayClean(view_.truncations)) return std::optional<CleanedPass>();
  if (!worked) return fail(worked.error());
  log_.setCleanedTo(mappedTo_, view_.truncations);
  return std::optional(pass_);
}

Result<void> CleaningPass::goOn(size_t bytesMoved) {
  const auto may = [this] { return log_.mayClean(view_.truncations); };
  pass_.throttled += resources_.throttle.moved(bytesMoved, resources_.executor, may);
  if (may()) return {};
  ended_ = true;
  return ended();
}

// --- the dirty part into the map ---
Result<void> CleaningPass::buildMap() {
  const auto offsets = static_cast<size_t>(std::max<int64_t>(0, plan_.firstUncleanable - plan_.firstDirty));
  size_t most = std::max<size_t>(resources_.maxSlots, 2);
  const size_t bits = SupersededOffsets::memoryBytes(offsets);
  if (bits <= most * OffsetMap::kEntrySize / kPartOfBits) {
    superseded_.emplace(plan_.firstDirty, offsets);
    most = std::max<size_t>(most - (bits + OffsetMap::kEntrySize - 1) / OffsetMap::kEntrySize, 2);
  }
  // No key needs more than one slot, so that a small dirty part needs but a small map.
  const size_t slots = offsets > most / 2 ? most : std::min(most, 2 * offsets + kSpareSlots);
  map_ = std::make_unique<OffsetMap>(slots, resources_.hashKey);
  pass_.mapSlots = static_cast<int64_t>(slots);
  const double load = std::clamp(resources_.loadFactor, 0.0, 1.0);
  mostKeys_ = std::clamp<size_t>(static_cast<size_t>(static_cast<double>(slots) * load), 1, map_->slots() - 1);

  TIDEMARK_ASSIGN(const auto aborted, log_.abortedTransactions(plan_.firstDirty, plan_.firstUncleanable));
  mappedTransactions_.addAborted(aborted);
  for (size_t i = 0; i + 1 < view_.segments.size() && !mapFull_; ++i) {
    const Offset next = view_.segments[i + 1]->baseOffset();
    if (next <= plan_.firstDirty || view_.segments[i]->baseOffset() >= plan_.firstUncleanable) continue;
    TIDEMARK_TRY(mapSegment(*view_.segments[i], next));
  }
  return {};
}

Result<void> CleaningPass::mapSegment(const Segment& segment, Offset nextSegment) {
  TIDEMARK_ASSIGN(const auto start, segment.find(plan_.firstDirty, segment.size()));
  if (start) {
    TIDEMARK_ASSIGN(const auto files, segment.files());
    BatchReader reader(*files->log(), start->position, segment.size(), resources_.ioBufferBytes, readBuffer_,
                       [this](size_t bytes) { return goOn(bytes); });
    while (true) {
      TIDEMARK_ASSIGN(const Step step, reader.next());
      if (step == Step::End) break;
      TIDEMARK_TRY(checkPlace(reader.batch().header, segment, nextSegment));
      TIDEMARK_TRY(mapBatch(reader.batch()));
      if (mapFull_) return {};
    }
    if (start->position == 0) verified_.insert(segment.baseOffset());
  }
  // Up to the next segment there is nothing, however large the gap.
  noteMapped(nextSegment);
  return {};
}

void CleaningPass::noteMapped(Offset upTo) {
  mappedTo_ = std::max(mappedTo_, upTo);
}

Result<void> CleaningPass::mapBatch(const BatchView& batch) {
  const BatchHeader& header = batch.header;
  if (header.isControl()) {
    mappedTransactions_.onControlBatch(header, markerOf(batch));
  } else if (!mappedTransactions_.onBatch(header)) {
    TIDEMARK_TRY(mapRecords(batch));
    if (mapFull_) return {};
  }
  noteMapped(header.nextOffset());
  return {};
}

Result<void> CleaningPass::mapRecords(const BatchView& batch) {
  TIDEMARK_ASSIGN(const ByteView payload, records::openPayload(batch, payload_));
  RecordCursor cursor(batch.header, payload);
  waiting_.clear();
  Step step = cursor.next();
  for (; step == Step::Next; step = cursor.next()) {
    if (!cursor.hasKey() || cursor.offset() < plan_.firstDirty) continue;
    waiting_.push_back({map_->hashOf(cursor.key()), cursor.offset()});
    map_->prefetch(waiting_.back().key);
    if (waiting_.size() == kMostWaiting && !putWaiting()) return {};
  }
  if (step == Step::Corrupt)
    return fail(ErrorCode::CorruptMessage, fmt::format("{}: the batch at offset {} cannot be read: {}",
                                                       log_.directory(), batch.header.baseOffset, cursor.reason()));
  putWaiting();
  return {};
}

bool CleaningPass::putWaiting() {
  for (const Waiting& next : waiting_) {
    if (map_->size() >= mostKeys_ && map_->get(next.key) == kNoOffset) {
      // What came before in this batch is in the map: the next pass goes on from here.
      noteMapped(next.offset);
      mapFull_ = true;
      return false;
    }
    const Offset replaced = map_->put(next.key, next.offset);
    if (superseded_ && replaced != kNoOffset && replaced < next.offset) superseded_->add(replaced);
  }
  waiting_.clear();
  return true;
}

Offset CleaningPass::endOf(const Segment& segment) const {
  const auto next = std::ranges::upper_bound(view_.segments, segment.baseOffset(), {},
                                             [](const auto& other) { return other->baseOffset(); });
  return next == view_.segments.end() ? view_.logEnd : (*next)->baseOffset();
}

/// Offsets lie outside a batch's checksum.
Result<void> CleaningPass::checkPlace(const BatchHeader& header, const Segment& segment, Offset end) {
  if (header.baseOffset >= segment.baseOffset() && header.lastOffsetDelta >= 0 && header.nextOffset() <= end) return {};
  return fail(ErrorCode::CorruptMessage, fmt::format("segment {} cannot hold a batch of offsets {} to {}",
                                                     segment.baseOffset(), header.baseOffset, header.lastOffset()));
}

// --- the segments anew ---
Result<void> CleaningPass::cleanGroup(std::span<const std::shared_ptr<Segment>> group) {
  TIDEMARK_ASSIGN(const auto cleaned, log_.newCleanedSegment(group.front()->baseOffset()));
  const auto work = [&]() -> Result<bool> {
    for (const auto& segment : group) TIDEMARK_TRY(cleanInto(*segment, *cleaned));
    TIDEMARK_TRY(cleaned->becomeInactive());
    TIDEMARK_TRY(cleaned->sync(true));
    TIDEMARK_TRY(goOn(0));
    return log_.replaceSegments(group, cleaned, view_.truncations);
  };
  const auto swapped = work();
  if (!swapped || !*swapped) {
    // Where the swap itself failed the log is offline, and its files wait for the next start.
    if (!log_.offline()) cleaned->discard();
    if (!swapped) return fail(swapped.error());
    ended_ = true;
    return ended();
  }
  for (const auto& segment : group) pass_.bytesBefore += static_cast<int64_t>(segment->size());
  pass_.segmentsBefore += static_cast<int>(group.size());
  pass_.bytesAfter += static_cast<int64_t>(cleaned->size());
  ++pass_.segmentsAfter;
  return {};
}

Result<void> CleaningPass::cleanInto(const Segment& source, Segment& cleaned) {
  const Offset end = endOf(source);
  TIDEMARK_ASSIGN(const auto aborted, log_.abortedTransactions(source.baseOffset(), end));
  transactions_.addAborted(aborted);
  TIDEMARK_ASSIGN(const auto files, source.files());
  BatchReader reader(
      *files->log(), 0, source.size(), resources_.ioBufferBytes, readBuffer_,
      [this](size_t bytes) { return goOn(bytes); },
      verified_.contains(source.baseOffset()) ? records::BatchCursor::Check::Structure
                                              : records::BatchCursor::Check::Checksum);
  while (true) {
    TIDEMARK_ASSIGN(const Step step, reader.next());
    if (step == Step::End) return write(cleaned);
    TIDEMARK_TRY(checkPlace(reader.batch().header, source, end));
    TIDEMARK_TRY(cleanBatch(reader.batch(), cleaned));
    if (reader.chunkEnds()) TIDEMARK_TRY(write(cleaned));
  }
}

Result<void> CleaningPass::write(Segment& cleaned) {
  if (output_.empty()) return {};
  TIDEMARK_TRY(cleaned.append(output_, headers_, *view_.config));
  const size_t bytes = output_.size();
  output_.clear();
  headers_.clear();
  return goOn(bytes);
}

bool CleaningPass::isLastOfProducer(const BatchHeader& header) const {
  if (!header.hasProducerId()) return false;
  const auto found = view_.lastRecords.find(header.producerId);
  if (found == view_.lastRecords.end()) return false;
  const LastProducerRecord& last = found->second;
  // Its newest data batch has the last sequence; a marker after an epoch bump has the last epoch.
  if (last.lastDataOffset) return header.lastOffset() == *last.lastDataOffset;
  return header.isControl() && header.producerEpoch == last.epoch;
}

BatchVerdict CleaningPass::judge(const BatchHeader& header, bool discardable) const {
  BatchVerdict verdict;
  verdict.markerOfGoneTransaction = discardable && header.isControl();
  const auto horizon = header.deleteHorizonMs();
  verdict.discardRecords = discardable && (!header.isControl() || (horizon && *horizon <= nowMs_));
  // The end of the round stays known, too, even if nothing else does.
  if (isLastOfProducer(header) || header.nextOffset() == plan_.firstUncleanable) verdict.whenEmpty = EmptyBatch::Kept;
  return verdict;
}

bool CleaningPass::keeps(const BatchHeader& header, const RecordCursor& record) {
  if (header.isControl() || record.offset() >= mappedTo_) return true;
  if (!record.hasKey()) {
    ++pass_.recordsWithoutKey;
    return false;
  }
  if (isSuperseded(record)) return false;
  const auto horizon = header.deleteHorizonMs();
  return record.hasValue() || !horizon || nowMs_ < *horizon;
}

bool CleaningPass::isSuperseded(const RecordCursor& record) const {
  const Offset offset = record.offset();
  if (superseded_ && offset >= plan_.firstDirty) return superseded_->contains(offset);
  return offset < map_->get(map_->hashOf(record.key()));
}

Result<void> CleaningPass::cleanBatch(const BatchView& batch, Segment& cleaned) {
  const BatchHeader& header = batch.header;
  bool discardable = false;
  if (header.isControl()) {
    const CleanedTransactions::Marker marker = transactions_.onControlBatch(header, markerOf(batch));
    discardable = marker.transactionIsGone;
    if (marker.aborted) TIDEMARK_TRY(cleaned.appendAborted(std::span(&*marker.aborted, 1)));
  } else {
    discardable = transactions_.onBatch(header);
  }
  const BatchVerdict verdict = judge(header, discardable);
  TIDEMARK_ASSIGN(
      const FilteredBatch filtered,
      filter_.filter(batch, verdict, [&](const RecordCursor& record) { return keeps(header, record); }, output_));
  pass_.recordsRead += filtered.recordsRead;
  pass_.recordsKept += filtered.recordsKept;
  if (header.isControl() && verdict.discardRecords) pass_.markersDropped += header.recordCount;
  if (!header.isControl()) {
    pass_.tombstonesKept += filtered.tombstonesKept;
    pass_.tombstonesDropped += filtered.tombstonesDropped;
  }
  if (!filtered.header) return {};
  headers_.push_back(*filtered.header);
  if (const auto horizonMs = filtered.header->deleteHorizonMs()) {
    const platform::WallTime horizon{platform::milliseconds(*horizonMs)};
    pass_.earliestHorizon = std::min(pass_.earliestHorizon.value_or(horizon), horizon);
  }
  return {};
}

}  // namespace tidemark::log
