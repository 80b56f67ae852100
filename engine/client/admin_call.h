#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "client/client.h"
#include "client/client_codec.h"
#include "client/coordinator_lookup.h"

/// What Admin, GroupAdmin and TransactionAdmin are made of: one request, asked again while its error is one that
/// passes.
namespace tidemark::client::detail {

inline std::unexpected<Error> noAnswerFor(std::string_view what) {
  return fail(ErrorCode::UnknownServerError, fmt::format("the answer says nothing of {}", what));
}

/// Who is asked.
struct Target {
  enum class Kind : uint8_t { Any, Leader, Node, Coordinator } kind = Kind::Any;
  TopicPartition partition = {};
  /// Of a coordinator: as it was found last.
  NodeId node = {};
  CoordinatorKind coordinator = CoordinatorKind::Group;
  /// A group or a transactional id.
  std::string key = {};

  static Target leaderOf(TopicPartition which) { return {.kind = Kind::Leader, .partition = std::move(which)}; }
  static Target at(NodeId which) { return {.kind = Kind::Node, .node = which}; }
  static Target groupCoordinator(std::string group) {
    return {.kind = Kind::Coordinator, .coordinator = CoordinatorKind::Group, .key = std::move(group)};
  }
  static Target transactionCoordinator(std::string id) {
    return {.kind = Kind::Coordinator, .coordinator = CoordinatorKind::Transaction, .key = std::move(id)};
  }
};

/// One call and its repetitions.
template <class T, class Request>
struct Call {
  using Response = typename Request::Response;
  std::string what;
  Target target;
  Request request;
  std::function<Result<T>(const Response&)> extract;
  std::move_only_function<void(Result<T>)> handler;
  network::SendOptions options;
  /// An error of this code is the answer, though it might pass.
  ErrorCode isAnswer = ErrorCode::None;
  platform::MonotonicTime deadline;
  int attempts = 0;
  platform::Timer timer;
};

/// On the executor of its Client; outlived by nothing that it calls back.
class Calls : public std::enable_shared_from_this<Calls> {
 public:
  Calls(Client& itsClient, platform::Duration timeout) : client(itsClient), timeout_(timeout) {}

  template <class T, class Request>
  void start(Call<T, Request> call) {
    call.deadline = client.process().clock().monotonic() + timeout_;
    run(std::make_shared<Call<T, Request>>(std::move(call)));
  }

  int32_t timeoutMs() const { return millis(client.options().requestTimeout); }

  Client& client;
  bool stopped = false;

 private:
  template <class T, class Request>
  void run(std::shared_ptr<Call<T, Request>> call) {
    if (call->target.kind == Target::Kind::Coordinator) return findCoordinator(std::move(call));
    const bool needsMetadata =
        (call->target.kind == Target::Kind::Leader &&
         (call->attempts > 0 || !client.metadata().leaderOf(call->target.partition))) ||
        (call->target.kind == Target::Kind::Node && !client.metadata().brokers.contains(call->target.node));
    if (!needsMetadata) return ask(std::move(call));
    std::vector<std::string> topics;
    if (call->target.kind == Target::Kind::Leader) topics.push_back(call->target.partition.topic);
    client.refresh(std::move(topics), [weak = weak_from_this(), call](const Result<void>&) {
      const auto self = weak.lock();
      if (self && !self->stopped) self->ask(call);
    });
  }

  /// Anew at each attempt: it may have moved.
  template <class T, class Request>
  void findCoordinator(std::shared_ptr<Call<T, Request>> call) {
    client::findCoordinator(client, call->target.coordinator, call->target.key, {},
                            [weak = weak_from_this(), call](Result<CoordinatorPlace> found) {
                              const auto self = weak.lock();
                              if (!self || self->stopped) return;
                              if (!found)
                                return self->judge(call, Result<T>(std::unexpected(std::move(found).error())), true);
                              call->target.node = found->node;
                              if (self->client.metadata().brokers.contains(found->node)) return self->ask(call);
                              self->client.refresh({}, [weak, call](const Result<void>&) {
                                const auto again = weak.lock();
                                if (again && !again->stopped) again->ask(call);
                              });
                            });
  }

  template <class T, class Request>
  void ask(std::shared_ptr<Call<T, Request>> call) {
    using Response = typename Request::Response;
    auto handler = [weak = weak_from_this(), call](Result<network::Received<Response>> received) {
      const auto self = weak.lock();
      if (!self || self->stopped) return;
      if (!received) return self->judge(call, Result<T>(std::unexpected(std::move(received).error())), false);
      self->judge(call, call->extract(received->message), true);
    };
    Request copy = call->request;
    switch (call->target.kind) {
      case Target::Kind::Any:
        return client.sendToAny(std::move(copy), call->options, std::move(handler));
      case Target::Kind::Node:
      case Target::Kind::Coordinator:
        return client.sendTo(call->target.node, std::move(copy), call->options, std::move(handler));
      case Target::Kind::Leader:
        return client.sendToLeader(call->target.partition, std::move(copy), call->options, std::move(handler));
    }
  }

  template <class T, class Request>
  void judge(std::shared_ptr<Call<T, Request>> call, Result<T> result, bool answered) {
    if (result || !isRetriable(result.error().code) || result.error().code == call->isAnswer)
      return call->handler(std::move(result));
    const platform::Duration wait = client.backoff(++call->attempts);
    if (client.process().clock().monotonic() + wait > call->deadline) return call->handler(std::move(result));
    // Where no answer came the client has turned to the next one already: twice would leave out every other broker.
    if (answered && call->target.kind == Target::Kind::Any) client.anyFailed();
    call->timer = client.executor().schedule(wait, [weak = weak_from_this(), waiting = std::weak_ptr(call)] {
      const auto self = weak.lock();
      const auto again = waiting.lock();
      if (self && again && !self->stopped) {
        std::erase(self->waiting_, std::shared_ptr<void>(again));
        self->run(again);
      }
    });
    waiting_.push_back(std::move(call));
  }

  const platform::Duration timeout_;
  /// Calls between two attempts.
  std::vector<std::shared_ptr<void>> waiting_;
};

}  // namespace tidemark::client::detail
