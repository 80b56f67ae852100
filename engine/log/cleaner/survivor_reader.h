#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "log/cleaner/dirty_notes.h"
#include "log/cleaner/superseded_offsets.h"
#include "platform/file_system.h"
#include "records/batch.h"

namespace tidemark::log {

/// What of a batch that was noted is needed to write what is left of it.
enum class BatchNeed : uint8_t {
  Nothing,
  Header,
  /// Its header and the records that no later one supersedes.
  Survivors,
  /// All of it, which stays as it is.
  Everything,
  /// All of it, to see what stays.
  Unknown,
};

/// Reads of a segment that was noted only what is needed again, a buffer's worth of the file at a time: what lies
/// between is read as well if it is little, and else passed over. One thread; the buffer is lent, all references stay
/// valid meanwhile.
class SurvivorReader {
 public:
  /// `places`: of all placed batches. `needs`: one for each of `batches`. `chunk`: bytes of the file that are in memory
  /// at a time, unless a batch is larger. `onRead` is told how many bytes were read; its error ends the walk.
  SurvivorReader(const platform::File& file, const NotedBatches& batches, RecordPlaces places,
                 std::span<const BatchNeed> needs, const SupersededOffsets& superseded, size_t chunk,
                 ByteVector& buffer, std::function<Result<void>(size_t bytes)> onRead);

  /// The next batch that something of is needed. CorruptMessage if it is not the one that was noted.
  Result<records::Step> next();
  // Valid until the call after.
  const NotedBatch& note() const noexcept { return batches_[at_]; }
  BatchNeed need() const noexcept { return needs_[at_]; }
  /// Of its bytes only those that are needed are what the file has.
  const records::BatchView& batch() const noexcept { return batch_; }
  /// The next batch, if any, is not in memory.
  bool chunkEnds() const noexcept { return at_ + 1 == chunkEnd_; }

 private:
  Result<void> readChunk();
  /// Bytes [from, to) of the file are needed; called in their order.
  Result<void> want(uint64_t from, uint64_t to);
  Result<void> readWanted();

  const platform::File& file_;
  const NotedBatches& batches_;
  const RecordPlaces places_;
  const std::span<const BatchNeed> needs_;
  const SupersededOffsets& superseded_;
  const size_t chunk_;
  ByteVector& buffer_;
  const std::function<Result<void>(size_t)> onRead_;
  /// The batch that next() found, and behind the last of which what is needed is in memory.
  size_t chunkEnd_ = 0;
  size_t at_ = 0;
  /// Where in the file the buffer begins.
  uint64_t bufferStart_ = 0;
  /// What is to be read next, and what was read of this chunk.
  uint64_t wantedFrom_ = 0;
  uint64_t wantedTo_ = 0;
  size_t bytesRead_ = 0;
  records::BatchView batch_;
};

}  // namespace tidemark::log
