#include "protocol/records_field.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/invariant.h"

namespace tidemark::protocol {
namespace {

size_t sizeOf(const platform::Piece& piece) noexcept {
  if (const auto* bytes = std::get_if<SharedBytes>(&piece)) return bytes->size();
  return std::get_if<platform::FileSlice>(&piece)->length;
}

bool samePiece(const platform::Piece& a, const platform::Piece& b) {
  if (a.index() != b.index()) return false;
  if (const auto* bytes = std::get_if<SharedBytes>(&a))
    return asText(bytes->view()) == asText(std::get<SharedBytes>(b).view());
  const auto& left = std::get<platform::FileSlice>(a);
  const auto& right = std::get<platform::FileSlice>(b);
  return left.file == right.file && left.position == right.position && left.length == right.length;
}

}  // namespace

Records::Records(platform::FileSlice slice) : held_(std::vector<platform::Piece>{std::move(slice)}) {}

Records::Records(std::vector<platform::Piece> pieces) {
  if (pieces.size() == 1 && std::holds_alternative<SharedBytes>(pieces.front())) {
    held_ = std::get<SharedBytes>(std::move(pieces.front()));
  } else if (!pieces.empty()) {
    held_ = std::move(pieces);
  }
}

Records Records::null() noexcept {
  Records records;
  records.held_ = Null();
  return records;
}

Records Records::borrowed(ByteView bytes) noexcept {
  Records records;
  records.held_ = bytes;
  return records;
}

Records::Records(const Records& other) : held_(other.held_) {
  if (const auto* borrowed = std::get_if<ByteView>(&held_); borrowed != nullptr && !borrowed->empty())
    held_ = SharedBytes(ByteVector(borrowed->begin(), borrowed->end()));
}

Records& Records::operator=(const Records& other) {
  if (this != &other) *this = Records(other);
  return *this;
}

size_t Records::size() const noexcept {
  if (const auto* borrowed = std::get_if<ByteView>(&held_)) return borrowed->size();
  if (const auto* shared = std::get_if<SharedBytes>(&held_)) return shared->size();
  size_t sum = 0;
  if (const auto* list = std::get_if<std::vector<platform::Piece>>(&held_))
    for (const platform::Piece& piece : *list) sum += sizeOf(piece);
  return sum;
}

ByteView Records::view() const {
  if (const auto* borrowed = std::get_if<ByteView>(&held_)) return *borrowed;
  if (const auto* shared = std::get_if<SharedBytes>(&held_)) return shared->view();
  TIDEMARK_INVARIANT(isNull(), std::string("records that lie in files were asked for as memory"));
  return {};
}

std::vector<platform::Piece> Records::pieces() const {
  if (const auto* list = std::get_if<std::vector<platform::Piece>>(&held_)) return *list;
  if (const auto* shared = std::get_if<SharedBytes>(&held_)) return {*shared};
  if (const ByteView bytes = view(); !bytes.empty()) return {SharedBytes(nullptr, bytes)};
  return {};
}

Result<ByteVector> Records::bytes() const {
  ByteVector all(size());
  size_t at = 0;
  for (const platform::Piece& piece : pieces()) {
    const size_t count = sizeOf(piece);
    const MutableBytes into(all.data() + at, count);
    at += count;
    if (const auto* shared = std::get_if<SharedBytes>(&piece)) {
      if (count > 0) std::memcpy(into.data(), shared->view().data(), count);
      continue;
    }
    const auto& slice = std::get<platform::FileSlice>(piece);
    TIDEMARK_ASSIGN(const size_t got, slice.file->readAt(slice.position, into));
    if (got != count)
      return fail(ErrorCode::KafkaStorageError,
                  fmt::format("{} ends before byte {} of records to send", slice.file->path(), slice.position + count));
  }
  return all;
}

bool operator==(const Records& a, const Records& b) {
  if (a.isNull() != b.isNull() || a.size() != b.size()) return false;
  if (a.isInMemory() && b.isInMemory()) return asText(a.view()) == asText(b.view());
  const std::vector<platform::Piece> left = a.pieces();
  const std::vector<platform::Piece> right = b.pieces();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), samePiece);
}

}  // namespace tidemark::protocol
