#include "log/producer_state.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/mutation.h"
#include "log/file_names.h"

namespace tidemark::log {

using records::BatchHeader;
using records::EndTxnMarker;
using records::kNoSequence;
using records::Origin;

namespace {

constexpr uint64_t kMaxSnapshot = 256u << 20;

constexpr int64_t kSequences = int64_t{1} << 31;

bool follows(int32_t last, int32_t next) {
  return next == static_cast<int64_t>(last) + 1 || (next == 0 && last == INT32_MAX);
}

ProducerBatch rememberedAs(const BatchHeader& header) {
  return {.lastSequence = header.lastSequence(),
          .lastOffset = header.lastOffset(),
          .offsetDelta = header.lastOffsetDelta,
          .timestampMs = header.maxTimestampMs};
}

}  // namespace

// --- one producer ---
int32_t ProducerBatch::firstSequence() const noexcept {
  const int64_t first = static_cast<int64_t>(lastSequence) - offsetDelta;
  return static_cast<int32_t>(first < 0 ? first + kSequences : first);
}

const ProducerBatch* ProducerEntry::findDuplicate(ProducerEpoch epoch, int32_t firstSequence,
                                                  int32_t lastSequence) const noexcept {
  if (epoch != epoch_) return nullptr;
  const size_t oldest = isMutated(Mutation::DuplicateWindowOfFour) && count_ == kWindow ? 1 : 0;
  // The newest first: a producer that was forgotten may have begun anew, with numbers that stand in the log already.
  for (size_t i = count_; i > oldest; --i) {
    const ProducerBatch& batch = batches_[i - 1];
    if (batch.firstSequence() == firstSequence && batch.lastSequence == lastSequence) return &batch;
  }
  return nullptr;
}

void ProducerEntry::enter(ProducerEpoch epoch) noexcept {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  count_ = 0;
}

void ProducerEntry::addBatch(ProducerEpoch epoch, const ProducerBatch& batch) noexcept {
  enter(epoch);
  if (count_ == kWindow) {
    std::shift_left(batches_.begin(), batches_.end(), 1);
    --count_;
  }
  batches_[count_++] = batch;
  lastTimestampMs_ = batch.timestampMs;
}

void ProducerEntry::adoptBatch(const ProducerBatch& batch) noexcept {
  batches_[0] = batch;
  count_ = 1;
}

void ProducerEntry::recallBatch(ProducerEpoch epoch, const ProducerBatch& batch) noexcept {
  if (epoch != epoch_) return;
  const auto remembered = batches_.begin() + static_cast<ptrdiff_t>(count_);
  auto place = std::ranges::lower_bound(batches_.begin(), remembered, batch.lastOffset, {}, &ProducerBatch::lastOffset);
  if (place == remembered || place->lastOffset == batch.lastOffset) return;
  if (count_ < kWindow) {
    std::shift_right(place, remembered + 1, 1);
    ++count_;
  } else if (place == batches_.begin()) {
    return;
  } else {
    std::shift_left(batches_.begin(), place, 1);
    --place;
  }
  *place = batch;
}

bool ProducerEntry::mayRecall(ProducerEpoch epoch, int32_t lastSequence) const noexcept {
  if (epoch != epoch_ || count_ == 0 || count_ == kWindow || lastSequence < 0) return false;
  // Modulo 2³¹: the half behind the oldest that is remembered is older, the other half is still to come.
  const int64_t before = (batches_[0].lastSequence - static_cast<int64_t>(lastSequence) + kSequences) % kSequences;
  return before > 0 && before < kSequences / 2;
}

void ProducerEntry::endTransaction(ProducerEpoch epoch, int32_t coordinatorEpoch, int64_t timestampMs) noexcept {
  enter(epoch);
  coordinatorEpoch_ = coordinatorEpoch;
  lastTimestampMs_ = timestampMs;
  transactionStart_ = kNoOffset;
}

void ProducerEntry::restore(ProducerEpoch epoch, const std::optional<ProducerBatch>& batch, int64_t timestampMs,
                            int32_t coordinatorEpoch, Offset transactionStart) noexcept {
  epoch_ = epoch;
  count_ = 0;
  if (batch) batches_[count_++] = *batch;
  lastTimestampMs_ = timestampMs;
  coordinatorEpoch_ = coordinatorEpoch;
  transactionStart_ = transactionStart;
}

// --- appends ---
const ProducerBatch* ProducerStateManager::findDuplicate(const BatchHeader& header) const {
  const auto found = producers_.find(header.producerId);
  if (isMutated(Mutation::SequencesUnchecked)) return nullptr;
  if (found == producers_.end() || header.baseSequence == kNoSequence) return nullptr;
  return found->second.findDuplicate(header.producerEpoch, header.baseSequence, header.lastSequence());
}

Result<void> ProducerStateManager::check(const BatchHeader& header, const std::optional<EndTxnMarker>& marker,
                                         const AppendOptions& options) const {
  const Origin origin = options.origin;
  if (options.verification && header.isTransactional() && !header.isControl())
    TIDEMARK_TRY(checkVerified(header, *options.verification));
  const auto found = producers_.find(header.producerId);
  if (isMutated(Mutation::SequencesUnchecked)) return {};
  if (found == producers_.end()) {
    if (options.earlierRefused)
      return fail(ErrorCode::OutOfOrderSequenceNumber,
                  fmt::format("nobody knows producer {}: sequence {} may not come before the one that was refused",
                              header.producerId, header.baseSequence));
    return {};
  }
  const ProducerEntry& producer = found->second;
  if (origin == Origin::Replication) return {};
  if (header.producerEpoch < producer.epoch())
    return fail(ErrorCode::InvalidProducerEpoch,
                fmt::format("epoch {} of producer {} at offset {} is older than the last one seen, {}",
                            header.producerEpoch, header.producerId, header.baseOffset, producer.epoch()));
  if (header.isControl()) {
    // A marker of an earlier transaction must not end one that its producer began since; the same again is harmless.
    if (options.transactionVersion >= 2 && header.producerEpoch == producer.epoch() &&
        producer.transactionStart() != kNoOffset)
      return fail(ErrorCode::InvalidProducerEpoch,
                  fmt::format("a marker of epoch {} cannot end the transaction that producer {} has open in that epoch",
                              header.producerEpoch, header.producerId));
    if (marker && producer.coordinatorEpoch() > marker->coordinatorEpoch)
      return fail(ErrorCode::TransactionCoordinatorFenced,
                  fmt::format("coordinator epoch {} of producer {} is older than the last one seen, {}",
                              marker->coordinatorEpoch, header.producerId, producer.coordinatorEpoch()));
    return {};
  }
  if (origin == Origin::Client) {
    if (header.producerEpoch != producer.epoch()) {
      if (header.baseSequence != 0 && producer.epoch().value() >= 0)
        return fail(ErrorCode::OutOfOrderSequenceNumber,
                    fmt::format("epoch {} of producer {} begins with sequence {} instead of 0 (its epoch was {})",
                                header.producerEpoch, header.producerId, header.baseSequence, producer.epoch()));
    } else if (!follows(producer.lastSequence(), header.baseSequence)) {
      return fail(ErrorCode::OutOfOrderSequenceNumber,
                  fmt::format("sequence {} of producer {} does not follow its last one, {}", header.baseSequence,
                              header.producerId, producer.lastSequence()));
    }
  }
  if (producer.transactionStart() != kNoOffset && !header.isTransactional())
    return fail(ErrorCode::InvalidTxnState,
                fmt::format("producer {} wrote outside the transaction that it began at offset {}", header.producerId,
                            producer.transactionStart()));
  return {};
}

std::optional<VerificationGuard> ProducerStateManager::beginVerification(ProducerId producerId, ProducerEpoch epoch,
                                                                         int32_t firstSequence, int64_t nowMs) {
  const auto found = producers_.find(producerId);
  if (found != producers_.end() && found->second.epoch() == epoch && found->second.transactionStart() != kNoOffset)
    return std::nullopt;
  Verification& verification = verifications_[producerId];
  if (verification.guard == 0 || verification.epoch != epoch)
    verification = {.guard = ++lastGuard_, .epoch = epoch, .lowestSequence = firstSequence, .sinceMs = nowMs};
  verification.lowestSequence = std::min(verification.lowestSequence, firstSequence);
  verification.sinceMs = nowMs;
  return verification.guard;
}

std::optional<ProducerStateManager::Verification> ProducerStateManager::nextVerification(
    const BatchHeader& marker) const {
  const auto found = verifications_.find(marker.producerId);
  if (found == verifications_.end() || found->second.epoch != marker.producerEpoch) return std::nullopt;
  return found->second;
}

Result<void> ProducerStateManager::checkVerified(const BatchHeader& header, VerificationGuard guard) const {
  const auto found = producers_.find(header.producerId);
  if (found != producers_.end() && found->second.epoch() == header.producerEpoch &&
      found->second.transactionStart() != kNoOffset)
    return {};
  if (guard == kNotAsked) {
    if (isMutated(Mutation::UnaskedAppended)) return {};
    // The client comes again, and then somebody is asked.
    return fail(ErrorCode::NotLeaderOrFollower,
                fmt::format("nobody has asked whether this partition is in the transaction of producer {}, since the "
                            "broker did not lead it then",
                            header.producerId));
  }
  const auto verification = verifications_.find(header.producerId);
  if (verification == verifications_.end() || verification->second.guard != guard)
    return fail(ErrorCode::InvalidTxnState,
                fmt::format("producer {} has no transaction open that this partition is in", header.producerId));
  if (header.baseSequence > verification->second.lowestSequence)
    return fail(ErrorCode::OutOfOrderSequenceNumber,
                fmt::format("sequence {} of producer {} comes before {}, which was sent first", header.baseSequence,
                            header.producerId, verification->second.lowestSequence));
  return {};
}

std::optional<EndedTransaction> ProducerStateManager::apply(const BatchHeader& header,
                                                            const std::optional<EndTxnMarker>& marker,
                                                            const LogOffsetMetadata& place) {
  if (!header.hasProducerId() || (header.isControl() && !marker)) return std::nullopt;
  ProducerEntry& producer = producers_.try_emplace(header.producerId, header.producerId).first->second;
  if (header.isTransactional() && !verifications_.empty()) verifications_.erase(header.producerId);
  if (!header.isControl()) {
    producer.addBatch(header.producerEpoch, rememberedAs(header));
    if (header.isTransactional() && producer.transactionStart() == kNoOffset) {
      producer.beginTransaction(header.baseOffset);
      open_[header.baseOffset] = {header.producerId, place};
    }
    return std::nullopt;
  }
  const Offset first = producer.transactionStart();
  producer.endTransaction(header.producerEpoch, marker->coordinatorEpoch, header.maxTimestampMs);
  if (first == kNoOffset) return std::nullopt;
  if (auto node = open_.extract(first)) {
    node.mapped().last = header.lastOffset();
    unreplicated_.insert(std::move(node));
  }
  return EndedTransaction{header.producerId, first, header.lastOffset(), !marker->commit,
                          open_.empty() ? header.nextOffset() : open_.begin()->first};
}

// --- retries that a snapshot forgot ---
std::optional<Offset> ProducerStateManager::forgottenBelow(const BatchHeader& header) const {
  if (!forgottenBelow_ || header.baseSequence == kNoSequence) return std::nullopt;
  const auto found = producers_.find(header.producerId);
  const bool may = found != producers_.end() && found->second.mayRecall(header.producerEpoch, header.lastSequence());
  return may ? forgottenBelow_ : std::nullopt;
}

void ProducerStateManager::recall(const BatchHeader& header) {
  if (header.isControl() || header.baseSequence == kNoSequence) return;
  if (const auto found = producers_.find(header.producerId); found != producers_.end())
    found->second.recallBatch(header.producerEpoch, rememberedAs(header));
}

// --- transactions ---
std::optional<LogOffsetMetadata> ProducerStateManager::firstUnstableOffset() const {
  std::optional<LogOffsetMetadata> first;
  for (const auto* transactions : {&open_, &unreplicated_}) {
    if (transactions->empty()) continue;
    const LogOffsetMetadata& candidate = transactions->begin()->second.first;
    if (!first || candidate.offset < first->offset) first = candidate;
  }
  return first;
}

Offset ProducerStateManager::transactionStart(ProducerId producer) const {
  const auto found = producers_.find(producer);
  return found == producers_.end() ? kNoOffset : found->second.transactionStart();
}

void ProducerStateManager::onHighWatermark(Offset highWatermark) {
  // In order of first offsets, while the marker lies below: one behind an unfinished one waits, as in Kafka.
  while (!unreplicated_.empty() && unreplicated_.begin()->second.last < highWatermark)
    unreplicated_.erase(unreplicated_.begin());
}

void ProducerStateManager::onLogStart(Offset logStart) {
  std::erase_if(unreplicated_, [logStart](const auto& entry) { return entry.second.last < logStart; });
  if (end_ < logStart) end_ = logStart;
  lastSnapshot_ = snapshots_.empty() ? logStart : snapshots_.back();
}

// --- looks ---
std::vector<ProducerInfo> ProducerStateManager::producers() const {
  std::vector<ProducerInfo> infos;
  infos.reserve(producers_.size());
  for (const auto& [id, producer] : producers_)
    infos.push_back({.producerId = id,
                     .producerEpoch = producer.epoch(),
                     .lastSequence = producer.lastSequence(),
                     .lastTimestampMs = producer.lastTimestampMs(),
                     .coordinatorEpoch = producer.coordinatorEpoch(),
                     .currentTransactionStartOffset = producer.transactionStart()});
  std::ranges::sort(infos, {}, [](const ProducerInfo& info) { return info.producerId; });
  return infos;
}

std::unordered_map<ProducerId, LastProducerRecord> ProducerStateManager::lastRecords() const {
  std::unordered_map<ProducerId, LastProducerRecord> records;
  records.reserve(producers_.size());
  for (const auto& [id, producer] : producers_)
    records[id] = {producer.hasBatches() ? std::optional(producer.lastBatch().lastOffset) : std::nullopt,
                   producer.epoch()};
  return records;
}

void ProducerStateManager::expire(int64_t nowMs, int64_t expirationMs) {
  std::erase_if(verifications_, [&](const auto& entry) { return nowMs - entry.second.sinceMs >= expirationMs; });
  std::erase_if(producers_, [&](const auto& entry) {
    return entry.second.transactionStart() == kNoOffset && nowMs - entry.second.lastTimestampMs() >= expirationMs;
  });
}

void ProducerStateManager::clear() {
  verifications_.clear();
  producers_.clear();
  open_.clear();
  unreplicated_.clear();
  forgottenBelow_.reset();
}

// --- disk ---
std::string ProducerStateManager::pathOf(Offset offset) const {
  return offsetFilePath(directory_, offset, kSnapshotSuffix);
}

void ProducerStateManager::adoptSnapshots(std::vector<Offset> offsets) {
  snapshots_ = std::move(offsets);
  std::ranges::sort(snapshots_);
}

Result<std::optional<std::string>> ProducerStateManager::takeSnapshot() {
  if (end_ <= lastSnapshot_) return std::nullopt;
  std::vector<const ProducerEntry*> entries;
  entries.reserve(producers_.size());
  for (const auto& [id, producer] : producers_) entries.push_back(&producer);
  std::ranges::sort(entries, {}, [](const ProducerEntry* entry) { return entry->id(); });
  const Offset offset = isMutated(Mutation::SnapshotNamedTooLow) ? Offset(end_.value() - 1) : end_;
  std::string path = pathOf(offset);
  TIDEMARK_ASSIGN(auto file, files_.open(path, platform::OpenMode::Truncate));
  TIDEMARK_TRY(file->writeAt(0, ByteView(encodeProducerSnapshot(entries))));
  if (snapshots_.empty() || snapshots_.back() < offset) snapshots_.push_back(offset);
  lastSnapshot_ = end_;
  return path;
}

Result<void> ProducerStateManager::loadSnapshot(Offset offset, int64_t nowMs, int64_t expirationMs) {
  TIDEMARK_ASSIGN(const ByteVector bytes, files_.readFile(pathOf(offset), kMaxSnapshot));
  TIDEMARK_ASSIGN(auto entries, decodeProducerSnapshot(bytes));
  for (ProducerEntry& entry : entries) {
    if (entry.transactionStart() == kNoOffset && nowMs - entry.lastTimestampMs() >= expirationMs) continue;
    if (entry.transactionStart() != kNoOffset)
      open_[entry.transactionStart()] = {entry.id(), {.offset = entry.transactionStart()}};
    producers_.insert_or_assign(entry.id(), entry);
  }
  return {};
}

Result<void> ProducerStateManager::reload(Offset logStart, Offset logEnd, int64_t nowMs, int64_t expirationMs,
                                          Offset notAbove) {
  const auto outside = [&](Offset offset) { return offset > logEnd || offset <= logStart; };
  for (const Offset offset : std::vector<Offset>(snapshots_))
    if (outside(offset)) TIDEMARK_TRY(removeSnapshot(offset));
  if (end_ == logEnd) {
    onLogStart(logStart);
    return {};
  }
  clear();
  end_ = lastSnapshot_ = logStart;
  for (size_t i = snapshots_.size(); i-- > 0;) {
    const Offset newest = snapshots_[i];
    if (newest > notAbove) continue;
    const auto loaded = loadSnapshot(newest, nowMs, expirationMs);
    if (loaded) {
      end_ = newest;
      forgottenBelow_ = newest;
      break;
    }
    if (loaded.error().code != ErrorCode::CorruptMessage) return loaded;
    logger_.warning("log", "{} is damaged and is removed: {}", pathOf(newest), loaded.error().message);
    clear();
    TIDEMARK_TRY(removeSnapshot(newest));
  }
  if (!snapshots_.empty()) lastSnapshot_ = snapshots_.back();
  return {};
}

Result<void> ProducerStateManager::adoptProducers(int64_t nowMs, int64_t expirationMs) {
  const auto above = std::ranges::upper_bound(snapshots_, end_);
  if (above == snapshots_.begin()) return {};
  const Offset newest = *std::prev(above);
  TIDEMARK_ASSIGN(const ByteVector bytes, files_.readFile(pathOf(newest), kMaxSnapshot));
  const auto entries = decodeProducerSnapshot(bytes);
  if (!entries) return {};
  for (const ProducerEntry& entry : *entries) {
    if (entry.transactionStart() == kNoOffset && nowMs - entry.lastTimestampMs() >= expirationMs) continue;
    const auto applied = producers_.find(entry.id());
    if (applied != producers_.end() && applied->second.hasBatches()) continue;
    if (applied != producers_.end() && newest < end_) {
      // What came after the snapshot was applied: a marker, which says more than it but of the sequences.
      if (applied->second.epoch() == entry.epoch() && entry.hasBatches()) applied->second.adoptBatch(entry.lastBatch());
      continue;
    }
    if (entry.transactionStart() != kNoOffset)
      open_.try_emplace(entry.transactionStart(), OpenTransaction{entry.id(), {.offset = entry.transactionStart()}});
    producers_.insert_or_assign(entry.id(), entry);
  }
  return {};
}

Result<void> ProducerStateManager::resetTo(Offset offset) {
  clear();
  for (const Offset snapshot : std::vector<Offset>(snapshots_)) TIDEMARK_TRY(removeSnapshot(snapshot));
  end_ = lastSnapshot_ = offset;
  return {};
}

Result<void> ProducerStateManager::removeSnapshot(Offset offset) {
  std::erase(snapshots_, offset);
  const std::string path = pathOf(offset);
  if (!files_.exists(path)) return {};
  return files_.remove(path);
}

Result<void> ProducerStateManager::removeStraySnapshots(const std::vector<Offset>& segmentBases) {
  if (snapshots_.empty()) return {};
  const Offset newest = snapshots_.back();
  for (const Offset offset : std::vector<Offset>(snapshots_))
    if (offset != newest && std::ranges::find(segmentBases, offset) == segmentBases.end())
      TIDEMARK_TRY(removeSnapshot(offset));
  return {};
}

}  // namespace tidemark::log
