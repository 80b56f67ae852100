#include "client/admin_call.h"

namespace tidemark::client::detail {

void Calls::begin(std::shared_ptr<AnyCall> call) {
  call->deadline = client.process().clock().monotonic() + timeout_;
  run(std::move(call));
}

void Calls::run(std::shared_ptr<AnyCall> call) {
  const Target& target = call->target;
  if (target.kind == Target::Kind::Coordinator) return findCoordinator(std::move(call));
  const bool needsMetadata =
      (target.kind == Target::Kind::Leader && (call->attempts > 0 || !client.metadata().leaderOf(target.partition))) ||
      (target.kind == Target::Kind::Node && !client.metadata().brokers.contains(target.node));
  if (!needsMetadata) return ask(std::move(call));
  std::vector<std::string> topics;
  if (target.kind == Target::Kind::Leader) topics.push_back(target.partition.topic);
  client.refresh(std::move(topics), [weak = weak_from_this(), call](const Result<void>&) {
    const auto self = weak.lock();
    if (self && !self->stopped) self->ask(call);
  });
}

void Calls::findCoordinator(std::shared_ptr<AnyCall> call) {
  client::findCoordinator(client, call->target.coordinator, call->target.key, {},
                          [weak = weak_from_this(), call](Result<CoordinatorPlace> found) {
                            const auto self = weak.lock();
                            if (!self || self->stopped) return;
                            if (!found) return self->judge(call, call->take(fail(std::move(found).error())));
                            call->target.node = found->node;
                            if (self->client.metadata().brokers.contains(found->node)) return self->ask(call);
                            self->client.refresh({}, [weak, call](const Result<void>&) {
                              const auto again = weak.lock();
                              if (again && !again->stopped) again->ask(call);
                            });
                          });
}

void Calls::ask(std::shared_ptr<AnyCall> call) {
  const AnyCall& asked = *call;
  network::RawHandler handler = [weak = weak_from_this(), call = std::move(call)](Result<network::RawResponse> answer) {
    const auto self = weak.lock();
    if (!self || self->stopped) return;
    const ErrorCode error = call->take(std::move(answer));
    if (!call->answered && call->target.kind == Target::Kind::Any) self->client.anyFailed();
    self->judge(call, error);
  };
  switch (asked.target.kind) {
    case Target::Kind::Any:
      return client.channelToAny().sendRaw(asked.request(), asked.options, std::move(handler));
    case Target::Kind::Node:
    case Target::Kind::Coordinator:
      return client.sendRawTo(asked.target.node, asked.request(), asked.options, std::move(handler));
    case Target::Kind::Leader:
      return client.sendRawToLeader(asked.target.partition, asked.request(), asked.options, std::move(handler));
  }
}

void Calls::judge(std::shared_ptr<AnyCall> call, ErrorCode error) {
  if (error == ErrorCode::None || !isRetriable(error) || error == call->isAnswer) return call->tell();
  const platform::Duration wait = client.backoff(++call->attempts);
  if (client.process().clock().monotonic() + wait > call->deadline) return call->tell();
  // Where no answer came the client has turned to the next one already: twice would leave out every other broker.
  if (call->answered && call->target.kind == Target::Kind::Any) client.anyFailed();
  call->timer = client.executor().schedule(wait, [weak = weak_from_this(), waiting = std::weak_ptr(call)] {
    const auto self = weak.lock();
    const auto again = waiting.lock();
    if (self && again && !self->stopped) {
      std::erase(self->waiting_, again);
      self->run(again);
    }
  });
  waiting_.push_back(std::move(call));
}

}  // namespace tidemark::client::detail
