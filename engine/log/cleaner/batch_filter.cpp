#include "log/cleaner/batch_filter.h"

#include <limits>

#include <fmt/format.h>

#include "records/batch_builder.h"

namespace tidemark::log {

using records::BatchHeader;
using records::BatchView;
using records::RecordCursor;
using records::RecordView;
using records::Step;

Result<void> BatchFilter::chooseRecords(const BatchView& batch, const BatchVerdict& verdict,
                                        const std::function<bool(const RecordCursor&)>& keep, FilteredBatch& result) {
  kept_.clear();
  if (verdict.discardRecords) {
    result.recordsRead = batch.header.recordCount;
    return {};
  }
  TIDEMARK_ASSIGN(const ByteView payload, records::openPayload(batch, payload_));
  RecordCursor cursor(batch.header, payload);
  Step step = cursor.next();
  for (; step == Step::Next; step = cursor.next()) {
    ++result.recordsRead;
    const bool kept = keep(cursor);
    // Most of what is read goes: only of what stays a view is made.
    if (kept) kept_.push_back(cursor.record());
    if (!cursor.hasValue()) ++(kept ? result.tombstonesKept : result.tombstonesDropped);
  }
  if (step == Step::Corrupt)
    return fail(ErrorCode::CorruptMessage,
                fmt::format("the batch at offset {} cannot be read: {}", batch.header.baseOffset, cursor.reason()));
  return {};
}

Result<FilteredBatch> BatchFilter::filter(const BatchView& batch, const BatchVerdict& verdict,
                                          const std::function<bool(const RecordCursor&)>& keep, ByteVector& output) {
  FilteredBatch result;
  TIDEMARK_TRY(chooseRecords(batch, verdict, keep, result));
  return write(batch, verdict, result, output);
}

Result<FilteredBatch> BatchFilter::filterPlaced(const BatchView& batch, const BatchVerdict& verdict,
                                                std::span<const PlacedRecord> records,
                                                const std::function<bool(const RecordCursor&)>& keep,
                                                ByteVector& output) {
  FilteredBatch result{.recordsRead = batch.header.recordCount};
  kept_.clear();
  for (const PlacedRecord& record : records) {
    RecordCursor cursor(batch.header, batch.bytes.subspan(record.place));
    if (cursor.next() != Step::Next || cursor.offset() != record.offset)
      return fail(ErrorCode::CorruptMessage, fmt::format("the record at offset {} is not where it was before: {}",
                                                         record.offset, cursor.reason()));
    if (!keep(cursor)) continue;
    kept_.push_back(cursor.record());
    if (!cursor.hasValue()) ++result.tombstonesKept;
  }
  return write(batch, verdict, result, output);
}

FilteredBatch BatchFilter::copy(const BatchView& batch, ByteVector& output) {
  output.insert(output.end(), batch.bytes.begin(), batch.bytes.end());
  return {.header = batch.header, .recordsRead = batch.header.recordCount, .recordsKept = batch.header.recordCount};
}

FilteredBatch BatchFilter::empty(const BatchView& batch, const BatchVerdict& verdict, ByteVector& output) {
  FilteredBatch result{.recordsRead = batch.header.recordCount};
  if (verdict.whenEmpty == EmptyBatch::Dropped) return result;
  const ByteVector bytes = emptied(batch.header);
  output.insert(output.end(), bytes.begin(), bytes.end());
  result.header = BatchHeader::read(bytes.data());
  return result;
}

FilteredBatch BatchFilter::write(const BatchView& batch, const BatchVerdict& verdict, FilteredBatch result,
                                 ByteVector& output) {
  const BatchHeader& header = batch.header;
  result.recordsKept = static_cast<int32_t>(kept_.size());
  if (kept_.empty()) {
    const FilteredBatch left = empty(batch, verdict, output);
    result.header = left.header;
    return result;
  }
  const size_t start = output.size();
  const bool needsHorizon = (result.tombstonesKept > 0 || verdict.markerOfGoneTransaction) && !header.deleteHorizonMs();
  if (result.recordsKept == result.recordsRead && !needsHorizon) {
    output.insert(output.end(), batch.bytes.begin(), batch.bytes.end());
  } else {
    const int64_t latest = std::numeric_limits<int64_t>::max();
    const int64_t horizon = nowMs_ > latest - deleteRetentionMs_ ? latest : nowMs_ + deleteRetentionMs_;
    rebuild(header, needsHorizon ? std::optional(horizon) : header.deleteHorizonMs(), output);
  }
  result.header = BatchHeader::read(output.data() + start);
  return result;
}

void BatchFilter::rebuild(const BatchHeader& header, std::optional<int64_t> horizonMs, ByteVector& output) {
  records::BatchOptions options;
  options.baseOffset = header.baseOffset;
  options.leaderEpoch = header.leaderEpoch;
  options.codec = header.codec();
  options.timestampType = header.timestampType();
  options.logAppendTimeMs = header.maxTimestampMs;
  options.producerId = header.producerId;
  options.producerEpoch = header.producerEpoch;
  options.baseSequence = header.baseSequence;
  options.transactional = header.isTransactional();
  options.control = header.isControl();
  options.deleteHorizonMs = horizonMs;
  records::BatchBuilder builder(options, std::move(output));
  for (const RecordView& record : kept_) builder.appendCopy(record);
  output = builder.build(header.lastOffsetDelta);
}

ByteVector BatchFilter::emptied(const BatchHeader& header) {
  BatchHeader left = header;
  left.length = static_cast<int32_t>(records::kBatchHeaderSize - records::kLogOverhead);
  // Neither codec nor horizon: there is nothing they could be about.
  left.attributes = static_cast<int16_t>(
      header.attributes & (records::kLogAppendTimeBit | records::kTransactionalBit | records::kControlBit));
  left.baseTimestampMs = records::kNoTimestamp;
  left.recordCount = 0;
  ByteVector bytes(records::kBatchHeaderSize);
  left.write(bytes.data());
  records::updateCrc(bytes);
  return bytes;
}

}  // namespace tidemark::log
