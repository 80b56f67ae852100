#include "network/frame_assembler.h"

#include <algorithm>
#include <cstring>

namespace tidemark::network {

FrameAssembler::FrameAssembler(std::shared_ptr<FrameMemory> memory, uint32_t maxFrameBytes)
    : memory_(std::move(memory)),
      maxFrameBytes_(maxFrameBytes),
      buffer_(std::make_unique_for_overwrite<uint8_t[]>(kBufferSize)) {}

bool FrameAssembler::begin() {
  if (end_ - begin_ < sizeof(int32_t)) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    room_ = {buffer_.get() + end_, kBufferSize - end_};
    roomIsInFrame_ = false;
    return false;
  }
  const auto length = readBigEndian<int32_t>(buffer_.get() + begin_);
  if (length <= 0 || static_cast<uint32_t>(length) > maxFrameBytes_) {
    badLength_ = length;
    room_ = {};
    return false;
  }
  begin_ += sizeof length;
  frame_ = std::make_shared<IncomingFrame>(memory_, static_cast<uint32_t>(length));
  return true;
}

void FrameAssembler::copyBuffered() noexcept {
  const MutableBytes room = frame_->room();
  const size_t count = std::min(end_ - begin_, room.size());
  std::memcpy(room.data(), buffer_.get() + begin_, count);
  frame_->filled(count);
  begin_ += count;
}

void FrameAssembler::received(size_t count) noexcept {
  if (roomIsInFrame_) {
    frame_->filled(count);
  } else {
    end_ += count;
  }
}

std::shared_ptr<IncomingFrame> FrameAssembler::take() noexcept {
  frame_->seal();
  return std::move(frame_);
}

}  // namespace tidemark::network
