#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
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
/// against the bytes that are left, and Corrupt is told if count and bytes disagree. Holds views only.
class RecordCursor {
 public:
  RecordCursor(const BatchHeader& header, ByteView payload) noexcept : header_(&header), left_(payload) {}

  Step next() noexcept;
  const RecordView& record() const noexcept { return record_; }
  /// What is wrong, after Corrupt; a literal.
  const char* reason() const noexcept { return reason_; }

 private:
  Step corrupt(const char* reason) noexcept {
    reason_ = reason;
    return Step::Corrupt;
  }

  const BatchHeader* header_;
  ByteView left_;
  int32_t given_ = 0;
  RecordView record_;
  const char* reason_ = "";
};

/// The batch's payload, decompressed into `buffer` if it is compressed (see decompress()).
/// UnsupportedCompressionType for a codec number that does not exist.
Result<ByteView> openPayload(const BatchView& batch, ByteVector& buffer, size_t limit = kDefaultDecompressedLimit);

/// Calls `visit` for each record; the views are valid inside the call only. Stops with CorruptMessage at the first
/// record that cannot be read.
Result<void> forEachRecord(const BatchView& batch, const std::function<void(const RecordView&)>& visit,
                           size_t limit = kDefaultDecompressedLimit);

}  // namespace tidemark::records
