#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "metadata/controller/raft_appender.h"
#include "metadata/controller/settings.h"
#include "metadata/publisher.h"
#include "metadata/records.h"
#include "platform/executor.h"

namespace tidemark::platform {
class Process;
}
namespace tidemark::events {
class Recorder;
}

namespace tidemark::metadata {

/// What anyone may know of a node's controller.
struct ControllerStatus {
  bool active = false;
  LeaderEpoch epoch;
  /// The last record it appended, and the last that it knows to be committed.
  Offset lastAppended;
  Offset lastCommitted;
  /// Answers that wait for a commit.
  size_t pending = 0;
  /// Of an active controller: when each broker was last heard of, and how long it may be silent.
  std::vector<std::pair<NodeId, platform::MonotonicTime>> contacts;
  platform::Duration sessionTimeout{};
};

/// Runs the quorum controller of one node: a serial event queue around the pure handlers of this folder.
///
/// It stands by until the quorum elects this node. Then it starts from the committed image, appends what activation
/// needs, and serves: a handler's records are appended and replayed into its own image at once, its answer is given
/// when they are committed. When leadership is lost, pending answers become NotController and the image the committed
/// one. Timers: sessions of brokers (armed for the exact next deadline) and the NoOpRecord of an idle log.
///
/// A Publisher of the node's Loader (remove it there before destroying this). Public functions: any thread.
class ControllerDriver final : public Publisher {
 public:
  struct Setup {
    ControllerSettings settings;
    /// Outlives every task of the executor.
    RaftAppender* appender = nullptr;
    platform::Process* process = nullptr;
    /// Serial, the controller's own.
    std::shared_ptr<platform::Executor> executor;
    /// Told of registrations and fencing when they are appended, of topics and leaders when they are committed; may be
    /// null. Outlives every task of the executor.
    events::Recorder* recorder = nullptr;
    /// For an empty log, if the node has no bootstrap snapshot.
    Records bootstrap;
    /// Compare the own image with the committed one whenever all is committed (invariant K10): for tests, O(cluster).
    bool verifyImages = false;
  };

  explicit ControllerDriver(Setup setup);
  ~ControllerDriver() override;

  template <class Response>
  using ResponseHandler = std::move_only_function<void(Result<Response>)>;

  /// Handles a request of the given version. The handler runs on the controller's executor, once, unless the Process
  /// dies or the driver is destroyed. Errors are for the request as a whole (NotController: ask the new controller);
  /// errorResponse() puts one into an answer. `request` is copied. Served: BrokerRegistration, BrokerHeartbeat,
  /// UnregisterBroker, ControllerRegistration, UnregisterController, CreateTopics, DeleteTopics, CreatePartitions,
  /// AlterPartition, AssignReplicasToDirs, ElectLeaders, AlterConfigs, IncrementalAlterConfigs, UpdateFeatures,
  /// AllocateProducerIds.
  template <class Request>
  void submit(const Request& request, int16_t version, ResponseHandler<typename Request::Response> handler);

  ControllerStatus status() const;

  // Publisher, on the loader's executor.
  std::string name() const override { return "controller"; }
  void onUpdate(const Delta&, ImagePtr) override {}
  void onCommitted(const CommittedState& state) override;
  void onLeaderChange(const raft::LeaderAndEpoch& leader, const CommittedState& state) override;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::metadata
