#include "metadata/controller/controller_core.h"

#include <algorithm>

#include <fmt/format.h>

#include "events/recorder.h"
#include "metadata/controller/cluster_control.h"
#include "metadata/controller/config_control.h"
#include "metadata/controller/controller_events.h"
#include "metadata/controller/feature_control.h"
#include "metadata/controller/leader_updates.h"
#include "metadata/replay.h"
#include "platform/clock.h"
#include "platform/logger.h"

namespace tidemark::metadata {
namespace {

/// Preferred replicas that are elected in one go (Kafka's MAX_ELECTIONS_PER_IMBALANCE).
constexpr size_t kMaxElectionsAtOnce = 1000;

}  // namespace

void ControllerDriver::Core::committed(const CommittedState& state) {
  committed_ = state;
  if (active_) {
    completeUpTo(state.end.offset);
    if (active_ && !state.inTransaction && state.end.offset >= lastAppended_) {
      TIDEMARK_INVARIANT(!setup_.verifyImages || image_.sameContents(*state.image),
                         fmt::format("the controller's image differs from the log's at offset {}", state.end.offset));
      // Equal, but shared with everybody else in the node.
      image_ = *state.image;
    }
  }
  updateStatus();
}

void ControllerDriver::Core::leaderChanged(const raft::LeaderAndEpoch& leader, const CommittedState& state) {
  committed_ = state;
  if (leader.leader == setup_.settings.nodeId) {
    if (active_ && epoch_ == leader.epoch) return;
    if (active_) deactivate("it was elected anew");
    activate(leader.epoch, state);
  } else if (active_) {
    deactivate(fmt::format("the quorum has {}", leader));
  }
  updateStatus();
}

void ControllerDriver::Core::activate(LeaderEpoch epoch, const CommittedState& state) {
  setup_.process->log().info("controller", "Becoming active in epoch {} after offset {}", epoch, state.end.offset);
  active_ = true;
  epoch_ = epoch;
  image_ = *state.image;
  lastAppended_ = state.end.offset;
  lastAppendTime_ = now();
  heartbeats_.reset(image_, now(), state.end.offset);
  const Records& bootstrap = state.bootstrap ? *state.bootstrap : setup_.bootstrap;
  const Records records =
      activationRecords(image_, state.inTransaction, bootstrap, staticMinInsyncReplicas(setup_.settings));
  if (const Result<void> appended = append(records, true); !appended && active_) {
    setup_.process->log().error("controller", "Activation failed: {}", appended.error().message);
    setup_.appender->resign(epoch_);
    deactivate("it could not append its first records");
    return;
  }
  if (!active_) return;
  if (setup_.recorder) setup_.recorder->emit(events::ControllerActivated{.epoch = epoch});
  armSessionTimer();
  armIdleTimer();
  if (setup_.settings.leaderImbalanceCheck) armBalanceTimer(*setup_.settings.leaderImbalanceCheck);
}

void ControllerDriver::Core::deactivate(const std::string& reason) {
  setup_.process->log().info("controller", "No longer active in epoch {}: {}", epoch_, reason);
  active_ = false;
  sessionTimer_.cancel();
  sessionArmed_ = false;
  idleTimer_.cancel();
  balanceTimer_.cancel();
  heartbeats_.clear();
  image_ = *committed_.image;
  std::deque<std::pair<Offset, Completion>> pending = std::exchange(deferred_, {});
  for (auto& [offset, completion] : pending) completion(false);
  updateStatus();
}

std::optional<Offset> ControllerDriver::Core::nextOffset() {
  if (!active_) return std::nullopt;
  const Result<Offset> next = setup_.appender->nextAppendOffset(epoch_);
  if (next) return *next;
  deactivate(next.error().message);
  return std::nullopt;
}

ControllerView ControllerDriver::Core::view(Offset next, int16_t version) {
  return {.image = image_,
          .heartbeats = heartbeats_,
          .settings = setup_.settings,
          .now = now(),
          .random = setup_.process->random(),
          .nextOffset = next,
          .requestVersion = version};
}

Result<void> ControllerDriver::Core::append(const Records& records, bool atomic) {
  if (records.size() <= kMaxRecordsPerBatch) return records.empty() ? Result<void>() : appendBatch(records);
  if (atomic) return fail(ErrorCode::PolicyViolation, "Unable to perform excessively large batch operation.");
  for (size_t from = 0; from < records.size(); from += kMaxRecordsPerBatch) {
    const auto begin = records.begin() + static_cast<std::ptrdiff_t>(from);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kMaxRecordsPerBatch, records.size() - from));
    TIDEMARK_TRY(appendBatch(Records(begin, begin + count)));
  }
  return {};
}

Result<void> ControllerDriver::Core::appendBatch(const Records& records) {
  TIDEMARK_ASSIGN(std::vector<ByteVector> encoded, encodeRecords(records));
  const Result<Offset> last = setup_.appender->append(epoch_, std::move(encoded));
  if (!last) {
    if (last.error().code == ErrorCode::NotController) deactivate(last.error().message);
    return fail(last.error());
  }
  const bool told = setup_.recorder != nullptr &&
                    setup_.recorder->wants<events::BrokerRegistered, events::BrokerFenced, events::BrokerUnfenced,
                                           events::LeaderElected, events::TopicCreated, events::TopicDeleted>();
  // A copy shares all that does not change.
  const Image before = told ? image_ : Image();
  Changes ignored;
  for (const Record& record : records) {
    const Result<void> replayed = replayRecord(image_, record, ignored);
    TIDEMARK_INVARIANT(replayed.has_value(), replayed.error().message);
  }
  lastAppended_ = *last;
  lastAppendTime_ = now();
  if (told) emitEvents(before, records);
  return {};
}

void ControllerDriver::Core::emitEvents(const Image& before, const Records& records) {
  for (const Record& record : records) {
    if (const auto* registered = record.as<protocol::RegisterBrokerRecord>()) {
      setup_.recorder->emit(events::BrokerRegistered{.node = NodeId(registered->brokerId),
                                                     .epoch = BrokerEpoch(registered->brokerEpoch)});
    } else if (const auto* changed = record.as<protocol::BrokerRegistrationChangeRecord>()) {
      const NodeId node(changed->brokerId);
      const BrokerEpoch epoch(changed->brokerEpoch);
      if (changed->fenced > 0) setup_.recorder->emit(events::BrokerFenced{.node = node, .epoch = epoch});
      if (changed->fenced < 0) setup_.recorder->emit(events::BrokerUnfenced{.node = node, .epoch = epoch});
    }
  }
  // What these records decide holds once they are committed.
  std::vector<events::Payload> decided = eventsOf(*setup_.recorder, before, image_, records);
  if (decided.empty()) return;
  defer([recorder = setup_.recorder, decided = std::move(decided)](bool committed) {
    if (!committed) return;
    for (const events::Payload& payload : decided)
      std::visit([recorder](const auto& event) { recorder->emit(event); }, payload);
  });
}

void ControllerDriver::Core::defer(Completion completion) {
  if (lastAppended_ <= committed_.end.offset) {
    completion(true);
  } else {
    deferred_.emplace_back(lastAppended_, std::move(completion));
  }
}

void ControllerDriver::Core::completeUpTo(Offset committed) {
  while (!deferred_.empty() && deferred_.front().first <= committed) {
    Completion completion = std::move(deferred_.front().second);
    deferred_.pop_front();
    completion(true);
  }
}

void ControllerDriver::Core::afterChange(const Records& records) {
  if (enablesUncleanElection(records)) {
    if (const std::optional<Offset> next = nextOffset()) {
      Records elections;
      electUncleanLeaders(view(*next, 0), elections);
      if (const Result<void> appended = append(elections, false); !appended) {
        setup_.process->log().warning("controller", "No unclean election: {}", appended.error().message);
      }
    }
  }
  armSessionTimer();
  updateStatus();
}

void ControllerDriver::Core::fenceStaleBrokers() {
  sessionArmed_ = false;
  // One at a time: the next sees what became of the one before.
  while (const std::optional<Offset> next = nextOffset()) {
    const Outcome<std::optional<NodeId>> outcome = fenceStaleBroker(view(*next, 0));
    if (!outcome.response) break;
    setup_.process->log().info("controller", "Fencing broker {} because its session has timed out.", *outcome.response);
    if (const Result<void> appended = append(outcome.records, outcome.atomic); !appended) {
      setup_.process->log().warning("controller", "Broker {} stays unfenced: {}", *outcome.response,
                                    appended.error().message);
      // Try again with the log's next chance, at the latest after a whole session.
      heartbeats_.touched(*outcome.response, now(), kNoOffset);
      break;
    }
    outcome.soft(heartbeats_, lastAppended_);
  }
  armSessionTimer();
  updateStatus();
}

void ControllerDriver::Core::armSessionTimer() {
  if (!active_ || sessionArmed_) return;
  const auto deadline = heartbeats_.nextDeadline(image_.cluster, setup_.settings.sessionTimeout);
  if (!deadline) return;
  sessionArmed_ = true;
  const platform::Duration wait = std::max(*deadline - now(), platform::Duration(0));
  sessionTimer_ = executor().schedule(wait, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->active_) return;
    // Heartbeats that are queued already count: look once they were handled.
    self->executor().post([weak] {
      const auto again = weak.lock();
      if (again && again->active_) again->fenceStaleBrokers();
    });
  });
}

void ControllerDriver::Core::armIdleTimer() {
  const platform::Duration maxIdle = setup_.settings.maxIdle;
  if (!active_ || maxIdle == platform::Duration(0)) return;
  const platform::Duration wait = std::max(lastAppendTime_ + maxIdle - now(), platform::Duration(0));
  idleTimer_ = executor().schedule(wait, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !self->nextOffset()) return;
    if (self->now() - self->lastAppendTime_ >= self->setup_.settings.maxIdle) {
      // A log that cannot take it now takes the next one.
      if (!self->append({{protocol::NoOpRecord()}}, true)) self->lastAppendTime_ = self->now();
      self->updateStatus();
    }
    self->armIdleTimer();
  });
}

void ControllerDriver::Core::armBalanceTimer(platform::Duration after) {
  if (!active_) return;
  balanceTimer_ = executor().schedule(after, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->balanceLeaders();
  });
}

void ControllerDriver::Core::balanceLeaders() {
  const std::optional<Offset> next = nextOffset();
  if (!next) return;
  Records elections;
  electPreferredLeaders(view(*next, 0), kMaxElectionsAtOnce, elections);
  if (const Result<void> appended = append(elections, false); !appended) {
    setup_.process->log().warning("controller", "Leaders stay where they are: {}", appended.error().message);
  }
  // What is left goes after whatever waits in the queue.
  const bool more = elections.size() >= kMaxElectionsAtOnce;
  armBalanceTimer(more ? platform::Duration(0) : *setup_.settings.leaderImbalanceCheck);
  updateStatus();
}

ControllerStatus ControllerDriver::Core::status() const {
  Lock lock(mutex_);
  return status_;
}

void ControllerDriver::Core::updateStatus() {
  Lock lock(mutex_);
  status_ = {.active = active_,
             .epoch = epoch_,
             .lastAppended = lastAppended_,
             .lastCommitted = committed_.end.offset,
             .pending = deferred_.size(),
             .contacts = active_ ? heartbeats_.contacts() : std::vector<std::pair<NodeId, platform::MonotonicTime>>(),
             .sessionTimeout = setup_.settings.sessionTimeout};
}

}  // namespace tidemark::metadata
