#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/client.h"
#include "client/fake_cluster.h"
#include "network/stage.h"

namespace tidemark::test {

/// Two fake brokers and a client of them.
class ClientTest : public OnEachPlatform {
 protected:
  ClientTest() : cluster(*stage, 2) {}
  void TearDown() override { finish(); }

  void start(client::ClientOptions options = {}) {
    cluster.start([this](const std::string& name) { return process(name); });
    clientProcess = process("client");
    executor = clientProcess->createExecutor({.name = "client", .threads = 1});
    if (options.bootstrap.empty()) options.bootstrap = cluster.bootstrap();
    run([&] { client = std::make_unique<client::Client>(*clientProcess, executor, std::move(options)); });
  }
  /// Suites that hold what the client was told about destroy it before.
  virtual void release() {}
  void finish() {
    if (finished) return;
    finished = true;
    killAll();
    release();
    client.reset();
    cluster.end();
  }
  /// On the client's executor; returns once it has run.
  void run(const std::function<void()>& action) { runOn(*executor, action); }
  void change(const std::function<void()>& action) { stage->change(action); }

  FakeCluster cluster;
  std::shared_ptr<platform::Process> clientProcess;
  std::shared_ptr<platform::Executor> executor;
  std::unique_ptr<client::Client> client;
  bool finished = false;
};

}  // namespace tidemark::test
