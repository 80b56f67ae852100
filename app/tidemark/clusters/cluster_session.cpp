#include "tidemark/clusters/cluster_session.h"

#include <charconv>
#include <chrono>
#include <sstream>

#include <fmt/format.h>

#include "platform/native/native.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

/// Whoever types a command does not want to wait longer for one answer.
constexpr std::chrono::seconds kRequestPatience{10};

}  // namespace

Result<std::vector<platform::Endpoint>> parseBootstrap(const std::string& text) {
  std::vector<platform::Endpoint> endpoints;
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const size_t colon = entry.rfind(':');
    int port = 0;
    if (colon != std::string::npos) std::from_chars(entry.data() + colon + 1, entry.data() + entry.size(), port);
    if (colon == std::string::npos || colon == 0 || port < 1 || port > 65535)
      return fail(ErrorCode::InvalidConfig, fmt::format("--bootstrap: \"{}\" is not HOST:PORT", entry));
    std::string host = entry.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    endpoints.push_back({std::move(host), static_cast<uint16_t>(port)});
  }
  if (endpoints.empty()) return fail(ErrorCode::InvalidConfig, "--bootstrap is empty: write HOST:PORT");
  return endpoints;
}

/// On the executor.
class ClusterSession::Reach {
 public:
  Reach(ClusterSession& session, std::function<void(const Result<void>&)> done)
      : session_(session),
        done_(std::move(done)),
        deadline_(session.process_->clock().monotonic() + std::chrono::seconds(3)) {}

  void attempt() {
    session_.client_->refresh({}, [this](const Result<void>& answered) {
      const platform::Duration wait = session_.client_->backoff(++attempts_);
      if (answered || session_.process_->clock().monotonic() + wait > deadline_) return done_(answered);
      again_ = session_.executor_->schedule(wait, [this] { attempt(); });
    });
  }

 private:
  ClusterSession& session_;
  const std::function<void(const Result<void>&)> done_;
  const platform::MonotonicTime deadline_;
  int attempts_ = 0;
  platform::Timer again_;
};

ClusterSession::ClusterSession(const std::string& name, std::string bootstrapText)
    : bootstrap_(std::move(bootstrapText)) {
  platform::NativeOptions native;
  native.name = name;
  native.level = platform::Logger::Level::Warning;
  process_ = platform::makeNativeProcess(std::move(native));
  executor_ = process_->createExecutor({.name = name, .threads = 1});
  options_.clientId = "tidemark-" + name;
  options_.allowAutoTopicCreation = false;
  options_.requestTimeout = kRequestPatience;
}

ClusterSession::~ClusterSession() {
  process_->kill({});
  process_->awaitStopped();
  kept_.clear();
  client_.reset();
}

Result<void> ClusterSession::open() {
  auto endpoints = parseBootstrap(bootstrap_);
  if (!endpoints) return fail(std::move(endpoints).error());
  options_.bootstrap = *std::move(endpoints);
  std::unique_ptr<Reach> reach;
  const Result<void> reached = ask<void>([&](auto handler) {
    client_ = std::make_unique<client::Client>(*process_, executor_, options_);
    reach = std::make_unique<Reach>(*this, [handler = std::make_shared<decltype(handler)>(std::move(handler))](
                                               const Result<void>& result) { (*handler)(result); });
    reach->attempt();
  });
  run([&] { reach.reset(); });
  if (!reached)
    return fail(reached.error().code,
                fmt::format("no broker answers at --bootstrap {}: {}", bootstrap_, reached.error().message));
  return {};
}

void ClusterSession::run(const std::function<void()>& action) {
  std::promise<void> done;
  executor_->post([&] {
    action();
    done.set_value();
  });
  done.get_future().get();
}

bool complainOfMissing(const char* what, const std::map<NodeId, Error>& missing) {
  for (const auto& [node, error] : missing)
    Console::complain(fmt::format("tidemark: broker {} does not answer, the {} that it coordinates are missing: {}",
                                  node, what,
                                  error.message.empty() ? std::string(errorName(error.code)) : error.message));
  return !missing.empty();
}

int runSession(const std::string& name, const std::string& bootstrap,
               const std::function<Result<void>(ClusterSession&)>& act) {
  ClusterSession session(name, bootstrap);
  Result<void> done = session.open();
  if (done) done = act(session);
  if (done) return kOk;
  const Error& error = done.error();
  Console::complain(
      fmt::format("tidemark: {}", error.message.empty() ? std::string(errorName(error.code)) : error.message));
  return kFailed;
}

}  // namespace tidemark::app
