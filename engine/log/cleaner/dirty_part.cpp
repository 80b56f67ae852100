#include "log/cleaner/dirty_part.h"

#include <algorithm>

#include <fmt/format.h>

#include "log/batch_walk.h"
#include "log/cleaner/batch_reader.h"
#include "log/partition_log.h"
#include "log/segment.h"

namespace tidemark::log {

using records::BatchHeader;
using records::BatchView;
using records::RecordCursor;
using records::Step;

namespace {

/// Slots a map is given beyond twice the offsets it may have to hold.
constexpr size_t kSpareSlots = 64;
/// One bit for each dirty offset may take this part of the memory of a map, or is done without.
constexpr size_t kPartOfBits = 16;
/// What is noted of batches may take this part of it.
constexpr size_t kPartOfNotes = 4;
/// Of a segment, at first.
constexpr size_t kFirstNotes = 16;

}  // namespace

DirtyPart::DirtyPart(PartitionLog& log, const PassResources& resources, const CleanView& view, const CleanPlan& plan,
                     std::function<Result<void>(size_t)> goOn)
    : log_(log), resources_(resources), view_(view), plan_(plan), goOn_(std::move(goOn)), end_(plan.firstDirty) {}

Result<void> DirtyPart::read(ByteVector& buffer) {
  takeMemory();
  TIDEMARK_ASSIGN(const auto aborted, log_.abortedTransactions(plan_.firstDirty, plan_.firstUncleanable));
  transactions_.addAborted(aborted);
  for (size_t i = 0; i + 1 < view_.segments.size() && !mapFull_; ++i) {
    const Offset next = view_.segments[i + 1]->baseOffset();
    if (next <= plan_.firstDirty || view_.segments[i]->baseOffset() >= plan_.firstUncleanable) continue;
    TIDEMARK_TRY(readSegment(*view_.segments[i], next, buffer));
  }
  return {};
}

void DirtyPart::takeMemory() {
  const auto offsets = static_cast<size_t>(std::max<int64_t>(0, plan_.firstUncleanable - plan_.firstDirty));
  size_t most = std::max<size_t>(resources_.maxSlots, 2);
  const size_t memory = most * OffsetMap::kEntrySize;
  const auto take = [&most](size_t bytes) {
    most = std::max<size_t>(most - (bytes + OffsetMap::kEntrySize - 1) / OffsetMap::kEntrySize, 2);
  };
  if (const size_t bits = SupersededOffsets::memoryBytes(offsets); bits <= memory / kPartOfBits) {
    superseded_.emplace(plan_.firstDirty, offsets);
    take(bits);
    // Half of it for batches, half for places.
    mostPlaces_ = std::min({memory / kPartOfNotes / 2 / sizeof(uint32_t), offsets, size_t{UINT32_MAX}});
    notesLeft_ =
        std::min(memory / kPartOfNotes / 2 / sizeof(NotedBatch), 2 * offsets + kFirstNotes * view_.segments.size());
    take(mostPlaces_ * sizeof(uint32_t) + notesLeft_ * sizeof(NotedBatch));
    if (mostPlaces_ > 0) {
      placeMemory_ = std::make_unique<ZeroedMemory>(mostPlaces_ * sizeof(uint32_t));
      places_ = static_cast<uint32_t*>(placeMemory_->data());
    }
  }
  // No key needs more than one slot, so that a small dirty part needs but a small map.
  const size_t slots = offsets > most / 2 ? most : std::min(most, 2 * offsets + kSpareSlots);
  map_ = std::make_unique<OffsetMap>(slots, resources_.hashKey);
  const double load = std::clamp(resources_.loadFactor, 0.0, 1.0);
  mostKeys_ = std::clamp<size_t>(static_cast<size_t>(static_cast<double>(slots) * load), 1, map_->slots() - 1);
}

Result<void> DirtyPart::readSegment(const Segment& segment, Offset nextSegment, ByteVector& buffer) {
  TIDEMARK_ASSIGN(const auto start, segment.find(plan_.firstDirty, segment.size()));
  if (start) {
    TIDEMARK_ASSIGN(const auto files, segment.files());
    BatchReader reader(*files->log(), start->position, segment.size(), resources_.ioBufferBytes, buffer, goOn_);
    const bool fromItsFirstByte = start->position == 0;
    noting_.reset();
    if (fromItsFirstByte && superseded_ && segment.size() <= UINT32_MAX) noting_.emplace();
    while (true) {
      TIDEMARK_ASSIGN(const Step step, reader.next());
      if (step == Step::End) break;
      TIDEMARK_TRY(CleanView::checkPlace(reader.batch().header, segment, nextSegment));
      TIDEMARK_TRY(readBatch(reader.batch(), reader.position()));
      if (mapFull_) return {};
    }
    if (fromItsFirstByte) {
      checked_.insert(segment.baseOffset());
      if (noting_) notes_.emplace(segment.baseOffset(), *std::move(noting_));
    }
  }
  // Up to the next segment there is nothing, however large the gap.
  end_ = std::max(end_, nextSegment);
  return {};
}

bool DirtyPart::beginNote(const BatchHeader& header, NotedBatch& note) {
  // Where an offset is missing places would not tell which records they are of.
  if (!noting_ || header.baseOffset < plan_.firstDirty || header.recordCount != header.lastOffsetDelta + 1)
    return false;
  const auto count = static_cast<size_t>(header.recordCount);
  if (header.isCompressed() || count > mostPlaces_ - placesTaken_) {
    note.kind = NotedBatch::Kind::Counted;
  } else {
    note.kind = NotedBatch::Kind::Placed;
    note.firstPlace = static_cast<uint32_t>(placesTaken_);
    placesTaken_ += count;
  }
  return true;
}

void DirtyPart::keepNote(const NotedBatch& note) {
  if (!noting_) return;
  if (noting_->size() == noting_->capacity()) {
    // As it grows there are the old memory and the new.
    const size_t more = std::max<size_t>(noting_->size(), kFirstNotes);
    if (noting_->size() + more > notesLeft_) {
      notesLeft_ += noting_->capacity();
      return noting_.reset();
    }
    noting_->reserve(noting_->size() + more);
    notesLeft_ -= more;
  }
  noting_->push_back(note);
}

Result<void> DirtyPart::readBatch(const BatchView& batch, uint64_t position) {
  const BatchHeader& header = batch.header;
  NotedBatch note{.baseOffset = header.baseOffset,
                  .position = static_cast<uint32_t>(position),
                  .size = static_cast<uint32_t>(batch.bytes.size()),
                  .records = header.recordCount,
                  .lastOffsetDelta = header.lastOffsetDelta,
                  .hasProducer = header.hasProducerId()};
  if (header.isControl()) {
    transactions_.onControlBatch(header, markerOf(batch));
  } else if (!transactions_.onBatch(header)) {
    TIDEMARK_TRY(readRecords(batch, note));
    if (mapFull_) return {};
  }
  end_ = std::max(end_, header.nextOffset());
  keepNote(note);
  return {};
}

Result<void> DirtyPart::readRecords(const BatchView& batch, NotedBatch& note) {
  const BatchHeader& header = batch.header;
  TIDEMARK_ASSIGN(const ByteView payload, records::openPayload(batch, payload_));
  bool noted = beginNote(header, note);
  uint32_t* place = note.kind == NotedBatch::Kind::Placed ? places_ + note.firstPlace : nullptr;
  RecordCursor cursor(header, payload);
  Offset expected = header.baseOffset;
  Step step = cursor.next();
  for (; step == Step::Next; step = cursor.next()) {
    if (place != nullptr) *place++ = static_cast<uint32_t>(cursor.begin() - batch.bytes.data());
    const Offset offset = cursor.offset();
    noted = noted && offset == expected;
    expected = expected + 1;
    if (!cursor.hasValue()) ++note.withoutValue;
    if (!cursor.hasKey()) continue;
    ++note.keyed;
    if (offset < plan_.firstDirty) continue;
    Waiting& next = waiting_[waitingCount_++];
    next = {map_->hashOf(cursor.key()), offset};
    map_->prefetch(next.key);
    if (waitingCount_ == waiting_.size() && !putWaiting()) return {};
  }
  if (step == Step::Corrupt)
    return fail(ErrorCode::CorruptMessage, fmt::format("{}: the batch at offset {} cannot be read: {}",
                                                       log_.directory(), header.baseOffset, cursor.reason()));
  if (!noted) note.kind = NotedBatch::Kind::Unknown;
  putWaiting();
  return {};
}

bool DirtyPart::putWaiting() {
  for (size_t i = 0; i < waitingCount_; ++i) {
    const Waiting& next = waiting_[i];
    if (map_->size() >= mostKeys_ && map_->get(next.key) == kNoOffset) {
      // What came before in this batch is in the map: the next pass goes on from here.
      end_ = std::max(end_, next.offset);
      mapFull_ = true;
      return false;
    }
    const Offset replaced = map_->put(next.key, next.offset);
    if (superseded_ && replaced != kNoOffset && replaced < next.offset) superseded_->add(replaced);
  }
  waitingCount_ = 0;
  return true;
}

bool DirtyPart::supersedes(const RecordCursor& record) const {
  const Offset offset = record.offset();
  if (superseded_ && offset >= plan_.firstDirty) return superseded_->contains(offset);
  return offset < map_->get(map_->hashOf(record.key()));
}

bool DirtyPart::checked(const Segment& segment) const {
  return checked_.contains(segment.baseOffset());
}

const NotedBatches* DirtyPart::notesOf(const Segment& segment) const {
  const auto found = notes_.find(segment.baseOffset());
  return found == notes_.end() ? nullptr : &found->second;
}

}  // namespace tidemark::log
