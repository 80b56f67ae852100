#include <charconv>
#include <chrono>
#include <functional>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/admin.h"
#include "platform/native/native.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

/// Names come from a cluster that may be anybody's: bytes that are no UTF-8 are replaced.
void printJson(const json& object) { Console::print(object.dump(-1, ' ', false, json::error_handler_t::replace)); }

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

std::string join(const std::vector<NodeId>& nodes) {
  std::string text;
  for (NodeId node : nodes) text += (text.empty() ? "" : ",") + std::to_string(node.value());
  return text;
}

void describe(const client::TopicDescription& topic, bool asJson) {
  if (asJson) {
    json partitions = json::array();
    const auto numbers = [](const std::vector<NodeId>& nodes) {
      json ids = json::array();
      for (NodeId node : nodes) ids.push_back(node.value());
      return ids;
    };
    for (const auto& [index, partition] : topic.partitions)
      partitions.push_back({{"partition", index},
                            {"leader", partition.leader.value()},
                            {"leaderEpoch", partition.leaderEpoch.value()},
                            {"replicas", numbers(partition.replicas)},
                            {"isr", numbers(partition.isr)}});
    printJson({{"topic", topic.name}, {"id", topic.id.toString()}, {"internal", topic.internal}, {"partitions", std::move(partitions)}});
    return;
  }
  Console::print(fmt::format("{}  id {}  {} partition{}{}", topic.name, topic.id, topic.partitions.size(), topic.partitions.size() == 1 ? "" : "s", topic.internal ? "  internal" : ""));
  for (const auto& [index, partition] : topic.partitions)
    Console::print(fmt::format("  {:>4}  leader {:>3}  epoch {:>3}  replicas {}  isr {}", index, partition.leader, partition.leaderEpoch,
                               join(partition.replicas), join(partition.isr)));
}

/// Finds out whether anybody is there at all, which takes less patience than what is asked of a cluster that is. On the
/// executor.
class Reach {
 public:
  Reach(platform::Process& process, std::shared_ptr<platform::Executor> executor, client::ClientOptions options)
      : clock_(process.clock()),
        executor_(executor),
        client_(process, std::move(executor), std::move(options)),
        deadline_(clock_.monotonic() + std::chrono::seconds(3)) {}

  void attempt(std::function<void(const Result<void>&)> done) {
    client_.refresh({}, [this, done = std::move(done)](const Result<void>& answered) mutable {
      const platform::Duration wait = client_.backoff(++attempts_);
      if (answered || clock_.monotonic() + wait > deadline_) return done(answered);
      again_ = executor_->schedule(wait, [this, done = std::move(done)]() mutable { attempt(std::move(done)); });
    });
  }

 private:
  platform::Clock& clock_;
  const std::shared_ptr<platform::Executor> executor_;
  client::Client client_;
  const platform::MonotonicTime deadline_;
  int attempts_ = 0;
  platform::Timer again_;
};

}  // namespace

int topics(const TopicsOptions& options) {
  const auto bootstrap = parseBootstrap(options.bootstrap);
  if (!bootstrap) {
    Console::complain("tidemark: " + bootstrap.error().message);
    return kUsage;
  }
  client::NewTopic created{.name = options.name,
                           .partitions = options.partitions,
                           .replicationFactor = static_cast<int16_t>(options.replicationFactor),
                           .configs = {},
                           .assignments = {}};
  for (const std::string& text : options.configs) {
    const auto [key, value] = keyAndValue(text);
    if (key.empty()) {
      Console::complain(fmt::format("tidemark: --config {}: write KEY=VALUE", text));
      return kUsage;
    }
    created.configs[key] = value;
  }
  Console console;
  platform::NativeOptions native;
  native.name = "topics";
  native.level = platform::Logger::Level::Warning;
  const auto process = platform::makeNativeProcess(std::move(native));
  const auto executor = process->createExecutor({.name = "topics", .threads = 1});
  std::unique_ptr<Reach> reach;
  std::unique_ptr<client::Client> client;
  std::unique_ptr<client::Admin> admin;
  int status = kOk;
  const auto finish = [&](const Error& error) {
    if (error.code != ErrorCode::None) {
      // One wording for whatever is done to a topic that is not there.
      Console::complain(error.code == ErrorCode::UnknownTopicOrPartition
                            ? fmt::format("tidemark: there is no topic {}", options.name)
                            : fmt::format("tidemark: {}{}", error.message, error.message.empty() ? errorName(error.code) : ""));
      status = kFailed;
    }
    console.end();
  };
  const Error none{ErrorCode::None, {}};
  client::ClientOptions connect;
  connect.bootstrap = *bootstrap;
  connect.clientId = "tidemark-topics";
  connect.allowAutoTopicCreation = false;
  const auto act = [&] {
    client = std::make_unique<client::Client>(*process, executor, connect);
    admin = std::make_unique<client::Admin>(*client, std::chrono::seconds(15));
    if (options.action == "create") {
      admin->createTopic(created, [&](Result<Uuid> id) {
        if (id && options.json) printJson({{"created", options.name}, {"id", id->toString()}});
        if (id && !options.json) Console::print(fmt::format("created {}", options.name));
        finish(id ? none : id.error());
      });
    } else if (options.action == "delete") {
      admin->deleteTopic(options.name, [&](Result<void> done) {
        if (done && options.json) printJson({{"deleted", options.name}});
        if (done && !options.json) Console::print(fmt::format("deleted {}", options.name));
        finish(done ? none : done.error());
      });
    } else if (options.action == "list") {
      admin->listTopics([&](Result<std::vector<std::string>> names) {
        if (names && options.json) printJson({{"topics", *names}});
        if (names && !options.json)
          for (const std::string& name : *names) Console::print(name);
        finish(names ? none : names.error());
      });
    } else {
      admin->describeTopic(options.name, [&](Result<client::TopicDescription> topic) {
        if (topic) describe(*topic, options.json);
        finish(topic ? none : topic.error());
      });
    }
  };
  executor->post([&] {
    reach = std::make_unique<Reach>(*process, executor, connect);
    reach->attempt([&](const Result<void>& reached) {
      if (reached) return act();
      finish({reached.error().code, fmt::format("no broker answers at --bootstrap {}: {}", options.bootstrap, reached.error().message)});
    });
  });
  console.run([](const std::string&) { return false; }, [] { return false; }, [&] { finish({ErrorCode::UnknownServerError, "interrupted"}); });
  process->kill({});
  process->awaitStopped();
  admin.reset();
  client.reset();
  reach.reset();
  return status;
}

}  // namespace tidemark::app
