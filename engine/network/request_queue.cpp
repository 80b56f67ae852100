#include "network/request_queue.h"

#include "network/server.h"

namespace tidemark::network {

RequestQueue::RequestQueue(std::shared_ptr<platform::Executor> handlers, RequestHandler& handler,
                           ServerObserver* observer, size_t limit)
    : handlers_(std::move(handlers)), handler_(handler), observer_(observer), limit_(limit) {}

bool RequestQueue::offer(RequestPtr request) {
  {
    Lock lock(mutex_);
    if (stopped_) return true;  // The request is dropped, below.
    if (queued_.size() >= limit_ || !waiting_.empty()) {
      waiting_.push_back(std::move(request));
      return false;
    }
    queued_.push_back(std::move(request));
  }
  handlers_->post([self = shared_from_this()] { self->runOne(); });
  return true;
}

void RequestQueue::runOne() {
  RequestPtr request;
  bool another = false;
  {
    Lock lock(mutex_);
    if (queued_.empty()) return;  // Stopped.
    request = std::move(queued_.front());
    queued_.pop_front();
    ++running_;
    if (!waiting_.empty()) {
      queued_.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
      another = true;
    }
  }
  if (another) handlers_->post([self = shared_from_this()] { self->runOne(); });
  run(std::move(request));
}

bool RequestQueue::handleHere(RequestPtr& request) {
  {
    Lock lock(mutex_);
    if (stopped_ || !queued_.empty() || !waiting_.empty()) return false;
    ++running_;
  }
  run(std::move(request));
  return true;
}

void RequestQueue::run(RequestPtr request) {
  if (observer_ != nullptr) observer_->requestBegun(request->context());
  handler_.handle(std::move(request));
  platform::Task idle;
  {
    Lock lock(mutex_);
    --running_;
    if (stopped_ && running_ == 0) idle = std::move(idle_);
  }
  if (idle) idle();
}

void RequestQueue::stop(platform::Task idle) {
  std::deque<RequestPtr> queued;
  std::deque<RequestPtr> waiting;
  {
    Lock lock(mutex_);
    stopped_ = true;
    queued.swap(queued_);
    waiting.swap(waiting_);
    if (running_ > 0) {
      idle_ = std::move(idle);
      return;
    }
  }
  idle();
}

RequestQueue::Load RequestQueue::load() const {
  Lock lock(mutex_);
  return {queued_.size(), waiting_.size()};
}

}  // namespace tidemark::network
