#pragma once

#include <deque>
#include <memory>

#include "base/mutex.h"
#include "network/request.h"
#include "platform/executor.h"

namespace tidemark::network {

class ServerObserver;

/// Hands requests to the handler pool in the order they came, at most `limit` at a time ahead of the handlers. What
/// comes above that waits for room, in order; each of these is the only request of a connection that is not read from
/// until it is answered. Shared by processors and handlers; any thread.
class RequestQueue : public std::enable_shared_from_this<RequestQueue> {
 public:
  RequestQueue(std::shared_ptr<platform::Executor> handlers, RequestHandler& handler, ServerObserver* observer,
               size_t limit);

  /// False: the queue is full, the request waits for room.
  bool offer(RequestPtr request) EXCLUDES(mutex_);
  /// Handles the request here and now, on the caller's thread, unless another one is queued before it: then false, and
  /// the request is as it was.
  bool handleHere(RequestPtr& request) EXCLUDES(mutex_);
  /// Hands nothing to the handler from now on: drops what is queued. Calls `idle` once no handler runs.
  void stop(platform::Task idle) EXCLUDES(mutex_);

  struct Load {
    size_t queued = 0;
    size_t waiting = 0;
  };
  Load load() const EXCLUDES(mutex_);

 private:
  void runOne() EXCLUDES(mutex_);
  void run(RequestPtr request) EXCLUDES(mutex_);

  const std::shared_ptr<platform::Executor> handlers_;
  RequestHandler& handler_;
  ServerObserver* const observer_;
  const size_t limit_;

  mutable Mutex mutex_;
  std::deque<RequestPtr> queued_ GUARDED_BY(mutex_);
  std::deque<RequestPtr> waiting_ GUARDED_BY(mutex_);
  size_t running_ GUARDED_BY(mutex_) = 0;
  bool stopped_ GUARDED_BY(mutex_) = false;
  platform::Task idle_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::network
