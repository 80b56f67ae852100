#include "broker/lifecycle.h"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/broker_heartbeat_request.h"
#include "protocol/generated/broker_heartbeat_response.h"
#include "protocol/generated/broker_registration_request.h"
#include "protocol/generated/broker_registration_response.h"

namespace tidemark::broker {

Lifecycle::Lifecycle(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find,
                     LifecycleOptions options)
    : process_(process),
      executor_(std::move(executor)),
      options_(std::move(options)),
      incarnation_(process.random().uuid()),
      previousEpoch_(options_.previousEpoch),
      channel_(
          process, executor_, std::move(find),
          {.clientId = fmt::format("broker-{}-lifecycle", options_.self), .requestTimeout = std::chrono::seconds(4)}) {}

Lifecycle::~Lifecycle() = default;

BrokerEpoch Lifecycle::epoch() const {
  Lock lock(mutex_);
  return epoch_;
}

LifecycleState Lifecycle::state() const {
  Lock lock(mutex_);
  return state_;
}

void Lifecycle::enter(LifecycleState state) {
  {
    Lock lock(mutex_);
    if (state_ == state) return;
    state_ = state;
  }
  if (options_.stateChanged) options_.stateChanged(state);
}

void Lifecycle::start() {
  executor_->post([this] {
    enter(LifecycleState::Starting);
    registerNow();
  });
}

void Lifecycle::registerAsUnclean() {
  executor_->post([this] {
    if (state() != LifecycleState::Starting && state() != LifecycleState::Recovery) return;
    incarnation_ = process_.random().uuid();
    previousEpoch_ = BrokerEpoch();
    timer_.cancel();
    enter(LifecycleState::Starting);
    registerNow();
  });
}

void Lifecycle::registerNow() {
  protocol::BrokerRegistrationRequest request;
  request.brokerId = options_.self.value();
  request.clusterId = protocol::Text(options_.clusterId);
  request.incarnationId = incarnation_;
  for (const metadata::Endpoint& endpoint : options_.listeners)
    request.listeners.push_back({.name = protocol::Text(endpoint.name),
                                 .host = protocol::Text(endpoint.host),
                                 .port = endpoint.port,
                                 .securityProtocol = endpoint.securityProtocol});
  for (const metadata::FeatureDefinition& feature : metadata::knownFeatures())
    request.features.push_back({.name = protocol::Text(std::string(feature.name)),
                                .minSupportedVersion = feature.minSupported,
                                .maxSupportedVersion = feature.maxSupported});
  if (options_.rack) request.rack = protocol::Text(*options_.rack);
  request.logDirs = options_.logDirectories;
  request.previousBrokerEpoch = previousEpoch_.value();
  channel_.send(std::move(request), [this](Result<protocol::BrokerRegistrationResponse> response) {
    const auto error = response ? static_cast<ErrorCode>(response->errorCode) : response.error().code;
    if (response && error == ErrorCode::UnsupportedVersion) {
      endUnsupported();
      return;
    }
    if (error == ErrorCode::None) {
      {
        Lock lock(mutex_);
        epoch_ = BrokerEpoch(response->brokerEpoch);
      }
      process_.log().info("lifecycle", "broker {} is registered, epoch {}", options_.self, response->brokerEpoch);
      enter(LifecycleState::Recovery);
      heartbeatNow();
      return;
    }
    if (error == ErrorCode::InconsistentClusterId || error == ErrorCode::UnsupportedVersion ||
        error == ErrorCode::InvalidRegistration) {
      process_.kill(fmt::format("the controller refuses broker {}: {}{}", options_.self, errorName(error),
                                response ? "" : ", " + response.error().message));
      return;
    }
    // DUPLICATE_BROKER_REGISTRATION: the controller still believes in our last incarnation, for a session at most.
    process_.log().info("lifecycle", "broker {} is not registered yet: {}", options_.self, errorName(error));
    timer_ = executor_->schedule(std::chrono::milliseconds(100), [this] { registerNow(); });
  });
}

/// The answer has a code and no words: the levels of the features are asked for.
void Lifecycle::endUnsupported() {
  protocol::ApiVersionsRequest request;
  request.clientSoftwareName = protocol::Text("tidemark");
  request.clientSoftwareVersion = protocol::Text("broker");
  channel_.send(std::move(request), [this](Result<protocol::ApiVersionsResponse> response) {
    const std::string reasons = response ? unsupportedFeatures(*response, metadata::knownFeatures()) : std::string();
    process_.kill(fmt::format("the controller refuses broker {}: {}{}{}", options_.self,
                              errorName(ErrorCode::UnsupportedVersion), reasons.empty() ? "" : ", ", reasons));
  });
}

std::string unsupportedFeatures(const protocol::ApiVersionsResponse& controller,
                                std::span<const metadata::FeatureDefinition> ours) {
  std::string text;
  for (const auto& feature : controller.finalizedFeatures) {
    const auto own = std::ranges::find(ours, feature.name.view(), &metadata::FeatureDefinition::name);
    const bool known = own != ours.end();
    const int16_t level = feature.maxVersionLevel;
    if (known ? level >= own->minSupported && level <= own->maxSupported : level == 0) continue;
    text +=
        fmt::format("{}the cluster is at {} {}, this broker supports {}", text.empty() ? "" : "; ", feature.name.view(),
                    level, known ? fmt::format("{} to {}", own->minSupported, own->maxSupported) : "no level of it");
  }
  return text;
}

void Lifecycle::heartbeatLater(platform::Duration after) {
  timer_ = executor_->schedule(after, [this] { heartbeatNow(); });
}

void Lifecycle::heartbeatNow() {
  if (underWay_) {
    again_ = true;
    return;
  }
  const LifecycleState now = state();
  const BrokerEpoch epoch = this->epoch();
  const bool shutDown = now == LifecycleState::ControlledShutdown;
  protocol::BrokerHeartbeatRequest request;
  request.brokerId = options_.self.value();
  request.brokerEpoch = epoch.value();
  request.currentMetadataOffset = options_.metadataOffset().value();
  request.wantFence = now == LifecycleState::Recovery && !options_.ready(epoch);
  request.wantShutDown = shutDown;
  for (const auto& [directory, failed] : failedDirectories_) request.offlineLogDirs.push_back(directory);
  request.cordonedLogDirs = cordonedDirectories_;
  underWay_ = true;
  again_ = false;
  const std::vector<Uuid> offline = request.offlineLogDirs;
  channel_.send(std::move(request), [this, shutDown, offline](Result<protocol::BrokerHeartbeatResponse> response) {
    underWay_ = false;
    // Of a registration that is being replaced.
    if (state() == LifecycleState::Starting) return;
    const auto error = response ? static_cast<ErrorCode>(response->errorCode) : response.error().code;
    if (error == ErrorCode::StaleBrokerEpoch && state() != LifecycleState::ControlledShutdown) {
      // Somebody unregistered us.
      registerNow();
      return;
    }
    if (error != ErrorCode::None) {
      heartbeatLater(options_.heartbeatInterval);
      return;
    }
    for (const Uuid& directory : offline) {
      FailedDirectory& failed = failedDirectories_[directory];
      failed.told = true;
      failed.deadline.cancel();
    }
    if (shutDown && response->shouldShutDown) {
      shutdownGranted();
      return;
    }
    if (response->isCaughtUp && !std::exchange(caughtUpTold_, true)) options_.caughtUp();
    if (state() == LifecycleState::Recovery && !response->isFenced) enter(LifecycleState::Running);
    if (again_) {
      heartbeatNow();
    } else {
      heartbeatLater(options_.heartbeatInterval);
    }
  });
}

void Lifecycle::wake() {
  executor_->post([this] {
    channel_.wake();
    if (state() == LifecycleState::Recovery) heartbeatNow();
  });
}

void Lifecycle::beginControlledShutdown(platform::Duration timeout, platform::Task done) {
  executor_->post([this, timeout, done = std::move(done)]() mutable {
    shutdownDone_ = std::move(done);
    if (state() != LifecycleState::Running) {
      shutdownGranted();
      return;
    }
    enter(LifecycleState::ControlledShutdown);
    shutdownTimer_ = executor_->schedule(timeout, [this] {
      process_.log().warning("lifecycle", "broker {}: the controller did not move all partitions in time",
                             options_.self);
      shutdownGranted();
    });
    heartbeatNow();
  });
}

void Lifecycle::shutdownGranted() {
  if (!shutdownDone_) return;
  enter(LifecycleState::ShuttingDown);
  shutdownTimer_.cancel();
  timer_.cancel();
  std::exchange(shutdownDone_, {})();
}

void Lifecycle::directoryFailed(const Uuid& directory) {
  executor_->post([this, directory] {
    const auto [failed, isNew] = failedDirectories_.try_emplace(directory);
    if (!isNew) return;
    failed->second.deadline = executor_->schedule(options_.directoryFailureTimeout, [this, directory] {
      if (!failedDirectories_[directory].told)
        process_.kill(fmt::format("the controller could not be told that the log directory {} is offline", directory));
    });
    heartbeatSoon();
  });
}

void Lifecycle::directoriesCordoned(std::vector<Uuid> directories) {
  std::ranges::sort(directories);
  executor_->post([this, directories = std::move(directories)]() mutable {
    cordonedDirectories_ = std::move(directories);
    heartbeatSoon();
  });
}

void Lifecycle::heartbeatSoon() {
  // Before the registration there is nobody to tell; a heartbeat follows it.
  if (state() == LifecycleState::Recovery || state() == LifecycleState::Running ||
      state() == LifecycleState::ControlledShutdown)
    heartbeatNow();
}

void Lifecycle::close() {
  executor_->post([this] {
    failedDirectories_.clear();
    timer_.cancel();
    shutdownTimer_.cancel();
    channel_.close();
  });
}

}  // namespace tidemark::broker
