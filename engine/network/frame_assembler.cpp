#include "network/frame_assembler.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tidemark::network {

FrameAssembler::FrameAssembler(std::shared_ptr<FrameMemory> memory, uint32_t maxFrameBytes)
    : memory_(std::move(memory)), maxFrameBytes_(maxFrameBytes), buffer_(memory_->pool.get(kSmallestBuffer)) {}

FrameAssembler::~FrameAssembler() {
  letGo(buffer_);
}

FramePool::Block FrameAssembler::takeBuffer(size_t size) {
  if (size > kSmallestBuffer) {
    const FramePool::Block large = memory_->pool.get(size);
    if (memory_->takeAhead(large.capacity)) return large;
    memory_->pool.put(large);
  }
  return memory_->pool.get(kSmallestBuffer);
}

void FrameAssembler::letGo(FramePool::Block block) noexcept {
  if (block.capacity > kSmallestBuffer) memory_->returnAhead(block.capacity);
  memory_->pool.put(block);
}

bool FrameAssembler::begin() {
  constexpr size_t kPrefix = sizeof(int32_t);
  const size_t have = end_ - begin_;
  if (have < kPrefix) return awaitBytes(expected_);
  const auto length = readBigEndian<int32_t>(buffer_.data + begin_);
  if (length <= 0 || static_cast<uint32_t>(length) > maxFrameBytes_) {
    badLength_ = length;
    room_ = {};
    return false;
  }
  const size_t whole = kPrefix + static_cast<size_t>(length);
  // The rest of a frame that fits is read behind what there is of it.
  if (have < whole && whole > kSmallestBuffer && whole <= buffer_.capacity) return awaitBytes(whole);
  expect(whole);
  begin_ += kPrefix;
  frame_ = std::make_shared<IncomingFrame>(memory_, static_cast<uint32_t>(length));
  if (have < whole || whole <= kSmallestBuffer) return true;
  const size_t left = have - whole;
  const FramePool::Block next = takeBuffer(std::max(expected_, left));
  if (next.capacity < left) {
    // There was no room for what came behind it: this frame is copied.
    letGo(next);
    return true;
  }
  std::memcpy(next.data, buffer_.data + begin_ + static_cast<size_t>(length), left);
  if (buffer_.capacity > kSmallestBuffer) memory_->returnAhead(buffer_.capacity);
  frame_->adopt(std::exchange(buffer_, next), begin_);
  begin_ = 0;
  end_ = left;
  return true;
}

/// For `room` bytes from begin_ on, as far as the buffer has them. Always false.
bool FrameAssembler::awaitBytes(size_t room) {
  if (begin_ > 0) {
    std::memmove(buffer_.data, buffer_.data + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == 0 && (buffer_.capacity < room || buffer_.capacity > 2 * std::max(room, kSmallestBuffer))) {
    letGo(std::exchange(buffer_, {}));
    buffer_ = takeBuffer(room);
  }
  room_ = {buffer_.data + end_, std::min(room, buffer_.capacity) - end_};
  roomIsInFrame_ = false;
  return false;
}

/// Follows larger frames at once and smaller ones slowly. Of one that no buffer holds as little as possible is copied.
void FrameAssembler::expect(size_t frameSize) noexcept {
  if (frameSize > kLargestBuffer) {
    expected_ = kSmallestBuffer;
    return;
  }
  const size_t size = std::max(frameSize, kSmallestBuffer);
  expected_ = size >= expected_ ? size : expected_ - (expected_ - size) / 8;
}

void FrameAssembler::copyBuffered() noexcept {
  const MutableBytes room = frame_->room();
  const size_t count = std::min(end_ - begin_, room.size());
  std::memcpy(room.data(), buffer_.data + begin_, count);
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
