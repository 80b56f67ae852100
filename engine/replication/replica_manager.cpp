#include "replication/replica_manager.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/mutation.h"

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
    if (resource.type == config::ResourceType::Group) change.configuredGroups.push_back(resource.name);
    if (resource.type == config::ResourceType::Broker &&
        (resource.name.empty() || resource.name == std::to_string(self.value())))
      change.brokerConfigChanged = true;
  }
  return change;
}

ReplicaManager::ReplicaManager(platform::Process& process, std::shared_ptr<log::LogManager> logs,
                               events::Recorder& recorder, ReplicaManagerOptions options)
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
                return broker != nullptr && broker->isActive() &&
                       (epoch.value() < 0 || epoch == broker->epoch || isMutated(Mutation::IsrByIdAlone));
              },
          .isStale =
              [this](NodeId node, BrokerEpoch epoch) {
                const metadata::ImagePtr image = this->image();
                const metadata::BrokerRegistration* broker = image->cluster.broker(node);
                return broker != nullptr && epoch.value() >= 0 && epoch < broker->epoch &&
                       !isMutated(Mutation::IsrByIdAlone);
              },
          .brokerEpoch = options_.brokerEpoch,
          .propose = [this](IsrProposal proposal) { alterPartition_.propose(std::move(proposal)); },
          .lagDeadline = [this](platform::MonotonicTime at) { lagDeadline(at); }})),
      alterPartition_(options_.isrExecutor, options_.self, options_.brokerEpoch, options_.alterPartition,
                      [this](const IsrProposal& proposal, const IsrDecision& decision) {
                        const auto partition = find(proposal.partition);
                        if (partition && partition->decided(proposal, decision)) highWatermarkMoved(*partition);
                        // A smaller ISR can also be what a parked produce fails by.
                        if (partition) produces_.checkAndComplete(proposal.partition);
                      }),
      assignments_(options_.isrExecutor, options_.self, options_.brokerEpoch, options_.assignDirectories,
                   [this](const TopicIdPartition& id) { return find(id) != nullptr; }),
      mover_(process, logs_, recorder,
             LogDirMoverOptions{
                 .threads = options_.moveThreads,
                 .stepBytes = static_cast<size_t>(options_.fetchMaxBytes),
                 .backoff = options_.fetchBackoff,
                 .assign =
                     [this](const TopicIdPartition& id, const Uuid& directory, std::function<void()> accepted) {
                       assignments_.assign(id, directory, std::move(accepted));
                     },
                 // What waits remembers places in the files of the old log.
                 .moved = [this](Partition& partition) { fetches_.checkAndComplete(partition.id()); }}),
      sessions_(options_.fetchSessions, process.random()),
      refused_(process.clock()),
      leaderQuota_(process.clock()),
      followerQuota_(process.clock()),
      expiration_(purgatory::ExpirationTimer::create(serial(process, "expiration-reaper"), process.clock())),
      produces_("Produce", expiration_),
      fetches_("Fetch", expiration_),
      deletes_("DeleteRecords", expiration_),
      fetchersPerLeader_(options_.fetchersPerLeader),
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
  std::set<std::string> configured(change.configuredTopics.begin(), change.configuredTopics.end());
  if (change.brokerConfigChanged)
    for (const auto& [id, placed] : placed_) configured.insert(placed.partition->name().topic);
  for (const std::string& topic : configured) configure(topic, options_.settingsOf(*change.after, topic));
  for (const TopicIdPartition& id : change.partitions) applyPartition(change, id);
  for (NodeId broker : change.brokers)
    if (broker != options_.self) restartFetchersOf(broker, *change.after);
  // A broker that came or went changes who holds the high watermark back.
  if (!change.brokers.empty())
    for (const auto& partition : leaders())
      if (partition->advance()) highWatermarkMoved(*partition);
}

void ReplicaManager::throttle(Partition& partition, const TopicSettings& settings) const {
  const PartitionIndex index = partition.name().partition;
  partition.setThrottled(isThrottled(settings.leaderThrottled, index, options_.self),
                         isThrottled(settings.followerThrottled, index, options_.self));
}

void ReplicaManager::configure(const std::string& topic, const TopicSettings& settings) {
  logs_->updateConfig(topic, settings.log);
  for (const auto& [id, placed] : placed_) {
    if (placed.partition->name().topic != topic) continue;
    throttle(*placed.partition, settings);
    if (placed.partition->setMinInsyncReplicas(settings.minInsyncReplicas)) highWatermarkMoved(*placed.partition);
    produces_.checkAndComplete(id);
  }
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
  const TopicSettings settings = options_.settingsOf(*change.after, name.topic);
  const int minIsr = settings.minInsyncReplicas;
  throttle(*partition, settings);
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
  settleDirectory(id, partition, *registration, *change.after);
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
    if (logs_->remove(name))
      log = logs_->getOrCreate(name, id.topicId, options_.settingsOf(image, name.topic).log, directory);
  }
  if (!log) {
    process_.log().error("replica-manager", "broker {}: {} cannot be opened: {}", options_.self, name,
                         log.error().message);
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
  if (partition->isMoving()) {
    partition->setFuture(nullptr);
    mover_.remove(*partition, "the replica is gone");
  }
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
  for (auto& [key, running] : fetchers_) running.fetcher->stop();
  mover_.stop();
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
  if (exists)
    return {ErrorCode::NotLeaderOrFollower, fmt::format("broker {} has no replica of {}", options_.self, name)};
  return {ErrorCode::UnknownTopicOrPartition, fmt::format("there is no partition {}", name)};
}

int ReplicaManager::fetcherCount() const {
  return fetcherCount_.load();
}

// --- what follows from a change -------------------------------------------------------------------------------------

void ReplicaManager::dataArrived(Partition& partition) {
  if (partition.isMoving()) [[unlikely]]
    mover_.appended(partition);
  fetches_.checkAndComplete(partition.id());
}

void ReplicaManager::highWatermarkMoved(Partition& partition) {
  produces_.checkAndComplete(partition.id());
  fetches_.checkAndComplete(partition.id());
  HighWatermarkListener listener;
  {
    ReaderLock lock(mutex_);
    if (const auto found = listeners_.find(partition.name()); found != listeners_.end()) listener = found->second;
  }
  if (listener) listener(partition.log()->highWatermark());
  if (anyHighWatermark_) anyHighWatermark_(partition.id());
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
    lagTimer_ = options_.isrExecutor->schedule(std::max(at - process_.clock().monotonic(), platform::Duration(0)),
                                               [this] { checkIsrs(); });
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
  for (const auto& operation : produces_.operations())
    views.push_back(static_cast<const DelayedProduce&>(*operation).view());
  return views;
}

std::vector<ParkedView> ReplicaManager::parkedFetches(const TopicPartition* preferred) const {
  std::vector<ParkedView> views;
  for (const auto& operation : fetches_.operations())
    views.push_back(static_cast<const DelayedFetch&>(*operation).view(preferred));
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
      refused_.refused(item.partition, item.records, result.error);
      continue;
    }
    log::AppendOptions ofItem = options;
    if (item.verification) ofItem.verification = item.verification;
    const std::optional<ErrorCode> whyEarlier = refused_.before(item.partition, item.records);
    ofItem.earlierRefused = whyEarlier.has_value();
    auto appended = partition->appendAsLeader(item.records, acks, ofItem);
    if (!appended) {
      result.error = appended.error().error.code;
      result.message = std::move(appended.error().error.message);
      if (result.error == ErrorCode::OutOfOrderSequenceNumber) {
        process_.log().info("replication", "broker {}: {}: {}{}", options_.self, item.partition, result.message,
                            whyEarlier ? " (the one before it was refused for now)" : "");
        result.error = whyEarlier.value_or(result.error);
      }
      refused_.refused(item.partition, item.records, result.error);
      result.recordErrors = std::move(appended.error().recordErrors);
      result.logStartOffset = partition->log()->logStartOffset();
      continue;
    }
    refused_.appended(item.partition, item.records);
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
  produces_.tryCompleteElseWatch(std::make_shared<DelayedProduce>(timeout, std::move(pending), std::move(results),
                                                                  label, recorder_, process_.clock(), std::move(done)),
                                 keys);
}

void ReplicaManager::appended(Partition& partition) {
  dataArrived(partition);
  if (partition.advance()) highWatermarkMoved(partition);
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
  deletes_.tryCompleteElseWatch(
      std::make_shared<DelayedDeleteRecords>(timeout, std::move(pending), std::move(results), std::move(done)), keys);
}

}  // namespace tidemark::replication
