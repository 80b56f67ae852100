#include "log/cleaner/log_cleaner.h"

#include <algorithm>

#include "events/log_events.h"
#include "events/recorder.h"
#include "log/cleaner/cleaning_pass.h"
#include "log/partition_log.h"
#include "platform/random.h"

namespace tidemark::log {
namespace {

constexpr int64_t kForGood = INT64_MAX;
/// A timer further away than this is armed anew when it has passed.
constexpr int64_t kLongestWaitMs = 24 * 3600 * 1000;

}  // namespace

LogCleaner::LogCleaner(platform::Process& process, LogContext context, CleanerConfig config,
                       std::function<void(const std::shared_ptr<PartitionLog>&)> onCleaned)
    : process_(process),
      context_(std::move(context)),
      onCleaned_(std::move(onCleaned)),
      throttle_(*context_.clock),
      config_(config) {
  throttle_.setLimit(config.maxBytesPerSecond);
}

LogCleaner::~LogCleaner() = default;

void LogCleaner::configure(const CleanerConfig& config) {
  const Lock lock(mutex_);
  if (config == config_) return;
  config_ = config;
  throttle_.setLimit(config.maxBytesPerSecond);
  schedule();
}

void LogCleaner::stop() {
  const Lock lock(mutex_);
  stopped_ = true;
}

void LogCleaner::noteCleanable(const std::shared_ptr<PartitionLog>& log) {
  const Lock lock(mutex_);
  Entry& entry = entries_[log->partition()];
  if (entry.log.lock() != log) {
    // Another topic of that name, or the first time.
    entry = Entry();
    entry.log = log;
  }
  entry.pending = true;
  schedule();
}

bool LogCleaner::hasWork() const {
  return std::ranges::any_of(entries_, [](const auto& named) {
    const Entry& entry = named.second;
    return entry.pending || (entry.plan.due && !entry.running && entry.reason.empty());
  });
}

void LogCleaner::schedule() {
  if (stopped_ || !config_.enabled || !hasWork()) return;
  const auto threads = static_cast<size_t>(std::max(0, config_.threads));
  for (size_t i = 0; i < threads; ++i) {
    if (i == workers_.size()) workers_.push_back({process_.createExecutor({.name = fmt::format("cleaner-{}", i)})});
    Worker& worker = workers_[i];
    if (worker.busy) continue;
    worker.busy = true;
    worker.executor->post([weak = weak_from_this(), i] {
      if (const auto self = weak.lock()) self->work(i);
    });
    return;
  }
}

void LogCleaner::work(size_t worker) {
  lookAtPending();
  CleanPlan plan;
  const std::shared_ptr<PartitionLog> log = takeDirtiest(plan);
  std::shared_ptr<platform::Executor> executor;
  std::shared_ptr<platform::Executor> first;
  {
    const Lock lock(mutex_);
    executor = workers_[worker].executor;
    first = workers_.front().executor;
    // Another may be due as well, and another worker free.
    if (log) schedule();
  }
  if (log) clean(log, plan, *executor);
  {
    const Lock lock(mutex_);
    workers_[worker].busy = false;
    schedule();
  }
  first->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->arm();
  });
}

void LogCleaner::lookAtPending() {
  while (true) {
    std::shared_ptr<PartitionLog> log;
    {
      const Lock lock(mutex_);
      for (auto at = entries_.begin(); at != entries_.end() && !log;) {
        Entry& entry = at->second;
        auto candidate = entry.log.lock();
        if (!candidate) {
          at = entries_.erase(at);
          continue;
        }
        if (entry.pending) {
          entry.pending = false;
          log = std::move(candidate);
        }
        ++at;
      }
    }
    if (!log) return;
    const CleanView view = log->cleanView(false);
    Result<CleanPlan> plan = CleanPlan();
    if (view.config->compact && log->mayClean(view.truncations)) plan = planFor(view, context_.clock->wallMs());
    if (!plan) {
      if (log->mayClean(view.truncations)) setAside(log, plan.error());
      continue;
    }
    const Lock lock(mutex_);
    if (const auto found = entries_.find(log->partition()); found != entries_.end()) found->second.plan = *plan;
  }
}

std::shared_ptr<PartitionLog> LogCleaner::takeDirtiest(CleanPlan& plan) {
  const Lock lock(mutex_);
  if (stopped_ || !config_.enabled) return nullptr;
  Entry* dirtiest = nullptr;
  for (auto& [partition, entry] : entries_) {
    if (!entry.plan.due || entry.running || !entry.reason.empty()) continue;
    if (dirtiest == nullptr || entry.plan.dirtyRatio() > dirtiest->plan.dirtyRatio()) dirtiest = &entry;
  }
  auto log = dirtiest == nullptr ? nullptr : dirtiest->log.lock();
  if (!log) return nullptr;
  dirtiest->running = true;
  plan = dirtiest->plan;
  return log;
}

void LogCleaner::clean(const std::shared_ptr<PartitionLog>& log, const CleanPlan& plan, platform::Executor& executor) {
  CleanerConfig config;
  OffsetMap::HashKey key;
  {
    const Lock lock(mutex_);
    config = config_;
    if (!hashKey_) hashKey_ = {process_.random().next(), process_.random().next()};
    key = *hashKey_;
  }
  const auto threads = std::max(1, config.threads);
  const PassResources resources{
      .context = context_,
      .throttle = throttle_,
      .executor = executor,
      .maxSlots = static_cast<size_t>(std::max<int64_t>(0, config.dedupeBufferBytes)) / OffsetMap::kEntrySize /
                  static_cast<size_t>(threads),
      .loadFactor = config.loadFactor,
      .ioBufferBytes = static_cast<size_t>(std::max(0, config.ioBufferBytes)) / static_cast<size_t>(threads),
      .hashKey = key};
  events::PartitionTag tag;
  if (context_.recorder != nullptr) {
    tag = context_.recorder->partition(log->partition().topic, log->partition().partition);
    context_.recorder->emit(events::CleanerPassStarted{.partition = tag,
                                                       .firstDirty = plan.firstDirty,
                                                       .firstUncleanable = plan.firstUncleanable,
                                                       .cleanBytes = plan.cleanBytes,
                                                       .dirtyBytes = plan.cleanableBytes});
  }
  Result<std::optional<CleanedPass>> pass = std::optional<CleanedPass>();
  const Result<void> ran = log->cleaning([&]() -> Result<void> {
    CleanView view = log->cleanView(true);
    if (!log->mayClean(view.truncations) || !view.config->compact) return {};
    pass = CleaningPass(*log, resources, std::move(view), plan).run();
    return {};
  });
  // Closed, offline or removed: who did it has said so.
  if (!ran) pass = std::optional<CleanedPass>();
  if (pass && *pass) {
    const CleanedPass& done = **pass;
    context_.logger->info("cleaner", "{}: offsets {} to {} cleaned, {} of {} records kept, {} bytes became {}",
                          log->partition(), done.firstDirty, done.endOffset, done.recordsKept, done.recordsRead,
                          done.bytesBefore, done.bytesAfter);
    if (context_.recorder != nullptr)
      context_.recorder->emit(events::CleanerPassFinished{.partition = tag,
                                                          .endOffset = done.endOffset,
                                                          .recordsRead = done.recordsRead,
                                                          .recordsKept = done.recordsKept,
                                                          .tombstonesKept = done.tombstonesKept,
                                                          .tombstonesDropped = done.tombstonesDropped,
                                                          .bytesBefore = done.bytesBefore,
                                                          .bytesAfter = done.bytesAfter,
                                                          .took = done.took});
    if (onCleaned_) onCleaned_(log);
  }
  if (!pass) setAside(log, pass.error());
  const Lock lock(mutex_);
  const auto found = entries_.find(log->partition());
  if (found == entries_.end() || found->second.log.lock() != log) return;
  Entry& entry = found->second;
  entry.running = false;
  entry.plan.due = false;
  entry.pending = true;
  if (!pass || !*pass) return;
  ++entry.passes;
  entry.lastPass = **pass;
}

void LogCleaner::setAside(const std::shared_ptr<PartitionLog>& log, const Error& error) {
  const bool forGood = error.code == ErrorCode::CorruptMessage;
  context_.logger->warning("cleaner", "{} cannot be cleaned{}: {}", log->partition(),
                           forGood ? " and is set aside" : ", it is tried again later", error.message);
  if (context_.recorder != nullptr)
    context_.recorder->emit(events::CleanerSetAside{
        .partition = context_.recorder->partition(log->partition().topic, log->partition().partition),
        .reason = std::string_view(error.message)});
  const Lock lock(mutex_);
  const auto found = entries_.find(log->partition());
  if (found == entries_.end()) return;
  found->second.reason = error.message;
  found->second.asideUntilMs =
      forGood ? kForGood
              : context_.clock->wallMs() + std::chrono::duration_cast<platform::milliseconds>(config_.backoff).count();
}

void LogCleaner::arm() {
  int64_t next = INT64_MAX;
  int64_t now = 0;
  {
    const Lock lock(mutex_);
    if (stopped_) return;
    for (const auto& [partition, entry] : entries_) {
      if (entry.plan.lookAgainAtMs) next = std::min(next, *entry.plan.lookAgainAtMs);
      if (!entry.reason.empty()) next = std::min(next, entry.asideUntilMs);
    }
    now = context_.clock->wallMs();
    timer_.cancel();
    if (next == INT64_MAX) return;
    const auto wait = std::chrono::milliseconds(std::clamp<int64_t>(next - now, 0, kLongestWaitMs));
    timer_ = workers_.front().executor->schedule(wait, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->onTimer();
    });
  }
}

void LogCleaner::onTimer() {
  bool any = false;
  {
    const Lock lock(mutex_);
    const int64_t now = context_.clock->wallMs();
    for (auto& [partition, entry] : entries_) {
      const bool due = entry.plan.lookAgainAtMs && *entry.plan.lookAgainAtMs <= now;
      const bool again = !entry.reason.empty() && entry.asideUntilMs <= now;
      if (!due && !again) continue;
      entry.plan.lookAgainAtMs = std::nullopt;
      if (again) entry.reason.clear();
      entry.pending = any = true;
    }
    schedule();
  }
  if (!any) arm();
}

std::vector<CleanerStatus> LogCleaner::status(std::span<const std::shared_ptr<PartitionLog>> logs) const {
  std::vector<CleanerStatus> all;
  for (const auto& log : logs) {
    const CleanView view = log->cleanView(false);
    if (!view.config->compact || log->offline()) continue;
    CleanerStatus& status = all.emplace_back();
    status.partition = log->partition();
    status.logStart = view.logStart;
    status.logEnd = view.logEnd;
    status.minDirtyRatio = view.config->minCleanableDirtyRatio;
    status.deleteRetentionMs = view.config->deleteRetentionMs;
    if (const auto plan = planFor(view, context_.clock->wallMs())) status.plan = *plan;
    const Lock lock(mutex_);
    const auto found = entries_.find(log->partition());
    if (found == entries_.end() || found->second.log.lock() != log) continue;
    status.running = found->second.running;
    status.passes = found->second.passes;
    status.lastPass = found->second.lastPass;
    status.uncleanableReason = found->second.reason;
  }
  return all;
}

}  // namespace tidemark::log
