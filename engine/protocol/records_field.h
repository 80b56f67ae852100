#pragma once

#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "platform/piece.h"

namespace tidemark::protocol {

/// The `records` field of a message: record batches, never copied on their way. Null, a view into a frame, shared
/// memory, or pieces of files and memory (as a log gives them). Copying a borrowed one makes it shared memory of its
/// own; moving keeps the borrow.
class Records {
 public:
  /// Zero bytes, not null (a fetch without data).
  Records() noexcept = default;
  explicit Records(SharedBytes bytes) noexcept : held_(std::move(bytes)) {}
  explicit Records(ByteVector bytes) : held_(SharedBytes(std::move(bytes))) {}
  explicit Records(platform::FileSlice slice);
  explicit Records(std::vector<platform::Piece> pieces);
  static Records null() noexcept;
  /// Refers to `bytes`, which must outlive it (what a Reader gives).
  static Records borrowed(ByteView bytes) noexcept;

  Records(const Records& other);
  Records& operator=(const Records& other);
  Records(Records&&) noexcept = default;
  Records& operator=(Records&&) noexcept = default;
  ~Records() = default;

  bool isNull() const noexcept { return std::holds_alternative<Null>(held_); }
  /// Bytes of all pieces; 0 if null.
  size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  /// Whether view() can be asked: all bytes lie in memory in one piece (null counts: no bytes).
  bool isInMemory() const noexcept { return !std::holds_alternative<std::vector<platform::Piece>>(held_); }
  /// The bytes, if they lie in memory in one piece; nothing else may be asked this way (an invariant).
  ByteView view() const;
  /// The pieces in order, for a writer. A borrowed view is given as SharedBytes without an owner.
  std::vector<platform::Piece> pieces() const;
  /// All bytes in one piece, read from files where need be.
  Result<ByteVector> bytes() const;
  bool isBorrowed() const noexcept { return std::holds_alternative<ByteView>(held_); }

  /// Equal bytes; slices of files are equal if they are the same part of the same open file.
  friend bool operator==(const Records& a, const Records& b);

 private:
  struct Null {};
  std::variant<ByteView, Null, SharedBytes, std::vector<platform::Piece>> held_;
};

}  // namespace tidemark::protocol
