#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"

namespace tidemark::sim {

/// A transaction of a history. The versions of a partition are its offsets: whoever writes, adds one; whoever reads, in
/// read_committed, sees them in order.
struct HistoryTransaction {
  std::string name;
  /// Transactions of one session follow each other: those of a transactional id, whichever process has it.
  std::string session;
  bool committed = false;
  std::map<TopicPartition, std::set<Offset>> writes;
  std::map<TopicPartition, std::set<Offset>> reads;
};

struct Anomaly {
  /// As Adya names it: G0, G1a, G1b, G1c.
  std::string kind;
  std::string text;
};

/// The first anomaly of a history, in the style of Elle:
/// - G1a, aborted read: somebody read what an aborted transaction wrote.
/// - G1b, intermediate read: of what a transaction wrote to a partition somebody read a part and passed over another.
/// - G0, write cycle: two transactions of a session, each of which wrote before the other one. Transactions of
/// different
///   sessions may do that in Kafka: nothing keeps two producers from writing to two partitions in different orders.
/// - G1c, circular information flow: the same with reads, of all sessions: each depends on what the other one wrote.
std::optional<Anomaly> findAnomaly(const std::vector<HistoryTransaction>& history);

}  // namespace tidemark::sim
