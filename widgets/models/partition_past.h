#pragma once

#include <deque>
#include <map>
#include <vector>

#include "observe/snapshot.h"

namespace tidemark::widgets {

/// How a copy of a partition stood over a stretch of time.
struct CopyStretch {
  enum class State { InSync, Behind, Down };
  /// When it began (wall time); it lasts until the next one begins, or now.
  platform::WallTime begin;
  State state = State::InSync;
  bool leader = false;
  LeaderEpoch epoch;
  bool sameAs(const CopyStretch& other) const {
    return state == other.state && leader == other.leader && (!leader || epoch == other.epoch);
  }
};

/// One point of the lag of a copy behind its leader.
struct LagSample {
  platform::WallTime at;
  int64_t records = 0;
};

/// What the window remembers of partitions that are not internal: who was in the ISR and who led over the last two
/// minutes, and how far each copy was behind over the last thirty seconds. Bounded by time; fed with each snapshot.
class PartitionPast {
 public:
  static constexpr auto kKept = std::chrono::seconds(120);
  static constexpr auto kLagKept = std::chrono::seconds(30);
  /// A lag that changes without pause is sampled no more often than this.
  static constexpr auto kLagStep = std::chrono::milliseconds(100);

  struct Copy {
    std::deque<CopyStretch> stretches;
    std::deque<LagSample> lag;
    /// The newest change into paused or killed, and out of the ISR; at the epoch if none is remembered.
    platform::WallTime wentDown;
    platform::WallTime leftIsr;
    observe::BrokerState broker = observe::BrokerState::Running;
  };

  void add(const observe::ClusterSnapshot& cluster);
  void clear() { m_partitions.clear(); }
  const Copy* copy(const TopicPartition& partition, NodeId broker) const;

 private:
  std::map<TopicPartition, std::map<NodeId, Copy>> m_partitions;
};

}  // namespace tidemark::widgets
