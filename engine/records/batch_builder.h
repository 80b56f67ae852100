#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/ids.h"
#include "records/batch.h"
#include "records/codec.h"
#include "records/record.h"

namespace tidemark::records {

/// What is written into the header of a batch that is built.
struct BatchOptions {
  Offset baseOffset{0};
  LeaderEpoch leaderEpoch;
  Codec codec = Codec::None;
  int level = kDefaultLevel;
  TimestampType timestampType = TimestampType::CreateTime;
  /// Becomes the max timestamp if the type is LogAppendTime.
  int64_t logAppendTimeMs = kNoTimestamp;
  ProducerId producerId;
  ProducerEpoch producerEpoch;
  int32_t baseSequence = kNoSequence;
  bool transactional = false;
  bool control = false;
  /// Set by the cleaner (KIP-534): stored in place of the base timestamp.
  std::optional<int64_t> deleteHorizonMs;
};

/// Builds one batch of format 2. Used once, by one thread: append records, then build().
class BatchBuilder {
 public:
  explicit BatchBuilder(BatchOptions options = {}) : BatchBuilder(options, {}) {}
  /// build() returns `buffer` with the batch behind what it holds.
  BatchBuilder(BatchOptions options, ByteVector buffer);

  /// Appends at the next offset. Everything is copied.
  void append(int64_t timestampMs, std::optional<ByteView> key, std::optional<ByteView> value,
              std::span<const RecordHeader> headers = {});
  /// Appends at `offset`, which is above all before it (compaction leaves gaps).
  void appendAt(Offset offset, int64_t timestampMs, std::optional<ByteView> key, std::optional<ByteView> value,
                std::span<const RecordHeader> headers = {});
  /// Appends a record of another batch that had the same base offset, at its offset: its bytes are copied as they are
  /// but for its timestamp, which counts from another base here.
  void appendCopy(const RecordView& record);

  int32_t count() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  /// Size of the batch before compression; after it, the batch is hardly ever larger.
  size_t uncompressedSize() const noexcept { return buffer_.size() - start_; }
  /// What uncompressedSize() would grow by, at most.
  static size_t recordSizeLimit(std::optional<ByteView> key, std::optional<ByteView> value,
                                std::span<const RecordHeader> headers = {}) noexcept;

  /// The finished batch. The builder is spent. A batch without records keeps lastOffsetDelta at `lastOffsetDelta` if
  /// one is given, as compaction does when it empties a batch.
  ByteVector build(std::optional<int32_t> lastOffsetDelta = std::nullopt);

 private:
  /// Checks that `offset` is above all before it, and takes note of the record. Its two deltas.
  struct Deltas {
    int64_t timestamp;
    int32_t offset;
  };
  Deltas note(Offset offset, int64_t timestampMs);

  BatchOptions options_;
  /// From start_ on: room for the header, then the records.
  ByteVector buffer_;
  size_t start_;
  int32_t count_ = 0;
  int32_t lastOffsetDelta_ = -1;
  int64_t baseTimestampMs_ = kNoTimestamp;
  int64_t maxTimestampMs_ = kNoTimestamp;
};

/// Makes the CRC of a batch true again after its covered bytes were changed. `batch` is exactly one batch.
void updateCrc(MutableBytes batch) noexcept;

}  // namespace tidemark::records
