#include "inspect/partition_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "inspect/check.h"
#include "inspect/lone_file.h"
#include "log/file_names.h"
#include "log/handle_cache.h"
#include "log/header_scanner.h"
#include "log/index_file.h"
#include "records/record.h"

namespace tidemark::inspect {

using platform::OpenMode;
using records::Step;

namespace {

constexpr size_t kOpenSegments = 64;
/// More of an index is not read at once.
constexpr size_t kLargestPage = 1u << 20;

std::string baseName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Leads the names that a segment's files should have to the files there are.
Result<std::map<std::string, std::string>> namesFor(platform::FileSystem& files, const std::string& path) {
  const std::string folder = platform::parentDirectory(path);
  const std::string name = baseName(path);
  std::string_view extra;
  for (const std::string_view suffix : {log::kDeletedSuffix, log::kCleanedSuffix, log::kSwapSuffix})
    if (name.ends_with(suffix)) extra = suffix;
  const std::string_view plain = std::string_view(name).substr(0, name.size() - extra.size());
  std::map<std::string, std::string> names;
  constexpr std::string_view kSuffixes[] = {log::kLogSuffix, log::kOffsetIndexSuffix, log::kTimeIndexSuffix,
                                            log::kTxnIndexSuffix};
  for (const std::string_view suffix : kSuffixes) {
    const auto base = log::offsetOfFileName(plain, suffix);
    if (!base) continue;
    for (const std::string_view other : kSuffixes) {
      const std::string sibling = log::offsetFilePath(folder, *base, other) + std::string(extra);
      if (files.exists(sibling)) names[log::offsetFileName(*base, other)] = sibling;
    }
    if (!names.contains(log::offsetFileName(*base, log::kLogSuffix)))
      return fail(ErrorCode::KafkaStorageError,
                  fmt::format("{}: there is no {} beside it", path, log::offsetFileName(*base, log::kLogSuffix)));
    return names;
  }
  // Any other name: a metadata snapshot or a copy. The first batch tells where it begins.
  TIDEMARK_ASSIGN(const auto file, files.open(path, OpenMode::Read));
  uint8_t front[records::kSizeAndMagic];
  TIDEMARK_ASSIGN(const size_t got, file->readAt(0, front));
  const auto base = got == sizeof front ? readBigEndian<int64_t>(front) : 0;
  if (got == sizeof front && (front[records::kMagicAt] > records::kMagic || base < 0))
    return fail(ErrorCode::KafkaStorageError, path + " does not begin with a record batch");
  names[log::offsetFileName(Offset(base), log::kLogSuffix)] = path;
  return names;
}

std::optional<TopicPartition> partitionOf(const std::string& folder) {
  return log::partitionOfFolder(baseName(folder));
}

std::optional<BatchSummary> batchOf(const log::LookupTrace& trace) {
  for (auto step = trace.steps().rbegin(); step != trace.steps().rend(); ++step)
    if (step->kind == log::LookupStep::Kind::BatchFound)
      return BatchSummary{step->segmentBase, static_cast<uint64_t>(step->position), step->header};
  return std::nullopt;
}

}  // namespace

// --- open ---
Result<std::shared_ptr<const PartitionView>> PartitionView::open(platform::Process& process, const std::string& given) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  platform::FileSystem& disk = process.files();
  if (!disk.exists(path)) return fail(ErrorCode::KafkaStorageError, path + ": no such file or folder");
  std::shared_ptr<platform::FileSystem> lone;
  std::string folder = path;
  if (!disk.list(path)) {
    TIDEMARK_ASSIGN(auto names, namesFor(disk, path));
    folder = platform::parentDirectory(path);
    lone = std::make_shared<LoneFile>(disk, folder, std::move(names));
  }
  log::LogContext context{.files = lone ? lone.get() : &disk,
                          .clock = &process.clock(),
                          .logger = &process.log(),
                          .background = nullptr,
                          .handles = std::make_shared<log::HandleCache>(kOpenSegments)};
  log::PartitionLogOptions options;
  options.directory = folder;
  options.partition = partitionOf(folder).value_or(TopicPartition{baseName(folder), PartitionIndex(-1)});
  TIDEMARK_ASSIGN(auto log, log::PartitionLog::openForReading(std::move(context), std::move(options)));
  return std::make_shared<const PartitionView>(Private{}, std::move(log), process, std::move(lone), path, false);
}

std::shared_ptr<const PartitionView> PartitionView::of(std::shared_ptr<const log::PartitionLog> log,
                                                       platform::Process& process) {
  std::string path = log->directory();
  return std::make_shared<const PartitionView>(Private{}, std::move(log), process, nullptr, std::move(path), true);
}

PartitionView::PartitionView(Private, std::shared_ptr<const log::PartitionLog> log, platform::Process& process,
                             std::shared_ptr<platform::FileSystem> ownFiles, std::string path, bool live)
    : process_(process),
      ownFiles_(std::move(ownFiles)),
      log_(std::move(log)),
      path_(std::move(path)),
      partition_(live ? log_->partition() : partitionOf(log_->directory())),
      live_(live) {}

std::string PartitionView::pathOf(Offset base, std::string_view suffix) const {
  return log::offsetFilePath(log_->directory(), base, suffix);
}

// --- segments ---
std::vector<SegmentSummary> PartitionView::segments() const {
  std::map<std::string, uint64_t> sizes;
  if (const auto entries = files().list(log_->directory()))
    for (const auto& entry : *entries) sizes[entry.name] = entry.size;
  const auto sizeOf = [&sizes](Offset base, std::string_view suffix) -> std::optional<uint64_t> {
    const auto found = sizes.find(log::offsetFileName(base, suffix));
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  const auto infos = log_->segments();
  std::vector<SegmentSummary> summaries;
  summaries.reserve(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    const log::SegmentInfo& info = infos[i];
    SegmentSummary summary{.baseOffset = info.baseOffset,
                           .endOffset = i + 1 < infos.size() ? infos[i + 1].baseOffset : log_->logEndOffset(),
                           .bytes = static_cast<uint64_t>(info.sizeInBytes)};
    summary.active = i + 1 == infos.size();
    summary.maxTimestampMs = info.maxTimestampMs;
    summary.fileBytes = sizeOf(info.baseOffset, log::kLogSuffix).value_or(summary.bytes);
    if (live_) {
      summary.offsetEntries = static_cast<uint64_t>(info.offsetIndexEntries);
      summary.timeEntries = static_cast<uint64_t>(info.timeIndexEntries);
    } else {
      // Only the last one may be padded: a roll cuts the indexes.
      const auto count = [&](std::string_view suffix, size_t entrySize) -> std::optional<uint64_t> {
        const auto size = sizeOf(info.baseOffset, suffix);
        if (!size || !summary.active) return size ? std::optional(*size / entrySize) : std::nullopt;
        return countEntries(info.baseOffset, suffix, entrySize);
      };
      summary.offsetEntries = count(log::kOffsetIndexSuffix, log::OffsetIndexFormat::kSize);
      summary.timeEntries = count(log::kTimeIndexSuffix, log::TimeIndexFormat::kSize);
    }
    if (const auto size = sizeOf(info.baseOffset, log::kTxnIndexSuffix))
      summary.abortedEntries = *size / log::kAbortedTxnSize;
    summaries.push_back(summary);
  }
  const Lock lock(mutex_);
  for (SegmentSummary& summary : summaries) {
    if (summary.bytes == 0) continue;
    auto known = firstTimestamps_.find(summary.baseOffset);
    if (known == firstTimestamps_.end()) {
      int64_t first = records::kNoTimestamp;
      if (const auto file = files().open(pathOf(summary.baseOffset, log::kLogSuffix), OpenMode::Read)) {
        uint8_t front[records::kBatchHeaderSize];
        const auto got = (*file)->readAt(0, front);
        if (got && *got == sizeof front) first = records::BatchHeader::read(front).maxTimestampMs;
      }
      known = firstTimestamps_.emplace(summary.baseOffset, first).first;
    }
    summary.firstTimestampMs = known->second;
  }
  return summaries;
}

std::optional<uint64_t> PartitionView::countEntries(Offset base, std::string_view suffix, size_t entrySize) const {
  const auto file = files().open(pathOf(base, suffix), OpenMode::Read);
  if (!file) return std::nullopt;
  const auto size = (*file)->size();
  if (!size) return std::nullopt;
  const auto count = log::countEntries(**file, *size, entrySize);
  return count && *count ? **count : *size / entrySize;
}

// --- indexes ---
template <class Entry, class Decode>
Result<IndexPage<Entry>> PartitionView::readIndex(Offset base, std::string_view suffix, size_t entrySize, uint64_t from,
                                                  size_t count, const Decode& decode) const {
  IndexPage<Entry> page{.total = 0, .from = from, .entries = {}};
  const std::string path = pathOf(base, suffix);
  if (!files().exists(path)) return page;
  TIDEMARK_ASSIGN(const auto file, files().open(path, OpenMode::Read));
  TIDEMARK_ASSIGN(const uint64_t size, file->size());
  page.total = size / entrySize;
  if (suffix != log::kTxnIndexSuffix) {
    TIDEMARK_ASSIGN(const auto counted, log::countEntries(*file, size / entrySize * entrySize, entrySize));
    page.total = counted.value_or(page.total);
  }
  if (from >= page.total) return page;
  const uint64_t last = from + std::min<uint64_t>({count, kLargestPage, page.total - from});
  ByteVector bytes((last - from) * entrySize);
  TIDEMARK_ASSIGN(const size_t got, file->readAt(from * entrySize, bytes));
  page.entries.reserve(got / entrySize);
  for (size_t at = 0; at + entrySize <= got; at += entrySize) page.entries.push_back(decode(bytes.data() + at));
  return page;
}

/// A live log has its newest entries in memory.
template <class Entry, class Read>
Result<IndexPage<Entry>> PartitionView::liveIndex(Offset base, uint64_t from, size_t count,
                                                  int64_t log::SegmentInfo::* total, const Read& read) const {
  IndexPage<Entry> page{.total = 0, .from = from, .entries = {}};
  for (const log::SegmentInfo& info : log_->segments())
    if (info.baseOffset == base) page.total = static_cast<uint64_t>(info.*total);
  TIDEMARK_ASSIGN(page.entries, read(from, std::min(count, kLargestPage)));
  page.total = std::max(page.total, page.entries.empty() ? 0 : from + page.entries.size());
  return page;
}

Result<IndexPage<log::OffsetIndexEntry>> PartitionView::offsetIndex(Offset base, uint64_t from, size_t count) const {
  if (live_)
    return liveIndex<log::OffsetIndexEntry>(
        base, from, count, &log::SegmentInfo::offsetIndexEntries,
        [&](size_t first, size_t most) { return log_->offsetIndexEntries(base, first, most); });
  return readIndex<log::OffsetIndexEntry>(
      base, log::kOffsetIndexSuffix, log::OffsetIndexFormat::kSize, from, count,
      [base](const uint8_t* bytes) { return log::OffsetIndexFormat::decode(bytes, base); });
}

Result<IndexPage<log::TimeIndexEntry>> PartitionView::timeIndex(Offset base, uint64_t from, size_t count) const {
  if (live_)
    return liveIndex<log::TimeIndexEntry>(
        base, from, count, &log::SegmentInfo::timeIndexEntries,
        [&](size_t first, size_t most) { return log_->timeIndexEntries(base, first, most); });
  return readIndex<log::TimeIndexEntry>(
      base, log::kTimeIndexSuffix, log::TimeIndexFormat::kSize, from, count,
      [base](const uint8_t* bytes) { return log::TimeIndexFormat::decode(bytes, base); });
}

Result<IndexPage<log::AbortedTxn>> PartitionView::abortedIndex(Offset base, uint64_t from, size_t count) const {
  return readIndex<log::AbortedTxn>(
      base, log::kTxnIndexSuffix, log::kAbortedTxnSize, from, count, [](const uint8_t* bytes) {
        return log::AbortedTxn{ProducerId(readBigEndian<int64_t>(bytes + 2)),
                               Offset(readBigEndian<int64_t>(bytes + 10)), Offset(readBigEndian<int64_t>(bytes + 18)),
                               Offset(readBigEndian<int64_t>(bytes + 26))};
      });
}

// --- batches ---
Result<uint64_t> PartitionView::readableBytes(Offset base) const {
  if (live_) {
    for (const log::SegmentInfo& info : log_->segments())
      if (info.baseOffset == base) return static_cast<uint64_t>(info.sizeInBytes);
    return fail(ErrorCode::KafkaStorageError, fmt::format("{}: there is no segment {} any more", path_, base));
  }
  TIDEMARK_ASSIGN(const auto file, files().open(pathOf(base, log::kLogSuffix), OpenMode::Read));
  return file->size();
}

Result<BatchPage> PartitionView::batches(Offset base, uint64_t position, size_t count) const {
  TIDEMARK_ASSIGN(const uint64_t end, readableBytes(base));
  TIDEMARK_ASSIGN(const auto file, files().open(pathOf(base, log::kLogSuffix), OpenMode::Read));
  BatchPage page;
  log::HeaderScanner scanner(*file, position, end);
  while (true) {
    TIDEMARK_ASSIGN(const Step step, scanner.next());
    if (step == Step::End) return page;
    if (step == Step::Corrupt) {
      page.damagedAt = scanner.position();
      return page;
    }
    if (page.batches.size() == count) {
      page.next = scanner.position();
      return page;
    }
    page.batches.push_back({base, scanner.position(), scanner.header()});
  }
}

Result<SharedBytes> PartitionView::readBatch(Offset base, uint64_t position, BatchSummary& summary) const {
  TIDEMARK_ASSIGN(const uint64_t end, readableBytes(base));
  TIDEMARK_ASSIGN(const auto file, files().open(pathOf(base, log::kLogSuffix), OpenMode::Read));
  log::HeaderScanner scanner(*file, position, end);
  TIDEMARK_ASSIGN(const Step step, scanner.next());
  if (step != Step::Next)
    return fail(ErrorCode::CorruptMessage,
                fmt::format("{}: no batch of format 2 starts at byte {}", file->path(), position));
  summary = {base, position, scanner.header()};
  ByteVector bytes(scanner.header().sizeInBytes());
  TIDEMARK_ASSIGN(const size_t got, file->readAt(position, bytes));
  if (got != bytes.size()) return fail(ErrorCode::KafkaStorageError, file->path() + " was cut while it was read");
  return SharedBytes(std::move(bytes));
}

Result<RecordPage> PartitionView::records(Offset base, uint64_t position, uint64_t from, size_t count) const {
  RecordPage page;
  TIDEMARK_ASSIGN(const SharedBytes bytes, readBatch(base, position, page.batch));
  page.total = static_cast<uint64_t>(std::max(0, page.batch.header.recordCount));
  page.from = from;
  ByteVector buffer;
  const auto opened = records::openPayload({page.batch.header, bytes.view()}, buffer);
  if (!opened) {
    page.problem = opened.error().message.empty() ? "the records do not decompress" : opened.error().message;
    return page;
  }
  SharedBytes payload = bytes.subspan(records::kBatchHeaderSize, bytes.size() - records::kBatchHeaderSize);
  if (page.batch.header.isCompressed()) {
    buffer.resize(opened->size());
    payload = SharedBytes(std::move(buffer));
  }
  const auto share = [&payload](const std::optional<ByteView>& view) -> std::optional<SharedBytes> {
    if (!view) return std::nullopt;
    if (view->empty()) return SharedBytes();
    return payload.subspan(static_cast<size_t>(view->data() - payload.view().data()), view->size());
  };
  records::RecordCursor cursor(page.batch.header, payload.view());
  Step step = cursor.next();
  for (uint64_t index = 0; step == Step::Next && page.records.size() < count; step = cursor.next(), ++index) {
    if (index < from) continue;
    const records::RecordView record = cursor.record();
    RecordFields fields{record.offset, record.timestampMs, record.sequence, share(record.key), share(record.value), {}};
    auto headers = record.headers();
    while (const auto header = headers.next())
      fields.headers.push_back({std::string(asText(header->key)), share(header->value)});
    page.records.push_back(std::move(fields));
  }
  if (step == Step::Corrupt) page.problem = cursor.reason();
  return page;
}

Result<BatchAnatomy> PartitionView::anatomy(Offset base, uint64_t position, uint64_t from, size_t count) const {
  BatchSummary summary;
  TIDEMARK_ASSIGN(const SharedBytes bytes, readBatch(base, position, summary));
  return dissect(bytes, from, count);
}

// --- lookups ---
Lookup PartitionView::lookupOffset(Offset offset) const {
  Lookup lookup;
  const auto read = log_->read(offset, 0, log::FetchIsolation::LogEnd, false, &lookup.trace);
  if (!read) lookup.error = read.error();
  lookup.batch = batchOf(lookup.trace);
  return lookup;
}

Lookup PartitionView::lookupTimestamp(int64_t timestampMs) const {
  Lookup lookup;
  auto found = log_->offsetForTimestamp(timestampMs, &lookup.trace);
  if (!found)
    lookup.error = std::move(found).error();
  else
    lookup.record = *found;
  if (lookup.record) lookup.batch = batchOf(lookup.trace);
  return lookup;
}

Result<std::vector<Finding>> PartitionView::check(Offset base, std::function<bool(uint64_t bytes)> progress) const {
  std::vector<Finding> findings;
  CheckOptions options;
  options.readableBytes = live_ ? std::optional(readableBytes(base).value_or(0)) : std::nullopt;
  const auto infos = log_->segments();
  options.active = !infos.empty() && infos.back().baseOffset == base;
  options.open = live_;
  options.progress = std::move(progress);
  TIDEMARK_TRY(checkSegment(files(), log_->directory(), base, options,
                            [&findings](Finding finding) { findings.push_back(std::move(finding)); }));
  return findings;
}

}  // namespace tidemark::inspect
