#include "protocol/writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "protocol/records_field.h"

namespace tidemark::protocol {
namespace {

constexpr size_t kFirstBuffer = 256;

}  // namespace

void FrameWriter::grow(size_t count) {
  if (counting_) {
    counted_ += static_cast<size_t>(cursor_ - begin_);
    cursor_ = begin_;
    return;
  }
  const size_t used = static_cast<size_t>(cursor_ - begin_);
  buffer_.resize(std::max({used + count, 2 * buffer_.size(), buffer_.capacity(), kFirstBuffer}));
  begin_ = buffer_.data();
  cursor_ = begin_ + used;
  end_ = begin_ + buffer_.size();
}

void FrameWriter::float64(double value) {
  number(std::bit_cast<int64_t>(value));
}

void FrameWriter::uuid(const Uuid& value) {
  std::memcpy(room(16), value.bytes().data(), 16);
  cursor_ += 16;
}

void FrameWriter::bytes(ByteView bytes) {
  if (bytes.empty()) return;
  if (counting_) {
    counted_ += bytes.size();
    return;
  }
  if (static_cast<size_t>(end_ - cursor_) < bytes.size()) grow(bytes.size());
  std::memcpy(cursor_, bytes.data(), bytes.size());
  cursor_ += bytes.size();
}

void FrameWriter::text(std::string_view text, bool flexible) {
  if (text.size() > kMaxStringSize) {
    refuse(fmt::format("a string of {} bytes is longer than the protocol's {}", text.size(), kMaxStringSize));
    return;
  }
  if (flexible)
    unsignedVarint(static_cast<uint32_t>(text.size()) + 1);
  else
    int16(static_cast<int16_t>(text.size()));
  bytes(asBytes(text));
}

void FrameWriter::nullableText(const std::optional<Text>& value, bool flexible) {
  if (value)
    text(value->view(), flexible);
  else if (flexible)
    unsignedVarint(0);
  else
    int16(-1);
}

void FrameWriter::blob(ByteView value, bool flexible) {
  if (flexible)
    unsignedVarint(static_cast<uint32_t>(value.size()) + 1);
  else
    int32(static_cast<int32_t>(value.size()));
  bytes(value);
}

void FrameWriter::nullableBlob(const std::optional<Blob>& value, bool flexible) {
  if (value)
    blob(value->view(), flexible);
  else
    nullArray(flexible);
}

void FrameWriter::records(const Records& records, bool flexible) {
  if (records.isNull()) {
    nullArray(flexible);
    return;
  }
  const size_t size = records.size();
  if (size >= INT32_MAX) {
    refuse(fmt::format("{} bytes of records are more than a frame holds", size));
    return;
  }
  arrayLength(size, flexible);
  if (records.isInMemory() && (records.isBorrowed() || size <= kCopyUpTo)) {
    bytes(records.view());
    return;
  }
  counted_ += size;
  if (counting_) return;
  for (platform::Piece& piece : records.pieces())
    cuts_.push_back({static_cast<size_t>(cursor_ - begin_), std::move(piece)});
}

void FrameWriter::arrayLength(size_t count, bool flexible) {
  if (flexible)
    unsignedVarint(static_cast<uint32_t>(count) + 1);
  else
    int32(static_cast<int32_t>(count));
}

void FrameWriter::nullArray(bool flexible) {
  if (flexible)
    unsignedVarint(0);
  else
    int32(-1);
}

size_t FrameWriter::beginFrame() {
  const size_t mark = size();
  TIDEMARK_INVARIANT(cuts_.empty(), std::string("a frame begins behind records"));
  int32(0);
  return mark;
}

void FrameWriter::endFrame(size_t mark) {
  if (!counting_) writeBigEndian(begin_ + mark, static_cast<int32_t>(size() - mark - sizeof(int32_t)));
}

void FrameWriter::refuse(std::string_view field, int16_t version) {
  if (ok()) refuse(fmt::format("{} is set, but version {} has no such field", field, version));
}

void FrameWriter::refuseNull(std::string_view field, int16_t version) {
  if (ok()) refuse(fmt::format("{} is null, which version {} does not allow", field, version));
}

void FrameWriter::refuse(std::string message) {
  if (ok()) error_ = Error{ErrorCode::UnsupportedVersion, std::move(message)};
}

Result<void> FrameWriter::result() const {
  if (error_) return fail(*error_);
  return {};
}

std::vector<platform::Piece> FrameWriter::takePieces() {
  TIDEMARK_INVARIANT(!counting_, std::string("a writer that counts has nothing to give"));
  buffer_.resize(static_cast<size_t>(cursor_ - begin_));
  begin_ = cursor_ = end_ = nullptr;
  counted_ = 0;
  const SharedBytes own(std::move(buffer_));
  buffer_ = {};
  std::vector<platform::Piece> pieces;
  pieces.reserve(2 * cuts_.size() + 1);
  size_t from = 0;
  for (Cut& cut : cuts_) {
    if (cut.position > from) pieces.emplace_back(own.subspan(from, cut.position - from));
    from = cut.position;
    pieces.push_back(std::move(cut.piece));
  }
  if (own.size() > from) pieces.emplace_back(own.subspan(from, own.size() - from));
  cuts_.clear();
  return pieces;
}

Result<ByteVector> FrameWriter::takeBytes() {
  TIDEMARK_INVARIANT(!counting_, std::string("a writer that counts has nothing to give"));
  if (cuts_.empty()) {
    buffer_.resize(static_cast<size_t>(cursor_ - begin_));
    begin_ = cursor_ = end_ = nullptr;
    return std::exchange(buffer_, {});
  }
  return Records(takePieces()).bytes();
}

TagPass::TagPass(FrameWriter& writer, uint32_t tag) noexcept
    : writer_(writer),
      tag_(tag),
      begin_(writer.begin_),
      cursor_(writer.cursor_),
      end_(writer.end_),
      counted_(writer.counted_) {}

bool TagPass::next() {
  switch (step_) {
    case Step::Start:
      // A writer that counts anyway needs one pass: the order of what it counts does not matter.
      if (writer_.counting_) {
        counted_ = writer_.size();
        step_ = Step::Write;
        begin_ = nullptr;
        writer_.unsignedVarint(tag_);
        return true;
      }
      writer_.count();
      step_ = Step::Count;
      return true;
    case Step::Count: {
      const size_t size = writer_.size();
      writer_.counting_ = false;
      writer_.begin_ = begin_;
      writer_.cursor_ = cursor_;
      writer_.end_ = end_;
      writer_.counted_ = counted_;
      writer_.unsignedVarint(tag_);
      writer_.unsignedVarint(static_cast<uint32_t>(size));
      step_ = Step::Write;
      return true;
    }
    case Step::Write:
      break;
  }
  if (writer_.counting_) {
    const size_t size = writer_.size() - counted_ - unsignedVarintSize(tag_);
    writer_.unsignedVarint(static_cast<uint32_t>(size));
  }
  return false;
}

}  // namespace tidemark::protocol
