#include "replication/replica_manager.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::replication {
namespace {

std::shared_ptr<platform::Executor> serial(platform::Process& process, const char* name) {
  return process.createExecutor({.name = name, .threads = 1});
}

}  // namespace

MetadataChange MetadataChange::of(const metadata::Delta& delta, metadata::ImagePtr after, NodeId self) {
  MetadataChange change;
  change.before = std::make_shared<const metadata::Image>(delta.base());
  change.after = std::move(after);
  for (const metadata::PartitionChange& partition : delta.partitionChanges())
    change.partitions.push_back({partition.topic->id, partition.index});
  change.brokers = delta.changedBrokers();
  for (const metadata::ConfigResource& resource : delta.changedConfigs()) {
    if (resource.type == config::ResourceType::Topic) change.configuredTopics.push_back(resource.name);
    if (resource.type == config::ResourceType::Broker &&
        (resource.name.empty() || resource.name == std::to_string(self.value())))
      change.brokerConfigChanged = true;
  }
  return change;
}

ReplicaManager::ReplicaManager(platform::Process& process, std::shared_ptr<log::LogManager> logs, events::Recorder& recorder,
                               ReplicaManagerOptions options)
    : process_(process),
      logs_(std::move(logs)),
      recorder_(recorder),
      options_(std::move(options)),
      environment_(std::make_shared<const PartitionEnvironment>(PartitionEnvironment{
          .self = options_.self,
          .clock = process.clock(),
          .recorder = recorder,
          .lagMax = options_.lagMax,
          .eligible =
              [this](NodeId node, BrokerEpoch epoch) {
                const metadata::ImagePtr image = this->image();
                const metadata::BrokerRegistration* broker = image->cluster.broker(node);
                return broker != nullptr && broker->isActive() && (epoch.value() < 0 || epoch == broker->epoch);
              },
          .brokerEpoch = options_.brokerEpoch,
          .propose = [this](IsrProposal proposal) { alterPartition_.propose(std::move(proposal)); },
          .lagDeadline = [this](platform::MonotonicTime at) { lagDeadline(at); },
          .rules = options_.rules})),
      alterPartition_(options_.isrExecutor, options_.self, options_.brokerEpoch, options_.alterPartition,
                      [this](const IsrProposal& proposal, const IsrDecision& decision) {
                        const auto partition = find(proposal.partition);
                        if (partition && partition->decided(proposal, decision)) highWatermarkMoved(*partition);
                        // A smaller ISR can also be what a parked produce fails by.
                        if (partition) produces_.checkAndComplete(proposal.partition);
                      }),
      sessions_(options_.fetchSessions, process.random()),
      expiration_(purgatory::ExpirationTimer::create(serial(process, "expiration-reaper"), process.clock())),
      produces_("Produce", expiration_),
      fetches_("Fetch", expiration_),
      deletes_("DeleteRecords", expiration_),
      image_(std::make_shared<const metadata::Image>()) {}

ReplicaManager::~ReplicaManager() = default;

// --- metadata -------------------------------------------------------------------------------------------------------

metadata::ImagePtr ReplicaManager::image() const {
  ReaderLock lock(mutex_);
  return image_;
}

void ReplicaManager::apply(const MetadataChange& change) {
  {
    WriterLock lock(mutex_);
    if (stopped_) return;
    image_ = change.after;
  }
  if (change.brokerConfigChanged) {
    std::set<std::string> topics;
    for (const auto& [id, placed] : placed_) topics.insert(placed.partition->name().topic);
    for (const std::string& topic : topics) {
      const TopicSettings settings = options_.settingsOf(*change.after, topic);
      logs_->updateConfig(topic, settings.log);
    }
  }
  for (const std::string& topic : change.configuredTopics) {
    const TopicSettings settings = options_.settingsOf(*change.after, topic);
    logs_->updateConfig(topic, settings.log);
    for (const auto& [id, placed] : placed_)
      if (placed.partition->name().topic == topic) placed.partition->setMinInsyncReplicas(settings.minInsyncReplicas);
  }
  for (const TopicIdPartition& id : change.partitions) applyPartition(change, id);
  for (NodeId broker : change.brokers)
    if (broker != options_.self) restartFetchersOf(broker, *change.after);
  // A broker that came or went changes who holds the high watermark back.
  if (!change.brokers.empty())
    for (const auto& partition : leaders())
      if (partition->advance()) highWatermarkMoved(*partition);
}

void ReplicaManager::applyPartition(const MetadataChange& change, const TopicIdPartition& id) {
  const metadata::TopicImage* topic = change.after->topics.find(id.topicId);
  const metadata::PartitionRegistration* registration = topic ? topic->partition(id.partition) : nullptr;
  if (registration == nullptr || !registration->isReplica(options_.self)) {
    drop(id, true);
    return;
  }
  const TopicPartition name{topic->name, id.partition};
  const std::shared_ptr<Partition> partition = open(id, name, *change.after, *registration);
  if (!partition) return;
  Placed& placed = placed_[id];
  placed.partition = partition;
  const int minIsr = options_.settingsOf(*change.after, name.topic).minInsyncReplicas;
  if (registration->leader == options_.self) {
    unfollow(id, placed);
    const Partition::RoleChange role = partition->makeLeader(*registration, minIsr);
    if (role.newLeaderEpoch) fetches_.checkAndComplete(id);
    if (role.highWatermarkMoved) highWatermarkMoved(*partition);
    produces_.checkAndComplete(id);
  } else {
    const Partition::RoleChange role = partition->makeFollower(*registration, minIsr);
    if (role.newLeaderEpoch) {
      // What waits here waited for a leader that this replica no longer is.
      produces_.checkAndComplete(id);
      fetches_.checkAndComplete(id);
      deletes_.checkAndComplete(id);
    }
    follow(id, placed, *change.after, *registration, role.newLeaderEpoch);
  }
}

std::shared_ptr<Partition> ReplicaManager::open(const TopicIdPartition& id, const TopicPartition& name,
                                                const metadata::Image& image,
                                                const metadata::PartitionRegistration& registration) {
  if (auto known = find(id)) return known;
  Uuid directory = registration.directoryOf(options_.self);
  if (metadata::isReservedDirectory(directory)) directory = Uuid();
  auto log = logs_->getOrCreate(name, id.topicId, options_.settingsOf(image, name.topic).log, directory);
  if (!log && log.error().code == ErrorCode::InconsistentTopicId) {
    // The topic was deleted and made again under its name while we were away.
    if (logs_->remove(name)) log = logs_->getOrCreate(name, id.topicId, options_.settingsOf(image, name.topic).log, directory);
  }
  if (!log) {
    process_.log().error("replica-manager", "broker {}: {} cannot be opened: {}", options_.self, name, log.error().message);
    return nullptr;
  }
  auto partition = std::make_shared<Partition>(environment_, id, name, *log);
  WriterLock lock(mutex_);
  byId_[id] = partition;
  byName_[name] = partition;
  return partition;
}

void ReplicaManager::drop(const TopicIdPartition& id, bool removeLog) {
  const auto placed = placed_.find(id);
  if (placed == placed_.end()) return;
  unfollow(id, placed->second);
  const std::shared_ptr<Partition> partition = placed->second.partition;
  placed_.erase(placed);
  {
    WriterLock lock(mutex_);
    byId_.erase(id);
    // A new topic may already go by that name.
    if (const auto named = byName_.find(partition->name()); named != byName_.end() && named->second == partition)
      byName_.erase(named);
  }
  if (removeLog) {
    if (auto removed = logs_->remove(partition->name()); !removed)
      process_.log().warning("replica-manager", "broker {}: {} cannot be removed: {}", options_.self, partition->name(),
                             removed.error().message);
  }
  produces_.checkAndComplete(id);
  fetches_.checkAndComplete(id);
  deletes_.checkAndComplete(id);
}

// --- fetchers -------------------------------------------------------------------------------------------------------

std::shared_ptr<Fetcher> ReplicaManager::fetcherFor(NodeId leader, const metadata::Image& image) {
  const metadata::BrokerRegistration* broker = image.cluster.broker(leader);
  const metadata::Endpoint* endpoint = broker ? broker->endpoint(options_.interBrokerListener) : nullptr;
  if (endpoint == nullptr) return nullptr;
  RunningFetcher& running = fetchers_[leader];
  if (!running.fetcher) {
    running.endpoint = {endpoint->host, endpoint->port};
    running.epoch = broker->epoch;
    running.fetcher = std::make_shared<Fetcher>(
        process_, process_.createExecutor({.name = fmt::format("replica-fetcher-0-{}", leader), .threads = 1}),
        FetcherOptions{.self = options_.self,
                       .leader = leader,
                       .endpoint = running.endpoint,
                       .brokerEpoch = options_.brokerEpoch,
                       .appended =
                           [this](Partition& partition, bool moved) {
                             dataArrived(partition);
                             if (moved) highWatermarkMoved(partition);
                           },
                       .failed =
                           [this](Partition& partition, const Error& error) {
                             process_.log().error("replica-manager", "broker {}: {} is offline: {}", options_.self,
                                                  partition.name(), error.message);
                           },
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
  const std::shared_ptr<Fetcher> fetcher = fetcherFor(registration.leader, image);
  if (!fetcher) return;
  placed.fetchedFrom = registration.leader;
  fetcher->add(placed.partition, registration.leaderEpoch);
}

void ReplicaManager::unfollow(const TopicIdPartition& id, Placed& placed) {
  if (placed.fetchedFrom == kNoNode) return;
  if (const auto running = fetchers_.find(placed.fetchedFrom); running != fetchers_.end()) running->second.fetcher->remove(id);
  placed.fetchedFrom = kNoNode;
}

void ReplicaManager::restartFetchersOf(NodeId broker, const metadata::Image& image) {
  const metadata::BrokerRegistration* registered = image.cluster.broker(broker);
  const metadata::Endpoint* endpoint = registered ? registered->endpoint(options_.interBrokerListener) : nullptr;
  const auto running = fetchers_.find(broker);
  if (running != fetchers_.end()) {
    const bool same = endpoint != nullptr && running->second.endpoint == platform::Endpoint{endpoint->host, endpoint->port} &&
                      running->second.epoch == registered->epoch;
    if (same) return;
    running->second.fetcher->stop();
    fetchers_.erase(running);
    fetcherCount_.store(static_cast<int>(fetchers_.size()));
    for (auto& [id, placed] : placed_)
      if (placed.fetchedFrom == broker) placed.fetchedFrom = kNoNode;
  }
  if (endpoint == nullptr) return;
  for (auto& [id, placed] : placed_) {
    if (placed.fetchedFrom != kNoNode) continue;
    const metadata::PartitionRegistration* registration = image.topics.partition(id.topicId, id.partition);
    if (registration != nullptr && registration->leader == broker) follow(id, placed, image, *registration, false);
  }
}

void ReplicaManager::shutdown() {
  std::vector<TopicIdPartition> ids;
  std::vector<std::shared_ptr<Partition>> partitions;
  {
    WriterLock lock(mutex_);
    stopped_ = true;
    for (const auto& [id, partition] : byId_) {
      ids.push_back(id);
      partitions.push_back(partition);
    }
    byId_.clear();
    byName_.clear();
  }
  // Fetchers stop when they come to it: what they still bring is not appended.
  for (const auto& partition : partitions) partition->stop();
  for (auto& [node, running] : fetchers_) running.fetcher->stop();
  fetchers_.clear();
  placed_.clear();
  std::ranges::sort(ids);
  for (const TopicIdPartition& id : ids) {
    produces_.checkAndComplete(id);
    fetches_.checkAndComplete(id);
    deletes_.checkAndComplete(id);
  }
}

// --- lookup ---------------------------------------------------------------------------------------------------------

std::shared_ptr<Partition> ReplicaManager::find(const TopicPartition& partition) const {
  ReaderLock lock(mutex_);
  const auto found = byName_.find(partition);
  return found == byName_.end() ? nullptr : found->second;
}

std::shared_ptr<Partition> ReplicaManager::find(const TopicIdPartition& partition) const {
  ReaderLock lock(mutex_);
  const auto found = byId_.find(partition);
  return found == byId_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Partition>> ReplicaManager::all() const {
  std::vector<std::shared_ptr<Partition>> partitions;
  {
    ReaderLock lock(mutex_);
    partitions.reserve(byId_.size());
    for (const auto& [id, partition] : byId_) partitions.push_back(partition);
  }
  std::ranges::sort(partitions, {}, [](const auto& partition) -> const TopicPartition& { return partition->name(); });
  return partitions;
}

std::vector<std::shared_ptr<Partition>> ReplicaManager::leaders() const {
  std::vector<std::shared_ptr<Partition>> partitions = all();
  std::erase_if(partitions, [](const auto& partition) { return !partition->isLeader(); });
  return partitions;
}

Error ReplicaManager::whyMissing(const TopicPartition& name, const Uuid& topicId) const {
  const metadata::ImagePtr image = this->image();
  if (!topicId.isZero() && image->topics.find(topicId) == nullptr)
    return {ErrorCode::UnknownTopicId, fmt::format("no topic has the id {}", topicId)};
  const bool exists = topicId.isZero() ? image->topics.partition(name.topic, name.partition) != nullptr
                                       : image->topics.partition(topicId, name.partition) != nullptr;
  if (exists) return {ErrorCode::NotLeaderOrFollower, fmt::format("broker {} has no replica of {}", options_.self, name)};
  return {ErrorCode::UnknownTopicOrPartition, fmt::format("there is no partition {}", name)};
}

int ReplicaManager::fetcherCount() const { return fetcherCount_.load(); }

// --- what follows from a change -------------------------------------------------------------------------------------

void ReplicaManager::dataArrived(Partition& partition) { fetches_.checkAndComplete(partition.id()); }

void ReplicaManager::highWatermarkMoved(Partition& partition) {
  produces_.checkAndComplete(partition.id());
  fetches_.checkAndComplete(partition.id());
  HighWatermarkListener listener;
  {
    ReaderLock lock(mutex_);
    if (const auto found = listeners_.find(partition.name()); found != listeners_.end()) listener = found->second;
  }
  if (listener) listener(partition.log().highWatermark());
}

void ReplicaManager::onHighWatermark(const TopicPartition& partition, HighWatermarkListener listener) {
  WriterLock lock(mutex_);
  listeners_[partition] = std::move(listener);
}

void ReplicaManager::forgetHighWatermark(const TopicPartition& partition) {
  WriterLock lock(mutex_);
  listeners_.erase(partition);
}

void ReplicaManager::lagDeadline(platform::MonotonicTime at) {
  {
    Lock lock(lagMutex_);
    if (at >= lagArmedFor_) return;
    lagArmedFor_ = at;
  }
  options_.isrExecutor->post([this, at] {
    lagTimer_ = options_.isrExecutor->schedule(std::max(at - process_.clock().monotonic(), platform::Duration(0)), [this] { checkIsrs(); });
  });
}

void ReplicaManager::checkIsrs() {
  {
    Lock lock(lagMutex_);
    lagArmedFor_ = platform::MonotonicTime::max();
  }
  // Each partition that still lags names its next deadline.
  for (const auto& partition : leaders()) partition->checkIsr();
}

std::vector<ParkedView> ReplicaManager::parkedProduces() const {
  std::vector<ParkedView> views;
  for (const auto& operation : produces_.operations()) views.push_back(static_cast<const DelayedProduce&>(*operation).view());
  return views;
}

std::vector<ParkedView> ReplicaManager::parkedFetches(const TopicPartition* preferred) const {
  std::vector<ParkedView> views;
  for (const auto& operation : fetches_.operations()) views.push_back(static_cast<const DelayedFetch&>(*operation).view(preferred));
  return views;
}

// --- requests -------------------------------------------------------------------------------------------------------

void ReplicaManager::append(int16_t acks, platform::Duration timeout, std::span<const ProduceItem> items,
                            const log::AppendOptions& options, const RequestLabel& label, ProduceDone done) {
  std::vector<ProduceResult> results;
  std::vector<PendingProduce> pending;
  results.reserve(items.size());
  for (const ProduceItem& item : items) {
    ProduceResult& result = results.emplace_back();
    result.partition = item.partition;
    const std::shared_ptr<Partition> partition = find(item.partition);
    if (!partition) {
      const Error missing = whyMissing(item.partition, Uuid());
      result.error = missing.code;
      result.message = missing.message;
      continue;
    }
    auto appended = partition->appendAsLeader(item.records, acks, options);
    if (!appended) {
      result.error = appended.error().error.code;
      result.message = std::move(appended.error().error.message);
      result.recordErrors = std::move(appended.error().recordErrors);
      result.logStartOffset = partition->log().logStartOffset();
      continue;
    }
    result.baseOffset = appended->info.firstOffset;
    result.logAppendTimeMs = appended->info.logAppendTimeMs;
    result.logStartOffset = appended->info.logStartOffset;
    this->appended(*partition);
    if (acks == -1)
      pending.push_back({.index = results.size() - 1,
                         .partition = partition,
                         .requiredOffset = appended->requiredOffset,
                         .epoch = appended->leaderEpoch});
  }
  if (pending.empty()) {
    done(std::move(results));
    return;
  }
  std::vector<TopicIdPartition> keys;
  keys.reserve(pending.size());
  for (const PendingProduce& waits : pending) keys.push_back(waits.partition->id());
  produces_.tryCompleteElseWatch(
      std::make_shared<DelayedProduce>(timeout, std::move(pending), std::move(results), label, recorder_, process_.clock(), std::move(done)),
      keys);
}

void ReplicaManager::appended(Partition& partition) {
  dataArrived(partition);
  if (partition.advance()) highWatermarkMoved(partition);
}

std::vector<FetchResult> ReplicaManager::readAll(const FetchParams& params, const std::vector<FetchItem>& items, bool noteFollower) {
  std::vector<FetchResult> results;
  results.reserve(items.size());
  int64_t left = params.maxBytes;
  bool minOneMessage = true;
  for (const FetchItem& item : items) {
    FetchResult& result = results.emplace_back();
    if (item.key.topic.empty()) {
      result.error = {ErrorCode::UnknownTopicId, fmt::format("no topic has the id {}", item.key.topicId)};
      continue;
    }
    const TopicPartition name{item.key.topic, item.key.partition};
    const std::shared_ptr<Partition> partition = find(name);
    if (!partition) {
      result.error = whyMissing(name, item.key.topicId);
      continue;
    }
    if (!item.key.topicId.isZero() && partition->id().topicId != item.key.topicId) {
      result.error = {ErrorCode::InconsistentTopicId, fmt::format("{} has another topic id now", name)};
      continue;
    }
    PartitionReadOptions options{.fetchOffset = item.ask.fetchOffset,
                                 .lastFetchedEpoch = item.ask.lastFetchedEpoch,
                                 .check = {.currentLeaderEpoch = item.ask.currentLeaderEpoch, .leaderOnly = params.leaderOnly},
                                 .maxBytes = static_cast<int32_t>(std::clamp<int64_t>(left, 0, item.ask.maxBytes)),
                                 .minOneMessage = minOneMessage,
                                 .isolation = params.isolation,
                                 .follower = std::nullopt};
    if (noteFollower && params.follower)
      options.follower = FollowerFetch{.replica = params.follower->replica,
                                       .brokerEpoch = params.follower->brokerEpoch,
                                       .logStartOffset = item.ask.logStartOffset};
    auto read = partition->read(options);
    if (!read) {
      result.error = std::move(read).error();
      if (result.error.code == ErrorCode::OffsetOutOfRange) {
        result.logStartOffset = partition->log().logStartOffset();
        result.highWatermark = partition->log().highWatermark();
      }
      continue;
    }
    result.partition = partition;
    result.highWatermark = read->offsets.highWatermark.offset;
    result.lastStableOffset = read->offsets.lastStableOffset.offset;
    result.logStartOffset = read->offsets.logStartOffset;
    result.diverging = read->diverging;
    result.start = read->read.start;
    result.slice = std::move(read->read.slice);
    result.aborted = std::move(read->read.abortedTransactions);
    if (result.slice.length > 0) {
      minOneMessage = false;
      left -= static_cast<int64_t>(result.slice.length);
    }
    if (read->highWatermarkMoved) highWatermarkMoved(*partition);
    if (options.follower && deletes_.delayed() > 0) deletes_.checkAndComplete(partition->id());
  }
  return results;
}

void ReplicaManager::fetch(const FetchParams& params, std::vector<FetchItem> items, FetchDone done) {
  std::vector<FetchResult> results = readAll(params, items, true);
  int64_t bytes = 0;
  bool atOnce = params.maxWait <= platform::Duration(0) || items.empty();
  for (const FetchResult& result : results) {
    bytes += static_cast<int64_t>(result.slice.length);
    atOnce = atOnce || result.error.code != ErrorCode::None || result.diverging.has_value();
  }
  if (atOnce || bytes >= params.minBytes) {
    done(std::move(results));
    return;
  }
  std::vector<PendingFetch> pending;
  std::vector<TopicIdPartition> keys;
  pending.reserve(items.size());
  keys.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    keys.push_back(results[i].partition->id());
    pending.push_back({.partition = results[i].partition, .ask = items[i].ask, .start = results[i].start});
  }
  fetches_.tryCompleteElseWatch(
      std::make_shared<DelayedFetch>(*this, params, std::move(items), std::move(pending), recorder_, process_.clock(), std::move(done)), keys);
}

void ReplicaManager::deleteRecords(const std::vector<DeleteItem>& items, platform::Duration timeout, DeleteDone done) {
  std::vector<DeleteResult> results;
  std::vector<PendingDelete> pending;
  for (const DeleteItem& item : items) {
    DeleteResult& result = results.emplace_back();
    result.partition = item.partition;
    const std::shared_ptr<Partition> partition = find(item.partition);
    if (!partition) {
      result.error = whyMissing(item.partition, Uuid()).code;
      continue;
    }
    auto start = partition->deleteRecords(item.offset);
    if (!start) {
      result.error = start.error().code;
      continue;
    }
    result.lowWatermark = *start;
    pending.push_back({.index = results.size() - 1, .partition = partition, .requiredOffset = *start});
    // Followers hear of it with their next fetch.
    dataArrived(*partition);
  }
  if (pending.empty()) {
    done(std::move(results));
    return;
  }
  std::vector<TopicIdPartition> keys;
  keys.reserve(pending.size());
  for (const PendingDelete& waits : pending) keys.push_back(waits.partition->id());
  deletes_.tryCompleteElseWatch(std::make_shared<DelayedDeleteRecords>(timeout, std::move(pending), std::move(results), std::move(done)), keys);
}

}  // namespace tidemark::replication
