#pragma once

#include <memory>

#include "base/bytes.h"

namespace tidemark::network {

/// The bytes of one request or response without the four of its length, in memory that the frame owns. A frame of the
/// server gives its share of the budget back when the last owner lets go. Any thread, one writer at a time.
class Frame {
 public:
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  ByteView bytes() const noexcept { return bytes_; }
  /// The log stamps record batches in place.
  MutableBytes mutableBytes() noexcept { return bytes_; }

 protected:
  explicit Frame(MutableBytes bytes) noexcept : bytes_(bytes) {}
  ~Frame() = default;  // Only through the shared_ptr that knows the real type.

  MutableBytes bytes_;
};

using FramePtr = std::shared_ptr<Frame>;

/// `view`, which lies in `frame`, as bytes that keep the frame.
inline SharedBytes share(FramePtr frame, ByteView view) {
  return {std::move(frame), view};
}

}  // namespace tidemark::network
