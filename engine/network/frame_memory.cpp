#include "network/frame_memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <string>

#include "base/invariant.h"

namespace tidemark::network {

bool ByteBudget::take(Claim& claim, uint64_t bytes, uint64_t whole, platform::Task granted) {
  Lock lock(mutex_);
  TIDEMARK_INVARIANT(!claim.waiting_, std::string("a frame waits twice for memory"));
  const bool grower = claim.bytes_ > 0;
  const bool othersFirst = !growers_.empty() || (!grower && !beginners_.empty());
  claim.isSmall_ = whole <= limit_ / kSmall;
  bool allowed = claim.privileged_ || (used_ < limit_ && !othersFirst) || (claim.isSmall_ && hasReserve());
  if (!allowed && grower && !someonePrivileged_ && growers_.empty()) {
    claim.privileged_ = someonePrivileged_ = allowed = true;
  }
  if (allowed) {
    add(claim, bytes);
    return true;
  }
  claim.waiting_ = true;
  (grower ? growers_ : beginners_).push_back({&claim, bytes, std::move(granted)});
  return false;
}

void ByteBudget::release(Claim& claim) {
  std::vector<platform::Task> granted;
  platform::Task forgotten;
  {
    Lock lock(mutex_);
    if (claim.waiting_) {
      for (auto* queue : {&growers_, &beginners_}) {
        auto at =
            std::find_if(queue->begin(), queue->end(), [&](const Waiter& waiter) { return waiter.claim == &claim; });
        if (at == queue->end()) continue;
        forgotten = std::move(at->granted);
        queue->erase(at);
      }
      claim.waiting_ = false;
    }
    TIDEMARK_INVARIANT(claim.bytes_ <= used_, std::string("more frame memory is given back than was taken"));
    used_ -= claim.bytes_;
    if (claim.isSmall_) smallUsed_ -= claim.bytes_;
    claim.bytes_ = 0;
    if (claim.privileged_) claim.privileged_ = someonePrivileged_ = false;
    grantNext(granted);
  }
  for (auto& task : granted) task();
}

void ByteBudget::grantNext(std::vector<platform::Task>& granted) {
  while (used_ < limit_ && !growers_.empty()) grant(growers_, growers_.begin(), granted);
  while (used_ < limit_ && !beginners_.empty()) grant(beginners_, beginners_.begin(), granted);
  for (auto* queue : {&growers_, &beginners_}) {
    while (hasReserve()) {
      const auto small = std::ranges::find_if(*queue, [](const Waiter& waiter) { return waiter.claim->isSmall_; });
      if (small == queue->end()) break;
      grant(*queue, small, granted);
    }
  }
  if (!growers_.empty() && !someonePrivileged_) {
    growers_.front().claim->privileged_ = someonePrivileged_ = true;
    grant(growers_, growers_.begin(), granted);
  }
}

void ByteBudget::add(Claim& claim, uint64_t bytes) {
  claim.bytes_ += bytes;
  used_ += bytes;
  if (claim.isSmall_) smallUsed_ += bytes;
}

void ByteBudget::grant(std::deque<Waiter>& from, std::deque<Waiter>::iterator which,
                       std::vector<platform::Task>& granted) {
  Waiter waiter = std::move(*which);
  from.erase(which);
  waiter.claim->waiting_ = false;
  add(*waiter.claim, waiter.bytes);
  granted.push_back(std::move(waiter.granted));
}

bool ByteBudget::someoneWaits() const {
  Lock lock(mutex_);
  return !growers_.empty() || !beginners_.empty();
}

uint64_t ByteBudget::used() const {
  Lock lock(mutex_);
  return used_;
}

FramePool::~FramePool() {
  for (auto& kept : free_) {
    for (uint8_t* data : kept) std::free(data);
  }
}

FramePool::Block FramePool::get(size_t size) {
  Block block{nullptr, std::max<size_t>(size, 1)};
  if (size >= kSmallestClass && size <= kSmallestClass << (kClasses - 1)) {
    block.capacity = std::bit_ceil(size);
    const auto place = static_cast<size_t>(std::countr_zero(block.capacity / kSmallestClass));
    Lock lock(mutex_);
    auto& kept = free_[place];
    if (!kept.empty()) {
      block.data = kept.back();
      kept.pop_back();
      kept_ -= block.capacity;
      return block;
    }
  }
  block.data = static_cast<uint8_t*>(std::malloc(block.capacity));
  if (block.data == nullptr) throw std::bad_alloc();
  return block;
}

void FramePool::put(Block block) noexcept {
  if (block.data == nullptr) return;
  const bool pooled = std::has_single_bit(block.capacity) && block.capacity >= kSmallestClass &&
                      block.capacity <= kSmallestClass << (kClasses - 1);
  if (pooled) {
    Lock lock(mutex_);
    if (kept_ + block.capacity <= maxKept_) {
      free_[static_cast<size_t>(std::countr_zero(block.capacity / kSmallestClass))].push_back(block.data);
      kept_ += block.capacity;
      return;
    }
  }
  std::free(block.data);
}

FramePool::Block FramePool::grow(Block block, size_t size) {
  auto* data = static_cast<uint8_t*>(std::realloc(block.data, size));
  if (data == nullptr) throw std::bad_alloc();
  return {data, size};
}

IncomingFrame::IncomingFrame(std::shared_ptr<FrameMemory> memory, uint32_t size) noexcept
    : Frame({}), memory_(std::move(memory)), size_(size) {}

IncomingFrame::~IncomingFrame() {
  memory_->pool.put(block_);
  memory_->budget.release(claim_);
}

bool IncomingFrame::claim(platform::Task granted) {
  step_ = adopted_ ? size_ : std::min(std::clamp(claimed_, kFirstStep, kLargestStep), size_ - claimed_);
  if (!memory_->budget.take(claim_, step_, size_, std::move(granted))) return false;
  makeRoom();
  return true;
}

void IncomingFrame::makeRoom() {
  claimed_ += step_;
  step_ = 0;
  if (adopted_) {
    filled_ = claimed_;
  } else if (block_.data == nullptr) {
    block_ = memory_->pool.get(std::min(size_, kAllocateAtOnce));
  } else if (claimed_ > block_.capacity) {
    block_ = FramePool::grow(block_, std::min(size_, block_.capacity * 4));
  }
}

}  // namespace tidemark::network
