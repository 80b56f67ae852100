#pragma once

#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/result.h"
#include "platform/file_system.h"
#include "records/batch.h"

namespace tidemark::inspect {

/// Reads a .log (or .checkpoint) file from front to back, batch by batch, whatever is in it: a batch with a wrong CRC
/// is given all the same, messages of formats 0 and 1 as well; what is no batch at all ends it. Holds a megabyte, more
/// only for a batch that is larger.
class BatchReader {
 public:
  enum class Item : uint8_t {
    Batch,    ///< batch(), at position(); crcValid() says whether it is sound
    Old,      ///< a message of format 0 or 1: oldBytes(), at position()
    Damaged,  ///< what is at position() is no batch: reason(). The reader stays there
    End,
  };

  /// Bytes [from, end) of the file, where a batch starts at `from`.
  BatchReader(const platform::File& file, uint64_t from, uint64_t end) : file_(file), next_(from), end_(end) {}

  /// Errors are those of the file.
  Result<Item> next();
  const records::BatchView& batch() const noexcept { return batch_; }
  ByteView oldBytes() const noexcept { return batch_.bytes; }
  bool crcValid() const noexcept { return crcValid_; }
  uint64_t position() const noexcept { return position_; }
  records::CorruptReason reason() const noexcept { return reason_; }
  /// After Damaged: the length field as it is there; 0 if not even that is.
  int32_t claimedLength() const noexcept { return claimedLength_; }

 private:
  /// The bytes from next_ on, at least `wanted` of them (if the file has as many).
  Result<ByteView> load(uint64_t wanted);

  const platform::File& file_;
  uint64_t next_;
  const uint64_t end_;
  uint64_t position_ = 0;
  records::BatchView batch_;
  bool crcValid_ = false;
  records::CorruptReason reason_ = records::CorruptReason::None;
  int32_t claimedLength_ = 0;
  ByteVector buffer_;
  uint64_t bufferStart_ = 0;
};

}  // namespace tidemark::inspect
