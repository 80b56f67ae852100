#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/invariant.h"
#include "base/mutex.h"
#include "platform/clock.h"
#include "purgatory/delayed_operation.h"
#include "purgatory/expiration_timer.h"

namespace tidemark::purgatory {

/// One parked operation, as views show it.
struct ParkedOperation {
  std::string what;
  std::vector<std::string> keys;
  platform::MonotonicTime deadline;
};

/// Where delayed operations wait (Kafka's DelayedOperationPurgatory): in a list per key that may complete them, and in
/// the timing wheel. An event names its key and completes what it can; nothing polls. All calls from any thread; see
/// DelayedOperation for which locks callers may hold (none that canComplete() takes).
///
/// `Key`: hashable by `Hash`, comparable, copyable; with an fmt formatter if snapshot() is used.
template <class Key, class Hash = std::hash<Key>>
class Purgatory {
 public:
  using Operation = std::shared_ptr<DelayedOperation>;
  /// Completed operations may stay in lists of other keys until there are this many of them.
  static constexpr int64_t kDefaultPurgeInterval = 1000;

  /// `name`: Kafka's word for it ("Produce", "Fetch", …).
  Purgatory(std::string name, std::shared_ptr<ExpirationTimer> timer, int64_t purgeInterval = kDefaultPurgeInterval)
      : name_(std::move(name)), timer_(std::move(timer)), purgeInterval_(purgeInterval) {}
  Purgatory(const Purgatory&) = delete;
  Purgatory& operator=(const Purgatory&) = delete;

  /// Completes the operation if it can be, or parks it under all keys (at least one) until an event or its timeout. No
  /// event after the call's start is missed. True if it is complete on return.
  bool tryCompleteElseWatch(const Operation& operation, std::span<const Key> keys) {
    TIDEMARK_INVARIANT(!keys.empty(), std::string("an operation without keys would wait for nothing"));
    if (operation->tryComplete()) return true;
    operation->counts_ = counts_;
    operation->counted_ = true;
    counts_->delayed.fetch_add(1, std::memory_order_relaxed);
    counts_->listed.fetch_add(1, std::memory_order_relaxed);
    operation->deadline_ = timer_->clock().monotonic() + operation->timeout();
    operation->onParked();
    for (const Key& key : keys) watch(key, operation);
    // What happened before it was listed everywhere was reported to nobody: look once more.
    if (operation->tryComplete() || operation->isCompleted()) return true;
    operation->park(timer_);
    if (counts_->listed.load(std::memory_order_relaxed) - counts_->delayed.load(std::memory_order_relaxed) >
        purgeInterval_) {
      purge();
    }
    return operation->isCompleted();
  }

  /// Something happened to `key`: completes each operation under it that can be now. Returns how many.
  int checkAndComplete(const Key& key) {
    Shard& shard = shardOf(key);
    std::vector<Operation> watched;
    {
      const Lock lock(shard.mutex);
      const auto found = shard.watchers.find(key);
      if (found == shard.watchers.end()) return 0;
      watched = found->second;
    }
    int completed = 0;
    for (const Operation& operation : watched) completed += !operation->isCompleted() && operation->tryComplete();
    const Lock lock(shard.mutex);
    const auto found = shard.watchers.find(key);
    if (found != shard.watchers.end()) dropCompleted(shard, found);
    return completed;
  }

  /// Stops watching `key`: its operations neither complete by it nor time out. Returns those that are still open, for
  /// the caller to complete or forget.
  std::vector<Operation> cancelForKey(const Key& key) {
    std::vector<Operation> cancelled;
    {
      Shard& shard = shardOf(key);
      const Lock lock(shard.mutex);
      const auto found = shard.watchers.find(key);
      if (found == shard.watchers.end()) return cancelled;
      cancelled = std::move(found->second);
      shard.watchers.erase(found);
    }
    std::erase_if(cancelled, [](const Operation& operation) { return operation->isCompleted(); });
    for (const Operation& operation : cancelled) operation->stopWaiting();
    return cancelled;
  }

  const std::string& name() const noexcept { return name_; }
  /// Operations that wait.
  size_t delayed() const noexcept { return static_cast<size_t>(std::max<int64_t>(0, counts_->delayed.load())); }
  /// Entries in the lists of all keys; an operation counts once for each key, and until it is purged.
  size_t watched() const {
    size_t count = 0;
    for (Shard& shard : shards_) {
      const Lock lock(shard.mutex);
      for (const auto& [key, operations] : shard.watchers) count += operations.size();
    }
    return count;
  }
  /// Completed (expired ones included) and expired since the start.
  int64_t completed() const noexcept { return counts_->completed.load(); }
  int64_t expired() const noexcept { return counts_->expired.load(); }

  /// What waits now, each once, by deadline.
  std::vector<Operation> operations() const {
    std::vector<Operation> open;
    for (Shard& shard : shards_) {
      const Lock lock(shard.mutex);
      for (const auto& [key, operations] : shard.watchers)
        for (const Operation& operation : operations)
          if (!operation->isCompleted()) open.push_back(operation);
    }
    std::sort(open.begin(), open.end(), [](const Operation& a, const Operation& b) {
      return std::pair(a->deadline(), a.get()) < std::pair(b->deadline(), b.get());
    });
    open.erase(std::unique(open.begin(), open.end()), open.end());
    return open;
  }

  /// What waits now, by deadline.
  std::vector<ParkedOperation> snapshot() const {
    std::vector<std::pair<Operation, std::vector<std::string>>> found;
    std::unordered_map<const DelayedOperation*, size_t> indexes;
    for (Shard& shard : shards_) {
      const Lock lock(shard.mutex);
      for (const auto& [key, operations] : shard.watchers) {
        for (const Operation& operation : operations) {
          if (operation->isCompleted()) continue;
          const auto [at, isNew] = indexes.emplace(operation.get(), found.size());
          if (isNew) found.emplace_back(operation, std::vector<std::string>());
          found[at->second].second.push_back(fmt::format("{}", key));
        }
      }
    }
    std::vector<ParkedOperation> parked;
    for (auto& [operation, keys] : found) {
      std::sort(keys.begin(), keys.end());
      parked.push_back({operation->describe(), std::move(keys), operation->deadline()});
    }
    std::sort(parked.begin(), parked.end(), [](const ParkedOperation& a, const ParkedOperation& b) {
      return std::tie(a.deadline, a.what, a.keys) < std::tie(b.deadline, b.what, b.keys);
    });
    return parked;
  }

 private:
  static constexpr size_t kShards = 64;

  struct Shard {
    Mutex mutex;
    std::unordered_map<Key, std::vector<Operation>, Hash> watchers GUARDED_BY(mutex);
  };

  Shard& shardOf(const Key& key) const {
    const uint64_t mixed = static_cast<uint64_t>(Hash{}(key)) * 0x9e3779b97f4a7c15ULL;
    return shards_[mixed >> 58];
  }

  void watch(const Key& key, const Operation& operation) {
    if (operation->isCompleted()) return;
    Shard& shard = shardOf(key);
    const Lock lock(shard.mutex);
    shard.watchers[key].push_back(operation);
  }

  template <class Iterator>
  static Iterator dropCompleted(Shard& shard, Iterator at) REQUIRES(shard.mutex) {
    std::erase_if(at->second, [](const Operation& operation) { return operation->isCompleted(); });
    return at->second.empty() ? shard.watchers.erase(at) : std::next(at);
  }

  void purge() {
    counts_->listed = counts_->delayed.load();
    for (Shard& shard : shards_) {
      const Lock lock(shard.mutex);
      for (auto at = shard.watchers.begin(); at != shard.watchers.end();) at = dropCompleted(shard, at);
    }
  }

  static_assert(kShards == 64, "shardOf takes the six highest bits");

  const std::string name_;
  const std::shared_ptr<ExpirationTimer> timer_;
  const int64_t purgeInterval_;
  const std::shared_ptr<PurgatoryCounts> counts_ = std::make_shared<PurgatoryCounts>();
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace tidemark::purgatory
