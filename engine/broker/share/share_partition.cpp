#include "broker/share/share_partition.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"

namespace tidemark::broker {

using coordinator::isFinal;

// --- the window -----------------------------------------------------------------------------------------------------

void SharePartition::load(const coordinator::ShareStateRead& state, Offset start) {
  stateEpoch_ = state.stateEpoch;
  start_ = state.startOffset == coordinator::kUndecidedStart ? start : state.startOffset;
  end_ = start_;
  runs_.clear();
  for (const StateBatch& batch : state.batches) {
    const Offset first = std::max(batch.first, end_);
    if (batch.last < first) continue;
    // Given out, but nothing came of it that was persisted.
    if (first > end_) addNew(end_, {.last = first - 1, .member = {}, .lockedUntil = {}});
    addNew(first, {.last = batch.last,
                   .state = batch.state,
                   .deliveryCount = batch.deliveryCount,
                   .member = {},
                   .lockedUntil = {}});
    // Whether its dead letter was written nobody knows; why it was given up is not persisted.
    if (batch.state == DeliveryState::Archiving)
      letters_.push_back({first, batch.last, batch.deliveryCount, batch.deliveryCount < config_.deliveryCountLimit});
  }
  advanceStart();
}

void SharePartition::addNew(Offset first, Run run) {
  TIDEMARK_INVARIANT(first == end_ && run.last >= first,
                     fmt::format("share-partition {}: {} does not follow {}", key_.text(), first, end_));
  end_ = run.last.next();
  runs_.emplace_hint(runs_.end(), first, std::move(run));
}

SharePartition::Runs::iterator SharePartition::splitAt(Offset offset) {
  auto at = runs_.lower_bound(offset);
  if (at != runs_.end() && at->first == offset) return at;
  if (at == runs_.begin()) return at;
  const auto before = std::prev(at);
  if (before->second.last < offset) return at;
  Run right = before->second;
  before->second.last = offset - 1;
  return runs_.emplace_hint(at, offset, std::move(right));
}

void SharePartition::advanceStart() {
  while (!runs_.empty() && isFinal(runs_.begin()->second.state) && runs_.begin()->second.write == 0) {
    start_ = runs_.begin()->second.last.next();
    runs_.erase(runs_.begin());
  }
  if (runs_.empty()) start_ = end_;
}

void SharePartition::moveStart(Offset logStart) {
  if (logStart <= start_) return;
  const auto kept = splitAt(logStart);
  runs_.erase(runs_.begin(), kept);
  start_ = logStart;
  end_ = std::max(end_, logStart);
  advanceStart();
}

int32_t SharePartition::deliveryCompleteCount() const {
  int64_t count = 0;
  for (const auto& [first, run] : runs_)
    if (isFinal(run.state)) count += run.last - first + 1;
  return static_cast<int32_t>(count);
}

std::vector<SharePartition::Stretch> SharePartition::stretches() const {
  std::vector<Stretch> stretches;
  stretches.reserve(runs_.size());
  for (const auto& [first, run] : runs_)
    stretches.push_back({.first = first,
                         .last = run.last,
                         .state = run.state,
                         .deliveryCount = run.deliveryCount,
                         .member = run.isHeld() ? *run.member : std::string(),
                         .lockedUntil = run.isHeld() ? run.lockedUntil : platform::MonotonicTime()});
  return stretches;
}

// --- fetching -------------------------------------------------------------------------------------------------------

Offset SharePartition::nextFetchOffset() const {
  for (const auto& [first, run] : runs_)
    if (run.isFree()) return first;
  return end_;
}

void SharePartition::drop(Offset first, Offset last) {
  if (last < first) return;
  if (first < end_) {
    const Offset known = std::min(last, end_ - 1);
    const auto behind = splitAt(known.next());
    for (auto at = splitAt(first); at != behind; ++at)
      if (at->second.isFree()) at->second.state = DeliveryState::Archived;
    first = known.next();
  }
  if (last >= first) addNew(first, {.last = last, .state = DeliveryState::Archived, .member = {}, .lockedUntil = {}});
}

std::vector<AcquiredRange> SharePartition::acquire(const Acquisition& what) {
  std::vector<AcquiredRange> acquired;
  if (what.batches.empty() || what.maxRecords <= 0) return acquired;
  // Room for new records; without any, what was given back can be given again.
  int64_t room = std::min<int64_t>(what.maxRecords, config_.maxRecordLocks - inFlight());
  Offset limit = what.batches.back().last;
  if (room <= 0) {
    room = std::min<int64_t>(what.maxRecords, end_ - what.fetchOffset);
    limit = std::min(limit, end_ - 1);
    if (room <= 0) return acquired;
  }
  const int throttleFrom = std::max(2, (config_.deliveryCountLimit + 1) / 2);
  const auto member = std::make_shared<const std::string>(what.member);
  const platform::MonotonicTime lockedUntil = what.now + config_.lockDuration;
  int64_t count = 0;
  bool more = true;
  /// Gives [first, last], which is free or new, all delivered equally often before.
  const auto give = [&](Offset first, Offset last, int16_t before, bool fits) {
    const auto deliveries = static_cast<int16_t>(before + 1);
    if (fits && !acquired.empty() && acquired.back().last.next() == first &&
        acquired.back().deliveryCount == deliveries) {
      acquired.back().last = last;
    } else {
      acquired.push_back({first, last, deliveries});
    }
    count += last - first + 1;
  };
  Offset next = std::max(what.fetchOffset, start_);
  for (const LogBatchRange& batch : what.batches) {
    if (batch.last < next) continue;
    if (!more || count >= room || next > limit) break;
    if (batch.first > next) {
      drop(next, std::min(batch.first - 1, limit));
      next = batch.first;
      if (next > limit) break;
    }
    const Offset last = std::min(batch.last, limit);
    if (batch.skipped) {
      drop(next, last);
      next = last.next();
      continue;
    }
    // A range that is long enough ends with its batch.
    bool fits = acquired.empty() || acquired.back().last - acquired.back().first + 1 < what.batchSize;
    while (next <= last && more) {
      const int64_t left = what.strict ? room - count : INT64_MAX;
      if (left <= 0) break;
      if (next >= end_) {
        const Offset to = last - next + 1 > left ? next + (left - 1) : last;
        give(next, to, 0, fits);
        if (Run* before = runs_.empty() ? nullptr : &std::prev(runs_.end())->second;
            before != nullptr && fits && before->member == member && before->deliveryCount == 1) {
          before->last = to;
          end_ = to.next();
        } else {
          addNew(next, {.last = to,
                        .state = DeliveryState::Acquired,
                        .deliveryCount = 1,
                        .member = member,
                        .lockedUntil = lockedUntil});
        }
        next = to.next();
      } else {
        auto run = splitAt(next);
        const Offset to = std::min(last, run->second.last);
        if (!run->second.isFree()) {
          next = to.next();
          continue;
        }
        int64_t length = std::min(to - next + 1, left);
        const int16_t before = run->second.deliveryCount;
        if (before >= throttleFrom) {
          more = false;
          if (count > 0) break;
          const int64_t whole = run->second.last - run->first + 1;
          const bool isLast = config_.deliveryCountLimit > 2 && before >= config_.deliveryCountLimit - 1;
          length = isLast ? 1 : std::min(length, std::max<int64_t>(1, whole >> (before - throttleFrom + 1)));
        }
        splitAt(next + length);
        Run& given = run->second;
        give(next, given.last, before, fits);
        given.state = DeliveryState::Acquired;
        given.deliveryCount = static_cast<int16_t>(before + 1);
        given.member = member;
        given.lockedUntil = lockedUntil;
        next = given.last.next();
      }
      fits = true;
    }
  }
  advanceStart();
  return acquired;
}

// --- acknowledging --------------------------------------------------------------------------------------------------

Result<void> SharePartition::check(const std::string& member, const AcknowledgeBatch& batch) const {
  if (batch.last < start_) return {};
  if (batch.last >= end_)
    return fail(ErrorCode::InvalidRequest,
                fmt::format("offsets {} to {} were not all given out", batch.first, batch.last));
  auto at = runs_.upper_bound(std::max(batch.first, start_));
  if (at != runs_.begin()) --at;
  for (; at != runs_.end() && at->first <= batch.last; ++at) {
    const Run& run = at->second;
    if (run.last < batch.first) continue;
    if (!run.isHeld())
      return fail(ErrorCode::InvalidRecordState, fmt::format("offsets {} to {} are not locked", at->first, run.last));
    if (*run.member != member)
      return fail(ErrorCode::InvalidRecordState,
                  fmt::format("offsets {} to {} are locked by another member", at->first, run.last));
  }
  return {};
}

void SharePartition::change(Runs::iterator at, DeliveryState state, int16_t deliveryCount) {
  Run& run = at->second;
  run.countBefore = run.deliveryCount;
  run.state = state;
  run.deliveryCount = deliveryCount;
  run.write = queued_.number;
  queued_.batches.push_back({at->first, run.last, state, deliveryCount});
}

SharePartition::Ticket SharePartition::ticket() {
  queued_.tickets.push_back(++lastNumber_);
  return lastNumber_;
}

Result<std::optional<SharePartition::Ticket>> SharePartition::acknowledge(const std::string& member,
                                                                          std::span<const AcknowledgeBatch> batches,
                                                                          platform::MonotonicTime now) {
  for (const AcknowledgeBatch& batch : batches) TIDEMARK_TRY(check(member, batch));
  bool changed = false;
  for (const AcknowledgeBatch& batch : batches) {
    Offset next = std::max(batch.first, start_);
    while (next <= batch.last) {
      // As far as the client says the same of it.
      const AcknowledgeType type = batch.typeOf(next);
      Offset last = batch.last;
      if (batch.types.size() > 1) {
        last = next;
        while (last < batch.last && batch.typeOf(last.next()) == type) last = last.next();
      }
      const auto behind = splitAt(last.next());
      for (auto at = splitAt(next); at != behind; ++at) {
        Run& run = at->second;
        // Named twice.
        if (!run.isHeld()) continue;
        switch (type) {
          case AcknowledgeType::Renew:
            run.lockedUntil = now + config_.lockDuration;
            continue;
          case AcknowledgeType::Accept:
            change(at, DeliveryState::Acknowledged, run.deliveryCount);
            break;
          case AcknowledgeType::Release:
            change(at, stateAfterRelease(run.deliveryCount), run.deliveryCount);
            break;
          case AcknowledgeType::Gap:
            change(at, DeliveryState::Archived, run.deliveryCount);
            break;
          case AcknowledgeType::Reject:
            change(at, givenUp(), run.deliveryCount);
            run.rejected = true;
            break;
        }
        changed = true;
      }
      next = last.next();
    }
  }
  if (changed) return ticket();
  const bool isOld = std::ranges::any_of(batches, [&](const AcknowledgeBatch& batch) { return batch.last < start_; });
  if (isOld && unsaved_) return ticketOfWrite(*unsaved_);
  return std::nullopt;
}

SharePartition::Ticket SharePartition::ticketOfWrite(uint64_t number) {
  if (!writing_ || writing_->number < number) return ticket();
  writing_->tickets.push_back(++lastNumber_);
  return lastNumber_;
}

std::optional<SharePartition::Ticket> SharePartition::release(const std::string& member) {
  bool changed = false;
  for (auto at = runs_.begin(); at != runs_.end(); ++at) {
    Run& run = at->second;
    if (!run.isHeld() || *run.member != member) continue;
    change(at, DeliveryState::Available, static_cast<int16_t>(std::max(0, run.deliveryCount - 1)));
    changed = true;
  }
  if (!changed) return std::nullopt;
  return ticket();
}

// --- time -----------------------------------------------------------------------------------------------------------

std::optional<platform::MonotonicTime> SharePartition::nextLockTimeout() const {
  std::optional<platform::MonotonicTime> next;
  for (const auto& [first, run] : runs_)
    if (run.isHeld() && (!next || run.lockedUntil < *next)) next = run.lockedUntil;
  return next;
}

std::vector<SharePartition::ExpiredLock> SharePartition::expire(platform::MonotonicTime now) {
  std::vector<ExpiredLock> expired;
  for (auto& [first, run] : runs_) {
    if (!run.isHeld() || run.lockedUntil > now) continue;
    run.state = stateAfterRelease(run.deliveryCount);
    queued_.batches.push_back({first, run.last, run.state, run.deliveryCount});
    expired.push_back({.first = first,
                       .last = run.last,
                       .member = *run.member,
                       .deliveryCount = run.deliveryCount,
                       .archived = run.state != DeliveryState::Available});
    if (run.state == DeliveryState::Archiving) letters_.push_back({first, run.last, run.deliveryCount, false});
    run.member = {};
    if (isFinal(run.state)) unsaved_ = queued_.number;
  }
  if (!expired.empty()) advanceStart();
  return expired;
}

// --- persistence ----------------------------------------------------------------------------------------------------

std::optional<coordinator::ShareStateWrite> SharePartition::takeWrite() {
  if (writing_ || (queued_.batches.empty() && queued_.tickets.empty())) return std::nullopt;
  writing_ = std::exchange(queued_, Write{.number = queued_.number + 1, .batches = {}, .tickets = {}});
  return coordinator::ShareStateWrite{.key = key_,
                                      .stateEpoch = stateEpoch_,
                                      .leaderEpoch = leaderEpoch_,
                                      .startOffset = start_,
                                      .deliveryCompleteCount = deliveryCompleteCount(),
                                      .batches = writing_->batches};
}

std::vector<SharePartition::Ticket> SharePartition::written(bool done) {
  TIDEMARK_INVARIANT(writing_.has_value(), std::string("a write that nobody began has ended"));
  const Write write = std::exchange(writing_, std::nullopt).value();
  if (unsaved_ && write.number >= *unsaved_) {
    // The next one says where the start is by then.
    unsaved_ = done ? std::nullopt : std::optional(queued_.number);
  }
  for (auto at = runs_.begin(); at != runs_.end();) {
    Run& run = at->second;
    if (run.write == write.number) {
      run.write = 0;
      if (done) {
        run.member = {};
        if (run.state == DeliveryState::Archiving)
          letters_.push_back({at->first, run.last, run.deliveryCount, run.rejected});
      } else {
        run.rejected = false;
        run.state = DeliveryState::Acquired;
        run.deliveryCount = run.countBefore;
      }
    }
    // Neighbours that are done are one: windows stay small however they were acknowledged.
    if (at != runs_.begin()) {
      const auto before = std::prev(at);
      if (run.write == 0 && before->second.write == 0 && isFinal(run.state) && before->second.state == run.state &&
          before->second.deliveryCount == run.deliveryCount) {
        before->second.last = run.last;
        at = runs_.erase(at);
        continue;
      }
    }
    ++at;
  }
  advanceStart();
  return write.tickets;
}

void SharePartition::archive(Offset first, Offset last) {
  first = std::max(first, start_);
  if (last < first || first >= end_) return;
  const auto behind = splitAt(last.next());
  for (auto at = splitAt(first); at != behind; ++at) {
    if (at->second.state != DeliveryState::Archiving || at->second.write != 0) continue;
    at->second.state = DeliveryState::Archived;
    queued_.batches.push_back({at->first, at->second.last, DeliveryState::Archived, at->second.deliveryCount});
    unsaved_ = queued_.number;
  }
  advanceStart();
}

std::vector<SharePartition::Ticket> SharePartition::abandon() {
  std::vector<Ticket> tickets;
  if (writing_) tickets = std::move(writing_->tickets);
  writing_.reset();
  tickets.insert(tickets.end(), queued_.tickets.begin(), queued_.tickets.end());
  queued_.tickets.clear();
  queued_.batches.clear();
  return tickets;
}

Result<std::vector<AcknowledgeBatch>> readAcknowledgeBatches(std::span<const std::pair<Offset, Offset>> ranges,
                                                             std::span<const std::vector<int8_t>> types, bool renews) {
  std::vector<AcknowledgeBatch> batches;
  batches.reserve(ranges.size());
  Offset behind{-1};
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto& [first, last] = ranges[i];
    if (first > last || first.value() < 0)
      return fail(ErrorCode::InvalidRequest, fmt::format("the acknowledged offsets {} to {} are none", first, last));
    if (first < behind)
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("the acknowledged offsets from {} on come after {}", first, behind - 1));
    behind = last.next();
    AcknowledgeBatch& batch = batches.emplace_back();
    batch.first = first;
    batch.last = last;
    if (types[i].empty())
      return fail(ErrorCode::InvalidRequest, fmt::format("offsets {} to {} come without a type", first, last));
    if (types[i].size() > 1 && static_cast<int64_t>(types[i].size()) != last - first + 1)
      return fail(ErrorCode::InvalidRequest, fmt::format("{} types for {} offsets", types[i].size(), last - first + 1));
    for (const int8_t type : types[i]) {
      if (type < 0 || type > 4)
        return fail(ErrorCode::InvalidRequest, fmt::format("{} is no type of acknowledgement", type));
      if (type == 4 && !renews)
        return fail(ErrorCode::InvalidRequest, std::string("a lock is renewed by a request that does not say so"));
      batch.types.push_back(static_cast<AcknowledgeType>(type));
    }
  }
  return batches;
}

}  // namespace tidemark::broker
