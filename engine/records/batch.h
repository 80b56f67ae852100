#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/ids.h"
#include "base/result.h"
#include "records/codec.h"

namespace tidemark::records {

// Record batch, magic 2 (KIP-98; Kafka's DefaultRecordBatch). Where each field starts:
//
//   0 base offset i64 | 8 length i32 | 12 leader epoch i32 | 16 magic i8 | 17 crc u32 | 21 attributes i16
//   23 last offset delta i32 | 27 base timestamp i64 | 35 max timestamp i64 | 43 producer id i64 | 51 producer epoch
//   i16 53 base sequence i32 | 57 count of records i32 | 61 records, compressed as one block
//
// `length` counts the bytes behind itself. The CRC-32C covers everything from the attributes on, so a broker may set
// base offset and leader epoch without touching it.
inline constexpr size_t kBaseOffsetAt = 0;
inline constexpr size_t kLengthAt = 8;
inline constexpr size_t kLeaderEpochAt = 12;
inline constexpr size_t kMagicAt = 16;
inline constexpr size_t kCrcAt = 17;
inline constexpr size_t kAttributesAt = 21;
inline constexpr size_t kLastOffsetDeltaAt = 23;
inline constexpr size_t kBaseTimestampAt = 27;
inline constexpr size_t kMaxTimestampAt = 35;
inline constexpr size_t kProducerIdAt = 43;
inline constexpr size_t kProducerEpochAt = 51;
inline constexpr size_t kBaseSequenceAt = 53;
inline constexpr size_t kCountAt = 57;
/// Size of a batch's header; its records start here.
inline constexpr size_t kBatchHeaderSize = 61;
/// Base offset and length, which every format of batch starts with.
inline constexpr size_t kLogOverhead = 12;
/// Enough of a batch to tell its size and format.
inline constexpr size_t kSizeAndMagic = 17;
inline constexpr int8_t kMagic = 2;

inline constexpr int16_t kCodecMask = 0x07;
inline constexpr int16_t kLogAppendTimeBit = 0x08;
inline constexpr int16_t kTransactionalBit = 0x10;
inline constexpr int16_t kControlBit = 0x20;
inline constexpr int16_t kDeleteHorizonBit = 0x40;

inline constexpr int64_t kNoTimestamp = -1;
inline constexpr int32_t kNoSequence = -1;

enum class TimestampType : uint8_t { CreateTime = 0, LogAppendTime = 1 };

/// `sequence` + `increment` as Kafka counts them: after 2³¹−1 comes 0.
constexpr int32_t nextSequence(int32_t sequence, int32_t increment) noexcept {
  const int64_t sum = static_cast<int64_t>(sequence) + increment;
  return static_cast<int32_t>(sum > INT32_MAX ? sum - (int64_t{1} << 31) : sum);
}

/// The 61 bytes before a batch's records. Timestamps are Unix milliseconds, −1 for none.
struct BatchHeader {
  Offset baseOffset{0};
  /// Bytes after the length field itself.
  int32_t length = 0;
  /// Epoch of the leader that appended it; set by that leader.
  LeaderEpoch leaderEpoch;
  int8_t magic = kMagic;
  uint32_t crc = 0;
  int16_t attributes = 0;
  /// Last offset − base offset. Survives the removal of records by compaction.
  int32_t lastOffsetDelta = 0;
  /// Timestamp of the first record, or the delete horizon if that bit is set.
  int64_t baseTimestampMs = kNoTimestamp;
  int64_t maxTimestampMs = kNoTimestamp;
  ProducerId producerId;
  ProducerEpoch producerEpoch;
  int32_t baseSequence = kNoSequence;
  int32_t recordCount = 0;

  size_t sizeInBytes() const noexcept { return kLogOverhead + static_cast<size_t>(static_cast<uint32_t>(length)); }
  Offset lastOffset() const noexcept { return baseOffset + lastOffsetDelta; }
  Offset nextOffset() const noexcept { return baseOffset + lastOffsetDelta + 1; }
  /// The number in the attributes, which may be one that no codec has: see codecByNumber().
  int codecNumber() const noexcept { return attributes & kCodecMask; }
  /// Codec::None for a number that no codec has.
  Codec codec() const noexcept { return codecByNumber(codecNumber()).value_or(Codec::None); }
  bool isCompressed() const noexcept { return codecNumber() != 0; }
  TimestampType timestampType() const noexcept {
    return (attributes & kLogAppendTimeBit) != 0 ? TimestampType::LogAppendTime : TimestampType::CreateTime;
  }
  bool isTransactional() const noexcept { return (attributes & kTransactionalBit) != 0; }
  bool isControl() const noexcept { return (attributes & kControlBit) != 0; }
  bool hasProducerId() const noexcept { return producerId.value() >= 0; }
  std::optional<int64_t> deleteHorizonMs() const noexcept {
    if ((attributes & kDeleteHorizonBit) == 0) return std::nullopt;
    return baseTimestampMs;
  }
  /// −1 if the batch has no sequence.
  int32_t lastSequence() const noexcept {
    return baseSequence == kNoSequence ? kNoSequence : nextSequence(baseSequence, lastOffsetDelta);
  }

  /// Reads the fields as they are; `bytes` holds at least kBatchHeaderSize. Nothing is checked.
  static BatchHeader read(const uint8_t* bytes) noexcept;
  /// Writes the fields as they are into kBatchHeaderSize bytes at `to`.
  void write(uint8_t* to) const noexcept;

  friend bool operator==(const BatchHeader&, const BatchHeader&) = default;
};

/// One whole batch in somebody else's memory.
struct BatchView {
  BatchHeader header;
  /// All of it, header included.
  ByteView bytes;

  /// The records as they are stored (compressed or not).
  ByteView payload() const noexcept { return bytes.subspan(kBatchHeaderSize); }
  uint32_t computeCrc() const noexcept { return crc32c(bytes.subspan(kAttributesAt)); }
  bool isCrcValid() const noexcept { return computeCrc() == header.crc; }
};

enum class Step : uint8_t {
  Next,    ///< there is one more
  End,     ///< nothing is left
  Corrupt  ///< what follows is not one; the cursor says where and why, and stays there
};

enum class CorruptReason : uint8_t {
  None,
  Incomplete,   ///< cut off: the bytes end before the batch does (usual at the end of a fetch answer)
  BadLength,    ///< a length that no batch can have
  BadMagic,     ///< a format other than 2
  BadChecksum,  ///< the CRC disagrees
  OutOfOrder,   ///< its offsets or its leader epoch do not follow those before it (told by whoever knows them)
};
std::string_view describe(CorruptReason reason) noexcept;

/// Walks over batches that lie back to back. Checks length and magic, and the CRC if asked to. Does not own the bytes.
class BatchCursor {
 public:
  enum class Check : uint8_t { Structure, Checksum };

  explicit BatchCursor(ByteView bytes, Check check = Check::Structure) noexcept : bytes_(bytes), check_(check) {}

  /// Next: batch() is the one that was found, position() the byte behind it.
  Step next() noexcept;
  const BatchView& batch() const noexcept { return batch_; }
  /// Where the next batch starts; after Corrupt, where the bad one starts.
  size_t position() const noexcept { return position_; }
  CorruptReason reason() const noexcept { return reason_; }

 private:
  Step corrupt(CorruptReason reason) noexcept {
    reason_ = reason;
    return Step::Corrupt;
  }

  ByteView bytes_;
  Check check_;
  size_t position_ = 0;
  BatchView batch_;
  CorruptReason reason_ = CorruptReason::None;
};

/// Sets what a leader sets in each batch it appends: base offset and leader epoch. The CRC stays true.
/// `batch` starts with a batch of format 2 and holds at least its header.
void stamp(MutableBytes batch, Offset baseOffset, LeaderEpoch leaderEpoch) noexcept;

}  // namespace tidemark::records
