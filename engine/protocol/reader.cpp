#include "protocol/reader.h"

#include <bit>

#include <fmt/format.h>

#include "base/varint.h"
#include "protocol/records_field.h"

namespace tidemark::protocol {
namespace {

const char* explain(Reader::Failure failure) {
  switch (failure) {
    case Reader::Failure::None:
      break;
    case Reader::Failure::Truncated:
      return "the bytes end inside it";
    case Reader::Failure::TooLong:
      return "its length is more than the bytes left";
    case Reader::Failure::BadLength:
      return "its length is impossible";
    case Reader::Failure::NullForbidden:
      return "it may not be null";
    case Reader::Failure::BadVarint:
      return "its variable-length integer is too long";
    case Reader::Failure::BadTagSize:
      return "the size of a tagged field is wrong";
  }
  return "no failure";
}

}  // namespace

void Reader::fail(Failure why) noexcept {
  if (failure_ != Failure::None) return;
  failedAt_ = offset();
  failure_ = why;
  cursor_ = end_;
}

Error Reader::error() const {
  return {ErrorCode::CorruptMessage, fmt::format("byte {}: {}", position(), explain(failure_))};
}

double Reader::float64() noexcept {
  return std::bit_cast<double>(number<int64_t>());
}

Uuid Reader::uuid() noexcept {
  const ByteView taken = bytes(16);
  if (taken.size() != 16) return {};
  std::array<uint8_t, 16> value;
  std::memcpy(value.data(), taken.data(), 16);
  return Uuid(value);
}

uint32_t Reader::unsignedVarint() noexcept {
  if (cursor_ < end_ && *cursor_ < 0x80) return *cursor_++;
  uint32_t value = 0;
  for (size_t i = 0; i < kMaxVarintSize; ++i) {
    if (cursor_ + i >= end_) {
      fail(Failure::Truncated);
      return 0;
    }
    const uint8_t byte = cursor_[i];
    value |= static_cast<uint32_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      cursor_ += i + 1;
      return value;
    }
  }
  fail(Failure::BadVarint);
  return 0;
}

ByteView Reader::bytes(size_t count) noexcept {
  if (remaining() < count) {
    fail(Failure::Truncated);
    return {};
  }
  const ByteView taken(cursor_, count);
  cursor_ += count;
  return taken;
}

std::optional<size_t> Reader::length(bool flexible, bool isString) noexcept {
  const uint8_t* const start = cursor_;
  int64_t count;
  if (flexible)
    count = static_cast<int64_t>(unsignedVarint()) - 1;
  else
    count = isString ? int64_t{int16()} : int64_t{int32()};
  if (!ok() || count == -1) return std::nullopt;
  if (count < 0 || (isString && count > static_cast<int64_t>(kMaxStringSize))) {
    cursor_ = start;
    fail(Failure::BadLength);
    return std::nullopt;
  }
  if (static_cast<uint64_t>(count) > remaining()) {
    cursor_ = start;
    fail(Failure::TooLong);
    return std::nullopt;
  }
  return static_cast<size_t>(count);
}

std::optional<Text> Reader::nullableText(bool flexible) noexcept {
  const std::optional<size_t> count = length(flexible, true);
  if (!count) return std::nullopt;
  return Text::borrowed(asText(bytes(*count)));
}

Text Reader::text(bool flexible) noexcept {
  if (const std::optional<size_t> count = length(flexible, true)) return Text::borrowed(asText(bytes(*count)));
  fail(Failure::NullForbidden);
  return {};
}

std::optional<Blob> Reader::nullableBlob(bool flexible) noexcept {
  const std::optional<size_t> count = length(flexible, false);
  if (!count) return std::nullopt;
  return Blob::borrowed(bytes(*count));
}

Blob Reader::blob(bool flexible) noexcept {
  if (const std::optional<size_t> count = length(flexible, false)) return Blob::borrowed(bytes(*count));
  fail(Failure::NullForbidden);
  return {};
}

Records Reader::nullableRecords(bool flexible) noexcept {
  const std::optional<size_t> count = length(flexible, false);
  return count ? Records::borrowed(bytes(*count)) : Records::null();
}

Records Reader::records(bool flexible) noexcept {
  if (const std::optional<size_t> count = length(flexible, false)) return Records::borrowed(bytes(*count));
  fail(Failure::NullForbidden);
  return {};
}

std::optional<size_t> Reader::nullableArrayLength(bool flexible, size_t minElementSize) noexcept {
  const uint8_t* const start = cursor_;
  const int64_t count = flexible ? static_cast<int64_t>(unsignedVarint()) - 1 : int64_t{int32()};
  if (!ok() || count == -1) return std::nullopt;
  if (count < 0 || static_cast<uint64_t>(count) * minElementSize > remaining()) {
    cursor_ = start;
    fail(count < 0 ? Failure::BadLength : Failure::TooLong);
    return std::nullopt;
  }
  return static_cast<size_t>(count);
}

size_t Reader::arrayLength(bool flexible, size_t minElementSize) noexcept {
  const std::optional<size_t> count = nullableArrayLength(flexible, minElementSize);
  if (count) return *count;
  fail(Failure::NullForbidden);
  return 0;
}

void Reader::skipTags() noexcept {
  // The usual case first: no tags.
  if (cursor_ < end_ && *cursor_ == 0) {
    ++cursor_;
    return;
  }
  for (TagSection tags(*this); tags.next();) tags.skip();
}

TagSection::TagSection(Reader& reader) noexcept
    : reader_(reader), outerEnd_(reader.end_), left_(reader.unsignedVarint()) {
  // Each takes at least a byte for its tag and one for its size.
  if (reader_.ok() && static_cast<uint64_t>(left_) * 2 > reader_.remaining()) reader_.fail(Reader::Failure::TooLong);
}

bool TagSection::next() noexcept {
  if (inside_) leave();
  if (!reader_.ok() || left_ == 0) return false;
  --left_;
  tag_ = reader_.unsignedVarint();
  const uint32_t size = reader_.unsignedVarint();
  if (!reader_.ok()) return false;
  if (size > reader_.remaining()) {
    reader_.fail(Reader::Failure::TooLong);
    return false;
  }
  inside_ = true;
  if (reader_.frameEnd_ == nullptr) reader_.frameEnd_ = reader_.end_;
  reader_.end_ = reader_.cursor_ + size;
  return true;
}

void TagSection::leave() noexcept {
  inside_ = false;
  // After a failure the reader stays at the end of the field, so that nothing more is read.
  if (!reader_.ok()) return;
  if (reader_.cursor_ != reader_.end_) {
    reader_.fail(Reader::Failure::BadTagSize);
    return;
  }
  reader_.end_ = outerEnd_;
  if (outerEnd_ == reader_.frameEnd_) reader_.frameEnd_ = nullptr;
}

}  // namespace tidemark::protocol
