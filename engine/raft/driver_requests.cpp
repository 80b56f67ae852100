// Appends of this node's own, requests of others, and fetches that wait.

#include <algorithm>

#include "base/invariant.h"
#include "events/recorder.h"
#include "raft/driver.h"
#include "records/batch.h"

namespace tidemark::raft {
namespace {

/// Most fetches that wait at once; further ones are answered without data.
constexpr size_t kMaxParked = 4096;

template <class Answer>
Answer unavailable() {
  Answer answer;
  answer.topError = ErrorCode::BrokerNotAvailable;
  return answer;
}

}  // namespace

Result<Offset> RaftNode::Driver::append(LeaderEpoch epoch, std::vector<ByteVector> records) {
  bool wake = false;
  Offset last;
  {
    Lock lock(mutex_);
    TIDEMARK_ASSIGN(last, accumulator_.add(epoch, std::move(records)));
    if (!drainPosted_ || accumulator_.isFull()) wake = true;
    drainPosted_ = true;
  }
  if (wake) post([](Driver& self) { self.scheduleDrain(); });
  return last;
}

Result<Offset> RaftNode::Driver::nextAppendOffset(LeaderEpoch epoch) const {
  Lock lock(mutex_);
  if (accumulator_.epoch() != epoch)
    return fail(ErrorCode::NotController, fmt::format("this node does not lead epoch {} of the quorum", epoch));
  return accumulator_.nextOffset();
}

void RaftNode::Driver::scheduleDrain() {
  bool full = false;
  {
    Lock lock(mutex_);
    full = accumulator_.isFull();
  }
  if (full || config_.appendLinger <= Duration(0)) return drain();
  lingerTimer_ = executor_->schedule(config_.appendLinger, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->drain();
  });
}

void RaftNode::Driver::drain() {
  lingerTimer_.cancel();
  std::vector<ByteVector> batches;
  {
    Lock lock(mutex_);
    drainPosted_ = false;
    if (!accumulator_.isOpen()) return;
    batches = accumulator_.drain(wallMs());
  }
  if (batches.empty() || finished_ || !machine_.isLeader()) return;
  for (ByteVector& batch : batches) {
    const Offset promised = records::BatchHeader::read(batch.data()).baseOffset;
    const auto first = log_->appendAsLeader(batch, machine_.epoch());
    if (!first) return die(first.error());
    TIDEMARK_INVARIANT(*first == promised, fmt::format("promised offset {}, appended at {}", promised, *first));
  }
  publish();
  // Followers may have it before it is synced here; this node counts itself only afterwards.
  serveParked();
  if (!check(log_->sync())) return;
  input([this](const Moment& at, Effects& effects) { machine_.onLogSynced(at, effects); });
}

void RaftNode::Driver::onVote(VoteRequest request, Handler<VoteResponse> handler) {
  if (!started_ || finished_) return handler(unavailable<VoteResponse>());
  Effects effects;
  const VoteResponse answer = machine_.onVote(moment(), request, effects);
  perform(std::move(effects));
  requestPoll();
  if (finished_) return;
  if (answer.granted && !request.preVote)
    TIDEMARK_INVARIANT(
        stored_ && stored_->epoch == request.epoch && stored_->voted && stored_->voted->matches(request.candidate),
        fmt::format("K2: the vote for {} in epoch {} is not on disk", request.candidate, request.epoch));
  process_.log().info("raft", "{} {} {} of epoch {}", answer.granted ? "grants" : "refuses",
                      request.preVote ? "pre-vote to" : "vote to", request.candidate.id, request.epoch);
  if (recorder_ != nullptr) {
    if (answer.granted)
      recorder_->emit(events::VoteGranted{request.candidate.id, request.epoch, request.preVote});
    else
      recorder_->emit(events::VoteRefused{request.candidate.id, request.epoch, request.preVote});
  }
  handler(answer);
}

void RaftNode::Driver::onBeginQuorumEpoch(const BeginQuorumEpochRequest& request,
                                          Handler<BeginQuorumEpochResponse> handler) {
  if (!started_ || finished_) return handler(unavailable<BeginQuorumEpochResponse>());
  Effects effects;
  const auto answer = machine_.onBeginQuorumEpoch(moment(), request, effects);
  perform(std::move(effects));
  requestPoll();
  if (!finished_) handler(answer);
}

void RaftNode::Driver::onEndQuorumEpoch(const EndQuorumEpochRequest& request, Handler<EndQuorumEpochResponse> handler) {
  if (!started_ || finished_) return handler(unavailable<EndQuorumEpochResponse>());
  Effects effects;
  const auto answer = machine_.onEndQuorumEpoch(moment(), request, effects);
  perform(std::move(effects));
  requestPoll();
  if (!finished_) handler(answer);
}

void RaftNode::Driver::onFetch(FetchRequest request, Handler<FetchResponse> handler) {
  if (!started_ || finished_) return handler(unavailable<FetchResponse>());
  Effects effects;
  StateMachine::FetchVerdict verdict = machine_.onFetch(moment(), request, effects);
  if (verdict.read && verdict.mayWait && request.fetchOffset >= log_->endOffset() && parked_.size() < kMaxParked) {
    const MonotonicTime deadline = process_.clock().monotonic() + request.maxWait;
    parked_.push_back({std::move(request), std::move(verdict.answer), deadline, std::move(handler)});
  } else {
    answerFetch(request, std::move(verdict.answer), verdict.read, handler);
  }
  perform(std::move(effects));
  requestPoll();
}

void RaftNode::Driver::answerFetch(const FetchRequest& request, FetchResponse answer, bool read,
                                   Handler<FetchResponse>& handler) {
  if (read && request.fetchOffset < log_->endOffset()) {
    auto bytes = log_->read(request.fetchOffset, log_->endOffset(),
                            static_cast<size_t>(std::clamp(request.maxBytes, 1, config_.fetchMaxBytes)));
    if (bytes)
      answer.records = std::move(*bytes);
    else
      answer.error = bytes.error().code;
  }
  handler(std::move(answer));
}

void RaftNode::Driver::serveParked() {
  if (serving_ || parked_.empty() || finished_) return;
  serving_ = true;
  const MonotonicTime now = process_.clock().monotonic();
  // When the time of one is over, so is that of those with less than half of theirs left: fetches of several nodes then
  // come, wait and go together, and an idle quorum wakes up less often.
  const bool oneIsDue = std::ranges::any_of(parked_, [now](const Parked& parked) { return parked.deadline <= now; });
  for (auto at = parked_.begin(); at != parked_.end() && !finished_;) {
    const FetchRequest& request = at->request;
    const bool ready = log_->endOffset() > request.fetchOffset || !machine_.isLeader() ||
                       machine_.epoch() != request.currentLeaderEpoch ||
                       machine_.highWatermark().value_or(kNoOffset) > request.highWatermark;
    const Duration early = oneIsDue ? request.maxWait / 2 : Duration(0);
    if (!ready && now < at->deadline - early) {
      ++at;
      continue;
    }
    Parked parked = std::move(*at);
    at = parked_.erase(at);
    if (!ready) {
      // As it was judged when it came: waiting is no sign of life.
      parked.handler(std::move(parked.answer));
      continue;
    }
    Effects effects;
    StateMachine::FetchVerdict verdict = machine_.onFetch(moment(), parked.request, effects);
    answerFetch(parked.request, std::move(verdict.answer), verdict.read, parked.handler);
    perform(std::move(effects));
  }
  serving_ = false;
}

void RaftNode::Driver::failParked(ErrorCode error) {
  for (Parked& parked : std::exchange(parked_, {})) {
    parked.answer.error = error;
    parked.handler(std::move(parked.answer));
  }
}

void RaftNode::Driver::onFetchSnapshot(const FetchSnapshotRequest& request, Handler<FetchSnapshotResponse> handler) {
  if (!started_ || finished_) return handler(unavailable<FetchSnapshotResponse>());
  Effects effects;
  FetchSnapshotResponse answer = machine_.onFetchSnapshot(moment(), request, effects);
  perform(std::move(effects));
  requestPoll();
  if (answer.topError == ErrorCode::None && answer.error == ErrorCode::None) {
    const auto snapshot = log_->openSnapshot(request.snapshotId);
    if (!snapshot) {
      answer.error = ErrorCode::SnapshotNotFound;
    } else if (request.position < 0 || static_cast<uint64_t>(request.position) >= (*snapshot)->sizeInBytes()) {
      answer.error = ErrorCode::PositionOutOfRange;
    } else {
      const uint64_t left = (*snapshot)->sizeInBytes() - static_cast<uint64_t>(request.position);
      const int32_t most = std::clamp(request.maxBytes, 1, config_.fetchSnapshotMaxBytes);
      ByteVector bytes(std::min<uint64_t>(left, static_cast<uint64_t>(most)));
      const auto got = (*snapshot)->readAt(static_cast<uint64_t>(request.position), bytes);
      answer.size = static_cast<int64_t>((*snapshot)->sizeInBytes());
      if (got && *got == bytes.size())
        answer.bytes = SharedBytes(std::move(bytes));
      else
        answer.error = ErrorCode::UnknownServerError;
    }
  }
  handler(std::move(answer));
}

Result<std::unique_ptr<SnapshotWriter>> RaftNode::Driver::createSnapshot(OffsetAndEpoch id,
                                                                         int64_t lastContainedLogTimestampMs) {
  const auto highWatermark = published().highWatermark;
  if (!highWatermark || id.offset > *highWatermark)
    return fail(ErrorCode::OffsetOutOfRange,
                fmt::format("a snapshot at {} would hold what is not committed", id.offset));
  const OffsetAndEpoch end = log_->endOffsetForEpoch(id.epoch);
  if (end.epoch != id.epoch || id.offset > end.offset)
    return fail(ErrorCode::InvalidRequest,
                fmt::format("K6: offset {} is not of epoch {}, which ends at {}", id.offset, id.epoch, end.offset));
  TIDEMARK_ASSIGN(auto raw, log_->createSnapshot(id));
  if (!raw) return nullptr;
  SnapshotWriter::Options options{.lastContainedLogTimestampMs = lastContainedLogTimestampMs, .nowMs = wallMs()};
  {
    Lock lock(mutex_);
    options.kraftVersion = voters_.kraftVersionAt(id.offset);
    options.voters = voters_.votersAt(id.offset);
  }
  return SnapshotWriter::create(std::move(raw), std::move(options), [weak = weak_from_this()](OffsetAndEpoch frozen) {
    if (const auto self = weak.lock()) self->post([frozen](Driver& driver) { driver.onSnapshotFrozen(frozen); });
  });
}

void RaftNode::Driver::onSnapshotFrozen(OffsetAndEpoch id) {
  if (finished_) return;
  process_.log().info("raft", "has snapshot {}", snapshotFileName(id));
  if (recorder_ != nullptr) {
    const auto raw = log_->openSnapshot(id);
    const int64_t size = raw ? static_cast<int64_t>((*raw)->sizeInBytes()) : 0;
    recorder_->emit(events::SnapshotTaken{id.offset, id.epoch, size});
  }
  if (check(applyRetention())) publish();
}

Result<void> RaftNode::Driver::applyRetention() {
  std::vector<OffsetAndEpoch> ids = log_->snapshotIds();
  uint64_t snapshotBytes = 0;
  std::vector<uint64_t> sizes;
  for (const OffsetAndEpoch& id : ids) {
    TIDEMARK_ASSIGN(const auto raw, log_->openSnapshot(id));
    sizes.push_back(raw->sizeInBytes());
    snapshotBytes += sizes.back();
  }
  // The newest one always stays.
  size_t kept = 0;
  for (; kept + 1 < ids.size(); ++kept) {
    const bool tooMuch = config_.retentionBytes >= 0 &&
                         log_->sizeInBytes() + snapshotBytes > static_cast<uint64_t>(config_.retentionBytes);
    bool tooOld = false;
    if (!tooMuch && config_.retention >= milliseconds(0)) {
      TIDEMARK_ASSIGN(auto raw, log_->openSnapshot(ids[kept]));
      TIDEMARK_ASSIGN(const auto reader, RecordsSnapshotReader::open(std::move(raw)));
      tooOld = wallMs() - reader->lastContainedLogTimestampMs() > config_.retention.count();
    }
    if (!tooMuch && !tooOld) break;
    process_.log().info("raft", "deletes snapshot {}: {}", snapshotFileName(ids[kept]),
                        tooMuch ? "log and snapshots are larger than metadata.max.retention.bytes"
                                : "it is older than metadata.max.retention.ms");
    TIDEMARK_TRY(log_->deleteBefore(ids[kept + 1]));
    snapshotBytes -= sizes[kept];
  }
  if (kept > 0) {
    Lock lock(mutex_);
    voters_.forgetBelow(log_->startOffset());
  }
  return {};
}

}  // namespace tidemark::raft
