#include "segments/partition_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include <QCoreApplication>
#include <QFileInfo>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct SegmentWords {
  Q_DECLARE_TR_FUNCTIONS(Segments)
};

using ViewPtr = std::shared_ptr<const inspect::PartitionView>;

constexpr std::array<std::string_view, kSideFiles> kSides{".index", ".timeindex", ".txnindex", ".snapshot"};

Result<ViewPtr> viewOf(const observe::LookAccess& access, ReaderCache& cache, bool again) {
  if (access.log) {
    cache.view = nullptr;
    return inspect::PartitionView::of(access.log, *access.process);
  }
  if (!again && cache.view && cache.view->path() == access.path) return cache.view;
  cache.view = nullptr;
  TIDEMARK_ASSIGN(cache.view, inspect::PartitionView::open(*access.process, access.path));
  return cache.view;
}

/// The base offset that a file's name begins with, twenty digits; nothing if it does not.
std::optional<int64_t> baseOf(std::string_view name) {
  if (name.size() < 21 || name[20] != '.') return std::nullopt;
  int64_t base = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + 20, base);
  if (error != std::errc() || end != name.data() + 20) return std::nullopt;
  return base;
}

bool isPartition(const std::vector<platform::DirectoryEntry>& entries) {
  return std::ranges::any_of(entries, [](const platform::DirectoryEntry& entry) {
    return !entry.isDirectory && baseOf(entry.name) && entry.name.substr(20, 4) == ".log";
  });
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
    const auto base = entry.isDirectory ? std::nullopt : baseOf(entry.name);
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
      if (suffix == kSides[side]) of->sideBytes[side] = static_cast<int64_t>(entry.size);
  }
  // A producer snapshot alone is no segment.
  for (const auto& [base, segment] : deleted)
    if (segment.bytes > 0 || segment.sideBytes[0] >= 0) segments.push_back(segment);
  std::ranges::stable_sort(segments, [](const SegmentEntry& a, const SegmentEntry& b) {
    const auto deletedFirst = [](const SegmentEntry& one) { return one.state != SegmentEntry::State::Deleted; };
    return std::tuple(deletedFirst(a), a.base) < std::tuple(deletedFirst(b), b.base);
  });
}

FindingEntry entryOf(const inspect::Finding& finding) {
  FindingEntry entry;
  entry.severe = finding.severity != inspect::Severity::Note;
  const std::string_view path = finding.file;
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  entry.file = fromUtf8(name);
  if (const auto base = baseOf(name)) entry.segment = Offset(*base);
  if (finding.position) entry.position = static_cast<int64_t>(*finding.position);
  entry.length = static_cast<int64_t>(finding.length);
  // The engine's own words for what is wrong: they stand in its documentation and in `tidemark verify` alike.
  entry.what = fromUtf8(inspect::explain(finding.kind));
  if (!finding.expected.empty() || !finding.found.empty())
    entry.what =
        SegmentWords::tr("%1: %2 is there, not %3").arg(entry.what, fromUtf8(finding.found), fromUtf8(finding.expected));
  if (!finding.found.empty() && finding.expected.empty())
    entry.what = QStringLiteral("%1: %2").arg(fromUtf8(inspect::explain(finding.kind)), fromUtf8(finding.found));
  return entry;
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
    picture->findings = before->findings;
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

void addFields(const inspect::AnatomyField& field, const QString& prefix, int32_t shift, int32_t record, bool payload,
               std::vector<FieldEntry>& into) {
  const QString name = prefix.isEmpty() ? fieldName(field.name) : prefix + QLatin1Char(' ') + fieldName(field.name);
  if (!field.children.empty()) {
    for (const inspect::AnatomyField& child : field.children) addFields(child, name, shift, record, payload, into);
    return;
  }
  if (field.end <= field.begin) return;
  into.push_back({.begin = static_cast<int32_t>(field.begin) + shift,
                  .length = static_cast<int32_t>(field.end - field.begin),
                  .name = name,
                  .value = fromUtf8(field.value),
                  .note = fromUtf8(field.note),
                  .record = record,
                  .payload = payload});
}

/// The engine's note on the attributes begins with the codec's name.
QString codecOf(const QString& attributesNote) {
  return attributesNote.section(QLatin1Char(','), 0, 0);
}

/// The value of a header's field as the window says it.
void wordHeader(FieldEntry& field, std::string_view name, const inspect::BatchAnatomy& anatomy) {
  const records::BatchHeader& header = anatomy.header;
  if (name == "baseOffset") field.value = offsetText(header.baseOffset);
  if (name == "crc") field.bad = !anatomy.crcValid;
  if (name == "attributes") {
    QStringList words;
    if (header.isCompressed()) words << codecOf(field.note);
    if (header.isTransactional()) words << SegmentWords::tr("transactional");
    if (header.isControl()) words << SegmentWords::tr("control");
    if (header.timestampType() == records::TimestampType::LogAppendTime) words << SegmentWords::tr("append time");
    field.value = words.isEmpty() ? SegmentWords::tr("none") : words.join(QStringLiteral(", "));
  }
  if (name == "baseTimestamp" || name == "maxTimestamp" || name == "deleteHorizonMs") {
    const int64_t moment = name == "maxTimestamp" ? header.maxTimestampMs : header.baseTimestampMs;
    field.value = moment < 0 ? SegmentWords::tr("none") : momentText(moment);
    field.note = QStringLiteral("%1 ms").arg(moment);
  }
  if (name == "producerId" && !header.hasProducerId()) field.value = SegmentWords::tr("none");
}

QString textOf(ByteView bytes) {
  return QString::fromUtf8(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
}

}  // namespace

QString fieldName(std::string_view name) {
  // Kafka's name says which epoch it is only there.
  if (name == "partitionLeaderEpoch") name = "leaderEpoch";
  if (name == "recordsCount") name = "records";
  QString words;
  for (const char letter : name) {
    if (letter >= 'A' && letter <= 'Z') {
      words += QLatin1Char(' ');
      words += QLatin1Char(static_cast<char>(letter - 'A' + 'a'));
    } else {
      words += QLatin1Char(letter);
    }
  }
  return words;
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
  std::ranges::sort(found.partitions);
  return found;
}

Result<ReadPartition> readPartition(const observe::LookAccess& access, ReaderCache& cache, const ReadRequest& request) {
  TIDEMARK_ASSIGN(const ViewPtr view, viewOf(access, cache, request.again));
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
    TIDEMARK_ASSIGN(SegmentPicturePtr segment, readSegment(*view, *shown, request));
    if (request.check && shown->bytes <= ReadRequest::kCheckedBytes) {
      if (auto findings = view->check(shown->base)) {
        auto checked = std::make_shared<SegmentPicture>(*segment);
        checked->findings.clear();
        for (const inspect::Finding& finding : *findings) checked->findings.push_back(entryOf(finding));
        segment = checked;
        read.checked = true;
      }
    }
    // Marks on the strip: where in the log it begins, and which of the files beside it.
    for (const FindingEntry& finding : segment->findings) {
      picture->findings.push_back(finding);
      if (!finding.severe) continue;
      ++shown->findings;
      if (finding.file.endsWith(QStringLiteral(".log")) && finding.position >= 0 &&
          (shown->badAt < 0 || finding.position < shown->badAt)) {
        shown->badAt = finding.position;
        shown->badBytes = finding.length;
      }
      for (size_t side = 0; side < kSideFiles; ++side)
        if (finding.file.endsWith(fromUtf8(kSides[side])))
          shown->badSides = static_cast<uint8_t>(shown->badSides | (1u << side));
    }
    read.segment = segment;
  }
  picture->segments = segments;
  read.partition = picture;
  return read;
}

Result<LookupPicturePtr> readLookup(const observe::LookAccess& access, ReaderCache& cache, const LookupTarget& target) {
  TIDEMARK_ASSIGN(const ViewPtr view, viewOf(access, cache, false));
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

Result<BatchPicturePtr> readBatch(const observe::LookAccess& access, ReaderCache& cache, Offset segment,
                                  int64_t position) {
  TIDEMARK_ASSIGN(const ViewPtr view, viewOf(access, cache, false));
  auto picture = std::make_shared<BatchPicture>();
  picture->segment = segment;
  picture->position = position;
  TIDEMARK_ASSIGN(picture->anatomy,
                  view->anatomy(segment, static_cast<uint64_t>(position), 0, BatchPicture::kRecordsKept));
  const inspect::BatchAnatomy& anatomy = picture->anatomy;
  for (const inspect::AnatomyField& field : anatomy.headerFields) {
    // Records that are not compressed are shown one by one.
    if (field.name == "records" && !anatomy.compressed && !anatomy.recordFields.empty()) continue;
    const size_t before = picture->fields.size();
    addFields(field, {}, 0, -1, false, picture->fields);
    if (field.name == "attributes") picture->codec = codecOf(fromUtf8(field.note));
    if (picture->fields.size() > before) wordHeader(picture->fields.back(), field.name, anatomy);
  }
  picture->headerFields = static_cast<int32_t>(picture->fields.size());
  const int32_t shift = anatomy.compressed ? 0 : static_cast<int32_t>(records::kBatchHeaderSize);
  for (size_t i = 0; i < anatomy.recordFields.size(); ++i) {
    const inspect::AnatomyField& field = anatomy.recordFields[i];
    RecordEntry record;
    record.whole = {static_cast<int32_t>(field.begin) + shift, static_cast<int32_t>(field.end - field.begin)};
    record.offset = anatomy.header.baseOffset.value() + static_cast<int64_t>(i);
    record.timestampMs = anatomy.header.baseTimestampMs;
    record.firstField = static_cast<int32_t>(picture->fields.size());
    for (const inspect::AnatomyField& child : field.children) {
      const auto number = [&child] {
        int64_t value = 0;
        std::from_chars(child.value.data(), child.value.data() + child.value.size(), value);
        return value;
      };
      const Stretch stretch{static_cast<int32_t>(child.begin) + shift, static_cast<int32_t>(child.end - child.begin)};
      if (child.name == "offsetDelta") record.offset = anatomy.header.baseOffset.value() + number();
      if (child.name == "timestampDelta")
        record.timestampMs = anatomy.header.timestampType() == records::TimestampType::LogAppendTime
                                 ? anatomy.header.maxTimestampMs
                                 : anatomy.header.baseTimestampMs + number();
      if (child.name == "keyLength" && number() == 0) record.key = {stretch.begin + stretch.length, 0};
      if (child.name == "valueLength" && number() == 0) record.value = {stretch.begin + stretch.length, 0};
      if (child.name == "key") {
        record.key = stretch;
        record.meaning = fromUtf8(child.note);
      }
      if (child.name == "value") record.value = stretch;
      if (child.name == "headersCount") record.headers = static_cast<int>(number());
      const size_t before = picture->fields.size();
      addFields(child, {}, shift, static_cast<int32_t>(i), anatomy.compressed, picture->fields);
      if (picture->fields.size() == before) continue;
      FieldEntry& entry = picture->fields.back();
      if ((child.name == "key" || child.name == "value") && child.note.empty())
        entry.value = textOf(picture->bytesOf({stretch.begin, std::min(stretch.length, 64)}));
      if (child.name == "keyLength" && number() < 0) entry.value = SegmentWords::tr("null");
      if (child.name == "valueLength" && number() < 0) entry.value = SegmentWords::tr("null");
    }
    record.fieldCount = static_cast<int32_t>(picture->fields.size()) - record.firstField;
    picture->records.push_back(record);
  }
  const int64_t next = position + static_cast<int64_t>(anatomy.bytes.size());
  if (auto page = view->batches(segment, static_cast<uint64_t>(next), 1); page && !page->batches.empty())
    picture->next = next;
  return picture;
}

}  // namespace tidemark::widgets
