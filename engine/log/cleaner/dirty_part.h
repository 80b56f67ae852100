#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/result.h"
#include "base/zeroed_memory.h"
#include "log/cleaner/clean_view.h"
#include "log/cleaner/cleanable.h"
#include "log/cleaner/cleaned_transactions.h"
#include "log/cleaner/dirty_notes.h"
#include "log/cleaner/offset_map.h"
#include "log/cleaner/pass_resources.h"
#include "log/cleaner/superseded_offsets.h"
#include "records/record.h"

namespace tidemark::log {

class PartitionLog;

/// The first half of a pass: reads the dirty part of a log from front to back, until the map is full, and knows then
/// which records are superseded. What it remembers of the batches besides, so that the second half need not read all of
/// them again, has its part of the pass's memory and is given up where that is used up. One thread.
class DirtyPart {
 public:
  /// `goOn` is told after each read how many bytes came; its error ends the reading. All references stay valid.
  DirtyPart(PartitionLog& log, const PassResources& resources, const CleanView& view, const CleanPlan& plan,
            std::function<Result<void>(size_t bytes)> goOn);

  /// Once. `buffer` is lent. CorruptMessage if the log's own records cannot be read.
  Result<void> read(ByteVector& buffer);

  // Afterwards:

  /// Below it every key is in the map.
  Offset end() const noexcept { return end_; }
  size_t keys() const noexcept { return map_->size(); }
  size_t slots() const noexcept { return map_->slots(); }
  /// There is a later record of its key, before end().
  bool supersedes(const records::RecordCursor& record) const;
  /// All checksums of the segment were right, moments ago.
  bool checked(const Segment& segment) const;
  /// What is known of its batches; null: nothing. Where there are notes there is superseded().
  const NotedBatches* notesOf(const Segment& segment) const;
  RecordPlaces places() const noexcept { return {places_, placesTaken_}; }
  const SupersededOffsets& superseded() const noexcept { return *superseded_; }

 private:
  void takeMemory();
  Result<void> readSegment(const Segment& segment, Offset nextSegment, ByteVector& buffer);
  Result<void> readBatch(const records::BatchView& batch, uint64_t position);
  Result<void> readRecords(const records::BatchView& batch, NotedBatch& note);
  /// What waits, into the map. False: the map is full, end_ says from where on.
  bool putWaiting();
  /// What is noted of a data batch before its records are read, and whether it is.
  bool beginNote(const records::BatchHeader& header, NotedBatch& note);
  void keepNote(const NotedBatch& note);

  PartitionLog& log_;
  const PassResources& resources_;
  const CleanView& view_;
  const CleanPlan& plan_;
  const std::function<Result<void>(size_t)> goOn_;

  std::unique_ptr<OffsetMap> map_;
  size_t mostKeys_ = 0;
  bool mapFull_ = false;
  Offset end_;
  /// From firstDirty on. Nothing: the offsets reach too far for one bit each.
  std::optional<SupersededOffsets> superseded_;
  CleanedTransactions transactions_;
  std::set<Offset> checked_;

  /// Notes that may still be taken.
  size_t notesLeft_ = 0;
  /// Of the segment that is read; nothing: it is not noted.
  std::optional<NotedBatches> noting_;
  std::map<Offset, NotedBatches> notes_;
  std::unique_ptr<ZeroedMemory> placeMemory_;
  uint32_t* places_ = nullptr;
  size_t mostPlaces_ = 0;
  size_t placesTaken_ = 0;

  /// Keys on their way into the map, which is fetched from memory for them meanwhile: few
  /// enough for what was fetched to be still there.
  struct Waiting {
    OffsetMap::Hash key;
    Offset offset;
  };
  std::array<Waiting, 32> waiting_;
  size_t waitingCount_ = 0;
  ByteVector payload_;
};

}  // namespace tidemark::log
