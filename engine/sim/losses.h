#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "metadata/image.h"
#include "sim/replica_logs.h"

namespace tidemark::sim {

/// Committed records that are gone by Kafka's rules, and who may be the cause.
///
/// Eligible leader replicas (KIP-966) are those that left the ISR once it was smaller than min.insync.replicas. If they
/// all stopped uncleanly, nobody is known to hold everything: the last leader is elected as soon as it is back, marked
/// as recovering, although its disk may have lost what another one, that left earlier, still has. An election of that
/// kind, of a broker that did lose something, costs what it lacks; any other one has to hold all.
class Losses {
 public:
  struct Loss {
    TopicPartition partition;
    /// Who was elected, and its epoch.
    NodeId leader;
    LeaderEpoch epoch;
    /// [from, to) was committed.
    Offset from;
    Offset to;
    Batches batches;
    /// The leader said so (RecordsLost).
    bool told = false;
  };
  /// `heard` is called for each loss.
  explicit Losses(std::function<void(const Loss&)> heard) : heard_(std::move(heard)) {}

  /// Unsynced bytes of the broker, or a folder, are gone. `before`: its registration until then.
  void lostData(NodeId broker, BrokerEpoch before);
  /// Of each newer image: whoever is in an ISR again holds all of that partition.
  void look(const metadata::Image& image);
  bool mayLack(NodeId broker, const TopicPartition& partition) const;

  void add(Loss loss);
  /// The leader of that epoch says that what others had from there on is lost.
  void told(const TopicPartition& partition, LeaderEpoch epoch, Offset from);
  /// All of [from, to) is lost; of an empty one: that place is in, or at the beginning of, what is lost.
  bool covers(const TopicPartition& partition, Offset from, Offset to) const;
  /// Whether these batches of a replica begin with some below `end` that are lost: it has not heard of it yet.
  bool holdsLost(const TopicPartition& partition, const Batches& held, Offset end) const;

  const std::vector<Loss>& all() const noexcept { return losses_; }

 private:
  struct Lacking {
    BrokerEpoch before;
    /// Where it was in the ISR since.
    std::set<TopicPartition> whole;
  };

  const std::function<void(const Loss&)> heard_;
  std::map<NodeId, Lacking> lacking_;
  Offset looked_ = kNoOffset;
  std::vector<Loss> losses_;
};

/// "offsets 6 to 871 of orders-1 (broker 6, epoch 4)"
std::string textOf(const Losses::Loss& loss);

}  // namespace tidemark::sim
