#include "raft/driver.h"

#include "base/invariant.h"
#include "base/mutation.h"
#include "events/recorder.h"
#include "records/batch.h"

namespace tidemark::raft {
namespace {

/// The name in log lines.
constexpr std::string_view kComponent = "raft";
/// Bytes of the log that are looked through at once at start.
constexpr size_t kScanBytes = 1024 * 1024;

}  // namespace

RaftNode::Driver::Driver(Setup setup)
    : identity_(std::move(setup.identity)),
      config_(std::move(setup.config)),
      process_(*setup.process),
      executor_(std::move(setup.executor)),
      recorder_(setup.recorder),
      log_(std::move(setup.log)),
      store_(std::move(setup.store)),
      transport_(std::move(setup.transport)),
      machine_({{identity_.id, identity_.directoryId},
                identity_.clusterId,
                identity_.controllerListener,
                identity_.endpoints},
               config_, *log_),
      voters_(std::move(setup.staticVoters)) {}

void RaftNode::Driver::post(std::move_only_function<void(Driver&)> task) {
  executor_->post([self = shared_from_this(), task = std::move(task)]() mutable { task(*self); });
}

Moment RaftNode::Driver::moment() {
  return {process_.clock().monotonic(), wallMs(), process_.random().next()};
}

void RaftNode::Driver::die(const Error& error) {
  if (std::exchange(finished_, true)) return;
  process_.log().error(kComponent, "the metadata log or quorum-state cannot be written: {}", error.message);
  process_.kill(fmt::format("the metadata log or quorum-state cannot be written: {}", error.message));
}

bool RaftNode::Driver::check(const Result<void>& result) {
  if (!result) die(result.error());
  return result.has_value();
}

Result<void> RaftNode::Driver::loadVoters() {
  VoterHistory history = [this] {
    Lock lock(mutex_);
    return voters_;
  }();
  if (const auto latest = log_->latestSnapshotId()) {
    TIDEMARK_ASSIGN(auto raw, log_->openSnapshot(*latest));
    TIDEMARK_ASSIGN(const auto reader, RecordsSnapshotReader::open(std::move(raw)));
    history.reset(*latest, reader->header());
  }
  for (Offset at = log_->startOffset(); at < log_->endOffset();) {
    TIDEMARK_ASSIGN(const SharedBytes bytes, log_->read(at, log_->endOffset(), kScanBytes));
    TIDEMARK_TRY(history.add(bytes.view()));
    Offset next = at;
    for (records::BatchCursor cursor(bytes.view()); cursor.next() == records::Step::Next;)
      next = cursor.batch().header.nextOffset();
    if (next == at) return fail(ErrorCode::CorruptMessage, fmt::format("the metadata log cannot be read at {}", at));
    at = next;
  }
  Lock lock(mutex_);
  voters_ = std::move(history);
  return {};
}

Result<void> RaftNode::Driver::open() {
  TIDEMARK_ASSIGN(stored_, store_->read());
  TIDEMARK_TRY(loadVoters());
  Effects none;
  onVotersChanged(none);
  publish();
  publishDescription();
  return {};
}

void RaftNode::Driver::start() {
  if (started_ || finished_) return;
  started_ = true;
  Effects effects;
  const Moment at = moment();
  VoterSet voters = [this] {
    Lock lock(mutex_);
    return voters_.voters();
  }();
  process_.log().info(kComponent, "starts as {} of {} voter{}, epoch {}, log end {}",
                      voters.isVoter(machine_.identity().self) ? "one" : "an observer", voters.size(),
                      voters.size() == 1 ? "" : "s", stored_ ? stored_->epoch.value() : 0, log_->endOffset());
  machine_.setVoters(at, std::move(voters), effects);
  machine_.start(at, stored_, effects);
  perform(std::move(effects));
  requestPoll();
}

void RaftNode::Driver::stop() {
  finished_ = true;
  timer_.cancel();
  lingerTimer_.cancel();
  parked_.clear();
  followers_.clear();
}

void RaftNode::Driver::perform(Effects effects) {
  for (Effect& effect : effects) effects_.push_back(std::move(effect));
  if (performing_) return;
  performing_ = true;
  while (!effects_.empty() && !finished_) {
    Effect effect = std::move(effects_.front());
    effects_.pop_front();
    Effects more;
    std::visit([&](auto& what) { carryOut(what, more); }, effect);
    for (Effect& next : more) effects_.push_back(std::move(next));
  }
  performing_ = false;
  if (finished_) return;
  publish();
  serveParked();
  feedListeners();
}

void RaftNode::Driver::requestPoll() {
  if (std::exchange(pollPosted_, true)) return;
  post([](Driver& self) { self.pollTask(false); });
}

void RaftNode::Driver::pollTask(bool again) {
  if (!started_ || finished_) return;
  if (!again && machine_.nextDeadline() <= process_.clock().monotonic())
    return post([](Driver& self) { self.pollTask(true); });
  pollPosted_ = false;
  Effects effects;
  machine_.poll(moment(), effects);
  perform(std::move(effects));
  if (finished_) return;
  history_.observe(machine_, stored_.value_or(ElectionState{}));
  publishDescription();
  maybeFinishShutdown();
  if (!finished_) armTimer();
}

void RaftNode::Driver::armTimer() {
  MonotonicTime deadline = machine_.nextDeadline();
  for (const Parked& parked : parked_) deadline = std::min(deadline, parked.deadline);
  if (shutdownDeadline_) deadline = std::min(deadline, *shutdownDeadline_);
  if (armedFor_ == deadline) return;
  armedFor_ = deadline;
  if (deadline == MonotonicTime::max()) return timer_.cancel();
  const Duration after = std::max(deadline - process_.clock().monotonic(), Duration(0));
  timer_ = executor_->schedule(after, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->finished_) return;
    self->armedFor_.reset();
    self->serveParked();
    self->requestPoll();
  });
}

void RaftNode::Driver::publish() {
  Published now;
  now.leader = machine_.leaderAndEpoch();
  now.isLeader = machine_.isLeader();
  now.highWatermark = machine_.highWatermark();
  now.logEndOffset = log_->endOffset();
  now.latestSnapshot = log_->latestSnapshotId();
  now.leaderEndpoints = machine_.leaderEndpoints();
  Lock lock(mutex_);
  now.description = std::move(published_.description);
  published_ = std::move(now);
}

void RaftNode::Driver::publishDescription() {
  QuorumDescription description = machine_.describe(wallMs());
  Lock lock(mutex_);
  published_.description = std::move(description);
}

void RaftNode::Driver::carryOut(PersistElection& effect, Effects&) {
  if (isMutated(Mutation::VoteNotKept) || check(store_->write(effect.state))) stored_ = effect.state;
}

void RaftNode::Driver::carryOut(Send& effect, Effects&) {
  transport_->send(effect.to, effect.endpoint, std::move(effect.request), config_.requestTimeout,
                   [weak = weak_from_this(), to = effect.to, id = effect.correlation](Result<Response> response) {
                     if (const auto self = weak.lock())
                       self->input([&](const Moment& at, Effects& effects) {
                         self->machine_.onResponse(at, to, id, response, effects);
                       });
                   });
}

void RaftNode::Driver::carryOut(RoleChanged& effect, Effects&) {
  process_.log().info(kComponent, "{} → {}, {}", roleName(effect.from), roleName(effect.to), effect.leader);
  receiving_.reset();
  if (effect.from == RoleName::Leader) {
    {
      Lock lock(mutex_);
      accumulator_.close();
    }
    check(log_->sync());
  }
  if (recorder_ == nullptr) return;
  switch (effect.to) {
    case RoleName::Prospective:
      recorder_->emit(events::PreVoteStarted{effect.leader.epoch});
      break;
    case RoleName::Candidate:
      recorder_->emit(events::ElectionStarted{effect.leader.epoch});
      break;
    default:
      recorder_->emit(events::QuorumLeaderChanged{effect.leader.leader, effect.leader.epoch});
      break;
  }
}

void RaftNode::Driver::carryOut(BeginLeaderEpoch& effect, Effects& more) {
  const auto append = [&]() -> Result<void> {
    std::optional<VoterSet> voters;
    {
      Lock lock(mutex_);
      if (voters_.kraftVersion() > 0 && voters_.fromBootstrapSnapshot()) voters = voters_.voters();
    }
    TIDEMARK_TRY(log_->beginEpoch(effect.epoch));
    TIDEMARK_ASSIGN(ByteVector batch,
                    buildLeaderChangeBatch(identity_.id, effect, voters ? &*voters : nullptr, wallMs()));
    TIDEMARK_TRY(log_->appendAsLeader(batch, effect.epoch));
    TIDEMARK_TRY(log_->sync());
    Lock lock(mutex_);
    TIDEMARK_TRY(voters_.add(batch));
    accumulator_.open(effect.epoch, log_->endOffset());
    return {};
  };
  if (check(append())) machine_.onLogSynced(moment(), more);
}

void RaftNode::Driver::carryOut(AppendFetched& effect, Effects& more) {
  if (!effect.records.empty()) {
    if (auto appended = log_->appendAsFollower(effect.records.view()); !appended) {
      if (appended.error().code != ErrorCode::CorruptMessage) return die(appended.error());
      process_.log().warning(kComponent, "what the leader sent is not appended: {}", appended.error().message);
    } else {
      if (!isMutated(Mutation::FollowerDoesNotSync) && !check(log_->sync())) return;
      bool changed = false;
      {
        Lock lock(mutex_);
        auto added = voters_.add(effect.records.view());
        changed = added.value_or(true);
      }
      if (changed) onVotersChanged(more);
    }
  }
  machine_.onFetched(moment(), effect.leaderHighWatermark, more);
}

void RaftNode::Driver::carryOut(TruncateLog& effect, Effects& more) {
  process_.log().info(kComponent, "truncates the metadata log to {}", effect.offset);
  if (!check(log_->truncateTo(effect.offset)) || !check(log_->sync())) return;
  {
    Lock lock(mutex_);
    voters_.truncateFrom(effect.offset);
  }
  onVotersChanged(more);
}

void RaftNode::Driver::onVotersChanged(Effects& more) {
  VoterSet voters = [this] {
    Lock lock(mutex_);
    return voters_.voters();
  }();
  machine_.setVoters(moment(), std::move(voters), more);
}

void RaftNode::Driver::carryOut(StartSnapshot& effect, Effects& more) {
  auto writer = log_->createSnapshot(effect.id);
  if (!writer) return die(writer.error());
  receiving_ = std::move(*writer);
  if (receiving_) {
    process_.log().info(kComponent, "fetches snapshot {}", snapshotFileName(effect.id));
    return;
  }
  FinishSnapshot finish{effect.id};
  carryOut(finish, more);
}

void RaftNode::Driver::carryOut(AppendSnapshot& effect, Effects&) {
  if (receiving_) check(receiving_->append(effect.bytes.view()));
}

void RaftNode::Driver::carryOut(FinishSnapshot& effect, Effects& more) {
  const auto install = [&]() -> Result<void> {
    if (receiving_) TIDEMARK_TRY(receiving_->freeze());
    receiving_.reset();
    TIDEMARK_TRY(log_->truncateToLatestSnapshot());
    return loadVoters();
  };
  if (!check(install())) return;
  onVotersChanged(more);
  machine_.onSnapshotInstalled(moment(), effect.id, more);
}

void RaftNode::Driver::carryOut(DropSnapshot&, Effects&) {
  receiving_.reset();
}

void RaftNode::Driver::carryOut(HighWatermarkAdvanced& effect, Effects&) {
  log_->updateHighWatermark(effect.offset);
}

void RaftNode::Driver::resign(LeaderEpoch epoch) {
  machine_.resign(epoch);
  requestPoll();
}

void RaftNode::Driver::shutdown(Duration timeout, platform::Task done) {
  shutdownDone_ = std::move(done);
  if (finished_ || !started_) return finish();
  shutdownDeadline_ = process_.clock().monotonic() + timeout;
  machine_.beginShutdown();
  {
    Lock lock(mutex_);
    accumulator_.close();
  }
  requestPoll();
}

void RaftNode::Driver::maybeFinishShutdown() {
  if (!shutdownDeadline_) return;
  if (machine_.isShutdownComplete() || process_.clock().monotonic() >= *shutdownDeadline_) finish();
}

void RaftNode::Driver::finish() {
  failParked(ErrorCode::BrokerNotAvailable);
  if (!std::exchange(finished_, true)) {
    transport_->close();
    if (auto closed = log_->close(); !closed)
      process_.log().error(kComponent, "the metadata log did not close: {}", closed.error().message);
    for (const auto& follower : followers_) follower->listener->onShutdown();
  }
  timer_.cancel();
  lingerTimer_.cancel();
  if (shutdownDone_) std::exchange(shutdownDone_, {})();
}

}  // namespace tidemark::raft
