#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "platform/process.h"

namespace tidemark::app {

/// The option that says which cluster; the second name is that of Kafka's own tools.
inline constexpr const char* kBootstrapNames = "--bootstrap,--bootstrap-server";

/// HOST:PORT[,HOST:PORT…] taken apart; an error that says what is wrong with it.
Result<std::vector<platform::Endpoint>> parseBootstrap(const std::string& text);

/// What a command needs to ask a cluster, ours or anybody's, one question after another: a process of its own and a
/// client in it. Made, used and destroyed on the main thread, which waits for each answer; a signal ends the program.
class ClusterSession {
 public:
  /// `name` is what the brokers see: "tidemark-NAME".
  ClusterSession(const std::string& name, std::string bootstrapText);
  ~ClusterSession();
  ClusterSession(const ClusterSession&) = delete;
  ClusterSession& operator=(const ClusterSession&) = delete;

  /// Whether anybody is there at all, which takes less patience than what is asked of a cluster that is.
  Result<void> open();

  client::Client& client() noexcept { return *client_; }

  /// Made and destroyed where the client lives.
  template <class T, class... Arguments>
  std::shared_ptr<T> make(Arguments&&... arguments) {
    std::shared_ptr<T> made;
    run([&] { made = std::make_shared<T>(*client_, std::forward<Arguments>(arguments)...); });
    kept_.push_back(made);
    return made;
  }

  /// `begin` gets the handler of a call and makes the call; the answer comes back here.
  template <class T, class Begin>
  Result<T> ask(Begin begin) {
    std::promise<Result<T>> promise;
    auto answer = promise.get_future();
    executor_->post([&] { begin([&promise](Result<T> result) { promise.set_value(std::move(result)); }); });
    return answer.get();
  }

  /// The same of many at once: one answer for each, in the order of `of`.
  template <class T, class Item, class Begin>
  std::vector<Result<T>> askAll(const std::vector<Item>& of, Begin begin) {
    std::vector<std::promise<Result<T>>> promises(of.size());
    executor_->post([&] {
      for (size_t i = 0; i < of.size(); ++i)
        begin(of[i], [promise = &promises[i]](Result<T> result) { promise->set_value(std::move(result)); });
    });
    std::vector<Result<T>> answers;
    answers.reserve(of.size());
    for (auto& promise : promises) answers.push_back(promise.get_future().get());
    return answers;
  }

  /// On the client's executor; returns once it has run.
  void run(const std::function<void()>& action);

 private:
  class Reach;

  const std::string bootstrap_;
  client::ClientOptions options_;
  std::shared_ptr<platform::Process> process_;
  std::shared_ptr<platform::Executor> executor_;
  std::unique_ptr<client::Client> client_;
  /// Go before the client.
  std::vector<std::shared_ptr<void>> kept_;
};

/// How long a list waits for one of the brokers before it does without.
inline constexpr std::chrono::seconds kListPatience{5};

/// Says on standard error which brokers' part is not in a list; false: none is missing.
bool complainOfMissing(const char* what, const std::map<NodeId, Error>& missing);

/// A command on a cluster from its beginning to its exit code: opens the session and acts; whatever goes wrong is told.
int runSession(const std::string& name, const std::string& bootstrap,
               const std::function<Result<void>(ClusterSession&)>& act);

}  // namespace tidemark::app
