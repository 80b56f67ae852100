#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "platform/executor.h"
#include "raft/config.h"
#include "raft/listener.h"
#include "raft/messages.h"
#include "raft/quorum_state_store.h"
#include "raft/raft_log.h"
#include "raft/snapshot.h"
#include "raft/transport.h"
#include "raft/types.h"

namespace tidemark::platform {
class Process;
}
namespace tidemark::events {
class Recorder;
}

namespace tidemark::raft {

/// Who this node is.
struct NodeIdentity {
  NodeId id;
  /// Of the metadata log directory (meta.properties).
  Uuid directoryId;
  std::string clusterId;
  /// The first of controller.listener.names: which of a voter's endpoints we connect to.
  std::string controllerListener = "CONTROLLER";
  /// Where this node's controller listeners are reached; empty for a pure broker.
  std::vector<VoterEndpoint> endpoints;
};

/// One replica of the metadata log, voter or observer: the driver of the state machine. It runs on one serial executor
/// that is its own; the public functions may be called on any thread unless they say otherwise. Time, random and log
/// come from the Process; after the Process died nothing runs and the owner destroys the node.
///
/// A failed write or sync of the log or of quorum-state kills the Process: what was promised could be lost.
class RaftNode {
 public:
  struct Setup {
    NodeIdentity identity;
    RaftConfig config;
    std::unique_ptr<RaftLog> log;
    std::unique_ptr<QuorumStateStore> store;
    std::unique_ptr<RaftTransport> transport;
    platform::Process* process = nullptr;
    std::shared_ptr<platform::Executor> executor;
    /// Null: nobody looks.
    events::Recorder* recorder = nullptr;
    /// controller.quorum.voters, for a quorum of kraft.version 0; otherwise empty, voters come from snapshot and log.
    VoterSet staticVoters;
  };

  explicit RaftNode(Setup setup);
  ~RaftNode();
  RaftNode(const RaftNode&) = delete;
  RaftNode& operator=(const RaftNode&) = delete;

  /// Reads quorum-state, the latest snapshot and the log. Before start(), on the caller's thread.
  Result<void> open();
  /// Begins to take part.
  void start();
  /// Graceful: a leader resigns, tells the voters, and waits for another to be elected, at most `timeout`. `done` runs
  /// on the node's executor; the log is closed then and nothing is answered any more.
  void shutdown(Duration timeout, platform::Task done);

  /// The listener is first given the latest snapshot and all that is committed. Held until the node is destroyed.
  void registerListener(std::shared_ptr<Listener> listener);

  /// Appends framed metadata records, all in one batch (atomic), if this node leads `epoch`. Returns the offset of the
  /// last one at once; they reach the log after the linger, and onCommit once a majority holds them. Records appended
  /// by one thread keep their order. Errors: NotController if it does not lead or leads another epoch,
  /// RecordListTooLarge above kMaxBatchBytes, ThrottlingQuotaExceeded if too much waits to be appended.
  Result<Offset> append(LeaderEpoch epoch, std::vector<ByteVector> records);
  /// Where the next append() of the leader of `epoch` will land; NotController as there.
  Result<Offset> nextAppendOffset(LeaderEpoch epoch) const;
  /// Gives up leading `epoch` if it does.
  void resign(LeaderEpoch epoch);

  LeaderAndEpoch leaderAndEpoch() const;
  bool isLeader(LeaderEpoch epoch) const;
  /// Nothing until a leader told it.
  std::optional<Offset> highWatermark() const;
  Offset logEndOffset() const;
  VoterSet voters() const;
  std::optional<OffsetAndEpoch> latestSnapshotId() const;
  /// Where the leader's controller listener is, if known: whom a broker asks.
  std::optional<std::pair<NodeId, platform::Endpoint>> leaderEndpoint() const;
  QuorumDescription describe() const;

  // Requests of other nodes. Each handler runs on the node's executor, once, unless the node stops. `listener`: the one
  // the request came in on; its leader endpoints are put into the answer.
  template <class Answer>
  using Handler = std::move_only_function<void(Answer)>;
  void handle(VoteRequest request, Handler<VoteResponse> handler);
  void handle(BeginQuorumEpochRequest request, Handler<BeginQuorumEpochResponse> handler);
  void handle(EndQuorumEpochRequest request, Handler<EndQuorumEpochResponse> handler);
  /// Waits up to maxWait for data. The answer's records are whole batches.
  void handle(FetchRequest request, Handler<FetchResponse> handler);
  void handle(FetchSnapshotRequest request, Handler<FetchSnapshotResponse> handler);

  /// Begins a snapshot of everything below `id.offset`, which is committed; nothing if there is one already. The caller
  /// writes and freezes it on one thread of its choice; the node then cuts the log by its own rules. OffsetOutOfRange
  /// above the high watermark, InvalidRequest if `id` does not fit the epochs of the log (K6).
  Result<std::unique_ptr<SnapshotWriter>> createSnapshot(OffsetAndEpoch id, int64_t lastContainedLogTimestampMs);

 private:
  class Driver;
  std::shared_ptr<Driver> driver_;
};

}  // namespace tidemark::raft
