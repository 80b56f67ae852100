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
      dirty_(log, resources_, view_, plan_, [this](size_t bytes) { return goOn(bytes); }),
      filter_(nowMs_, view_.config->deleteRetentionMs) {}

Result<std::optional<CleanedPass>> CleaningPass::run() {
  const auto begun = resources_.context.clock->monotonic();
  pass_.startedAt = resources_.context.clock->wall();
  pass_.firstDirty = plan_.firstDirty;
  const auto work = [this]() -> Result<void> {
    TIDEMARK_TRY(dirty_.read(readBuffer_));
    pass_.endOffset = dirty_.end();
    pass_.keys = static_cast<int64_t>(dirty_.keys());
    pass_.mapSlots = static_cast<int64_t>(dirty_.slots());
    // What supersedes must not be lost by a power loss that what was superseded would have survived; nor a marker that
    // aborts, which may lie anywhere behind its records.
    TIDEMARK_TRY(log_.flush());
    std::vector<std::shared_ptr<Segment>> segments;
    for (const auto& segment : view_.segments)
      if (segment->baseOffset() < dirty_.end() && segment != view_.segments.back()) segments.push_back(segment);
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
  log_.setCleanedTo(dirty_.end(), view_.truncations);
  return std::optional(pass_);
}

Result<void> CleaningPass::goOn(size_t bytesMoved) {
  const auto may = [this] { return log_.mayClean(view_.truncations); };
  pass_.throttled += resources_.throttle.moved(bytesMoved, resources_.executor, may);
  if (may()) return {};
  ended_ = true;
  return ended();
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
  TIDEMARK_ASSIGN(const auto aborted, log_.abortedTransactions(source.baseOffset(), view_.endOf(source)));
  transactions_.addAborted(aborted);
  TIDEMARK_ASSIGN(const auto files, source.files());
  const NotedBatches* const noted = dirty_.notesOf(source);
  return noted != nullptr ? cleanNoted(*noted, *files->log(), cleaned) : cleanAll(source, *files->log(), cleaned);
}

Result<void> CleaningPass::cleanAll(const Segment& source, const platform::File& file, Segment& cleaned) {
  const Offset end = view_.endOf(source);
  BatchReader reader(
      file, 0, source.size(), resources_.ioBufferBytes, readBuffer_, [this](size_t bytes) { return goOn(bytes); },
      dirty_.checked(source) ? records::BatchCursor::Check::Structure : records::BatchCursor::Check::Checksum);
  while (true) {
    TIDEMARK_ASSIGN(const Step step, reader.next());
    if (step == Step::End) return write(cleaned);
    TIDEMARK_TRY(CleanView::checkPlace(reader.batch().header, source, end));
    TIDEMARK_TRY(cleanBatch(reader.batch(), cleaned));
    if (reader.chunkEnds() && output_.size() >= resources_.ioBufferBytes / 2) TIDEMARK_TRY(write(cleaned));
  }
}

Result<void> CleaningPass::cleanNoted(const NotedBatches& batches, const platform::File& file, Segment& cleaned) {
  needs_.clear();
  for (const NotedBatch& note : batches) needs_.push_back(needOf(note));
  SurvivorReader reader(file, batches, dirty_.places(), needs_, dirty_.superseded(), resources_.ioBufferBytes,
                        readBuffer_, [this](size_t bytes) { return goOn(bytes); });
  while (true) {
    TIDEMARK_ASSIGN(const Step step, reader.next());
    if (step == Step::End) return write(cleaned);
    TIDEMARK_TRY(cleanNotedBatch(reader, cleaned));
    if (reader.chunkEnds() && output_.size() >= resources_.ioBufferBytes / 2) TIDEMARK_TRY(write(cleaned));
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
  if (header.isControl() || record.offset() >= dirty_.end()) return true;
  if (!record.hasKey()) {
    ++pass_.recordsWithoutKey;
    return false;
  }
  if (dirty_.supersedes(record)) return false;
  const auto horizon = header.deleteHorizonMs();
  return record.hasValue() || !horizon || nowMs_ < *horizon;
}

Result<BatchVerdict> CleaningPass::verdictOn(const BatchView& batch, Segment& cleaned) {
  const BatchHeader& header = batch.header;
  if (!header.isControl()) return judge(header, transactions_.onBatch(header));
  const CleanedTransactions::Marker marker = transactions_.onControlBatch(header, markerOf(batch));
  if (marker.aborted) TIDEMARK_TRY(cleaned.appendAborted(std::span(&*marker.aborted, 1)));
  return judge(header, marker.transactionIsGone);
}

Result<void> CleaningPass::cleanBatch(const BatchView& batch, Segment& cleaned) {
  const BatchHeader& header = batch.header;
  TIDEMARK_ASSIGN(const BatchVerdict verdict, verdictOn(batch, cleaned));
  TIDEMARK_ASSIGN(
      const FilteredBatch filtered,
      filter_.filter(batch, verdict, [&](const RecordCursor& record) { return keeps(header, record); }, output_));
  count(header, verdict, filtered);
  return {};
}

BatchNeed CleaningPass::needOf(const NotedBatch& note) {
  if (note.kind == NotedBatch::Kind::Unknown) return BatchNeed::Unknown;
  const int32_t keyless = note.records - note.keyed;
  const auto left = static_cast<int32_t>(dirty_.superseded().left(note.baseOffset, static_cast<size_t>(note.records)));
  if (left > keyless) {
    if (left == note.records && keyless == 0 && note.withoutValue == 0) return BatchNeed::Everything;
    return note.kind == NotedBatch::Kind::Placed ? BatchNeed::Survivors : BatchNeed::Unknown;
  }
  pass_.recordsWithoutKey += keyless;
  pass_.tombstonesDropped += note.withoutValue;
  if (note.hasProducer || note.nextOffset() == plan_.firstUncleanable) return BatchNeed::Header;
  pass_.recordsRead += note.records;
  return BatchNeed::Nothing;
}

Result<void> CleaningPass::cleanNotedBatch(const SurvivorReader& reader, Segment& cleaned) {
  const BatchView& batch = reader.batch();
  const NotedBatch& note = reader.note();
  if (reader.need() == BatchNeed::Unknown) return cleanBatch(batch, cleaned);
  TIDEMARK_ASSIGN(const BatchVerdict verdict, verdictOn(batch, cleaned));
  FilteredBatch filtered;
  if (reader.need() == BatchNeed::Header || verdict.discardRecords) {
    filtered = BatchFilter::empty(batch, verdict, output_);
  } else if (reader.need() == BatchNeed::Everything) {
    filtered = BatchFilter::copy(batch, output_);
  } else {
    const RecordPlaces places = dirty_.places().subspan(note.firstPlace);
    placed_.clear();
    dirty_.superseded().forEachLeft(note.baseOffset, static_cast<size_t>(note.records), [&](size_t record) {
      placed_.push_back({places[record], note.baseOffset + static_cast<int64_t>(record)});
    });
    const auto keep = [&](const RecordCursor& record) { return keeps(batch.header, record); };
    TIDEMARK_ASSIGN(filtered, filter_.filterPlaced(batch, verdict, placed_, keep, output_));
    filtered.tombstonesDropped = note.withoutValue - filtered.tombstonesKept;
  }
  count(batch.header, verdict, filtered);
  return {};
}

void CleaningPass::count(const BatchHeader& header, const BatchVerdict& verdict, const FilteredBatch& filtered) {
  pass_.recordsRead += filtered.recordsRead;
  pass_.recordsKept += filtered.recordsKept;
  if (header.isControl() && verdict.discardRecords) pass_.markersDropped += header.recordCount;
  if (!header.isControl()) {
    pass_.tombstonesKept += filtered.tombstonesKept;
    pass_.tombstonesDropped += filtered.tombstonesDropped;
  }
  if (!filtered.header) return;
  headers_.push_back(*filtered.header);
  if (const auto horizonMs = filtered.header->deleteHorizonMs()) {
    const platform::WallTime horizon{platform::milliseconds(*horizonMs)};
    pass_.earliestHorizon = std::min(pass_.earliestHorizon.value_or(horizon), horizon);
  }
}

}  // namespace tidemark::log
