#include "log/header_scanner.h"

#include <algorithm>

namespace tidemark::log {

using records::Step;

Result<Step> HeaderScanner::next() {
  batchStart_ = position_;
  if (position_ >= end_) return Step::End;
  if (end_ - position_ < records::kBatchHeaderSize) return Step::Corrupt;
  const bool buffered =
      position_ >= bufferStart_ && position_ + records::kBatchHeaderSize <= bufferStart_ + bufferFilled_;
  if (!buffered) {
    const size_t wanted = std::min<uint64_t>(kBufferSize, end_ - position_);
    TIDEMARK_ASSIGN(bufferFilled_, file_.readAt(position_, MutableBytes(buffer_, wanted)));
    bufferStart_ = position_;
    if (bufferFilled_ < records::kBatchHeaderSize) return Step::Corrupt;
  }
  header_ = records::BatchHeader::read(buffer_ + (position_ - bufferStart_));
  constexpr int32_t kSmallest = records::kBatchHeaderSize - records::kLogOverhead;
  if (header_.magic != records::kMagic || header_.length < kSmallest || header_.sizeInBytes() > end_ - position_)
    return Step::Corrupt;
  position_ += header_.sizeInBytes();
  return Step::Next;
}

}  // namespace tidemark::log
