#include "records/validator.h"

#include <algorithm>

#include <fmt/format.h>

#include "records/batch_builder.h"
#include "records/record.h"

namespace tidemark::records {
namespace {

/// More refused records than this are not listed one by one.
constexpr size_t kMaxRecordErrors = 10000;
constexpr int16_t kFirstVersionWithZstd = 7;

std::unexpected<ProduceFailure> refuse(ErrorCode code, std::string message) {
  return std::unexpected(ProduceFailure{{code, std::move(message)}, {}});
}

/// The one batch that the bytes hold. An incomplete one behind it is ignored, as Kafka does.
std::expected<BatchView, ProduceFailure> onlyBatch(ByteView records) {
  BatchCursor cursor(records);
  switch (cursor.next()) {
    case Step::Next:
      break;
    case Step::End:
      return refuse(ErrorCode::InvalidRecord, "the records hold no batch");
    case Step::Corrupt:
      if (cursor.reason() == CorruptReason::BadMagic) {
        return refuse(ErrorCode::InvalidRecord, "the records are not of format 2");
      }
      if (cursor.reason() == CorruptReason::Incomplete) {
        return refuse(ErrorCode::InvalidRecord, "the records hold no whole batch");
      }
      return refuse(ErrorCode::CorruptMessage, fmt::format("the batch is corrupt: {}", describe(cursor.reason())));
  }
  const BatchView batch = cursor.batch();
  const Step more = cursor.next();
  if (more == Step::Next || (more == Step::Corrupt && cursor.reason() != CorruptReason::Incomplete)) {
    return refuse(ErrorCode::InvalidRecord, "the records hold more than one batch");
  }
  return batch;
}

std::expected<void, ProduceFailure> checkHeader(const BatchView& batch, const ProduceOptions& options) {
  const BatchHeader& header = batch.header;
  if (!codecByNumber(header.codecNumber())) {
    return refuse(ErrorCode::UnsupportedCompressionType, fmt::format("codec {} does not exist", header.codecNumber()));
  }
  if (options.origin == Origin::Client && header.codec() == Codec::Zstd && options.apiVersion < kFirstVersionWithZstd) {
    return refuse(ErrorCode::UnsupportedCompressionType,
                  fmt::format("Produce version {} may not carry zstd; version 7 may", options.apiVersion));
  }
  if (options.origin == Origin::Client && header.baseOffset != Offset(0)) {
    return refuse(ErrorCode::InvalidRecord, fmt::format("base offset {} where a client writes 0", header.baseOffset));
  }
  if (batch.bytes.size() > static_cast<size_t>(std::max(options.maxMessageBytes, 0))) {
    return refuse(ErrorCode::MessageTooLarge, fmt::format("a batch of {} bytes where max.message.bytes is {}",
                                                          batch.bytes.size(), options.maxMessageBytes));
  }
  if (!batch.isCrcValid()) {
    return refuse(ErrorCode::CorruptMessage, fmt::format("the batch's stored CRC {} is not {}, the CRC of its bytes",
                                                         header.crc, batch.computeCrc()));
  }
  if (options.origin != Origin::Client) return {};
  if (header.lastOffsetDelta < 0 || header.recordCount <= 0 ||
      int64_t{header.lastOffsetDelta} + 1 != header.recordCount) {
    return refuse(ErrorCode::InvalidRecord, fmt::format("last offset delta {} and a count of {} records disagree",
                                                        header.lastOffsetDelta, header.recordCount));
  }
  if (header.isControl()) return refuse(ErrorCode::InvalidRecord, "clients may not write control records");
  if (header.hasProducerId() && header.baseSequence < 0) {
    return refuse(ErrorCode::InvalidRecord,
                  fmt::format("producer {} gives no valid sequence but {}", header.producerId, header.baseSequence));
  }
  return {};
}

/// Java's long subtraction: wraps.
int64_t wrappingDifference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

int64_t saturatingSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? INT64_MIN : INT64_MAX;
}

/// What the records themselves say, found in one walk over them.
class Walk {
 public:
  Walk(const BatchHeader& header, const ProduceOptions& options) : header_(header), options_(options) {}

  std::expected<void, ProduceFailure> over(ByteView payload) {
    RecordCursor cursor(header_, payload);
    // At hand, and not asked of objects that a step of the cursor might have changed, for all that a compiler knows.
    const bool everyRecordIsLookedAt = options_.compacted || header_.timestampType() == TimestampType::LogAppendTime;
    const bool ofAnyAge = options_.timestampType != TimestampType::CreateTime;
    const int64_t oldestMs = ofAnyAge ? INT64_MIN : saturatingSum(options_.nowMs, -options_.timestampBeforeMaxMs);
    const int64_t newestMs = ofAnyAge ? INT64_MAX : saturatingSum(options_.nowMs, options_.timestampAfterMaxMs);
    const int64_t baseTimestampMs = header_.baseTimestampMs;
    int64_t maxTimestampMs = kNoTimestamp;
    bool dense = true;
    int32_t index = 0;
    for (Step step = cursor.next(); step != Step::End; step = cursor.next(), ++index) {
      if (step == Step::Corrupt) {
        return refuse(ErrorCode::InvalidRecord, fmt::format("record {} cannot be read: {}", index, cursor.reason()));
      }
      const int64_t timestampMs = cursor.createTimeMs(baseTimestampMs);
      if (everyRecordIsLookedAt || timestampMs < oldestMs || timestampMs > newestMs) [[unlikely]]
        check(cursor, index);
      maxTimestampMs = std::max(maxTimestampMs, timestampMs);
      dense &= cursor.offsetDelta() == index;
    }
    maxTimestampMs_ = header_.timestampType() == TimestampType::LogAppendTime ? header_.maxTimestampMs : maxTimestampMs;
    offsetsAreDense_ = dense;
    if (errors_.empty()) return {};
    return std::unexpected(failure());
  }

  int64_t maxTimestampMs() const { return maxTimestampMs_; }
  bool offsetsAreDense() const { return offsetsAreDense_; }

 private:
  void check(const RecordCursor& record, int32_t index) {
    if (options_.compacted && !record.hasKey()) [[unlikely]] {
      add(index, "Compacted topic cannot accept message without key");
      return;
    }
    const int64_t timestampMs = record.timestampMs();
    if (options_.timestampType == TimestampType::CreateTime && timestampMs != kNoTimestamp) {
      const int64_t age = wrappingDifference(options_.nowMs, timestampMs);
      if (age > options_.timestampBeforeMaxMs || wrappingDifference(0, age) > options_.timestampAfterMaxMs)
          [[unlikely]] {
        badTimestamp_ = true;
        add(index,
            fmt::format("Timestamp {} of message with offset {} is out of range. The timestamp should be within "
                        "[{}, {}]",
                        timestampMs, record.offset(), wrappingDifference(options_.nowMs, options_.timestampBeforeMaxMs),
                        wrappingDifference(options_.nowMs, wrappingDifference(0, options_.timestampAfterMaxMs))));
      }
    } else if (header_.timestampType() == TimestampType::LogAppendTime) [[unlikely]] {
      badTimestamp_ = true;
      add(index, "Producer should not set timestamp type to LogAppendTime");
    }
  }

  void add(int32_t index, std::string message) {
    ++refused_;
    if (errors_.size() < kMaxRecordErrors) errors_.push_back({index, std::move(message)});
  }

  ProduceFailure failure() {
    if (badTimestamp_) {
      return {{ErrorCode::InvalidTimestamp, "One or more records have been rejected due to invalid timestamp"},
              std::move(errors_)};
    }
    return {{ErrorCode::InvalidRecord, fmt::format("One or more records have been rejected due to {} record errors in "
                                                   "total; the first: record {}: {}",
                                                   refused_, errors_.front().batchIndex, errors_.front().message)},
            std::move(errors_)};
  }

  const BatchHeader& header_;
  const ProduceOptions& options_;
  int64_t maxTimestampMs_ = kNoTimestamp;
  bool offsetsAreDense_ = true;
  bool badTimestamp_ = false;
  size_t refused_ = 0;
  std::vector<RecordError> errors_;
};

/// The batch with another codec, or with offsets in order.
ByteVector rebuild(const BatchHeader& header, ByteView payload, Codec codec, const ProduceOptions& options) {
  BatchOptions target;
  target.baseOffset = header.baseOffset;
  target.leaderEpoch = header.leaderEpoch;
  target.codec = codec;
  target.level = options.compression.codec ? options.compression.level : kDefaultLevel;
  target.timestampType = options.timestampType;
  target.logAppendTimeMs = options.nowMs;
  target.producerId = header.producerId;
  target.producerEpoch = header.producerEpoch;
  target.baseSequence = header.baseSequence;
  target.transactional = header.isTransactional();
  target.control = header.isControl();
  BatchBuilder builder(target);
  RecordCursor cursor(header, payload);
  std::vector<RecordHeader> recordHeaders;
  while (cursor.next() == Step::Next) {
    const RecordView record = cursor.record();
    recordHeaders.clear();
    HeaderCursor headers = record.headers();
    while (const std::optional<RecordHeader> one = headers.next()) recordHeaders.push_back(*one);
    builder.append(record.timestampMs, record.key, record.value, recordHeaders);
  }
  return builder.build();
}

/// Writes timestamp type and max timestamp into the batch where they differ.
void setTimestamp(MutableBytes batch, BatchHeader& header, TimestampType type, int64_t maxTimestampMs) {
  if (header.timestampType() == type && header.maxTimestampMs == maxTimestampMs) return;
  header.attributes =
      static_cast<int16_t>(type == TimestampType::LogAppendTime ? header.attributes | kLogAppendTimeBit
                                                                : header.attributes & ~kLogAppendTimeBit);
  header.maxTimestampMs = maxTimestampMs;
  writeBigEndian<int16_t>(batch.data() + kAttributesAt, header.attributes);
  writeBigEndian<int64_t>(batch.data() + kMaxTimestampAt, maxTimestampMs);
  updateCrc(batch);
  header.crc = readBigEndian<uint32_t>(batch.data() + kCrcAt);
}

}  // namespace

std::expected<ValidatedBatch, ProduceFailure> validateForProduce(MutableBytes records, const ProduceOptions& options,
                                                                 ByteVector& buffer) {
  TIDEMARK_ASSIGN(const BatchView batch, onlyBatch(records));
  TIDEMARK_TRY(checkHeader(batch, options));

  Result<ByteView> payload = openPayload(batch, buffer, options.decompressedLimit);
  if (!payload) {
    // The CRC was right, so the client wrote what cannot be read: not a fault of the way, and no use to try again.
    const bool tooLarge = payload.error().code == ErrorCode::RecordListTooLarge;
    return refuse(tooLarge ? ErrorCode::MessageTooLarge : ErrorCode::InvalidRecord, std::move(payload.error().message));
  }
  Walk walk(batch.header, options);
  TIDEMARK_TRY(walk.over(*payload));

  ValidatedBatch valid;
  valid.header = batch.header;
  const bool logAppendTime = options.timestampType == TimestampType::LogAppendTime;
  valid.maxTimestampMs = logAppendTime ? options.nowMs : walk.maxTimestampMs();
  if (logAppendTime) valid.logAppendTimeMs = options.nowMs;

  const Codec source = batch.header.codec();
  // Control records are not compressed unless they came so.
  const bool keepCodec = batch.header.isControl() && source == Codec::None;
  const Codec target = keepCodec ? source : options.compression.codec.value_or(source);
  const bool renumber = options.origin == Origin::Client && !walk.offsetsAreDense();
  if (target != source || renumber) {
    valid.rewritten = rebuild(batch.header, *payload, target, options);
    valid.header = BatchHeader::read(valid.rewritten->data());
    if (valid.rewritten->size() > static_cast<size_t>(std::max(options.maxMessageBytes, 0))) {
      return refuse(ErrorCode::MessageTooLarge,
                    fmt::format("a batch of {} bytes, once compressed anew, where max.message.bytes is {}",
                                valid.rewritten->size(), options.maxMessageBytes));
    }
    return valid;
  }
  setTimestamp(records.first(batch.bytes.size()), valid.header, options.timestampType, valid.maxTimestampMs);
  return valid;
}

}  // namespace tidemark::records
