#pragma once

#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/fields.h"

namespace tidemark::protocol {

class Records;

/// Takes the wire's types off a frame, front to back. Never reads past its end, never allocates; strings, bytes and
/// records are views into the frame. The first failure sticks: everything read after it is zero or empty, and ok() is
/// asked once at the end. One thread at a time; the frame must outlive what was read.
class Reader {
 public:
  enum class Failure : uint8_t {
    None,
    Truncated,      ///< the frame ends inside the field
    TooLong,        ///< a length that the bytes left cannot hold
    BadLength,      ///< a negative length, or a string beyond 32767 bytes
    NullForbidden,  ///< null in a field that may not be
    BadVarint,      ///< more bytes than its type may take
    BadTagSize,     ///< a tagged field that does not fill its size, or outgrows it
  };

  explicit Reader(ByteView frame) noexcept : begin_(frame.data()), cursor_(begin_), end_(begin_ + frame.size()) {}

  bool ok() const noexcept { return failure_ == Failure::None; }
  Failure failure() const noexcept { return failure_; }
  /// Where it stands, in bytes from the frame's start; after a failure, where the field that failed was cut.
  size_t position() const noexcept { return ok() ? offset() : failedAt_; }
  /// Bytes that are left. After a complete message: trailing bytes.
  size_t remaining() const noexcept { return static_cast<size_t>(end_ - cursor_); }
  /// What is left, as a view.
  ByteView rest() const noexcept { return {cursor_, remaining()}; }
  /// The whole frame it was made from.
  ByteView frame() const noexcept { return {begin_, static_cast<size_t>(frameEnd() - begin_)}; }
  void fail(Failure why) noexcept;
  /// The failure as an Error that names the position; decode() gives a better one with the field's name.
  Error error() const;

  int8_t int8() noexcept { return number<int8_t>(); }
  int16_t int16() noexcept { return number<int16_t>(); }
  uint16_t uint16() noexcept { return number<uint16_t>(); }
  int32_t int32() noexcept { return number<int32_t>(); }
  uint32_t uint32() noexcept { return number<uint32_t>(); }
  int64_t int64() noexcept { return number<int64_t>(); }
  double float64() noexcept;
  bool boolean() noexcept { return number<int8_t>() != 0; }
  Uuid uuid() noexcept;
  uint32_t unsignedVarint() noexcept;
  /// The next `count` bytes.
  ByteView bytes(size_t count) noexcept;

  // Lengths are compact (unsigned varint of length + 1) in flexible versions, else int16 for strings and int32.
  Text text(bool flexible) noexcept;
  std::optional<Text> nullableText(bool flexible) noexcept;
  Blob blob(bool flexible) noexcept;
  std::optional<Blob> nullableBlob(bool flexible) noexcept;
  Records records(bool flexible) noexcept;
  Records nullableRecords(bool flexible) noexcept;
  /// Elements of an array, each of which takes at least `minElementSize` bytes; checked against the bytes left.
  size_t arrayLength(bool flexible, size_t minElementSize) noexcept;
  /// Nothing for null.
  std::optional<size_t> nullableArrayLength(bool flexible, size_t minElementSize) noexcept;
  /// The length of a string (`isString`) or of bytes, checked against the bytes left. Nothing for null, and after a
  /// failure.
  std::optional<size_t> length(bool flexible, bool isString) noexcept;
  /// A section of tagged fields of which none is known.
  void skipTags() noexcept;

 private:
  friend class TagSection;

  template <class T>
  T number() noexcept {
    if (remaining() < sizeof(T)) {
      fail(Failure::Truncated);
      return 0;
    }
    const T value = readBigEndian<T>(cursor_);
    cursor_ += sizeof(T);
    return value;
  }
  size_t offset() const noexcept { return static_cast<size_t>(cursor_ - begin_); }
  const uint8_t* frameEnd() const noexcept { return frameEnd_ != nullptr ? frameEnd_ : end_; }

  const uint8_t* begin_;
  const uint8_t* cursor_;
  const uint8_t* end_;
  /// The frame's end while `end_` is that of a tagged field.
  const uint8_t* frameEnd_ = nullptr;
  size_t failedAt_ = 0;
  Failure failure_ = Failure::None;
};

/// Walks a section of tagged fields: `for (TagSection tags(reader); tags.next();) switch (tags.tag()) {…}`. While a
/// field is read the reader ends where the field does; next() insists that it was consumed.
class TagSection {
 public:
  explicit TagSection(Reader& reader) noexcept;
  bool next() noexcept;
  uint32_t tag() const noexcept { return tag_; }
  /// Passes over the bytes of the current field.
  void skip() noexcept { reader_.cursor_ = reader_.end_; }

 private:
  void leave() noexcept;

  Reader& reader_;
  const uint8_t* const outerEnd_;
  uint32_t left_;
  uint32_t tag_ = 0;
  bool inside_ = false;
};

}  // namespace tidemark::protocol
