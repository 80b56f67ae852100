#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_code.h"
#include "coordinator/coordinator_log.h"
#include "platform/clock.h"
#include "platform/executor.h"

namespace tidemark::coordinator {

/// Names a timer of a shard: one deadline per name; arming it anew moves the deadline.
struct TimerKey {
  enum class Kind : uint8_t {
    Heartbeat,        ///< a member's session, or its parked JoinGroup
    Join,             ///< the gathering of a group
    Sync,             ///< the members' SyncGroup after it
    Rebalance,        ///< what a member has to give up
    Expiry,           ///< the periodic look for expired offsets, or transactional ids
    Abort,            ///< the periodic look for transactions that are open for too long
    Complete,         ///< a transaction whose end could not be written is brought on
    MemberSession,    ///< a member of a consumer group is to be heard of by then
    MemberRebalance,  ///< … has to have given back what it was asked for
    MemberJoin,       ///< … of the classic protocol has to have joined again
    MemberSync,       ///< … and to have asked for its assignment
    Assignment,       ///< a consumer group's next target may be made
  };
  Kind kind = Kind::Expiry;
  std::string group;
  std::string member;
  friend auto operator<=>(const TimerKey&, const TimerKey&) = default;

  struct Hash {
    size_t operator()(const TimerKey& key) const noexcept {
      const std::hash<std::string_view> of;
      return (of(key.member) * 31 + of(key.group)) * 31 + static_cast<size_t>(key.kind);
    }
  };
};

/// When a timer runs out, where whoever asked for it can put it off: a member's session is put off by each heartbeat,
/// and hardly any runs out. Shared with the runtime; on its executor only.
class Deadline {
 public:
  /// False: the timer is to be armed anew, as it is not armed, or looks at its deadline only later than that.
  bool putOff(platform::MonotonicTime to) noexcept {
    if (!armed_ || to < asked_) return false;
    at_ = to;
    return true;
  }

 private:
  friend class CoordinatorRuntime;
  platform::MonotonicTime at_;
  /// When the timer looks next; not after `at_`.
  platform::MonotonicTime asked_;
  bool armed_ = false;
};

/// Arms a timer, or disarms it.
struct TimerChange {
  TimerKey key;
  std::optional<platform::Duration> after;
  /// For one that is armed: where it is to be put off from now on. May be null.
  std::shared_ptr<Deadline> deadline;
};

/// Records of a producer's transaction: they count once it is committed.
struct TransactionalWriter {
  ProducerId producerId;
  ProducerEpoch producerEpoch;
  /// Who found the partition to be in the transaction (log::VerificationGuard); nothing: nobody asked.
  std::optional<uint64_t> verification;
};

/// What a shard's handler wants done. The runtime does it in this order: records are appended and replayed, timers
/// changed, replies sent; whenCommitted follows in its time, or at once if the append failed. Then no timer is disarmed
/// either: what replay() would have changed is as it was.
struct Effects {
  /// Called once: with None when `records` (without any: all that was written before) are committed, else with why not.
  /// A commit that was not seen in time (RequestTimedOut) may still happen.
  using Committed = std::move_only_function<Effects(ErrorCode)>;

  std::vector<CoordinatorRecord> records;
  /// One batch or nothing; otherwise as many batches as it takes.
  bool atomic = true;
  /// Whether they change the shard's state by replay(). Not so for classic groups, which are ahead of their records.
  bool replay = true;
  std::optional<TransactionalWriter> transaction;
  /// `records` may be appended a little later, in one batch with those of others who are queued. Only for records that
  /// no handler of CoordinatorRuntime::Sees::AllButGathered asks for, and without `transaction`.
  bool gather = false;
  Committed whenCommitted;
  /// `whenCommitted` is called no sooner than all that is queued by now has been handled: for work that is done once
  /// for all of them.
  bool inTurn = false;
  std::vector<TimerChange> timers;
  /// Answers that wait for nothing.
  std::vector<platform::Task> replies;

  void arm(TimerKey key, platform::Duration after, std::shared_ptr<Deadline> deadline = nullptr) {
    timers.push_back({std::move(key), after, std::move(deadline)});
  }
  void disarm(TimerKey key) { timers.push_back({std::move(key), std::nullopt, nullptr}); }
  /// Arms a timer whose deadline `slot` holds from then on, as cheaply as possible. `key()`: its name.
  template <class Key>
  void putOff(std::shared_ptr<Deadline>& slot, platform::MonotonicTime now, platform::Duration after, Key key) {
    // What is to happen to timers before this comes first.
    if (timers.empty() && slot != nullptr && slot->putOff(now + after)) return;
    if (slot == nullptr) slot = std::make_shared<Deadline>();
    arm(key(), after, slot);
  }
};

/// Effects of which nothing but the answer is to come: `answer(code)` at commit or failure.
template <class Answer>
Effects answerWhenCommitted(std::vector<CoordinatorRecord> records, Answer answer) {
  Effects effects;
  effects.records = std::move(records);
  effects.whenCommitted = [answer = std::move(answer)](ErrorCode code) mutable {
    answer(code);
    return Effects();
  };
  return effects;
}

/// What a client is told when a coordinator's write failed with `code`: it looks for the coordinator again, or tries
/// again later (Kafka's CoordinatorOperationExceptionHelper).
ErrorCode clientErrorOfWrite(ErrorCode code) noexcept;

/// What a handler decided if its write came to pass, else why it did not.
inline ErrorCode orErrorOfWrite(ErrorCode decided, ErrorCode code) noexcept {
  return code == ErrorCode::None ? decided : clientErrorOfWrite(code);
}

/// `response` if the write came to pass, else one that says nothing but why not.
template <class Response>
Response orErrorOfWrite(Response response, ErrorCode code) {
  if (code == ErrorCode::None) return response;
  Response refused;
  refused.errorCode = static_cast<int16_t>(clientErrorOfWrite(code));
  return refused;
}

/// Effects::whenCommitted of which nothing but the answer is to come: orErrorOfWrite(response) to `reply`.
template <class Reply, class Response>
Effects::Committed replyWhenCommitted(Reply reply, Response response) {
  return [reply = std::move(reply), response = std::move(response)](ErrorCode code) mutable {
    reply(orErrorOfWrite(std::move(response), code));
    return Effects();
  };
}

}  // namespace tidemark::coordinator
