#include "log/batch_walk.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

// What a log knows of its producers, beside what each append tells.

namespace tidemark::log {

namespace {

/// So far back the log is searched for batches that a snapshot does not tell. Their headers are read, under the log's
/// lock, once after a truncation or a start, if anybody asks: some milliseconds where all batches are small.
constexpr uint64_t kRecalledBytes = 32u << 20;

}  // namespace

Result<void> PartitionLog::rebuildProducers() {
  ProducerStateManager& producers = *producers_;
  TIDEMARK_TRY(producers.reload(logStart_, logEnd_.offset, context_.clock->wallMs(), config_->producerIdExpirationMs,
                                highWatermark_.offset));
  if (producers.end() < logEnd_.offset)
    TIDEMARK_TRY(forEachBatch(
        *segments_, std::max(producers.end(), logStart_), logEnd_.offset,
        [&producers](const records::BatchHeader& header, const std::optional<records::EndTxnMarker>& marker,
                     const LogOffsetMetadata& place) { producers.apply(header, marker, place); }));
  producers.advanceTo(logEnd_.offset);
  // Snapshots above the high watermark were passed over for the sake of transactions; sequences they know as well.
  if (highWatermark_.offset < logEnd_.offset)
    TIDEMARK_TRY(producers.adoptProducers(context_.clock->wallMs(), config_->producerIdExpirationMs));
  TIDEMARK_TRY(producers.takeSnapshot());
  producers.onHighWatermark(highWatermark_.offset);
  return {};
}

Result<const ProducerBatch*> PartitionLog::findDuplicate(const records::BatchHeader& header) {
  ProducerStateManager& producers = *producers_;
  if (const ProducerBatch* remembered = producers.findDuplicate(header)) return remembered;
  const auto below = producers.forgottenBelow(header);
  if (!below) return nullptr;
  TIDEMARK_ASSIGN(const Offset from, offsetBefore(*below, kRecalledBytes));
  TIDEMARK_TRY(forEachBatch(
      *segments_, from, *below,
      [&producers](const records::BatchHeader& earlier, const auto&, const auto&) { producers.recall(earlier); }));
  producers.endRecall();
  return producers.findDuplicate(header);
}

Result<Offset> PartitionLog::offsetBefore(Offset offset, uint64_t bytes) const {
  size_t index = segments_->floorIndex(offset);
  if (index == segments_->size()) return logStart_;
  TIDEMARK_ASSIGN(const auto found, segments_->at(index)->find(offset, segments_->at(index)->size()));
  uint64_t end = found ? found->position : segments_->at(index)->size();
  while (end <= bytes) {
    bytes -= end;
    if (index == 0) return logStart_;
    end = segments_->at(--index)->size();
  }
  TIDEMARK_ASSIGN(const Offset start, segments_->at(index)->boundOfBytes(end - bytes, offset));
  return std::max(start, logStart_);
}

std::optional<VerificationGuard> PartitionLog::beginVerification(ProducerId producerId, ProducerEpoch epoch,
                                                                 int32_t firstSequence) {
  const Lock lock(mutex_);
  return producers_->beginVerification(producerId, epoch, firstSequence, context_.clock->wallMs());
}

void PartitionLog::expireProducers() {
  const Lock lock(mutex_);
  producers_->expire(context_.clock->wallMs(), config_->producerIdExpirationMs);
}

}  // namespace tidemark::log
