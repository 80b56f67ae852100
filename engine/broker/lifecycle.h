#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/uuid.h"
#include "broker/controller_channel.h"
#include "metadata/image.h"
#include "platform/process.h"

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
  platform::Duration heartbeatInterval = std::chrono::seconds(2);  ///< broker.heartbeat.interval.ms
  /// The offset up to which this broker has applied the metadata log. Any thread.
  std::function<Offset()> metadataOffset;
  /// Whether logs are loaded and the image contains our registration. Any thread.
  std::function<bool(BrokerEpoch epoch)> ready;
  /// The controller says that our metadata is as new as it need be to load the logs by. Once, on the executor.
  std::function<void()> caughtUp;
  std::function<void(LifecycleState)> stateChanged;
};

/// Registers the broker with the controller and keeps it registered by heartbeats; Kafka's BrokerLifecycleManager. Lives
/// on its serial executor, over a connection of its own; the functions may be called on any thread.
class Lifecycle {
 public:
  Lifecycle(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find, LifecycleOptions options);
  ~Lifecycle();

  void start();
  /// Something that ready() asks for changed, or the controller did.
  void wake();
  /// Asks the controller to move leadership away; `done` when it did, or after `timeout`, on the executor.
  void beginControlledShutdown(platform::Duration timeout, platform::Task done);
  void close();

  /// −1 before the registration.
  BrokerEpoch epoch() const;
  LifecycleState state() const;

 private:
  void enter(LifecycleState state);
  void registerNow();
  void heartbeatNow();
  void heartbeatLater(platform::Duration after);
  void shutdownGranted();

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  const LifecycleOptions options_;
  const Uuid incarnation_;

  mutable Mutex mutex_;
  BrokerEpoch epoch_ GUARDED_BY(mutex_);
  LifecycleState state_ GUARDED_BY(mutex_) = LifecycleState::NotRunning;

  // Of the executor.
  ControllerChannel channel_;
  bool underWay_ = false;
  bool again_ = false;
  bool caughtUpTold_ = false;
  platform::Timer timer_;
  platform::Timer shutdownTimer_;
  platform::Task shutdownDone_;
};

}  // namespace tidemark::broker
