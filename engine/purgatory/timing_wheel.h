#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tidemark::purgatory {

class TimingWheel;

/// What can wait in a timing wheel: once at a time, until its tick comes or it is removed. While it waits the wheel
/// shares its ownership. The links belong to the wheel and its lock.
class TimerEntry {
 public:
  TimerEntry() = default;
  TimerEntry(const TimerEntry&) = delete;
  TimerEntry& operator=(const TimerEntry&) = delete;
  virtual ~TimerEntry() = default;

  /// Its time has come. Called once, with no lock held, after it left the wheel.
  virtual void onTimeout() = 0;

 private:
  friend class TimingWheel;
  struct Links {
    TimerEntry* previous = nullptr;
    TimerEntry* next = nullptr;
  };
  Links links_;
  struct Bucket* bucket_ = nullptr;
  int64_t deadlineTick_ = 0;
  std::shared_ptr<TimerEntry> self_;
  friend struct Bucket;
};

/// The entries of one slot of a wheel, in order of arrival.
struct Bucket {
  TimerEntry* first = nullptr;
  TimerEntry* last = nullptr;
  /// Tick from which on it may be emptied; −1 while it is not in the queue of buckets.
  int64_t expirationTick = -1;
  /// No deadline in it is earlier, whatever was removed since.
  int64_t earliestTick = 0;
};

/// Hierarchical timing wheel, as Kafka's: wheels of 20 slots, each slot of a wheel as long as the whole wheel below it.
/// Adding and removing take constant time. A slot of a higher wheel is spread over the lower ones at the first
/// advance() after it came up, so that every entry leaves exactly at its tick; nobody need come for the spreading
/// alone. Ticks are counted by the owner, who also guards it: not thread-safe.
class TimingWheel {
 public:
  static constexpr int64_t kSlots = 20;
  /// 20⁹ ticks of a millisecond are 16 years; deadlines beyond are cut to that.
  static constexpr size_t kMaxLevels = 9;

  explicit TimingWheel(int64_t nowTick) : nowTick_(nowTick) {}
  ~TimingWheel();
  TimingWheel(const TimingWheel&) = delete;
  TimingWheel& operator=(const TimingWheel&) = delete;

  /// False, and nothing done, if the deadline has passed at `nowTick`. The entry waits nowhere yet.
  bool add(std::shared_ptr<TimerEntry> entry, int64_t deadlineTick, int64_t nowTick);
  /// False if the entry does not wait here (any more).
  bool remove(TimerEntry& entry);
  /// Takes out all entries whose deadline is at or before `nowTick`, earlier ones first.
  std::vector<std::shared_ptr<TimerEntry>> advance(int64_t nowTick);
  /// When advance() is next to be called: at the earliest deadline, or before it if an earlier one was removed. Nothing
  /// if no entry waits. Looks at every slot in use.
  std::optional<int64_t> nextTick();
  size_t size() const noexcept { return size_; }

 private:
  using Level = std::array<Bucket, kSlots>;
  struct Queued {
    int64_t tick;
    uint8_t level;
    uint8_t slot;
    /// For a heap whose front is the earliest; equal ticks: the finer wheel first.
    friend bool operator<(const Queued& a, const Queued& b) {
      return a.tick != b.tick ? a.tick > b.tick : a.level > b.level;
    }
  };

  void place(TimerEntry& entry);
  static void append(Bucket& bucket, TimerEntry& entry);
  static void unlink(TimerEntry& entry);
  void pop();
  /// The queue without empty buckets at its front.
  bool isQueueEmpty();
  Bucket& bucketOf(const Queued& queued) { return (*levels_[queued.level])[queued.slot]; }

  int64_t nowTick_;
  size_t size_ = 0;
  /// Made when first needed.
  std::vector<std::unique_ptr<Level>> levels_;
  /// A heap of the buckets that hold (or held) entries.
  std::vector<Queued> queue_;
};

}  // namespace tidemark::purgatory
