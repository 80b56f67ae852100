#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "broker/share/share_service.h"

namespace tidemark::broker {

/// What is behind the service, on its executor but for what says otherwise. share_holding.cpp: the share-partitions and
/// what of them is written; share_acknowledging.cpp: what members say of records, and their leaving;
/// share_fetching.cpp.
struct ShareService::Impl : std::enable_shared_from_this<Impl> {
  /// A share-partition that this broker keeps.
  struct Held {
    Held(SharePartitionId of, TopicPartition named, LeaderEpoch epoch, SharePartitionConfig config)
        : id(std::move(of)),
          name(std::move(named)),
          share(coordinator::ShareKey{id.groupId, id.partition.topicId, id.partition.partition}, epoch, config) {}
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

  /// An answer that several work at: `done` is told it once the last of them has let go.
  template <class Answer>
  struct Gathered {
    explicit Gathered(std::weak_ptr<Impl> of) : service(std::move(of)) {}
    ~Gathered() {
      // Whom to answer has gone before a service that dies.
      if (done && !service.expired()) done(std::move(answer));
    }
    std::weak_ptr<Impl> service;
    Answer answer;
    std::move_only_function<void(Answer)> done;
  };

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

  const ShareGroupSettings& settingsOf(const std::string& groupId);

  HeldPtr find(const SharePartitionId& id) const;

  /// The share-partition, being read at first; or why there is none.
  Result<HeldPtr> open(const std::string& groupId, const TopicIdPartition& partition);

  void loaded(const HeldPtr& opened, const coordinator::ShareStateRead& state);

  Result<Offset> resetOffset(const replication::Partition& replica, const ShareGroupSettings& group) const;

  /// Nobody may use it any more; who comes next reads its state anew.
  void fence(const HeldPtr& one, const Error& why);

  void wake(const Held& one) { fetches.checkAndComplete({one.id.groupId, one.id.partition}); }

  /// After anything that may have left something to write, or moved the next timeout.
  void settle(const HeldPtr& one);

  void written(const HeldPtr& one, const coordinator::ShareStateAnswer& answer);

  void expireLocks(const HeldPtr& one);

  void acknowledgeAll(const ShareMember& member, std::vector<Acknowledgement> acknowledgements,
                      std::move_only_function<void(std::vector<Outcome>)> done);

  Error whyNotHeld(const TopicIdPartition& partition) const;

  void endSession(const ShareMember& member);

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

}  // namespace tidemark::broker
