#include <algorithm>

#include <fmt/format.h>

#include "inspect/partition_check.h"
#include "log/batch_walk.h"

namespace tidemark::inspect {

using records::BatchHeader;

Result<PartitionFacts> PartitionCheck::run() {
  TIDEMARK_TRY(list());
  TIDEMARK_TRY(walkSegments());
  checkGone();
  checkAborted();
  finishSnapshots();
  checkEpochs();
  checkPartitionFile();
  if (metadata_) TIDEMARK_TRY(checkMetadataFiles());
  return facts_;
}

void PartitionCheck::tell(FindingKind kind, Severity severity, std::string file, std::string expected,
                          std::string found, std::string advice, std::optional<uint64_t> position, ByteVector bytes) {
  const uint64_t length = bytes.size();
  sink_({kind, severity, std::move(file), position, length, std::move(bytes), std::move(expected), std::move(found),
         std::move(advice)});
}

std::optional<ByteVector> PartitionCheck::read(const std::string& path) {
  auto bytes = files_.readFile(path, kLargestWholeFile);
  if (bytes) return *std::move(bytes);
  tell(FindingKind::Unreadable, Severity::Error, path, "a file of a few bytes", bytes.error().message,
       "look at the disk and the file's permissions");
  return std::nullopt;
}

// --- names ---
Result<void> PartitionCheck::list() {
  TIDEMARK_ASSIGN(const auto entries, files_.list(folder_));
  std::map<Offset, bool> indexes;
  for (const std::string& name : files_.brokenLinks(folder_))
    if (kindOf(name).type != FileType::Unknown)
      tell(FindingKind::Unreadable, Severity::Error, pathOf(name), "a file", "a link that leads nowhere",
           "remove it: a broker does not start with it");
  for (const auto& entry : entries) {
    const FileKind kind = kindOf(entry.name);
    if (kind.type == FileType::Unknown) {
      tell(FindingKind::NameUnknown, Severity::Note, pathOf(entry.name), "files of a log",
           entry.isDirectory ? "a folder" : "another name", "nothing: brokers do not touch it");
      continue;
    }
    if (entry.isDirectory) {
      tell(FindingKind::WrongType, Severity::Error, pathOf(entry.name), "a file", "a folder of that name",
           "move it away: a broker does not start with it");
      continue;
    }
    if (!kind.extra.empty()) {
      if (kind.type == FileType::Log) changing_.push_back(kind);
      tellLeftOver(entry.name, kind.extra);
      continue;
    }
    if (kind.type == FileType::Log) logs_.emplace_back(kind.offset, entry.size);
    if (kind.type == FileType::ProducerSnapshot) snapshots_.push_back(kind.offset);
    if (kind.type == FileType::MetadataSnapshot) metadataSnapshots_.push_back(entry.name);
    if (kind.type == FileType::OffsetIndex || kind.type == FileType::TimeIndex || kind.type == FileType::AbortedIndex)
      indexes[kind.offset] |= entry.size > 0;
    if (kind.type == FileType::AbortedIndex) abortedFiles_.insert(kind.offset);
    if (kind.type == FileType::EpochCheckpoint) hasEpochs_ = true;
    if (kind.type == FileType::PartitionMetadata) hasPartitionFile_ = true;
  }
  std::ranges::sort(logs_);
  std::ranges::sort(snapshots_);
  for (const auto& [base, filled] : indexes)
    if (std::ranges::find(logs_, base, &std::pair<Offset, uint64_t>::first) == logs_.end()) orphans_[base] = filled;
  if (!logs_.empty()) facts_.firstOffset = facts_.logEnd = logs_.front().first;
  return {};
}

void PartitionCheck::tellLeftOver(const std::string& name, std::string_view extra) {
  // Of the cleaner's only what is about to be swapped in has a say.
  const bool harmless = extra == log::kDeletedSuffix || extra == log::kCleanedSuffix || extra == ".tmp";
  tell(FindingKind::LeftOver, harmless ? Severity::Note : Severity::Warning, pathOf(name),
       "no files of a change that was interrupted", name,
       extra == ".tmp"             ? "nothing: it is overwritten when the file is written again"
       : extra == log::kSwapSuffix ? "a broker puts it into its place at its next start"
                                   : "a broker removes it at its next start");
}

void PartitionCheck::checkGone() {
  const Offset known = std::max(options_.recoveryPoint.value_or(Offset(0)), options_.highWatermark.value_or(Offset(0)));
  const bool swapped =
      std::ranges::any_of(changing_, [](const FileKind& kind) { return kind.extra == log::kSwapSuffix; });
  const char* lost =
      "records are gone: if the partition has other replicas, remove its folder and the marker of a clean stop while "
      "they run, and the broker fetches them; else look for the file: nothing can be made of the rest";
  for (const auto& [base, filled] : orphans_) {
    const bool held = swapped || std::ranges::find(changing_, base, &FileKind::offset) != changing_.end();
    const bool gone =
        !held && !options_.open &&
        (logs_.empty() || (options_.cleanStop && filled) || (known > facts_.logEnd && base >= facts_.logEnd));
    if (gone)
      tell(FindingKind::SegmentWithoutLog, Severity::Error, pathOf(base, log::kOffsetIndexSuffix),
           pathOf(base, log::kLogSuffix), "no such file", lost);
    else
      tell(FindingKind::SegmentWithoutLog, Severity::Warning, pathOf(base, log::kOffsetIndexSuffix),
           pathOf(base, log::kLogSuffix), "no such file", "a broker removes the index at its next start");
  }
  if (!logs_.empty() || !orphans_.empty() || !changing_.empty() || options_.open || metadata_) return;
  const Offset snapshot = snapshots_.empty() ? Offset(0) : snapshots_.back();
  if (std::max(known, snapshot) > Offset(0))
    tell(FindingKind::SegmentWithoutLog, Severity::Error, pathOf(Offset(0), log::kLogSuffix),
         fmt::format("a log up to offset {}", std::max(known, snapshot)), "no .log at all", lost);
}

// --- segments ---
Result<void> PartitionCheck::walkSegments() {
  for (size_t i = 0; i < logs_.size(); ++i) {
    const Offset base = logs_[i].first;
    const bool last = i + 1 == logs_.size();
    if (i > 0) checkOrder(base);
    nextOffset_ = base;
    nextPosition_ = 0;
    CheckOptions options;
    options.active = last;
    options.open = options_.open;
    options.trusted =
        options_.cleanStop || (!last && options_.recoveryPoint && logs_[i + 1].first <= *options_.recoveryPoint);
    if (metadata_) options.trusted = false;  // recovered at every start
    options.indexIntervalBytes = options_.indexIntervalBytes;
    options.progress = options_.progress;
    options.visit = [this](const records::BatchView& batch, uint64_t position) { visit(batch, position); };
    segment_ = base;
    TIDEMARK_ASSIGN(const SegmentFacts segment, checkSegment(files_, folder_, base, options, sink_));
    ++facts_.segments;
    facts_.batches += segment.batches;
    facts_.records += segment.records;
    facts_.bytes += segment.fileBytes;
    facts_.logEnd = std::max(facts_.logEnd, segment.nextOffset);
    if (segment.validBytes < segment.fileBytes) {
      damaged_ = true;
      if (last) facts_.tornEnd = true;
    }
  }
  if (!options_.compacted && !holes_)
    for (Finding& gap : gapFindings_) sink_(std::move(gap));
  return {};
}

void PartitionCheck::checkOrder(Offset base) {
  if (base == facts_.logEnd) return;
  if (base < facts_.logEnd)
    tell(FindingKind::SegmentOverlap, Severity::Error, pathOf(base, log::kLogSuffix),
         fmt::format("offset {} or higher in its name", facts_.logEnd), fmt::format("{}", base),
         "take the partition from another replica");
  else
    gaps_ = true;
  if (base > facts_.logEnd && !damaged_)
    gapFindings_.push_back(
        {FindingKind::SegmentGap,
         Severity::Warning,
         pathOf(base, log::kLogSuffix),
         std::nullopt,
         0,
         {},
         fmt::format("a segment that begins at {}, where the one before ends", facts_.logEnd),
         fmt::format("it begins at {}", base),
         "nothing if the topic was ever compacted; else records are missing: take the partition from another replica"});
}

void PartitionCheck::noteHoles(const BatchHeader& header, uint64_t position) {
  const bool follows = position == nextPosition_;
  if (follows && header.baseOffset > nextOffset_) holes_ = true;
  if (!header.isControl() && header.recordCount <= header.lastOffsetDelta) holes_ = true;
  nextOffset_ = header.nextOffset();
  nextPosition_ = position + header.sizeInBytes();
}

void PartitionCheck::visit(const records::BatchView& batch, uint64_t position) {
  const BatchHeader& header = batch.header;
  // Of a file under a name that is not its own.
  if (header.baseOffset < segment_) return;
  noteHoles(header, position);
  while (nextSnapshot_ < snapshots_.size() && snapshots_[nextSnapshot_] <= header.baseOffset)
    checkSnapshot(snapshots_[nextSnapshot_++]);
  if (header.leaderEpoch.value() >= 0) {
    if (ranges_.empty() || ranges_.back().epoch < header.leaderEpoch)
      ranges_.push_back({header.leaderEpoch, header.baseOffset, header.nextOffset()});
    else
      ranges_.back().end = std::max(ranges_.back().end, header.nextOffset());
  }
  if (metadata_) checkMetadataRecords(batch, pathOf(segment_, log::kLogSuffix), position);
  const auto marker = log::markerOf(batch);
  if (marker) markers_[header.baseOffset] = {header.producerId, segment_, marker->commit};
  const auto ended = producers_.apply(header, marker, {header.baseOffset, segment_, static_cast<int64_t>(position)});
  producers_.advanceTo(header.nextOffset());
  if (ended && ended->aborted)
    expected_[segment_].push_back({ended->producerId, ended->firstOffset, ended->lastOffset, ended->lastStableOffset});
}

Result<PartitionFacts> checkPartition(platform::Process& process, const std::string& folder,
                                      const PartitionCheckOptions& options, const FindingSink& sink) {
  return PartitionCheck(process, folder, options, sink).run();
}

}  // namespace tidemark::inspect
