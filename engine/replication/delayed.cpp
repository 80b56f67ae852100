#include "replication/delayed.h"

#include <fmt/format.h>

#include "replication/replica_manager.h"

namespace tidemark::replication {

// --- produce --------------------------------------------------------------------------------------------------------

DelayedProduce::DelayedProduce(platform::Duration timeout, std::vector<PendingProduce> pending,
                               std::vector<ProduceResult> results, RequestLabel label, events::Recorder& recorder,
                               platform::Clock& clock, ProduceDone done)
    : DelayedOperation(timeout),
      label_(std::move(label)),
      recorder_(recorder),
      clock_(clock),
      begun_(clock.monotonic()),
      partition_(pending.front().partition),
      needs_(pending.front().requiredOffset),
      pending_(std::move(pending)),
      results_(std::move(results)),
      done_(std::move(done)) {}

std::string DelayedProduce::describe() const {
  return fmt::format("produce of {} ({}) waits for the high watermark {} of {}", label_.client, label_.correlation,
                     needs_, partition_->name());
}

ParkedView DelayedProduce::view() const {
  return {.label = label_,
          .partition = partition_->name(),
          .needs = needs_,
          .minBytes = 0,
          .follower = kNoNode,
          .timeout = timeout(),
          .deadline = deadline()};
}

bool DelayedProduce::canComplete() {
  std::erase_if(pending_, [this](const PendingProduce& waits) {
    const std::optional<ErrorCode> outcome = waits.partition->produceOutcome(waits.requiredOffset, waits.epoch);
    if (!outcome) return false;
    results_[waits.index].error = *outcome;
    return true;
  });
  return pending_.empty();
}

void DelayedProduce::onParked() {
  wasParked_ = true;
  recorder_.emit(events::ProduceParked{.partition = partition_->tag(),
                                       .correlation = label_.correlation,
                                       .client = events::ClientText(label_.client),
                                       .needs = needs_,
                                       .timeout = timeout(),
                                       .parkedCount = parkedCount()});
}

void DelayedProduce::onComplete() {
  for (const PendingProduce& waits : pending_) {
    results_[waits.index].error = ErrorCode::RequestTimedOut;
    results_[waits.index].message =
        fmt::format("the records are in the log of {}, but not in that of every replica in sync after {} ms",
                    waits.partition->name(), std::chrono::duration_cast<std::chrono::milliseconds>(timeout()).count());
  }
  if (wasParked_ && pending_.empty())
    recorder_.emit(events::ProduceCompleted{.partition = partition_->tag(),
                                            .correlation = label_.correlation,
                                            .client = events::ClientText(label_.client),
                                            .parkedFor = clock_.monotonic() - begun_,
                                            .parkedCount = parkedCount()});
  done_(std::move(results_));
}

void DelayedProduce::onExpiration() {
  recorder_.emit(events::ProduceExpired{.partition = partition_->tag(),
                                        .correlation = label_.correlation,
                                        .client = events::ClientText(label_.client),
                                        .parkedFor = clock_.monotonic() - begun_,
                                        .parkedCount = parkedCount()});
}

// --- fetch ----------------------------------------------------------------------------------------------------------

DelayedFetch::DelayedFetch(ReplicaManager& manager, FetchParams params, std::vector<FetchItem> items,
                           std::vector<PendingFetch> pending, events::Recorder& recorder, platform::Clock& clock,
                           FetchDone done)
    : DelayedOperation(params.maxWait),
      manager_(manager),
      params_(std::move(params)),
      recorder_(recorder),
      clock_(clock),
      begun_(clock.monotonic()),
      items_(std::move(items)),
      pending_(std::move(pending)),
      done_(std::move(done)) {}

std::string DelayedFetch::describe() const {
  return fmt::format("fetch of {} ({}) of {} partitions waits for {} bytes", params_.label.client,
                     params_.label.correlation, pending_.size(), params_.minBytes);
}

ParkedView DelayedFetch::view(const TopicPartition* preferred) const {
  const PendingFetch* shown = &pending_.front();
  if (preferred != nullptr)
    for (const PendingFetch& waits : pending_)
      if (waits.partition->name() == *preferred) shown = &waits;
  return {.label = params_.label,
          .partition = shown->partition->name(),
          .needs = shown->ask.fetchOffset,
          .minBytes = params_.minBytes,
          .follower = params_.follower ? params_.follower->replica : kNoNode,
          .timeout = timeout(),
          .deadline = deadline()};
}

bool DelayedFetch::canComplete() {
  int64_t bytes = 0;
  for (const PendingFetch& waits : pending_) {
    const auto ends = waits.partition->offsets(
        {.currentLeaderEpoch = waits.ask.currentLeaderEpoch, .leaderOnly = params_.leaderOnly});
    if (!ends) return true;
    const log::LogOffsetMetadata& end = params_.isolation == log::FetchIsolation::LogEnd ? ends->logEndOffset
                                        : params_.isolation == log::FetchIsolation::HighWatermark
                                            ? ends->highWatermark
                                            : ends->lastStableOffset;
    // A follower cannot see how far its own fetch moved the log start: it hears of a cut log at once.
    if (params_.follower && ends->logStartOffset > waits.ask.logStartOffset &&
        ends->logStartOffset > waits.ask.fetchOffset)
      return true;
    // The log was cut below the fetch.
    if (ends->logEndOffset.offset < waits.start.offset) return true;
    // Nothing yet. A reader may be ahead of a new leader, whose high watermark is still behind that of the last one; it
    // waits like any other, where Kafka answers it at once and is asked again at once, for as long as the high
    // watermark stands still.
    if (end.offset <= waits.start.offset) continue;
    if (end.onOlderSegment(waits.start)) return true;
    if (manager_.holdsBack(params_, *waits.partition)) continue;
    // It goes on in a newer segment.
    if (!waits.start.onSameSegment(end)) return true;
    bytes += std::min<int64_t>(end.bytesSince(waits.start), waits.ask.maxBytes);
  }
  return bytes >= params_.minBytes;
}

void DelayedFetch::onParked() {
  wasParked_ = true;
  recorder_.emit(events::FetchParked{.partition = pending_.front().partition->tag(),
                                     .correlation = params_.label.correlation,
                                     .client = events::ClientText(params_.label.client),
                                     .needs = pending_.front().ask.fetchOffset,
                                     .minBytes = params_.minBytes,
                                     .follower = params_.follower ? params_.follower->replica : kNoNode,
                                     .timeout = timeout(),
                                     .parkedCount = parkedCount()});
}

void DelayedFetch::onComplete() {
  if (const platform::MonotonicTime now = clock_.monotonic(); wasParked_ && now < deadline())
    recorder_.emit(events::FetchCompleted{.partition = pending_.front().partition->tag(),
                                          .correlation = params_.label.correlation,
                                          .client = events::ClientText(params_.label.client),
                                          .parkedFor = now - begun_,
                                          .parkedCount = parkedCount()});
  // What came meanwhile is read now; who fetches was noted when it asked.
  std::vector<FetchResult> results = manager_.readAll(params_, items_, false);
  manager_.noteSent(params_, results);
  done_(std::move(results));
}

void DelayedFetch::onExpiration() {
  recorder_.emit(events::FetchExpired{.partition = pending_.front().partition->tag(),
                                      .correlation = params_.label.correlation,
                                      .client = events::ClientText(params_.label.client),
                                      .parkedFor = clock_.monotonic() - begun_,
                                      .parkedCount = parkedCount()});
}

// --- delete records -------------------------------------------------------------------------------------------------

DelayedDeleteRecords::DelayedDeleteRecords(platform::Duration timeout, std::vector<PendingDelete> pending,
                                           std::vector<DeleteResult> results, DeleteDone done)
    : DelayedOperation(timeout), pending_(std::move(pending)), results_(std::move(results)), done_(std::move(done)) {}

std::string DelayedDeleteRecords::describe() const {
  return fmt::format("DeleteRecords of {} partitions waits for the followers", results_.size());
}

bool DelayedDeleteRecords::canComplete() {
  std::erase_if(pending_, [this](const PendingDelete& waits) {
    const Result<Offset> low = waits.partition->lowWatermark();
    if (low && *low < waits.requiredOffset) return false;
    results_[waits.index].error = low ? ErrorCode::None : low.error().code;
    if (low) results_[waits.index].lowWatermark = *low;
    return true;
  });
  return pending_.empty();
}

void DelayedDeleteRecords::onComplete() {
  for (const PendingDelete& waits : pending_) results_[waits.index].error = ErrorCode::RequestTimedOut;
  done_(std::move(results_));
}

}  // namespace tidemark::replication
