#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/varint.h"
#include "platform/piece.h"
#include "protocol/fields.h"

namespace tidemark::protocol {

class Records;

/// Builds what is sent or stored: numbers and strings into a buffer of its own, records as pieces beside it, so that
/// they reach the socket without a copy. The first refusal (a field that the version lacks) sticks. One thread.
class FrameWriter {
 public:
  /// Records that lie in memory and are at most this long are copied: cheaper than a piece of their own.
  static constexpr size_t kCopyUpTo = 512;

  struct CountOnly {};

  FrameWriter() = default;
  /// With room for `expected` bytes besides records.
  explicit FrameWriter(size_t expected) { buffer_.reserve(expected); }
  /// Counts what would be written and keeps nothing.
  explicit FrameWriter(CountOnly) noexcept { count(); }
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// Bytes written so far, records included.
  size_t size() const noexcept { return counted_ + static_cast<size_t>(cursor_ - begin_); }

  /// Everything written, in order: own bytes and records alternate. Borrowed records were copied, shared ones and files
  /// are kept by their piece. Leaves the writer empty.
  std::vector<platform::Piece> takePieces();
  /// Everything written in one piece; reads files that are part of it. Leaves the writer empty.
  Result<ByteVector> takeBytes();

  void int8(int8_t value) { number(value); }
  void int16(int16_t value) { number(value); }
  void uint16(uint16_t value) { number(value); }
  void int32(int32_t value) { number(value); }
  void uint32(uint32_t value) { number(value); }
  void int64(int64_t value) { number(value); }
  void float64(double value);
  void boolean(bool value) { number(static_cast<int8_t>(value)); }
  void uuid(const Uuid& value);
  void unsignedVarint(uint32_t value) { cursor_ = writeUnsignedVarint(room(kMaxVarintSize), value); }
  void bytes(ByteView bytes);

  void text(std::string_view text, bool flexible);
  void nullableText(const std::optional<Text>& text, bool flexible);
  void blob(ByteView bytes, bool flexible);
  void nullableBlob(const std::optional<Blob>& bytes, bool flexible);
  void records(const Records& records, bool flexible);
  void arrayLength(size_t count, bool flexible);
  void nullArray(bool flexible);

  /// A length prefix (int32, big-endian) that endFrame() fills in with the bytes written after it.
  size_t beginFrame();
  void endFrame(size_t mark);

  /// Remembers that `field` holds a value that `version` cannot carry (UnsupportedVersion).
  void refuse(std::string_view field, int16_t version);
  /// `field` is null, which `version` does not allow.
  void refuseNull(std::string_view field, int16_t version);
  bool ok() const noexcept { return !error_.has_value(); }
  Result<void> result() const;
  bool isCounting() const noexcept { return counting_; }

 private:
  struct Cut {
    size_t position;  ///< in buffer_, before which the piece goes
    platform::Piece piece;
  };

  template <class T>
  void number(T value) {
    writeBigEndian(room(sizeof value), value);
    cursor_ += sizeof value;
  }
  /// Where at least `count` (at most 16) bytes may be written.
  uint8_t* room(size_t count) {
    if (static_cast<size_t>(end_ - cursor_) < count) grow(count);
    return cursor_;
  }
  void grow(size_t count);
  void refuse(std::string message);
  /// From here on counts what is written.
  void count() noexcept {
    counting_ = true;
    begin_ = cursor_ = scratch_;
    end_ = scratch_ + sizeof scratch_;
    counted_ = 0;
  }
  friend class TagPass;

  bool counting_ = false;
  ByteVector buffer_;  ///< used up to cursor_
  uint8_t* begin_ = nullptr;
  uint8_t* cursor_ = nullptr;
  uint8_t* end_ = nullptr;
  /// Bytes of pieces, and when counting also those that went through scratch_.
  size_t counted_ = 0;
  std::vector<Cut> cuts_;
  std::optional<Error> error_;
  uint8_t scratch_[32];
};

/// Writes a tagged field: tag, size, and what the body of `for (TagPass pass(writer, tag); pass.next();) {…}` writes.
/// The body runs twice, first to learn the size (once if the writer only counts).
class TagPass {
 public:
  TagPass(FrameWriter& writer, uint32_t tag) noexcept;
  bool next();

 private:
  enum class Step : uint8_t { Start, Count, Write };

  FrameWriter& writer_;
  const uint32_t tag_;
  Step step_ = Step::Start;
  /// The writer's state while it counts; when it counts anyway, its count at the start.
  uint8_t* begin_;
  uint8_t* cursor_;
  uint8_t* end_;
  size_t counted_;
};

}  // namespace tidemark::protocol
