#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "coordinator/consumer/consumer_member.h"
#include "coordinator/modern/target_assignment.h"
#include "events/group_events.h"

namespace tidemark::coordinator {

/// Topics that an expression stood for when it was last looked at; ConsumerGroupRegularExpression holds it.
struct ResolvedRegex {
  std::set<std::string> topics;
  /// Offset of the metadata, and when.
  int64_t version = 0;
  int64_t timestampMs = 0;
};

/// A group of the consumer protocol (KIP-848; Kafka's ConsumerGroup) as its records say: its epoch rises whenever its
/// assignment must be made anew, the target is made for an epoch, and each member walks to it. Only replay changes it.
class ConsumerGroup {
 public:
  explicit ConsumerGroup(std::string id) : id_(std::move(id)) {}
  ConsumerGroup(ConsumerGroup&&) = default;

  const std::string& id() const noexcept { return id_; }
  int32_t epoch() const noexcept { return epoch_; }
  int64_t metadataHash() const noexcept { return metadataHash_; }
  /// The group epoch that the target was made for, and when.
  int32_t assignmentEpoch() const noexcept { return assignmentEpoch_; }
  int64_t assignmentTimestampMs() const noexcept { return assignmentTimestampMs_; }
  const std::map<std::string, ConsumerMember, std::less<>>& members() const noexcept { return members_; }
  const ConsumerMember* member(std::string_view id) const noexcept;
  const ConsumerMember* staticMember(std::string_view instanceId) const noexcept;
  const std::map<std::string, PartitionsByTopic>& targets() const noexcept { return targets_; }
  /// Empty if it has none.
  const PartitionsByTopic& target(const std::string& memberId) const noexcept;
  const std::map<std::string, ResolvedRegex, std::less<>>& regexes() const noexcept { return regexes_; }

  events::GroupState state() const noexcept;
  bool isEmpty() const noexcept { return members_.empty(); }
  bool isOwned(const Uuid& topic, int32_t partition) const noexcept;
  /// Named by its members, or matched by their expressions.
  bool isSubscribedTo(std::string_view topic) const;
  std::set<std::string> topicsOf(const MemberFacts& facts) const;
  /// What most members ask for; nothing if none asks.
  std::optional<std::string> preferredAssignor() const;

  size_t classicCount() const noexcept { return classicCount_; }
  /// Whether every member but that one follows the classic protocol, and that one does not.
  bool isClassicExcept(std::string_view memberId) const noexcept;
  /// Whether a classic member that offers these could be understood by the other classic ones.
  bool supportsProtocols(std::string_view protocolType, const std::vector<std::string_view>& names) const;
  /// Of an UnreleasedPartitions member: somebody else still holds what it waits for.
  bool isWaiting(const ConsumerMember& member) const;

  // What the records say.
  void setEpoch(int32_t epoch, int64_t metadataHash);
  void setFacts(const std::string& memberId, MemberFacts facts);
  void setProgress(const std::string& memberId, MemberProgress progress);
  void removeMember(std::string_view memberId);
  void setTarget(const std::string& memberId, PartitionsByTopic target) { targets_[memberId] = std::move(target); }
  void removeTarget(const std::string& memberId) { targets_.erase(memberId); }
  void setAssignmentEpoch(int32_t epoch, int64_t timestampMs);
  void setRegex(const std::string& regex, ResolvedRegex resolved) { regexes_[regex] = std::move(resolved); }
  void removeRegex(const std::string& regex) { regexes_.erase(regex); }

 private:
  ConsumerMember& memberOrNew(const std::string& memberId);
  void own(const ConsumerMember& member);
  void disown(const ConsumerMember& member);
  void count(const MemberFacts& facts, int change);

  const std::string id_;
  /// The first epoch that is written is 2, as Kafka's.
  int32_t epoch_ = 1;
  int64_t metadataHash_ = 0;
  int32_t assignmentEpoch_ = 0;
  int64_t assignmentTimestampMs_ = 0;
  std::map<std::string, ConsumerMember, std::less<>> members_;
  /// The same, for who asks for one: each heartbeat does.
  std::unordered_map<std::string_view, ConsumerMember*> byId_;
  std::map<std::string, PartitionsByTopic> targets_;
  /// Instance id → member id.
  std::map<std::string, std::string, std::less<>> static_;
  std::map<std::string, ResolvedRegex, std::less<>> regexes_;
  /// Who has a partition, or has yet to give it back.
  std::map<Uuid, std::map<int32_t, std::string>> owners_;
  size_t classicCount_ = 0;
  /// Protocol name → classic members that offer it; assignor → members that ask for it.
  std::map<std::string, int, std::less<>> offered_;
  std::map<std::string, int, std::less<>> assignors_;
};

}  // namespace tidemark::coordinator
