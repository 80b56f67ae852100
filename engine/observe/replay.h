#pragma once

#include <deque>

#include "observe/history.h"
#include "observe/snapshot.h"

// How a snapshot becomes a later one by what happened in between. What no event tells (rates, heartbeats, disks) stays.
namespace tidemark::observe {

/// What one event changed.
void advance(ClusterSnapshot& cluster, const ObservedEvent& event);

/// `gone` later nothing has happened: ages rise, what is left shrinks, both clocks move on.
void advance(ClusterSnapshot& cluster, Duration gone);

/// Segments, newest batches and index entries of the partition's copies, as far as the events up to number `last` tell
/// them; those are by number. What they do not tell of a batch (producer, codec) is left as it is by default.
void addDetails(PartitionSnapshot& partition, const std::string& topic, const std::deque<ObservedEvent>& events,
                uint64_t last);

}  // namespace tidemark::observe
