#include "coordinator/classic/classic_group.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "base/mutation.h"
#include "coordinator/classic/consumer_protocol.h"

namespace tidemark::coordinator {
namespace {

constexpr std::array<std::string_view, 5> kStateNames{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable",
                                                      "Dead"};

}  // namespace

std::string_view stateName(ClassicState state) noexcept {
  return kStateNames[static_cast<size_t>(state)];
}

bool isValidTransition(ClassicState from, ClassicState to) noexcept {
  switch (to) {
    case ClassicState::Empty:
      return from == ClassicState::PreparingRebalance;
    case ClassicState::PreparingRebalance:
      return from == ClassicState::Stable || from == ClassicState::CompletingRebalance || from == ClassicState::Empty;
    case ClassicState::CompletingRebalance:
      return from == ClassicState::PreparingRebalance;
    case ClassicState::Stable:
      return from == ClassicState::CompletingRebalance;
    case ClassicState::Dead:
      return true;
  }
  return false;
}

const ByteVector* ClassicMember::metadataOf(std::string_view protocol) const noexcept {
  for (const MemberProtocol& one : protocols) {
    if (one.name == protocol) return &one.metadata;
  }
  return nullptr;
}

ClassicMember* ClassicGroup::member(std::string_view memberId) noexcept {
  const auto found = byId_.find(memberId);
  return found == byId_.end() ? nullptr : found->second;
}

void ClassicGroup::restore(int32_t generation, std::optional<std::string> protocolType,
                           std::optional<std::string> protocol, std::optional<std::string> leader,
                           std::optional<platform::WallTime> stateSince) {
  generation_ = generation;
  protocolType_ = std::move(protocolType);
  protocol_ = std::move(protocol);
  leader_ = std::move(leader);
  stateSince_ = stateSince;
}

void ClassicGroup::transitionTo(ClassicState state, platform::WallTime now) {
  TIDEMARK_INVARIANT(isValidTransition(state_, state),
                     fmt::format("group {} may not go from {} to {}", id_, stateName(state_), stateName(state)));
  previousState_ = state_;
  state_ = state;
  stateSince_ = now;
}

void ClassicGroup::count(const ClassicMember& member, int change) {
  // A name that is offered twice counts once.
  std::set<std::string_view> names;
  for (const MemberProtocol& protocol : member.protocols) names.insert(protocol.name);
  for (const std::string_view name : names) {
    auto found = offered_.find(name);
    if (found == offered_.end()) found = offered_.emplace(std::string(name), 0).first;
    found->second += static_cast<size_t>(change);
    if (found->second == 0) offered_.erase(found);
  }
}

ClassicMember& ClassicGroup::add(ClassicMember member, std::string_view protocolType) {
  TIDEMARK_INVARIANT(!members_.contains(member.id), fmt::format("member {} is added twice", member.id));
  if (member.instanceId) {
    const bool isNew = static_.emplace(*member.instanceId, member.id).second;
    TIDEMARK_INVARIANT(isNew, fmt::format("static member {} is added twice", *member.instanceId));
  }
  if (members_.empty()) protocolType_ = protocolType;
  if (!leader_) leader_ = member.id;
  if (member.awaitingJoin) ++awaitingJoinCount_;
  pendingJoin_.erase(member.id);
  count(member, +1);
  const std::string id = member.id;
  const auto added = members_.emplace(id, std::move(member)).first;
  byId_.emplace(added->first, &added->second);
  return added->second;
}

void ClassicGroup::remove(std::string_view id) {
  const std::string memberId(id);  // may lie in what is erased
  if (const auto found = members_.find(memberId); found != members_.end()) {
    ClassicMember& member = found->second;
    count(member, -1);
    if (member.awaitingJoin) --awaitingJoinCount_;
    if (member.instanceId) static_.erase(*member.instanceId);
    const bool wasLeader = isLeader(memberId);
    byId_.erase(found->first);
    members_.erase(found);
    if (wasLeader) {
      leader_.reset();
      if (!members_.empty()) leader_ = members_.begin()->first;
    }
  }
  if (const auto found = pendingJoin_.find(memberId); found != pendingJoin_.end()) pendingJoin_.erase(found);
  removePendingSync(memberId);
}

void ClassicGroup::removePendingSync(std::string_view memberId) {
  if (const auto found = pendingSync_.find(memberId); found != pendingSync_.end()) pendingSync_.erase(found);
}

ClassicMember& ClassicGroup::replaceStatic(const std::string& instanceId, const std::string& oldId,
                                           const std::string& newId) {
  auto node = members_.extract(oldId);
  TIDEMARK_INVARIANT(!node.empty(), fmt::format("static member {} to replace is unknown", oldId));
  TIDEMARK_INVARIANT(!node.mapped().awaitingJoin && !node.mapped().awaitingSync,
                     fmt::format("static member {} is replaced while it waits", oldId));
  byId_.erase(node.key());
  node.key() = newId;
  node.mapped().id = newId;
  const auto placed = members_.insert(std::move(node)).position;
  byId_.emplace(placed->first, &placed->second);
  ClassicMember& member = placed->second;
  member.isNew = false;
  // The timer has the old name.
  member.session = nullptr;
  if (isLeader(oldId)) leader_ = newId;
  static_[instanceId] = newId;
  return member;
}

void ClassicGroup::update(ClassicMember& member, std::vector<MemberProtocol> protocols,
                          platform::milliseconds rebalanceTimeout, platform::milliseconds sessionTimeout,
                          JoinReply reply) {
  count(member, -1);
  member.protocols = std::move(protocols);
  count(member, +1);
  member.rebalanceTimeout = rebalanceTimeout;
  member.sessionTimeout = sessionTimeout;
  if (member.awaitingJoin) --awaitingJoinCount_;
  member.awaitingJoin = std::move(reply);
  if (member.awaitingJoin) ++awaitingJoinCount_;
}

JoinReply ClassicGroup::takeJoin(ClassicMember& member) {
  if (!member.awaitingJoin) return nullptr;
  --awaitingJoinCount_;
  return std::exchange(member.awaitingJoin, nullptr);
}

std::vector<std::string> ClassicGroup::notYetRejoinedDynamic() const {
  std::vector<std::string> ids;
  for (const auto& [id, member] : members_) {
    if (!member.awaitingJoin && !member.isStatic()) ids.push_back(id);
  }
  return ids;
}

std::optional<std::string> ClassicGroup::staticMemberId(std::string_view instanceId) const {
  const auto found = static_.find(instanceId);
  if (found == static_.end()) return std::nullopt;
  return found->second;
}

platform::milliseconds ClassicGroup::rebalanceTimeout() const noexcept {
  platform::milliseconds longest{0};
  for (const auto& [id, member] : members_) longest = std::max(longest, member.rebalanceTimeout);
  return longest;
}

bool ClassicGroup::electLeaderAmongJoined() {
  if (!leader_) return false;
  const ClassicMember* leader = member(*leader_);
  if (leader != nullptr && leader->awaitingJoin) return true;
  for (const auto& [id, member] : members_) {
    if (member.awaitingJoin) {
      leader_ = id;
      return true;
    }
  }
  return false;
}

std::string ClassicGroup::selectProtocol() const {
  std::map<std::string_view, size_t> votes;
  for (const auto& [id, member] : members_) {
    const auto choice = std::find_if(member.protocols.begin(), member.protocols.end(), [&](const MemberProtocol& one) {
      const auto offered = offered_.find(one.name);
      return offered != offered_.end() && offered->second == members_.size();
    });
    TIDEMARK_INVARIANT(choice != member.protocols.end(),
                       fmt::format("member {} of group {} shares no protocol with the others", id, id_));
    ++votes[choice->name];
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  TIDEMARK_INVARIANT(most != votes.end(), fmt::format("group {} without members has no protocol to select", id_));
  return std::string(most->first);
}

bool ClassicGroup::supportsProtocols(std::string_view protocolType, const std::vector<std::string_view>& names) const {
  if (isIn(ClassicState::Empty)) return !protocolType.empty() && !names.empty();
  return protocolType_ && *protocolType_ == protocolType &&
         std::any_of(names.begin(), names.end(), [this](std::string_view name) {
           const auto found = offered_.find(name);
           return (found == offered_.end() ? 0 : found->second) == members_.size();
         });
}

void ClassicGroup::startGeneration(platform::WallTime now) {
  if (!isMutated(Mutation::GenerationNotRaised) || generation_ < 1) ++generation_;
  if (members_.empty()) {
    protocol_.reset();
    computeSubscribedTopics();
    transitionTo(ClassicState::Empty, now);
  } else {
    protocol_ = selectProtocol();
    computeSubscribedTopics();
    transitionTo(ClassicState::CompletingRebalance, now);
  }
  clearPendingSync();
}

std::vector<protocol::JoinGroupResponse::JoinGroupResponseMember> ClassicGroup::describeMembers() const {
  std::vector<protocol::JoinGroupResponse::JoinGroupResponseMember> described;
  for (const auto& [id, member] : members_) {
    auto& one = described.emplace_back();
    one.memberId = id;
    if (member.instanceId) one.groupInstanceId = *member.instanceId;
    if (const ByteVector* metadata = member.metadataOf(protocol_.value_or(""))) one.metadata = *metadata;
  }
  return described;
}

ErrorCode ClassicGroup::validateMember(std::string_view memberId, std::optional<std::string_view> instanceId) const {
  if (instanceId) {
    const auto found = static_.find(*instanceId);
    if (found == static_.end()) return ErrorCode::UnknownMemberId;
    if (found->second != memberId) return ErrorCode::FencedInstanceId;
  }
  return hasMember(memberId) ? ErrorCode::None : ErrorCode::UnknownMemberId;
}

ErrorCode ClassicGroup::validateOffsetCommit(std::string_view memberId, std::optional<std::string_view> instanceId,
                                             int32_t generation) const {
  if (isIn(ClassicState::Dead)) return ErrorCode::CoordinatorNotAvailable;
  // An administrator, or a consumer that manages its partitions itself, commits to a group without members.
  if (generation < 0 && isIn(ClassicState::Empty)) return ErrorCode::None;
  if (generation >= 0 || !memberId.empty() || instanceId) {
    if (const ErrorCode error = validateMember(memberId, instanceId); error != ErrorCode::None) return error;
    if (generation != generation_) return ErrorCode::IllegalGeneration;
  } else if (!isIn(ClassicState::Empty)) {
    return ErrorCode::UnknownMemberId;
  }
  return isIn(ClassicState::CompletingRebalance) ? ErrorCode::RebalanceInProgress : ErrorCode::None;
}

bool ClassicGroup::usesConsumerProtocol() const noexcept {
  return protocolType_ && *protocolType_ == kConsumerProtocol;
}

bool ClassicGroup::isSubscribedTo(std::string_view topic) const {
  if (subscribed_) return subscribed_->contains(topic);
  return usesConsumerProtocol();
}

void ClassicGroup::computeSubscribedTopics() {
  subscribed_.reset();
  if (!usesConsumerProtocol()) return;
  std::set<std::string, std::less<>> topics;
  if (!members_.empty() && !protocol_) return;
  for (const auto& [id, member] : members_) {
    const ByteVector* metadata = member.metadataOf(*protocol_);
    const auto subscription = metadata == nullptr ? std::nullopt : subscribedTopicsOf(*metadata);
    if (!subscription) return;  // not aware of them, so nothing is called unsubscribed
    topics.insert(subscription->begin(), subscription->end());
  }
  subscribed_ = std::move(topics);
}

}  // namespace tidemark::coordinator
