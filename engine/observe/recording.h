#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "observe/history.h"
#include "observe/snapshot.h"

namespace tidemark::observe {

/// What a cluster did, to be looked at again: its events, and a snapshot now and then from which they go on. Bounded:
/// the oldest goes first. Not thread-safe: it belongs to whoever looks.
class Recording {
 public:
  struct Bounds {
    size_t events = 100'000;
    size_t snapshots = 900;
    /// Of memory that snapshots take, by `bytesOf`; the newest one stays whatever it takes.
    size_t bytes = SIZE_MAX;
  };
  /// Snapshots closer than that are not kept.
  static constexpr Duration kApart = std::chrono::seconds(1);

  Recording() = default;
  explicit Recording(Bounds bounds) : bounds_(bounds) {}

  /// Numbers rise; those that are missing were lost.
  void add(const ObservedEvent& event);
  /// `cluster` as it was after every event that is not younger than it. Of a log's details its newest segments are
  /// kept; events tell of batches and index entries.
  void add(const ClusterSnapshot& cluster);
  void clear();
  /// Memory that it takes, about.
  size_t bytes() const noexcept { return snapshotBytes_ + events_.size() * sizeof(ObservedEvent); }

  /// Nothing can be shown before there is a snapshot.
  bool empty() const noexcept { return snapshots_.empty(); }
  /// From when on it can be looked at; not if it is empty.
  WallTime begin() const noexcept { return snapshots_.front().cluster->wall; }
  const std::deque<ObservedEvent>& events() const noexcept { return events_; }
  struct Kept {
    SnapshotPtr cluster;
    /// The number of the last event that is in it.
    uint64_t event = 0;
    size_t bytes = 0;
  };
  const std::deque<Kept>& snapshots() const noexcept { return snapshots_; }

  /// A place in it: everything up to an event has happened, and the clocks show this.
  struct Moment {
    uint64_t event = 0;
    WallTime wall;
    friend bool operator==(const Moment&, const Moment&) = default;
  };
  /// Right after everything that had happened by then.
  Moment at(WallTime wall) const;
  /// Right after that event; nothing if it is not remembered.
  std::optional<Moment> after(uint64_t event) const;
  /// The cluster at that moment, with the details of one partition. Null if it is empty.
  SnapshotPtr show(const Moment& moment, const std::optional<TopicPartition>& watched) const;

 private:
  std::deque<Kept>::const_iterator baseOf(WallTime wall, uint64_t event) const;
  uint64_t lastBy(MonotonicTime time) const;
  /// Whoever is elected may lead a smaller ISR, and the event does not say which: the next change of it or the next
  /// snapshot tells.
  void settleIsr(ClusterSnapshot& cluster, std::deque<ObservedEvent>::const_iterator election,
                 std::deque<Kept>::const_iterator after) const;

  Bounds bounds_;
  std::deque<ObservedEvent> events_;
  std::deque<Kept> snapshots_;
  size_t snapshotBytes_ = 0;
};

/// Memory that a snapshot takes, about: what there are many of in it.
size_t bytesOf(const ClusterSnapshot& cluster) noexcept;

}  // namespace tidemark::observe
