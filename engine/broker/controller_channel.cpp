#include "broker/controller_channel.h"

#include <algorithm>

namespace tidemark::broker {

ControllerChannel::ControllerChannel(platform::Process& process, std::shared_ptr<platform::Executor> executor,
                                     FindController find, Options options)
    : process_(process), executor_(std::move(executor)), find_(std::move(find)), options_(std::move(options)) {}

void ControllerChannel::queue(std::shared_ptr<Pending> pending) {
  pending->deadline = process_.clock().monotonic() + options_.retryTimeout;
  waiting_.push_back(std::move(pending));
  pump();
}

bool ControllerChannel::connectToController() {
  auto found = find_();
  if (!found) return false;
  if (channel_ && controller_ == found) return true;
  controller_ = std::move(found);
  // The old connection forgets what was sent on it.
  waiting_.insert(waiting_.begin(), inFlight_.begin(), inFlight_.end());
  inFlight_.clear();
  network::ChannelOptions options;
  options.clientId = options_.clientId;
  options.requestTimeout = options_.requestTimeout;
  channel_ = std::make_unique<network::Channel>(process_, executor_, controller_->second, std::move(options));
  return true;
}

void ControllerChannel::pump() {
  if (waiting_.empty()) return;
  if (!connectToController()) {
    retryLater();
    return;
  }
  while (!waiting_.empty()) {
    const std::shared_ptr<Pending> pending = std::move(waiting_.front());
    waiting_.pop_front();
    inFlight_.push_back(pending);
    attempt(pending);
  }
}

void ControllerChannel::attempt(const std::shared_ptr<Pending>& pending) {
  channel_->sendRaw(pending->request(), {.timeout = options_.requestTimeout},
                    [this, pending, alive = std::weak_ptr(alive_)](Result<network::RawResponse> answer) {
                      const bool unreachable = !answer && (answer.error().code == ErrorCode::NetworkException ||
                                                           answer.error().code == ErrorCode::RequestTimedOut);
                      const bool settled = !unreachable && pending->take(std::move(answer));
                      const bool waited = !alive.expired() && std::erase(inFlight_, pending) > 0;
                      if (settled) return pending->tell();
                      if (!waited) return;
                      waiting_.push_back(pending);
                      retryLater();
                    });
}

void ControllerChannel::retryLater() {
  const auto now = process_.clock().monotonic();
  // Out of time: the caller decides what that means.
  std::vector<std::shared_ptr<Pending>> late;
  std::erase_if(waiting_, [&](const std::shared_ptr<Pending>& pending) {
    if (pending->deadline > now) return false;
    late.push_back(pending);
    return true;
  });
  if (!waiting_.empty()) retry_ = executor_->schedule(options_.retryBackoff, [this] { pump(); });
  for (const auto& pending : late) {
    pending->take(fail(ErrorCode::RequestTimedOut, "no active controller answered in time"));
    pending->tell();
  }
}

void ControllerChannel::wake() {
  if (waiting_.empty() && inFlight_.empty()) return;
  retry_.cancel();
  // What was sent to another controller than the present one is sent again: that one may never answer.
  if (connectToController()) {
    pump();
  } else if (!waiting_.empty()) {
    retryLater();
  }
}

void ControllerChannel::close() {
  alive_.reset();
  retry_.cancel();
  waiting_.clear();
  inFlight_.clear();
  channel_.reset();
}

}  // namespace tidemark::broker
