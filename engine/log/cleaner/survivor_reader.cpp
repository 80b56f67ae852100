#include "log/cleaner/survivor_reader.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::log {

using records::BatchHeader;
using records::Step;

namespace {

/// To read over so many bytes costs no more than a read of its own.
constexpr uint64_t kSmallGap = 8192;

}  // namespace

SurvivorReader::SurvivorReader(const platform::File& file, const NotedBatches& batches, RecordPlaces places,
                               std::span<const BatchNeed> needs, const SupersededOffsets& superseded, size_t chunk,
                               ByteVector& buffer, std::function<Result<void>(size_t)> onRead)
    : file_(file),
      batches_(batches),
      places_(places),
      needs_(needs),
      superseded_(superseded),
      chunk_(chunk),
      buffer_(buffer),
      onRead_(std::move(onRead)) {}

Result<Step> SurvivorReader::next() {
  const size_t count = batches_.size();
  if (at_ < chunkEnd_) ++at_;
  while (at_ < count && needs_[at_] == BatchNeed::Nothing) ++at_;
  if (at_ >= count) return Step::End;
  if (at_ >= chunkEnd_) TIDEMARK_TRY(readChunk());
  const NotedBatch& noted = note();
  const ByteView bytes = ByteView(buffer_).subspan(noted.position - bufferStart_, noted.size);
  batch_ = {BatchHeader::read(bytes.data()), bytes};
  const BatchHeader& header = batch_.header;
  if (header.baseOffset == noted.baseOffset && header.sizeInBytes() == noted.size &&
      header.lastOffsetDelta == noted.lastOffsetDelta && header.recordCount == noted.records)
    return Step::Next;
  return fail(ErrorCode::CorruptMessage,
              fmt::format("{}: the batch at byte {} is not what it was moments before", file_.path(), noted.position));
}

Result<void> SurvivorReader::readChunk() {
  bufferStart_ = wantedFrom_ = wantedTo_ = batches_[at_].position;
  bytesRead_ = 0;
  chunkEnd_ = at_;
  // A last one of which nothing is needed would hide that the chunk ends.
  for (size_t i = at_; i < batches_.size() && (i == at_ || batches_[i].end() - bufferStart_ <= chunk_); ++i)
    if (needs_[i] != BatchNeed::Nothing) chunkEnd_ = i + 1;
  buffer_.resize(std::max<size_t>(buffer_.size(), batches_[chunkEnd_ - 1].end() - bufferStart_));
  for (size_t i = at_; i < chunkEnd_; ++i) {
    const NotedBatch& batch = batches_[i];
    if (needs_[i] >= BatchNeed::Everything) TIDEMARK_TRY(want(batch.position, batch.end()));
    if (needs_[i] != BatchNeed::Header && needs_[i] != BatchNeed::Survivors) continue;
    TIDEMARK_TRY(want(batch.position, batch.position + records::kBatchHeaderSize));
    if (needs_[i] == BatchNeed::Header) continue;
    const auto count = static_cast<size_t>(batch.records);
    const RecordPlaces places = places_.subspan(batch.firstPlace, count);
    Result<void> wanted;
    superseded_.forEachLeft(batch.baseOffset, count, [&](size_t record) {
      const uint32_t end = record + 1 < count ? places[record + 1] : batch.size;
      if (wanted) wanted = want(batch.position + places[record], batch.position + end);
    });
    TIDEMARK_TRY(wanted);
  }
  TIDEMARK_TRY(readWanted());
  return onRead_(bytesRead_);
}

Result<void> SurvivorReader::want(uint64_t from, uint64_t to) {
  if (from - wantedTo_ > kSmallGap) {
    TIDEMARK_TRY(readWanted());
    wantedFrom_ = from;
  }
  wantedTo_ = to;
  return {};
}

Result<void> SurvivorReader::readWanted() {
  const size_t wanted = wantedTo_ - wantedFrom_;
  TIDEMARK_ASSIGN(const size_t got,
                  file_.readAt(wantedFrom_, MutableBytes(buffer_).subspan(wantedFrom_ - bufferStart_, wanted)));
  bytesRead_ += got;
  if (got == wanted) return {};
  return fail(ErrorCode::CorruptMessage,
              fmt::format("{} ends at byte {}, before what it held moments before", file_.path(), wantedFrom_ + got));
}

}  // namespace tidemark::log
