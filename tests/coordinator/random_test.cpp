// Groups under random clients, delays, refused writes and coordinators that move; the invariants G1 to G4 and G6 of
// groups are checked at every answer, and in the end everything must come to rest (L4).

#include <random>
#include <set>

#include "coordinator/group_fixture.h"
#include "protocol/framing.h"
#include "protocol/generated/consumer_protocol_assignment.h"
#include "protocol/generated/consumer_protocol_subscription.h"

namespace tidemark::coordinator {
namespace {

constexpr int32_t kTopicPartitions = 6;
constexpr int kMembers = 5;
const char* const kGroups[] = {"red", "green"};

ByteVector subscription() {
  protocol::ConsumerProtocolSubscription message;
  message.topics = {"orders"};
  return *protocol::encodeVersioned(message, 1);
}

/// The generation rides in the user data, so that a follower sees whose assignment it got.
ByteVector assignmentOf(const std::set<int32_t>& partitions, int32_t generation) {
  protocol::ConsumerProtocolAssignment message;
  message.assignedPartitions.push_back({.topic = "orders", .partitions = {partitions.begin(), partitions.end()}});
  const std::string text = std::to_string(generation);
  message.userData = protocol::Blob(asBytes(text));
  return *protocol::encodeVersioned(message, 1);
}

struct Seen {
  int generations = 0;
  int moves = 0;
  int movesThatLost = 0;
  int expiredSessions = 0;
  int fenced = 0;
  int refusedWrites = 0;
  int committed = 0;
  int staticReturns = 0;
};

class World {
 public:
  World(uint64_t seed, Seen& seen) : random_(seed), seen_(seen) {
    topics_.add("orders", 1);
    config_.initialRebalanceDelay = 500ms;
    config_.newMemberJoinTimeout = 30s;
    for (int i = 0; i < 2; ++i) {
      coordinators_[i] = std::make_unique<GroupCoordinator>(
          GroupCoordinator::Dependencies{executor_, &clock_, &ids_, &logger_, &log_, &topics_}, config_);
      coordinators_[i]->setPartitionCount(kPartitions);
    }
    log_.listener = [this](PartitionIndex partition, Offset highWatermark) {
      coordinators_[leader_]->onHighWatermark(partition, highWatermark);
    };
    move(false);
    for (const char* group : kGroups) {
      for (int i = 0; i < kMembers; ++i) {
        Client client;
        client.group = group;
        client.name = std::string(group) + std::to_string(i);
        if (i % 3 == 0) client.instance = "instance-" + client.name;
        client.version = i % 2 == 0 ? 9 : 3;
        if (client.instance) client.version = 9;
        clients_.push_back(std::move(client));
      }
    }
  }

  void disturb(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      log_.commitsAtOnce = chance(70);
      log_.failWith.reset();
      if (chance(3)) {
        log_.failWith = ErrorCode::NotEnoughReplicas;
        ++seen_.refusedWrites;
      }
      if (chance(1) && chance(60)) move(chance(50));
      if (chance(30)) commitAll();
      if (chance(60)) executor_->advance(std::chrono::milliseconds(random_() % 1200));
      if (chance(1)) executor_->advance(15s);
      Client& client = clients_[random_() % clients_.size()];
      act(client, true);
      if (step % 4 == 0) checkStable();
    }
  }

  void settle() {
    log_.commitsAtOnce = true;
    log_.failWith.reset();
    commitAll();
    for (int round = 0; round < 200 && !testing::Test::HasFailure(); ++round) {
      executor_->advance(1s);
      for (Client& client : clients_) {
        client.alive = true;
        act(client, false);
      }
    }
    checkStable();
    for (const Client& client : clients_) {
      EXPECT_EQ(static_cast<int>(client.state), static_cast<int>(Client::State::Working)) << client.name;
    }
    for (const char* group : kGroups) {
      EXPECT_EQ(snapshotOf(group).state, "Stable");
      expectCommitted(group);
    }
  }

 private:
  static constexpr int32_t kPartitions = 2;

  struct Client {
    enum class State { Out, Joining, Synchronising, Working };
    std::string group;
    std::string name;
    std::optional<std::string> instance;
    int16_t version = 9;
    bool alive = true;
    State state = State::Out;
    std::string member;
    int32_t generation = -1;
    Answer<protocol::JoinGroupResponse> join;
    Answer<protocol::SyncGroupResponse> sync;
    std::string key() const { return instance.value_or(member); }
  };

  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  GroupCoordinator& coordinator() { return *coordinators_[leader_]; }
  RequestInfo info(const Client& client) const { return {client.version, client.name, "/127.0.0.1"}; }

  void commitAll() {
    for (int32_t i = 0; i < kPartitions; ++i) log_.commit(PartitionIndex(i));
    executor_->drain();
  }

  /// The partitions go to the other coordinator.
  void move(bool losesUncommitted) {
    for (int32_t i = 0; i < kPartitions; ++i) {
      if (epoch_.value() > 0) coordinator().onResign(PartitionIndex(i));
    }
    executor_->drain();
    if (epoch_.value() > 0) ++seen_.moves;
    if (losesUncommitted) ++seen_.movesThatLost;
    leader_ = 1 - leader_;
    epoch_ = epoch_.next();
    inMemory_.clear();
    for (int32_t i = 0; i < kPartitions; ++i) {
      log_.elect(PartitionIndex(i), epoch_, losesUncommitted);
      coordinator().onBecomeLeader(PartitionIndex(i), epoch_);
    }
    executor_->drain();
    commitAll();
    for (const char* group : kGroups) expectCommitted(group);
  }

  // ---- clients

  void act(Client& client, bool wild) {
    if (!client.alive) {
      if (chance(10)) client.alive = true;
      return;
    }
    if (wild && chance(2)) client.alive = false;  // it says nothing for a while
    switch (client.state) {
      case Client::State::Out:
        sendJoin(client);
        break;
      case Client::State::Joining:
        if (client.join.has()) onJoined(client);
        break;
      case Client::State::Synchronising:
        if (client.sync.has()) onSynchronised(client);
        break;
      case Client::State::Working:
        work(client, wild);
        break;
    }
  }

  void sendJoin(Client& client) {
    protocol::JoinGroupRequest request;
    request.groupId = client.group;
    request.memberId = client.member;
    if (client.instance) request.groupInstanceId = *client.instance;
    request.protocolType = "consumer";
    request.sessionTimeoutMs = 6000;
    request.rebalanceTimeoutMs = 8000;
    request.protocols.push_back({.name = "range", .metadata = subscription()});
    client.join = {};
    client.state = Client::State::Joining;
    coordinator().joinGroup(info(client), request,
                            [this, group = client.group, incarnation = epoch_,
                             reply = client.join.reply()](protocol::JoinGroupResponse response) mutable {
                              if (response.errorCode == 0 && incarnation == epoch_) {
                                // G3, as one coordinator tells it.
                                EXPECT_GE(response.generationId, inMemory_[group]) << group;
                                inMemory_[group] = std::max(inMemory_[group], response.generationId);
                              }
                              reply(std::move(response));
                            });
    executor_->drain();
  }

  void onJoined(Client& client) {
    const protocol::JoinGroupResponse& response = client.join.get();
    switch (client.join.error()) {
      case ErrorCode::None:
        break;
      case ErrorCode::MemberIdRequired:
        client.member = response.memberId.str();
        client.state = Client::State::Out;
        return;
      case ErrorCode::FencedInstanceId:
        ++seen_.fenced;
        [[fallthrough]];
      case ErrorCode::UnknownMemberId:
        client.member.clear();
        [[fallthrough]];
      default:
        client.state = Client::State::Out;
        return;
    }
    client.member = response.memberId.str();
    client.generation = response.generationId;
    std::map<std::string, std::set<int32_t>> shares;
    if (response.leader == client.member && !response.skipAssignment && !response.members.empty()) {
      ++seen_.generations;
      for (int32_t partition = 0; partition < kTopicPartitions; ++partition) {
        shares[response.members[random_() % response.members.size()].memberId.str()].insert(partition);
      }
    }
    protocol::SyncGroupRequest request;
    request.groupId = client.group;
    request.memberId = client.member;
    request.generationId = client.generation;
    if (client.instance) request.groupInstanceId = *client.instance;
    for (const auto& [member, partitions] : shares) {
      request.assignments.push_back({.memberId = member, .assignment = assignmentOf(partitions, client.generation)});
    }
    client.sync = {};
    client.state = Client::State::Synchronising;
    coordinator().syncGroup(info(client), request,
                            [this, group = client.group, generation = client.generation,
                             reply = client.sync.reply()](protocol::SyncGroupResponse told) mutable {
                              if (told.errorCode == 0) {
                                // G3: what was synchronised is in the log, so no coordinator goes behind it.
                                EXPECT_GE(generation, synchronised_[group]);
                                synchronised_[group] = std::max(synchronised_[group], generation);
                              }
                              reply(std::move(told));
                            });
    executor_->drain();
  }

  void onSynchronised(Client& client) {
    if (client.sync.error() != ErrorCode::None) {
      if (client.sync.error() == ErrorCode::UnknownMemberId || client.sync.error() == ErrorCode::FencedInstanceId) {
        client.member.clear();
      }
      client.state = Client::State::Out;
      return;
    }
    client.state = Client::State::Working;
    std::set<int32_t> partitions;
    if (!client.sync.get().assignment.empty()) {
      const auto assignment =
          protocol::decodeVersionedAs<protocol::ConsumerProtocolAssignment>(client.sync.get().assignment);
      ASSERT_TRUE(assignment.has_value());
      EXPECT_EQ(asText(*assignment->userData), std::to_string(client.generation)) << "G6: of another generation";
      for (const auto& topic : assignment->assignedPartitions) {
        partitions.insert(topic.partitions.begin(), topic.partitions.end());
      }
    }
    // G1: within a generation everybody has their own, and keeps it.
    auto& owners = owned_[{client.group, client.generation}];
    if (const auto again = owners.find(client.key()); again != owners.end()) {
      EXPECT_EQ(again->second, partitions) << client.name << " was told otherwise before";
      if (client.instance) ++seen_.staticReturns;
    }
    owners[client.key()] = partitions;
    std::map<int32_t, std::string> owner;
    for (const auto& [key, owns] : owners) {
      for (const int32_t partition : owns) {
        const auto [at, isNew] = owner.emplace(partition, key);
        EXPECT_TRUE(isNew) << "G1: partition " << partition << " belongs to " << key << " and " << at->second;
      }
    }
  }

  void work(Client& client, bool wild) {
    if (wild && chance(4)) return leave(client);
    if (wild && chance(3)) {
      client.member.clear();  // its process dies and starts again
      client.state = Client::State::Out;
      return;
    }
    if (wild && chance(4)) {
      client.state = Client::State::Out;  // joins again as it is
      return;
    }
    if (chance(30)) commit(client);
    protocol::HeartbeatRequest request;
    request.groupId = client.group;
    request.memberId = client.member;
    request.generationId = client.generation;
    if (client.instance) request.groupInstanceId = *client.instance;
    Answer<protocol::HeartbeatResponse> answer;
    coordinator().heartbeat(info(client), request, answer.reply());
    executor_->drain();
    if (!answer.has()) return;
    switch (answer.error()) {
      case ErrorCode::None:
        return;
      case ErrorCode::FencedInstanceId:
        ++seen_.fenced;
        [[fallthrough]];
      case ErrorCode::UnknownMemberId:
        ++seen_.expiredSessions;
        client.member.clear();
        break;
      case ErrorCode::IllegalGeneration:
        break;
      default:
        break;
    }
    client.state = Client::State::Out;
  }

  void leave(Client& client) {
    protocol::LeaveGroupRequest request;
    request.groupId = client.group;
    request.members.push_back({.memberId = client.member, .groupInstanceId = std::nullopt});
    if (client.instance) request.members[0].groupInstanceId = *client.instance;
    coordinator().leaveGroup({5, client.name, "/127.0.0.1"}, request, [](protocol::LeaveGroupResponse) {});
    executor_->drain();
    client.member.clear();
    client.state = Client::State::Out;
  }

  void commit(Client& client) {
    const int64_t offset = ++lastOffset_;
    protocol::OffsetCommitRequest request;
    request.groupId = client.group;
    request.memberId = client.member;
    request.generationIdOrMemberEpoch = client.generation;
    if (client.instance) request.groupInstanceId = *client.instance;
    auto& topic = request.topics.emplace_back();
    topic.name = "orders";
    topic.partitions.push_back({.partitionIndex = 0, .committedOffset = offset});
    coordinator().commitOffsets({9, client.name, "/127.0.0.1"}, request,
                                [this, group = client.group, offset](protocol::OffsetCommitResponse response) {
                                  if (response.topics.at(0).partitions.at(0).errorCode != 0) return;
                                  acknowledged_[group] = std::max(acknowledged_[group], offset);
                                  ++seen_.committed;
                                });
    executor_->drain();
  }

  // ---- checks

  /// G4: what was acknowledged is there, or something written later.
  void expectCommitted(const std::string& group) {
    protocol::OffsetFetchRequest request;
    auto& asked = request.groups.emplace_back();
    asked.groupId = group;
    asked.topics->push_back({.name = "orders", .partitionIndexes = {0}});
    Answer<protocol::OffsetFetchResponse> answer;
    coordinator().fetchOffsets({9, "checker", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    const auto& found = answer.get().groups.at(0);
    ASSERT_EQ(found.errorCode, 0);
    EXPECT_GE(found.topics.at(0).partitions.at(0).committedOffset,
              acknowledged_.contains(group) ? acknowledged_[group] : -1)
        << "G4: " << group;
  }

  GroupSnapshot snapshotOf(const std::string& group) {
    Answer<std::vector<GroupSnapshot>> answer;
    coordinator().snapshot(answer.reply());
    executor_->drain();
    for (const GroupSnapshot& one : answer.get()) {
      if (one.groupId == group) return one;
    }
    return {};
  }

  /// G2: in a stable group every partition has its owner.
  void checkStable() {
    for (const char* group : kGroups) {
      const GroupSnapshot snapshot = snapshotOf(group);
      if (snapshot.state != "Stable") continue;
      std::set<int32_t> assigned;
      for (const GroupMemberSnapshot& member : snapshot.members) {
        for (const TopicPartition& partition : member.assigned) {
          EXPECT_TRUE(assigned.insert(partition.partition.value()).second) << "G1: " << group;
        }
      }
      EXPECT_EQ(assigned.size(), static_cast<size_t>(kTopicPartitions)) << "G2: " << group;
    }
  }

  std::mt19937_64 random_;
  Seen& seen_;
  GroupConfig config_;
  ManualClock clock_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  CountingRandom ids_;
  SilentLogger logger_;
  MemoryLog log_;
  KnownTopics topics_;
  std::unique_ptr<GroupCoordinator> coordinators_[2];
  int leader_ = 1;
  LeaderEpoch epoch_{0};
  std::vector<Client> clients_;
  std::map<std::string, int32_t> inMemory_;
  std::map<std::string, int32_t> synchronised_;
  std::map<std::pair<std::string, int32_t>, std::map<std::string, std::set<int32_t>>> owned_;
  std::map<std::string, int64_t> acknowledged_;
  int64_t lastOffset_ = 0;
};

TEST(RandomGroups, KeepTheirInvariantsAndComeToRest) {
  Seen seen;
  for (uint64_t seed = 1; seed <= 24 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, seen);
    world.disturb(800);
    world.settle();
  }
  // Nothing was proved about what never happened.
  EXPECT_GT(seen.generations, 100);
  EXPECT_GT(seen.moves, 10);
  EXPECT_GT(seen.movesThatLost, 3);
  EXPECT_GT(seen.expiredSessions, 20);
  EXPECT_GT(seen.fenced, 0);
  EXPECT_GT(seen.refusedWrites, 100);
  EXPECT_GT(seen.committed, 100);
  EXPECT_GT(seen.staticReturns, 0);
}

// G5, with subscriptions that the coordinator can read.
TEST_F(Groups, OnlyOffsetsOfTopicsThatMembersLeftExpireWhileThereAreMembers) {
  config_.offsetsRetention = 1h;
  start();
  const std::string metadata(asText(subscription()));
  const auto joined = joinNew({.metadata = metadata, .clientId = "a"});
  executor_->advance(3s);
  ASSERT_EQ(joined.get().generationId, 1);
  sync(ids_["a"], 1, {{ids_["a"], std::string(asText(assignmentOf({0}, 1)))}});
  commit({.member = ids_["a"], .generation = 1, .topic = "orders", .offset = 1});
  commit({.member = ids_["a"], .generation = 1, .topic = "bills", .offset = 2});
  for (int i = 0; i < 75 * 12; ++i) {
    executor_->advance(5s);
    heartbeat(ids_["a"], 1);
  }
  EXPECT_EQ(fetch("group", "orders"), 1);
  EXPECT_EQ(fetch("group", "bills"), -1);
}

}  // namespace
}  // namespace tidemark::coordinator
