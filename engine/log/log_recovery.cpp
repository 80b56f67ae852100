#include <algorithm>

#include <fmt/format.h>

#include "events/log_events.h"
#include "events/recorder.h"
#include "log/batch_walk.h"
#include "log/file_names.h"
#include "log/loader.h"
#include "log/overflow_split.h"

// A log that was not stopped cleanly: what reaches its recovery point is read, and what is no batch is cut off.

namespace tidemark::log {

using records::BatchHeader;
using records::BatchView;
using records::EndTxnMarker;

namespace {

void noteAborted(const std::optional<EndedTransaction>& ended, std::vector<AbortedTxn>& aborted) {
  if (ended && ended->aborted)
    aborted.push_back({ended->producerId, ended->firstOffset, ended->lastOffset, ended->lastStableOffset});
}

}  // namespace

Result<uint64_t> LogLoader::recoverSegment(Segment& segment) {
  SegmentCut cut;
  std::vector<AbortedTxn> aborted;
  TIDEMARK_ASSIGN(const auto scan, segment.recover(
                                       [&](const BatchView& batch, uint64_t position) -> Result<void> {
                                         const BatchHeader& header = batch.header;
                                         if (loaded_.epochs.latestEpoch().value_or(kNoLeaderEpoch) < header.leaderEpoch)
                                           loaded_.epochs.assign(header.leaderEpoch, header.baseOffset);
                                         noteAborted(loaded_.producers->apply(header, markerOf(batch),
                                                                              {header.baseOffset, segment.baseOffset(),
                                                                               static_cast<int64_t>(position)}),
                                                     aborted);
                                         return {};
                                       },
                                       &cut, !mayHaveGaps(segment)));
  TIDEMARK_TRY(segment.replaceAborted(aborted));
  withWrongTransactions_.erase(segment.baseOffset());
  loaded_.producers->advanceTo(std::max(loaded_.producers->end(), scan.nextOffset));
  segmentsScannedTo_ = scan.nextOffset;
  ++loaded_.segmentsScanned;
  loaded_.removedBytes += static_cast<int64_t>(cut.written);
  tellCut(segment, cut, scan.nextOffset, records::describe(scan.reason));
  return cut.bytes;
}

Result<void> LogLoader::repairSegment(Segment& segment) {
  SegmentCut cut;
  TIDEMARK_ASSIGN(const auto scan, segment.recover({}, &cut, !mayHaveGaps(segment)));
  loaded_.removedBytes += static_cast<int64_t>(cut.written);
  tellCut(segment, cut, scan.nextOffset, records::describe(scan.reason));
  return {};
}

void LogLoader::tellCut(const Segment& segment, const SegmentCut& cut, Offset end, std::string_view why) {
  if (cut.written == 0) return;
  const std::string file = offsetFilePath(options_.directory, segment.baseOffset(), kLogSuffix);
  const std::string offsets = cut.lastOffset < end ? fmt::format("offsets from {} on", end)
                                                   : fmt::format("offsets {} to {} at least", end, cut.lastOffset);
  context_.logger->warning("log", "{}: {} bytes from byte {} on ({}) are given up: {}", file, cut.written, cut.position,
                           offsets, why);
  if (context_.recorder == nullptr) return;
  context_.recorder->emit(events::LogCut{.partition = tag_,
                                         .segmentBaseOffset = segment.baseOffset(),
                                         .position = static_cast<int64_t>(cut.position),
                                         .bytes = static_cast<int64_t>(cut.written),
                                         .from = end,
                                         .lastOffset = cut.lastOffset,
                                         .reason = why});
}

/// A segment that begins elsewhere than the one before it ends: a power loss took the end of that one, whose bytes were
/// not synced, while this one's were written. Where compaction leaves gaps nothing can be told; there a roll syncs.
bool LogLoader::mayHaveGaps(const Segment& segment) const {
  if (options_.contiguous) return false;
  if (options_.cleanedTo && segment.baseOffset() <= *options_.cleanedTo) return true;
  return options_.config.compact || !options_.recoveryPointKnown;
}

bool LogLoader::follows(const Segment& segment) const {
  if (segment.baseOffset() < *segmentsScannedTo_) return false;
  if (splitOff_.contains(segment.baseOffset())) return true;
  return segment.baseOffset() == *segmentsScannedTo_ || mayHaveGaps(segment);
}

Result<void> LogLoader::splitIfOverflowing(size_t index) {
  if (index + 1 == segments().size()) return {};
  const std::shared_ptr<Segment> segment = segments().at(index);
  const Offset base = segment->baseOffset();
  const Offset end = segments().at(index + 1)->baseOffset();
  TIDEMARK_ASSIGN(const auto file,
                  context_.files->open(offsetFilePath(options_.directory, base, kLogSuffix), platform::OpenMode::Read));
  TIDEMARK_ASSIGN(const auto split, findOverflow(*file, segment->size(), base, end));
  if (!split) return {};
  context_.logger->warning("log", "{}: offsets of segment {} are too far from its base, it is split at {}",
                           options_.directory, base, split->baseOffset);
  TIDEMARK_ASSIGN(const auto names, writeSplit(*context_.files, options_.directory, base, segment->size(), *split));
  TIDEMARK_TRY(folder_.completeSwaps(names));
  const auto adopt = [&](Offset at, uint64_t size) {
    return Segment::adopt(context_, tag_, options_.directory, at, options_.config, size, 0, 0);
  };
  segments().replace(index, 1, adopt(base, split->position));
  segments().insert(index + 1, adopt(split->baseOffset, segment->size() - split->position));
  splitOff_.insert(split->baseOffset);
  return {};
}

Result<void> LogLoader::recover() {
  if (segments().empty()) return {};
  size_t index = segments().floorIndex(options_.recoveryPoint);
  if (index == segments().size()) index = 0;
  const Offset from = segments().at(index)->baseOffset();
  // The file may be older than what was truncated and appended here: the batches tell it better.
  loaded_.epochs.truncateFromEnd(from);
  const auto nowMs = context_.clock->wallMs();
  TIDEMARK_TRY(loaded_.producers->reload(logStart_, from, nowMs, options_.config.producerIdExpirationMs,
                                         options_.highWatermark.value_or(from)));
  TIDEMARK_TRY(replayProducers(from));
  TIDEMARK_TRY(adoptProducers());
  if (options_.onRecoveryProgress) options_.onRecoveryProgress(static_cast<int32_t>(segments().size() - index));
  for (; index < segments().size(); ++index) {
    TIDEMARK_TRY(splitIfOverflowing(index));
    Segment& segment = *segments().at(index);
    if (segmentsScannedTo_ && !follows(segment)) {
      TIDEMARK_TRY(dropSegmentsFrom(index, "does not follow the one before"));
      break;
    }
    // One snapshot a segment, so that the next recovery need not read so far back.
    if (segment.baseOffset() > loaded_.producers->end()) loaded_.producers->advanceTo(segment.baseOffset());
    TIDEMARK_ASSIGN(const auto written, loaded_.producers->takeSnapshot());
    if (written) adoptedAt_ = loaded_.producers->end();
    TIDEMARK_ASSIGN(const uint64_t truncated, recoverSegment(segment));
    withoutIndex_.erase(segment.baseOffset());
    if (options_.onRecoveryProgress) options_.onRecoveryProgress(static_cast<int32_t>(segments().size() - index) - 1);
    // Only zeros of a preallocated file were cut, if the next one begins just where this one ends now.
    const bool goesOn = index + 1 < segments().size() && segments().at(index + 1)->baseOffset() == *segmentsScannedTo_;
    if (truncated > 0 && !goesOn) {
      TIDEMARK_TRY(dropSegmentsFrom(index + 1, "lies behind what was cut off"));
      break;
    }
  }
  producersReady_ = true;
  return {};
}

Result<void> LogLoader::dropSegmentsFrom(size_t index, std::string_view why) {
  // From the last: what is left after a crash is always a front part of the log.
  while (segments().size() > index) {
    Segment& segment = *segments().active();
    TIDEMARK_ASSIGN(const auto file,
                    context_.files->open(offsetFilePath(options_.directory, segment.baseOffset(), kLogSuffix),
                                         platform::OpenMode::Read));
    TIDEMARK_ASSIGN(uint64_t written, endOfData(*file, 0, segment.size()));
    TIDEMARK_ASSIGN(const HeadersFound found,
                    headersFrom(*file, 0, segment.size(), segment.baseOffset(), segment.baseOffset()));
    written = std::max(written, found.end);
    loaded_.removedBytes += static_cast<int64_t>(written);
    tellCut(segment, {.position = 0, .bytes = segment.size(), .written = written, .lastOffset = found.lastOffset},
            segment.baseOffset(), why);
    TIDEMARK_ASSIGN(const auto names, segment.retire());
    for (const std::string& name : names) TIDEMARK_TRY(context_.files->remove(name));
    segments().removeLast();
  }
  // They must not come back at a power loss, beside what is appended in their place.
  return context_.files->syncDirectory(options_.directory);
}

/// A truncation that was killed half-way may be in the page cache only. Nothing may be appended before the disk has it
/// too, or a power loss could bring back what it removed.
Result<void> LogLoader::syncWhatWasFound() {
  for (const auto& segment : segments()) TIDEMARK_TRY(segment->sync(false));
  return context_.files->syncDirectory(options_.directory);
}

/// Transactions that end in a segment may have begun long before it: all headers up to its end are looked at.
Result<void> LogLoader::rebuildTransactions() {
  for (const Offset base : withWrongTransactions_) {
    const auto segment = segments().exactly(base);
    if (!segment) continue;
    context_.logger->warning("log", "{}: the transaction index of segment {} is wrong and is rebuilt",
                             options_.directory, base);
    ProducerStateManager producers(*context_.files, *context_.logger, options_.directory);
    std::vector<AbortedTxn> aborted;
    const auto next = segments().higher(base);
    TIDEMARK_TRY(forEachBatch(
        segments(), Offset(0), next ? next->baseOffset() : Offset(INT64_MAX),
        [&](const BatchHeader& header, const std::optional<EndTxnMarker>& marker, const LogOffsetMetadata& place) {
          const auto ended = producers.apply(header, marker, place);
          if (header.baseOffset >= base) noteAborted(ended, aborted);
        }));
    TIDEMARK_TRY(segment->replaceAborted(aborted));
  }
  return {};
}

}  // namespace tidemark::log
