#include "records/batch_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/invariant.h"
#include "base/varint.h"

namespace tidemark::records {
namespace {

size_t varintSize(int64_t value) {
  return unsignedVarintSize(zigZag(value));
}

size_t nullableSize(std::optional<ByteView> bytes) {
  return bytes ? varintSize(static_cast<int64_t>(bytes->size())) + bytes->size() : 1;
}

size_t bodySize(int64_t timestampDelta, int32_t offsetDelta, std::optional<ByteView> key, std::optional<ByteView> value,
                std::span<const RecordHeader> headers) {
  size_t size = 1 + varintSize(timestampDelta) + varintSize(offsetDelta) + nullableSize(key) + nullableSize(value) +
                varintSize(static_cast<int64_t>(headers.size()));
  for (const RecordHeader& header : headers) size += nullableSize(header.key) + nullableSize(header.value);
  return size;
}

uint8_t* writeVarint(uint8_t* to, int64_t value) {
  return writeUnsignedVarint(to, zigZag(value));
}

uint8_t* writeNullable(uint8_t* to, std::optional<ByteView> bytes) {
  if (!bytes) return writeVarint(to, -1);
  return std::copy(bytes->begin(), bytes->end(), writeVarint(to, static_cast<int64_t>(bytes->size())));
}

}  // namespace

BatchBuilder::BatchBuilder(BatchOptions options, ByteVector buffer)
    : options_(options), buffer_(std::move(buffer)), start_(buffer_.size()) {
  buffer_.resize(start_ + kBatchHeaderSize);
  if (options_.deleteHorizonMs) baseTimestampMs_ = *options_.deleteHorizonMs;
}

size_t BatchBuilder::recordSizeLimit(std::optional<ByteView> key, std::optional<ByteView> value,
                                     std::span<const RecordHeader> headers) noexcept {
  return kMaxVarintSize + bodySize(INT64_MAX, INT32_MAX, key, value, headers);
}

void BatchBuilder::append(int64_t timestampMs, std::optional<ByteView> key, std::optional<ByteView> value,
                          std::span<const RecordHeader> headers) {
  appendAt(options_.baseOffset + (lastOffsetDelta_ + 1), timestampMs, key, value, headers);
}

BatchBuilder::Deltas BatchBuilder::note(Offset offset, int64_t timestampMs) {
  const int64_t delta = offset - options_.baseOffset;
  TIDEMARK_INVARIANT(
      delta > lastOffsetDelta_ && delta <= INT32_MAX,
      fmt::format("offset {} after {} in a batch from {}", offset, lastOffsetDelta_, options_.baseOffset));
  if (count_ == 0 && !options_.deleteHorizonMs) baseTimestampMs_ = timestampMs;
  const auto timestampDelta =
      static_cast<int64_t>(static_cast<uint64_t>(timestampMs) - static_cast<uint64_t>(baseTimestampMs_));
  maxTimestampMs_ = std::max(maxTimestampMs_, timestampMs);
  lastOffsetDelta_ = static_cast<int32_t>(delta);
  ++count_;
  return {timestampDelta, lastOffsetDelta_};
}

void BatchBuilder::appendAt(Offset offset, int64_t timestampMs, std::optional<ByteView> key,
                            std::optional<ByteView> value, std::span<const RecordHeader> headers) {
  const auto [timestampDelta, offsetDelta] = note(offset, timestampMs);
  const size_t body = bodySize(timestampDelta, offsetDelta, key, value, headers);
  const size_t start = buffer_.size();
  buffer_.resize(start + varintSize(static_cast<int64_t>(body)) + body);
  uint8_t* to = writeVarint(buffer_.data() + start, static_cast<int64_t>(body));
  *to++ = 0;
  to = writeVarint(to, timestampDelta);
  to = writeVarint(to, offsetDelta);
  to = writeNullable(to, key);
  to = writeNullable(to, value);
  to = writeVarint(to, static_cast<int64_t>(headers.size()));
  for (const RecordHeader& header : headers) to = writeNullable(writeNullable(to, header.key), header.value);
  TIDEMARK_INVARIANT(to == buffer_.data() + buffer_.size(), std::string("a record of another size than computed"));
}

void BatchBuilder::appendCopy(const RecordView& record) {
  const int64_t timestampDelta = note(record.offset, record.timestampMs).timestamp;
  // Length, attributes and timestamp are written anew, what is behind them stands.
  ByteView rest = record.bytes;
  bool whole = takeUnsignedVarint<uint32_t>(rest).has_value() && !rest.empty();
  if (whole) rest = rest.subspan(1);
  whole = whole && takeUnsignedVarint<uint64_t>(rest).has_value();
  TIDEMARK_INVARIANT(whole, std::string("a record to be copied is none"));
  const size_t body = 1 + varintSize(timestampDelta) + rest.size();
  uint8_t front[kMaxVarintSize + 1 + kMaxVarlongSize];
  uint8_t* to = writeVarint(front, static_cast<int64_t>(body));
  *to++ = 0;
  to = writeVarint(to, timestampDelta);
  buffer_.insert(buffer_.end(), front, to);
  buffer_.insert(buffer_.end(), rest.begin(), rest.end());
}

ByteVector BatchBuilder::build(std::optional<int32_t> lastOffsetDelta) {
  const Codec codec = count_ == 0 ? Codec::None : options_.codec;
  if (codec != Codec::None) {
    const auto records = buffer_.begin() + static_cast<ptrdiff_t>(start_ + kBatchHeaderSize);
    ByteVector compressed;
    const Result<void> done = compress(codec, options_.level, ByteView(records, buffer_.end()), compressed);
    TIDEMARK_INVARIANT(done.has_value(), done.error().message);
    buffer_.erase(records, buffer_.end());
    buffer_.insert(buffer_.end(), compressed.begin(), compressed.end());
  }

  BatchHeader header;
  header.baseOffset = options_.baseOffset;
  header.length = static_cast<int32_t>(buffer_.size() - start_ - kLogOverhead);
  header.leaderEpoch = options_.leaderEpoch;
  header.attributes = static_cast<int16_t>(
      static_cast<int>(codec) | (options_.timestampType == TimestampType::LogAppendTime ? kLogAppendTimeBit : 0) |
      (options_.transactional ? kTransactionalBit : 0) | (options_.control ? kControlBit : 0) |
      (options_.deleteHorizonMs ? kDeleteHorizonBit : 0));
  header.lastOffsetDelta = lastOffsetDelta.value_or(std::max(lastOffsetDelta_, 0));
  header.baseTimestampMs = baseTimestampMs_;
  header.maxTimestampMs =
      options_.timestampType == TimestampType::LogAppendTime ? options_.logAppendTimeMs : maxTimestampMs_;
  header.producerId = options_.producerId;
  header.producerEpoch = options_.producerEpoch;
  header.baseSequence = options_.baseSequence;
  header.recordCount = count_;
  header.write(buffer_.data() + start_);
  updateCrc(MutableBytes(buffer_).subspan(start_));
  return std::move(buffer_);
}

void updateCrc(MutableBytes batch) noexcept {
  writeBigEndian<uint32_t>(batch.data() + kCrcAt, crc32c(batch.subspan(kAttributesAt)));
}

}  // namespace tidemark::records
