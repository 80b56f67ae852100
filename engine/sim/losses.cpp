#include "sim/losses.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::sim {

void Losses::lostData(NodeId broker, BrokerEpoch before) {
  lacking_.insert_or_assign(broker, Lacking{.before = before, .whole = {}});
}

void Losses::look(const metadata::Image& image) {
  if (lacking_.empty() || image.provenance.lastContainedOffset <= looked_) return;
  looked_ = image.provenance.lastContainedOffset;
  for (auto& [broker, lacking] : lacking_) {
    // It leaves every ISR when it registers again.
    const metadata::BrokerRegistration* registered = image.cluster.broker(broker);
    if (registered == nullptr || registered->epoch <= lacking.before) continue;
    for (const auto& [name, topic] : image.topics.byName)
      for (const auto& [index, partition] : topic->partitions)
        // One that was elected uncleanly is in it by decree.
        if (partition->isInIsr(broker) && partition->leaderRecoveryState != metadata::LeaderRecoveryState::Recovering)
          lacking.whole.insert({name, index});
  }
}

bool Losses::mayLack(NodeId broker, const TopicPartition& partition) const {
  const auto found = lacking_.find(broker);
  return found != lacking_.end() && !found->second.whole.contains(partition);
}

void Losses::add(Loss loss) {
  losses_.push_back(std::move(loss));
  heard_(losses_.back());
}

void Losses::told(const TopicPartition& partition, LeaderEpoch epoch, Offset from) {
  for (Loss& loss : losses_)
    if (loss.partition == partition && loss.epoch == epoch && from == loss.from) loss.told = true;
}

bool Losses::covers(const TopicPartition& partition, Offset from, Offset to) const {
  // Several may follow each other.
  while (true) {
    const auto at = std::ranges::find_if(
        losses_, [&](const Loss& loss) { return loss.partition == partition && loss.from <= from && from < loss.to; });
    if (at == losses_.end()) return false;
    if (to <= at->to) return true;
    from = at->to;
  }
}

bool Losses::holdsLost(const TopicPartition& partition, const Batches& held, Offset end) const {
  return std::ranges::any_of(losses_, [&](const Loss& loss) {
    if (loss.partition != partition || loss.batches.begin()->first >= end) return false;
    // Who holds any of them holds the first.
    const auto own = held.find(loss.batches.begin()->first);
    return own != held.end() && own->second == loss.batches.begin()->second;
  });
}

std::string textOf(const Losses::Loss& loss) {
  return fmt::format("offsets {} to {} of {} (broker {}, epoch {})", loss.from, Offset(loss.to.value() - 1),
                     loss.partition, loss.leader, loss.epoch);
}

}  // namespace tidemark::sim
