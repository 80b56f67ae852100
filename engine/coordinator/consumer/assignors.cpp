#include "coordinator/consumer/assignors.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace tidemark::coordinator {
namespace {

/// A group while the uniform assignor works on it. Members are numbers, in the order of their ids.
class UniformPlan {
 public:
  explicit UniformPlan(const AssignorInput& input)
      : input_(input), owned_(input.members.size()), loads_(owned_.size()) {
    for (const auto& [topic, count] : input.partitionCounts)
      topics_.try_emplace(topic).first->second.owners.assign(static_cast<size_t>(count), kNobody);
    size_t number = 0;
    for (const auto& [id, member] : input.members) {
      for (const Uuid& topic : member.topics) topics_[topic].subscribers.push_back(number);
      ++number;
    }
    keepWhatMayStay();
  }

  AssignorOutput homogeneous() {
    trimToQuotas();
    dealOut();
    return output();
  }

  AssignorOutput heterogeneous() {
    for (const Uuid& id : byScarcity()) {
      Topic& topic = topics_.at(id);
      for (size_t i = 0; i < topic.owners.size(); ++i) {
        if (topic.owners[i] == kNobody) give(id, topic, i, leastLoaded(topic));
      }
    }
    balance();
    return output();
  }

 private:
  static constexpr size_t kNobody = SIZE_MAX;

  struct Topic {
    std::vector<size_t> subscribers;
    /// By partition.
    std::vector<size_t> owners;
  };

  /// What a member has and still subscribes to, and what exists and nobody before it has.
  void keepWhatMayStay() {
    size_t number = 0;
    for (const auto& [id, member] : input_.members) {
      for (const auto& [topicId, partitions] : member.assigned) {
        const auto topic = topics_.find(topicId);
        if (topic == topics_.end() || !member.topics.contains(topicId)) continue;
        for (const int32_t partition : partitions) {
          const auto i = static_cast<size_t>(partition);
          if (i < topic->second.owners.size() && topic->second.owners[i] == kNobody)
            give(topicId, topic->second, i, number);
        }
      }
      ++number;
    }
  }

  void give(const Uuid& id, Topic& topic, size_t partition, size_t to) {
    topic.owners[partition] = to;
    owned_[to][id].insert(static_cast<int32_t>(partition));
    ++loads_[to];
  }

  void take(const Uuid& id, Topic& topic, size_t partition) {
    const size_t owner = std::exchange(topic.owners[partition], kNobody);
    const auto from = owned_[owner].find(id);
    from->second.erase(static_cast<int32_t>(partition));
    if (from->second.empty()) owned_[owner].erase(from);
    --loads_[owner];
  }

  /// Who has most keeps one more where the partitions do not come out even: that moves the fewest.
  void trimToQuotas() {
    size_t total = 0;
    for (const auto& [id, topic] : topics_) total += topic.owners.size();
    std::vector<size_t> order(loads_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) { return loads_[a] > loads_[b]; });
    quotas_.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t quota = total / order.size() + (i < total % order.size() ? 1 : 0);
      quotas_[order[i]] = quota;
      while (loads_[order[i]] > quota) {
        const auto& last = *owned_[order[i]].rbegin();
        const Uuid id = last.first;
        take(id, topics_.at(id), static_cast<size_t>(*last.second.rbegin()));
      }
    }
  }

  /// The partitions that nobody has go round those who are below their quota.
  void dealOut() {
    std::vector<size_t> unfilled;
    for (size_t member = 0; member < quotas_.size(); ++member) {
      if (loads_[member] < quotas_[member]) unfilled.push_back(member);
    }
    size_t next = 0;
    for (auto& [id, topic] : topics_) {
      for (size_t i = 0; i < topic.owners.size(); ++i) {
        if (topic.owners[i] != kNobody) continue;
        next %= unfilled.size();
        const size_t to = unfilled[next];
        give(id, topic, i, to);
        if (loads_[to] < quotas_[to]) {
          ++next;
        } else {
          unfilled.erase(unfilled.begin() + static_cast<std::ptrdiff_t>(next));
        }
      }
    }
  }

  /// Topics that few members can take come first.
  std::vector<Uuid> byScarcity() const {
    std::vector<Uuid> ids;
    for (const auto& [id, topic] : topics_) {
      if (!topic.subscribers.empty()) ids.push_back(id);
    }
    std::stable_sort(ids.begin(), ids.end(), [this](const Uuid& a, const Uuid& b) {
      return topics_.at(a).subscribers.size() < topics_.at(b).subscribers.size();
    });
    return ids;
  }

  size_t leastLoaded(const Topic& topic) const {
    return *std::min_element(topic.subscribers.begin(), topic.subscribers.end(),
                             [this](size_t a, size_t b) { return loads_[a] < loads_[b]; });
  }

  /// Moves single partitions from who has more to who has at least two fewer, until none is left to move. Each round
  /// halves an imbalance, so a few are enough.
  void balance() {
    constexpr int kRounds = 16;
    for (int round = 0; round < kRounds; ++round) {
      bool moved = false;
      for (auto& [id, topic] : topics_) {
        for (size_t i = 0; i < topic.owners.size(); ++i) {
          if (topic.owners[i] == kNobody) continue;
          const size_t to = leastLoaded(topic);
          if (loads_[topic.owners[i]] <= loads_[to] + 1) continue;
          take(id, topic, i);
          give(id, topic, i, to);
          moved = true;
        }
      }
      if (!moved) return;
    }
  }

  AssignorOutput output() {
    AssignorOutput result;
    size_t number = 0;
    for (const auto& [id, member] : input_.members) result.emplace_hint(result.end(), id, std::move(owned_[number++]));
    return result;
  }

  const AssignorInput& input_;
  std::map<Uuid, Topic> topics_;
  // Of each member.
  std::vector<PartitionsByTopic> owned_;
  std::vector<size_t> loads_;
  std::vector<size_t> quotas_;
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

const Assignor& defaultAssignor() noexcept {
  static const UniformAssignor uniform;
  return uniform;
}

const Assignor* assignorNamed(std::string_view name) noexcept {
  static const RangeAssignor range;
  if (name == defaultAssignor().name()) return &defaultAssignor();
  if (name == range.name()) return &range;
  return nullptr;
}

}  // namespace tidemark::coordinator
