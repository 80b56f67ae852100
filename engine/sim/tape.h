#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string_view>

#include "cluster/cluster.h"
#include "observe/recording_file.h"
#include "sim/checker.h"
#include "sim/told_faults.h"

namespace tidemark::sim {

/// Records a run (observe/recording_file.h), to be looked at in the window: what brokers tell, what the lab does, and
/// what Faults does with its own hands. Only looks.
class Tape final : public Checker {
 public:
  Tape(cluster::Cluster& cluster, ToldFaults& faults, std::function<void(std::string_view)> write)
      : cluster_(cluster), faults_(faults), writer_(std::move(write)) {}

  void on(const Seen& seen) override;
  /// To be called after every step of the world.
  void look(platform::MonotonicTime now);

 private:
  /// When the newest batches of a partition came, by their last offset: the age of what a group has not committed is
  /// told by it, since a file must not be read for it.
  struct Appended {
    Offset last;
    platform::WallTime at;
  };
  static constexpr size_t kAppendedKept = 10'000;
  void takeFaults();
  void addAges(observe::ClusterSnapshot& cluster) const;

  cluster::Cluster& cluster_;
  ToldFaults& faults_;
  observe::RecordingWriter writer_;
  std::map<TopicPartition, std::deque<Appended>> appended_;
  uint64_t told_ = 0;
};

}  // namespace tidemark::sim
