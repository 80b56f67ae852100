#include "sim/quiet_checks.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/snapshot_check.h"

namespace tidemark::sim {
namespace {

/// R11: the cache rises and equals what the batches tell, but for an epoch at the log end that has no batch yet.
void checkEpochs(Judge& judge, NodeId broker, const log::PartitionLog& log,
                 const std::vector<log::BatchInfo>& batches) {
  std::vector<log::EpochEntry> told;
  for (const log::BatchInfo& batch : batches)
    if (told.empty() || batch.header.leaderEpoch > told.back().epoch)
      told.push_back({batch.header.leaderEpoch, batch.header.baseOffset});
  std::vector<log::EpochEntry> kept = log.epochEntries();
  if (!kept.empty() && kept.back().startOffset == log.logEndOffset()) kept.pop_back();
  // The first entry is cut at the log start.
  if (!kept.empty() && !told.empty()) kept.front().startOffset = told.front().startOffset;
  if (kept == told) return;
  const auto text = [](const std::vector<log::EpochEntry>& entries) {
    std::string all;
    for (const log::EpochEntry& entry : entries) all += fmt::format(" {}@{}", entry.epoch, entry.startOffset);
    return all;
  };
  judge.breach("R11", fmt::format("broker {}, {}: the epoch cache says{}, the batches{}", broker, log.partition(),
                                  text(kept), text(told)));
}

void checkImages(Judge& judge, const std::vector<broker::Node*>& nodes) {
  const metadata::ImagePtr first = nodes.front()->broker()->image();
  for (broker::Node* node : nodes) {
    if (node->broker() == nullptr) continue;
    const metadata::ImagePtr other = node->broker()->image();
    if (other->provenance.lastContainedOffset == first->provenance.lastContainedOffset && !other->sameContents(*first))
      judge.breach("K10", fmt::format("the images of brokers {} and {} differ at metadata offset {}",
                                      nodes.front()->id(), node->id(), first->provenance.lastContainedOffset));
  }
}

void checkParked(Judge& judge, broker::Node& node) {
  // By its own clock, which may have been wrong.
  const platform::MonotonicTime now = node.shared().process.clock().monotonic();
  constexpr platform::Duration kTolerance = std::chrono::milliseconds(100);
  const auto look = [&](const std::vector<replication::ParkedView>& parked, std::string_view what) {
    for (const replication::ParkedView& each : parked)
      if (each.deadline + kTolerance < now)
        judge.breach(
            "L6",
            fmt::format("broker {}: a {} of {} is parked {} ms past its deadline", node.id(), what, each.partition,
                        std::chrono::duration_cast<std::chrono::milliseconds>(now - each.deadline).count()));
  };
  look(node.broker()->replicas().parkedProduces(), "produce");
  look(node.broker()->replicas().parkedFetches(), "fetch");
}

}  // namespace

void checkWhenQuiet(Judge& judge, const std::vector<broker::Node*>& nodes, const ReplicaLogs& logs,
                    CommittedRecords& committed, const IsFlipped& isFlipped) {
  for (const auto& [partition, all] : committed.all()) {
    for (broker::Node* node : nodes) {
      const auto log = ReplicaLogs::find(*node, partition);
      if (!log) continue;
      // Of the quorum's log a majority is enough: the last batch may be on its way to the others.
      if (partition != metadataPartition()) committed.demandAll(node->id(), partition, "R4", "in the ISR");
      const auto batches = log->batches(log->logStartOffset(), SIZE_MAX);
      if (!batches) {
        judge.breach("S2", batches.error().message);
        continue;
      }
      // What the checkers made of the events is the log.
      Batches held;
      for (const log::BatchInfo& batch : *batches) held.emplace(batch.header.baseOffset, keyOf(batch.header));
      if (held != logs.of(node->id(), partition))
        judge.breach("events", fmt::format("broker {}: the log of {} ends at {}, its events say {}", node->id(),
                                           partition, endOf(held), endOf(logs.of(node->id(), partition))));
      checkEpochs(judge, node->id(), *log, *batches);
      checkIndexes(judge, node->id(), *log, *batches, isFlipped);
      if (partition != metadataPartition())
        checkSnapshots(judge, node->id(), node->shared().process.files(), *log, *batches);
    }
  }
  checkImages(judge, nodes);
  for (broker::Node* node : nodes)
    if (node->broker() != nullptr) checkParked(judge, *node);
}

}  // namespace tidemark::sim
