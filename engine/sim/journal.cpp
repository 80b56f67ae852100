#include "sim/journal.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

size_t count(const std::map<TopicPartition, std::map<Offset, std::string>>& partitions) {
  size_t records = 0;
  for (const auto& [partition, each] : partitions) records += each.size();
  return records;
}

}  // namespace

void Journal::acknowledged(const TopicPartition& partition, Offset offset, std::string_view value, bool byAll) {
  if (!byAll || isLost(partition, offset)) return;
  if (const Offset end = committed_.end(partition); offset >= end)
    judge_.breach("R2", fmt::format("{} at offset {} of {} was acknowledged, but only records below {} are committed",
                                    value, offset, partition, end));
  note(acknowledged_[partition], partition, offset, value, "acknowledged");
}

void Journal::consumed(const TopicPartition& partition, Offset offset, std::string_view value) {
  if (isLost(partition, offset)) return;
  if (const Offset end = committed_.end(partition); offset >= end)
    judge_.breach("R9", fmt::format("{} at offset {} of {} was consumed, but only records below {} are committed",
                                    value, offset, partition, end));
  note(consumed_[partition], partition, offset, value, "consumed");
  const auto acknowledged = acknowledged_.find(partition);
  if (acknowledged == acknowledged_.end()) return;
  const auto known = acknowledged->second.find(offset);
  if (known != acknowledged->second.end() && known->second != value)
    judge_.breach("R2", fmt::format("{} was acknowledged at offset {} of {}, where {} is read", known->second, offset,
                                    partition, value));
}

void Journal::refused(const std::string& writer, const Error& error) {
  if (windowsWhole_ && error.code == ErrorCode::OutOfOrderSequenceNumber)
    judge_.breach("T2", fmt::format("a retry of {} was not known any more: {}", writer, error.message));
}

void Journal::lost(const TopicPartition& partition, Offset from, Offset to) {
  lost_[partition].emplace_back(from, to);
  for (Records* records : {&acknowledged_[partition], &consumed_[partition]})
    records->erase(records->lower_bound(from), records->lower_bound(to));
  // A leader that lacks what it acknowledged refuses what follows it.
  windowsWhole_ = false;
}

bool Journal::isLost(const TopicPartition& partition, Offset offset) const {
  const auto found = lost_.find(partition);
  return found != lost_.end() && std::ranges::any_of(found->second, [&](const auto& range) {
           return range.first <= offset && offset < range.second;
         });
}

void Journal::note(Records& records, const TopicPartition& partition, Offset offset, std::string_view value,
                   std::string_view what) {
  const auto [known, first] = records.try_emplace(offset, value);
  if (!first && known->second != value)
    judge_.breach("R9", fmt::format("offset {} of {} was {} as {} and then as {}", offset, partition, what,
                                    known->second, value));
}

size_t Journal::acknowledgedCount() const {
  return count(acknowledged_);
}
size_t Journal::consumedCount() const {
  return count(consumed_);
}

void Journal::demandOnceAndInOrder(const std::map<TopicPartition, std::map<Offset, std::string>>& read,
                                   std::string_view writer) const {
  for (const auto& [partition, records] : read) {
    int64_t last = -1;
    for (const auto& [offset, value] : records) {
      if (!value.starts_with(writer) || value[writer.size()] != ':') continue;
      const int64_t number = std::stoll(value.substr(writer.size() + 1));
      if (number <= last)
        judge_.breach("T2",
                      fmt::format("{} at offset {} of {} comes after {}:{}", value, offset, partition, writer, last));
      last = number;
    }
  }
}

std::string Journal::missing(const std::map<TopicPartition, std::map<Offset, std::string>>& read) const {
  for (const auto& [partition, records] : acknowledged_) {
    const auto found = read.find(partition);
    for (const auto& [offset, value] : records) {
      const bool there = found != read.end() && found->second.contains(offset);
      if (!there)
        return fmt::format("{} at offset {} of {} was acknowledged and is not read", value, offset, partition);
    }
  }
  return {};
}

}  // namespace tidemark::sim
