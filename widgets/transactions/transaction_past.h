#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "observe/recording.h"

namespace tidemark::widgets {

using TransactionTime = platform::WallTime;

/// What a transaction did on one partition.
struct TransactionPart {
  TransactionTime began{};
  Offset first;
  std::optional<TransactionTime> ended;
  /// Of the marker.
  Offset marker;
  friend bool operator==(const TransactionPart&, const TransactionPart&) = default;
};

/// One transaction of a producer, as the logs of its partitions have told it.
struct Transaction {
  /// T1, T2, …: in the order in which they began, since the cluster is looked at.
  int number = 0;
  ProducerId producer;
  ProducerEpoch epoch;
  TransactionTime began{};
  /// When the last partition got its marker.
  std::optional<TransactionTime> ended;
  observe::TransactionFate fate = observe::TransactionFate::Open;
  std::map<TopicPartition, TransactionPart> parts;
  friend bool operator==(const Transaction&, const Transaction&) = default;
};

/// A batch on the log of a partition that transactions touch.
struct TransactionBatch {
  Offset first;
  Offset last;
  /// 0: it is in no transaction.
  int transaction = 0;
  /// A marker, and what it says.
  bool control = false;
  bool commits = false;
};

/// Something about producers that were fenced, or began, or ran out of time.
struct FencingHappening {
  TransactionTime at{};
  uint64_t event = 0;
  /// Empty: none that is about a partition.
  TopicPartition partition;
  events::Payload what;
};

/// An entry of a partition's index of aborted transactions.
struct AbortedEntry {
  TopicPartition partition;
  ProducerId producer;
  Offset first;
  Offset last;
  Offset lastStable;
  friend bool operator==(const AbortedEntry&, const AbortedEntry&) = default;
};

/// What the window remembers of transactions: made of events alone, bounded. On the window's thread.
class TransactionPast {
 public:
  static constexpr size_t kTransactions = 200;
  static constexpr size_t kBatches = 80;
  static constexpr size_t kPartitions = 64;
  static constexpr size_t kHappenings = 100;

  void clear() { *this = {}; }
  /// What was remembered at a moment of the past; its transactions are called as they are here.
  TransactionPast until(const observe::Recording& recording, const observe::Recording::Moment& moment) const;
  /// True if one of them was about transactions.
  bool add(const observe::ClusterSnapshot& cluster, std::span<const observe::ObservedEvent> events);

  /// Oldest first.
  const std::deque<Transaction>& transactions() const noexcept { return m_transactions; }
  const Transaction* find(int number) const;
  /// By partition, oldest first.
  const std::map<TopicPartition, std::deque<TransactionBatch>>& batches() const noexcept { return m_batches; }
  const std::deque<FencingHappening>& happenings() const noexcept { return m_happenings; }
  const std::deque<AbortedEntry>& aborted() const noexcept { return m_aborted; }
  /// Empty: nobody told.
  std::string idOf(ProducerId producer) const;

 private:
  bool addEvent(const observe::ObservedEvent& event);
  Transaction& openOf(ProducerId producer, ProducerEpoch epoch, TransactionTime at);

  std::deque<Transaction> m_transactions;
  std::map<TopicPartition, std::deque<TransactionBatch>> m_batches;
  std::deque<FencingHappening> m_happenings;
  std::deque<AbortedEntry> m_aborted;
  std::map<ProducerId, std::string> m_ids;
  int m_last = 0;
};

}  // namespace tidemark::widgets
