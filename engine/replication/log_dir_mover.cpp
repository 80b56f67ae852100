#include "replication/log_dir_mover.h"

#include <algorithm>

#include <fmt/format.h>

#include "events/replication_events.h"

namespace tidemark::replication {

/// What one thread moves. Belongs to its executor.
class LogDirMover::Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(LogDirMover& mover, std::shared_ptr<platform::Executor> executor)
      : mover_(&mover), executor_(std::move(executor)) {}

  void add(std::shared_ptr<Partition> partition, bool accepted) {
    executor_->post([self = shared_from_this(), partition = std::move(partition), accepted]() mutable {
      if (self->stopped_) return;
      self->begin(std::move(partition), accepted);
    });
  }
  void remove(const TopicPartition& name, const std::string& reason) {
    executor_->post([self = shared_from_this(), name, reason] {
      if (!self->stopped_) self->end(name, reason);
    });
  }
  void wake() {
    // One task for all appends until it runs.
    if (woken_.exchange(true)) return;
    executor_->post([self = shared_from_this()] {
      self->woken_.store(false);
      if (self->stopped_) return;
      for (auto& [name, move] : self->moves_) move.caughtUp = false;
      self->step();
    });
  }
  void stop() {
    executor_->post([self = shared_from_this()] {
      self->stopped_ = true;
      self->moves_.clear();
      self->timer_.cancel();
    });
  }

 private:
  /// Of the directory in the metadata: not asked for, asked for, taken down.
  enum class Assignment : uint8_t { None, Queued, Accepted };
  struct Move {
    std::shared_ptr<Partition> partition;
    /// Tells an answer for this move from one for an earlier.
    uint64_t number = 0;
    Uuid from;
    Uuid to;
    Assignment assignment = Assignment::None;
    bool caughtUp = false;
    /// Not tried before; after a failure.
    platform::MonotonicTime notBefore = platform::MonotonicTime::min();
  };
  using Moves = std::map<TopicPartition, Move>;

  void begin(std::shared_ptr<Partition> partition, bool accepted);
  void end(const TopicPartition& name, const std::string& reason);
  void accepted(const TopicPartition& name, uint64_t number);
  void step();
  void run();
  /// Whether the move goes on.
  bool advance(Move& move);
  bool finish(Move& move);
  bool failed(Move& move, const Error& error);
  void stepLater(platform::Duration after);
  Moves::iterator next(platform::MonotonicTime now);

  LogDirMover* const mover_;
  const std::shared_ptr<platform::Executor> executor_;
  std::atomic<bool> woken_{false};

  // Of the executor.
  Moves moves_;
  /// The one that is being copied: it stays until it has caught up.
  std::optional<TopicPartition> current_;
  uint64_t lastNumber_ = 0;
  bool stepQueued_ = false;
  bool stopped_ = false;
  platform::Timer timer_;
};

void LogDirMover::Lane::begin(std::shared_ptr<Partition> partition, bool accepted) {
  const TopicPartition name = partition->name();
  Move move{.partition = std::move(partition),
            .number = ++lastNumber_,
            .from = mover_->logs_->directoryOf(name),
            .to = mover_->logs_->futureDirectoryOf(name),
            .assignment = accepted ? Assignment::Accepted : Assignment::None};
  // Given up before its turn came.
  if (move.to.isZero()) return;
  const std::string from = mover_->logs_->pathOf(move.from);
  const std::string to = mover_->logs_->pathOf(move.to);
  mover_->process_.log().info("mover", "{} is copied from {} to {}", name, from, to);
  mover_->recorder_.emit(events::ReplicaMoveStarted{
      .partition = move.partition->tag(), .from = std::string_view(from), .to = std::string_view(to)});
  moves_.insert_or_assign(name, std::move(move));
  step();
}

void LogDirMover::Lane::end(const TopicPartition& name, const std::string& reason) {
  const auto found = moves_.find(name);
  if (found == moves_.end()) return;
  const Move move = std::move(found->second);
  moves_.erase(found);
  const std::string to = mover_->logs_->pathOf(move.to);
  mover_->process_.log().info("mover", "{} is no longer copied to {}: {}", name, to, reason);
  mover_->recorder_.emit(events::ReplicaMoveCancelled{
      .partition = move.partition->tag(), .to = std::string_view(to), .reason = std::string_view(reason)});
  // The metadata may say otherwise by now, or soon, or nothing yet.
  mover_->options_.assign(move.partition->id(), move.from, {});
}

void LogDirMover::Lane::accepted(const TopicPartition& name, uint64_t number) {
  const auto found = moves_.find(name);
  if (stopped_ || found == moves_.end() || found->second.number != number) return;
  found->second.assignment = Assignment::Accepted;
  found->second.caughtUp = false;
  step();
}

LogDirMover::Lane::Moves::iterator LogDirMover::Lane::next(platform::MonotonicTime now) {
  const auto ready = [now](const Move& move) { return !move.caughtUp && move.notBefore <= now; };
  if (current_)
    if (const auto found = moves_.find(*current_); found != moves_.end() && ready(found->second)) return found;
  return std::ranges::find_if(moves_, [&](const auto& named) { return ready(named.second); });
}

void LogDirMover::Lane::step() {
  if (stepQueued_ || stopped_) return;
  stepQueued_ = true;
  executor_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->run();
  });
}

void LogDirMover::Lane::stepLater(platform::Duration after) {
  timer_ = executor_->schedule(after, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->step();
  });
}

void LogDirMover::Lane::run() {
  stepQueued_ = false;
  if (stopped_ || moves_.empty()) return;
  if (const auto wait = mover_->charge(0); wait > platform::Duration(0)) return stepLater(wait);
  const auto now = mover_->process_.clock().monotonic();
  const auto found = next(now);
  if (found == moves_.end()) {
    // All have caught up, or failed a moment ago.
    std::optional<platform::MonotonicTime> earliest;
    for (const auto& [name, move] : moves_)
      if (!move.caughtUp) earliest = std::min(earliest.value_or(move.notBefore), move.notBefore);
    if (earliest) stepLater(*earliest - now);
    return;
  }
  current_ = found->first;
  if (!advance(found->second)) moves_.erase(found);
  step();
}

bool LogDirMover::Lane::advance(Move& move) {
  const auto copied = move.partition->copyToFuture(mover_->options_.stepBytes);
  if (!copied) return failed(move, copied.error());
  if (copied->bytes > 0) (void)mover_->charge(copied->bytes);
  if (!copied->caughtUp) return true;
  const TopicPartition name = move.partition->name();
  if (move.assignment == Assignment::Accepted) return finish(move);
  move.caughtUp = true;
  if (move.assignment == Assignment::Queued) return true;
  // What is announced must not be lost by a power loss: at the next start it may be the replica.
  if (const auto prepared = mover_->logs_->prepareFuture(name); !prepared) return failed(move, prepared.error());
  move.assignment = Assignment::Queued;
  mover_->options_.assign(move.partition->id(), move.to, [weak = weak_from_this(), name, number = move.number] {
    const auto self = weak.lock();
    if (!self) return;
    self->executor_->post([weak, name, number] {
      if (const auto lane = weak.lock()) lane->accepted(name, number);
    });
  });
  return true;
}

bool LogDirMover::Lane::finish(Move& move) {
  const TopicPartition name = move.partition->name();
  // Most of it, while others still append: what is left for the swap is little.
  if (const auto prepared = mover_->logs_->prepareFuture(name); !prepared) return failed(move, prepared.error());
  const auto replaced = move.partition->replaceWithFuture(mover_->options_.stepBytes,
                                                          [&] { return mover_->logs_->replaceWithFuture(name); });
  if (!replaced) return failed(move, replaced.error());
  if (!*replaced) return true;
  const std::string from = mover_->logs_->pathOf(move.from);
  const std::string to = mover_->logs_->pathOf(move.to);
  const Offset end = move.partition->log()->logEndOffset();
  mover_->process_.log().info("mover", "{} is in {} now, up to offset {}", name, to, end);
  mover_->recorder_.emit(events::ReplicaMoved{
      .partition = move.partition->tag(), .from = std::string_view(from), .to = std::string_view(to), .logEnd = end});
  const std::shared_ptr<Partition> partition = move.partition;
  mover_->options_.moved(*partition);
  return false;
}

bool LogDirMover::Lane::failed(Move& move, const Error& error) {
  if (error.code == ErrorCode::ReplicaNotAvailable) {
    // Given up: whoever took the copy away ends the move as well.
    move.caughtUp = true;
    return true;
  }
  mover_->process_.log().warning("mover", "{} cannot be copied, it is tried again: {}", move.partition->name(),
                                 error.message);
  move.notBefore = mover_->process_.clock().monotonic() + mover_->options_.backoff;
  return true;
}

LogDirMover::LogDirMover(platform::Process& process, std::shared_ptr<log::LogManager> logs, events::Recorder& recorder,
                         LogDirMoverOptions options)
    : process_(process), logs_(std::move(logs)), recorder_(recorder), options_(std::move(options)) {}

LogDirMover::~LogDirMover() = default;

LogDirMover::Lane& LogDirMover::laneOf(const TopicPartition& partition) {
  // The same for a partition always, and the same in every run.
  uint32_t hash = 0;
  for (const char letter : partition.topic) hash = hash * 31 + static_cast<uint8_t>(letter);
  hash += static_cast<uint32_t>(partition.partition.value());
  const size_t index = hash % static_cast<uint32_t>(std::max(1, options_.threads));
  Lock lock(mutex_);
  if (lanes_.empty()) lanes_.resize(static_cast<size_t>(std::max(1, options_.threads)));
  std::shared_ptr<Lane>& lane = lanes_[index];
  if (!lane)
    lane = std::make_shared<Lane>(
        *this, process_.createExecutor({.name = fmt::format("replica-alter-log-dirs-{}", index), .threads = 1}));
  return *lane;
}

void LogDirMover::add(const std::shared_ptr<Partition>& partition, bool accepted) {
  laneOf(partition->name()).add(partition, accepted);
}

void LogDirMover::remove(const Partition& partition, const std::string& reason) {
  laneOf(partition.name()).remove(partition.name(), reason);
}

void LogDirMover::appended(const Partition& partition) {
  laneOf(partition.name()).wake();
}

void LogDirMover::setLimit(int64_t bytesPerSecond) {
  Lock lock(mutex_);
  bytesPerSecond_ = bytesPerSecond;
}

platform::Duration LogDirMover::charge(int64_t bytes) {
  const auto now = process_.clock().monotonic();
  Lock lock(mutex_);
  if (bytesPerSecond_ == INT64_MAX || bytesPerSecond_ <= 0) return {};
  const auto cost = std::chrono::duration_cast<platform::Duration>(
      std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(bytesPerSecond_)));
  paidUpTo_ = std::max(paidUpTo_, now) + cost;
  return paidUpTo_ - now;
}

void LogDirMover::stop() {
  Lock lock(mutex_);
  for (const auto& lane : lanes_)
    if (lane) lane->stop();
}

}  // namespace tidemark::replication
