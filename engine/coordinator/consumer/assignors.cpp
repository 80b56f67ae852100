#include "coordinator/consumer/assignors.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tidemark::coordinator {
namespace {

using TopicIndex = std::pair<Uuid, int32_t>;

/// A group while the uniform assignor works on it.
class UniformPlan {
 public:
  explicit UniformPlan(const AssignorInput& input) : input_(input) {
    for (const auto& [id, member] : input.members) {
      output_[id];
      load_[id] = 0;
      for (const Uuid& topic : member.topics) subscribers_[topic].push_back(id);
    }
    keepWhatMayStay();
  }

  AssignorOutput homogeneous() {
    trimToQuotas();
    dealOut();
    return std::move(output_);
  }

  AssignorOutput heterogeneous() {
    for (const Uuid& topic : byScarcity()) {
      for (int32_t i = 0; i < input_.partitionCounts.at(topic); ++i) {
        if (!owners_.contains({topic, i})) give({topic, i}, leastLoaded(topic));
      }
    }
    balance();
    return std::move(output_);
  }

 private:
  /// What a member has and still subscribes to, and what exists and nobody before it has.
  void keepWhatMayStay() {
    for (const auto& [id, member] : input_.members) {
      for (const auto& [topic, partitions] : member.assigned) {
        const auto count = input_.partitionCounts.find(topic);
        if (count == input_.partitionCounts.end() || !member.topics.contains(topic)) continue;
        for (const int32_t partition : partitions) {
          if (partition < count->second && !owners_.contains({topic, partition})) give({topic, partition}, id);
        }
      }
    }
  }

  void give(const TopicIndex& partition, const std::string& to) {
    owners_[partition] = to;
    output_[to][partition.first].insert(partition.second);
    ++load_[to];
  }

  void take(const TopicIndex& partition) {
    const auto owner = owners_.find(partition);
    PartitionsByTopic& from = output_[owner->second];
    const auto topic = from.find(partition.first);
    topic->second.erase(partition.second);
    if (topic->second.empty()) from.erase(topic);
    --load_[owner->second];
    owners_.erase(owner);
  }

  /// Who has most keeps one more where the partitions do not come out even: that moves the fewest.
  void trimToQuotas() {
    size_t total = 0;
    for (const auto& [topic, count] : input_.partitionCounts) total += static_cast<size_t>(count);
    const size_t members = input_.members.size();
    std::vector<std::string> order;
    for (const auto& [id, load] : load_) order.push_back(id);
    std::stable_sort(order.begin(), order.end(),
                     [this](const std::string& a, const std::string& b) { return load_[a] > load_[b]; });
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t quota = total / members + (i < total % members ? 1 : 0);
      quotas_[order[i]] = quota;
      while (load_[order[i]] > quota) {
        const auto& last = *output_[order[i]].rbegin();
        take({last.first, *last.second.rbegin()});
      }
    }
  }

  /// The partitions that nobody has go round those who are below their quota.
  void dealOut() {
    std::vector<std::string> unfilled;
    for (const auto& [id, quota] : quotas_) {
      if (load_[id] < quota) unfilled.push_back(id);
    }
    size_t next = 0;
    for (const auto& [topic, count] : input_.partitionCounts) {
      for (int32_t i = 0; i < count; ++i) {
        if (owners_.contains({topic, i})) continue;
        next %= unfilled.size();
        const std::string to = unfilled[next];
        give({topic, i}, to);
        if (load_[to] < quotas_[to]) {
          ++next;
        } else {
          unfilled.erase(unfilled.begin() + static_cast<std::ptrdiff_t>(next));
        }
      }
    }
  }

  /// Topics that few members can take come first.
  std::vector<Uuid> byScarcity() const {
    std::vector<Uuid> topics;
    for (const auto& [topic, members] : subscribers_) topics.push_back(topic);
    std::stable_sort(topics.begin(), topics.end(), [this](const Uuid& a, const Uuid& b) {
      return subscribers_.at(a).size() < subscribers_.at(b).size();
    });
    return topics;
  }

  const std::string& leastLoaded(const Uuid& topic) const {
    const std::vector<std::string>& members = subscribers_.at(topic);
    return *std::min_element(members.begin(), members.end(),
                             [this](const std::string& a, const std::string& b) { return load_.at(a) < load_.at(b); });
  }

  /// Moves single partitions from who has more to who has at least two fewer, until none is left to move. Each round
  /// halves an imbalance, so a few are enough.
  void balance() {
    constexpr int kRounds = 16;
    for (int round = 0; round < kRounds; ++round) {
      bool moved = false;
      const auto owners = owners_;
      for (const auto& [partition, owner] : owners) {
        const std::string to = leastLoaded(partition.first);
        if (load_[owner] <= load_[to] + 1) continue;
        take(partition);
        give(partition, to);
        moved = true;
      }
      if (!moved) return;
    }
  }

  const AssignorInput& input_;
  AssignorOutput output_;
  std::map<TopicIndex, std::string> owners_;
  std::map<std::string, size_t> load_;
  std::map<std::string, size_t> quotas_;
  std::map<Uuid, std::vector<std::string>> subscribers_;
};

}  // namespace

AssignorOutput UniformAssignor::assign(const AssignorInput& input) const {
  if (input.members.empty() || input.partitionCounts.empty()) return {};
  UniformPlan plan(input);
  return input.homogeneous ? plan.homogeneous() : plan.heterogeneous();
}

AssignorOutput RangeAssignor::assign(const AssignorInput& input) const {
  std::vector<std::string> order;
  for (const auto& [id, member] : input.members) order.push_back(id);
  std::stable_sort(order.begin(), order.end(), [&](const std::string& a, const std::string& b) {
    const auto& first = input.members.at(a).instanceId;
    const auto& second = input.members.at(b).instanceId;
    if (first && second) return *first < *second;
    return first.has_value() && !second.has_value();
  });
  AssignorOutput output;
  for (const auto& [topic, count] : input.partitionCounts) {
    std::vector<std::string> subscribers;
    for (const std::string& id : order) {
      if (input.members.at(id).topics.contains(topic)) subscribers.push_back(id);
    }
    if (subscribers.empty()) continue;
    const auto members = static_cast<int32_t>(subscribers.size());
    int32_t next = 0;
    for (int32_t i = 0; i < members; ++i) {
      const int32_t end = next + count / members + (i < count % members ? 1 : 0);
      for (; next < end; ++next) output[subscribers[static_cast<size_t>(i)]][topic].insert(next);
    }
  }
  return output;
}

const Assignor* assignorNamed(std::string_view name) noexcept {
  static const UniformAssignor uniform;
  static const RangeAssignor range;
  if (name == uniform.name()) return &uniform;
  if (name == range.name()) return &range;
  return nullptr;
}

}  // namespace tidemark::coordinator
