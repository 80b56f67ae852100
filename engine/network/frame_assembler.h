#pragma once

#include <cstdint>
#include <memory>

#include "network/frame_memory.h"

namespace tidemark::network {

/// Cuts a stream of bytes into frames: a length (int32, big-endian), then as many bytes. Pure: whoever has the socket
/// reads into room() and tells received(), then asks next(). A small buffer takes what comes before a frame's size is
/// known, and small frames whole; the rest of a larger frame is read straight into its place. One thread.
class FrameAssembler {
 public:
  enum class Next : uint8_t {
    Complete,     ///< take() has it
    NeedsBytes,   ///< read into room()
    NeedsMemory,  ///< until `granted` is called; then memoryGranted()
    BadLength,    ///< badLength() is zero, negative or above the limit: the stream is useless
  };

  FrameAssembler(std::shared_ptr<FrameMemory> memory, uint32_t maxFrameBytes);

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
  /// Lets go of a frame under way.
  void drop() noexcept { frame_.reset(); }

 private:
  static constexpr size_t kBufferSize = 4096;

  bool begin();
  void copyBuffered() noexcept;

  const std::shared_ptr<FrameMemory> memory_;
  const uint32_t maxFrameBytes_;
  const std::unique_ptr<uint8_t[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::shared_ptr<IncomingFrame> frame_;
  MutableBytes room_;
  bool roomIsInFrame_ = false;
  int32_t badLength_ = 0;
};

template <class MakeGranted>
FrameAssembler::Next FrameAssembler::next(MakeGranted makeGranted) {
  if (!frame_ && !begin()) return badLength_ != 0 || room_.empty() ? Next::BadLength : Next::NeedsBytes;
  while (!frame_->complete()) {
    if (frame_->needsClaim() && !frame_->claim(makeGranted())) return Next::NeedsMemory;
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
