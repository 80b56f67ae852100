#include "broker/broker_server.h"

#include <algorithm>

#include <fmt/format.h>

#include "broker/broker_apis.h"
#include "broker/broker_settings.h"
#include "broker/listeners.h"
#include "broker/settings_without_effect.h"
#include "config/topic_config.h"
#include "metadata/features.h"
#include "replication/topic_settings.h"

namespace tidemark::broker {
namespace {

/// How long a broker that lost its disks waits for handlers at most.
constexpr platform::Duration kLongestEnd = std::chrono::seconds(1);

/// A change that brings everything there is in `image`.
replication::MetadataChange everything(const metadata::ImagePtr& image) {
  replication::MetadataChange change;
  change.before = std::make_shared<const metadata::Image>();
  change.after = image;
  for (const auto& [id, topic] : image->topics.byId)
    for (const auto& [index, partition] : topic->partitions) change.partitions.push_back({id, index});
  for (const auto& [node, broker] : image->cluster.brokers) change.brokers.insert(node);
  for (const auto& [resource, set] : image->configs.resources)
    if (resource.type == config::ResourceType::Group) change.configuredGroups.push_back(resource.name);
  change.brokerConfigChanged = true;
  return change;
}

}  // namespace

BrokerServer::BrokerServer(Shared& shared)
    : shared_(shared),
      find_([&shared] { return shared.controller(); }),
      metadataExecutor_(serial(shared.process, "metadata-publisher")),
      controllerExecutor_(serial(shared.process, "to-controller")),
      isrExecutor_(serial(shared.process, "isr")),
      shareExecutor_(serial(shared.process, "share")),
      config_(std::make_shared<const config::BrokerConfig>(shared.config())),
      latest_(std::make_shared<const metadata::Image>()) {
  const config::BrokerConfig& config = shared.config();
  warnOfUnused(config.properties());
  LifecycleOptions lifecycle{.self = shared.self(),
                             .clusterId = shared.clusterId,
                             .listeners = {},
                             .rack = config.rack(),
                             .logDirectories = {},
                             .previousEpoch = shared.logs->previousBrokerEpoch(),
                             .directoryFailureTimeout = config.getMs("log.dir.failure.timeout.ms"),
                             .heartbeatInterval = config.getMs("broker.heartbeat.interval.ms"),
                             .metadataOffset = [this] { return Offset(takenOffset_.load()); },
                             .ready = [this](BrokerEpoch epoch) { return ready(epoch); },
                             .caughtUp = [this] { metadataExecutor_->post([this] { begin(); }); },
                             .stateChanged =
                                 [this](LifecycleState state) {
                                   if (onStateChanged_) onStateChanged_(state);
                                 }};
  for (const config::Listener& listener : config.advertisedListeners())
    lifecycle.listeners.push_back({.name = listener.name,
                                   .host = listener.host,
                                   .port = listener.port,
                                   .securityProtocol = static_cast<int16_t>(listener.protocol)});
  for (const log::LogDirectoryInfo& directory : shared.logs->directories())
    if (!directory.offline) lifecycle.logDirectories.push_back(directory.id);
  lifecycle_ = std::make_unique<Lifecycle>(shared.process, controllerExecutor_, find_, std::move(lifecycle));

  alterPartitionChannel_ = std::make_unique<ControllerChannel>(
      shared.process, isrExecutor_, find_,
      ControllerChannel::Options{.clientId = fmt::format("broker-{}-alter-partition", shared.self())});
  replicas_ = std::make_unique<replication::ReplicaManager>(
      shared.process, shared.logs, shared.recorder,
      replication::ReplicaManagerOptions{
          .self = shared.self(),
          .interBrokerListener = config.interBrokerListenerName(),
          .lagMax = config.getMs("replica.lag.time.max.ms"),
          .fetchMaxWait = config.getMs("replica.fetch.wait.max.ms"),
          .fetchBackoff = config.getMs("replica.fetch.backoff.ms"),
          .fetchRequestTimeout = config.getMs("replica.socket.timeout.ms"),
          .fetchMinBytes = config.getInt("replica.fetch.min.bytes"),
          .fetchResponseMaxBytes = config.getInt("replica.fetch.response.max.bytes"),
          .fetchMaxBytes = config.getInt("replica.fetch.max.bytes"),
          .fetchersPerLeader = config.getInt("num.replica.fetchers"),
          .rackAwareReads = isRackAware(config, shared.process.log()),
          .fetchSessions = static_cast<size_t>(config.getInt("max.incremental.fetch.session.cache.slots")),
          .settingsOf = [this](const metadata::Image& image,
                               const std::string& topic) { return settingsOf(image, topic); },
          .brokerEpoch = [this] { return lifecycle_->epoch(); },
          .isrExecutor = isrExecutor_,
          .alterPartition =
              [this](protocol::AlterPartitionRequest request, replication::AlterPartitionManager::Answer answer) {
                alterPartitionChannel_->send(std::move(request), std::move(answer));
              },
          .assignDirectories =
              [this](protocol::AssignReplicasToDirsRequest request, replication::DirectoryAssignments::Answer answer) {
                alterPartitionChannel_->send(std::move(request), std::move(answer));
              },
          .moveThreads = !config.isNull("num.replica.alter.log.dirs.threads")
                             ? config.getInt("num.replica.alter.log.dirs.threads")
                             : static_cast<int>(config.logDirs().size())});
  shared.onDirectoryFailed = [this](const Uuid& directory) {
    lifecycle_->directoryFailed(directory);
    metadataExecutor_->post([this, directory] { replicas_->directoryFailed(directory); });
  };
  forwarding_ = std::make_unique<Forwarding>(shared.process, controllerExecutor_, find_, shared.self());
  autoTopics_ =
      std::make_unique<AutoTopicCreation>(*forwarding_, shared.process.clock(), [this] { return this->config(); });
  producerIds_ = std::make_unique<ProducerIds>(shared.process, controllerExecutor_, find_, shared.self(),
                                               [this] { return lifecycle_->epoch(); });
  shareStates_ = std::make_unique<ShareStateService>(shared.process, *replicas_, shareStateConfig(config));
  sharePersister_ = std::make_unique<SharePersister>(
      SharePersister::Dependencies{.process = &shared.process,
                                   .executor = shareExecutor_,
                                   .image = [this] { return image(); },
                                   .self = shared.self(),
                                   .listener = config.interBrokerListenerName(),
                                   .local = &shareStates_->states(),
                                   .createTopic = [this] { autoTopics_->request(std::string(kShareStateTopic)); }});
  latestOffsets_ = std::make_unique<LatestOffsets>(shared.process, shareExecutor_, *replicas_, shared.self(),
                                                   config.interBrokerListenerName());
  deadLetters_ =
      std::make_unique<DeadLetterWriter>(DeadLetterWriter::Dependencies{.process = &shared.process,
                                                                        .executor = shareExecutor_,
                                                                        .replicas = replicas_.get(),
                                                                        .forwarding = forwarding_.get(),
                                                                        .self = shared.self(),
                                                                        .listener = config.interBrokerListenerName(),
                                                                        .config = [this] { return this->config(); }});
  shares_ = std::make_unique<ShareService>(
      ShareService::Dependencies{.process = &shared.process,
                                 .executor = shareExecutor_,
                                 .replicas = replicas_.get(),
                                 .persister = sharePersister_.get(),
                                 .deadLetters = deadLetters_.get(),
                                 .config = [this] { return this->config(); },
                                 .isConnected = [this](std::string_view id) { return server_->isConnected(id); },
                                 .sessions = static_cast<size_t>(config.getInt("group.share.max.share.sessions")),
                                 .purgeInterval = config.getInt("share.fetch.purgatory.purge.interval.requests")});
  replicas_->onAnyHighWatermark([this](const TopicIdPartition& partition) { shares_->onHighWatermark(partition); });
  coordinator::GroupConfig groups = groupConfig(config, shared.recorder);
  groups.share.settings = [this](std::string_view groupId) {
    return shareMembershipSettings(*image(), *this->config(), groupId);
  };
  groups_ = std::make_unique<GroupService>(
      shared.process, *replicas_, std::move(groups), [this] { return this->config(); }, *sharePersister_,
      *latestOffsets_);
  transactions_ = std::make_unique<TransactionService>(shared.process, *replicas_, *groups_, *producerIds_,
                                                       shared.self(), config, shared.recorder);
  context_ = std::make_unique<BrokerContext>(
      BrokerContext{.self = shared.self(),
                    .clusterId = shared.clusterId,
                    .process = shared.process,
                    .recorder = shared.recorder,
                    .authorizer = shared.authorizer,
                    .replicas = *replicas_,
                    .logs = *shared.logs,
                    .forwarding = *forwarding_,
                    .autoTopics = *autoTopics_,
                    .producerIds = *producerIds_,
                    .groups = *groups_,
                    .shareStates = *shareStates_,
                    .shares = *shares_,
                    .transactions = *transactions_,
                    .fetchMaxBytes = config.getInt("fetch.max.bytes"),
                    .traffic = traffic_,
                    .byMetadata = [this](platform::Task task) { metadataExecutor_->post(std::move(task)); },
                    .config = [this] { return this->config(); },
                    .controller =
                        [this] {
                          const auto found = find_();
                          return found ? found->first : kNoNode;
                        }});
  network::ServerOptions server = serverOptions(config, ListenersOf::Broker);
  server.recorder = &shared.recorder;
  server.apis = brokerApis();
  server.features = [this] { return featureInfo(*image(), shared_.clusterId, shared_.self()); };
  server.numProcessors = config.getInt("num.network.threads");
  server.numHandlers = config.getInt("num.io.threads");
  if (const int64_t budget = config.getLong("queued.max.request.bytes"); budget > 0)
    server.queuedMaxBytes = static_cast<uint64_t>(budget);
  server.maxConnections = config.getInt("max.connections");
  server.maxConnectionsPerIp = config.getInt("max.connections.per.ip");
  server.disconnected = [this](const network::Peer& peer) { shares_->disconnected(peer.connectionId); };
  if (shared.options.betweenRequests)
    between_ = shared.options.betweenRequests(*this, shared.process, [this](const Uuid& id) {
      const metadata::TopicImage* topic = image()->topics.find(id);
      return topic == nullptr ? std::string() : topic->name;
    });
  network::RequestHandler& handler = between_ ? *between_ : static_cast<network::RequestHandler&>(*this);
  server_ = std::make_unique<network::Server>(shared.process, std::move(server), handler);
  shared.endAfterAnswers = [this](const std::string& reason) { endAfterAnswers(reason); };
  shared.loader->addPublisher(*this);
}

BrokerServer::~BrokerServer() = default;

Result<void> BrokerServer::listen() {
  return server_->listen();
}

void BrokerServer::start() {
  lifecycle_->start();
}

bool BrokerServer::isQuick(protocol::ApiKey key) const {
  return isQuickApi(key);
}

void BrokerServer::handle(network::RequestPtr request) {
  handleApi(*context_, std::move(request));
}

// --- metadata -------------------------------------------------------------------------------------------------------

void BrokerServer::onUpdate(const metadata::Delta& delta, metadata::ImagePtr image) {
  metadataExecutor_->post(
      [this, change = replication::MetadataChange::of(delta, std::move(image), shared_.self())] { take(change); });
}

void BrokerServer::onLeaderChange(const raft::LeaderAndEpoch& leader, const metadata::CommittedState& /*state*/) {
  if (leader.leader != kNoNode) controllerChanged();
}

void BrokerServer::controllerChanged() {
  lifecycle_->wake();
  forwarding_->wake();
  producerIds_->wake();
  isrExecutor_->post([this] { alterPartitionChannel_->wake(); });
}

void BrokerServer::take(const replication::MetadataChange& change) {
  latest_ = change.after;
  if (logsAre_ == Logs::Loaded) apply(change);
  if (logsAre_ == Logs::Loading) waiting_.push_back(change);
  // Only what is taken up counts as read: a broker that the controller calls caught up loads its logs by this image.
  takenOffset_.store(latest_->provenance.lastContainedOffset.value());
  // Our own registration may be among it: the sooner the controller hears, the sooner we serve.
  if (lifecycle_->state() == LifecycleState::Recovery) lifecycle_->wake();
}

void BrokerServer::begin() {
  if (logsAre_ != Logs::Unread) return;
  logsAre_ = Logs::Loading;
  const metadata::ImagePtr image = latest_;
  shared_.logs->startLoading(
      {.configOf = [this, image](const std::string& topic) { return settingsOf(*image, topic).log; },
       .isOurs =
           [image, self = shared_.self()](const TopicPartition& name, const Uuid& topicId) {
             const metadata::TopicImage* topic =
                 topicId.isZero() ? image->topics.find(name.topic) : image->topics.find(topicId);
             const metadata::PartitionRegistration* registration = topic ? topic->partition(name.partition) : nullptr;
             return registration != nullptr && registration->isReplica(self);
           },
       .isCountedOn =
           [image, self = shared_.self()](const TopicPartition& name) {
             const metadata::PartitionRegistration* registration = image->topics.partition(name.topic, name.partition);
             return registration != nullptr && (registration->isInIsr(self) ||
                                                std::ranges::find(registration->elr, self) != registration->elr.end());
           },
       .directoryOf =
           [image, self = shared_.self()](const TopicPartition& name, const Uuid& topicId) {
             const metadata::PartitionRegistration* registration = image->topics.partition(topicId, name.partition);
             return registration == nullptr ? Uuid() : registration->directoryOf(self);
           },
       .threadsPerDirectory = config()->getInt("num.recovery.threads.per.data.dir")},
      [this, image](const Result<void>& loaded) {
        metadataExecutor_->post([this, image, loaded] { begun(loaded, image); });
      });
}

void BrokerServer::begun(const Result<void>& loaded, const metadata::ImagePtr& image) {
  logsAre_ = Logs::Loaded;
  if (afterLoading_) {
    std::exchange(afterLoading_, {})();
    return;
  }
  if (!loaded) {
    shared_.process.kill(fmt::format("the logs cannot be loaded: {}", loaded.error().message));
    return;
  }
  apply(everything(image));
  for (const replication::MetadataChange& change : std::exchange(waiting_, {})) apply(change);
  if (shared_.logs->hasLess()) {
    givenUp_.store(lifecycle_->epoch());
    lifecycle_->registerAsUnclean();
  }
  loaded_.store(true);
  // Until here connections wait: whoever asks a broker that starts must not hear that a topic is unknown.
  server_->open();
  lifecycle_->wake();
}

void BrokerServer::apply(const replication::MetadataChange& change) {
  if (change.brokerConfigChanged) {
    auto config = std::make_shared<const config::BrokerConfig>(shared_.config().withDynamic(
        change.after->configs.broker(shared_.self()), change.after->configs.clusterDefault()));
    shared_.logs->configureCleaner(replication::toCleanerConfig(*config));
    const auto limit = [&](std::string_view key) { return rateLimit(change.after->configs, shared_.self(), key); };
    replicas_->setMoveLimit(limit("replica.alter.log.dirs.io.max.bytes.per.second"));
    replicas_->setReplicationLimits(limit("leader.replication.throttled.rate"),
                                    limit("follower.replication.throttled.rate"));
    replicas_->setFetchersPerLeader(config->getInt("num.replica.fetchers"));
    warnOfUnused(change.after->configs.broker(shared_.self()));
    warnOfUnused(change.after->configs.clusterDefault());
    Lock lock(mutex_);
    config_ = std::move(config);
  }
  cordon(*change.after);
  replicas_->apply(change);
  groups_->apply(change, shared_.self());
  shareStates_->apply(change, shared_.self());
  shares_->apply(change, shared_.self());
  transactions_->apply(change, shared_.self());
  if (lifecycle_->state() == LifecycleState::Recovery) lifecycle_->wake();
  if (onMetadataApplied_) onMetadataApplied_();
}

void BrokerServer::warnOfUnused(const config::ConfigMap& set) {
  for (const std::string& warning : settingsWithoutEffect(set))
    if (warnings_.insert(warning).second) shared_.process.log().warning("broker", "{}", warning);
}

void BrokerServer::cordon(const metadata::Image& image) {
  if (!metadata::MetadataVersion(image.features.metadataVersion()).supportsCordonedDirectories()) return;
  std::vector<std::string> paths = config()->cordonedLogDirs();
  if (cordoned_ == paths) return;
  shared_.logs->setCordoned(paths);
  std::vector<Uuid> ids;
  for (const log::LogDirectoryInfo& directory : shared_.logs->directories())
    if (directory.cordoned) ids.push_back(directory.id);
  lifecycle_->directoriesCordoned(std::move(ids));
  cordoned_ = std::move(paths);
}

bool BrokerServer::ready(BrokerEpoch epoch) const {
  if (!loaded_.load() || (epoch == givenUp_.load() && epoch.value() >= 0)) return false;
  const metadata::ImagePtr image = replicas_->image();
  const metadata::BrokerRegistration* own = image->cluster.broker(shared_.self());
  return own != nullptr && own->epoch == epoch;
}

std::shared_ptr<const config::BrokerConfig> BrokerServer::config() const {
  Lock lock(mutex_);
  return config_;
}

replication::TopicSettings BrokerServer::settingsOf(const metadata::Image& image, const std::string& topic) const {
  const auto config = this->config();
  const config::TopicConfig resolved = config::TopicConfig::resolve(image.configs.topic(topic), config->layers());
  return {.log = replication::toLogConfig(resolved, config->getInt("producer.id.expiration.ms")),
          .minInsyncReplicas = resolved.minInsyncReplicas,
          .leaderThrottled = resolved.leaderThrottledReplicas,
          .followerThrottled = resolved.followerThrottledReplicas};
}

// --- stop -----------------------------------------------------------------------------------------------------------

void BrokerServer::shutdown(platform::Duration timeout, platform::Task done) {
  lifecycle_->beginControlledShutdown(timeout, [this, done = std::move(done)]() mutable {
    server_->shutdown([this, done = std::move(done)]() mutable {
      metadataExecutor_->post([this, done = std::move(done)]() mutable {
        if (logsAre_ != Logs::Loading) return stopRoles(std::move(done));
        // Logs that are being opened are closed once they are.
        shared_.logs->stopLoading();
        afterLoading_ = [this, done = std::move(done)]() mutable { stopRoles(std::move(done)); };
      });
    });
  });
}

void BrokerServer::stopRoles(platform::Task done) {
  transactions_->stop();
  shares_->stop();
  deadLetters_->close();
  sharePersister_->close();
  latestOffsets_->close();
  groups_->stop();
  shareStates_->stop();
  replicas_->shutdown();
  lifecycle_->close();
  forwarding_->close();
  producerIds_->close();
  isrExecutor_->post([this] { alterPartitionChannel_->close(); });
  closeLogs(std::move(done));
}

void BrokerServer::endAfterAnswers(const std::string& reason) {
  server_->drain([&process = shared_.process, reason] { process.kill(reason); });
  // Nobody waits for a handler that hangs in the disk.
  controllerExecutor_->post([this, reason] {
    endTimer_ = controllerExecutor_->schedule(kLongestEnd, [this, reason] { shared_.process.kill(reason); });
  });
}

void BrokerServer::closeLogs(platform::Task done) {
  shared_.background->post([this, done = std::move(done)]() mutable {
    if (auto closed = shared_.logs->shutdown(lifecycle_->epoch()); !closed)
      shared_.process.log().error("broker", "the logs were not closed cleanly: {}", closed.error().message);
    done();
  });
}

}  // namespace tidemark::broker
