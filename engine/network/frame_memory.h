#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "network/frame.h"
#include "platform/executor.h"

namespace tidemark::network {

/// Memory for requests in flight, by the bytes that have arrived. Pure bookkeeping; any thread.
///
/// A claim is granted while less than the limit is taken, so the last one may go over it, by a step. A frame that has
/// begun asks again as it grows. When the budget is full it waits; one of those that wait may always go on to its end,
/// or half-read frames could hold all memory and wait for each other. Beginners wait behind growers; each in order.
///
/// Small frames, which most requests are, wait only when they have a quarter of the limit themselves, be the rest full
/// or not: whoever lets large ones trickle in does not keep everybody else from being served.
class ByteBudget {
 public:
  explicit ByteBudget(uint64_t limit) noexcept : limit_(limit) {}

  /// What one frame has taken. Must be released before it is destroyed.
  class Claim {
   public:
    Claim() = default;
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    friend class ByteBudget;
    uint64_t bytes_ = 0;  // Guarded by the budget's mutex, as is all of it.
    bool waiting_ = false;
    bool privileged_ = false;
    bool isSmall_ = false;
  };

  /// Adds `bytes`, of a frame of `whole` bytes, to the claim and returns true; or returns false, and they are added
  /// just before `granted` is called, from within some release(), with no lock held.
  bool take(Claim& claim, uint64_t bytes, uint64_t whole, platform::Task granted) EXCLUDES(mutex_);
  /// Gives all of it back and stops waiting.
  void release(Claim& claim) EXCLUDES(mutex_);

  /// Whether a frame waits for bytes.
  bool someoneWaits() const EXCLUDES(mutex_);
  uint64_t used() const EXCLUDES(mutex_);
  uint64_t limit() const noexcept { return limit_; }

 private:
  struct Waiter {
    Claim* claim;
    uint64_t bytes;
    platform::Task granted;
  };
  bool hasReserve() const REQUIRES(mutex_) { return smallUsed_ < limit_ / kReserve; }
  void add(Claim& claim, uint64_t bytes) REQUIRES(mutex_);
  void grantNext(std::vector<platform::Task>& granted) REQUIRES(mutex_);
  void grant(std::deque<Waiter>& from, std::deque<Waiter>::iterator which, std::vector<platform::Task>& granted)
      REQUIRES(mutex_);

  /// Parts of the limit: a frame no larger is small, and what all of them may take whoever else has taken what.
  static constexpr uint64_t kSmall = 64;
  static constexpr uint64_t kReserve = 4;

  const uint64_t limit_;
  mutable Mutex mutex_;
  uint64_t used_ GUARDED_BY(mutex_) = 0;
  /// Of it by small frames.
  uint64_t smallUsed_ GUARDED_BY(mutex_) = 0;
  bool someonePrivileged_ GUARDED_BY(mutex_) = false;
  std::deque<Waiter> growers_ GUARDED_BY(mutex_);
  std::deque<Waiter> beginners_ GUARDED_BY(mutex_);
};

/// Raw memory for frames. Keeps a few buffers of the sizes that produce requests have, since fresh pages cost more than
/// what is written to them. Any thread.
class FramePool {
 public:
  struct Block {
    uint8_t* data = nullptr;
    size_t capacity = 0;
  };

  /// Keeps at most `maxKept` bytes that nobody uses.
  explicit FramePool(size_t maxKept) noexcept : maxKept_(maxKept) {}
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// At least `size` bytes, with anything in them.
  Block get(size_t size) EXCLUDES(mutex_);
  void put(Block block) noexcept EXCLUDES(mutex_);
  /// The block enlarged, what was in it kept.
  static Block grow(Block block, size_t size);

 private:
  static constexpr size_t kSmallestClass = 16 << 10;
  static constexpr size_t kClasses = 8;  // 16 KiB … 2 MiB

  const size_t maxKept_;
  Mutex mutex_;
  std::array<std::vector<uint8_t*>, kClasses> free_ GUARDED_BY(mutex_);
  size_t kept_ GUARDED_BY(mutex_) = 0;
};

/// Pool and budget of one server or channel. Frames keep it alive.
struct FrameMemory {
  FrameMemory(uint64_t limit, size_t maxKept) : budget(limit), pool(maxKept) {}

  /// Buffers in which connections wait for what comes next are no part of the budget, so they may be large only while
  /// all of them together are a small part of it. True: `bytes` were added, and are given back with returnAhead().
  bool takeAhead(size_t bytes) noexcept {
    constexpr uint64_t kPart = 16;
    if (ahead_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= budget.limit() / kPart) return true;
    returnAhead(bytes);
    return false;
  }
  void returnAhead(size_t bytes) noexcept { ahead_.fetch_sub(bytes, std::memory_order_relaxed); }

  ByteBudget budget;
  FramePool pool;

 private:
  std::atomic<uint64_t> ahead_{0};
};

/// A frame while it is read, and after. While reading: on the connection's executor only.
class IncomingFrame final : public Frame {
 public:
  /// For `size` bytes, none of which is claimed or allocated yet.
  IncomingFrame(std::shared_ptr<FrameMemory> memory, uint32_t size) noexcept;
  ~IncomingFrame();

  /// Where the next bytes go: empty if the frame is complete, or if it has no more room and must claim() first.
  MutableBytes room() noexcept { return {block_.data + filled_, claimed_ - filled_}; }
  void filled(size_t count) noexcept { filled_ += count; }
  bool needsClaim() const noexcept { return filled_ == claimed_ && claimed_ < size_; }
  bool complete() const noexcept { return filled_ == size_; }

  /// All its bytes are in `block` from `start` on; it takes the block. They count as received once they are claimed,
  /// all in one step. Before anything else is asked of it.
  void adopt(FramePool::Block block, size_t start) noexcept {
    block_ = block;
    start_ = start;
    adopted_ = true;
  }
  /// Makes more room, now (true) or before `granted` is called; then call makeRoom().
  bool claim(platform::Task granted);
  /// After a claim was granted.
  void makeRoom();
  /// All bytes have come: bytes() is valid from here on.
  void seal() noexcept { bytes_ = {block_.data + start_, size_}; }

 private:
  static constexpr size_t kFirstStep = 64 << 10;
  static constexpr size_t kLargestStep = 1 << 20;
  static constexpr size_t kAllocateAtOnce = 1 << 20;

  std::shared_ptr<FrameMemory> memory_;
  ByteBudget::Claim claim_;
  FramePool::Block block_;
  const size_t size_;
  size_t start_ = 0;
  bool adopted_ = false;
  size_t step_ = 0;
  size_t claimed_ = 0;
  size_t filled_ = 0;
};

}  // namespace tidemark::network
