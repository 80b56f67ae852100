#include "broker/share/share_service_impl.h"

#include <algorithm>

#include <fmt/format.h>

#include "broker/share/share_reads.h"

// Fetches of share groups: what there is to acquire, and waiting for it.

namespace tidemark::broker {

/// A share fetch that waits for records. Used on the service's executor only.
class ShareService::Impl::DelayedShareFetch final : public purgatory::DelayedOperation {
 public:
  DelayedShareFetch(std::weak_ptr<Impl> impl, FetchRequest request, uint64_t session,
                    std::vector<TopicIdPartition> partitions, std::move_only_function<void(std::vector<Fetched>)> done)
      : DelayedOperation(request.maxWait),
        impl_(std::move(impl)),
        request_(std::move(request)),
        session_(session),
        partitions_(std::move(partitions)),
        done_(std::move(done)) {}

  std::string describe() const override {
    return fmt::format("share fetch of {} in {} of {} partitions", request_.session.member.memberId,
                       request_.session.member.groupId, partitions_.size());
  }

 protected:
  bool canComplete() override {
    const std::shared_ptr<Impl> impl = impl_.lock();
    if (!impl || !mayAcquire(*impl)) return true;
    fetched_ = impl->tryFetch(request_, partitions_, false);
    return fetched_.has_value();
  }
  void onComplete() override {
    if (!fetched_)
      if (const std::shared_ptr<Impl> impl = impl_.lock(); impl && mayAcquire(*impl))
        fetched_ = impl->tryFetch(request_, partitions_, true);
    // Let go of at once: the answer goes out when nobody holds it any more, and a purgatory may keep what has
    // completed.
    auto done = std::exchange(done_, nullptr);
    done(fetched_ ? std::move(*fetched_) : std::vector<Fetched>());
  }

 private:
  /// Nothing for whoever has left: nobody would acknowledge it.
  bool mayAcquire(const Impl& impl) const {
    return !impl.stopped && impl.sessions.isCurrent(request_.session.member, session_);
  }

  const std::weak_ptr<Impl> impl_;
  const FetchRequest request_;
  const uint64_t session_;
  const std::vector<TopicIdPartition> partitions_;
  std::move_only_function<void(std::vector<Fetched>)> done_;
  std::optional<std::vector<Fetched>> fetched_;
};

std::optional<ShareService::Impl::Readable> ShareService::Impl::read(const HeldPtr& one, int64_t maxBytes,
                                                                     Fetched& into) {
  SharePartition& share = one->share;
  const ShareGroupSettings& group = settingsOf(one->id.groupId);
  share.configure(group.partition);
  const std::shared_ptr<replication::Partition> replica = dependencies.replicas->find(one->id.partition);
  const replication::EpochCheck check{.currentLeaderEpoch = share.leaderEpoch(), .leaderOnly = true};
  const auto ends = replica ? replica->offsets(check)
                            : Result<log::OffsetSnapshot>(
                                  fail(ErrorCode::NotLeaderOrFollower, fmt::format("{} is not led here", one->name)));
  if (!ends) {
    // Led by another, or anew: what was given out is void.
    into.error = {ErrorCode::NotLeaderOrFollower, ends.error().message};
    post([one, why = into.error](Impl& impl) { impl.fence(one, why); });
    return std::nullopt;
  }
  share.moveStart(ends->logStartOffset);
  const Offset from = share.nextFetchOffset();
  if (!share.canAcquire() || from >= (group.readCommitted ? ends->lastStableOffset : ends->highWatermark).offset)
    return std::nullopt;
  auto read = replica->read(
      {.fetchOffset = from,
       .lastFetchedEpoch = std::nullopt,
       .check = check,
       .maxBytes = static_cast<int32_t>(std::clamp<int64_t>(maxBytes, 0, INT32_MAX)),
       .minOneMessage = true,
       .isolation = group.readCommitted ? log::FetchIsolation::Committed : log::FetchIsolation::HighWatermark,
       .follower = std::nullopt});
  if (!read) {
    // Cut off since we looked: the next attempt begins at the new start.
    if (read.error().code != ErrorCode::OffsetOutOfRange) into.error = std::move(read).error();
    return std::nullopt;
  }
  return Readable{.index = 0, .one = one, .from = from, .read = std::move(read->read)};
}

void ShareService::Impl::acquire(const FetchRequest& request, Readable readable, int64_t maxRecords, Fetched& into) {
  const HeldPtr& one = readable.one;
  SharePartition& share = one->share;
  // No more of it is looked at than can be given.
  auto scanned = scanShareRead(std::move(readable.read),
                               std::max(share.endOffset(), readable.from) + std::max<int64_t>(maxRecords, 1));
  if (!scanned) {
    into.error = std::move(scanned).error();
    return;
  }
  const std::vector<LogBatchRange> ranges = scanned->ranges();
  into.acquired = share.acquire({.member = request.session.member.memberId,
                                 .maxRecords = static_cast<int32_t>(maxRecords),
                                 .strict = request.strict,
                                 .batchSize = request.batchSize > 0 ? request.batchSize : INT32_MAX,
                                 .fetchOffset = readable.from,
                                 .batches = ranges,
                                 .now = now()});
  into.records = scanned->sliceOf(into.acquired);
  settle(one);
}

std::optional<std::vector<ShareService::Fetched>> ShareService::Impl::tryFetch(
    const FetchRequest& request, const std::vector<TopicIdPartition>& partitions, bool last) {
  std::vector<Fetched> fetched;
  std::vector<Readable> readable;
  bool refused = false;
  int64_t bytes = 0;
  for (size_t i = 0; i < partitions.size(); ++i) {
    Fetched& result = fetched.emplace_back();
    result.partition = partitions[i];
    Result<HeldPtr> opened = open(request.session.member.groupId, partitions[i]);
    if (!opened) {
      result.error = std::move(opened).error();
    } else if ((*opened)->active) {
      // Each gets an equal part of what is left.
      if (auto found = read(
              *opened, std::max<int64_t>(0, request.maxBytes - bytes) / static_cast<int64_t>(partitions.size() - i),
              result)) {
        bytes += static_cast<int64_t>(found->read.slice.length);
        found->index = i;
        readable.push_back(std::move(*found));
      }
    }
    refused = refused || result.error.code != ErrorCode::None;
  }
  if (!refused && !last && (readable.empty() || bytes < request.minBytes)) return std::nullopt;
  int64_t left = request.maxRecords;
  for (Readable& one : readable) {
    if (left <= 0) break;
    Fetched& result = fetched[one.index];
    acquire(request, std::move(one), left, result);
    for (const AcquiredRange& range : result.acquired) left -= range.last - range.first + 1;
    refused = refused || result.error.code != ErrorCode::None;
  }
  // What there is may all be locked, or no records at all.
  if (left == request.maxRecords && !refused && !last) return std::nullopt;
  return fetched;
}

void ShareService::Impl::startFetch(FetchRequest request, ShareSessions::Turn turn,
                                    std::move_only_function<void(std::vector<Fetched>)> done) {
  if (turn.partitions.empty() || request.renewsOnly) return done({});
  std::vector<ShareWaitKey> keys;
  keys.reserve(turn.partitions.size() * 2);
  for (const TopicIdPartition& partition : turn.partitions) {
    keys.push_back({request.session.member.groupId, partition});
    keys.push_back({"", partition});
  }
  fetches.tryCompleteElseWatch(std::make_shared<DelayedShareFetch>(weak_from_this(), std::move(request), turn.session,
                                                                   std::move(turn.partitions), std::move(done)),
                               keys);
}

void ShareService::Impl::fetch(FetchRequest request, std::move_only_function<void(FetchAnswer)> done) {
  const ShareMember member = request.session.member;
  FetchAnswer answer;
  answer.lockDuration =
      std::chrono::duration_cast<platform::milliseconds>(settingsOf(member.groupId).partition.lockDuration);
  if (stopped) {
    answer.error = {ErrorCode::ShareSessionNotFound, "the broker stops"};
    return done(std::move(answer));
  }
  auto turn = sessions.fetch(request.session);
  if (!turn) {
    answer.error = std::move(turn).error();
    return done(std::move(answer));
  }
  // Who begins anew has forgotten what it held.
  if (turn->isFirst) {
    for (const TopicIdPartition& partition : turn->partitions)
      if (const HeldPtr one = find({member.groupId, partition})) {
        one->share.release(member.memberId);
        settle(one);
      }
    // First counted, then asked: a connection that goes meanwhile is either gone already or told of.
    sessionCount.store(sessions.size());
    if (dependencies.isConnected && !dependencies.isConnected(request.session.connection)) {
      endSession(member);
      answer.error = {ErrorCode::ShareSessionNotFound, "the connection is gone"};
      return done(std::move(answer));
    }
  }
  // Of both halves: what became of acknowledgements, and what was fetched.
  const auto both = std::make_shared<Gathered<FetchAnswer>>(weak_from_this());
  both->answer = std::move(answer);
  std::vector<Acknowledgement> acknowledgements = std::move(request.acknowledgements);
  acknowledgeAll(member, std::move(acknowledgements),
                 [both](std::vector<Outcome> outcomes) { both->answer.acknowledged = std::move(outcomes); });
  if (turn->isFinal) {
    endSession(member);
  } else {
    const bool isFirst = turn->isFirst;
    startFetch(std::move(request), std::move(*turn), [both, isFirst](std::vector<Fetched> fetched) {
      // What has not changed is not told, but for the first time.
      if (!isFirst)
        std::erase_if(fetched,
                      [](const Fetched& one) { return one.error.code == ErrorCode::None && one.acquired.empty(); });
      both->answer.fetched = std::move(fetched);
    });
  }
  both->done = std::move(done);
}

}  // namespace tidemark::broker
