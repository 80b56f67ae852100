#include "coordinator/runtime.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "records/batch_builder.h"
#include "records/control.h"

namespace tidemark::coordinator {

/// A timer of a shard. It is current as long as its partition's map holds it. Most are put off again and again, by each
/// heartbeat of a member, and hardly any runs out: putting it off only moves its deadline, and the wheel, whose entry
/// it stays, asks too early once in a session.
struct CoordinatorRuntime::ArmedTimer : purgatory::TimerEntry, std::enable_shared_from_this<ArmedTimer> {
  ArmedTimer(std::weak_ptr<CoordinatorRuntime> owner, PartitionIndex partition, uint64_t inIncarnation, TimerKey name)
      : runtime(std::move(owner)), index(partition), incarnation(inIncarnation), key(std::move(name)) {}

  void onTimeout() override {
    if (const std::shared_ptr<CoordinatorRuntime> alive = runtime.lock()) {
      alive->onTimer(index, incarnation, shared_from_this());
    }
  }

  std::weak_ptr<CoordinatorRuntime> runtime;
  PartitionIndex index;
  uint64_t incarnation;
  TimerKey key;
  std::shared_ptr<Deadline> deadline;
};

namespace {

/// From now on, however far away.
platform::MonotonicTime deadlineAfter(platform::MonotonicTime now, platform::Duration after) {
  constexpr platform::Duration kLongest = std::chrono::hours(24 * 365 * 100);
  return now + std::min(after, kLongest);
}

}  // namespace

/// Asks a partition for what should be committed by now.
struct CoordinatorRuntime::CommitTimeout : purgatory::TimerEntry {
  CommitTimeout(std::weak_ptr<CoordinatorRuntime> owner, PartitionIndex partition, uint64_t inIncarnation)
      : runtime(std::move(owner)), index(partition), incarnation(inIncarnation) {}

  void onTimeout() override {
    if (const std::shared_ptr<CoordinatorRuntime> alive = runtime.lock()) alive->onCommitTimeout(index, incarnation);
  }

  std::weak_ptr<CoordinatorRuntime> runtime;
  PartitionIndex index;
  uint64_t incarnation;
};

CoordinatorRuntime::CoordinatorRuntime(Dependencies dependencies, Options options, ShardFactory factory)
    : dependencies_(std::move(dependencies)),
      options_(std::move(options)),
      factory_(std::move(factory)),
      timer_(purgatory::ExpirationTimer::create(dependencies_.executor, *dependencies_.clock)) {}

CoordinatorRuntime::~CoordinatorRuntime() = default;

CoordinatorRuntime::Partition* CoordinatorRuntime::find(PartitionIndex index, uint64_t incarnation) {
  const auto found = partitions_.find(index);
  if (found == partitions_.end() || found->second->incarnation != incarnation) return nullptr;
  return found->second.get();
}

// ---- unloading

void CoordinatorRuntime::unload(PartitionIndex index) {
  auto node = partitions_.extract(index);
  if (node.empty()) return;
  Partition& partition = *node.mapped();
  for (auto& [key, timer] : partition.timers) timer_->cancel(*timer);
  partition.timers.clear();
  // Whoever waits for a commit cannot know whether it will come.
  if (partition.commitTimeout) timer_->cancel(*partition.commitTimeout);
  std::vector<Effects> last;
  for (Effects::Committed& one : partition.inTurn) last.push_back(one(ErrorCode::NotCoordinator));
  for (Pending& one : partition.pending) last.push_back(one.whenCommitted(ErrorCode::NotCoordinator));
  for (Gathered& one : partition.gathered) {
    if (one.whenCommitted) last.push_back(one.whenCommitted(ErrorCode::NotCoordinator));
  }
  last.push_back(partition.shard->onUnloaded());
  for (Effects& effects : last) {
    for (platform::Task& reply : effects.replies) reply();
  }
  dependencies_.log->info(options_.name, "gave up partition {}", index);
}

void CoordinatorRuntime::unloadAll() {
  while (!partitions_.empty()) unload(partitions_.begin()->first);
}

bool CoordinatorRuntime::isLoading() const {
  return std::any_of(partitions_.begin(), partitions_.end(), [](const auto& one) { return one.second->loading; });
}

// ---- serving

std::expected<CoordinatorRuntime::Partition*, ErrorCode> CoordinatorRuntime::serving(PartitionIndex index, Sees sees) {
  const auto found = partitions_.find(index);
  if (found == partitions_.end()) return std::unexpected(ErrorCode::NotCoordinator);
  if (found->second->loading) return std::unexpected(ErrorCode::CoordinatorLoadInProgress);
  if (sees == Sees::All) writeGathered(*found->second);
  return found->second.get();
}

void CoordinatorRuntime::forEach(const std::function<void(PartitionIndex, Shard&)>& visit) {
  for (auto& [index, partition] : partitions_) {
    if (!partition->loading) visit(index, *partition->shard);
  }
}

void CoordinatorRuntime::runOnAll(const std::function<Effects(Shard&)>& handler) {
  for (auto& [index, partition] : partitions_) {
    if (partition->loading) continue;
    writeGathered(*partition);
    perform(*partition, handler(*partition->shard));
  }
}

void CoordinatorRuntime::perform(Partition& partition, Effects effects) {
  const bool waits = effects.gather && !effects.records.empty();
  Result<void> written;
  if (!effects.records.empty() && !waits) {
    // What was decided before stands before it in the log.
    writeGathered(partition);
    written = write(partition, effects);
  }
  for (TimerChange& timer : effects.timers) {
    // Whoever was to go is still there.
    const bool nothingHappened = !written && effects.replay;
    if (timer.after || !nothingHappened) change(partition, std::move(timer));
  }
  for (platform::Task& reply : effects.replies) reply();
  if (waits) return gather(partition, std::move(effects));
  takeUpAnnounced(partition);
  if (!written) {
    dependencies_.log->warning(options_.name, "cannot write to partition {}: {}", partition.index,
                               written.error().message);
    if (effects.whenCommitted) perform(partition, effects.whenCommitted(written.error().code));
    return;
  }
  if (!effects.whenCommitted) return;
  if (!effects.inTurn) return awaitCommit(partition, std::move(effects.whenCommitted));
  awaitCommit(partition, [this, &partition, whenCommitted = std::move(effects.whenCommitted)](ErrorCode code) mutable {
    if (code != ErrorCode::None) return whenCommitted(code);
    callInTurn(partition, std::move(whenCommitted));
    return Effects();
  });
}

void CoordinatorRuntime::callInTurn(Partition& partition, Effects::Committed whenCommitted) {
  partition.inTurn.push_back(std::move(whenCommitted));
  dependencies_.executor->post([weak = weak_from_this(), index = partition.index, incarnation = partition.incarnation] {
    const auto self = weak.lock();
    Partition* found = self ? self->find(index, incarnation) : nullptr;
    if (found == nullptr) return;
    Effects::Committed next = std::move(found->inTurn.front());
    found->inTurn.pop_front();
    self->perform(*found, next(ErrorCode::None));
  });
}

void CoordinatorRuntime::gather(Partition& partition, Effects effects) {
  size_t size = 0;
  for (const CoordinatorRecord& record : effects.records) {
    std::optional<ByteView> value;
    if (record.value) value = *record.value;
    size += records::BatchBuilder::recordSizeLimit(record.key, value);
  }
  if (!partition.gathered.empty() &&
      records::kBatchHeaderSize + partition.gatheredSize + size > partition.gatheredLimit) {
    writeGathered(partition);
  }
  const bool first = partition.gathered.empty();
  if (first) partition.gatheredLimit = dependencies_.partitions->maxBatchSize(partition.index);
  partition.gathered.push_back({std::move(effects.records), std::move(effects.whenCommitted)});
  partition.gatheredSize += size;
  if (!first) return;
  dependencies_.executor->post([weak = weak_from_this(), index = partition.index, incarnation = partition.incarnation] {
    const auto self = weak.lock();
    if (Partition* found = self ? self->find(index, incarnation) : nullptr) self->writeGathered(*found);
  });
}

void CoordinatorRuntime::writeGathered(Partition& partition) {
  if (partition.gathered.empty()) return;
  std::vector<Gathered> gathered = std::exchange(partition.gathered, {});
  partition.gatheredSize = 0;
  Effects all;
  for (Gathered& one : gathered) std::ranges::move(one.records, std::back_inserter(all.records));
  const Result<void> written = write(partition, all);
  takeUpAnnounced(partition);
  if (!written) {
    dependencies_.log->warning(options_.name, "cannot write to partition {}: {}", partition.index,
                               written.error().message);
  }
  for (Gathered& one : gathered) {
    if (!one.whenCommitted) continue;
    if (written) {
      awaitCommit(partition, std::move(one.whenCommitted));
    } else {
      perform(partition, one.whenCommitted(written.error().code));
    }
  }
}

void CoordinatorRuntime::awaitCommit(Partition& partition, Effects::Committed whenCommitted) {
  // Nothing is uncommitted that the answer could give away?
  if (partition.end <= partition.highWatermark) return perform(partition, whenCommitted(ErrorCode::None));
  partition.pending.push_back(
      {partition.end, std::move(whenCommitted), dependencies_.clock->monotonic() + options_.commitTimeout});
  watchCommits(partition);
}

void CoordinatorRuntime::endTransaction(PartitionIndex index, const TransactionMarker& marker,
                                        std::move_only_function<void(ErrorCode)> done) {
  const auto found = partitions_.find(index);
  if (found == partitions_.end()) return done(ErrorCode::NotCoordinator);
  Partition& partition = *found->second;
  if (partition.loading) return done(ErrorCode::CoordinatorLoadInProgress);
  writeGathered(partition);
  partition.appending = true;
  const auto end = dependencies_.partitions->appendTransactional(
      index, partition.epoch,
      records::buildEndTxnMarker(marker.producerId, marker.producerEpoch, {marker.commit, marker.coordinatorEpoch},
                                 dependencies_.clock->wallMs()),
      {.verification = std::nullopt, .transactionVersion = marker.transactionVersion});
  partition.appending = false;
  if (!end) return done(end.error().code);
  partition.end = *end;
  partition.shard->replayEndTxn(*end - 1, marker.producerId, marker.commit);
  takeUpAnnounced(partition);
  awaitCommit(partition, [done = std::move(done)](ErrorCode code) mutable {
    done(code);
    return Effects();
  });
}

Result<void> CoordinatorRuntime::write(Partition& partition, const Effects& effects) {
  std::span<const CoordinatorRecord> left = effects.records;
  const size_t limit = dependencies_.partitions->maxBatchSize(partition.index);
  while (!left.empty()) {
    size_t count = 0;
    size_t size = records::kBatchHeaderSize;
    for (const CoordinatorRecord& record : left) {
      std::optional<ByteView> value;
      if (record.value) value = *record.value;
      size += records::BatchBuilder::recordSizeLimit(record.key, value);
      if (!effects.atomic && count > 0 && size > limit) break;
      ++count;
    }
    TIDEMARK_TRY(writeBatch(partition, left.first(count), effects));
    left = left.subspan(count);
  }
  return {};
}

Result<void> CoordinatorRuntime::writeBatch(Partition& partition, std::span<const CoordinatorRecord> records,
                                            const Effects& effects) {
  records::BatchOptions options;
  options.codec = options_.codec;
  options.baseSequence = options_.baseSequence;
  if (effects.transaction) {
    options.producerId = effects.transaction->producerId;
    options.producerEpoch = effects.transaction->producerEpoch;
    options.baseSequence = records::kNoSequence;
    options.transactional = true;
  }
  records::BatchBuilder builder(options);
  const int64_t nowMs = dependencies_.clock->wallMs();
  for (const CoordinatorRecord& record : records) {
    std::optional<ByteView> value;
    if (record.value) value = *record.value;
    builder.append(nowMs, record.key, value);
  }
  const size_t limit = dependencies_.partitions->maxBatchSize(partition.index);
  if (builder.uncompressedSize() > limit) {
    return fail(ErrorCode::RecordListTooLarge,
                fmt::format("a write of {} bytes where the topic takes {}", builder.uncompressedSize(), limit));
  }
  partition.appending = true;
  const Result<Offset> end = effects.transaction
                                 ? dependencies_.partitions->appendTransactional(
                                       partition.index, partition.epoch, builder.build(),
                                       {.verification = effects.transaction->verification, .transactionVersion = 0})
                                 : dependencies_.partitions->append(partition.index, partition.epoch, builder.build());
  partition.appending = false;
  if (!end) return std::unexpected(end.error());
  partition.end = *end;
  if (!effects.replay) return {};
  const ProducerId producerId = effects.transaction ? effects.transaction->producerId : kNoProducerId;
  Offset offset = partition.end - static_cast<int64_t>(records.size());
  for (const CoordinatorRecord& record : records) {
    std::optional<ByteView> value;
    if (record.value) value = *record.value;
    const Result<void> replayed = partition.shard->replay(offset, producerId, record.key, value);
    TIDEMARK_INVARIANT(replayed.has_value(), "a coordinator cannot replay what it wrote: " + replayed.error().message);
    offset = offset.next();
  }
  return {};
}

// ---- timers

void CoordinatorRuntime::change(Partition& partition, TimerChange change) {
  const auto found = partition.timers.find(change.key);
  if (!change.after) {
    if (found == partition.timers.end()) return;
    timer_->cancel(*found->second);
    found->second->deadline->armed_ = false;
    partition.timers.erase(found);
    return;
  }
  const platform::MonotonicTime deadline = deadlineAfter(dependencies_.clock->monotonic(), *change.after);
  if (found != partition.timers.end()) {
    ArmedTimer& timer = *found->second;
    if (change.deadline != nullptr && change.deadline != timer.deadline) {
      *change.deadline = *timer.deadline;
      std::exchange(timer.deadline, std::move(change.deadline))->armed_ = false;
    }
    if (timer.deadline->putOff(deadline)) return;
    timer_->cancel(timer);
    timer.deadline->at_ = timer.deadline->asked_ = deadline;
    timer_->add(found->second, *change.after);
    return;
  }
  auto timer = std::make_shared<ArmedTimer>(weak_from_this(), partition.index, partition.incarnation, change.key);
  timer->deadline = change.deadline != nullptr ? std::move(change.deadline) : std::make_shared<Deadline>();
  timer->deadline->at_ = timer->deadline->asked_ = deadline;
  timer->deadline->armed_ = true;
  partition.timers.emplace(std::move(change.key), timer);
  timer_->add(std::move(timer), *change.after);
}

void CoordinatorRuntime::onTimer(PartitionIndex index, uint64_t incarnation, const std::shared_ptr<ArmedTimer>& timer) {
  Partition* partition = find(index, incarnation);
  if (partition == nullptr) return;
  const auto found = partition->timers.find(timer->key);
  if (found == partition->timers.end() || found->second != timer) return;
  Deadline& deadline = *timer->deadline;
  if (const platform::Duration left = deadline.at_ - dependencies_.clock->monotonic(); left > left.zero()) {
    deadline.asked_ = deadline.at_;
    timer_->add(timer, left);
    return;
  }
  deadline.armed_ = false;
  partition->timers.erase(found);
  writeGathered(*partition);
  perform(*partition, partition->shard->onTimeout(timer->key));
}

// ---- commits

void CoordinatorRuntime::onHighWatermark(PartitionIndex index, Offset highWatermark) {
  if (dependencies_.executor->isCurrent()) {
    const auto found = partitions_.find(index);
    if (found != partitions_.end() && found->second->appending) {
      found->second->announced = std::max(found->second->announced, highWatermark);
      return;
    }
  }
  dependencies_.executor->post([weak = weak_from_this(), index, highWatermark] {
    const auto self = weak.lock();
    if (!self) return;
    if (const auto found = self->partitions_.find(index); found != self->partitions_.end()) {
      self->advance(*found->second, highWatermark);
    }
  });
}

void CoordinatorRuntime::takeUpAnnounced(Partition& partition) {
  advance(partition, partition.announced);
}

void CoordinatorRuntime::advance(Partition& partition, Offset highWatermark) {
  if (highWatermark <= partition.highWatermark) return;
  partition.highWatermark = highWatermark;
  if (partition.loading) return;
  partition.shard->onHighWatermark(highWatermark);
  completeUpTo(partition);
}

void CoordinatorRuntime::completeUpTo(Partition& partition) {
  while (!partition.pending.empty() && partition.pending.front().end <= partition.highWatermark) {
    Pending done = std::move(partition.pending.front());
    partition.pending.pop_front();
    perform(partition, done.whenCommitted(ErrorCode::None));
  }
}

void CoordinatorRuntime::watchCommits(Partition& partition) {
  if (partition.commitTimeout || partition.pending.empty()) return;
  partition.commitTimeout = std::make_shared<CommitTimeout>(weak_from_this(), partition.index, partition.incarnation);
  const platform::Duration left = partition.pending.front().deadline - dependencies_.clock->monotonic();
  timer_->add(partition.commitTimeout, std::max(left, platform::Duration::zero()));
}

void CoordinatorRuntime::onCommitTimeout(PartitionIndex index, uint64_t incarnation) {
  Partition* partition = find(index, incarnation);
  if (partition == nullptr) return;
  partition->commitTimeout.reset();
  const platform::MonotonicTime now = dependencies_.clock->monotonic();
  while (!partition->pending.empty() && partition->pending.front().deadline <= now) {
    Pending late = std::move(partition->pending.front());
    partition->pending.pop_front();
    dependencies_.log->warning(options_.name, "a write to partition {} was not committed in time", index);
    perform(*partition, late.whenCommitted(ErrorCode::RequestTimedOut));
  }
  watchCommits(*partition);
}

}  // namespace tidemark::coordinator
