#include "broker/share/share_service_impl.h"

#include <algorithm>

#include <fmt/format.h>

// The share-partitions of a broker: read when they are first asked for, written when something of them counts, given up
// when another leads.

namespace tidemark::broker {

using coordinator::ShareStateAnswer;
using coordinator::ShareStateRead;

namespace {

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

const ShareGroupSettings& ShareService::Impl::settingsOf(const std::string& groupId) {
  const auto found = settings.find(groupId);
  if (found != settings.end()) return found->second;
  return settings.emplace(groupId, shareGroupSettings(*dependencies.replicas->image(), *dependencies.config(), groupId))
      .first->second;
}

ShareService::Impl::HeldPtr ShareService::Impl::find(const SharePartitionId& id) const {
  const auto found = held.find(id);
  return found == held.end() ? nullptr : found->second;
}

Result<ShareService::Impl::HeldPtr> ShareService::Impl::open(const std::string& groupId,
                                                             const TopicIdPartition& partition) {
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

void ShareService::Impl::loaded(const HeldPtr& opened, const ShareStateRead& state) {
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

Result<Offset> ShareService::Impl::resetOffset(const replication::Partition& replica,
                                               const ShareGroupSettings& group) const {
  const int64_t timestamp = group.resetDuration ? dependencies.process->clock().wallMs() - group.resetDuration->count()
                                                : group.resetTimestamp;
  TIDEMARK_ASSIGN(const auto found, replica.listOffset(timestamp, log::FetchIsolation::HighWatermark,
                                                       {.currentLeaderEpoch = std::nullopt, .leaderOnly = true}));
  if (found && found->offset != kNoOffset) return found->offset;
  // No record is that young: from the end on.
  return replica.log()->highWatermark();
}

void ShareService::Impl::fence(const HeldPtr& one, const Error& why) {
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

void ShareService::Impl::settle(const HeldPtr& one) {
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

void ShareService::Impl::written(const HeldPtr& one, const ShareStateAnswer& answer) {
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

void ShareService::Impl::expireLocks(const HeldPtr& one) {
  if (one->fenced) return;
  one->lockTimerFor.reset();
  one->share.expire(now());
  settle(one);
  wake(*one);
}

}  // namespace tidemark::broker
