#include "sim/replication_checkers.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::sim {

// --- CommittedRecords -----------------------------------------------------------------------------------------------

Offset CommittedRecords::end(const TopicPartition& partition) const {
  const auto found = reached_.find(partition);
  return found == reached_.end() ? Offset(0) : found->second;
}

void CommittedRecords::on(const Seen& seen) {
  if (const auto* moved = as<events::HighWatermarkAdvanced>(seen)) {
    // It has yet to hear what is lost.
    if (losses_.holdsLost(seen.partition, logs_.of(seen.broker, seen.partition), moved->to)) return;
    Offset& reached = reached_.try_emplace(seen.partition, moved->to).first->second;
    reached = std::max(reached, moved->to);
    commit(seen, moved->from, moved->to);
  } else if (const auto* leads = as<events::BecameLeader>(seen)) {
    LeaderEpoch& newest = newest_.try_emplace(seen.partition, leads->epoch).first->second;
    newest = std::max(newest, leads->epoch);
    if (isUnclean(seen, leads->epoch)) giveUp(seen, *leads);
    demandAll(seen.broker, seen.partition, "R2", fmt::format("the leader of epoch {}", leads->epoch), leads->epoch);
  } else if (const auto* lost = as<events::RecordsLost>(seen)) {
    checkLoss(seen, *lost);
  } else if (const auto* truncated = as<events::LogTruncated>(seen)) {
    const auto committed = committed_.find(seen.partition);
    if (committed == committed_.end()) return;
    for (const auto& [base, batch] : logs_.removed()) {
      const auto known = committed->second.find(base);
      if (known != committed->second.end() && known->second == batch)
        judge_.breach(seen.partition == metadataPartition() ? "K5" : "R3",
                      fmt::format("broker {} truncates {} from {} to {}: {} are committed", seen.broker, seen.partition,
                                  truncated->from, truncated->to, describe(base, batch)));
    }
  }
}

bool CommittedRecords::isUnclean(const Seen& seen, LeaderEpoch epoch) const {
  const metadata::ImagePtr image = seen.node != nullptr ? seen.node->broker()->image() : watch_.newestImage();
  const metadata::PartitionRegistration* known =
      image ? image->topics.partition(seen.partition.topic, seen.partition.partition) : nullptr;
  return known != nullptr && known->leader == seen.broker && known->leaderEpoch == epoch &&
         known->leaderRecoveryState == metadata::LeaderRecoveryState::Recovering;
}

void CommittedRecords::giveUp(const Seen& seen, const events::BecameLeader& leads) {
  if (!losses_.mayLack(seen.broker, seen.partition)) return;
  Offset& reached = reached_[seen.partition];
  Losses::Loss loss{.partition = seen.partition,
                    .leader = seen.broker,
                    .epoch = leads.epoch,
                    .from = leads.epochStart,
                    .to = reached,
                    .batches = {}};
  Batches& committed = committed_[seen.partition];
  for (auto batch = committed.begin(); batch != committed.end();) {
    const auto next = std::next(batch);
    // Of what later leaders have committed it knows nothing.
    if (batch->second.last >= leads.epochStart && committedBy(seen.partition, batch->first) <= leads.epoch)
      loss.batches.insert(committed.extract(batch));
    batch = next;
  }
  if (loss.batches.empty()) return;
  reached = std::max(leads.epochStart, endOf(committed));
  losses_.add(std::move(loss));
}

void CommittedRecords::checkLoss(const Seen& seen, const events::RecordsLost& told) {
  if (told.to == kNoOffset) {
    losses_.told(seen.partition, told.epoch, told.from);
  } else if (!losses_.covers(seen.partition, told.from, told.to)) {
    judge_.breach("R2", fmt::format("broker {} gives up {} to {} of {}, which it knew as committed, for leader {}",
                                    seen.broker, told.from, told.to, seen.partition, told.leader));
  }
}

void CommittedRecords::commit(const Seen& seen, Offset from, Offset to) {
  const Batches& held = logs_.of(seen.broker, seen.partition);
  Batches& committed = committed_[seen.partition];
  auto batch = held.upper_bound(from);
  if (batch != held.begin() && std::prev(batch)->second.last >= from) --batch;
  for (; batch != held.end() && batch->second.last < to; ++batch) {
    const auto known = committed.find(batch->first);
    if (known == committed.end() && batch->first >= endOf(committed)) {
      committed.emplace(batch->first, batch->second);
      if (const auto newest = newest_.find(seen.partition); newest != newest_.end())
        committedBy_[seen.partition].insert_or_assign(batch->first, newest->second);
      told_(seen.partition, batch->first, batch->second);
    } else if (known == committed.end() || known->second != batch->second) {
      const auto other = known == committed.end() ? std::prev(committed.upper_bound(batch->first)) : known;
      judge_.breach(seen.partition == metadataPartition() ? "K5" : "R4",
                    fmt::format("broker {} has {} of {} below its high watermark {}, committed were {}", seen.broker,
                                describe(batch->first, batch->second), seen.partition, to,
                                describe(other->first, other->second)));
      return;
    }
  }
}

LeaderEpoch CommittedRecords::committedBy(const TopicPartition& partition, Offset base) const {
  const auto all = committedBy_.find(partition);
  if (all == committedBy_.end()) return {};
  const auto found = all->second.find(base);
  return found == all->second.end() ? LeaderEpoch() : found->second;
}

void CommittedRecords::demandAll(NodeId broker, const TopicPartition& partition, std::string_view invariant,
                                 const std::string& who, std::optional<LeaderEpoch> upTo) {
  const auto committed = committed_.find(partition);
  if (committed == committed_.end()) return;
  const Batches& held = logs_.of(broker, partition);
  const Offset start = held.empty() ? Offset(0) : held.begin()->first;
  for (auto batch = committed->second.lower_bound(start); batch != committed->second.end(); ++batch) {
    // One that was away learns late of an epoch that is over. What later leaders have committed it need not hold, even
    // if it was written before its epoch.
    if (upTo && committedBy(partition, batch->first) > *upTo) return;
    const auto own = held.find(batch->first);
    if (own != held.end() && own->second == batch->second) continue;
    auto nearest = held.upper_bound(batch->first);
    if (nearest != held.begin()) --nearest;
    judge_.breach(invariant,
                  fmt::format("broker {}, {}, lacks {} of {}, which are committed; its log ends at {}{}", broker, who,
                              describe(batch->first, batch->second), partition, endOf(held),
                              nearest == held.end() ? "" : " and has " + describe(nearest->first, nearest->second)));
    return;
  }
}

// --- GivenOffsets
// -----------------------------------------------------------------------------------------------------

void GivenOffsets::on(const Seen& seen) {
  if (const auto* leads = as<events::BecameLeader>(seen)) {
    LeaderEpoch& newest = newest_.try_emplace(seen.partition).first->second;
    newest = std::max(newest, leads->epoch);
    return;
  }
  const auto* appended = as<events::BatchAppended>(seen);
  if (appended == nullptr || !appended->asLeader || seen.partition == metadataPartition()) return;
  const auto tell = [&](const std::string& why) {
    judge_.breach("S3", fmt::format("broker {} gives offsets {} to {} of {} in epoch {}: {}", seen.broker,
                                    appended->baseOffset, appended->lastOffset, seen.partition, appended->epoch, why));
  };
  // One who does not know yet that its epoch is over may give what others have given: nothing of it will be committed.
  const bool newest = newest_[seen.partition] == appended->epoch;
  if (const Offset end = committed_.end(seen.partition); newest && appended->baseOffset < end)
    tell(fmt::format("all below {} are committed", end));
  Offset& next = next_.try_emplace({seen.partition, appended->epoch}, Offset(0)).first->second;
  if (appended->baseOffset < next) tell(fmt::format("that epoch gave all below {} before", next));
  next = std::max(next, appended->lastOffset.next());
}

// --- HighWatermarks
// ---------------------------------------------------------------------------------------------------

void HighWatermarks::started(NodeId broker) {
  std::erase_if(last_, [&](const auto& entry) { return entry.first.first == broker; });
}

void HighWatermarks::on(const Seen& seen) {
  if (const auto* truncated = as<events::LogTruncated>(seen)) {
    if (!losses_.covers(seen.partition, truncated->to, truncated->to)) return;
    const auto known = last_.find({seen.broker, seen.partition});
    if (known != last_.end()) known->second = std::min(known->second, truncated->to);
    return;
  }
  const auto* moved = as<events::HighWatermarkAdvanced>(seen);
  if (moved == nullptr) return;
  const auto [last, first] = last_.try_emplace({seen.broker, seen.partition}, moved->to);
  if (!first) {
    if (moved->from < last->second)
      judge_.breach("R5", fmt::format("the high watermark of {} at broker {} fell from {} to {}", seen.partition,
                                      seen.broker, last->second, moved->from));
    last->second = moved->to;
  }
  if (seen.node == nullptr) return;
  if (const auto log = ReplicaLogs::find(*seen.node, seen.partition)) {
    const log::OffsetSnapshot ends = log->offsetSnapshot();
    if (ends.logStartOffset > ends.highWatermark.offset || ends.lastStableOffset.offset > ends.highWatermark.offset ||
        ends.highWatermark.offset > ends.logEndOffset.offset)
      judge_.breach("R5", fmt::format("{} at broker {}: log start {}, last stable {}, high watermark {}, log end {}",
                                      seen.partition, seen.broker, ends.logStartOffset, ends.lastStableOffset.offset,
                                      ends.highWatermark.offset, ends.logEndOffset.offset));
  }
  if (seen.partition == metadataPartition()) return;
  if (const auto partition = seen.node->broker()->replicas().find(seen.partition)) {
    const replication::PartitionView view = partition->view();
    if (view.isLeader && static_cast<int>(view.isr.size()) < minInsyncReplicas_)
      judge_.breach("R8",
                    fmt::format("the high watermark of {} moved from {} to {} at leader {} while the ISR is {{{}}}",
                                seen.partition, moved->from, moved->to, seen.broker, fmt::join(view.isr, ", ")));
  }
}

void HighWatermarks::look(broker::Node& node) {
  const metadata::ImagePtr image = node.broker()->image();
  if (!images_.insert(image->provenance.lastContainedOffset).second) return;
  const bool elr = image->features.level(metadata::kEligibleLeaderReplicasFeature) > 0;
  for (const auto& [name, topic] : image->topics.byName) {
    for (const auto& [index, partition] : topic->partitions) {
      const auto tell = [&, &topicName = name, &number = index](std::string_view invariant, const std::string& what) {
        judge_.breach(invariant,
                      fmt::format("{}-{}: {}; its ISR is {{{}}} (metadata offset {})", topicName, number, what,
                                  fmt::join(partition->isr, ", "), image->provenance.lastContainedOffset));
      };
      if (partition->hasLeader() && !partition->isInIsr(partition->leader))
        tell("R7", fmt::format("its leader is {}", partition->leader));
      for (NodeId member : partition->isr)
        if ((elr || partition->isr.size() > 1) && !image->cluster.isActive(member))
          tell("R10", fmt::format("broker {} is fenced", member));
      for (NodeId eligible : partition->elr)
        if (partition->isInIsr(eligible)) tell("R10", fmt::format("broker {} is in the ELR as well", eligible));
    }
  }
}

}  // namespace tidemark::sim
