#include "sim/stable_offsets.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::sim {

void StableOffsets::started(NodeId broker) {
  std::erase_if(replicas_, [&](const auto& entry) { return entry.first.first == broker; });
}

void StableOffsets::on(const Seen& seen) {
  if (seen.partition.partition.value() < 0 || seen.partition == metadataPartition()) return;
  const Key key{seen.broker, seen.partition};
  if (as<events::LogTruncated>(seen) || as<events::LogStartAdvanced>(seen)) {
    replicas_.erase(key);
  } else if (!as<events::HighWatermarkAdvanced>(seen) && !as<events::BecameLeader>(seen)) {
    return;
  }
  touched_.insert(key);
}

void StableOffsets::follow(const Key& key, Replica& replica) const {
  const Batches& batches = logs_.of(key.first, key.second);
  for (auto batch = batches.lower_bound(replica.next); batch != batches.end(); ++batch) {
    const auto& [base, held] = *batch;
    replica.next = held.last.next();
    if (held.producer == kNoProducerId || !held.transactional) continue;
    if (!held.control) {
      replica.open.try_emplace(held.producer, base);
    } else if (const auto open = replica.open.extract(held.producer)) {
      replica.ended.push_back({.first = open.mapped(), .marker = base});
    }
  }
}

void StableOffsets::look() {
  for (const Key& key : touched_) {
    broker::Node* node = watch_.node(key.first);
    const auto log = node == nullptr ? nullptr : ReplicaLogs::find(*node, key.second);
    if (!log || log->offline()) continue;
    Replica& replica = replicas_[key];
    follow(key, replica);
    const log::OffsetSnapshot ends = log->offsetSnapshot();
    if (replica.next != ends.logEndOffset.offset) continue;
    const Offset highWatermark = ends.highWatermark.offset;
    std::erase_if(replica.ended, [&](const Ended& each) { return each.marker < highWatermark; });
    Offset stable = highWatermark;
    for (const auto& [producer, first] : replica.open) stable = std::min(stable, first);
    for (const Ended& each : replica.ended) stable = std::min(stable, each.first);
    if (ends.lastStableOffset.offset != stable)
      judge_.breach(
          "T4",
          fmt::format("broker {}: the last stable offset of {} is {} at high watermark {}, but {} by its "
                      "batches, of which {} transactions are open",
                      key.first, key.second, ends.lastStableOffset.offset, highWatermark, stable, replica.open.size()));
  }
  touched_.clear();
}

}  // namespace tidemark::sim
