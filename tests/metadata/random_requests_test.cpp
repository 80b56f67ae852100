#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "metadata/controller_fixture.h"

namespace tidemark::metadata {
namespace {

using test::ControllerFixture;

/// A controller that lives through a random history of requests and silences.
class RandomCluster {
 public:
  explicit RandomCluster(uint64_t seed) : fixture_(seed), random_(seed * 7919 + 1) {}

  void step() {
    switch (random_.below(12)) {
      case 0:
        return registerSome();
      case 1:
        return createTopic();
      case 2:
        return deleteTopic();
      case 3:
        return alterIsr();
      case 4:
        return alterIsr();
      case 5:
        return shutDown();
      case 6:
        fixture_.advance(std::chrono::milliseconds(random_.below(4000)));
        fixture_.fenceStale();
        return;
      case 7:
        return addPartitions();
      case 8:
        return elect();
      default:
        return heartbeatSome();
    }
  }

  ControllerFixture& fixture() { return fixture_; }

 private:
  static constexpr int kBrokers = 5;
  int anyBroker() { return 1 + static_cast<int>(random_.below(kBrokers)); }
  TopicPtr anyTopic() {
    const auto& topics = fixture_.image().topics.byName;
    if (topics.empty()) return nullptr;
    auto at = topics.begin();
    for (uint64_t skip = random_.below(topics.size()); skip > 0; --skip) ++at;
    return at->second;
  }

  void registerSome() {
    // A new incarnation now and then; refused while the old one's session lasts.
    (void)fixture_.handle(fixture_.registration(anyBroker(), static_cast<uint8_t>(random_.below(200))));
  }
  void heartbeatSome() {
    for (int i = 0; i < 3; ++i) (void)fixture_.handle(fixture_.heartbeatOf(anyBroker()));
  }
  void shutDown() {
    auto request = fixture_.heartbeatOf(anyBroker());
    request.wantShutDown = true;
    (void)fixture_.handle(request);
  }
  void createTopic() {
    protocol::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = "t" + std::to_string(random_.below(12));
    topic.numPartitions = 1 + static_cast<int32_t>(random_.below(4));
    topic.replicationFactor = static_cast<int16_t>(1 + random_.below(3));
    if (random_.below(4) == 0) {
      auto& config = topic.configs.emplace_back();
      config.name = "unclean.leader.election.enable";
      config.value = protocol::Text("true");
    }
    fixture_.expect(request);
  }
  void deleteTopic() {
    const TopicPtr topic = anyTopic();
    if (!topic || random_.below(3) != 0) return;
    protocol::DeleteTopicsRequest request;
    request.topics.emplace_back().topicId = topic->id;
    fixture_.expect(request);
  }
  void addPartitions() {
    const TopicPtr topic = anyTopic();
    if (!topic || topic->partitions.size() > 6) return;
    protocol::CreatePartitionsRequest request;
    auto& one = request.topics.emplace_back();
    one.name = topic->name;
    one.count = static_cast<int32_t>(topic->partitions.size()) + 1;
    one.assignments.reset();
    fixture_.expect(request);
  }
  void elect() {
    protocol::ElectLeadersRequest request{.electionType = static_cast<int8_t>(random_.below(2))};
    request.topicPartitions.reset();
    fixture_.expect(request);
  }
  void alterIsr() {
    const TopicPtr topic = anyTopic();
    if (!topic) return;
    const PartitionIndex index(static_cast<int32_t>(random_.below(topic->partitions.size())));
    const PartitionRegistration& partition = *topic->partition(index);
    if (!partition.hasLeader()) return;
    protocol::AlterPartitionRequest request{
        .brokerId = partition.leader.value(),
        .brokerEpoch = fixture_.image().cluster.broker(partition.leader)->epoch.value()};
    auto& data = request.topics.emplace_back();
    data.topicId = topic->id;
    auto& change = data.partitions.emplace_back();
    change.partitionIndex = index.value();
    change.leaderEpoch = partition.leaderEpoch.value();
    // Sometimes late, sometimes wrong.
    change.partitionEpoch = partition.partitionEpoch.value() - (random_.below(8) == 0 ? 1 : 0);
    change.leaderRecoveryState = random_.below(2) == 0 ? static_cast<int8_t>(partition.leaderRecoveryState) : int8_t{0};
    for (NodeId node : partition.replicas) {
      if (node != partition.leader && random_.below(2) == 0) continue;
      const BrokerRegistration* broker = fixture_.image().cluster.broker(node);
      change.newIsrWithEpochs.push_back(
          {.brokerId = node.value(), .brokerEpoch = broker && random_.below(5) != 0 ? broker->epoch.value() : -1});
    }
    fixture_.expect(request);
  }

  ControllerFixture fixture_;
  test::SeededRandom random_;
};

void checkPartition(const PartitionRegistration& partition, const PartitionRegistration* before, const Image& image) {
  const std::set replicas(partition.replicas.begin(), partition.replicas.end());
  const std::set isr(partition.isr.begin(), partition.isr.end());
  ASSERT_EQ(replicas.size(), partition.replicas.size());
  ASSERT_EQ(isr.size(), partition.isr.size());
  ASSERT_TRUE(std::ranges::includes(replicas, isr));
  ASSERT_EQ(partition.directories.size(), partition.replicas.size());
  if (partition.hasLeader()) {
    ASSERT_TRUE(isr.contains(partition.leader));  // R7
    ASSERT_TRUE(image.cluster.isActive(partition.leader));
  }
  for (NodeId node : isr) ASSERT_TRUE(image.cluster.isActive(node)) << node.value();  // R10
  for (NodeId node : partition.elr) ASSERT_FALSE(isr.contains(node)) << node.value();
  ASSERT_EQ(isr.empty(), !partition.hasLeader());
  ASSERT_LE(partition.lastKnownElr.size(), 1u);
  if (before == nullptr || *before == partition) return;
  ASSERT_GT(partition.partitionEpoch, before->partitionEpoch);
  ASSERT_GE(partition.leaderEpoch, before->leaderEpoch);
  if (partition.leader != before->leader) {
    ASSERT_GT(partition.leaderEpoch, before->leaderEpoch);
  }
}

class RandomRequests : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomRequests, InvariantsHoldAfterEachAndTheLogGivesTheSameImage) {
  RandomCluster cluster(GetParam());
  Image before;
  int leaderless = 0;
  int shrunk = 0;
  int eligible = 0;
  for (int i = 0; i < 400; ++i) {
    ASSERT_NO_FATAL_FAILURE(cluster.step());
    const Image& image = cluster.fixture().image();
    for (const auto& [id, topic] : image.topics.byId) {
      for (const auto& [index, partition] : topic->partitions) {
        ASSERT_NO_FATAL_FAILURE(checkPartition(*partition, before.topics.partition(id, index), image));
        leaderless += partition->hasLeader() ? 0 : 1;
        eligible += partition->elr.empty() ? 0 : 1;
        shrunk += partition->isr.size() < partition->replicas.size() ? 1 : 0;
      }
    }
    for (const auto& [id, broker] : before.cluster.brokers) {
      const BrokerRegistration* after = image.cluster.broker(id);
      ASSERT_TRUE(!after || after->epoch >= broker->epoch);
    }
    before = image;
  }
  EXPECT_GT(leaderless, 0);
  EXPECT_GT(shrunk, 0);
  EXPECT_GT(eligible, 0);

  Image replayed;
  Changes changes;
  for (const Record& record : cluster.fixture().log) ASSERT_TRUE(replayRecord(replayed, record, changes));
  EXPECT_TRUE(replayed.sameContents(cluster.fixture().image()));
  Image written;
  for (const Record& record : writeRecords(replayed)) ASSERT_TRUE(replayRecord(written, record, changes));
  EXPECT_TRUE(written.sameContents(replayed));
}

TEST_P(RandomRequests, OneSeedGivesOneLog) {
  RandomCluster a(GetParam());
  RandomCluster b(GetParam());
  for (int i = 0; i < 150; ++i) {
    a.step();
    b.step();
  }
  EXPECT_EQ(a.fixture().log, b.fixture().log);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRequests, testing::Range<uint64_t>(1, 11));

}  // namespace
}  // namespace tidemark::metadata
