#include "inspect/batch_reader.h"

#include <algorithm>

namespace tidemark::inspect {

using records::CorruptReason;

namespace {

constexpr uint64_t kChunk = 1u << 20;
/// Offset, size, CRC, magic, attributes, and two lengths: the smallest message of format 0.
constexpr int32_t kSmallestOldMessage = 14;

}  // namespace

Result<ByteView> BatchReader::load(uint64_t wanted) {
  const uint64_t have = bufferStart_ + buffer_.size();
  if (next_ < bufferStart_ || next_ + wanted > have) {
    const uint64_t size = std::min(std::max(kChunk, wanted), end_ - next_);
    buffer_.resize(size);
    bufferStart_ = next_;
    TIDEMARK_ASSIGN(const size_t got, file_.readAt(next_, buffer_));
    buffer_.resize(got);
  }
  return ByteView(buffer_).subspan(next_ - bufferStart_);
}

Result<BatchReader::Item> BatchReader::next() {
  if (reason_ != CorruptReason::None) return Item::Damaged;
  position_ = next_;
  if (next_ >= end_) return Item::End;
  const auto damaged = [this](CorruptReason reason) {
    reason_ = reason;
    return Item::Damaged;
  };
  TIDEMARK_ASSIGN(ByteView bytes, load(records::kBatchHeaderSize));
  claimedLength_ =
      bytes.size() < records::kLeaderEpochAt ? 0 : readBigEndian<int32_t>(bytes.data() + records::kLengthAt);
  if (bytes.size() < records::kSizeAndMagic) return damaged(CorruptReason::Incomplete);
  const auto magic = static_cast<int8_t>(bytes[records::kMagicAt]);
  constexpr auto kOverhead = static_cast<int32_t>(records::kLogOverhead);
  const int32_t smallest =
      magic == records::kMagic ? static_cast<int32_t>(records::kBatchHeaderSize) - kOverhead : kSmallestOldMessage;
  if (claimedLength_ < smallest) return damaged(CorruptReason::BadLength);
  if (magic < 0 || magic > records::kMagic) return damaged(CorruptReason::BadMagic);
  const uint64_t size = records::kLogOverhead + static_cast<uint64_t>(claimedLength_);
  if (size > end_ - next_) return damaged(CorruptReason::Incomplete);
  TIDEMARK_ASSIGN(bytes, load(size));
  if (bytes.size() < size) return damaged(CorruptReason::Incomplete);
  batch_.bytes = bytes.first(size);
  next_ += size;
  if (magic != records::kMagic) return Item::Old;
  batch_.header = records::BatchHeader::read(bytes.data());
  crcValid_ = batch_.isCrcValid();
  return Item::Batch;
}

}  // namespace tidemark::inspect
