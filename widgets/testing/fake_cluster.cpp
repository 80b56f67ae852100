#include "testing/fake_cluster.h"

#include <algorithm>
#include <utility>

#include "testing/fake_partition.h"

namespace tidemark::widgets::fake {

using namespace std::chrono_literals;
using observe::BatchSnapshot;
using observe::BrokerState;
using observe::ReplicaSnapshot;

namespace {

constexpr auto kStep = std::chrono::milliseconds(10);
constexpr auto kSession = std::chrono::milliseconds(1500);

}  // namespace

FakeCluster::FakeCluster() : m_snapshot(std::make_shared<observe::ClusterSnapshot>()) {}
FakeCluster::~FakeCluster() = default;

void FakeCluster::changed() {
  m_dirty = true;
  if (m_wake && !std::exchange(m_wakeSent, true)) m_wake();
}

observe::SnapshotPtr FakeCluster::snapshot() {
  m_wakeSent = false;
  if (m_dirty && !m_frozen) m_snapshot = std::make_shared<observe::ClusterSnapshot>(take());
  m_dirty = false;
  ++m_snapshotsTaken;
  return m_snapshot;
}

void FakeCluster::show(observe::ClusterSnapshot snapshot) {
  m_frozen = true;
  snapshot.version = ++m_version;
  m_snapshot = std::make_shared<observe::ClusterSnapshot>(std::move(snapshot));
  changed();
}

observe::EventBatch FakeCluster::drainEvents(uint64_t since, size_t limit) {
  return m_history.after(since, limit);
}

void FakeCluster::watch(std::optional<TopicPartition> partition) {
  m_watched = std::move(partition);
  changed();
}

std::vector<observe::Setting> FakeCluster::profile(int brokers) const {
  const std::string copies = std::to_string(std::min(3, brokers));
  const std::string minimum = std::to_string(std::min(2, brokers));
  return {{"controller.quorum.election.timeout.ms", "250"},
          {"controller.quorum.fetch.timeout.ms", "1000"},
          {"broker.heartbeat.interval.ms", "250"},
          {"broker.session.timeout.ms", "1500"},
          {"replica.lag.time.max.ms", "3000"},
          {"num.network.threads", "2"},
          {"num.io.threads", "4"},
          {"offsets.topic.replication.factor", copies},
          {"transaction.state.log.replication.factor", copies},
          {"transaction.state.log.min.isr", minimum}};
}

void FakeCluster::append(const events::Event& event, const std::string& topic, PartitionIndex partition) {
  m_history.append({0, event, topic, partition});
  changed();
}

void FakeCluster::emit(NodeId broker, const events::Payload& payload, const std::string& topic,
                       PartitionIndex partition) {
  events::Event event;
  event.at = observe::MonotonicTime(m_now);
  event.wall = observe::WallTime(std::chrono::duration_cast<std::chrono::milliseconds>(m_now) + 1'790'000'000'000ms);
  event.broker = broker;
  event.payload = payload;
  append(event, topic, partition);
}

FakeCluster::Broker* FakeCluster::find(NodeId id) {
  const auto found = m_brokers.find(id.value());
  return found == m_brokers.end() ? nullptr : &found->second;
}

NodeId FakeCluster::controller() const {
  return m_controller;
}

bool FakeCluster::votes(const Broker& node) const {
  return m_options.separateControllers == 0 || !node.shown.isBroker;
}

void FakeCluster::answer(Done done, std::function<Result<void>()> act) {
  m_pending.emplace_back(std::move(done), std::move(act));
  if (m_wake) m_wake();
}

void FakeCluster::launchNow(observe::LaunchOptions options) {
  launch(std::move(options), [](const Result<void>&) {});
  advance(100ms);
}

Result<std::optional<observe::StoredCluster>> FakeCluster::stored(const std::string& folder) const {
  const auto found = folders.find(folder);
  return found == folders.end() ? std::nullopt : found->second;
}

void FakeCluster::launch(observe::LaunchOptions options, Done done) {
  commands.emplace_back("launch");
  m_launchPending = true;
  answer(std::move(done), [this, options = std::move(options)]() -> Result<void> {
    m_launchPending = false;
    if (m_nextError) return fail(std::exchange(m_nextError, std::nullopt).value());
    m_frozen = false;
    m_options = options;
    ++m_launches;
    m_partitions.clear();
    m_topics.clear();
    m_brokers.clear();
    for (int i = 1; i <= options.brokers + options.separateControllers; ++i) {
      Broker& broker = m_brokers[i];
      broker.shown.id = NodeId(i);
      broker.shown.state = BrokerState::Running;
      broker.shown.isBroker = i <= options.brokers;
      broker.changed = m_now;
      if (!broker.shown.isBroker) {
        broker.shown.controller = {options.host, static_cast<uint16_t>(options.port + 100 + i - 1)};
        continue;
      }
      broker.shown.listener = {options.host, static_cast<uint16_t>(options.port + i - 1)};
      broker.shown.controller = {options.host, static_cast<uint16_t>(options.port + 100 + i - 1)};
      broker.shown.epoch = BrokerEpoch(m_nextEpoch++);
      broker.shown.networkThreads = 2;
      broker.shown.handlerThreads = 4;
      broker.shown.fetcherThreads = options.brokers > 1 ? options.brokers - 1 : 0;
      emit(NodeId(1), events::BrokerRegistered{NodeId(i), broker.shown.epoch});
      emit(NodeId(i), events::BrokerStarted{NodeId(i)});
    }
    m_controller = NodeId(options.separateControllers > 0 ? options.brokers + 1 : 1);
    emit(m_controller, events::QuorumLeaderChanged{m_controller, LeaderEpoch(m_quorumEpoch)});
    if (options.firstTopic) addTopic(*options.firstTopic, false);
    changed();
    return {};
  });
}

void FakeCluster::shutdown(Done done) {
  commands.emplace_back("shutdown");
  commands.emplace_back("shutdown");
  // A launch under way fails.
  if (m_launchPending && !m_pending.empty())
    m_pending.back().second = [] { return fail(ErrorCode::BrokerNotAvailable, "the launch was cancelled"); };
  m_launchPending = false;
  answer(std::move(done), [this]() -> Result<void> {
    m_brokers.clear();
    m_partitions.clear();
    m_topics.clear();
    m_faults.clear();
    m_faultsOver.clear();
    m_frozen = false;
    changed();
    return {};
  });
}

void FakeCluster::addTopic(const observe::TopicOptions& options, bool internal) {
  observe::TopicSnapshot& topic = m_topics.emplace_back();
  std::array<uint8_t, 16> id{};
  id[0] = static_cast<uint8_t>(m_topics.size());
  topic.id = Uuid(id);
  topic.name = options.name;
  topic.internal = internal;
  const int brokers = m_options.brokers;
  topic.replicationFactor = options.replicationFactor > 0 ? options.replicationFactor : std::min(3, brokers);
  topic.minInSync = std::min(2, topic.replicationFactor);
  emit(m_controller, events::TopicCreated{events::kNoTopicTag, options.partitions, topic.replicationFactor},
       options.name);
  for (int p = 0; p < options.partitions; ++p) {
    Partition& partition = m_partitions.emplace_back();
    partition.topic = options.name;
    partition.internal = internal;
    partition.shown.index = PartitionIndex(p);
    partition.shown.partitionEpoch = PartitionEpoch(0);
    for (int r = 0; r < topic.replicationFactor; ++r) {
      const NodeId broker((p + r) % brokers + 1);
      partition.shown.replicas.push_back(broker);
      partition.shown.isr.push_back(broker);
      auto& copy = partition.copies.emplace_back();
      copy.shown.broker = broker;
      copy.shown.logStart = copy.shown.logEnd = copy.shown.highWatermark = Offset(0);
      copy.shown.segments.push_back({Offset(0), 0});
      copy.caughtUp = m_now;
    }
    partition.shown.logStart = partition.shown.logEnd = partition.shown.highWatermark = partition.shown.lastStable =
        Offset(0);
    lead(partition, partition.shown.replicas.front(), events::ElectionCause::Created);
  }
}

void FakeCluster::lead(Partition& partition, NodeId leader, events::ElectionCause cause) {
  const NodeId from = std::exchange(partition.shown.leader, leader);
  partition.shown.leaderEpoch = partition.shown.leaderEpoch.next();
  partition.shown.partitionEpoch = PartitionEpoch(partition.shown.partitionEpoch.value() + 1);
  emit(m_controller, events::LeaderElected{{}, from, leader, partition.shown.leaderEpoch, cause}, partition.topic,
       partition.shown.index);
  Partition::Copy* copy = partition.copy(leader);
  if (copy == nullptr) return;
  emit(leader, events::BecameLeader{{}, partition.shown.leaderEpoch, copy->shown.logEnd}, partition.topic,
       partition.shown.index);
  for (Partition::Copy& other : partition.copies) {
    other.caughtUp = m_now;
    if (other.shown.broker == leader || other.shown.logEnd <= copy->shown.logEnd) continue;
    std::erase_if(other.shown.batches, [copy](const BatchSnapshot& b) { return b.baseOffset >= copy->shown.logEnd; });
    const Offset end = std::exchange(other.shown.logEnd, copy->shown.logEnd);
    emit(other.shown.broker, events::LogTruncated{{}, end, copy->shown.logEnd}, partition.topic, partition.shown.index);
  }
}

void FakeCluster::killBroker(NodeId id, Done done) {
  commands.push_back("kill " + std::to_string(id.value()));
  answer(std::move(done), [this, id] { return harm(id, faults::Kind::Kill); });
}

void FakeCluster::pauseBroker(NodeId id, Done done) {
  commands.push_back("pause " + std::to_string(id.value()));
  answer(std::move(done), [this, id] { return harm(id, faults::Kind::Pause); });
}

void FakeCluster::resumeBroker(NodeId id, Done done) {
  commands.push_back("resume " + std::to_string(id.value()));
  answer(std::move(done), [this, id]() -> Result<void> {
    Broker* broker = find(id);
    if (broker == nullptr || broker->shown.state != BrokerState::Paused)
      return fail(ErrorCode::BrokerNotAvailable, "it is not paused");
    return mend(id);
  });
}

void FakeCluster::restartBroker(NodeId id, Done done) {
  commands.push_back("restart " + std::to_string(id.value()));
  answer(std::move(done), [this, id]() -> Result<void> {
    if (find(id) == nullptr) return fail(ErrorCode::BrokerNotAvailable, "there is no such broker");
    if (m_nextError) return fail(std::exchange(m_nextError, std::nullopt).value());
    return mend(id);
  });
}

void FakeCluster::returned(NodeId id) {
  for (Partition& partition : m_partitions)
    if (partition.shown.leader == kNoNode && partition.inIsr(id)) lead(partition, id, events::ElectionCause::Returned);
}

void FakeCluster::stopBroker(NodeId id, Done done) {
  commands.push_back("stop " + std::to_string(id.value()));
  answer(std::move(done), [this, id]() -> Result<void> {
    Broker* broker = find(id);
    if (broker == nullptr || !broker->runs()) return fail(ErrorCode::BrokerNotAvailable, "it does not run");
    broker->shown.state = BrokerState::Stopped;
    broker->changed = m_now;
    emit(id, events::BrokerDown{id, events::DownCause::Stopped});
    notice(*broker);
    return {};
  });
}

void FakeCluster::createTopic(observe::TopicOptions topic, Done done) {
  commands.push_back("create " + topic.name);
  answer(std::move(done), [this, topic = std::move(topic)]() -> Result<void> {
    if (std::ranges::find(m_topics, topic.name, &observe::TopicSnapshot::name) != m_topics.end())
      return fail(ErrorCode::TopicAlreadyExists, "a topic of this name exists already");
    addTopic(topic, false);
    return {};
  });
}

void FakeCluster::look(observe::LookPlace place, Look look) {
  m_looks.emplace_back(std::move(place), std::move(look));
  changed();
}

void FakeCluster::runLooks() {
  if (!m_reader) m_reader = cluster::nativePlatform()->createProcess("fake");
  for (auto& [place, look] : std::exchange(m_looks, {})) {
    ++looks;
    if (place.broker == kNoNode) {
      look(observe::LookAccess{.process = m_reader.get(), .path = place.path, .log = nullptr});
      continue;
    }
    if (const auto live = liveCopies.find({place.broker, place.partition}); live != liveCopies.end()) {
      const LiveCopy& held = live->second;
      look(observe::LookAccess{.process = held.process.get(), .path = held.folder, .log = held.log});
      continue;
    }
    const auto copy = copyFolders.find({place.broker, place.partition});
    if (copy == copyFolders.end())
      look(fail(ErrorCode::UnknownTopicOrPartition, "no such copy"));
    else
      look(observe::LookAccess{.process = m_reader.get(), .path = copy->second, .log = nullptr});
  }
}

void FakeCluster::advance(Duration time) {
  runLooks();
  auto pending = std::exchange(m_pending, {});
  for (auto& [done, act] : pending) {
    Result<void> result = act();
    changed();
    if (done) done(std::move(result));
  }
  if (m_brokers.empty() || m_frozen) {
    m_now += time;
    return;
  }
  for (; time > 0ns; time -= kStep) step(kStep);
}

void FakeCluster::step(Duration time) {
  m_now += time;
  expireFaults();
  for (auto& [id, broker] : m_brokers)
    if ((broker.shown.state == BrokerState::Killed || broker.shown.state == BrokerState::Paused) &&
        m_now - broker.changed >= kSession && m_now - broker.changed < kSession + time)
      notice(broker);
  for (Partition& partition : m_partitions) {
    const Broker* leader = find(partition.shown.leader);
    if (leader == nullptr || !leader->runs()) continue;
    if (!partition.internal && m_recordsPerSecond > 0) {
      partition.due += m_recordsPerSecond * std::chrono::duration<double>(time).count();
      m_random = m_random * 1664525 + 1013904223;
      if (partition.due >= 1 + (m_random >> 16) % 6) write(partition);
    }
    follow(partition);
    moveHighWatermark(partition);
  }
}

void FakeCluster::notice(Broker& broker) {
  const NodeId id = broker.shown.id;
  if (m_controller == id) {
    for (auto& [other, candidate] : m_brokers)
      if (candidate.runs() && votes(candidate)) {
        m_controller = candidate.shown.id;
        ++m_quorumEpoch;
        emit(m_controller, events::ElectionStarted{LeaderEpoch(m_quorumEpoch)});
        emit(m_controller, events::QuorumLeaderChanged{m_controller, LeaderEpoch(m_quorumEpoch)});
        break;
      }
  }
  if (!broker.shown.isBroker) return;
  emit(m_controller, events::BrokerFenced{id, broker.shown.epoch});
  for (Partition& partition : m_partitions) {
    if (partition.inIsr(id) && partition.shown.isr.size() > 1) std::erase(partition.shown.isr, id);
    if (partition.shown.leader != id) continue;
    NodeId next = kNoNode;
    for (const NodeId candidate : partition.shown.isr)
      if (const Broker* other = find(candidate); other != nullptr && other->runs()) next = candidate;
    lead(partition, next,
         broker.shown.state == BrokerState::Stopped ? events::ElectionCause::ControlledShutdown
                                                    : events::ElectionCause::LeaderFenced);
  }
}

observe::ClusterSnapshot FakeCluster::take() const {
  observe::ClusterSnapshot cluster;
  cluster.version = m_version + static_cast<uint64_t>(m_now.count()) + m_history.last();
  cluster.at = observe::MonotonicTime(m_now);
  cluster.wall = observe::WallTime(std::chrono::duration_cast<std::chrono::milliseconds>(m_now) + 1'790'000'000'000ms);
  if (m_brokers.empty()) return cluster;
  cluster.clusterId = "fake-cluster-" + std::to_string(m_launches);
  cluster.bootstrap = m_options.host + ":" + std::to_string(m_options.port);
  cluster.dataFolder = m_options.dataFolder;
  cluster.settings = profile(m_options.brokers);
  cluster.topics = m_topics;
  std::ranges::sort(cluster.topics, {}, [](const observe::TopicSnapshot& topic) {
    return std::pair(topic.internal, std::string_view(topic.name));
  });
  for (const auto& [id, broker] : m_brokers) {
    observe::BrokerSnapshot shown = broker.shown;
    shown.inState = m_now - broker.changed;
    if (!shown.isBroker) {
      cluster.brokers.push_back(shown);
      continue;
    }
    if (!broker.runs()) {
      shown.sinceHeartbeat = shown.inState;
      if (shown.state == BrokerState::Paused && shown.inState < kSession) shown.fencedIn = kSession - shown.inState;
    } else {
      shown.sinceHeartbeat = m_now % 250ms;
    }
    for (const Partition& partition : m_partitions) {
      for (const Partition::Copy& copy : partition.copies) {
        if (copy.shown.broker != shown.id) continue;
        ++shown.replicaCount;
        shown.segmentCount += static_cast<int>(copy.shown.segments.size());
        for (const observe::SegmentSnapshot& segment : copy.shown.segments) shown.diskBytes += segment.sizeInBytes;
      }
      if (partition.shown.leader == shown.id) ++shown.leaderCount;
    }
    cluster.brokers.push_back(shown);
  }
  for (const SetFault& fault : m_faults) {
    observe::FaultSnapshot& shown = cluster.faults.emplace_back(fault.shown);
    shown.since = m_now - fault.at;
    const Duration lasts = shown.waits ? shown.fault.trigger.after : shown.fault.duration;
    const Duration gone = m_now - (shown.waits ? fault.at : fault.begun);
    if (lasts > 0ns) shown.left = std::max(lasts - gone, Duration{});
  }
  cluster.faultsOver = m_faultsOver;
  cluster.quorum.leader = m_controller;
  cluster.quorum.epoch = LeaderEpoch(m_quorumEpoch);
  cluster.quorum.highWatermark = Offset(static_cast<int64_t>(m_history.last()));
  for (const auto& [id, broker] : m_brokers)
    cluster.quorum.voters.push_back(
        {broker.shown.id, Offset(static_cast<int64_t>(m_history.last())), 0ms, 0ms, !votes(broker)});
  for (const Partition& partition : m_partitions) {
    observe::PartitionSnapshot shown = partition.shown;
    const bool watched =
        m_watched && m_watched->topic == partition.topic && m_watched->partition == partition.shown.index;
    for (const Partition::Copy& copy : partition.copies) {
      ReplicaSnapshot replica = copy.shown;
      replica.segmentCount = static_cast<int>(replica.segments.size());
      if (!watched) {
        replica.batches.clear();
        replica.indexEntries.clear();
      }
      const auto broker = m_brokers.find(replica.broker.value());
      replica.online = broker != m_brokers.end() && broker->second.runs();
      replica.leader = partition.shown.leader == replica.broker;
      replica.inSync = partition.inIsr(replica.broker);
      replica.epoch = shown.leaderEpoch;
      replica.sinceCaughtUp = m_now - copy.caughtUp;
      if (replica.leader) shown.logEnd = replica.logEnd;
      shown.copies.push_back(std::move(replica));
    }
    std::ranges::sort(shown.copies, {}, &observe::ReplicaSnapshot::broker);
    for (size_t i = 0; i < partition.parked.size(); ++i) {
      observe::ParkedSnapshot parked = partition.parked[i];
      parked.left = parked.timeout - (m_now - partition.parkedAt[i]);
      cluster.parked.push_back(std::move(parked));
    }
    const auto topic = std::ranges::find(cluster.topics, partition.topic, &observe::TopicSnapshot::name);
    topic->partitions.push_back(std::move(shown));
  }
  return cluster;
}

}  // namespace tidemark::widgets::fake
