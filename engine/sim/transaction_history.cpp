#include "sim/transaction_history.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "sim/transaction_cycles.h"

namespace tidemark::sim {

std::optional<TransactionHistory::Number> transactionOf(std::string_view value) {
  if (!value.starts_with('t')) return std::nullopt;
  TransactionHistory::Number number = 0;
  const auto [end, error] = std::from_chars(value.data() + 1, value.data() + value.size(), number);
  if (error != std::errc{} || end == value.data() + value.size() || *end != '/') return std::nullopt;
  return number;
}

std::string_view sourceOf(std::string_view value) {
  const size_t at = value.find('<');
  return at == value.npos ? std::string_view() : value.substr(at + 1);
}

std::string TransactionHistory::nameOf(Number number) const {
  const Transaction& it = all_[number];
  return fmt::format("t{} of {} ({}, producer {}, epoch {})", number, it.transactionalId, it.process, it.producer,
                     it.epoch);
}

// --- as it happens
// ----------------------------------------------------------------------------------------------------

void TransactionHistory::became(const std::string& transactionalId, const std::string& process, ProducerId producer,
                                ProducerEpoch epoch) {
  const auto [known, first] = given_.try_emplace({producer, epoch}, process);
  if (!first && whole_)
    judge_.breach("T7", fmt::format("{} is told to be producer {}, epoch {}, of {}, which {} was told before", process,
                                    producer, epoch, transactionalId, known->second));
  const std::pair now{producer, epoch};
  const auto [newest, only] = newest_.try_emplace(transactionalId, now);
  // Answers may come in another order than they were given.
  if (!only && (newest->second.first != producer || newest->second.second < epoch)) newest->second = now;
}

TransactionHistory::Number TransactionHistory::began(const std::string& transactionalId, const std::string& process,
                                                     ProducerId producer, ProducerEpoch epoch) {
  all_.push_back({.transactionalId = transactionalId, .process = process, .producer = producer, .epoch = epoch});
  return all_.size() - 1;
}

std::string TransactionHistory::valueFor(Number number, const std::string& from) {
  return fmt::format("t{}/{}{}{}", number, all_[number].values++, from.empty() ? "" : "<", from);
}

void TransactionHistory::wrote(Number number, const TopicPartition& partition, Offset offset) {
  all_[number].acknowledged[partition].insert(offset);
}

void TransactionHistory::read(Number number, const TopicPartition& partition, Offset offset) {
  // What comes after it has asked for its end is no part of it.
  if (all_[number].outcome == Outcome::Open) all_[number].reads[partition].insert(offset);
}

void TransactionHistory::asked(Number number, bool commit) {
  Transaction& it = all_[number];
  it.commit = commit;
  it.outcome = commit ? Outcome::Unknown : Outcome::Aborted;
  it.fenced = newest_.at(it.transactionalId) != std::pair{it.producer, it.epoch};
}

void TransactionHistory::answered(Number number, bool succeeded) {
  Transaction& it = all_[number];
  if (!succeeded || !it.commit) return;
  it.outcome = Outcome::Committed;
  if (it.fenced && whole_)
    judge_.breach("T7",
                  fmt::format("{} was committed, although the id was given on before that was asked", nameOf(number)));
}

void TransactionHistory::sawCommitted(const std::string& reader, const TopicPartition& partition, Offset offset,
                                      std::string_view value, Offset highWatermark) {
  const auto number = transactionOf(value);
  if (!number) return;
  auto& seen = seen_[reader];
  if (seen.empty()) seen.emplace_back();
  seen.back()[partition].insert(offset);
  sights_.try_emplace({*number, partition}, Sight{reader, offset, highWatermark});
  if (!all_.at(*number).commit)
    judge_.breach("G1a", fmt::format("{} read {} at offset {} of {}, although no commit of {} was asked for", reader,
                                     value, offset, partition, nameOf(*number)));
}

// --- at the end
// -------------------------------------------------------------------------------------------------------

void TransactionHistory::settle(Number number, const std::map<TopicPartition, LoggedPartition>& logs) {
  Transaction& it = all_[number];
  std::optional<bool> committed;
  for (const auto& [partition, offsets] : it.stands) {
    const LoggedPartition& held = logs.at(partition);
    for (const Offset offset : offsets) {
      const LoggedPartition::Record& record = held.records.at(offset);
      const bool here = record.transaction && held.transactions[*record.transaction].committed;
      if (!record.transaction)
        judge_.breach("T3",
                      fmt::format("{} at offset {} of {} belongs to no transaction", record.value, offset, partition));
      if (committed.value_or(here) != here)
        judge_.breach("T3", fmt::format("{} is {} on {} and {} elsewhere", nameOf(number),
                                        here ? "committed" : "aborted", partition, here ? "aborted" : "committed"));
      committed = here;
    }
  }
  it.committed = committed.value_or(it.outcome == Outcome::Committed);
  if (it.outcome == Outcome::Committed && !it.committed)
    judge_.breach("T3", fmt::format("the commit of {} was acknowledged, its records are aborted", nameOf(number)));
  if ((it.outcome == Outcome::Aborted || it.outcome == Outcome::Open) && it.committed)
    judge_.breach("T3", fmt::format("{} is committed, which nobody asked for", nameOf(number)));
  if (it.committed)
    for (const auto& [partition, offsets] : it.acknowledged)
      for (const Offset offset : offsets)
        if (!it.stands[partition].contains(offset))
          judge_.breach("T3", fmt::format("{} is committed without what it wrote at offset {} of {}", nameOf(number),
                                          offset, partition));
}

/// Also of those that share an epoch.
void TransactionHistory::judgeOwners(const std::map<TopicPartition, LoggedPartition>& logs) {
  for (const auto& [partition, held] : logs) {
    std::map<size_t, Number> owners;
    for (const auto& [offset, record] : held.records) {
      const auto number = transactionOf(record.value);
      if (!number || !record.transaction) continue;
      const auto [owner, first] = owners.try_emplace(*record.transaction, *number);
      if (!first && owner->second != *number)
        judge_.breach("T5", fmt::format("no marker stands between {} and {} at offset {} of {}", nameOf(owner->second),
                                        nameOf(*number), offset, partition));
    }
  }
}

void TransactionHistory::judgeMarkers(const std::map<TopicPartition, LoggedPartition>& logs) {
  // Below that version several ends share an epoch.
  if (version_ < kFirstVersionThatRaisesEpochs) return;
  std::map<std::pair<ProducerId, ProducerEpoch>, std::pair<bool, TopicPartition>> ends;
  for (const auto& [partition, held] : logs) {
    for (const auto& [producer, committed] : held.markers) {
      const auto [known, first] = ends.try_emplace(producer, committed, partition);
      if (!first && known->second.first != committed)
        judge_.breach("T3", fmt::format("what producer {} ended in epoch {} is {} on {} and {} on {}", producer.first,
                                        producer.second, committed ? "committed" : "aborted", partition,
                                        committed ? "aborted" : "committed", known->second.second));
    }
  }
}

void TransactionHistory::judgeBy(const std::map<TopicPartition, LoggedPartition>& logs) {
  for (const auto& [partition, held] : logs)
    for (const auto& [offset, record] : held.records)
      if (const auto number = transactionOf(record.value)) all_.at(*number).stands[partition].insert(offset);
  judgeMarkers(logs);
  for (Number number = 0; number < all_.size(); ++number) {
    settle(number, logs);
    const Transaction& it = all_[number];
    if (it.stands.empty()) continue;
    tally_.count(it.committed ? "transaction committed" : "transaction aborted");
    tally_.count(fmt::format("transaction of transaction.version {}", version_));
    if (it.stands.size() > 1) tally_.count("transaction over several partitions");
    if (it.outcome == Outcome::Unknown) tally_.count("commit without an answer");
  }
  judgeOwners(logs);
  judgeSights();
  judgeCycles();
}

void TransactionHistory::judgeSights() {
  for (const auto& [of, sight] : sights_) {
    const auto& [number, partition] = of;
    const Transaction& it = all_.at(number);
    if (!it.committed)
      judge_.breach("G1a", fmt::format("{} read offset {} of {}, which {} wrote, that was aborted", sight.reader,
                                       sight.offset, partition, nameOf(number)));
    if (const Offset last = *it.stands.at(partition).rbegin(); last >= sight.highWatermark)
      judge_.breach("G1b",
                    fmt::format("{} read offset {} of {} when the high watermark was {}, and later {} wrote offset "
                                "{}",
                                sight.reader, sight.offset, partition, sight.highWatermark, nameOf(number), last));
  }
}

void TransactionHistory::judgeCycles() {
  std::vector<HistoryTransaction> history;
  for (Number number = 0; number < all_.size(); ++number) {
    const Transaction& it = all_[number];
    history.push_back({.name = nameOf(number),
                       .session = it.transactionalId,
                       .committed = it.committed,
                       .writes = it.stands,
                       .reads = it.reads});
  }
  for (const auto& [reader, seen] : seen_)
    for (const auto& reads : seen)
      history.push_back({.name = reader, .session = reader, .committed = true, .writes = {}, .reads = reads});
  if (const auto anomaly = findAnomaly(history)) judge_.breach(anomaly->kind, anomaly->text);
}

std::string TransactionHistory::difference(const Records& read, const std::map<TopicPartition, LoggedPartition>& logs) {
  for (const auto& [partition, held] : logs) {
    const auto found = read.find(partition);
    size_t visible = 0;
    for (const auto& [offset, record] : held.records) {
      const bool isRead = found != read.end() && found->second.contains(offset);
      visible += held.isVisible(record) ? 1 : 0;
      if (isRead == held.isVisible(record)) continue;
      return fmt::format("{} at offset {} of {} is {}", record.value, offset, partition,
                         isRead ? "read as committed, although its transaction was aborted" : "committed and not read");
    }
    if (found != read.end() && found->second.size() != visible)
      return fmt::format("{} records of {} are read as committed, {} are there", found->second.size(), partition,
                         visible);
  }
  return {};
}

void TransactionHistory::judgeOffsets(const std::string& transactionalId, const Offsets& committed,
                                      const std::map<TopicPartition, LoggedPartition>& logs) const {
  // Who leads an id has all the transactions of it, one after the other; what it writes stands in the same order.
  Offsets expected;
  std::map<std::string, std::string, std::less<>> used;
  for (Number number = 0; number < all_.size(); ++number) {
    const Transaction& it = all_[number];
    if (it.transactionalId != transactionalId || !it.committed) continue;
    for (const auto& [partition, offset] : it.offsets) {
      Offset& last = expected.try_emplace(partition, offset).first->second;
      last = std::max(last, offset);
    }
    for (const auto& [partition, offsets] : it.stands) {
      for (const Offset offset : offsets) {
        const std::string& value = logs.at(partition).records.at(offset).value;
        if (sourceOf(value).empty()) continue;
        const auto [other, first] = used.try_emplace(std::string(sourceOf(value)), value);
        if (!first)
          judge_.breach("T3", fmt::format("{} was made into {} and into {}, both are committed", sourceOf(value),
                                          other->second, value));
      }
    }
  }
  for (const auto& [partition, offset] : expected) {
    const auto found = committed.find(partition);
    if (found == committed.end() || found->second != offset)
      judge_.breach(
          "T3", fmt::format("the group of {} stands at offset {} of {}, its committed transactions at {}",
                            transactionalId, found == committed.end() ? kNoOffset : found->second, partition, offset));
    for (const auto& [at, record] : logs.at(partition).records) {
      if (at >= offset) break;
      if (!transactionOf(record.value) || !logs.at(partition).isVisible(record)) continue;
      if (!used.contains(fmt::format("{}@{}", partition, at)))
        judge_.breach("T3", fmt::format("{} at offset {} of {} was passed over by {}, whose group stands at {}",
                                        record.value, at, partition, transactionalId, offset));
    }
  }
  for (const auto& [partition, offset] : committed)
    if (!expected.contains(partition))
      judge_.breach("T3",
                    fmt::format("the group of {} stands at offset {} of {}, which no committed transaction brought",
                                transactionalId, offset, partition));
}

}  // namespace tidemark::sim
