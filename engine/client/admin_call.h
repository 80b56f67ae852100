#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "client/client.h"
#include "client/client_codec.h"
#include "client/coordinator_lookup.h"
#include "client/gathered.h"
#include "client/running.h"

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

/// What is asked, of whom, and what becomes of the answer.
template <class T, class Request>
struct Call {
  using Response = typename Request::Response;
  Target target;
  Request request;
  std::function<Result<T>(const Response&)> extract;
  std::move_only_function<void(Result<T>)> handler;
  network::SendOptions options;
  /// An error of this code is the answer, though it might pass.
  ErrorCode isAnswer = ErrorCode::None;
};

/// A call and its repetitions, whatever is asked.
struct AnyCall {
  AnyCall(Target whom, network::SendOptions how, ErrorCode anAnswer)
      : target(std::move(whom)), options(how), isAnswer(anAnswer) {}
  AnyCall(const AnyCall&) = delete;
  AnyCall& operator=(const AnyCall&) = delete;
  virtual ~AnyCall() = default;

  virtual network::RawRequest request() const = 0;
  /// Keeps what an attempt came to, which may be an error, and says which.
  virtual ErrorCode take(Result<network::RawResponse> answer) = 0;
  /// Tells the handler what was taken last.
  virtual void tell() = 0;

  Target target;
  const network::SendOptions options;
  const ErrorCode isAnswer;
  platform::MonotonicTime deadline;
  int attempts = 0;
  /// The last attempt, in a message that could be read.
  bool answered = false;
  platform::Timer timer;
};

template <class T, class Request>
struct CallOf final : AnyCall {
  explicit CallOf(Call<T, Request> call)
      : AnyCall(std::move(call.target), call.options, call.isAnswer),
        asked(std::move(call.request)),
        extract(std::move(call.extract)),
        handler(std::move(call.handler)) {}

  network::RawRequest request() const override { return network::rawRequest(Request(asked)); }
  ErrorCode take(Result<network::RawResponse> answer) override {
    const auto received = network::decodeAnswer<typename Request::Response>(std::move(answer));
    answered = received.has_value();
    result = received ? extract(received->message) : fail(received.error());
    return result ? ErrorCode::None : result.error().code;
  }
  void tell() override { handler(std::move(result)); }

  const Request asked;
  const std::function<Result<T>(const typename Request::Response&)> extract;
  std::move_only_function<void(Result<T>)> handler;
  Result<T> result = fail(ErrorCode::UnknownServerError);
};

/// What several brokers are asked for.
template <class T>
struct Parts {
  size_t left;
  std::move_only_function<void(Result<Gathered<T>>)> handler;
  Gathered<T> gathered = {};

  void add(NodeId node, Result<std::vector<T>> part) {
    if (part)
      std::ranges::move(*part, std::back_inserter(gathered.all));
    else
      gathered.missing.emplace(node, std::move(part).error());
    if (--left > 0) return;
    handler(std::move(gathered));
  }
};

/// On the executor of its Client; outlived by nothing that it calls back.
class Calls : public Running {
 public:
  Calls(Client& client, platform::Duration timeout) : Running(client), timeout_(timeout) {}

  template <class T, class Request>
  void start(Call<T, Request> call) {
    begin(std::make_unique<CallOf<T, Request>>(std::move(call)));
  }

  /// Asks each broker that the metadata names for what it has, each attempt for as long as all may take together. Not
  /// who is there before, if that is known: whoever were asked might be the one that does not answer.
  template <class T, class Request>
  void startAtEach(Request request,
                   std::function<Result<std::vector<T>>(NodeId, const typename Request::Response&)> extract,
                   std::move_only_function<void(Result<Gathered<T>>)> handler);

  int32_t timeoutMs() const { return millis(client_.options().requestTimeout); }

 private:
  void begin(std::shared_ptr<AnyCall> call);
  void run(std::shared_ptr<AnyCall> call);
  /// Anew at each attempt: it may have moved.
  void findCoordinator(std::shared_ptr<AnyCall> call);
  void ask(std::shared_ptr<AnyCall> call);
  void judge(std::shared_ptr<AnyCall> call, ErrorCode error);

  const platform::Duration timeout_;
  /// Calls between two attempts.
  std::vector<std::shared_ptr<AnyCall>> waiting_;
};

template <class T, class Request>
void Calls::startAtEach(Request request,
                        std::function<Result<std::vector<T>>(NodeId, const typename Request::Response&)> extract,
                        std::move_only_function<void(Result<Gathered<T>>)> handler) {
  auto askAll = [this, request = std::move(request), extract = std::move(extract),
                 handler = std::move(handler)](const Result<void>& refreshed) mutable {
    if (!refreshed) return handler(fail(refreshed.error()));
    // A copy: what is asked may refresh the metadata.
    const auto brokers = client_.metadata().brokers;
    if (brokers.empty()) return handler(fail(ErrorCode::BrokerNotAvailable, "the cluster names no broker"));
    const auto parts = std::make_shared<Parts<T>>(brokers.size(), std::move(handler));
    for (const auto& [node, endpoint] : brokers)
      start(Call<std::vector<T>, Request>{
          .target = Target::at(node),
          .request = request,
          .extract = [node, extract](const typename Request::Response& response) { return extract(node, response); },
          .handler = [parts, node](Result<std::vector<T>> part) { parts->add(node, std::move(part)); },
          .options = {.timeout = timeout_}});
  };
  if (!client_.metadata().brokers.empty()) return askAll({});
  client_.refresh({}, whileRunning(std::move(askAll)));
}

}  // namespace tidemark::client::detail
