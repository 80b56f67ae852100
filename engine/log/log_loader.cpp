#include "log/log_loader.h"

#include <algorithm>
#include <map>

#include "log/batch_walk.h"
#include "log/checkpoints.h"
#include "log/file_names.h"
#include "log/header_scanner.h"
#include "log/loader.h"

namespace tidemark::log {

using records::BatchHeader;
using records::EndTxnMarker;
using records::Step;

LogLoader::LogLoader(const LogContext& context, const PartitionLogOptions& options, events::PartitionTag tag)
    : context_(context),
      options_(options),
      tag_(tag),
      folder_(*context.files, options.directory),
      logStart_(options.logStartOffset) {
  loaded_.segments = std::make_unique<SegmentList>();
  loaded_.producers = std::make_unique<ProducerStateManager>(*context_.files, *context_.logger, options_.directory);
}

Result<LoadedLog> LogLoader::run() {
  TIDEMARK_TRY(folder_.listOrMake());
  TIDEMARK_TRY(takeTopicId());
  TIDEMARK_TRY(folder_.tidyUp());
  TIDEMARK_TRY(adoptFiles());
  TIDEMARK_TRY(loadEpochs());
  if (!options_.cleanShutdown) TIDEMARK_TRY(recover());
  TIDEMARK_TRY(rebuildTransactions());
  TIDEMARK_TRY(dropIfBelowLogStart());
  TIDEMARK_TRY(activate());
  TIDEMARK_TRY(finishEpochs());
  TIDEMARK_TRY(finishProducers());
  if (!options_.cleanShutdown && folder_.existed()) TIDEMARK_TRY(syncWhatWasFound());
  loaded_.recoveryPoint =
      options_.cleanShutdown ? loaded_.nextOffset : std::min(options_.recoveryPoint, loaded_.nextOffset);
  return std::move(loaded_);
}

Result<LoadedLog> LogLoader::runForReading() {
  TIDEMARK_TRY(folder_.list());
  TIDEMARK_TRY(adoptFiles());
  if (segments().empty())
    return fail(ErrorCode::KafkaStorageError, options_.directory + " holds no segment (no file DIGITS.log)");
  TIDEMARK_TRY(loadEpochs());
  TIDEMARK_ASSIGN(loaded_.nextOffset, segments().active()->boundForReading());
  loaded_.logStart = std::min(std::max(logStart_, segments().first()->baseOffset()), loaded_.nextOffset);
  loaded_.recoveryPoint = loaded_.nextOffset;
  loaded_.topicId = options_.topicId;
  return std::move(loaded_);
}

Result<void> LogLoader::takeTopicId() {
  const std::string metadata = folder_.pathOf(kPartitionMetadataFile);
  if (folder_.has(kPartitionMetadataFile)) {
    std::string text;
    if (options_.partitionMetadata) {
      text = *options_.partitionMetadata;
    } else {
      TIDEMARK_ASSIGN(text, readText(*context_.files, metadata));
    }
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

Result<void> LogLoader::adoptFiles() {
  struct Sizes {
    std::optional<uint64_t> log, offsets, times;
    uint64_t transactions = 0;
  };
  std::map<Offset, Sizes> found;
  std::vector<Offset> snapshots;
  for (const auto& entry : folder_.entries()) {
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
      for (const std::string_view suffix : segmentSuffixes()) {
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

Result<void> LogLoader::loadEpochs() {
  if (folder_.has(kEpochFile)) {
    const std::string path = folder_.pathOf(kEpochFile);
    TIDEMARK_ASSIGN(const std::string text, readText(*context_.files, path));
    if (auto cache = EpochCache::decode(text)) {
      loaded_.epochs = std::move(*cache);
      boundLogStart();
      return {};
    } else {
      context_.logger->warning("log", "{} is not readable and is built anew: {}", path, cache.error().message);
    }
  }
  return rebuildEpochs();
}

/// Whatever moves a log start cuts the epochs there, which are on disk before the checkpoint says so: one behind the
/// first epoch's start is false. Records that were deleted may come back then, but none is lost.
void LogLoader::boundLogStart() {
  const auto earliest = loaded_.epochs.earliest();
  if (!options_.logStartIsCheckpointed || !earliest || earliest->startOffset >= logStart_) return;
  context_.logger->warning("log", "{}: {} says that it starts at {}, but its first epoch does at {}: that is believed",
                           options_.directory, kLogStartFile, logStart_, earliest->startOffset);
  logStart_ = earliest->startOffset;
}

Result<void> LogLoader::rebuildEpochs() {
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

Result<void> LogLoader::dropIfBelowLogStart() {
  if (segments().empty()) return {};
  const Segment& last = *segments().active();
  if (last.baseOffset() >= logStart_) return {};
  TIDEMARK_ASSIGN(const auto tail, activateLast());
  if (!tail || tail->nextOffset >= logStart_) return {};
  context_.logger->warning("log", "{}: ends at {}, below its start {}: all segments are dropped", options_.directory,
                           tail->nextOffset, logStart_);
  TIDEMARK_TRY(dropSegmentsFrom(0, "the log ends below its start"));
  loaded_.epochs.clear();
  return loaded_.producers->resetTo(logStart_);
}

Result<std::optional<Segment::Tail>> LogLoader::activateLast() {
  Segment& last = *segments().active();
  if (withoutIndex_.contains(last.baseOffset())) return std::nullopt;
  return last.activate();
}

Result<void> LogLoader::activate() {
  if (segments().empty()) {
    TIDEMARK_ASSIGN(auto segment, Segment::create(context_, tag_, options_.directory, logStart_, options_.config));
    segments().add(std::move(segment));
    loaded_.nextOffset = logStart_;
    loaded_.logStart = logStart_;
    return {};
  }
  for (const auto& segment : segments())
    if (segment != segments().active() && withoutIndex_.contains(segment->baseOffset()))
      TIDEMARK_TRY(repairSegment(*segment));
  Segment& active = *segments().active();
  TIDEMARK_ASSIGN(auto tail, activateLast());
  if (!tail) {
    // An index that is missing or wrong, or a tail that is no batch: this one is read after all.
    TIDEMARK_TRY(repairSegment(active));
    ++loaded_.segmentsScanned;
    TIDEMARK_ASSIGN(tail, active.activate());
    TIDEMARK_INVARIANT(tail.has_value(), options_.directory + ": a recovered segment is still wrong");
  }
  loaded_.nextOffset = tail->nextOffset;
  lastEpoch_ = tail->epoch;
  loaded_.logStart = std::max(logStart_, segments().first()->baseOffset());
  return {};
}

Result<void> LogLoader::finishEpochs() {
  // A log start that was not checkpointed, or cannot be read, fell back, but the epochs below it are forgotten already.
  const auto earliest = loaded_.epochs.earliest();
  if (earliest ? earliest->startOffset > loaded_.logStart : !options_.cleanShutdown) {
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
  if (epochsAreTrue()) return {};
  context_.logger->warning("log", "{} says what the batches do not, and is built anew", folder_.pathOf(kEpochFile));
  loaded_.epochs.clear();
  TIDEMARK_TRY(rebuildEpochs());
  loaded_.epochs.truncateFromStart(loaded_.logStart);
  return {};
}

std::optional<BatchHeader> LogLoader::batchFrom(Offset offset) const {
  const SegmentList& segments = *loaded_.segments;
  size_t index = segments.floorIndex(offset);
  if (index == segments.size()) index = 0;
  for (; index < segments.size(); ++index) {
    const auto found = segments.at(index)->find(offset, segments.at(index)->size());
    // Whoever reads it is told.
    if (!found) return std::nullopt;
    if (*found) return (*found)->header;
  }
  return std::nullopt;
}

bool LogLoader::epochsAreTrue() const {
  // The text has no sum of its own, and a wrong epoch makes replicas truncate at the wrong place, or not at all.
  const std::vector<EpochEntry>& entries = loaded_.epochs.entries();
  const LeaderEpoch told = entries.empty() ? kNoLeaderEpoch : entries.back().epoch;
  if (lastEpoch_ && told != *lastEpoch_ && loaded_.logStart < loaded_.nextOffset) return false;
  // Of one alone only that is asked, so that of most logs nothing but the end is read.
  for (size_t i = 0; i < entries.size() && entries.size() > 1; ++i) {
    const EpochEntry& entry = entries[i];
    const auto first = batchFrom(entry.startOffset);
    if (first) {
      // The cleaner may have taken all of an epoch; the log start may lie inside the first one's batch.
      const bool isGone = i + 1 < entries.size() && first->baseOffset >= entries[i + 1].startOffset;
      if (!isGone && (first->leaderEpoch != entry.epoch || (i > 0 && first->baseOffset < entry.startOffset)))
        return false;
    }
    if (entry.startOffset <= loaded_.logStart) continue;
    const auto before = batchFrom(Offset(entry.startOffset.value() - 1));
    // Before the first one there is none.
    if (before && before->baseOffset < entry.startOffset && (i == 0 || before->leaderEpoch >= entry.epoch))
      return false;
  }
  return true;
}

Result<void> LogLoader::replayProducers(Offset to) {
  ProducerStateManager& producers = *loaded_.producers;
  if (producers.end() >= to) return {};
  TIDEMARK_TRY(forEachBatch(segments(), std::max(producers.end(), logStart_), to,
                            [&](const BatchHeader& header, const std::optional<EndTxnMarker>& marker,
                                const LogOffsetMetadata& place) { producers.apply(header, marker, place); }));
  producers.advanceTo(to);
  return {};
}

/// Where snapshots were passed over for the sake of transactions. (Else what is here came from the newest.)
Result<void> LogLoader::adoptProducers() {
  ProducerStateManager& producers = *loaded_.producers;
  if (!options_.highWatermark || *options_.highWatermark >= producers.end() || adoptedAt_ == producers.end()) return {};
  adoptedAt_ = producers.end();
  return producers.adoptProducers(context_.clock->wallMs(), options_.config.producerIdExpirationMs);
}

Result<void> LogLoader::finishProducers() {
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

Result<LoadedLog> loadLogForReading(const LogContext& context, const PartitionLogOptions& options) {
  return LogLoader(context, options, {}).runForReading();
}

Result<LoadedLog> loadLog(const LogContext& context, const PartitionLogOptions& options, events::PartitionTag tag) {
  return LogLoader(context, options, tag).run();
}

}  // namespace tidemark::log
