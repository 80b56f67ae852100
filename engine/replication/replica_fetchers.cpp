#include <fmt/format.h>

#include "replication/replica_manager.h"

// Which fetcher copies which partition.

namespace tidemark::replication {

int ReplicaManager::fetcherIdOf(const TopicPartition& partition) const {
  // As Kafka spreads them: Java's hash of the name.
  uint32_t hash = 0;
  for (const char c : partition.topic) hash = 31 * hash + static_cast<unsigned char>(c);
  hash = 31 * hash + static_cast<uint32_t>(partition.partition.value());
  return static_cast<int>((hash & 0x7fffffffU) % static_cast<uint32_t>(fetchersPerLeader_));
}

std::shared_ptr<Fetcher> ReplicaManager::fetcherFor(NodeId leader, const TopicPartition& partition,
                                                    const metadata::Image& image) {
  const metadata::BrokerRegistration* broker = image.cluster.broker(leader);
  const metadata::Endpoint* endpoint = broker ? broker->endpoint(options_.interBrokerListener) : nullptr;
  if (endpoint == nullptr) return nullptr;
  const int id = fetcherIdOf(partition);
  RunningFetcher& running = fetchers_[{leader, id}];
  if (!running.fetcher) {
    running.endpoint = {endpoint->host, endpoint->port};
    running.epoch = broker->epoch;
    running.fetcher = std::make_shared<Fetcher>(
        process_, process_.createExecutor({.name = fmt::format("replica-fetcher-{}-{}", id, leader), .threads = 1}),
        FetcherOptions{.self = options_.self,
                       .leader = leader,
                       .id = id,
                       .endpoint = running.endpoint,
                       .brokerEpoch = options_.brokerEpoch,
                       .appended =
                           [this](Partition& copied, bool moved) {
                             dataArrived(copied);
                             if (moved) highWatermarkMoved(copied);
                           },
                       .failed =
                           [this](Partition& failed, const Error& error) {
                             process_.log().error("replica-manager", "broker {}: {} is offline: {}", options_.self,
                                                  failed.name(), error.message);
                           },
                       .quota = &followerQuota_,
                       .maxWait = options_.fetchMaxWait,
                       .backoff = options_.fetchBackoff,
                       .requestTimeout = options_.fetchRequestTimeout,
                       .minBytes = options_.fetchMinBytes,
                       .maxBytes = options_.fetchResponseMaxBytes,
                       .partitionMaxBytes = options_.fetchMaxBytes});
    fetcherCount_.store(static_cast<int>(fetchers_.size()));
  }
  return running.fetcher;
}

void ReplicaManager::follow(const TopicIdPartition& id, Placed& placed, const metadata::Image& image,
                            const metadata::PartitionRegistration& registration, bool anew) {
  if (!anew && placed.fetchedFrom == registration.leader) return;
  unfollow(id, placed);
  if (!registration.hasLeader()) return;
  const std::shared_ptr<Fetcher> fetcher = fetcherFor(registration.leader, placed.partition->name(), image);
  if (!fetcher) return;
  placed.fetchedFrom = registration.leader;
  fetcher->add(placed.partition, registration.leaderEpoch);
}

void ReplicaManager::unfollow(const TopicIdPartition& id, Placed& placed) {
  if (placed.fetchedFrom == kNoNode) return;
  const auto running = fetchers_.find({placed.fetchedFrom, fetcherIdOf(placed.partition->name())});
  if (running != fetchers_.end()) running->second.fetcher->remove(id);
  placed.fetchedFrom = kNoNode;
}

void ReplicaManager::restartFetchersOf(NodeId broker, const metadata::Image& image) {
  const metadata::BrokerRegistration* registered = image.cluster.broker(broker);
  const metadata::Endpoint* endpoint = registered ? registered->endpoint(options_.interBrokerListener) : nullptr;
  const auto isOld = [&](const RunningFetcher& running) {
    return endpoint == nullptr || running.endpoint != platform::Endpoint{endpoint->host, endpoint->port} ||
           running.epoch != registered->epoch;
  };
  bool stopped = false;
  std::erase_if(fetchers_, [&](const auto& entry) {
    if (entry.first.first != broker || !isOld(entry.second)) return false;
    entry.second.fetcher->stop();
    stopped = true;
    return true;
  });
  fetcherCount_.store(static_cast<int>(fetchers_.size()));
  if (stopped)
    for (auto& [id, placed] : placed_)
      if (placed.fetchedFrom == broker) placed.fetchedFrom = kNoNode;
  if (endpoint != nullptr) followAll(image, [broker](NodeId leader) { return leader == broker; });
}

void ReplicaManager::setFetchersPerLeader(int count) {
  if (count == fetchersPerLeader_) return;
  for (auto& [key, running] : fetchers_) running.fetcher->stop();
  fetchers_.clear();
  fetchersPerLeader_ = count;
  for (auto& [id, placed] : placed_) placed.fetchedFrom = kNoNode;
  followAll(*image(), [](NodeId) { return true; });
  fetcherCount_.store(static_cast<int>(fetchers_.size()));
}

void ReplicaManager::followAll(const metadata::Image& image, const std::function<bool(NodeId leader)>& ofLeader) {
  for (auto& [id, placed] : placed_) {
    if (placed.fetchedFrom != kNoNode || placed.partition->log()->offline()) continue;
    const metadata::PartitionRegistration* registration = image.topics.partition(id.topicId, id.partition);
    if (registration != nullptr && registration->leader != options_.self && ofLeader(registration->leader))
      follow(id, placed, image, *registration, false);
  }
}

}  // namespace tidemark::replication
