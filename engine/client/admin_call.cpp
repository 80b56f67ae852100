#include "client/admin_call.h"

namespace tidemark::client::detail {

void Calls::begin(std::shared_ptr<AnyCall> call) {
  call->deadline = client_.process().clock().monotonic() + timeout_;
  run(std::move(call));
}

void Calls::run(std::shared_ptr<AnyCall> call) {
  const Target& target = call->target;
  if (target.kind == Target::Kind::Coordinator) return findCoordinator(std::move(call));
  const bool needsMetadata =
      (target.kind == Target::Kind::Leader && (call->attempts > 0 || !client_.metadata().leaderOf(target.partition))) ||
      (target.kind == Target::Kind::Node && !client_.metadata().brokers.contains(target.node));
  if (!needsMetadata) return ask(std::move(call));
  std::vector<std::string> topics;
  if (target.kind == Target::Kind::Leader) topics.push_back(target.partition.topic);
  client_.refresh(std::move(topics), whileRunning([this, call](const Result<void>&) { ask(call); }));
}

void Calls::findCoordinator(std::shared_ptr<AnyCall> call) {
  client::findCoordinator(client_, call->target.coordinator, call->target.key, {},
                          whileRunning([this, call](Result<CoordinatorPlace> found) {
                            if (!found) return judge(call, call->take(fail(std::move(found).error())));
                            call->target.node = found->node;
                            if (client_.metadata().brokers.contains(found->node)) return ask(call);
                            client_.refresh({}, whileRunning([this, call](const Result<void>&) { ask(call); }));
                          }));
}

void Calls::ask(std::shared_ptr<AnyCall> call) {
  const AnyCall& asked = *call;
  network::RawHandler handler = whileRunning([this, call = std::move(call)](Result<network::RawResponse> answer) {
    const ErrorCode error = call->take(std::move(answer));
    if (!call->answered && call->target.kind == Target::Kind::Any) client_.anyFailed();
    judge(call, error);
  });
  switch (asked.target.kind) {
    case Target::Kind::Any:
      return client_.channelToAny().sendRaw(asked.request(), asked.options, std::move(handler));
    case Target::Kind::Node:
    case Target::Kind::Coordinator:
      return client_.sendRawTo(asked.target.node, asked.request(), asked.options, std::move(handler));
    case Target::Kind::Leader:
      return client_.sendRawToLeader(asked.target.partition, asked.request(), asked.options, std::move(handler));
  }
}

void Calls::judge(std::shared_ptr<AnyCall> call, ErrorCode error) {
  if (error == ErrorCode::None || !isRetriable(error) || error == call->isAnswer) return call->tell();
  const platform::Duration wait = client_.backoff(++call->attempts);
  if (client_.process().clock().monotonic() + wait > call->deadline) return call->tell();
  // Where no answer came the client has turned to the next one already: twice would leave out every other broker.
  if (call->answered && call->target.kind == Target::Kind::Any) client_.anyFailed();
  call->timer = client_.executor().schedule(wait, whileRunning([this, waiting = std::weak_ptr(call)] {
                                              const auto again = waiting.lock();
                                              if (!again) return;
                                              std::erase(waiting_, again);
                                              run(again);
                                            }));
  waiting_.push_back(std::move(call));
}

}  // namespace tidemark::client::detail
