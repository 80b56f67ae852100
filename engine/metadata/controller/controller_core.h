#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "metadata/controller/controller_driver.h"
#include "metadata/controller/heartbeat_tracker.h"
#include "metadata/controller/view.h"
#include "platform/executor.h"
#include "platform/process.h"

namespace tidemark::metadata {

/// The state behind a ControllerDriver; everything but status() runs on the controller's executor. Private to the
/// driver.
class ControllerDriver::Core : public std::enable_shared_from_this<ControllerDriver::Core> {
 public:
  explicit Core(Setup setup) : setup_(std::move(setup)) {}

  platform::Executor& executor() { return *setup_.executor; }

  void committed(const CommittedState& state);
  void leaderChanged(const raft::LeaderAndEpoch& leader, const CommittedState& state);

  /// `evaluate` gives HandlerResult<Response> of a ControllerView.
  template <class Response, class Evaluate>
  void process(int16_t version, const Evaluate& evaluate, ResponseHandler<Response> handler) {
    const std::optional<Offset> next = nextOffset();
    if (!next) return handler(fail(notController()));
    HandlerResult<Response> result = evaluate(view(*next, version));
    if (!result) {
      // What the error rests on may not be committed yet.
      return defer([handler = std::move(handler), error = std::move(result.error())](bool committed) mutable {
        handler(fail(committed ? std::move(error) : notController()));
      });
    }
    const Result<void> appended = append(result->records, result->atomic);
    if (!appended) return handler(fail(appended.error()));
    if (result->soft) result->soft(heartbeats_, lastAppended_);
    defer([handler = std::move(handler), response = std::move(result->response)](bool committed) mutable {
      if (committed) {
        handler(std::move(response));
      } else {
        handler(fail(notController()));
      }
    });
    afterChange(result->records);
  }

  ControllerStatus status() const EXCLUDES(mutex_);

 private:
  using Completion = std::move_only_function<void(bool committed)>;
  static Error notController() { return {ErrorCode::NotController, "This node is not the active controller"}; }

  void activate(LeaderEpoch epoch, const CommittedState& state);
  void deactivate(const std::string& reason);
  /// Nothing if this node no longer leads.
  std::optional<Offset> nextOffset();
  ControllerView view(Offset next, int16_t version);
  /// In one batch or several; replayed into the image at once.
  Result<void> append(const Records& records, bool atomic);
  Result<void> appendBatch(const Records& records);
  void emitEvents(const Image& before, const Records& records);
  /// Runs `completion` when everything appended so far is committed, or leadership is lost.
  void defer(Completion completion);
  void completeUpTo(Offset committed);
  void afterChange(const Records& records);
  void fenceStaleBrokers();
  void armSessionTimer();
  void armIdleTimer();
  void armBalanceTimer(platform::Duration after);
  void balanceLeaders();
  void updateStatus();
  platform::MonotonicTime now() const { return setup_.process->clock().monotonic(); }

  const Setup setup_;
  bool active_ = false;
  LeaderEpoch epoch_;
  /// Of an active controller: committed and own uncommitted records.
  Image image_;
  CommittedState committed_{.image = std::make_shared<const Image>()};
  HeartbeatTracker heartbeats_;
  Offset lastAppended_;
  platform::MonotonicTime lastAppendTime_;
  std::deque<std::pair<Offset, Completion>> deferred_;
  platform::Timer sessionTimer_;
  bool sessionArmed_ = false;
  platform::Timer idleTimer_;
  platform::Timer balanceTimer_;

  mutable Mutex mutex_;
  ControllerStatus status_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::metadata
