#include "segments/partition_reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

#include <QCoreApplication>
#include <QFileInfo>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct SegmentWords {
  Q_DECLARE_TR_FUNCTIONS(Segments)
};

bool isPartition(const std::vector<platform::DirectoryEntry>& entries) {
  return std::ranges::any_of(entries, [](const platform::DirectoryEntry& entry) {
    return !entry.isDirectory && baseOfFile(entry.name) && entry.name.substr(20, 4) == ".log";
  });
}

/// Topics by name, those of users first, their partitions by number, and the copies of each by folder: by broker.
std::tuple<bool, std::string_view, int, std::string_view> folderOrder(const std::string& folder) {
  const std::string_view path = folder;
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const size_t dash = name.rfind('-');
  int number = 0;
  if (dash != std::string_view::npos) std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
  return {name.starts_with("__"), name.substr(0, dash), number, path};
}

void findBelow(platform::FileSystem& files, const std::string& folder, int depth, FoundFiles& into) {
  const auto entries = files.list(folder);
  if (!entries) return;
  if (isPartition(*entries)) {
    if (into.partitions.size() < FoundFiles::kMost)
      into.partitions.push_back(folder);
    else
      into.cut = true;
    return;
  }
  if (depth == 0) return;
  for (const platform::DirectoryEntry& entry : *entries)
    if (entry.isDirectory && !into.cut) findBelow(files, folder + "/" + entry.name, depth - 1, into);
}

/// Files of the folder: those beside a segment, and segments that wait for their removal.
void addFiles(platform::FileSystem& files, const std::string& folder, std::vector<SegmentEntry>& segments) {
  const auto entries = files.list(folder);
  if (!entries) return;
  std::map<int64_t, SegmentEntry*> byBase;
  for (SegmentEntry& segment : segments) byBase[segment.base.value()] = &segment;
  std::map<int64_t, SegmentEntry> deleted;
  for (const platform::DirectoryEntry& entry : *entries) {
    const auto base = entry.isDirectory ? std::nullopt : baseOfFile(entry.name);
    if (!base) continue;
    const std::string_view rest = std::string_view(entry.name).substr(20);
    const bool isDeleted = rest.ends_with(".deleted");
    const std::string_view suffix = isDeleted ? rest.substr(0, rest.size() - 8) : rest;
    SegmentEntry* of = nullptr;
    if (isDeleted) {
      of = &deleted[*base];
      of->base = Offset(*base);
      of->state = SegmentEntry::State::Deleted;
      if (suffix == ".log") of->bytes = static_cast<int64_t>(entry.size);
    } else if (const auto known = byBase.find(*base); known != byBase.end()) {
      of = known->second;
    }
    if (of == nullptr) continue;
    for (size_t side = 0; side < kSideFiles; ++side)
      if (suffix == kSideSuffixes[side]) of->sideBytes[side] = static_cast<int64_t>(entry.size);
  }
  // A producer snapshot alone is no segment.
  for (const auto& [base, segment] : deleted)
    if (segment.bytes > 0 || segment.sideBytes[0] >= 0) segments.push_back(segment);
  std::ranges::stable_sort(segments, [](const SegmentEntry& a, const SegmentEntry& b) {
    const auto deletedFirst = [](const SegmentEntry& one) { return one.state != SegmentEntry::State::Deleted; };
    return std::tuple(deletedFirst(a), a.base) < std::tuple(deletedFirst(b), b.base);
  });
}

template <class Entry, class Read>
Result<void> readEntries(std::vector<Entry>& entries, const Read& read) {
  constexpr size_t kPage = 1 << 16;
  while (true) {
    TIDEMARK_ASSIGN(auto page, read(entries.size(), kPage));
    if (page.entries.empty()) return {};
    entries.insert(entries.end(), page.entries.begin(), page.entries.end());
    if (entries.size() >= page.total) return {};
  }
}

/// Index entries that were read before are those of the file still, unless it was rebuilt: then its first ones differ.
template <class Entry, class Read>
Result<void> goOnReading(std::vector<Entry>& entries, const std::vector<Entry>* before, const Read& read) {
  if (before != nullptr && !before->empty()) {
    auto page = read(before->size() - 1, 1);
    if (page && page->entries.size() == 1 && page->entries.front() == before->back()) entries = *before;
  }
  return readEntries(entries, read);
}

Result<SegmentPicturePtr> readSegment(const inspect::PartitionView& view, const SegmentEntry& entry,
                                      const ReadRequest& request) {
  auto picture = std::make_shared<SegmentPicture>();
  picture->base = entry.base;
  picture->bytes = entry.bytes;
  picture->active = entry.state == SegmentEntry::State::Active;
  const SegmentPicture* before =
      request.before && request.before->base == entry.base && request.before->bytes <= entry.bytes
          ? request.before.get()
          : nullptr;
  TIDEMARK_TRY(goOnReading(picture->offsets, before == nullptr ? nullptr : &before->offsets,
                           [&](size_t from, size_t count) { return view.offsetIndex(entry.base, from, count); }));
  TIDEMARK_TRY(goOnReading(picture->times, before == nullptr ? nullptr : &before->times,
                           [&](size_t from, size_t count) { return view.timeIndex(entry.base, from, count); }));
  if (before != nullptr) {
    picture->batches = before->batches;
    picture->batchesEnd = before->batchesEnd;
  }
  std::optional<uint64_t> next = static_cast<uint64_t>(picture->batchesEnd);
  while (next && static_cast<int64_t>(*next) < entry.bytes && picture->batches.size() < ReadRequest::kMostBatches) {
    auto page = view.batches(entry.base, *next, 4096);
    if (!page) break;
    for (const inspect::BatchSummary& batch : page->batches) {
      picture->batches.push_back({.base = batch.header.baseOffset.value(),
                                  .last = batch.header.lastOffset().value(),
                                  .position = static_cast<int64_t>(batch.position),
                                  .bytes = static_cast<int32_t>(batch.header.sizeInBytes()),
                                  .records = batch.header.recordCount,
                                  .epoch = batch.header.leaderEpoch,
                                  .maxTimestampMs = batch.header.maxTimestampMs});
      picture->batchesEnd = static_cast<int64_t>(batch.position + batch.header.sizeInBytes());
    }
    if (page->batches.empty()) break;
    next = page->next;
  }
  return picture;
}

}  // namespace

Result<PartitionViewPtr> viewOf(const observe::LookAccess& access, ReaderCache& cache, bool again) {
  if (access.log) {
    cache.view = nullptr;
    return inspect::PartitionView::of(access.log, *access.process);
  }
  if (!again && cache.view && cache.view->path() == access.path) return cache.view;
  cache.view = nullptr;
  TIDEMARK_ASSIGN(cache.view, inspect::PartitionView::open(*access.process, access.path));
  return cache.view;
}

std::optional<int64_t> baseOfFile(std::string_view name) {
  if (name.size() < 21 || name[20] != '.') return std::nullopt;
  int64_t base = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + 20, base);
  if (error != std::errc() || end != name.data() + 20) return std::nullopt;
  return base;
}

Result<FoundFiles> findPartitions(const observe::LookAccess& access) {
  platform::FileSystem& files = access.process->files();
  FoundFiles found;
  if (!files.exists(access.path)) return fail(ErrorCode::UnknownTopicOrPartition, access.path + " is not there");
  const auto entries = files.list(access.path);
  if (!entries || isPartition(*entries)) {
    // A file, which the engine will say whether it can read.
    found.partitions.push_back(access.path);
    return found;
  }
  findBelow(files, access.path, 3, found);
  if (found.partitions.empty())
    return fail(ErrorCode::UnknownTopicOrPartition,
                access.path + " holds no segments: neither it nor a folder below it has a file like " +
                    "00000000000000000000.log");
  std::ranges::sort(found.partitions, {}, folderOrder);
  return found;
}

Result<ReadPartition> readPartition(const observe::LookAccess& access, ReaderCache& cache, const ReadRequest& request) {
  TIDEMARK_ASSIGN(const PartitionViewPtr view, viewOf(access, cache, request.again));
  auto picture = std::make_shared<PartitionPicture>();
  picture->folder = fromUtf8(view->path());
  picture->name = QFileInfo(picture->folder).fileName();
  picture->logStart = view->bounds().logStartOffset;
  if (access.log) {
    const auto config = access.log->config();
    picture->segmentBytes = config->segmentBytes;
    picture->segmentMs = config->segmentMs;
    picture->indexIntervalBytes = config->indexIntervalBytes;
  }
  const std::vector<log::EpochEntry> epochs = view->epochs();
  auto segments = std::make_shared<std::vector<SegmentEntry>>();
  for (const inspect::SegmentSummary& summary : view->segments()) {
    SegmentEntry entry;
    entry.base = summary.baseOffset;
    entry.bytes = static_cast<int64_t>(summary.fileBytes);
    entry.state = summary.active ? SegmentEntry::State::Active : SegmentEntry::State::Sealed;
    // What is behind the whole batches of a file that nobody appends to is torn off.
    if (summary.bytes < summary.fileBytes && !view->live()) {
      entry.badAt = static_cast<int64_t>(summary.bytes);
      entry.badBytes = entry.bytes - entry.badAt;
      entry.findings = 1;
    }
    // The newest epoch in it.
    for (const log::EpochEntry& epoch : epochs)
      if (epoch.startOffset < summary.endOffset || epoch.startOffset <= summary.baseOffset) entry.epoch = epoch.epoch;
    segments->push_back(entry);
  }
  addFiles(access.process->files(), view->path(), *segments);

  ReadPartition read;
  const auto isDeleted = [](const SegmentEntry& one) { return one.state == SegmentEntry::State::Deleted; };
  auto shown = std::ranges::find_if(
      *segments, [&](const SegmentEntry& one) { return one.base == request.segment && !isDeleted(one); });
  if (shown == segments->end() && !segments->empty() && !isDeleted(segments->back()))
    shown = std::prev(segments->end());
  if (shown != segments->end()) {
    TIDEMARK_ASSIGN(read.segment, readSegment(*view, *shown, request));
  }
  picture->segments = segments;
  read.partition = picture;
  return read;
}

Result<LookupPicturePtr> readLookup(const observe::LookAccess& access, ReaderCache& cache, const LookupTarget& target) {
  TIDEMARK_ASSIGN(const PartitionViewPtr view, viewOf(access, cache, false));
  auto picture = std::make_shared<LookupPicture>();
  picture->byTime = target.byTime;
  picture->target = target.value;
  picture->lookup = target.byTime ? view->lookupTimestamp(target.value) : view->lookupOffset(Offset(target.value));
  if (picture->lookup.error)
    picture->problem = fromUtf8(picture->lookup.error->message.empty() ? errorName(picture->lookup.error->code)
                                                                       : picture->lookup.error->message);
  else if (target.byTime && !picture->lookup.record)
    picture->problem = SegmentWords::tr("No record is that young.");
  else if (!picture->lookup.batch)
    picture->problem = SegmentWords::tr("That is the end of the log: no batch holds it yet.");
  return picture;
}

}  // namespace tidemark::widgets
