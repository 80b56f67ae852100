#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "network/frame_memory.h"

namespace tidemark::network {

/// Cuts a stream of bytes into frames: a length (int32, big-endian), then as many bytes. Pure: whoever has the socket
/// reads into room() and tells received(), then asks next(). One thread.
///
/// What comes before a frame's size is known goes into a buffer that expects a frame like the last ones. A frame that
/// came as expected takes the buffer over: one read, no copy. Small frames are copied out of it, and of a frame larger
/// than it the rest is read straight into its place.
class FrameAssembler {
 public:
  enum class Next : uint8_t {
    Complete,     ///< take() has it
    NeedsBytes,   ///< read into room()
    NeedsMemory,  ///< until `granted` is called; then memoryGranted()
    BadLength,    ///< badLength() is zero, negative or above the limit: the stream is useless
  };

  FrameAssembler(std::shared_ptr<FrameMemory> memory, uint32_t maxFrameBytes);
  ~FrameAssembler();
  FrameAssembler(const FrameAssembler&) = delete;
  FrameAssembler& operator=(const FrameAssembler&) = delete;

  /// What is to be done now. `granted` is made only if it is needed: a callable that returns the Task.
  template <class MakeGranted>
  Next next(MakeGranted makeGranted);
  MutableBytes room() const noexcept { return room_; }
  void received(size_t count) noexcept;
  void memoryGranted() { frame_->makeRoom(); }
  std::shared_ptr<IncomingFrame> take() noexcept;

  int32_t badLength() const noexcept { return badLength_; }
  /// Whether bytes of an unfinished frame are here.
  bool insideFrame() const noexcept { return frame_ != nullptr || end_ > begin_; }
  /// Whether the next frame is small and here already, so that next() will not ask for bytes.
  bool hasSmallFrame() const noexcept {
    constexpr size_t kPrefix = sizeof(int32_t);
    if (frame_ != nullptr || end_ - begin_ < kPrefix) return false;
    const auto length = readBigEndian<int32_t>(buffer_.data + begin_);
    return length > 0 && static_cast<size_t>(length) + kPrefix <= std::min(end_ - begin_, kSmallestBuffer);
  }
  /// Lets go of a frame under way.
  void drop() noexcept { frame_.reset(); }

 private:
  static constexpr size_t kSmallestBuffer = 4096;
  static constexpr size_t kLargestBuffer = 128 << 10;

  bool begin();
  bool awaitBytes(size_t room);
  /// A buffer for `size` bytes, or a small one if others have too much.
  FramePool::Block takeBuffer(size_t size);
  void letGo(FramePool::Block block) noexcept;
  void expect(size_t frameSize) noexcept;
  void copyBuffered() noexcept;

  const std::shared_ptr<FrameMemory> memory_;
  const uint32_t maxFrameBytes_;
  FramePool::Block buffer_;
  /// Bytes of a frame with its length that the next read asks for.
  size_t expected_ = kSmallestBuffer;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::shared_ptr<IncomingFrame> frame_;
  MutableBytes room_;
  bool roomIsInFrame_ = false;
  int32_t badLength_ = 0;
};

template <class MakeGranted>
FrameAssembler::Next FrameAssembler::next(MakeGranted makeGranted) {
  if (!frame_ && !begin()) return room_.empty() ? Next::BadLength : Next::NeedsBytes;
  while (!frame_->complete()) {
    if (frame_->needsClaim()) {
      if (!frame_->claim(makeGranted())) return Next::NeedsMemory;
      continue;
    }
    if (begin_ == end_) {
      room_ = frame_->room();
      roomIsInFrame_ = true;
      return Next::NeedsBytes;
    }
    copyBuffered();
  }
  return Next::Complete;
}

}  // namespace tidemark::network
