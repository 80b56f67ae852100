#include "records/batch.h"

namespace tidemark::records {

BatchHeader BatchHeader::read(const uint8_t* bytes) noexcept {
  BatchHeader header;
  header.baseOffset = Offset(readBigEndian<int64_t>(bytes + kBaseOffsetAt));
  header.length = readBigEndian<int32_t>(bytes + kLengthAt);
  header.leaderEpoch = LeaderEpoch(readBigEndian<int32_t>(bytes + kLeaderEpochAt));
  header.magic = static_cast<int8_t>(bytes[kMagicAt]);
  header.crc = readBigEndian<uint32_t>(bytes + kCrcAt);
  header.attributes = readBigEndian<int16_t>(bytes + kAttributesAt);
  header.lastOffsetDelta = readBigEndian<int32_t>(bytes + kLastOffsetDeltaAt);
  header.baseTimestampMs = readBigEndian<int64_t>(bytes + kBaseTimestampAt);
  header.maxTimestampMs = readBigEndian<int64_t>(bytes + kMaxTimestampAt);
  header.producerId = ProducerId(readBigEndian<int64_t>(bytes + kProducerIdAt));
  header.producerEpoch = ProducerEpoch(readBigEndian<int16_t>(bytes + kProducerEpochAt));
  header.baseSequence = readBigEndian<int32_t>(bytes + kBaseSequenceAt);
  header.recordCount = readBigEndian<int32_t>(bytes + kCountAt);
  return header;
}

void BatchHeader::write(uint8_t* to) const noexcept {
  writeBigEndian<int64_t>(to + kBaseOffsetAt, baseOffset.value());
  writeBigEndian<int32_t>(to + kLengthAt, length);
  writeBigEndian<int32_t>(to + kLeaderEpochAt, leaderEpoch.value());
  to[kMagicAt] = static_cast<uint8_t>(magic);
  writeBigEndian<uint32_t>(to + kCrcAt, crc);
  writeBigEndian<int16_t>(to + kAttributesAt, attributes);
  writeBigEndian<int32_t>(to + kLastOffsetDeltaAt, lastOffsetDelta);
  writeBigEndian<int64_t>(to + kBaseTimestampAt, baseTimestampMs);
  writeBigEndian<int64_t>(to + kMaxTimestampAt, maxTimestampMs);
  writeBigEndian<int64_t>(to + kProducerIdAt, producerId.value());
  writeBigEndian<int16_t>(to + kProducerEpochAt, producerEpoch.value());
  writeBigEndian<int32_t>(to + kBaseSequenceAt, baseSequence);
  writeBigEndian<int32_t>(to + kCountAt, recordCount);
}

std::string_view describe(CorruptReason reason) noexcept {
  switch (reason) {
    case CorruptReason::None:
      return "nothing";
    case CorruptReason::Incomplete:
      return "the batch is cut off";
    case CorruptReason::BadLength:
      return "a length that no batch can have";
    case CorruptReason::BadMagic:
      return "a format other than 2";
    case CorruptReason::BadChecksum:
      return "the checksum does not match";
    case CorruptReason::OutOfOrder:
      return "offsets or an epoch that do not follow";
  }
  return "";
}

Step BatchCursor::next() noexcept {
  if (reason_ != CorruptReason::None) return Step::Corrupt;
  const ByteView left = bytes_.subspan(position_);
  if (left.empty()) return Step::End;
  if (left.size() < kSizeAndMagic) return corrupt(CorruptReason::Incomplete);
  if (static_cast<int8_t>(left[kMagicAt]) != kMagic) return corrupt(CorruptReason::BadMagic);
  const int32_t length = readBigEndian<int32_t>(left.data() + kLengthAt);
  if (length < static_cast<int32_t>(kBatchHeaderSize - kLogOverhead)) return corrupt(CorruptReason::BadLength);
  const size_t size = kLogOverhead + static_cast<size_t>(length);
  if (size > left.size()) return corrupt(CorruptReason::Incomplete);
  batch_ = {BatchHeader::read(left.data()), left.first(size)};
  if (check_ == Check::Checksum && !batch_.isCrcValid()) return corrupt(CorruptReason::BadChecksum);
  position_ += size;
  return Step::Next;
}

void stamp(MutableBytes batch, Offset baseOffset, LeaderEpoch leaderEpoch) noexcept {
  writeBigEndian<int64_t>(batch.data() + kBaseOffsetAt, baseOffset.value());
  writeBigEndian<int32_t>(batch.data() + kLeaderEpochAt, leaderEpoch.value());
}

}  // namespace tidemark::records
