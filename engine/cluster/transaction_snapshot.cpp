#include <algorithm>
#include <iterator>

#include "cluster/cluster.h"
#include "cluster/slot.h"

// Transactions as their coordinators know them. Those are asked with each snapshot and answer a little later, which
// makes for another one if something changed.

namespace tidemark::cluster {
namespace {

observe::TransactionSnapshot shown(coordinator::TransactionSnapshot one, NodeId coordinator) {
  const coordinator::TransactionMetadata& metadata = one.metadata;
  observe::TransactionSnapshot into;
  into.id = std::move(one.transactionalId);
  into.state = events::nameOf(metadata.state);
  into.producer = metadata.producerId;
  into.epoch = metadata.producerEpoch;
  into.timeout = metadata.timeout;
  if (metadata.startMs >= 0) into.start = platform::WallTime(platform::milliseconds(metadata.startMs));
  into.lastUpdate = platform::WallTime(platform::milliseconds(metadata.lastUpdateMs));
  into.version = metadata.clientVersion;
  into.partitions.assign(metadata.partitions.begin(), metadata.partitions.end());
  into.pendingMarkers = std::move(one.pendingMarkers);
  into.coordinatorPartition = one.coordinatorPartition;
  into.coordinator = coordinator;
  return into;
}

}  // namespace

void Cluster::describeTransactions(observe::ClusterSnapshot& into) const {
  for (const auto& [id, slot] : slots_) {
    if (!slot->isOpen || !slot->place.isBroker) continue;
    into.transactions.insert(into.transactions.end(), slot->transactions.begin(), slot->transactions.end());
  }
  std::ranges::stable_sort(into.transactions, {}, &observe::TransactionSnapshot::id);
}

void Cluster::takeTransactionsNow(Slot& slot) {
  slot.transactions.clear();
  for (coordinator::TransactionSnapshot& one : slot.node->broker()->transactions().coordinator().snapshotNow())
    slot.transactions.push_back(shown(std::move(one), slot.place.id));
}

void Cluster::askForTransactions() {
  for (auto& [id, slot] : slots_)
    if (slot->isOpen && slot->place.isBroker) askForTransactions(*slot);
}

void Cluster::askForTransactions(Slot& slot) {
  if (slot.transactionsAsked == slot.incarnation) return;
  slot.transactionsAsked = slot.incarnation;
  slot.node->broker()->transactions().coordinator().snapshot(
      [this, id = slot.place.id, incarnation = slot.incarnation](std::vector<coordinator::TransactionSnapshot> all) {
        std::vector<observe::TransactionSnapshot> transactions;
        transactions.reserve(all.size());
        for (coordinator::TransactionSnapshot& one : all) transactions.push_back(shown(std::move(one), id));
        run([this, id, incarnation, transactions = std::move(transactions)]() mutable {
          const auto found = slots_.find(id);
          if (found == slots_.end() || found->second->incarnation != incarnation) return;
          Slot& asked = *found->second;
          asked.transactionsAsked = 0;
          if (asked.transactions == transactions) return;
          asked.transactions = std::move(transactions);
          changed();
        });
      });
}

}  // namespace tidemark::cluster
