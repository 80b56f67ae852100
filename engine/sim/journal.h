#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/checker.h"
#include "sim/replication_checkers.h"

namespace tidemark::sim {

/// What applications were told, as it happens. R2: what is acknowledged to acks=all is committed and stays. R9: what
/// was consumed at an offset was committed and never changes. L5: at the end everything acknowledged is read. What is
/// lost by Kafka's rules (Losses) is excepted.
class Journal {
 public:
  Journal(Judge& judge, const CommittedRecords& committed) : judge_(judge), committed_(committed) {}

  void acknowledged(const TopicPartition& partition, Offset offset, std::string_view value, bool byAll);
  void consumed(const TopicPartition& partition, Offset offset, std::string_view value);

  /// T2: with five batches on their way at most, an idempotent writer is never told that one is out of order, though
  /// brokers stop and start and logs are truncated.
  void refused(const std::string& writer, const Error& error);
  /// What stood at [from, to) is lost: what applications say of these offsets, before or from now on, is not asked any
  /// more.
  void lost(const TopicPartition& partition, Offset from, Offset to);
  size_t acknowledgedCount() const;
  size_t consumedCount() const;
  /// T2: what one idempotent writer sent to a partition stands there once and in order. `values` are "writer:number".
  void demandOnceAndInOrder(const std::map<TopicPartition, std::map<Offset, std::string>>& read,
                            std::string_view writer) const;
  /// The first acknowledged record that is not among these; empty if none.
  std::string missing(const std::map<TopicPartition, std::map<Offset, std::string>>& read) const;

 private:
  using Records = std::map<Offset, std::string>;
  bool isLost(const TopicPartition& partition, Offset offset) const;
  void note(Records& records, const TopicPartition& partition, Offset offset, std::string_view value,
            std::string_view what);

  Judge& judge_;
  const CommittedRecords& committed_;
  std::map<TopicPartition, Records> acknowledged_;
  std::map<TopicPartition, Records> consumed_;
  bool windowsWhole_ = true;
  std::map<TopicPartition, std::vector<std::pair<Offset, Offset>>> lost_;
};

}  // namespace tidemark::sim
