#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/uuid.h"
#include "broker/controller_channel.h"
#include "metadata/features.h"
#include "metadata/image.h"
#include "platform/process.h"
#include "protocol/generated/api_versions_response.h"

namespace tidemark::broker {

/// Where a broker stands with the controller.
enum class LifecycleState : uint8_t {
  NotRunning,
  Starting,            ///< not registered yet
  Recovery,            ///< registered, fenced: its logs or its metadata are not ready
  Running,             ///< unfenced
  ControlledShutdown,  ///< waits for its partitions to be led by others
  ShuttingDown,
};

struct LifecycleOptions {
  NodeId self;
  std::string clusterId;
  std::vector<metadata::Endpoint> listeners;
  std::optional<std::string> rack;
  std::vector<Uuid> logDirectories;
  /// Of the last clean stop; −1: there was none.
  BrokerEpoch previousEpoch{};
  /// log.dir.failure.timeout.ms: within that time the controller must have heard of a directory that failed.
  platform::Duration directoryFailureTimeout = std::chrono::seconds(30);
  platform::Duration heartbeatInterval = std::chrono::seconds(2);  ///< broker.heartbeat.interval.ms
  /// The offset up to which this broker has applied the metadata log. Any thread.
  std::function<Offset()> metadataOffset;
  /// Whether logs are loaded and the image contains our registration. Any thread.
  std::function<bool(BrokerEpoch epoch)> ready;
  /// The controller says that our metadata is as new as it need be to load the logs by. Once, on the executor.
  std::function<void()> caughtUp;
  std::function<void(LifecycleState)> stateChanged;
};

/// Which levels of the cluster's features a broker with features `ours` does not have, in words: "the cluster is at
/// metadata.version 33, this broker supports 7 to 27"; empty if there is none.
std::string unsupportedFeatures(const protocol::ApiVersionsResponse& controller,
                                std::span<const metadata::FeatureDefinition> ours);

/// Registers the broker with the controller and keeps it registered by heartbeats; Kafka's BrokerLifecycleManager.
/// Lives on its serial executor, over a connection of its own; the functions may be called on any thread.
class Lifecycle {
 public:
  Lifecycle(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find,
            LifecycleOptions options);
  ~Lifecycle();

  void start();
  /// The logs hold less than at the clean stop that the registration told of: registers once more, as an incarnation
  /// that was not stopped cleanly, so that the controller does not count on what is lost (KIP-966). ready() is not to
  /// accept the epoch before.
  void registerAsUnclean();
  /// Something that ready() asks for changed, or the controller did.
  void wake();
  /// Asks the controller to move leadership away; `done` when it did, or after `timeout`, on the executor.
  void beginControlledShutdown(platform::Duration timeout, platform::Task done);
  void close();
  /// A log directory went offline: told to the controller with the next heartbeat, which is sent at once. A broker that
  /// cannot tell it in time stops for good: others must not believe that it serves what it lost.
  void directoryFailed(const Uuid& directory);
  /// These directories, and no others, are cordoned: told with each heartbeat from now on.
  void directoriesCordoned(std::vector<Uuid> directories);

  /// −1 before the registration.
  BrokerEpoch epoch() const;
  LifecycleState state() const;

 private:
  void enter(LifecycleState state);
  void registerNow();
  void endUnsupported();
  void heartbeatNow();
  /// Now, if the broker is registered.
  void heartbeatSoon();
  void heartbeatLater(platform::Duration after);
  void shutdownGranted();

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  const LifecycleOptions options_;

  mutable Mutex mutex_;
  BrokerEpoch epoch_ GUARDED_BY(mutex_);
  LifecycleState state_ GUARDED_BY(mutex_) = LifecycleState::NotRunning;

  // Of the executor.
  Uuid incarnation_;
  BrokerEpoch previousEpoch_;
  ControllerChannel channel_;
  bool underWay_ = false;
  bool again_ = false;
  bool caughtUpTold_ = false;
  platform::Timer timer_;
  platform::Timer shutdownTimer_;
  struct FailedDirectory {
    bool told = false;
    platform::Timer deadline;
  };
  std::map<Uuid, FailedDirectory> failedDirectories_;
  /// Sorted. Nothing: not known yet, or the cluster's metadata.version knows of none.
  std::optional<std::vector<Uuid>> cordonedDirectories_;
  platform::Task shutdownDone_;
};

}  // namespace tidemark::broker
