#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/admin.h"
#include "tidemark/answers.h"
#include "tidemark/clusters/cluster_session.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

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
    say({{"topic", topic.name},
         {"id", topic.id.toString()},
         {"internal", topic.internal},
         {"partitions", std::move(partitions)}});
    return;
  }
  Console::print(fmt::format("{}  id {}  {} partition{}{}", topic.name, topic.id, topic.partitions.size(),
                             topic.partitions.size() == 1 ? "" : "s", topic.internal ? "  internal" : ""));
  for (const auto& [index, partition] : topic.partitions)
    Console::print(fmt::format("  {:>4}  leader {:>3}  epoch {:>3}  replicas {}  isr {}", index,
                               partition.leader.value(), partition.leaderEpoch.value(), join(partition.replicas),
                               join(partition.isr)));
}

Result<void> act(ClusterSession& session, const TopicsOptions& options, const client::NewTopic& created) {
  const auto admin = session.make<client::Admin>(std::chrono::seconds(10));
  const auto told = [&](const char* what) {
    if (options.json)
      say({{what, options.name}});
    else
      Console::print(fmt::format("{} {}", what, options.name));
  };
  if (options.action == "create") {
    TIDEMARK_ASSIGN(const Uuid id, session.ask<Uuid>([&](auto done) { admin->createTopic(created, std::move(done)); }));
    // Whoever comes next finds it. It is made even if that takes longer than anybody waits.
    static_cast<void>(
        session.ask<client::TopicDescription>([&](auto done) { admin->awaitTopic(options.name, std::move(done)); }));
    if (options.json)
      say({{"created", options.name}, {"id", id.toString()}});
    else
      told("created");
  } else if (options.action == "delete") {
    TIDEMARK_TRY(session.ask<void>([&](auto done) { admin->deleteTopic(options.name, std::move(done)); }));
    told("deleted");
  } else if (options.action == "list") {
    TIDEMARK_ASSIGN(const auto names,
                    session.ask<std::vector<std::string>>([&](auto done) { admin->listTopics(std::move(done)); }));
    if (options.json) say({{"topics", names}});
    if (!options.json)
      for (const std::string& name : names) Console::print(name);
  } else {
    std::vector<std::string> names{options.name};
    if (options.name.empty()) {
      TIDEMARK_ASSIGN(names,
                      session.ask<std::vector<std::string>>([&](auto done) { admin->listTopics(std::move(done)); }));
    }
    for (const std::string& name : names) {
      TIDEMARK_ASSIGN(const auto topic, session.ask<client::TopicDescription>(
                                            [&](auto done) { admin->describeTopic(name, std::move(done)); }));
      describe(topic, options.json);
    }
  }
  return {};
}

}  // namespace

int topics(const TopicsOptions& options) {
  const auto bootstrap = parseBootstrap(options.bootstrap);
  if (!bootstrap) {
    Console::complain("tidemark: " + bootstrap.error().message);
    return kUsage;
  }
  const bool isCreate = options.action == "create";
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
  return runSession("topics", options.bootstrap, [&](ClusterSession& session) {
    Result<void> done = act(session, options, created);
    // One wording for whatever is done to a topic that is not there.
    if (!done && done.error().code == ErrorCode::UnknownTopicOrPartition)
      done = fail(ErrorCode::UnknownTopicOrPartition, fmt::format("there is no topic {}", options.name));
    if (!done && done.error().code == ErrorCode::RequestTimedOut && (isCreate || options.action == "delete"))
      done = fail(ErrorCode::RequestTimedOut,
                  fmt::format("topic {} is not {} yet: nobody has decided it, as without a majority of the controllers "
                              "nobody can; it may still be, look with `tidemark topics list` ({})",
                              options.name, isCreate ? "created" : "deleted", done.error().message));
    return done;
  });
}

}  // namespace tidemark::app
