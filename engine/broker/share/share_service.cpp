#include "broker/share/share_service.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/mutex.h"
#include "broker/share/share_reads.h"

namespace tidemark::broker {
namespace {

using coordinator::ShareKey;
using coordinator::ShareStateAnswer;
using coordinator::ShareStateRead;

/// What a client is told when a share-partition's state cannot be read or written.
Error errorOfPersister(const ShareStateAnswer& answer) {
  switch (answer.error) {
    case ErrorCode::NotCoordinator:
    case ErrorCode::CoordinatorNotAvailable:
    case ErrorCode::CoordinatorLoadInProgress:
      return {ErrorCode::CoordinatorNotAvailable, answer.message};
    case ErrorCode::FencedLeaderEpoch:
      return {ErrorCode::NotLeaderOrFollower, answer.message};
    case ErrorCode::GroupIdNotFound:
    case ErrorCode::UnknownTopicOrPartition:
    case ErrorCode::FencedStateEpoch:
      return {answer.error, answer.message};
    default:
      return {ErrorCode::UnknownServerError, answer.message};
  }
}

bool isFencing(ErrorCode code) {
  return code == ErrorCode::FencedLeaderEpoch || code == ErrorCode::FencedStateEpoch;
}

}  // namespace

struct ShareService::Impl : std::enable_shared_from_this<Impl> {
  /// A share-partition that this broker keeps.
  struct Held {
    Held(SharePartitionId of, TopicPartition named, LeaderEpoch epoch, SharePartitionConfig config)
        : id(std::move(of)),
          name(std::move(named)),
          share(ShareKey{id.groupId, id.partition.topicId, id.partition.partition}, epoch, config) {}
    const SharePartitionId id;
    const TopicPartition name;
    SharePartition share;
    /// Its state was read.
    bool active = false;
    /// Dead letters under way.
    int letters = 0;
    /// The last member has gone: to be dropped once all is written, since the group's state may be set anew now.
    bool leaving = false;
    /// Set once it is of no use any more; it is in no map then.
    std::optional<Error> fenced;
    std::map<SharePartition::Ticket, std::move_only_function<void(Error)>> waiting;
    platform::Timer lockTimer;
    std::optional<platform::MonotonicTime> lockTimerFor;
  };
  using HeldPtr = std::shared_ptr<Held>;

  class DelayedShareFetch;

  explicit Impl(Dependencies given)
      : dependencies(std::move(given)),
        sessions(dependencies.sessions),
        expiration(purgatory::ExpirationTimer::create(dependencies.executor, dependencies.process->clock())),
        fetches("ShareFetch", expiration, dependencies.purgeInterval) {}

  platform::MonotonicTime now() const { return dependencies.process->clock().monotonic(); }

  template <class Task>
  void post(Task task) {
    dependencies.executor->post([weak = weak_from_this(), task = std::move(task)]() mutable {
      if (const std::shared_ptr<Impl> self = weak.lock()) task(*self);
    });
  }

  const ShareGroupSettings& settingsOf(const std::string& groupId) {
    const auto found = settings.find(groupId);
    if (found != settings.end()) return found->second;
    return settings
        .emplace(groupId, shareGroupSettings(*dependencies.replicas->image(), *dependencies.config(), groupId))
        .first->second;
  }

  // --- share-partitions
  // -------------------------------------------------------------------------------------------------

  HeldPtr find(const SharePartitionId& id) const {
    const auto found = held.find(id);
    return found == held.end() ? nullptr : found->second;
  }

  /// The share-partition, being read at first; or why there is none.
  Result<HeldPtr> open(const std::string& groupId, const TopicIdPartition& partition) {
    SharePartitionId id{groupId, partition};
    if (HeldPtr known = find(id)) {
      known->leaving = false;
      return known;
    }
    if (auto why = failed.extract(id); !why.empty()) return std::unexpected(std::move(why.mapped()));
    const metadata::ImagePtr image = dependencies.replicas->image();
    const metadata::TopicImage* topic = image->topics.find(partition.topicId);
    if (topic == nullptr)
      return fail(ErrorCode::UnknownTopicId, fmt::format("no topic has the id {}", partition.topicId));
    const std::shared_ptr<replication::Partition> replica = dependencies.replicas->find(partition);
    if (!replica)
      return std::unexpected(dependencies.replicas->whyMissing({topic->name, partition.partition}, partition.topicId));
    if (!replica->isLeader())
      return fail(ErrorCode::NotLeaderOrFollower, fmt::format("{} is not led here", replica->name()));
    auto opened =
        std::make_shared<Held>(std::move(id), replica->name(), replica->leaderEpoch(), settingsOf(groupId).partition);
    held.emplace(opened->id, opened);
    {
      Lock lock(sharedMutex);
      ++shared[partition];
      sharedCount.store(shared.size());
    }
    dependencies.persister->read({opened->share.key(), opened->share.leaderEpoch()},
                                 [weak = weak_from_this(), opened](const ShareStateRead& state) {
                                   if (const std::shared_ptr<Impl> self = weak.lock()) self->loaded(opened, state);
                                 });
    return opened;
  }

  void loaded(const HeldPtr& opened, const ShareStateRead& state) {
    if (opened->fenced) return;
    const auto refuse = [&](const Error& why) {
      failed.insert_or_assign(opened->id, why);
      fence(opened, why);
    };
    if (state.error != ErrorCode::None) return refuse(errorOfPersister(state));
    const std::shared_ptr<replication::Partition> replica = dependencies.replicas->find(opened->id.partition);
    if (!replica) return refuse({ErrorCode::NotLeaderOrFollower, fmt::format("{} is not led here", opened->name)});
    Offset start = state.startOffset;
    if (start == coordinator::kUndecidedStart) {
      const Result<Offset> decided = resetOffset(*replica, settingsOf(opened->id.groupId));
      if (!decided) return refuse(decided.error());
      start = *decided;
    }
    opened->share.load(state, start);
    opened->share.moveStart(replica->log()->logStartOffset());
    opened->active = true;
    settle(opened);
    wake(*opened);
  }

  Result<Offset> resetOffset(const replication::Partition& replica, const ShareGroupSettings& group) const {
    const int64_t timestamp = group.resetDuration
                                  ? dependencies.process->clock().wallMs() - group.resetDuration->count()
                                  : group.resetTimestamp;
    TIDEMARK_ASSIGN(const auto found, replica.listOffset(timestamp, log::FetchIsolation::HighWatermark,
                                                         {.currentLeaderEpoch = std::nullopt, .leaderOnly = true}));
    if (found && found->offset != kNoOffset) return found->offset;
    // No record is that young: from the end on.
    return replica.log()->highWatermark();
  }

  /// Nobody may use it any more; who comes next reads its state anew.
  void fence(const HeldPtr& one, const Error& why) {
    if (one->fenced) return;
    one->fenced = why;
    one->lockTimer.cancel();
    held.erase(one->id);
    {
      Lock lock(sharedMutex);
      if (const auto count = shared.find(one->id.partition); count != shared.end() && --count->second == 0)
        shared.erase(count);
      sharedCount.store(shared.size());
    }
    one->share.abandon();
    for (auto& [ticket, answer] : std::exchange(one->waiting, {})) answer(why);
    wake(*one);
  }

  void wake(const Held& one) { fetches.checkAndComplete({one.id.groupId, one.id.partition}); }

  /// After anything that may have left something to write, or moved the next timeout.
  void settle(const HeldPtr& one) {
    if (one->fenced) return;
    if (auto write = one->share.takeWrite())
      dependencies.persister->write(std::move(*write), [weak = weak_from_this(), one](const ShareStateAnswer& answer) {
        if (const std::shared_ptr<Impl> self = weak.lock()) self->written(one, answer);
      });
    for (const SharePartition::Letter& letter : one->share.takeLetters()) {
      ++one->letters;
      dependencies.deadLetters->write(
          {.groupId = one->id.groupId,
           .source = one->name,
           .first = letter.first,
           .last = letter.last,
           .deliveryCount = letter.deliveryCount,
           .cause = letter.rejected ? DeadLetters::Cause::Rejected : DeadLetters::Cause::DeliveredTooOften},
          [weak = weak_from_this(), one, letter](const Error&) {
            const std::shared_ptr<Impl> self = weak.lock();
            if (!self || one->fenced) return;
            // Written or not: it holds the others up no longer.
            --one->letters;
            one->share.archive(letter.first, letter.last);
            self->settle(one);
            self->wake(*one);
          });
    }
    if (one->leaving && !one->share.isWriting() && one->letters == 0)
      return fence(one, {ErrorCode::NotLeaderOrFollower, "the group is empty"});
    const auto next = one->share.nextLockTimeout();
    if (next == one->lockTimerFor) return;
    one->lockTimerFor = next;
    if (!next) {
      one->lockTimer.cancel();
      return;
    }
    one->lockTimer = dependencies.executor->schedule(std::max(*next - now(), platform::Duration(0)),
                                                     [weak = weak_from_this(), weakOne = std::weak_ptr<Held>(one)] {
                                                       const std::shared_ptr<Impl> self = weak.lock();
                                                       const HeldPtr alive = weakOne.lock();
                                                       if (self && alive) self->expireLocks(alive);
                                                     });
  }

  void written(const HeldPtr& one, const ShareStateAnswer& answer) {
    if (one->fenced) return;
    if (isFencing(answer.error)) return fence(one, errorOfPersister(answer));
    const bool done = answer.error == ErrorCode::None;
    const Error error = done ? Error{ErrorCode::None, {}} : errorOfPersister(answer);
    if (!done)
      dependencies.process->log().warning("share", "the state of {} cannot be written: {} {}", one->share.key().text(),
                                          errorName(answer.error), answer.message);
    for (const SharePartition::Ticket ticket : one->share.written(done)) {
      auto node = one->waiting.extract(ticket);
      if (!node.empty()) node.mapped()(error);
    }
    if (done) {
      settle(one);
      wake(*one);
    } else {
      expireLocks(one);
    }
  }

  void expireLocks(const HeldPtr& one) {
    if (one->fenced) return;
    one->lockTimerFor.reset();
    one->share.expire(now());
    settle(one);
    wake(*one);
  }

  // --- acknowledging
  // ----------------------------------------------------------------------------------------------------

  /// Gathers what becomes of acknowledgements, then goes on.
  struct Gather {
    std::vector<Outcome> outcomes;
    std::move_only_function<void(std::vector<Outcome>)> done;
    ~Gather() {
      if (done) done(std::move(outcomes));
    }
  };

  void acknowledgeAll(const ShareMember& member, std::vector<Acknowledgement> acknowledgements,
                      std::move_only_function<void(std::vector<Outcome>)> done) {
    const auto gather = std::make_shared<Gather>();
    gather->outcomes.resize(acknowledgements.size());
    for (size_t i = 0; i < acknowledgements.size(); ++i) {
      Outcome& outcome = gather->outcomes[i];
      outcome.partition = acknowledgements[i].partition;
      const auto& batches = acknowledgements[i].batches;
      if (!batches) {
        outcome.error = batches.error();
        continue;
      }
      const HeldPtr one = find({member.groupId, outcome.partition});
      if (!one || !one->active) {
        outcome.error = whyNotHeld(outcome.partition);
        continue;
      }
      auto ticket = one->share.acknowledge(member.memberId, *batches, now());
      if (!ticket) {
        outcome.error = std::move(ticket).error();
        continue;
      }
      if (*ticket) {
        // Until it is known.
        outcome.error = {ErrorCode::NotLeaderOrFollower, "the broker stops"};
        one->waiting.emplace(**ticket, [gather, i](Error error) { gather->outcomes[i].error = std::move(error); });
      }
      settle(one);
    }
    // What is done already goes out as well when the last has let go.
    gather->done = std::move(done);
  }

  Error whyNotHeld(const TopicIdPartition& partition) const {
    const metadata::ImagePtr image = dependencies.replicas->image();
    const metadata::TopicImage* topic = image->topics.find(partition.topicId);
    if (topic == nullptr) return {ErrorCode::UnknownTopicId, fmt::format("no topic has the id {}", partition.topicId)};
    const std::shared_ptr<replication::Partition> replica = dependencies.replicas->find(partition);
    if (!replica || !replica->isLeader())
      return {ErrorCode::NotLeaderOrFollower, fmt::format("{}-{} is not led here", topic->name, partition.partition)};
    // Led here since a while ago: its locks are gone with the leader before.
    return {ErrorCode::UnknownTopicOrPartition, fmt::format("nothing of {} was given out here", replica->name())};
  }

  void endSession(const ShareMember& member) {
    const std::vector<TopicIdPartition> partitions = sessions.end(member);
    sessionCount.store(sessions.size());
    for (const TopicIdPartition& partition : partitions)
      if (const HeldPtr one = find({member.groupId, partition})) {
        one->share.release(member.memberId);
        settle(one);
      }
    if (sessions.hasGroup(member.groupId)) return;
    std::vector<HeldPtr> left;
    for (const auto& [id, one] : held)
      if (id.groupId == member.groupId) left.push_back(one);
    for (const HeldPtr& one : left) {
      one->leaving = true;
      settle(one);
    }
  }

  // --- fetching
  // ---------------------------------------------------------------------------------------------------------

  /// Acquires what there is. Nothing: not enough to answer yet. With `last`, what little there is will do.
  std::optional<std::vector<Fetched>> tryFetch(const FetchRequest& request,
                                               const std::vector<TopicIdPartition>& partitions, bool last);
  struct Readable {
    size_t index;
    HeldPtr one;
    Offset from;
    log::ReadResult read;
  };
  /// Reads where the share-partition is to go on. Nothing: there is nothing to read, or an error in `into`.
  std::optional<Readable> read(const HeldPtr& one, int64_t maxBytes, Fetched& into);
  void acquire(const FetchRequest& request, Readable readable, int64_t maxRecords, Fetched& into);
  void fetch(FetchRequest request, std::move_only_function<void(FetchAnswer)> done);
  void startFetch(FetchRequest request, ShareSessions::Turn turn,
                  std::move_only_function<void(std::vector<Fetched>)> done);

  std::vector<SharePartitionView> views() const {
    std::vector<SharePartitionView> views;
    for (const auto& [id, one] : held)
      views.push_back({.groupId = id.groupId,
                       .partition = one->name,
                       .leaderEpoch = one->share.leaderEpoch(),
                       .stateEpoch = one->share.stateEpoch(),
                       .startOffset = one->share.startOffset(),
                       .endOffset = one->share.endOffset(),
                       .deliveryCompleteCount = one->share.deliveryCompleteCount(),
                       .isActive = one->active,
                       .stretches = one->share.stretches()});
    return views;
  }

  const Dependencies dependencies;
  ShareSessions sessions;
  std::map<SharePartitionId, HeldPtr> held;
  /// Why share-partitions could not be read, for the next who fetches them.
  std::map<SharePartitionId, Error> failed;
  std::map<std::string, ShareGroupSettings> settings;
  const std::shared_ptr<purgatory::ExpirationTimer> expiration;
  purgatory::Purgatory<ShareWaitKey> fetches;
  bool stopped = false;

  /// Of `sessions` and of `shared`, for whoever looks from another thread whether there is anything at all.
  std::atomic<size_t> sessionCount = 0;
  std::atomic<size_t> sharedCount = 0;
  Mutex sharedMutex;
  /// Partitions that some group shares here, and how many do. Any thread.
  std::unordered_map<TopicIdPartition, int> shared GUARDED_BY(sharedMutex);
};

// --- fetching -------------------------------------------------------------------------------------------------------

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
  /// Waits for both halves.
  struct Both {
    FetchAnswer answer;
    std::move_only_function<void(FetchAnswer)> done;
    ~Both() {
      if (done) done(std::move(answer));
    }
  };
  const auto both = std::make_shared<Both>();
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

// --- the door -------------------------------------------------------------------------------------------------------

ShareService::ShareService(Dependencies dependencies) : impl_(std::make_shared<Impl>(std::move(dependencies))) {}

ShareService::~ShareService() = default;

void ShareService::fetch(FetchRequest request, std::move_only_function<void(FetchAnswer)> done) {
  impl_->post([request = std::move(request), done = std::move(done)](Impl& impl) mutable {
    impl.fetch(std::move(request), std::move(done));
  });
}

void ShareService::acknowledge(FetchRequest request, std::move_only_function<void(FetchAnswer)> done) {
  impl_->post([request = std::move(request), done = std::move(done)](Impl& impl) mutable {
    const ShareMember member = request.session.member;
    FetchAnswer answer;
    answer.lockDuration =
        std::chrono::duration_cast<platform::milliseconds>(impl.settingsOf(member.groupId).partition.lockDuration);
    auto turn = impl.sessions.acknowledge(request.session);
    if (!turn) {
      answer.error = std::move(turn).error();
      return done(std::move(answer));
    }
    impl.acknowledgeAll(member, std::move(request.acknowledgements),
                        [answer = std::move(answer), done = std::move(done)](std::vector<Outcome> outcomes) mutable {
                          answer.acknowledged = std::move(outcomes);
                          done(std::move(answer));
                        });
    if (turn->isFinal) impl.endSession(member);
  });
}

void ShareService::apply(const replication::MetadataChange& change, NodeId self) {
  std::vector<std::pair<TopicIdPartition, LeaderEpoch>> led;
  for (const TopicIdPartition& id : change.partitions) {
    const metadata::PartitionRegistration* registration = change.after->topics.partition(id.topicId, id.partition);
    led.emplace_back(
        id, registration != nullptr && registration->leader == self ? registration->leaderEpoch : LeaderEpoch());
  }
  const bool reconfigured = change.brokerConfigChanged ||
                            !change.before->configs.resources.sharesAllWith(change.after->configs.resources) ||
                            change.before->features != change.after->features;
  if (led.empty() && !reconfigured) return;
  impl_->post([led = std::move(led), reconfigured](Impl& impl) {
    if (reconfigured) impl.settings.clear();
    for (const auto& [partition, epoch] : led) {
      std::vector<Impl::HeldPtr> gone;
      for (const auto& [id, one] : impl.held)
        if (id.partition == partition && one->share.leaderEpoch() != epoch) gone.push_back(one);
      for (const Impl::HeldPtr& one : gone)
        impl.fence(one, {ErrorCode::NotLeaderOrFollower, fmt::format("{} has another leader now", one->name)});
    }
  });
}

void ShareService::disconnected(const std::string& connectionId) {
  if (impl_->sessionCount.load() == 0) return;
  impl_->post([connectionId](Impl& impl) {
    for (const ShareMember& member : impl.sessions.membersOn(connectionId)) impl.endSession(member);
  });
}

void ShareService::onHighWatermark(const TopicIdPartition& partition) {
  if (impl_->sharedCount.load() == 0) return;
  {
    Lock lock(impl_->sharedMutex);
    if (!impl_->shared.contains(partition)) return;
  }
  impl_->post([partition](Impl& impl) { impl.fetches.checkAndComplete({"", partition}); });
}

void ShareService::stop() {
  impl_->post([](Impl& impl) {
    impl.stopped = true;
    const auto held = impl.held;
    for (const auto& [id, one] : held) impl.fence(one, {ErrorCode::NotLeaderOrFollower, "the broker stops"});
    for (const auto& operation : impl.fetches.operations()) operation->forceComplete();
  });
}

void ShareService::snapshot(std::move_only_function<void(std::vector<SharePartitionView>)> done) {
  impl_->post([done = std::move(done)](Impl& impl) mutable { done(impl.views()); });
}

std::vector<SharePartitionView> ShareService::snapshotNow() const {
  return impl_->views();
}

}  // namespace tidemark::broker
