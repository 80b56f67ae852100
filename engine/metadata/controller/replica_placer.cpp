#include "metadata/controller/replica_placer.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tidemark::metadata {
namespace {

template <class T>
void shuffle(std::vector<T>& list, platform::Random& random) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

/// Brokers of one rack in one state. Each pass (one partition) begins one further on.
class BrokerList {
 public:
  void add(NodeId broker) { brokers_.push_back(broker); }
  void start(platform::Random& random) {
    if (!brokers_.empty()) offset_ = random.below(brokers_.size());
  }
  void reorder(platform::Random& random) { shuffle(brokers_, random); }
  std::optional<NodeId> next(size_t pass) {
    if (brokers_.empty()) return std::nullopt;
    if (pass_ != pass) {
      pass_ = pass;
      given_ = 0;
      offset_ = (offset_ + 1) % brokers_.size();
    }
    if (given_ >= brokers_.size()) return std::nullopt;
    return brokers_[(given_++ + offset_) % brokers_.size()];
  }

 private:
  std::vector<NodeId> brokers_;
  size_t given_ = 0;
  size_t offset_ = 0;
  size_t pass_ = 0;
};

struct Rack {
  BrokerList unfenced;
  BrokerList fenced;
  std::optional<NodeId> next(size_t pass) {
    if (const auto broker = unfenced.next(pass)) return broker;
    return fenced.next(pass);
  }
};

class RackList {
 public:
  RackList(const ClusterImage& cluster, platform::Random& random) : random_(random) {
    std::map<std::optional<std::string>, Rack> racks;
    for (const auto& [id, broker] : cluster.brokers) {
      if (broker->inControlledShutdown) continue;
      if (!broker->hasUncordonedDirectory()) {
        anyCordoned_ = true;
        continue;
      }
      Rack& rack = racks[broker->rack];
      (broker->fenced ? rack.fenced : rack.unfenced).add(id);
      unfenced_ += broker->fenced ? 0 : 1;
      ++total_;
    }
    for (auto& [name, rack] : racks) {
      rack.fenced.start(random);
      rack.unfenced.start(random);
      racks_.push_back(std::move(rack));
    }
    if (!racks_.empty()) offset_ = random.below(racks_.size());
  }

  size_t total() const noexcept { return total_; }
  size_t unfenced() const noexcept { return unfenced_; }
  /// A broker was left out because all of its directories are cordoned.
  bool anyCordoned() const noexcept { return anyCordoned_; }

  std::vector<NodeId> place(size_t replicationFactor) {
    // Once each broker led, go on in another order, so that the same assignments do not come again.
    if (pass_ == unfenced_ && unfenced_ > 1) {
      shuffle(racks_, random_);
      for (Rack& rack : racks_) {
        rack.fenced.reorder(random_);
        rack.unfenced.reorder(random_);
      }
      pass_ = 0;
    }
    if (offset_ == racks_.size()) offset_ = 0;
    std::vector<NodeId> chosen;
    std::optional<size_t> leaderRack = offset_;
    while (true) {
      if (const auto leader = racks_[*leaderRack].unfenced.next(pass_)) {
        chosen.push_back(*leader);
        break;
      }
      leaderRack = (*leaderRack + 1) % racks_.size();
    }
    size_t at = offset_;
    while (chosen.size() < replicationFactor) {
      // The leader's rack is passed over once.
      if (leaderRack == at) {
        leaderRack.reset();
      } else if (const auto broker = racks_[at].next(pass_)) {
        chosen.push_back(*broker);
      }
      at = (at + 1) % racks_.size();
    }
    ++pass_;
    ++offset_;
    return chosen;
  }

 private:
  platform::Random& random_;
  std::vector<Rack> racks_;
  size_t total_ = 0;
  size_t unfenced_ = 0;
  bool anyCordoned_ = false;
  size_t offset_ = 0;
  size_t pass_ = 0;
};

}  // namespace

Result<std::vector<std::vector<NodeId>>> placeReplicas(const ClusterImage& cluster, int32_t partitions,
                                                       int16_t replicationFactor, platform::Random& random) {
  const auto refuse = [](std::string message) { return fail(ErrorCode::InvalidReplicationFactor, std::move(message)); };
  if (replicationFactor <= 0) {
    return refuse(
        fmt::format("Invalid replication factor {}: the replication factor must be positive.", replicationFactor));
  }
  RackList racks(cluster, random);
  if (racks.unfenced() == 0)
    return refuse(racks.anyCordoned()
                      ? "All brokers are currently fenced, or all of their log directories are cordoned."
                      : "All brokers are currently fenced.");
  if (static_cast<size_t>(replicationFactor) > racks.total()) {
    return refuse(
        fmt::format("The target replication factor of {} cannot be reached because only {} broker(s) are registered.",
                    replicationFactor, racks.total()));
  }
  std::vector<std::vector<NodeId>> placements;
  placements.reserve(static_cast<size_t>(partitions));
  for (int32_t i = 0; i < partitions; ++i) placements.push_back(racks.place(static_cast<size_t>(replicationFactor)));
  return placements;
}

}  // namespace tidemark::metadata
