#include <algorithm>

#include "log/file_names.h"
#include "log/header_scanner.h"
#include "log/segment.h"
#include "records/record.h"

// What readers ask a segment: by offset, by timestamp, the largest timestamp. An index tells where to begin; what it
// says is believed once the batch that it leads to was seen.

namespace tidemark::log {

using records::Step;

namespace {

/// A batch's bytes, whole.
Result<ByteVector> readBatch(const platform::File& file, const BatchPosition& at) {
  ByteVector bytes(at.header.sizeInBytes());
  TIDEMARK_ASSIGN(const size_t got, file.readAt(at.position, bytes));
  if (got != bytes.size()) return fail(ErrorCode::KafkaStorageError, file.path() + " ends inside a batch");
  return bytes;
}

/// The first record of the batch for which `wanted` holds.
template <class Predicate>
Result<std::optional<TimestampAndOffset>> findRecord(const platform::File& file, const BatchPosition& at,
                                                     const Predicate& wanted, LookupTrace* trace) {
  if (trace != nullptr) trace->addBatch(LookupStep::Kind::BatchFound, at.position, at.header, true);
  TIDEMARK_ASSIGN(const ByteVector bytes, readBatch(file, at));
  const records::BatchView batch{at.header, bytes};
  ByteVector buffer;
  TIDEMARK_ASSIGN(const ByteView payload, records::openPayload(batch, buffer));
  records::RecordCursor cursor(batch.header, payload);
  Step step = cursor.next();
  size_t looked = 0;
  for (; step == Step::Next; step = cursor.next()) {
    const records::RecordView record = cursor.record();
    if (wanted(record)) {
      if (trace != nullptr)
        trace->add({.kind = LookupStep::Kind::RecordFound,
                    .entry = looked,
                    .count = static_cast<size_t>(batch.header.recordCount),
                    .offset = record.offset,
                    .timestampMs = record.timestampMs,
                    .position = static_cast<int64_t>(at.position)});
      return TimestampAndOffset{record.timestampMs, record.offset, batch.header.leaderEpoch};
    }
    ++looked;
  }
  if (step == Step::Corrupt) return fail(ErrorCode::CorruptMessage, file.path() + ": " + cursor.reason());
  if (trace != nullptr)
    trace->add(
        {.kind = LookupStep::Kind::NoRecordInBatch, .count = looked, .position = static_cast<int64_t>(at.position)});
  return std::nullopt;
}

}  // namespace

Result<Segment::SearchStart> Segment::startOfSearch(const SegmentFiles& files, Offset target,
                                                    LookupTrace* trace) const {
  if (trace != nullptr) {
    trace->enter(base_);
    if (!files.indexesUsable()) trace->add({.kind = LookupStep::Kind::IndexUnusable});
  }
  TIDEMARK_ASSIGN(const auto view, files.offsetIndex().view());
  SearchStart start{.position = 0, .entry = view.floor(target.value(), trace)};
  if (start.entry) start.position = static_cast<uint64_t>(start.entry->position);
  if (trace != nullptr)
    trace->add(
        {.kind = LookupStep::Kind::ScanBegins, .offset = target, .position = static_cast<int64_t>(start.position)});
  return start;
}

bool Segment::leadsTo(const OffsetIndexEntry& entry, const records::BatchHeader& header) const noexcept {
  return header.baseOffset >= base_ && header.lastOffset() >= header.baseOffset && header.lastOffset() <= entry.offset;
}

Result<Step> Segment::firstOfSearch(const SegmentFiles& files, const SearchStart& start, HeaderScanner& scanner,
                                    LookupTrace* trace) const {
  TIDEMARK_ASSIGN(const Step step, scanner.next());
  if (!start.entry) return step;
  // A reader's bound may lie below its batch.
  if (step == Step::End ? start.position < size() : step == Step::Next && leadsTo(*start.entry, scanner.header()))
    return step;
  if (trace != nullptr) trace->addEntry({.kind = LookupStep::Kind::EntryFalse}, *start.entry);
  distrustIndexes(files, "an entry of its .index leads to no batch of that offset");
  scanner.restart(0);
  return scanner.next();
}

void Segment::distrustIndexes(const SegmentFiles& files, std::string_view why) const {
  if (context_.readOnly) return;
  {
    // Of the active one, appends are on their way into the indexes: they are built anew once it is closed.
    const Lock lock(mutex_);
    if (pinned_) return;
  }
  // Somebody else may have noticed before, and these are the indexes of then.
  if (context_.handles->find(id_).get() != &files) return;
  context_.logger->warning("log", "{}: {}", path(kLogSuffix), why);
  indexesFalse_.store(true);
  context_.handles->erase(id_);
}

Result<std::optional<BatchPosition>> Segment::find(Offset target, uint64_t end, LookupTrace* trace) const {
  TIDEMARK_ASSIGN(const auto open, files());
  TIDEMARK_ASSIGN(const SearchStart start, startOfSearch(*open, target, trace));
  HeaderScanner scanner(*open->log(), start.position, std::min(end, size()));
  TIDEMARK_ASSIGN(Step step, firstOfSearch(*open, start, scanner, trace));
  while (true) {
    if (step == Step::Corrupt)
      return fail(ErrorCode::CorruptMessage,
                  fmt::format("{}: there is no batch at byte {}", open->log()->path(), scanner.position()));
    if (step == Step::End) {
      if (trace != nullptr)
        trace->add({.kind = LookupStep::Kind::NotInSegment,
                    .offset = target,
                    .position = static_cast<int64_t>(scanner.position())});
      return std::nullopt;
    }
    const bool found = scanner.header().lastOffset() >= target;
    if (trace != nullptr) [[unlikely]]
      trace->addBatch(LookupStep::Kind::BatchScanned, scanner.position(), scanner.header(), found);
    if (found) {
      if (trace != nullptr) trace->addBatch(LookupStep::Kind::BatchFound, scanner.position(), scanner.header(), true);
      return BatchPosition{scanner.position(), scanner.header()};
    }
    TIDEMARK_ASSIGN(step, scanner.next());
  }
}

Result<std::optional<TimestampAndOffset>> Segment::findByTimestamp(int64_t timestampMs, Offset startOffset,
                                                                   uint64_t end, LookupTrace* trace) const {
  TIDEMARK_ASSIGN(const auto open, files());
  TIDEMARK_ASSIGN(const auto times, open->timeIndex().view());
  if (trace != nullptr) trace->enter(base_);
  // The entry that is trusted, until its batch was seen.
  std::optional<TimeIndexEntry> entry = times.floor(timestampMs, trace);
  if (entry && entry->offset <= startOffset) entry.reset();
  const Offset from = entry ? entry->offset : startOffset;
  TIDEMARK_ASSIGN(const SearchStart start, startOfSearch(*open, from, trace));
  HeaderScanner scanner(*open->log(), start.position, std::min(end, size()));
  TIDEMARK_ASSIGN(Step step, firstOfSearch(*open, start, scanner, trace));
  while (true) {
    if (step != Step::Next) {
      if (trace != nullptr)
        trace->add({.kind = LookupStep::Kind::NotInSegment,
                    .timestampMs = timestampMs,
                    .position = static_cast<int64_t>(scanner.position())});
      return std::nullopt;
    }
    const records::BatchHeader& header = scanner.header();
    const bool possible = header.maxTimestampMs >= timestampMs && header.lastOffset() >= startOffset;
    if (trace != nullptr) [[unlikely]]
      trace->addBatch(LookupStep::Kind::BatchScanned, scanner.position(), header, possible);
    if (entry && (possible || header.lastOffset() >= entry->offset)) {
      const bool isItsBatch = header.baseOffset <= entry->offset && header.lastOffset() >= entry->offset;
      if (!isItsBatch || header.maxTimestampMs != entry->timestampMs) {
        if (trace != nullptr) trace->addEntry({.kind = LookupStep::Kind::EntryFalse}, *entry);
        distrustIndexes(*open, "an entry of its .timeindex leads to no batch of that time");
        scanner.restart(0);
        entry.reset();
        TIDEMARK_ASSIGN(step, scanner.next());
        continue;
      }
      entry.reset();
    }
    if (possible) {
      TIDEMARK_ASSIGN(auto found, findRecord(
                                      *open->log(), {scanner.position(), header},
                                      [&](const records::RecordView& record) {
                                        return record.timestampMs >= timestampMs && record.offset >= startOffset;
                                      },
                                      trace));
      if (found) return found;
    }
    TIDEMARK_ASSIGN(step, scanner.next());
  }
}

Result<std::optional<TimestampAndOffset>> Segment::findMaxTimestamp(uint64_t end, LookupTrace* trace) const {
  TIDEMARK_TRY(maxTimestampMs());
  TimeIndexEntry max;
  {
    const Lock lock(mutex_);
    max = *maxTimestamp_;
  }
  if (max.timestampMs < 0) return std::nullopt;
  TIDEMARK_ASSIGN(const auto open, files());
  // The entry names the last offset of the batch.
  TIDEMARK_ASSIGN(const SearchStart start, startOfSearch(*open, max.offset, trace));
  HeaderScanner scanner(*open->log(), start.position, std::min(end, size()));
  TIDEMARK_ASSIGN(Step step, firstOfSearch(*open, start, scanner, trace));
  while (step == Step::Next) {
    const bool holdsIt = scanner.header().maxTimestampMs == max.timestampMs;
    if (trace != nullptr) [[unlikely]]
      trace->addBatch(LookupStep::Kind::BatchScanned, scanner.position(), scanner.header(), holdsIt);
    if (holdsIt)
      return findRecord(
          *open->log(), {scanner.position(), scanner.header()},
          [&](const records::RecordView& record) { return record.timestampMs == max.timestampMs; }, trace);
    TIDEMARK_ASSIGN(step, scanner.next());
  }
  if (end >= size()) TIDEMARK_TRY(correctMaxTimestamp(*open, max, trace));
  return std::nullopt;
}

Result<void> Segment::correctMaxTimestamp(const SegmentFiles& files, const TimeIndexEntry& wrong,
                                          LookupTrace* trace) const {
  if (trace != nullptr) trace->addEntry({.kind = LookupStep::Kind::EntryFalse}, wrong);
  distrustIndexes(files, "the last entry of its .timeindex leads to no batch of that time");
  TimeIndexEntry largest{records::kNoTimestamp, base_};
  HeaderScanner scanner(*files.log(), 0, size());
  while (true) {
    TIDEMARK_ASSIGN(const Step step, scanner.next());
    if (step != Step::Next) break;
    if (scanner.header().maxTimestampMs > largest.timestampMs)
      largest = {scanner.header().maxTimestampMs, scanner.header().lastOffset()};
  }
  const Lock lock(mutex_);
  maxTimestamp_ = largest;
  return {};
}

Result<int64_t> Segment::maxTimestampMs() const {
  {
    const Lock lock(mutex_);
    if (maxTimestamp_) return maxTimestamp_->timestampMs;
  }
  TIDEMARK_ASSIGN(const auto open, files());
  TimeIndexEntry last{records::kNoTimestamp, base_};
  if (const size_t count = open->timeIndex().count(); count > 0) {
    TIDEMARK_ASSIGN(last, open->timeIndex().readEntry(count - 1));
  }
  const Lock lock(mutex_);
  if (!maxTimestamp_) maxTimestamp_ = last;
  return maxTimestamp_->timestampMs;
}

Result<int64_t> Segment::firstTimestampMs() const {
  {
    const Lock lock(mutex_);
    if (firstTimestampMs_) return *firstTimestampMs_;
  }
  if (size() == 0) return records::kNoTimestamp;
  TIDEMARK_ASSIGN(const auto open, files());
  HeaderScanner scanner(*open->log(), 0, size());
  TIDEMARK_ASSIGN(const Step step, scanner.next());
  const int64_t first = step == Step::Next ? scanner.header().maxTimestampMs : records::kNoTimestamp;
  const Lock lock(mutex_);
  firstTimestampMs_ = first;
  return first;
}

SegmentInfo Segment::info() const {
  SegmentInfo info{.baseOffset = base_, .sizeInBytes = static_cast<int64_t>(size())};
  info.maxTimestampMs = maxTimestampMs().value_or(records::kNoTimestamp);
  info.offsetIndexEntries = offsetEntries_.load();
  info.timeIndexEntries = timeEntries_.load();
  const Lock lock(mutex_);
  info.active = pinned_ != nullptr;
  return info;
}

Result<Offset> Segment::boundForReading() {
  TIDEMARK_ASSIGN(const auto open, files());
  TIDEMARK_ASSIGN(const auto view, open->offsetIndex().view());
  TIDEMARK_ASSIGN(const uint64_t fileSize, open->log()->size());
  uint64_t from = view.count() > 0 ? static_cast<uint64_t>(view.entryAt(view.count() - 1).position) : 0;
  for (;; from = 0) {
    Offset next = base_;
    TimeIndexEntry max{records::kNoTimestamp, base_};
    if (const size_t count = open->timeIndex().count(); from > 0 && count > 0) {
      TIDEMARK_ASSIGN(max, open->timeIndex().readEntry(count - 1));
    }
    HeaderScanner scanner(*open->log(), from, fileSize);
    Step step = Step::Next;
    while (true) {
      TIDEMARK_ASSIGN(step, scanner.next());
      if (step != Step::Next) break;
      next = std::max(next, scanner.header().nextOffset());
      if (scanner.header().maxTimestampMs > max.timestampMs)
        max = {scanner.header().maxTimestampMs, scanner.header().lastOffset()};
    }
    // An entry that leads into the middle of a batch: from the front then.
    if (step == Step::Corrupt && from > 0 && next == base_) continue;
    size_.store(scanner.position(), std::memory_order_release);
    const Lock lock(mutex_);
    maxTimestamp_ = max;
    return next;
  }
}

}  // namespace tidemark::log
