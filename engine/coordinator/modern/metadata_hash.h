#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "coordinator/request_info.h"

namespace tidemark::coordinator {

/// A number that changes when the topic does: its id, its partitions, or the racks of their replicas (KIP-1101). Equal
/// to Kafka's.
int64_t topicHash(const TopicFacts& topic);

/// Hashes of topics, computed once until a topic changes. 0: there is no such topic.
class TopicHashes {
 public:
  explicit TopicHashes(const TopicLookup& topics) : topics_(topics) {}
  int64_t of(const std::string& topic);
  /// Of a group that reads these topics, as its metadata record holds it. 0 if none of them exists.
  int64_t ofGroup(const std::set<std::string>& topics);
  void forget(std::string_view topic);
  void forgetAll() { hashes_.clear(); }

 private:
  const TopicLookup& topics_;
  std::map<std::string, int64_t, std::less<>> hashes_;
};

}  // namespace tidemark::coordinator
