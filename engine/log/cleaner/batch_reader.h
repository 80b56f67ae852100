#pragma once

#include <cstdint>
#include <functional>

#include "base/bytes.h"
#include "base/result.h"
#include "platform/file_system.h"
#include "records/batch.h"

namespace tidemark::log {

/// Reads whole batches from part of a .log file, a buffer at a time; the buffer grows only for a batch that is larger.
/// CRCs are checked, unless the caller has just done so. One thread; the buffer is lent.
class BatchReader {
 public:
  /// Batches from byte `from` (the start of one) to byte `end`. `chunk`: bytes to read at a time. `onRead` is called
  /// after each read with its size; its error ends the walk.
  BatchReader(const platform::File& file, uint64_t from, uint64_t end, size_t chunk, ByteVector& buffer,
              std::function<Result<void>(size_t bytes)> onRead,
              records::BatchCursor::Check check = records::BatchCursor::Check::Checksum);

  /// Next: batch() is valid until the call after. CorruptMessage for what is no valid batch.
  Result<records::Step> next();
  const records::BatchView& batch() const noexcept { return cursor_.batch(); }
  /// Where it begins in the file.
  uint64_t position() const noexcept { return bufferStart_ + cursor_.position() - cursor_.batch().bytes.size(); }
  /// No further batch lies in memory: the one that next() found last was the last of its chunk.
  bool chunkEnds() const noexcept { return bufferStart_ + cursor_.position() >= wholeEnd_; }

 private:
  Result<bool> fill();

  const platform::File& file_;
  const uint64_t end_;
  const size_t chunk_;
  ByteVector& buffer_;
  const std::function<Result<void>(size_t)> onRead_;
  const records::BatchCursor::Check check_;
  uint64_t bufferStart_;
  /// Where the whole batches in the buffer end.
  uint64_t wholeEnd_;
  records::BatchCursor cursor_{ByteView()};
};

}  // namespace tidemark::log
