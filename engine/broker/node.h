#pragma once

#include <functional>
#include <memory>

#include "broker/broker_server.h"
#include "broker/controller_server.h"
#include "broker/shared.h"

namespace tidemark::broker {

/// One node of a cluster: broker, controller or both (process.roles), on one Process. Made, opened, started and
/// destroyed by its owner's thread; destroyed only once the Process is dead and awaited, or before start().
class Node {
 public:
  Node(platform::Process& process, events::Recorder& recorder, NodeOptions options);
  ~Node();

  /// Locks the directories, reads them, listens on every listener. Nothing runs yet.
  Result<void> open();
  /// The quorum, the controller and the broker begin.
  void start();

  /// The first half of a controlled stop: the broker hands over its partitions and closes its logs while its controller
  /// still votes. `done` runs on some executor of the node.
  void shutdownBroker(platform::Duration timeout, platform::Task done);
  /// The second: the controller resigns, the quorum's log is closed. Afterwards kill the Process.
  void shutdownController(platform::Duration timeout, platform::Task done);

  NodeId id() const noexcept { return shared_->self(); }
  Shared& shared() noexcept { return *shared_; }
  const Shared& shared() const noexcept { return *shared_; }
  /// Null for a pure controller.
  BrokerServer* broker() noexcept { return broker_.get(); }
  /// Null for a pure broker.
  ControllerServer* controller() noexcept { return controller_.get(); }

 private:
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<ControllerServer> controller_;
  std::unique_ptr<BrokerServer> broker_;
};

}  // namespace tidemark::broker
