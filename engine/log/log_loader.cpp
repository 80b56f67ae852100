#include "log/log_loader.h"

#include <algorithm>
#include <map>
#include <set>

#include "log/checkpoints.h"
#include "log/directories.h"
#include "log/file_names.h"
#include "log/header_scanner.h"
#include "log/overflow_split.h"
#include "records/record.h"

namespace tidemark::log {

using records::BatchHeader;
using records::BatchView;
using records::EndTxnMarker;
using records::Step;

namespace {

constexpr std::string_view kSegmentSuffixes[] = {kLogSuffix, kOffsetIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix};

/// The offset in the name of a file of a segment, `extra` behind its suffix.
std::optional<Offset> segmentOffset(std::string_view name, std::string_view extra = {}) {
  if (!name.ends_with(extra)) return std::nullopt;
  name.remove_suffix(extra.size());
  for (const std::string_view suffix : kSegmentSuffixes)
    if (const auto offset = offsetOfFileName(name, suffix)) return offset;
  return std::nullopt;
}

void noteAborted(const std::optional<EndedTransaction>& ended, std::vector<AbortedTxn>& aborted) {
  if (ended && ended->aborted)
    aborted.push_back({ended->producerId, ended->firstOffset, ended->lastOffset, ended->lastStableOffset});
}

class Loader {
 public:
  Loader(const LogContext& context, const PartitionLogOptions& options, events::PartitionTag tag)
      : context_(context), options_(options), tag_(tag) {
    loaded_.segments = std::make_unique<SegmentList>();
    loaded_.producers = std::make_unique<ProducerStateManager>(*context_.files, *context_.logger, options_.directory);
  }

  Result<LoadedLog> run() {
    TIDEMARK_TRY(listFolder());
    TIDEMARK_TRY(takeTopicId());
    TIDEMARK_TRY(removeTemporaryFiles());
    TIDEMARK_TRY(adoptFiles());
    TIDEMARK_TRY(loadEpochs());
    if (!options_.cleanShutdown) TIDEMARK_TRY(recover());
    TIDEMARK_TRY(rebuildTransactions());
    TIDEMARK_TRY(dropIfBelowLogStart());
    TIDEMARK_TRY(activate());
    TIDEMARK_TRY(finishEpochs());
    TIDEMARK_TRY(finishProducers());
    if (!options_.cleanShutdown && existed_) TIDEMARK_TRY(syncWhatWasFound());
    loaded_.recoveryPoint =
        options_.cleanShutdown ? loaded_.nextOffset : std::min(options_.recoveryPoint, loaded_.nextOffset);
    return std::move(loaded_);
  }

  Result<LoadedLog> runForReading() {
    TIDEMARK_ASSIGN(entries_, context_.files->list(options_.directory));
    TIDEMARK_TRY(adoptFiles());
    if (segments().empty())
      return fail(ErrorCode::KafkaStorageError, options_.directory + " holds no segment (no file DIGITS.log)");
    TIDEMARK_TRY(loadEpochs());
    TIDEMARK_ASSIGN(loaded_.nextOffset, segments().active()->boundForReading());
    loaded_.logStart =
        std::min(std::max(options_.logStartOffset, segments().first()->baseOffset()), loaded_.nextOffset);
    loaded_.recoveryPoint = loaded_.nextOffset;
    loaded_.topicId = options_.topicId;
    return std::move(loaded_);
  }

 private:
  std::string pathOf(std::string_view name) const { return options_.directory + "/" + std::string(name); }
  SegmentList& segments() { return *loaded_.segments; }

  /// Lists the folder, which is made if it is missing.
  Result<void> listFolder();
  bool isListed(std::string_view name) const;
  Result<void> takeTopicId();
  Result<void> removeTemporaryFiles();
  Result<void> completeSwaps(const std::vector<std::string>& names);
  Result<void> adoptFiles();
  Result<void> loadEpochs();
  Result<void> rebuildEpochs();
  Result<void> recover();
  /// How many bytes were cut off it.
  Result<uint64_t> recoverSegment(Segment& segment);
  Result<void> splitIfOverflowing(size_t index);
  bool follows(const Segment& segment) const;
  Result<void> dropSegmentsFrom(size_t index);
  Result<void> syncWhatWasFound();
  Result<void> rebuildTransactions();
  Result<void> dropIfBelowLogStart();
  /// Segment::activate() of the last one; nothing where an index is missing, too.
  Result<std::optional<Offset>> activateLast();
  Result<void> activate();
  Result<void> finishEpochs();
  Result<void> finishProducers();
  Result<void> replayProducers(Offset to);
  Result<void> adoptProducers();

  const LogContext& context_;
  const PartitionLogOptions& options_;
  const events::PartitionTag tag_;
  LoadedLog loaded_;
  /// What is in the folder, by name. Looked at once: opening thousands of logs is mostly calls like this.
  std::vector<platform::DirectoryEntry> entries_;
  /// Bases of segments whose index is missing or of an impossible size.
  std::set<Offset> withoutIndex_;
  /// Bases of segments whose .txnindex cannot be.
  std::set<Offset> withWrongTransactions_;
  std::optional<Offset> segmentsScannedTo_;
  /// Bases of segments that were split off the one before.
  std::set<Offset> splitOff_;
  bool existed_ = false;
  /// Recovery has applied all batches to the producer state.
  bool producersReady_ = false;
};

Result<void> Loader::listFolder() {
  auto listed = context_.files->list(options_.directory);
  existed_ = listed || context_.files->exists(options_.directory);
  if (!existed_) return makeDirectories(*context_.files, options_.directory);
  if (!listed) return fail(std::move(listed).error());
  entries_ = *std::move(listed);
  return {};
}

bool Loader::isListed(std::string_view name) const {
  return std::ranges::binary_search(entries_, name, {}, [](const auto& entry) { return std::string_view(entry.name); });
}

Result<void> Loader::takeTopicId() {
  const std::string metadata = pathOf(kPartitionMetadataFile);
  if (isListed(kPartitionMetadataFile)) {
    TIDEMARK_ASSIGN(const std::string text, readText(*context_.files, metadata));
    // A power loss may leave it empty or torn; the id is then told again by whoever creates the log.
    if (const auto id = decodePartitionMetadata(text))
      loaded_.topicId = *id;
    else
      context_.logger->warning("log", "{} is not readable and is ignored: {}", metadata, id.error().message);
  }
  if (options_.topicId.isZero()) return {};
  if (!loaded_.topicId.isZero() && loaded_.topicId != options_.topicId)
    return fail(ErrorCode::InconsistentTopicId, fmt::format("{} holds a log of topic id {}, not {}", options_.directory,
                                                            loaded_.topicId, options_.topicId));
  if (loaded_.topicId.isZero()) {
    TIDEMARK_TRY(context_.files->replaceFile(metadata, asBytes(encodePartitionMetadata(options_.topicId))));
    loaded_.topicId = options_.topicId;
  }
  return {};
}

Result<void> Loader::removeTemporaryFiles() {
  bool changed = false;
  std::vector<std::string> swaps;
  std::vector<std::string> cleaned;
  Offset lowestCleaned(INT64_MAX);
  for (const auto& entry : entries_) {
    if (entry.name.ends_with(kDeletedSuffix)) {
      changed = true;
      TIDEMARK_TRY(context_.files->remove(pathOf(entry.name)));
    } else if (const auto offset = segmentOffset(entry.name, kCleanedSuffix)) {
      lowestCleaned = std::min(lowestCleaned, *offset);
      cleaned.push_back(entry.name);
    } else if (segmentOffset(entry.name, kSwapSuffix)) {
      swaps.push_back(entry.name);
    }
  }
  // A swap at or above a half-cleaned segment belongs to the same unfinished split.
  std::vector<std::string> valid;
  for (const std::string& name : swaps) {
    if (*segmentOffset(name, kSwapSuffix) >= lowestCleaned)
      TIDEMARK_TRY(context_.files->remove(pathOf(name)));
    else
      valid.push_back(name);
  }
  for (const std::string& name : cleaned) TIDEMARK_TRY(context_.files->remove(pathOf(name)));
  if (!valid.empty()) TIDEMARK_TRY(completeSwaps(valid));
  if (changed || !swaps.empty() || !cleaned.empty()) {
    TIDEMARK_ASSIGN(entries_, context_.files->list(options_.directory));
  }
  return {};
}

Result<void> Loader::completeSwaps(const std::vector<std::string>& names) {
  // What the swapped segments replace goes first: everything that begins inside them.
  Offset from(INT64_MAX);
  Offset to(INT64_MIN);
  for (const std::string& name : names) {
    const Offset base = *segmentOffset(name, kSwapSuffix);
    if (name != offsetFileName(base, kLogSuffix) + std::string(kSwapSuffix)) continue;
    TIDEMARK_ASSIGN(const auto file, context_.files->open(pathOf(name), platform::OpenMode::Read));
    TIDEMARK_ASSIGN(const uint64_t size, file->size());
    from = std::min(from, base);
    to = std::max(to, base);
    HeaderScanner scanner(*file, 0, size);
    while (true) {
      TIDEMARK_ASSIGN(const Step step, scanner.next());
      if (step != Step::Next) break;
      to = std::max(to, scanner.header().nextOffset());
    }
  }
  for (const auto& entry : entries_) {
    const auto offset = segmentOffset(entry.name);
    if (offset && *offset >= from && *offset < to) TIDEMARK_TRY(context_.files->remove(pathOf(entry.name)));
  }
  for (const std::string& name : names) {
    const std::string path = pathOf(name);
    TIDEMARK_TRY(context_.files->rename(path, path.substr(0, path.size() - kSwapSuffix.size())));
  }
  return context_.files->syncDirectory(options_.directory);
}

Result<void> Loader::adoptFiles() {
  struct Sizes {
    std::optional<uint64_t> log, offsets, times;
    uint64_t transactions = 0;
  };
  std::map<Offset, Sizes> found;
  std::vector<Offset> snapshots;
  for (const auto& entry : entries_) {
    if (const auto snapshot = offsetOfFileName(entry.name, kSnapshotSuffix)) snapshots.push_back(*snapshot);
    if (const auto base = offsetOfFileName(entry.name, kLogSuffix)) found[*base].log = entry.size;
    if (const auto base = offsetOfFileName(entry.name, kOffsetIndexSuffix)) found[*base].offsets = entry.size;
    if (const auto base = offsetOfFileName(entry.name, kTimeIndexSuffix)) found[*base].times = entry.size;
    if (const auto base = offsetOfFileName(entry.name, kTxnIndexSuffix)) found[*base].transactions = entry.size;
  }
  loaded_.producers->adoptSnapshots(std::move(snapshots));
  for (const auto& [base, sizes] : found) {
    if (!sizes.log && context_.readOnly) continue;
    if (!sizes.log) {
      for (const std::string_view suffix : kSegmentSuffixes) {
        const std::string path = offsetFilePath(options_.directory, base, suffix);
        if (!context_.files->exists(path)) continue;
        context_.logger->warning("log", "{} belongs to no segment and is removed", path);
        TIDEMARK_TRY(context_.files->remove(path));
      }
      continue;
    }
    if (!sizes.offsets || *sizes.offsets % OffsetIndexFormat::kSize != 0 || !sizes.times ||
        *sizes.times % TimeIndexFormat::kSize != 0)
      withoutIndex_.insert(base);
    segments().add(Segment::adopt(context_, tag_, options_.directory, base, options_.config, *sizes.log,
                                  sizes.offsets.value_or(0), sizes.times.value_or(0), sizes.transactions));
    if (sizes.transactions % kAbortedTxnSize != 0 || (sizes.transactions > 0 && !segments().active()->abortedTxns()))
      withWrongTransactions_.insert(base);
  }
  return {};
}

Result<void> Loader::loadEpochs() {
  if (isListed(kEpochFile)) {
    const std::string path = pathOf(kEpochFile);
    TIDEMARK_ASSIGN(const std::string text, readText(*context_.files, path));
    if (auto cache = EpochCache::decode(text)) {
      loaded_.epochs = std::move(*cache);
      return {};
    } else {
      context_.logger->warning("log", "{} is not readable and is built anew: {}", path, cache.error().message);
    }
  }
  return rebuildEpochs();
}

Result<void> Loader::rebuildEpochs() {
  for (const auto& segment : segments()) {
    if (segment->size() == 0) continue;
    TIDEMARK_ASSIGN(const auto file,
                    context_.files->open(offsetFilePath(options_.directory, segment->baseOffset(), kLogSuffix),
                                         platform::OpenMode::Read));
    HeaderScanner scanner(*file, 0, segment->size());
    while (true) {
      TIDEMARK_ASSIGN(const Step step, scanner.next());
      if (step != Step::Next) break;
      const BatchHeader& header = scanner.header();
      if (loaded_.epochs.latestEpoch().value_or(kNoLeaderEpoch) < header.leaderEpoch)
        loaded_.epochs.assign(header.leaderEpoch, header.baseOffset);
    }
  }
  return {};
}

Result<uint64_t> Loader::recoverSegment(Segment& segment) {
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
                                       &cut));
  TIDEMARK_TRY(segment.replaceAborted(aborted));
  withWrongTransactions_.erase(segment.baseOffset());
  loaded_.producers->advanceTo(std::max(loaded_.producers->end(), scan.nextOffset));
  segmentsScannedTo_ = scan.nextOffset;
  ++loaded_.segmentsScanned;
  loaded_.removedBytes += static_cast<int64_t>(cut.written);
  if (cut.written > 0)
    context_.logger->warning("log", "{}: {} bytes behind offset {} are no valid batches ({}) and are cut off",
                             options_.directory, cut.written, scan.nextOffset, records::describe(scan.reason));
  return cut.bytes;
}

/// A segment that begins elsewhere than the one before it ends: a power loss took the end of that one, whose bytes were
/// not synced, while this one's were written. Where compaction leaves gaps nothing can be told; there a roll syncs.
bool Loader::follows(const Segment& segment) const {
  if (segment.baseOffset() < *segmentsScannedTo_) return false;
  if (options_.cleanedTo && segment.baseOffset() <= *options_.cleanedTo) return true;
  if (splitOff_.contains(segment.baseOffset())) return true;
  return segment.baseOffset() == *segmentsScannedTo_ || options_.config.compact || !options_.recoveryPointKnown;
}

Result<void> Loader::splitIfOverflowing(size_t index) {
  if (index + 1 == segments().size()) return {};
  const std::shared_ptr<Segment> segment = segments().at(index);
  const Offset base = segment->baseOffset();
  const Offset end = segments().at(index + 1)->baseOffset();
  TIDEMARK_ASSIGN(const auto file, context_.files->open(offsetFilePath(options_.directory, base, kLogSuffix),
                                                        platform::OpenMode::Read));
  TIDEMARK_ASSIGN(const auto split, findOverflow(*file, segment->size(), base, end));
  if (!split) return {};
  context_.logger->warning("log", "{}: offsets of segment {} are too far from its base, it is split at {}",
                           options_.directory, base, split->baseOffset);
  TIDEMARK_ASSIGN(const auto names, writeSplit(*context_.files, options_.directory, base, segment->size(), *split));
  TIDEMARK_TRY(completeSwaps(names));
  const auto adopt = [&](Offset at, uint64_t size) {
    return Segment::adopt(context_, tag_, options_.directory, at, options_.config, size, 0, 0);
  };
  segments().replace(index, 1, adopt(base, split->position));
  segments().insert(index + 1, adopt(split->baseOffset, segment->size() - split->position));
  splitOff_.insert(split->baseOffset);
  return {};
}

Result<void> Loader::recover() {
  if (segments().empty()) return {};
  size_t index = segments().floorIndex(options_.recoveryPoint);
  if (index == segments().size()) index = 0;
  const Offset from = segments().at(index)->baseOffset();
  // The file may be older than what was truncated and appended here: the batches tell it better.
  loaded_.epochs.truncateFromEnd(from);
  const auto nowMs = context_.clock->wallMs();
  TIDEMARK_TRY(loaded_.producers->reload(options_.logStartOffset, from, nowMs, options_.config.producerIdExpirationMs,
                                          options_.highWatermark.value_or(from)));
  TIDEMARK_TRY(replayProducers(from));
  TIDEMARK_TRY(adoptProducers());
  if (options_.onRecoveryProgress) options_.onRecoveryProgress(static_cast<int32_t>(segments().size() - index));
  for (; index < segments().size(); ++index) {
    TIDEMARK_TRY(splitIfOverflowing(index));
    Segment& segment = *segments().at(index);
    if (segmentsScannedTo_ && !follows(segment)) {
      TIDEMARK_TRY(dropSegmentsFrom(index));
      break;
    }
    // One snapshot a segment, so that the next recovery need not read so far back.
    if (segment.baseOffset() > loaded_.producers->end()) loaded_.producers->advanceTo(segment.baseOffset());
    TIDEMARK_TRY(loaded_.producers->takeSnapshot());
    TIDEMARK_ASSIGN(const uint64_t truncated, recoverSegment(segment));
    withoutIndex_.erase(segment.baseOffset());
    if (options_.onRecoveryProgress) options_.onRecoveryProgress(static_cast<int32_t>(segments().size() - index) - 1);
    // Only zeros of a preallocated file were cut, if the next one begins just where this one ends now.
    const bool goesOn = index + 1 < segments().size() && segments().at(index + 1)->baseOffset() == *segmentsScannedTo_;
    if (truncated > 0 && !goesOn) {
      TIDEMARK_TRY(dropSegmentsFrom(index + 1));
      break;
    }
  }
  producersReady_ = true;
  return {};
}

Result<void> Loader::dropSegmentsFrom(size_t index) {
  // From the last: what is left after a crash is always a front part of the log.
  while (segments().size() > index) {
    Segment& segment = *segments().active();
    context_.logger->warning("log", "{}: segment {} is dropped", options_.directory, segment.baseOffset());
    TIDEMARK_ASSIGN(const auto file,
                    context_.files->open(offsetFilePath(options_.directory, segment.baseOffset(), kLogSuffix),
                                         platform::OpenMode::Read));
    TIDEMARK_ASSIGN(const uint64_t written, endOfData(*file, 0, segment.size()));
    loaded_.removedBytes += static_cast<int64_t>(written);
    TIDEMARK_ASSIGN(const auto names, segment.retire());
    for (const std::string& name : names) TIDEMARK_TRY(context_.files->remove(name));
    segments().removeLast();
  }
  // They must not come back at a power loss, beside what is appended in their place.
  return context_.files->syncDirectory(options_.directory);
}

/// A truncation that was killed half-way may be in the page cache only. Nothing may be appended before the disk has it
/// too, or a power loss could bring back what it removed.
Result<void> Loader::syncWhatWasFound() {
  for (const auto& segment : segments()) TIDEMARK_TRY(segment->sync(false));
  return context_.files->syncDirectory(options_.directory);
}

/// Transactions that end in a segment may have begun long before it: all headers up to its end are looked at.
Result<void> Loader::rebuildTransactions() {
  for (const Offset base : withWrongTransactions_) {
    const auto segment = segments().exactly(base);
    if (!segment) continue;
    context_.logger->warning("log", "{}: the transaction index of segment {} is wrong and is rebuilt",
                             options_.directory, base);
    ProducerStateManager producers(*context_.files, *context_.logger, options_.directory);
    std::vector<AbortedTxn> aborted;
    const auto next = segments().higher(base);
    TIDEMARK_TRY(forEachBatch(segments(), Offset(0), next ? next->baseOffset() : Offset(INT64_MAX),
                              [&](const BatchHeader& header, const std::optional<EndTxnMarker>& marker,
                                  const LogOffsetMetadata& place) {
                                const auto ended = producers.apply(header, marker, place);
                                if (header.baseOffset >= base) noteAborted(ended, aborted);
                              }));
    TIDEMARK_TRY(segment->replaceAborted(aborted));
  }
  return {};
}

Result<void> Loader::dropIfBelowLogStart() {
  if (segments().empty()) return {};
  const Segment& last = *segments().active();
  if (last.baseOffset() >= options_.logStartOffset) return {};
  TIDEMARK_ASSIGN(const auto next, activateLast());
  if (!next || *next >= options_.logStartOffset) return {};
  context_.logger->warning("log", "{}: ends at {}, below its start {}: all segments are dropped", options_.directory,
                           *next, options_.logStartOffset);
  TIDEMARK_TRY(dropSegmentsFrom(0));
  loaded_.epochs.clear();
  return loaded_.producers->resetTo(options_.logStartOffset);
}

Result<std::optional<Offset>> Loader::activateLast() {
  Segment& last = *segments().active();
  if (withoutIndex_.contains(last.baseOffset())) return std::nullopt;
  return last.activate();
}

Result<void> Loader::activate() {
  if (segments().empty()) {
    TIDEMARK_ASSIGN(auto segment,
                    Segment::create(context_, tag_, options_.directory, options_.logStartOffset, options_.config));
    segments().add(std::move(segment));
    loaded_.nextOffset = options_.logStartOffset;
    loaded_.logStart = options_.logStartOffset;
    return {};
  }
  for (const auto& segment : segments())
    if (segment != segments().active() && withoutIndex_.contains(segment->baseOffset()))
      TIDEMARK_TRY(segment->recover({}, nullptr));
  Segment& active = *segments().active();
  TIDEMARK_ASSIGN(auto next, activateLast());
  if (!next) {
    // An index that is missing or wrong, or a tail that is no batch: this one is read after all.
    TIDEMARK_TRY(active.recover({}, nullptr));
    ++loaded_.segmentsScanned;
    TIDEMARK_ASSIGN(next, active.activate());
    TIDEMARK_INVARIANT(next.has_value(), options_.directory + ": a recovered segment is still wrong");
  }
  loaded_.nextOffset = *next;
  loaded_.logStart = std::max(options_.logStartOffset, segments().first()->baseOffset());
  return {};
}

Result<void> Loader::finishEpochs() {
  // A log start that was not checkpointed fell back, but the epochs below it are forgotten already.
  const auto earliest = loaded_.epochs.earliest();
  if (!options_.cleanShutdown && (!earliest || earliest->startOffset > loaded_.logStart)) {
    bool missing = false;
    TIDEMARK_TRY(forEachBatch(segments(), loaded_.logStart, earliest ? earliest->startOffset : loaded_.nextOffset,
                              [&missing](const auto&, const auto&, const auto&) { missing = true; }));
    if (missing) {
      loaded_.epochs.clear();
      TIDEMARK_TRY(rebuildEpochs());
    }
  }
  loaded_.epochs.truncateFromEnd(loaded_.nextOffset);
  loaded_.epochs.truncateFromStart(loaded_.logStart);
  return {};
}

Result<void> Loader::replayProducers(Offset to) {
  ProducerStateManager& producers = *loaded_.producers;
  if (producers.end() >= to) return {};
  TIDEMARK_TRY(forEachBatch(segments(), std::max(producers.end(), options_.logStartOffset), to,
                            [&](const BatchHeader& header, const std::optional<EndTxnMarker>& marker,
                                const LogOffsetMetadata& place) { producers.apply(header, marker, place); }));
  producers.advanceTo(to);
  return {};
}

/// Where snapshots were passed over for the sake of transactions. (Else what is here came from the newest.)
Result<void> Loader::adoptProducers() {
  ProducerStateManager& producers = *loaded_.producers;
  if (!options_.highWatermark || *options_.highWatermark >= producers.end()) return {};
  return producers.adoptProducers(context_.clock->wallMs(), options_.config.producerIdExpirationMs);
}

Result<void> Loader::finishProducers() {
  ProducerStateManager& producers = *loaded_.producers;
  std::vector<Offset> bases;
  for (const auto& segment : segments()) bases.push_back(segment->baseOffset());
  if (!producersReady_)
    TIDEMARK_TRY(producers.reload(loaded_.logStart, loaded_.nextOffset, context_.clock->wallMs(),
                                  options_.config.producerIdExpirationMs,
                                  options_.highWatermark.value_or(loaded_.nextOffset)));
  TIDEMARK_TRY(replayProducers(loaded_.nextOffset));
  TIDEMARK_TRY(adoptProducers());
  producers.advanceTo(loaded_.nextOffset);
  // Whom recovery found in the batches may be long gone.
  producers.expire(context_.clock->wallMs(), options_.config.producerIdExpirationMs);
  TIDEMARK_TRY(producers.takeSnapshot());
  return producers.removeStraySnapshots(bases);
}

}  // namespace

std::optional<EndTxnMarker> markerOf(const BatchView& batch) {
  if (!batch.header.isControl() || !batch.header.hasProducerId() || batch.header.isCompressed()) return std::nullopt;
  records::RecordCursor cursor(batch.header, batch.payload());
  if (cursor.next() != Step::Next) return std::nullopt;
  return records::readEndTxnMarker(cursor.record());
}

Result<void> forEachBatch(const SegmentList& segments, Offset from, Offset to,
                          const std::function<void(const BatchHeader&, const std::optional<EndTxnMarker>&,
                                                   const LogOffsetMetadata&)>& visit) {
  if (segments.empty() || from >= to) return {};
  size_t index = segments.floorIndex(from);
  if (index == segments.size()) index = 0;
  for (; index < segments.size() && segments.at(index)->baseOffset() < to; ++index) {
    const Segment& segment = *segments.at(index);
    TIDEMARK_ASSIGN(const auto files, segment.files());
    TIDEMARK_ASSIGN(const auto start, segment.find(from, segment.size()));
    if (!start) continue;
    HeaderScanner scanner(*files->log(), start->position, segment.size());
    while (true) {
      TIDEMARK_ASSIGN(const Step step, scanner.next());
      if (step != Step::Next || scanner.header().baseOffset >= to) break;
      const BatchHeader& header = scanner.header();
      std::optional<EndTxnMarker> marker;
      if (header.isControl() && header.hasProducerId()) {
        ByteVector bytes(header.sizeInBytes());
        TIDEMARK_ASSIGN(const size_t got, files->log()->readAt(scanner.position(), bytes));
        if (got == bytes.size()) marker = markerOf({header, bytes});
      }
      visit(header, marker, {header.baseOffset, segment.baseOffset(), static_cast<int64_t>(scanner.position())});
    }
  }
  return {};
}

Result<LoadedLog> loadLogForReading(const LogContext& context, const PartitionLogOptions& options) {
  return Loader(context, options, {}).runForReading();
}

Result<LoadedLog> loadLog(const LogContext& context, const PartitionLogOptions& options, events::PartitionTag tag) {
  return Loader(context, options, tag).run();
}

}  // namespace tidemark::log
