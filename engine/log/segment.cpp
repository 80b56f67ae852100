#include "log/segment.h"

#include <algorithm>

#include "events/log_events.h"
#include "events/recorder.h"
#include "log/file_names.h"

namespace tidemark::log {

using platform::OpenMode;
using records::Step;

namespace {

/// Space is set aside for segments of this size on, an eighth of what they have at a time: small topics stay small.
constexpr uint64_t kReserveFrom = 1 << 20;
constexpr uint64_t kReservedPart = 8;
constexpr uint64_t kLeastReserved = 256 << 10;
constexpr uint64_t kMostReserved = 8 << 20;

}  // namespace

Segment::Segment(const LogContext& context, events::PartitionTag tag, const std::string& directory, Offset base,
                 const LogConfig& config)
    : context_(context),
      tag_(tag),
      directory_(directory),
      base_(base),
      indexIntervalBytes_(config.indexIntervalBytes),
      id_(context.handles->newId()),
      createdMs_(context.clock->wallMs()),
      rule_(base) {}

Segment::~Segment() {
  context_.handles->erase(id_);
}

std::string Segment::path(std::string_view suffix) const {
  return offsetFilePath(directory_, base_, suffix).append(extra_);
}

Result<std::shared_ptr<Segment>> Segment::create(const LogContext& context, events::PartitionTag tag,
                                                 const std::string& directory, Offset base, const LogConfig& config,
                                                 std::string_view extra) {
  std::shared_ptr<Segment> segment(new Segment(context, tag, directory, base, config));
  segment->extra_ = extra;
  TIDEMARK_ASSIGN(auto log, context.files->open(segment->path(kLogSuffix), OpenMode::Truncate));
  if (config.preallocate) {
    segment->preallocated_ = static_cast<uint64_t>(config.segmentBytes);
    // The space first, where the disk can set it aside; then the length, which Kafka's own files have.
    log->reserve(segment->preallocated_);
    TIDEMARK_TRY(log->truncate(segment->preallocated_));
  }
  TIDEMARK_ASSIGN(auto files, segment->writeIndexes(std::move(log), {}, {}));
  const Lock lock(segment->mutex_);
  segment->pinned_ = std::move(files);
  segment->maxTimestamp_ = TimeIndexEntry{records::kNoTimestamp, base};
  return segment;
}

std::shared_ptr<Segment> Segment::adopt(const LogContext& context, events::PartitionTag tag,
                                        const std::string& directory, Offset base, const LogConfig& config,
                                        uint64_t logSize, uint64_t offsetIndexSize, uint64_t timeIndexSize,
                                        uint64_t txnIndexSize) {
  std::shared_ptr<Segment> segment(new Segment(context, tag, directory, base, config));
  segment->size_.store(logSize, std::memory_order_release);
  segment->offsetEntries_.store(static_cast<int64_t>(offsetIndexSize / OffsetIndexFormat::kSize));
  segment->timeEntries_.store(static_cast<int64_t>(timeIndexSize / TimeIndexFormat::kSize));
  segment->txnEntries_.store(txnIndexSize / kAbortedTxnSize);
  return segment;
}

// --- files ---
Result<std::shared_ptr<SegmentFiles>> Segment::writeIndexes(std::shared_ptr<platform::File> log,
                                                            std::span<const OffsetIndexEntry> offsets,
                                                            std::span<const TimeIndexEntry> times) const {
  const auto write = [this](std::string_view suffix, auto format,
                            const auto& entries) -> Result<std::shared_ptr<platform::File>> {
    using Format = decltype(format);
    const std::string name = path(suffix);
    // Mappings of the former file stay what they are.
    if (context_.files->exists(name)) TIDEMARK_TRY(context_.files->remove(name));
    TIDEMARK_ASSIGN(auto file, context_.files->open(name, OpenMode::Truncate));
    ByteVector bytes(entries.size() * Format::kSize);
    for (size_t i = 0; i < entries.size(); ++i) Format::encode(entries[i], base_, bytes.data() + i * Format::kSize);
    if (!bytes.empty()) TIDEMARK_TRY(file->writeAt(0, ByteView(bytes)));
    return file;
  };
  TIDEMARK_ASSIGN(auto offsetFile, write(kOffsetIndexSuffix, OffsetIndexFormat{}, offsets));
  TIDEMARK_ASSIGN(auto timeFile, write(kTimeIndexSuffix, TimeIndexFormat{}, times));
  offsetEntries_.store(static_cast<int64_t>(offsets.size()));
  timeEntries_.store(static_cast<int64_t>(times.size()));
  logDirty_.store(true);
  indexesDirty_.store(true);
  return std::make_shared<SegmentFiles>(std::move(log),
                                        std::make_unique<OffsetIndex>(std::move(offsetFile), base_, offsets.size()),
                                        std::make_unique<TimeIndex>(std::move(timeFile), base_, times.size()));
}

Result<std::shared_ptr<SegmentFiles>> Segment::openChecked() const {
  const OpenMode mode = context_.readOnly ? OpenMode::Read : OpenMode::ReadWrite;
  TIDEMARK_ASSIGN(auto log, context_.files->open(path(kLogSuffix), mode));

  TIDEMARK_ASSIGN(auto offsetFile, context_.files->open(path(kOffsetIndexSuffix), mode));
  TIDEMARK_ASSIGN(const uint64_t offsetSize, offsetFile->size());
  TIDEMARK_ASSIGN(const auto offsetCount, countEntries(*offsetFile, offsetSize, OffsetIndexFormat::kSize));
  if (!offsetCount) return nullptr;
  if (*offsetCount * OffsetIndexFormat::kSize < offsetSize && !context_.readOnly)
    TIDEMARK_TRY(offsetFile->truncate(*offsetCount * OffsetIndexFormat::kSize));
  auto offsets = std::make_unique<OffsetIndex>(std::move(offsetFile), base_, *offsetCount);
  if (*offsetCount > 0) {
    TIDEMARK_ASSIGN(const auto last, offsets->readEntry(*offsetCount - 1));
    if (last.offset <= base_ || last.position <= 0 || static_cast<uint64_t>(last.position) >= size()) return nullptr;
  }

  TIDEMARK_ASSIGN(auto timeFile, context_.files->open(path(kTimeIndexSuffix), mode));
  TIDEMARK_ASSIGN(const uint64_t timeSize, timeFile->size());
  TIDEMARK_ASSIGN(const auto timeCount, countEntries(*timeFile, timeSize, TimeIndexFormat::kSize));
  if (!timeCount) return nullptr;
  if (*timeCount * TimeIndexFormat::kSize < timeSize && !context_.readOnly)
    TIDEMARK_TRY(timeFile->truncate(*timeCount * TimeIndexFormat::kSize));
  auto times = std::make_unique<TimeIndex>(std::move(timeFile), base_, *timeCount);
  if (*timeCount > 0) {
    TIDEMARK_ASSIGN(const auto first, times->readEntry(0));
    TIDEMARK_ASSIGN(const auto last, times->readEntry(*timeCount - 1));
    if (last.offset < base_ || last.timestampMs < first.timestampMs) return nullptr;
  }
  offsetEntries_.store(static_cast<int64_t>(*offsetCount));
  timeEntries_.store(static_cast<int64_t>(*timeCount));
  return std::make_shared<SegmentFiles>(std::move(log), std::move(offsets), std::move(times));
}

Result<std::shared_ptr<SegmentFiles>> Segment::openFiles() const {
  const bool wrong = indexesFalse_.exchange(false) && !context_.readOnly;
  if (!wrong && context_.files->exists(path(kOffsetIndexSuffix)) && context_.files->exists(path(kTimeIndexSuffix))) {
    TIDEMARK_ASSIGN(auto files, openChecked());
    if (files) return files;
  }
  if (context_.readOnly) {
    TIDEMARK_ASSIGN(auto log, context_.files->open(path(kLogSuffix), OpenMode::Read));
    return std::make_shared<SegmentFiles>(std::move(log), std::make_unique<OffsetIndex>(nullptr, base_, 0),
                                          std::make_unique<TimeIndex>(nullptr, base_, 0), false);
  }
  context_.logger->warning("log", "{}: an index is missing or wrong and is rebuilt", path(kLogSuffix));
  TIDEMARK_ASSIGN(auto log, context_.files->open(path(kLogSuffix), OpenMode::ReadWrite));
  TIDEMARK_ASSIGN(auto scan, scanSegment(*log, size(), base_, indexIntervalBytes_, {}));
  if (scan.rule.takeTimeEntry()) scan.timeEntries.push_back(scan.rule.timeEntry());
  {
    // What was read of the time index before may have been wrong.
    const Lock lock(mutex_);
    maxTimestamp_ = std::nullopt;
  }
  return writeIndexes(std::move(log), scan.offsetEntries, scan.timeEntries);
}

Result<std::shared_ptr<SegmentFiles>> Segment::files() const {
  {
    const Lock lock(mutex_);
    if (pinned_) return pinned_;
  }
  if (auto kept = context_.handles->find(id_)) return kept;
  const Lock opening(openMutex_);
  if (retired_) return fail(ErrorCode::KafkaStorageError, path(kLogSuffix) + " is no longer part of its log");
  if (auto kept = context_.handles->find(id_)) return kept;
  TIDEMARK_ASSIGN(auto opened, openFiles());
  context_.handles->insert(id_, opened);
  return opened;
}

// --- writer ---
Result<std::optional<Segment::Tail>> Segment::activate() {
  TIDEMARK_ASSIGN(auto open, openChecked());
  if (!open) return std::nullopt;
  std::optional<OffsetIndexEntry> lastOffset;
  std::optional<TimeIndexEntry> lastTime;
  if (const size_t count = open->offsetIndex().count(); count > 0) {
    TIDEMARK_ASSIGN(lastOffset, open->offsetIndex().readEntry(count - 1));
  }
  if (const size_t count = open->timeIndex().count(); count > 0) {
    TIDEMARK_ASSIGN(lastTime, open->timeIndex().readEntry(count - 1));
  }
  IndexRule rule(base_);
  rule.resume(lastOffset, lastTime);
  Tail tail{.nextOffset = base_, .epoch = {}};
  HeaderScanner scanner(*open->log(), lastOffset ? static_cast<uint64_t>(lastOffset->position) : 0, size());
  while (true) {
    TIDEMARK_ASSIGN(const Step step, scanner.next());
    if (step == Step::Corrupt) return std::nullopt;
    if (step == Step::End) break;
    // Not the batch that the last entry names.
    const bool isFirst = tail.nextOffset == base_ && lastOffset;
    if (isFirst && !leadsTo(*lastOffset, scanner.header())) return std::nullopt;
    rule.observe(scanner.header());
    tail.nextOffset = std::max(tail.nextOffset, scanner.header().nextOffset());
    tail.epoch = scanner.header().leaderEpoch;
  }
  rule_ = rule;
  const Lock lock(mutex_);
  pinned_ = std::move(open);
  maxTimestamp_ = TimeIndexEntry{rule.maxTimestampMs(), rule.maxTimestampOffset()};
  return tail;
}

Result<SegmentScan> Segment::recover(const std::function<Result<void>(const records::BatchView&, uint64_t)>& visit,
                                     SegmentCut* cut, bool contiguous) {
  TIDEMARK_ASSIGN(auto log, context_.files->open(path(kLogSuffix), OpenMode::ReadWrite));
  TIDEMARK_ASSIGN(const uint64_t fileSize, log->size());
  TIDEMARK_ASSIGN(auto scan, scanSegment(*log, fileSize, base_, indexIntervalBytes_, visit, contiguous));
  if (cut != nullptr) {
    TIDEMARK_ASSIGN(const uint64_t written, endOfData(*log, scan.validBytes, fileSize));
    *cut = {.position = scan.validBytes, .bytes = fileSize - scan.validBytes, .written = written - scan.validBytes};
    if (cut->written > 0) {
      TIDEMARK_ASSIGN(const HeadersFound found, headersFrom(*log, scan.validBytes, fileSize, scan.nextOffset, base_));
      cut->lastOffset = found.lastOffset;
      // A batch may end with zeros of its own.
      cut->written = std::max(cut->written, found.end - scan.validBytes);
    }
  }
  if (scan.validBytes < fileSize) TIDEMARK_TRY(log->truncate(scan.validBytes));
  size_.store(scan.validBytes, std::memory_order_release);
  if (scan.rule.takeTimeEntry()) scan.timeEntries.push_back(scan.rule.timeEntry());
  TIDEMARK_TRY(writeIndexes(std::move(log), scan.offsetEntries, scan.timeEntries));
  context_.handles->erase(id_);
  const Lock lock(mutex_);
  pinned_ = nullptr;
  maxTimestamp_ = std::nullopt;
  firstTimestampMs_ = std::nullopt;
  return scan;
}

Result<void> Segment::append(ByteView bytes, std::span<const records::BatchHeader> headers, const LogConfig& config) {
  std::shared_ptr<SegmentFiles> open;
  {
    const Lock lock(mutex_);
    open = pinned_;
  }
  TIDEMARK_INVARIANT(open != nullptr, path(kLogSuffix) + " is not the active segment");
  uint64_t position = size_.load(std::memory_order_relaxed);
  reserveSpace(*open->log(), position + bytes.size(), config);
  TIDEMARK_TRY(open->log()->writeAt(position, bytes));
  // Only now: a sync that runs meanwhile takes the mark away, and may not have seen what was written after it began.
  logDirty_.store(true);
  const auto indexLimit = static_cast<size_t>(config.segmentIndexBytes);
  for (const records::BatchHeader& header : headers) {
    const auto entries = rule_.next(header, position, config.indexIntervalBytes);
    if (entries.offset && open->offsetIndex().count() < indexLimit / OffsetIndexFormat::kSize) {
      TIDEMARK_TRY(open->offsetIndex().append(rule_.offsetEntry()));
      offsetEntries_.fetch_add(1, std::memory_order_relaxed);
      if (context_.recorder != nullptr && extra_.empty())
        context_.recorder->emit(events::IndexEntryAdded{
            .partition = tag_, .offset = header.lastOffset(), .position = static_cast<int64_t>(position)});
    }
    if (entries.time && open->timeIndex().count() < indexLimit / TimeIndexFormat::kSize) {
      TIDEMARK_TRY(open->timeIndex().append(rule_.timeEntry()));
      timeEntries_.fetch_add(1, std::memory_order_relaxed);
    }
    if (entries.offset || entries.time) indexesDirty_.store(true);
    position += header.sizeInBytes();
  }
  size_.store(position, std::memory_order_release);
  const Lock lock(mutex_);
  maxTimestamp_ = TimeIndexEntry{rule_.maxTimestampMs(), rule_.maxTimestampOffset()};
  return {};
}

void Segment::reserveSpace(platform::File& log, uint64_t end, const LogConfig& config) {
  if (end <= preallocated_) return;
  if (end <= reserved_ || end < kReserveFrom) return;
  reserved_ = std::max(end, std::min(end + std::clamp(end / kReservedPart, kLeastReserved, kMostReserved),
                                     static_cast<uint64_t>(config.segmentBytes)));
  if (reserved_ > end) log.reserve(reserved_);
}

Result<void> Segment::releaseSpace(platform::File& log) {
  if (preallocated_ > size()) {
    TIDEMARK_TRY(log.truncate(size()));
    logDirty_.store(true);
  }
  if (reserved_ > size()) log.releaseReserved();
  preallocated_ = reserved_ = 0;
  return {};
}

Result<bool> Segment::shouldRoll(size_t bytes, int64_t maxTimestampMs, Offset lastOffset, const LogConfig& config,
                                 int64_t rollJitterMs) const {
  const uint64_t size = this->size();
  const auto limit = static_cast<uint64_t>(config.segmentBytes);
  if (bytes > limit || size > limit - bytes) return true;
  if (lastOffset - base_ > kMaxRelativeOffset) return true;
  std::shared_ptr<SegmentFiles> open;
  {
    const Lock lock(mutex_);
    open = pinned_;
  }
  const auto indexLimit = static_cast<size_t>(config.segmentIndexBytes);
  if (open->offsetIndex().count() >= indexLimit / OffsetIndexFormat::kSize ||
      open->timeIndex().count() >= indexLimit / TimeIndexFormat::kSize)
    return true;
  if (size == 0) return false;
  TIDEMARK_ASSIGN(const int64_t first, firstTimestampMs());
  const int64_t waited = first >= 0 ? maxTimestampMs - first : context_.clock->wallMs() - createdMs();
  return waited > config.rollAfterMs() - rollJitterMs;
}

Result<Offset> Segment::truncateTo(Offset offset) {
  TIDEMARK_ASSIGN(const auto open, files());
  TIDEMARK_ASSIGN(const auto found, find(offset, size()));
  std::vector<OffsetIndexEntry> offsets;
  std::vector<TimeIndexEntry> times;
  TIDEMARK_ASSIGN(const auto offsetView, open->offsetIndex().view());
  for (size_t i = 0; i < offsetView.count() && offsetView.entryAt(i).offset < offset; ++i)
    offsets.push_back(offsetView.entryAt(i));
  TIDEMARK_ASSIGN(const auto timeView, open->timeIndex().view());
  for (size_t i = 0; i < timeView.count() && timeView.entryAt(i).offset < offset; ++i)
    times.push_back(timeView.entryAt(i));

  const uint64_t newSize = found ? found->position : size();
  size_.store(newSize, std::memory_order_release);
  // Also what was preallocated behind the last batch goes: the file ends where the batches do.
  if (found || preallocated_ > newSize) TIDEMARK_TRY(open->log()->truncate(newSize));
  preallocated_ = 0;
  TIDEMARK_TRY(truncateAborted(offset));
  TIDEMARK_ASSIGN(auto truncated, writeIndexes(open->log(), offsets, times));
  context_.handles->erase(id_);
  if (newSize == 0) createdMs_.store(context_.clock->wallMs(), std::memory_order_relaxed);

  IndexRule rule(base_);
  rule.resume(offsets.empty() ? std::nullopt : std::optional(offsets.back()),
              times.empty() ? std::nullopt : std::optional(times.back()));
  HeaderScanner scanner(*truncated->log(), offsets.empty() ? 0 : static_cast<uint64_t>(offsets.back().position),
                        newSize);
  while (true) {
    TIDEMARK_ASSIGN(const Step step, scanner.next());
    if (step != Step::Next) break;
    rule.observe(scanner.header());
  }
  rule_ = rule;
  const Lock lock(mutex_);
  pinned_ = std::move(truncated);
  maxTimestamp_ = TimeIndexEntry{rule.maxTimestampMs(), rule.maxTimestampOffset()};
  if (newSize == 0) firstTimestampMs_ = std::nullopt;
  return found ? std::min(offset, found->header.baseOffset) : offset;
}

Result<void> Segment::addLastTimeEntry() {
  std::shared_ptr<SegmentFiles> open;
  {
    const Lock lock(mutex_);
    open = pinned_;
  }
  if (open) TIDEMARK_TRY(releaseSpace(*open->log()));
  if (!open || !rule_.takeTimeEntry()) return {};
  TIDEMARK_TRY(open->timeIndex().append(rule_.timeEntry()));
  indexesDirty_.store(true);
  timeEntries_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Result<void> Segment::becomeInactive() {
  TIDEMARK_TRY(addLastTimeEntry());
  std::shared_ptr<SegmentFiles> open;
  {
    const Lock lock(mutex_);
    open = std::move(pinned_);
    pinned_ = nullptr;
  }
  if (!open) return {};
  TIDEMARK_TRY(open->offsetIndex().writePending());
  TIDEMARK_TRY(open->timeIndex().writePending());
  context_.handles->insert(id_, std::move(open));
  return {};
}

Result<void> Segment::sync(bool indexes) const {
  if (indexes) TIDEMARK_TRY(syncAborted());
  const bool syncIndexes = indexes && indexesDirty_.load();
  if (!logDirty_.load() && !syncIndexes) return {};
  TIDEMARK_ASSIGN(const auto open, files());
  if (logDirty_.exchange(false)) TIDEMARK_TRY(open->log()->sync());
  if (!syncIndexes) return {};
  indexesDirty_.store(false);
  TIDEMARK_TRY(open->offsetIndex().sync());
  return open->timeIndex().sync();
}

// --- list ---
size_t SegmentList::floorIndex(Offset offset) const {
  const auto above = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                      [](Offset value, const auto& segment) { return value < segment->baseOffset(); });
  return above == segments_.begin() ? segments_.size() : static_cast<size_t>(above - segments_.begin()) - 1;
}

std::shared_ptr<Segment> SegmentList::floor(Offset offset) const {
  const size_t index = floorIndex(offset);
  return index == segments_.size() ? nullptr : segments_[index];
}

std::shared_ptr<Segment> SegmentList::higher(Offset base) const {
  const auto above = std::upper_bound(segments_.begin(), segments_.end(), base,
                                      [](Offset value, const auto& segment) { return value < segment->baseOffset(); });
  return above == segments_.end() ? nullptr : *above;
}

std::shared_ptr<Segment> SegmentList::exactly(Offset base) const {
  auto segment = floor(base);
  return segment && segment->baseOffset() == base ? segment : nullptr;
}

void SegmentList::add(std::shared_ptr<Segment> segment) {
  ++version_;
  TIDEMARK_INVARIANT(
      segments_.empty() || segments_.back()->baseOffset() < segment->baseOffset(),
      fmt::format("segment {} is added behind {}", segment->baseOffset(), segments_.back()->baseOffset()));
  segments_.push_back(std::move(segment));
}

void SegmentList::removeFirst(size_t count) {
  ++version_;
  segments_.erase(segments_.begin(), segments_.begin() + static_cast<ptrdiff_t>(count));
}

void SegmentList::replace(size_t first, size_t count, std::shared_ptr<Segment> segment) {
  ++version_;
  const auto at = segments_.begin() + static_cast<ptrdiff_t>(first);
  *at = std::move(segment);
  segments_.erase(at + 1, at + static_cast<ptrdiff_t>(count));
}

void SegmentList::insert(size_t index, std::shared_ptr<Segment> segment) {
  ++version_;
  segments_.insert(segments_.begin() + static_cast<ptrdiff_t>(index), std::move(segment));
}

void SegmentList::removeLast() {
  ++version_;
  segments_.pop_back();
}

}  // namespace tidemark::log
