#pragma once

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "platform/process.h"
#include "raft/accumulator.h"
#include "raft/control_records.h"
#include "raft/invariants.h"
#include "raft/raft_node.h"
#include "raft/state_machine.h"

namespace tidemark::raft {

/// What a RaftNode does, on its executor: gives inputs to the state machine, carries out its effects, parks fetches,
/// feeds listeners. Tasks that are queued hold it; it lives as long as one of them.
///
/// A blocking call (a sync) may take longer than a timeout, and the message that would have reset the timer then waits
/// in the queue: so whenever the clock has passed a deadline, looking at it goes to the end of the queue once more.
class RaftNode::Driver : public std::enable_shared_from_this<RaftNode::Driver> {
 public:
  explicit Driver(Setup setup);

  // Any thread.
  void post(std::move_only_function<void(Driver&)> task);
  Result<Offset> append(LeaderEpoch epoch, std::vector<ByteVector> records);
  Result<std::unique_ptr<SnapshotWriter>> createSnapshot(OffsetAndEpoch id, int64_t lastContainedLogTimestampMs);

  // Before start, on the caller's thread.
  Result<void> open();

  // On the executor.
  void start();
  void stop();
  void shutdown(Duration timeout, platform::Task done);
  void addListener(std::shared_ptr<Listener> listener);
  void resign(LeaderEpoch epoch);
  void onVote(VoteRequest request, Handler<VoteResponse> handler);
  void onBeginQuorumEpoch(const BeginQuorumEpochRequest& request, Handler<BeginQuorumEpochResponse> handler);
  void onEndQuorumEpoch(const EndQuorumEpochRequest& request, Handler<EndQuorumEpochResponse> handler);
  void onFetch(FetchRequest request, Handler<FetchResponse> handler);
  void onFetchSnapshot(const FetchSnapshotRequest& request, Handler<FetchSnapshotResponse> handler);

  /// What other threads may know.
  struct Published {
    LeaderAndEpoch leader;
    bool isLeader = false;
    std::optional<Offset> highWatermark;
    Offset logEndOffset{0};
    std::optional<OffsetAndEpoch> latestSnapshot;
    std::vector<VoterEndpoint> leaderEndpoints;
    QuorumDescription description;
  };
  Published published() const {
    Lock lock(mutex_);
    return published_;
  }
  std::optional<LeaderEpoch> accumulatorEpoch() const {
    Lock lock(mutex_);
    return accumulator_.epoch();
  }
  Result<Offset> nextAppendOffset(LeaderEpoch epoch) const;
  const NodeIdentity& identity() const noexcept { return identity_; }

 private:
  struct Parked {
    FetchRequest request;
    FetchResponse answer;
    MonotonicTime deadline;
    Handler<FetchResponse> handler;
  };
  struct Follower {
    std::shared_ptr<Listener> listener;
    /// The next offset it expects; nothing while it is new.
    std::optional<Offset> next;
    std::optional<LeaderAndEpoch> told;
  };

  Moment moment();
  int64_t wallMs() const { return process_.clock().wallMs(); }
  /// A write or a sync failed: the process must not go on.
  void die(const Error& error);
  bool check(const Result<void>& result);

  // Inputs and time.
  template <class Input>
  void input(Input&& give);
  void perform(Effects effects);
  void requestPoll();
  void pollTask(bool again);
  void armTimer();
  void publish();
  void publishDescription();

  // Effects.
  void carryOut(PersistElection& effect, Effects& more);
  void carryOut(Send& effect, Effects& more);
  void carryOut(RoleChanged& effect, Effects& more);
  void carryOut(BeginLeaderEpoch& effect, Effects& more);
  void carryOut(AppendFetched& effect, Effects& more);
  void carryOut(TruncateLog& effect, Effects& more);
  void carryOut(StartSnapshot& effect, Effects& more);
  void carryOut(AppendSnapshot& effect, Effects& more);
  void carryOut(FinishSnapshot& effect, Effects& more);
  void carryOut(DropSnapshot& effect, Effects& more);
  void carryOut(HighWatermarkAdvanced& effect, Effects& more);
  void onVotersChanged(Effects& more);
  Result<void> loadVoters();

  // Appends.
  void drain();
  void scheduleDrain();

  // Fetches that wait.
  void answerFetch(const FetchRequest& request, FetchResponse answer, bool read, Handler<FetchResponse>& handler);
  void serveParked();
  void failParked(ErrorCode error);

  // Listeners.
  void feedListeners();
  /// Whether there is more to give.
  bool feed(Follower& follower);
  void loadSnapshot(Follower& follower, OffsetAndEpoch id);
  void tellLeader(Follower& follower);

  void onSnapshotFrozen(OffsetAndEpoch id);
  /// Deletes old snapshots and what the log holds below the oldest one kept, by size and by age.
  Result<void> applyRetention();
  void maybeFinishShutdown();
  void finish();

  const NodeIdentity identity_;
  const RaftConfig config_;
  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  events::Recorder* const recorder_;

  // On the executor only.
  const std::unique_ptr<RaftLog> log_;
  const std::unique_ptr<QuorumStateStore> store_;
  const std::unique_ptr<RaftTransport> transport_;
  StateMachine machine_;
  std::optional<ElectionState> stored_;
  NodeHistory history_;
  std::list<Parked> parked_;
  std::vector<std::unique_ptr<Follower>> followers_;
  std::unique_ptr<RawSnapshotWriter> receiving_;
  platform::Timer timer_;
  platform::Timer lingerTimer_;
  bool started_ = false;
  bool finished_ = false;
  std::deque<Effect> effects_;
  bool performing_ = false;
  bool serving_ = false;
  std::optional<MonotonicTime> armedFor_;
  bool pollPosted_ = false;
  bool feedPosted_ = false;
  std::optional<MonotonicTime> shutdownDeadline_;
  platform::Task shutdownDone_;

  mutable Mutex mutex_;
  Published published_ GUARDED_BY(mutex_);
  Accumulator accumulator_ GUARDED_BY(mutex_);
  bool drainPosted_ GUARDED_BY(mutex_) = false;
  VoterHistory voters_ GUARDED_BY(mutex_);
};

template <class Input>
void RaftNode::Driver::input(Input&& give) {
  if (!started_ || finished_) return;
  Effects effects;
  give(moment(), effects);
  perform(std::move(effects));
  requestPoll();
}

}  // namespace tidemark::raft
