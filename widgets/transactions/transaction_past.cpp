#include "transactions/transaction_past.h"

#include <algorithm>

namespace tidemark::widgets {

namespace {

using namespace events;
using observe::TransactionFate;

template <class Item>
void keepAtMost(std::deque<Item>& items, size_t most) {
  while (items.size() > most) items.pop_front();
}

}  // namespace

const Transaction* TransactionPast::find(int number) const {
  const auto found = std::ranges::find(m_transactions, number, &Transaction::number);
  return found == m_transactions.end() ? nullptr : &*found;
}

std::string TransactionPast::idOf(ProducerId producer) const {
  const auto found = m_ids.find(producer);
  return found == m_ids.end() ? std::string() : found->second;
}

bool TransactionPast::add(const observe::ClusterSnapshot& cluster, std::span<const observe::ObservedEvent> observed) {
  // Its whole id, which events cut off.
  for (const observe::TransactionSnapshot& transaction : cluster.transactions)
    m_ids[transaction.producer] = transaction.id;
  bool any = false;
  for (const observe::ObservedEvent& event : observed) any = addEvent(event) || any;
  return any;
}

TransactionPast TransactionPast::until(const observe::Recording& recording,
                                       const observe::Recording::Moment& moment) const {
  TransactionPast past;
  past.m_ids = m_ids;
  for (const observe::ObservedEvent& event : recording.events()) {
    if (event.number > moment.event) break;
    past.addEvent(event);
  }
  // A recording that has forgotten its first ones counts from one again.
  for (const Transaction& one : past.m_transactions) {
    const auto same = std::ranges::find_if(m_transactions, [&one](const Transaction& here) {
      return here.producer == one.producer && here.epoch == one.epoch && here.began == one.began;
    });
    if (same == m_transactions.end()) continue;
    const int by = same->number - one.number;
    if (by == 0) break;
    for (Transaction& each : past.m_transactions) each.number += by;
    for (auto& [partition, batches] : past.m_batches)
      for (TransactionBatch& batch : batches)
        if (batch.transaction != 0) batch.transaction += by;
    break;
  }
  return past;
}

/// The transaction that a producer has open in this epoch, or a new one.
Transaction& TransactionPast::openOf(ProducerId producer, ProducerEpoch epoch, TransactionTime at) {
  for (auto one = m_transactions.rbegin(); one != m_transactions.rend(); ++one)
    if (one->producer == producer) {
      // Its first marker ends it; what comes then is the next.
      if (one->fate == TransactionFate::Open && one->epoch == epoch) return *one;
      break;
    }
  m_transactions.push_back({.number = ++m_last, .producer = producer, .epoch = epoch, .began = at});
  keepAtMost(m_transactions, kTransactions);
  return m_transactions.back();
}

bool TransactionPast::addEvent(const observe::ObservedEvent& observed) {
  const Event& event = observed.event;
  const TopicPartition partition{observed.topic, observed.partition};
  const auto happened = [&](const TopicPartition& where) {
    m_happenings.push_back({event.wall, observed.number, where, event.payload});
    keepAtMost(m_happenings, kHappenings);
  };
  if (const auto* opened = std::get_if<TransactionOpened>(&event.payload)) {
    Transaction& transaction = openOf(opened->producer, opened->epoch, event.wall);
    transaction.parts[partition] = {
        .began = event.wall, .first = opened->first, .ended = std::nullopt, .marker = kNoOffset};
    return true;
  }
  if (const auto* marker = std::get_if<MarkerWritten>(&event.payload)) {
    for (auto one = m_transactions.rbegin(); one != m_transactions.rend(); ++one) {
      const auto part = one->parts.find(partition);
      if (one->producer != marker->producer || part == one->parts.end() || part->second.first != marker->first)
        continue;
      part->second.ended = event.wall;
      part->second.marker = marker->marker;
      one->fate = marker->committed ? TransactionFate::Committed : TransactionFate::Aborted;
      if (std::ranges::all_of(one->parts, [](const auto& each) { return each.second.ended.has_value(); }))
        one->ended = event.wall;
      break;
    }
    if (!marker->committed) {
      m_aborted.push_back({partition, marker->producer, marker->first, marker->marker, marker->lastStable});
      keepAtMost(m_aborted, kHappenings);
      happened(partition);
    }
    return true;
  }
  if (const auto* appended = std::get_if<BatchAppended>(&event.payload)) {
    if (!appended->asLeader) return false;
    auto batches = m_batches.find(partition);
    // A log is looked at from its first transaction on.
    if (batches == m_batches.end()) {
      if (!appended->transactional || m_batches.size() >= kPartitions) return false;
      batches = m_batches.try_emplace(partition).first;
    }
    TransactionBatch batch{.first = appended->baseOffset, .last = appended->lastOffset, .control = appended->control};
    if (appended->transactional && !appended->control)
      for (auto one = m_transactions.rbegin(); one != m_transactions.rend(); ++one)
        if (one->producer == appended->producer && one->fate == TransactionFate::Open &&
            one->parts.contains(partition)) {
          batch.transaction = one->number;
          break;
        }
    // What a marker ends is told before its batch.
    if (batch.control)
      for (auto one = m_transactions.rbegin(); one != m_transactions.rend(); ++one)
        if (const auto part = one->parts.find(partition);
            part != one->parts.end() && part->second.marker == batch.first) {
          batch.transaction = one->number;
          batch.commits = one->fate == TransactionFate::Committed;
          break;
        }
    // A log that was cut off goes on from there.
    while (!batches->second.empty() && batches->second.back().last >= batch.first) batches->second.pop_back();
    batches->second.push_back(batch);
    keepAtMost(batches->second, kBatches);
    return true;
  }
  if (std::holds_alternative<ProducerFenced>(event.payload)) {
    happened(partition);
    return true;
  }
  if (const auto* change = std::get_if<TransactionStateChanged>(&event.payload)) {
    m_ids.try_emplace(change->producer, change->transactionalId.view());
    // That partitions were added, markers written, is told by the partitions.
    if (change->cause != TransactionCause::PartitionsAdded && change->cause != TransactionCause::MarkersWritten &&
        change->cause != TransactionCause::Ended)
      happened({});
    return true;
  }
  return false;
}

}  // namespace tidemark::widgets
