#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/uuid.h"

namespace tidemark::coordinator {

/// Partitions by topic; a topic without any is not in it.
using SharePartitions = std::map<Uuid, std::set<int32_t>>;

/// A topic as share groups see it.
struct ShareTopic {
  Uuid id;
  int32_t partitions = 0;
  /// Changes when the topic does.
  int64_t hash = 0;
};

struct ShareGroupMember {
  std::optional<std::string> rackId;
  std::string clientId;
  std::string clientHost;
  std::set<std::string> topics;
  /// The target that it has, and the one before; 0: none yet.
  int32_t epoch = 0;
  int32_t previousEpoch = 0;
  SharePartitions assigned;
  friend bool operator==(const ShareGroupMember&, const ShareGroupMember&) = default;
};

/// Of a topic: partitions whose share state is (being) set up.
struct ShareTopicState {
  std::string name;
  std::set<int32_t> partitions;
  friend bool operator==(const ShareTopicState&, const ShareTopicState&) = default;
};

/// A share group as its records in `__consumer_offsets` say (KIP-932): members that share partitions, any partition
/// with any of them.
struct ShareGroup {
  /// Raised by each change of members, subscriptions or topics; its target follows.
  int32_t epoch = 0;
  int64_t metadataHash = 0;
  int32_t targetEpoch = 0;
  int64_t targetTimestampMs = 0;
  std::map<std::string, ShareGroupMember, std::less<>> members;
  /// By member.
  std::map<std::string, SharePartitions, std::less<>> target;
  /// Partitions whose state at the share coordinator is being set up, and those where it is: only these are assigned.
  std::map<Uuid, ShareTopicState> initializing;
  std::map<Uuid, ShareTopicState> initialized;
  std::map<Uuid, std::string> deleting;

  /// Kafka's names: "Empty", "Stable".
  std::string_view stateName() const noexcept { return members.empty() ? "Empty" : "Stable"; }
  std::set<std::string> subscribedTopics() const;
  bool isInitialized(const Uuid& topic, int32_t partition) const;
};

/// Kafka's assignor "simple": each member gets a fair part of the partitions that it subscribes to; with more members
/// than partitions several share one, as evenly as can be. `partitions`: those that may be assigned, of each topic by
/// name. What a member has is kept where that is as fair.
std::map<std::string, SharePartitions, std::less<>> assignSimply(
    const std::map<std::string, ShareGroupMember, std::less<>>& members,
    const std::map<std::string, std::pair<Uuid, std::set<int32_t>>, std::less<>>& partitions,
    const std::map<std::string, SharePartitions, std::less<>>& before);

}  // namespace tidemark::coordinator
