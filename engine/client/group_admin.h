#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "client/gathered.h"

namespace tidemark::client {

namespace detail {
class Calls;
}

/// The protocol of a group, by the names of ListGroups 5. Unknown: the broker does not tell (it is older).
enum class GroupType : uint8_t { Unknown, Classic, Consumer, Share, Streams };
/// "Classic", "Consumer", …; empty for Unknown.
std::string_view nameOf(GroupType type) noexcept;

struct ListedGroup {
  std::string id;
  GroupType type = GroupType::Unknown;
  /// "consumer", "connect", …; empty for a group that holds offsets only.
  std::string protocolType;
  /// As Kafka names it; empty from brokers that do not tell.
  std::string state;
  NodeId coordinator;
};

struct GroupMember {
  std::string id;
  std::string instanceId;
  std::string clientId;
  std::string host;
  std::string rack;
  /// −1: the protocol has none.
  int32_t epoch = -1;
  /// A member of the classic protocol in a group of the consumer protocol.
  bool classic = false;
  std::vector<TopicPartition> assigned;
  /// What the coordinator wants it to have; only where the coordinator assigns.
  std::vector<TopicPartition> target;
  /// Of a streams group: active, standby and warm-up tasks, as "0_1".
  std::vector<std::string> tasks;
};

struct GroupDescription {
  std::string id;
  GroupType type = GroupType::Classic;
  std::string state;
  std::string protocolType;
  /// The protocol that was agreed on, or the coordinator's assignor.
  std::string assignor;
  /// −1: the protocol has none.
  int32_t epoch = -1;
  int32_t assignmentEpoch = -1;
  std::vector<GroupMember> members;
};

struct CommittedOffset {
  TopicPartition partition;
  Offset offset;
  LeaderEpoch leaderEpoch;
  std::string metadata;
};

/// What became of one of several partitions; None: done.
struct PartitionOutcome {
  TopicPartition partition;
  ErrorCode code = ErrorCode::None;
};

/// Administers the groups of a cluster of any brokers that speak Kafka's protocol. As Admin: each call is asked again
/// while its error is one that passes, up to `timeout`; executor as the Client's, no handler inside its call.
class GroupAdmin {
 public:
  template <class T>
  using Handler = std::move_only_function<void(Result<T>)>;
  using Done = std::move_only_function<void(Result<void>)>;

  explicit GroupAdmin(Client& client, platform::Duration timeout = std::chrono::seconds(60));
  ~GroupAdmin();
  GroupAdmin(const GroupAdmin&) = delete;
  GroupAdmin& operator=(const GroupAdmin&) = delete;

  /// Of all brokers, by id.
  void listGroups(Handler<Gathered<ListedGroup>> handler);
  /// `type` as listGroups() told it; Unknown is asked as classic.
  void describeGroup(std::string group, GroupType type, Handler<GroupDescription> handler);
  /// Partitions without a commit are left out. Of a share group: where each partition starts (SPSO).
  void committedOffsets(std::string group, GroupType type, Handler<std::vector<CommittedOffset>> handler);
  /// The same of these partitions alone, once no open transaction has offsets for them (KIP-447).
  void stableOffsets(std::string group, std::vector<TopicPartition> partitions,
                     Handler<std::vector<CommittedOffset>> handler);

  /// Commits for a group without members. An error of one partition is told for that one; UnknownMemberId means that
  /// the group has members.
  void alterOffsets(std::string group, GroupType type, std::vector<CommittedOffset> offsets,
                    Handler<std::vector<PartitionOutcome>> handler);
  /// GroupSubscribedToTopic means that a member is subscribed. A share group forgets whole topics.
  void deleteOffsets(std::string group, GroupType type, std::vector<TopicPartition> partitions,
                     Handler<std::vector<PartitionOutcome>> handler);
  /// NonEmptyGroup, GroupIdNotFound.
  void deleteGroup(std::string group, Done done);

 private:
  /// `partitions`: instead of all, and stable.
  void fetchOffsets(std::string group, const std::vector<TopicPartition>* partitions,
                    Handler<std::vector<CommittedOffset>> handler);
  std::shared_ptr<detail::Calls> core_;
};

}  // namespace tidemark::client
