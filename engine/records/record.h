#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/varint.h"
#include "records/batch.h"

namespace tidemark::records {

/// A header of a record: its key is text, its value may be null.
struct RecordHeader {
  ByteView key;
  std::optional<ByteView> value;
};

/// Walks over the headers of one record. The bytes were checked when the record was.
class HeaderCursor {
 public:
  HeaderCursor(ByteView encoded, int32_t count) noexcept : left_(encoded), count_(count) {}
  /// Nothing once all were given.
  std::optional<RecordHeader> next() noexcept;

 private:
  ByteView left_;
  int32_t count_;
};

/// One record in somebody else's memory; valid as long as that.
struct RecordView {
  Offset offset;
  int64_t timestampMs = kNoTimestamp;
  /// −1 if its batch has no sequence.
  int32_t sequence = kNoSequence;
  std::optional<ByteView> key;
  std::optional<ByteView> value;
  int32_t headerCount = 0;
  /// The headers as they are encoded, without their count.
  ByteView encodedHeaders;
  /// All of the record, its length field included.
  ByteView bytes;

  HeaderCursor headers() const noexcept { return {encodedHeaders, headerCount}; }
};

/// Walks over the records of a batch whose payload is at hand uncompressed. Allocates nothing. Every length is checked
/// against the bytes that are left, and Corrupt is told if count and bytes disagree. Holds views only. A broker spends
/// its time on produced records here: a step keeps what it found as it stands, and only what is asked for is made of
/// it.
class RecordCursor {
 public:
  RecordCursor(const BatchHeader& header, ByteView payload) noexcept
      : header_(&header), at_(payload.data()), end_(payload.data() + payload.size()) {}

  /// In the caller's loop, where what it found stays in registers: half the time of a walk.
  [[gnu::always_inline]] Step next() noexcept { return takePlain() ? Step::Next : takeAny(); }

  // Of the record that Next told of.

  Offset offset() const noexcept { return header_->baseOffset + found_.offsetDelta; }
  int64_t timestampMs() const noexcept {
    if (header_->timestampType() == TimestampType::LogAppendTime) return header_->maxTimestampMs;
    return createTimeMs(header_->baseTimestampMs);
  }
  /// What its producer gave it, in a batch of this base timestamp.
  int64_t createTimeMs(int64_t baseTimestampMs) const noexcept {
    return static_cast<int64_t>(static_cast<uint64_t>(baseTimestampMs) + static_cast<uint64_t>(found_.timestampDelta));
  }
  int32_t offsetDelta() const noexcept { return found_.offsetDelta; }
  /// Its first byte: of its length field.
  const uint8_t* begin() const noexcept { return found_.begin; }
  bool hasKey() const noexcept { return found_.keySize >= 0; }
  bool hasValue() const noexcept { return found_.valueSize >= 0; }
  /// Of a record that has one.
  ByteView key() const noexcept { return {found_.key, static_cast<size_t>(found_.keySize)}; }
  RecordView record() const noexcept {
    return {
        .offset = offset(),
        .timestampMs = timestampMs(),
        .sequence = header_->baseSequence >= 0 ? nextSequence(header_->baseSequence, found_.offsetDelta) : kNoSequence,
        .key = nullable(found_.key, found_.keySize),
        .value = nullable(found_.value, found_.valueSize),
        .headerCount = found_.headerCount,
        .encodedHeaders = {found_.headers, at_},
        .bytes = {found_.begin, at_}};
  }
  /// What is wrong, after Corrupt; a literal.
  const char* reason() const noexcept { return reason_ != nullptr ? reason_ : ""; }

 private:
  /// The fields of a record. Sizes of −1 are null.
  struct Found {
    const uint8_t* begin = nullptr;
    int64_t timestampDelta = 0;
    int32_t offsetDelta = 0;
    int32_t keySize = -1;
    const uint8_t* key = nullptr;
    const uint8_t* value = nullptr;
    int32_t valueSize = -1;
    int32_t headerCount = 0;
    const uint8_t* headers = nullptr;
  };

  static std::optional<ByteView> nullable(const uint8_t* bytes, int32_t size) noexcept {
    return size < 0 ? std::nullopt : std::optional(ByteView(bytes, static_cast<size_t>(size)));
  }
  Step corrupt(const char* reason) noexcept {
    reason_ = reason;
    return Step::Corrupt;
  }

  /// The next record if it is one of those that nearly all are: short fields, no headers, nothing wrong. Else nothing
  /// has changed, and takeAny() says what there is.
  [[gnu::always_inline]] bool takePlain() noexcept {
    // What stands before the key; and before the value.
    constexpr std::ptrdiff_t kFront = 1 + 3 * 2;
    constexpr std::ptrdiff_t kMiddle = 2;
    if (given_ >= header_->recordCount || end_ - at_ < 2) [[unlikely]]
      return false;
    int32_t size = 0;
    const uint8_t* at = takeShortVarint(at_, size);
    if (at == nullptr || size < kFront || size > end_ - at) [[unlikely]]
      return false;
    const uint8_t* const end = at + size;
    Found found;
    if ((at = takeShortVarint(at + 1, found.timestampDelta)) == nullptr) return false;
    if ((at = takeShortVarint(at, found.offsetDelta)) == nullptr) return false;
    if ((at = takeShortVarint(at, found.keySize)) == nullptr) return false;
    found.key = at;
    if (found.keySize > end - at) [[unlikely]]
      return false;
    if (found.keySize > 0) at += found.keySize;
    if (end - at < kMiddle || (at = takeShortVarint(at, found.valueSize)) == nullptr) [[unlikely]]
      return false;
    found.value = at;
    // Behind the value the count of headers, 0.
    if (std::max(found.valueSize, 0) != end - at - 1 || end[-1] != 0) [[unlikely]]
      return false;
    found.begin = at_;
    found.headers = end;
    found_ = found;
    at_ = end;
    ++given_;
    return true;
  }
  Step takeAny() noexcept;

  const BatchHeader* header_;
  /// Behind the record that was found.
  const uint8_t* at_;
  const uint8_t* end_;
  int32_t given_ = 0;
  Found found_;
  const char* reason_ = nullptr;
};

/// The batch's payload, decompressed into `buffer` if it is compressed (see decompress()).
/// UnsupportedCompressionType for a codec number that does not exist.
Result<ByteView> openPayload(const BatchView& batch, ByteVector& buffer, size_t limit = kDefaultDecompressedLimit);

/// Calls `visit` for each record; the views are valid inside the call only. Stops with CorruptMessage at the first
/// record that cannot be read.
Result<void> forEachRecord(const BatchView& batch, const std::function<void(const RecordView&)>& visit,
                           size_t limit = kDefaultDecompressedLimit);

}  // namespace tidemark::records
