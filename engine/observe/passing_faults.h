#pragma once

#include "observe/snapshot.h"

namespace tidemark::observe {

/// Faults that came, began or went between one kept snapshot and the next. An event says when, and is too small for
/// what the fault is; the next snapshot knows that, of those that are set and of those that are over.
class PassingFaults {
 public:
  /// What happened between the two, up to `end`. Both stay where they are for as long as this is used.
  PassingFaults(const ClusterSnapshot& base, const ClusterSnapshot& next, MonotonicTime end)
      : base_(base), next_(next), end_(end) {}

  /// Before the events of that time are brought into `cluster`, a copy of the base: those that are set by then, as ones
  /// that wait; the event of its beginning makes each act.
  void set(ClusterSnapshot& cluster) const;
  /// After that: what is over by then is told of, and what acts says where.
  void settle(ClusterSnapshot& cluster) const;

 private:
  MonotonicTime setAt(const FaultSnapshot& fault) const { return next_.at - fault.since; }

  const ClusterSnapshot& base_;
  const ClusterSnapshot& next_;
  const MonotonicTime end_;
};

}  // namespace tidemark::observe
