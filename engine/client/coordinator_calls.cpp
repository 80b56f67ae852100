#include "client/coordinator_calls.h"

#include <fmt/format.h>

namespace tidemark::client {
namespace {

/// The coordinator is elsewhere, or not ready: it is looked for again.
bool isOfCoordinator(ErrorCode code) {
  switch (code) {
    case ErrorCode::CoordinatorNotAvailable:
    case ErrorCode::NotCoordinator:
    case ErrorCode::NetworkException:
    case ErrorCode::RequestTimedOut:
      return true;
    default:
      return false;
  }
}

bool comesAgain(ErrorCode code) {
  return isOfCoordinator(code) || code == ErrorCode::CoordinatorLoadInProgress ||
         code == ErrorCode::ConcurrentTransactions || isRetriable(code);
}

}  // namespace

void CoordinatorCalls::enqueue(std::shared_ptr<Call> call) {
  call->until = now() + setup_.patience;
  queue_.push_back(std::move(call));
  next();
}

void CoordinatorCalls::stop() {
  Running::stop();
  timer_.cancel();
  queue_.clear();
}

void CoordinatorCalls::next() {
  if (stopped_ || busy_ || queue_.empty()) return;
  busy_ = true;
  run();
}

void CoordinatorCalls::run() {
  if (!channel_) return find();
  send(queue_.front());
}

void CoordinatorCalls::send(std::shared_ptr<Call> call) {
  network::RawRequest request = call->request();
  const network::SendOptions options{.maxVersion = call->newestVersion, .timeout = setup_.requestTimeout};
  channel_->sendRaw(std::move(request), options,
                    whileRunning([this, call = std::move(call)](Result<network::RawResponse> answer) {
                      const ErrorCode code = call->take(std::move(answer));
                      if (code != ErrorCode::None) return failed({code, std::string(errorName(code))});
                      takeFront();
                      call->tell();
                      next();
                    }));
}

void CoordinatorCalls::find() {
  findCoordinator(client_, setup_.kind, setup_.key, setup_.requestTimeout,
                  whileRunning([this](Result<CoordinatorPlace> place) {
                    if (!place) return failed(place.error());
                    channel_ = client_.newChannel(std::move(place->endpoint));
                    run();
                  }));
}

void CoordinatorCalls::failed(const Error& error) {
  const auto self = shared_from_this();
  if (isOfCoordinator(error.code)) client_.retire(std::move(channel_));
  const bool isFinal = !comesAgain(error.code);
  if (isFinal || now() >= queue_.front()->until) {
    takeFront()->fail(isFinal ? error : Error{ErrorCode::RequestTimedOut, fmt::format("gave up: {}", error.message)});
    return next();
  }
  timer_ = client_.executor().schedule(client_.backoff(++queue_.front()->attempts), whileRunning([this] { run(); }));
}

std::shared_ptr<CoordinatorCalls::Call> CoordinatorCalls::takeFront() {
  auto call = std::move(queue_.front());
  queue_.pop_front();
  busy_ = false;
  return call;
}

}  // namespace tidemark::client
