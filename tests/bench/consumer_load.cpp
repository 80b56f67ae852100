#include <algorithm>

#include "group_load.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"

namespace tidemark::bench {

using namespace protocol;

namespace {

constexpr int16_t kConsumerHeartbeatVersion = 1;
constexpr int32_t kRebalanceTimeoutMs = 600'000;
constexpr int32_t kLeaves = -1;
/// Between rounds of heartbeats that brought nothing new.
constexpr std::chrono::milliseconds kPause{2};

}  // namespace

ConsumerLoad::ConsumerLoad(Links& links, GroupShape shape) : GroupLoad(links, std::move(shape)) {
  for (const std::string& name : names_) {
    Group& group = groups_.emplace_back();
    for (size_t m = 0; m < shape_.members; ++m) {
      group.members.emplace_back().id = fmt::format("{}-member-{:05}", name, m);
    }
  }
}

GroupLoad::Identity ConsumerLoad::identityOf(size_t group, size_t member) const {
  const Member& who = groups_[group].members[member];
  return {.id = who.id, .generationOrEpoch = who.epoch};
}

template <class Then>
void ConsumerLoad::sendHeartbeat(size_t group, size_t member, Then then) {
  Member& asks = groups_[group].members[member];
  ConsumerGroupHeartbeatRequest request;
  request.groupId = Text::borrowed(names_[group]);
  request.memberId = Text::borrowed(asks.id);
  request.memberEpoch = asks.epoch;
  if (asks.epoch == 0) {
    request.rebalanceTimeoutMs = kRebalanceTimeoutMs;
    request.subscribedTopicNames.emplace().push_back(Text::borrowed(shape_.topic));
  }
  if (asks.epoch != kLeaves && std::exchange(asks.tell, false)) {
    auto& owned = request.topicPartitions.emplace();
    if (!asks.owned.empty()) owned.push_back({.topicId = shape_.topicId, .partitions = asks.owned});
  }
  links_.ask(shape_.link(group, member), request, kConsumerHeartbeatVersion,
             [this, group, member, then = std::move(then)](const ConsumerGroupHeartbeatResponse& response) mutable {
               expect(response.errorCode, "ConsumerGroupHeartbeat");
               Member& who = groups_[group].members[member];
               who.moved = who.epoch != response.memberEpoch || response.assignment.has_value();
               who.epoch = response.memberEpoch;
               if (response.assignment) {
                 who.owned.clear();
                 for (const auto& topic : response.assignment->topicPartitions) {
                   who.owned.insert(who.owned.end(), topic.partitions.begin(), topic.partitions.end());
                 }
                 who.tell = true;
               }
               then();
             });
}

bool ConsumerLoad::isStable(const Group& group) const {
  const auto isIn = [](const Member& member) { return member.epoch != kLeaves; };
  const auto count = static_cast<size_t>(std::ranges::count_if(group.members, isIn));
  const auto partitions = static_cast<size_t>(shape_.partitions);
  const size_t least = partitions / count;
  const size_t most = (partitions + count - 1) / count;
  size_t owned = 0;
  for (const Member& member : group.members) {
    if (!isIn(member)) continue;
    if (member.epoch != group.members.front().epoch || member.tell) return false;
    if (member.owned.size() < least || member.owned.size() > most) return false;
    owned += member.owned.size();
  }
  return owned == partitions;
}

void ConsumerLoad::reconcile(const std::vector<size_t>& groups) {
  constexpr int kMostRounds = 10'000;
  for (int round = 0; round < kMostRounds; ++round) {
    bool stable = true, moved = false;
    for (const size_t g : groups) {
      if (isStable(groups_[g])) continue;
      stable = false;
      for (size_t m = 0; m < shape_.members; ++m) {
        if (groups_[g].members[m].epoch == kLeaves) continue;
        sendHeartbeat(g, m, [this, g, m, &moved] { moved = moved || groups_[g].members[m].moved; });
      }
    }
    if (stable) return;
    links_.run();
    if (moved) continue;
    links_.later(kPause, [] {});
    links_.run();
  }
  throw std::runtime_error("a group does not become stable");
}

void ConsumerLoad::assumeJoined() {
  forEach([this](size_t g, size_t m) {
    groups_[g].members[m].epoch = 1;
    groups_[g].members[m].tell = false;
  });
}

void ConsumerLoad::join() {
  std::vector<size_t> all(shape_.groups);
  for (size_t g = 0; g < shape_.groups; ++g) all[g] = g;
  forEach([this](size_t g, size_t m) { sendHeartbeat(g, m, [] {}); });
  links_.run();
  reconcile(all);
}

void ConsumerLoad::beat(size_t group, size_t member, size_t times) {
  if (times == 0) return;
  sendHeartbeat(group, member, [this, group, member, times] { beat(group, member, times - 1); });
}

double ConsumerLoad::rebalance() {
  // A member leaves, and when the others have what it had, which is not timed, it comes back.
  Member& last = groups_[0].members.back();
  last.epoch = kLeaves;
  sendHeartbeat(0, shape_.members - 1, [] {});
  links_.run();
  reconcile({0});
  last = Member{.id = std::move(last.id), .epoch = 0, .owned = {}};
  const auto began = Links::Clock::now();
  sendHeartbeat(0, shape_.members - 1, [] {});
  links_.run();
  reconcile({0});
  return std::chrono::duration<double, std::milli>(Links::Clock::now() - began).count();
}

void ConsumerLoad::leave() {
  forEach([this](size_t g, size_t m) {
    groups_[g].members[m].epoch = kLeaves;
    sendHeartbeat(g, m, [] {});
  });
  links_.run();
}

}  // namespace tidemark::bench
