#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "events/recorder.h"
#include "observe/history.h"

namespace tidemark::observe {

/// Gathers the events of all brokers of a cluster into one History. Thread-safe; it takes no lock of a broker, and no
/// broker ever waits for it. Owned by whoever runs the cluster, outlives nothing: recorders are shared.
///
/// Order: within one broker by sequence; across brokers by monotonic time, which is one clock in one program. Events
/// that come from a thread that was late are put behind those already in the history.
class Collector {
 public:
  explicit Collector(size_t historyCapacity = 50'000) : history_(historyCapacity) {}
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// Has a recorder wake this collector, once it is listened to. Before any thread emits to it.
  void prepare(events::Recorder& recorder);
  /// From now on these kinds of events of a broker are gathered, and no others. Of its recorder, which was prepared; a
  /// restarted broker comes with a new one under the same id. None: what is left is taken, and the recorder let go.
  void listen(const std::shared_ptr<events::Recorder>& recorder, const events::Kinds& kinds);

  /// Called when there is something to collect, at most once until the next collect(), on a thread of a broker that
  /// holds locks: it may post a message, nothing more. Set before the first listen().
  void onWake(std::function<void()> wake) { wake_ = std::move(wake); }

  /// Drains all recorders into the history. Cheap if there is nothing.
  void collect();

  /// Adds an event that no broker tells: what the lab itself does (kill, pause, …). Its sequence is 0.
  void append(const events::Event& event, const std::string& topic = {});

  /// What came after `since` (0: everything kept). Does not collect.
  EventBatch eventsAfter(uint64_t since, size_t limit = SIZE_MAX) const;

  uint64_t lost() const;

 private:
  struct Source {
    std::shared_ptr<events::Recorder> recorder;
    /// Names of the recorder's tags that were asked for already.
    std::unordered_map<int32_t, std::string> topics;
  };
  void drain(Source& source, std::vector<ObservedEvent>& into) REQUIRES(mutex_);
  void keep(std::vector<ObservedEvent>& batch) REQUIRES(mutex_);

  std::function<void()> wake_;
  mutable Mutex mutex_;
  std::vector<Source> sources_ GUARDED_BY(mutex_);
  std::vector<events::Event> scratch_ GUARDED_BY(mutex_);
  History history_ GUARDED_BY(mutex_);
  uint64_t lost_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tidemark::observe
