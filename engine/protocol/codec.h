#pragma once

#include <algorithm>
#include <vector>

#include "protocol/message.h"
#include "protocol/records_field.h"

/// What the generated codecs are made of. Included by them only: each defines static put() and take() for its structs,
/// which the templates here find by argument.
namespace tidemark::protocol {

/// Memory that an array of structs may take before its elements have been read; beyond it the vector grows with them.
inline constexpr size_t kMaxReservedBytes = 64 << 10;

void putArray(FrameWriter& writer, bool flexible, const std::vector<int8_t>& array);
void putArray(FrameWriter& writer, bool flexible, const std::vector<int16_t>& array);
void putArray(FrameWriter& writer, bool flexible, const std::vector<int32_t>& array);
void putArray(FrameWriter& writer, bool flexible, const std::vector<int64_t>& array);
void putArray(FrameWriter& writer, bool flexible, const std::vector<Uuid>& array);
void putArray(FrameWriter& writer, bool flexible, const std::vector<Text>& array);
void takeArray(Reader& reader, bool flexible, std::vector<int8_t>& array);
void takeArray(Reader& reader, bool flexible, std::vector<int16_t>& array);
void takeArray(Reader& reader, bool flexible, std::vector<int32_t>& array);
void takeArray(Reader& reader, bool flexible, std::vector<int64_t>& array);
void takeArray(Reader& reader, bool flexible, std::vector<Uuid>& array);
void takeArray(Reader& reader, bool flexible, std::vector<Text>& array);

/// Reads the count's bytes again to tell null from an array.
bool takeNullArray(Reader& reader, bool flexible) noexcept;

template <class T>
void putArray(FrameWriter& writer, bool flexible, const std::optional<std::vector<T>>& array) {
  if (array)
    putArray(writer, flexible, *array);
  else
    writer.nullArray(flexible);
}
template <class T>
void takeArray(Reader& reader, bool flexible, std::optional<std::vector<T>>& array) {
  if (takeNullArray(reader, flexible))
    array.reset();
  else
    takeArray(reader, flexible, array.emplace());
}

template <class T>
void putStructs(FrameWriter& writer, int16_t version, bool flexible, const std::vector<T>& array) {
  writer.arrayLength(array.size(), flexible);
  for (const T& element : array) put(element, writer, version);
}
template <class T>
void putStructs(FrameWriter& writer, int16_t version, bool flexible, const std::optional<std::vector<T>>& array) {
  if (array)
    putStructs(writer, version, flexible, *array);
  else
    writer.nullArray(flexible);
}
template <class T>
void takeStructs(Reader& reader, int16_t version, bool flexible, size_t minElementSize, std::vector<T>& array) {
  size_t count = reader.arrayLength(flexible, minElementSize);
  array.reserve(std::min(count, kMaxReservedBytes / sizeof(T) + 1));
  for (; count > 0 && reader.ok(); --count) take(array.emplace_back(), reader, version);
}
template <class T>
void takeStructs(Reader& reader, int16_t version, bool flexible, size_t minElementSize,
                 std::optional<std::vector<T>>& array) {
  if (takeNullArray(reader, flexible))
    array.reset();
  else
    takeStructs(reader, version, flexible, minElementSize, array.emplace());
}

/// A struct that may be null: with a byte in front that is `absent` for null and 1 otherwise, or (in versions in which
/// it may not be null) without one.
template <class T>
void putMarked(FrameWriter& writer, int16_t version, bool marked, int8_t absent, const std::optional<T>& structure) {
  if (marked) writer.int8(structure ? int8_t{1} : absent);
  if (structure) put(*structure, writer, version);
}
template <class T>
void takeMarked(Reader& reader, int16_t version, bool marked, int8_t absent, std::optional<T>& structure) {
  // Negative is null for a plain field, zero for a tagged one.
  const int8_t marker = marked ? reader.int8() : int8_t{1};
  if (absent == 0 ? marker == 0 : marker < 0)
    structure.reset();
  else
    take(structure.emplace(), reader, version);
}

/// Whether the message has the version; if not, an UnsupportedVersion that names both.
Result<void> checkVersion(const MessageSchema& schema, int16_t version);
/// The result of a read that began at `start`: names the field that failed.
Result<void> readResult(const MessageSchema& schema, const Reader& reader, size_t start, int16_t version);

}  // namespace tidemark::protocol

/// The members that every message has, on top of its put() and take().
#define TIDEMARK_MESSAGE(M)                                \
  Result<void> M::write(FrameWriter& w, int16_t v) const { \
    TIDEMARK_TRY(checkVersion(k##M##Schema, v));           \
    put(*this, w, v);                                      \
    return w.result();                                     \
  }                                                        \
  Result<void> M::read(Reader& r, int16_t v) {             \
    TIDEMARK_TRY(checkVersion(k##M##Schema, v));           \
    const size_t start = r.position();                     \
    take(*this, r, v);                                     \
    return readResult(k##M##Schema, r, start, v);          \
  }                                                        \
  const MessageSchema& M::schema() noexcept {              \
    return k##M##Schema;                                   \
  }
