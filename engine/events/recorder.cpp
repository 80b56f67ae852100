#include "events/recorder.h"

#include <algorithm>
#include <array>

namespace tidemark::events {
namespace {

/// Tells recorders apart in the caches of threads; carries no state of a broker.
std::atomic<uint64_t> nextIdentity{1};

/// The rings this thread used last: in a broker there is one, in a simulated world one for each broker.
struct RingCache {
  struct Entry {
    uint64_t identity = 0;
    Ring* ring = nullptr;
  };
  std::array<Entry, 16> entries{};
  size_t next = 0;
};
thread_local RingCache ringCache;

}  // namespace

Recorder::Recorder(platform::Clock& clock, NodeId broker) : Recorder(clock, broker, Options()) {}

Recorder::Recorder(platform::Clock& clock, NodeId broker, Options options)
    : clock_(clock),
      broker_(broker),
      options_(options),
      identity_(nextIdentity.fetch_add(1, std::memory_order_relaxed)) {
  topics_.emplace_back();
}

Recorder::~Recorder() = default;

TopicTag Recorder::topic(std::string_view name) {
  if (name.empty()) return kNoTopicTag;
  const Lock lock(mutex_);
  if (const auto found = tags_.find(name); found != tags_.end()) return found->second;
  if (topics_.size() > kMaxTopics) name = "…";
  if (const auto found = tags_.find(name); found != tags_.end()) return found->second;
  const TopicTag tag(static_cast<int32_t>(topics_.size()));
  tags_.emplace(topics_.emplace_back(name), tag);
  return tag;
}

std::string Recorder::topicName(TopicTag tag) const {
  const Lock lock(mutex_);
  const auto index = static_cast<size_t>(tag.value());
  return tag.value() < 0 || index >= topics_.size() ? std::string() : topics_[index];
}

void Recorder::record(const Payload& payload) noexcept {
  Event event;
  event.sequence = sequence_.fetch_add(1, std::memory_order_acq_rel) + 1;
  event.at = clock_.monotonic();
  event.wall = clock_.wall();
  event.broker = broker_;
  event.payload = payload;
  ringOfThisThread().push(event);
  // An exchange, not a load: it puts the event before the flag, so that no drain misses both.
  if (!awake_.exchange(true, std::memory_order_acq_rel) && wake_) wake_();
}

Ring& Recorder::ringOfThisThread() {
  RingCache& cache = ringCache;
  for (const RingCache::Entry& entry : cache.entries)
    if (entry.identity == identity_) return *entry.ring;
  const Lock lock(mutex_);
  const std::thread::id self = std::this_thread::get_id();
  auto found =
      std::find_if(rings_.begin(), rings_.end(), [self](const ThreadRing& known) { return known.thread == self; });
  if (found == rings_.end()) {
    rings_.push_back({self, std::make_unique<Ring>(options_.ringCapacity)});
    found = std::prev(rings_.end());
  }
  cache.entries[cache.next++ % cache.entries.size()] = {identity_, found->ring.get()};
  return *found->ring;
}

uint64_t Recorder::drain(std::vector<Event>& into) {
  // Before the rings are read: an event written after that wakes again.
  awake_.exchange(false, std::memory_order_acq_rel);
  const size_t begin = into.size();
  uint64_t lost = 0;
  {
    const Lock lock(mutex_);
    for (const ThreadRing& known : rings_) {
      known.ring->drain(into);
      lost += known.ring->takeLost();
    }
  }
  std::sort(into.begin() + static_cast<std::ptrdiff_t>(begin), into.end(),
            [](const Event& a, const Event& b) { return a.sequence < b.sequence; });
  return lost;
}

}  // namespace tidemark::events
