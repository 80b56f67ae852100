#include "testing/mock_scene.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "testing/mock_groups.h"

namespace tidemark::widgets::fake {

using namespace std::chrono_literals;
using observe::BrokerState;

namespace {

constexpr auto kWall = std::chrono::milliseconds(1'790'604'131'385);

platform::Duration seconds(double value) {
  return std::chrono::duration_cast<platform::Duration>(std::chrono::duration<double>(value));
}

observe::TopicSnapshot makeTopic(const char* name, int partitions, int factor, bool internal = false) {
  observe::TopicSnapshot topic;
  topic.name = name;
  topic.internal = internal;
  topic.replicationFactor = factor;
  topic.minInSync = std::min(2, factor);
  std::array<uint8_t, 16> id{};
  for (size_t i = 0; i < id.size(); ++i) id[i] = static_cast<uint8_t>(name[i % 5] * 7 + static_cast<int>(i) * 31);
  topic.id = Uuid(id);
  for (int p = 0; p < partitions; ++p) {
    observe::PartitionSnapshot partition;
    partition.index = PartitionIndex(p);
    partition.leader = NodeId(p % 3 + 1);
    partition.leaderEpoch = LeaderEpoch(2);
    partition.partitionEpoch = PartitionEpoch(3);
    partition.logStart = Offset(0);
    partition.highWatermark = partition.lastStable = partition.logEnd = Offset(400 + 17 * p);
    for (int r = 0; r < factor; ++r) {
      observe::ReplicaSnapshot replica;
      replica.broker = NodeId((p + r) % 3 + 1);
      replica.leader = r == 0;
      replica.inSync = replica.online = true;
      replica.logStart = Offset(0);
      replica.logEnd = replica.highWatermark = partition.logEnd;
      partition.replicas.push_back(replica.broker);
      partition.isr.push_back(replica.broker);
      partition.copies.push_back(replica);
    }
    topic.partitions.push_back(partition);
  }
  return topic;
}

struct Batch {
  int base, records, epoch;
};
constexpr Batch kBatches[] = {{1205, 5, 4}, {1210, 6, 4}, {1216, 3, 4}, {1219, 7, 4}, {1226, 4, 4},
                              {1230, 5, 4}, {1235, 6, 4}, {1241, 4, 4}, {1245, 3, 4}, {1248, 4, 4},
                              {1252, 3, 4}, {1255, 6, 5}, {1261, 2, 5}, {1263, 5, 5}, {1268, 4, 5},
                              {1272, 3, 5}, {1275, 5, 5}, {1280, 6, 5}, {1286, 3, 5}, {1289, 2, 5}};

faults::NodeName node(int id) {
  return {.by = {}, .id = NodeId(id), .partition = {}};
}

faults::LinkName link(int from, int to, bool bothWays) {
  return {.from = {.isClients = false, .node = node(from), .port = {}, .client = {}},
          .to = {.isClients = false, .node = node(to), .port = {}, .client = {}},
          .bothWays = bothWays};
}

faults::Fault makeFault(faults::Kind kind, faults::Target target, platform::Duration duration) {
  faults::Fault fault;
  fault.kind = kind;
  fault.target = std::move(target);
  fault.duration = duration;
  return fault;
}

/// It was set `at` seconds before the moment.
void addFault(observe::ClusterSnapshot& cluster, int id, faults::Fault fault, double at, double before) {
  observe::FaultSnapshot& shown = cluster.faults.emplace_back();
  shown.id = id;
  shown.fault = std::move(fault);
  shown.since = seconds(at - before);
  shown.left = std::max(shown.fault.duration - shown.since, platform::Duration{});
  shown.fired = id == 1 ? 61 : id == 2 ? 23 : 688;
  if (const auto* one = std::get_if<faults::NodeName>(&shown.fault.target)) shown.broker = one->id;
  if (const auto* between = std::get_if<faults::LinkName>(&shown.fault.target)) {
    const faults::End from{.node = between->from.node.id, .port = {}, .client = {}};
    const faults::End to{.node = between->to.node.id, .port = {}, .client = {}};
    shown.links.push_back({from, to});
    if (between->bothWays) shown.links.push_back({to, from});
  }
}

void makeOrders(observe::TopicSnapshot& topic, double before) {
  observe::PartitionSnapshot& partition = topic.partitions[0];
  const bool first = before > 83.4;
  const bool second = !first && before > 20.5;
  const bool thirdOut = before < 2.3;
  const bool firstBehind = before <= 83.4 && before > 77.6;
  partition.leader = first || !second ? NodeId(1) : NodeId(2);
  partition.leaderEpoch = LeaderEpoch(first ? 3 : second ? 4 : 5);
  partition.partitionEpoch = PartitionEpoch(18);
  partition.isr.clear();
  if (!firstBehind) partition.isr.push_back(NodeId(1));
  partition.isr.push_back(NodeId(2));
  if (!thirdOut) partition.isr.push_back(NodeId(3));
  partition.highWatermark = partition.lastStable = Offset(1286);
  partition.logStart = Offset(812);
  partition.logEnd = Offset(1291);
  const Offset ends[] = {Offset(1291), Offset(1289), Offset(1268)};
  for (size_t i = 0; i < 3; ++i) {
    observe::ReplicaSnapshot& replica = partition.copies[i];
    replica.broker = NodeId(static_cast<int>(i) + 1);
    replica.leader = replica.broker == partition.leader;
    replica.inSync = std::ranges::find(partition.isr, replica.broker) != partition.isr.end();
    replica.online = i != 2 || before > 12.4;
    replica.epoch = partition.leaderEpoch;
    replica.logStart = partition.logStart;
    replica.logEnd = ends[i];
    replica.highWatermark = Offset(i == 2 ? 1268 : 1286);
    replica.sinceCaughtUp = i == 2 ? seconds(12.6 - before) : 0ms;
    replica.fetchOffset = ends[i];
    replica.sizeInBytes = 1'040'000;
    replica.segments = {{Offset(812), 98'304}, {Offset(1033), 98'150}, {Offset(1263), 5'404}};
    int64_t position = 80'000;
    int sinceEntry = 0;
    for (const Batch& batch : kBatches) {
      if (Offset(batch.base) >= ends[i]) break;
      if (batch.base == 1263) position = 0;
      observe::BatchSnapshot shown;
      shown.baseOffset = Offset(batch.base);
      shown.lastOffset = Offset(batch.base + batch.records - 1);
      shown.epoch = LeaderEpoch(batch.epoch);
      shown.recordCount = batch.records;
      shown.sizeInBytes = 61 + 212 * batch.records;
      shown.position = position;
      replica.batches.push_back(shown);
      sinceEntry += shown.sizeInBytes;
      if (sinceEntry > 2'400) {
        replica.indexEntries.push_back({shown.lastOffset, position});
        sinceEntry = 0;
      }
      position += shown.sizeInBytes;
    }
  }
  // The lag of broker 3: a little noise, then steps from the pause on.
  if (before > 12.4) {
    const double noise = std::sin(before * 3.1) + std::sin(before * 7.3 + 1);
    partition.copies[2].logEnd = Offset(1291 - std::max(0, static_cast<int>(2 + noise)));
  } else {
    const int steps[] = {0, 0, 4, 7, 9, 9, 12, 14, 14, 16, 19, 19, 23};
    partition.copies[2].logEnd = Offset(1291 - steps[std::clamp(static_cast<int>(12.4 - before), 0, 12)]);
  }
  if (firstBehind && before > 78.3) partition.copies[0].online = false;
}

}  // namespace

observe::ClusterSnapshot mockMoment(double before) {
  observe::ClusterSnapshot cluster;
  cluster.clusterId = "mock";
  cluster.at = observe::MonotonicTime(1h - seconds(before));
  cluster.wall = observe::WallTime(kWall - std::chrono::duration_cast<std::chrono::milliseconds>(seconds(before)));
  cluster.bootstrap = "127.0.0.1:19092";
  cluster.dataFolder = "/home/me/Tidemark/orders-demo";
  cluster.settings = {{"replica.lag.time.max.ms", "10000"}};
  const int leads[] = {20, 21, 19};
  for (int i = 1; i <= 3; ++i) {
    observe::BrokerSnapshot broker;
    broker.id = NodeId(i);
    broker.listener = {"127.0.0.1", static_cast<uint16_t>(19091 + i)};
    broker.controller = {"127.0.0.1", static_cast<uint16_t>(19191 + i)};
    broker.epoch = BrokerEpoch(28 + i);
    broker.state = i == 3 && before < 12.4                     ? BrokerState::Paused
                   : i == 1 && before <= 83.4 && before > 78.3 ? BrokerState::Killed
                                                               : BrokerState::Running;
    broker.networkThreads = 2;
    broker.handlerThreads = 4;
    broker.fetcherThreads = 2;
    broker.leaderCount = leads[i - 1];
    broker.replicaCount = 60;
    broker.diskBytes = 3'100'000'000;
    broker.segmentCount = 74;
    broker.producedBytes = static_cast<int64_t>((1000 - before) * 12'400'000 / 3);
    broker.fetchedBytes = static_cast<int64_t>((1000 - before) * 37'000'000 / 3);
    if (broker.state == BrokerState::Paused) {
      broker.sinceHeartbeat = seconds(12.9 - before);
      broker.fencedIn = seconds(5.1 + before);
    }
    cluster.brokers.push_back(broker);
  }
  cluster.quorum.leader = NodeId(2);
  cluster.quorum.epoch = LeaderEpoch(7);
  cluster.quorum.highWatermark = Offset(9'120);
  for (int i = 1; i <= 3; ++i)
    cluster.quorum.voters.push_back(
        {NodeId(i), Offset(i == 3 ? 9'104 : 9'120), i == 3 ? seconds(12.5) : 0ms, 0ms, false});
  cluster.topics.push_back(makeTopic("orders", 3, 3));
  cluster.topics.push_back(makeTopic("payments", 6, 3));
  cluster.topics.push_back(makeTopic("audit", 1, 1));
  cluster.topics.back().compacted = true;
  cluster.topics.push_back(makeTopic("__consumer_offsets", 50, 3, true));
  cluster.topics.push_back(makeTopic("__cluster_metadata", 1, 3, true));
  makeOrders(cluster.topics[0], before);
  const TopicPartition orders{"orders", PartitionIndex(0)};
  if (before < 1) {
    cluster.parked.push_back(
        {NodeId(1), observe::ParkedKind::Produce, "producer-1", 381, orders, Offset(1289), 0, kNoNode, 30s, 29'998ms});
    cluster.parked.push_back(
        {NodeId(1), observe::ParkedKind::Produce, "billing-svc", 92, orders, Offset(1291), 0, kNoNode, 30s, 30'000ms});
  }
  cluster.readers.push_back({"c-1", "billing", "", orders, Offset(1279), 100ms, true});
  cluster.readers.push_back({"kcat", "", "librdkafka", orders, Offset(1286), 20ms, true});
  addMockGroups(cluster);
  const char* names[] = {"kcat", "billing-svc", "c-1", "producer-1"};
  for (int i = 0; i < 4; ++i)
    cluster.connections.push_back({i,
                                   NodeId(1),
                                   "PLAINTEXT",
                                   names[i],
                                   i == 0 ? "librdkafka" : "apache-kafka-java",
                                   "2.0.2",
                                   {"127.0.0.1", static_cast<uint16_t>(40'000 + i)},
                                   false});
  if (before < 12.4) addFault(cluster, 1, makeFault(faults::Kind::Pause, node(3), 25s), 12.4, before);
  if (before < 6) addFault(cluster, 2, makeFault(faults::Kind::Cut, link(2, 3, true), 15s), 6, before);
  if (before < 68) {
    faults::Fault slowed = makeFault(faults::Kind::Delay, link(1, 3, false), 2min);
    slowed.delay = 80ms;
    addFault(cluster, 3, std::move(slowed), 68, before);
  }
  return cluster;
}

void appendMockEvents(FakeCluster& cluster) {
  const auto add = [&](int64_t msBefore, int broker, const events::Payload& payload, const char* topic) {
    events::Event event;
    event.at = observe::MonotonicTime(1h - std::chrono::milliseconds(msBefore));
    event.wall = observe::WallTime(kWall - std::chrono::milliseconds(msBefore));
    event.broker = NodeId(broker);
    event.payload = payload;
    cluster.append(event, topic, PartitionIndex(*topic == 0 ? -1 : 0));
  };
  add(83'400, 2, events::BrokerFenced{NodeId(1), BrokerEpoch(29)}, "");
  add(83'399, 2, events::LeaderElected{{}, NodeId(1), NodeId(2), LeaderEpoch(4), events::ElectionCause::LeaderFenced},
      "orders");
  add(20'475, 2, events::LeaderElected{{}, NodeId(2), NodeId(1), LeaderEpoch(5), events::ElectionCause::Preferred},
      "orders");
  add(12'385, -1, events::FaultInjected{1, events::FaultKind::Pause, NodeId(3), {}, 25s}, "");
  add(2'368, 2,
      events::IsrShrunk{
          {}, {NodeId(1), NodeId(2), NodeId(3)}, {NodeId(1), NodeId(2)}, NodeId(3), PartitionEpoch(18), 10'200ms},
      "orders");
  add(1, 1, events::HighWatermarkAdvanced{{}, Offset(1280), Offset(1286), NodeId(2)}, "orders");
  add(0, 1, events::ProduceParked{{}, 92, "billing-svc", Offset(1291), 30s, 2}, "orders");
}

}  // namespace tidemark::widgets::fake
