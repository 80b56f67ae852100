#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "events/event.h"
#include "events/kinds.h"
#include "events/ring.h"
#include "platform/clock.h"

namespace tidemark::events {

/// Where one broker's folders write their events. One per Process, made before and destroyed after all that emit.
///
/// emit() is called from any thread of the broker, under the lock that guards the change, and costs one predicted
/// branch while nobody wants that kind of event: then it draws no number either. It never blocks, allocates only at a
/// thread's first event, and never fails: when the thread's ring is full the event still draws its number and is
/// counted as lost.
class Recorder {
 public:
  struct Options {
    /// Events a thread may have ahead of the collector; a power of two.
    uint32_t ringCapacity = 1024;
  };

  Recorder(platform::Clock& clock, NodeId broker);
  Recorder(platform::Clock& clock, NodeId broker, Options options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  NodeId broker() const noexcept { return broker_; }

  /// The tag of a topic's name; the same name gets the same tag. Takes a lock: ask once and keep it (a partition's log
  /// does). Works while disabled. At most kMaxTopics names: later ones share the tag of "…".
  TopicTag topic(std::string_view name);
  PartitionTag partition(std::string_view topicName, PartitionIndex index) { return {topic(topicName), index}; }
  /// Empty for a tag this recorder did not give.
  std::string topicName(TopicTag tag) const;
  static constexpr size_t kMaxTopics = 100'000;

  /// Whether somebody wants events of one of these kinds: else nothing need be made ready for telling them.
  template <class... Kind>
  bool wants() const noexcept {
    constexpr Kinds kKinds = Kinds::of<Kind...>();
    uint64_t found = 0;
    for (size_t i = 0; i < kKinds.words().size(); ++i)
      if (kKinds.words()[i] != 0) found |= wanted_[i].load(std::memory_order_relaxed) & kKinds.words()[i];
    return found != 0;
  }
  /// Somebody looks at all that happens, not only for some kinds of events.
  bool isWatched() const noexcept {
    constexpr Kinds kAll = Kinds::all();
    for (size_t i = 0; i < wanted_.size(); ++i)
      if (wanted_[i].load(std::memory_order_relaxed) != kAll.words()[i]) return false;
    return true;
  }
  /// By whoever drains it. Events of threads that are in the middle of emit() may still come.
  void want(const Kinds& kinds) noexcept {
    for (size_t i = 0; i < wanted_.size(); ++i) wanted_[i].store(kinds.words()[i], std::memory_order_relaxed);
  }

  /// `emit(SegmentRolled{.partition = tag, …})`, under the lock that guards the change.
  template <class Kind>
  void emit(const Kind& what) noexcept {
    if (!wants<Kind>()) [[likely]]
      return;
    record(Payload(what));
  }

  /// Called at most once between two drains, by the thread that emits, with its locks held: it may set a flag or post a
  /// message, nothing that waits. Set before want(), never changed while threads emit.
  void onFirstEvent(std::function<void()> wake) { wake_ = std::move(wake); }

  /// Moves what the rings hold to the end of `into`, in order of sequence, and returns how many events were lost since
  /// the last drain. One thread at a time. A number drawn by a thread that has not finished writing comes next time.
  uint64_t drain(std::vector<Event>& into);

  /// Numbers drawn so far: a snapshot taken under the same lock as an event is true at this number.
  uint64_t sequence() const noexcept { return sequence_.load(std::memory_order_acquire); }

 private:
  void record(const Payload& payload) noexcept;
  Ring& ringOfThisThread();

  platform::Clock& clock_;
  const NodeId broker_;
  const Options options_;
  /// Tells this recorder from any earlier one at the same address.
  const uint64_t identity_;
  std::array<std::atomic<uint64_t>, std::tuple_size_v<Kinds::Words>> wanted_{};
  std::atomic<bool> awake_{false};
  std::atomic<uint64_t> sequence_{0};
  std::function<void()> wake_;

  struct ThreadRing {
    std::thread::id thread;
    std::unique_ptr<Ring> ring;
  };
  mutable Mutex mutex_;
  std::vector<ThreadRing> rings_ GUARDED_BY(mutex_);
  std::deque<std::string> topics_ GUARDED_BY(mutex_);
  std::unordered_map<std::string_view, TopicTag> tags_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::events
