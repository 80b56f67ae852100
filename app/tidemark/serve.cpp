#include <charconv>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

json failure(const std::string& command, const Error& error) { return {{"ok", false}, {"command", command}, {"error", error.message}}; }

/// Commands of standard input, as `serve --help` lists them.
class Commands {
 public:
  explicit Commands(cluster::Cluster& cluster) : cluster_(cluster) {}

  void run(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::string object;
    std::string more;
    words >> verb >> object >> more;
    if (verb.empty()) return;
    if (!more.empty()) return refuse(verb, fmt::format("\"{}\" is one word too many", more));
    if (verb == "leader") return leader(object);
    if (verb == "topics") return topics();
    if (verb == "kill") return broker(verb, object, &cluster::Cluster::killBroker);
    if (verb == "pause") return broker(verb, object, &cluster::Cluster::pauseBroker);
    if (verb == "resume") return broker(verb, object, &cluster::Cluster::resumeBroker);
    if (verb == "restart") return broker(verb, object, &cluster::Cluster::restartBroker);
    if (verb == "stop") return broker(verb, object, &cluster::Cluster::stopBroker);
    refuse(verb, "unknown command: kill N, pause N, resume N, restart N, stop N, leader TOPIC-PARTITION, topics");
  }

 private:
  void refuse(const std::string& verb, const std::string& why) { Console::print(failure(verb, {ErrorCode::InvalidRequest, why}).dump()); }

  void broker(const std::string& verb, const std::string& text, void (cluster::Cluster::*command)(NodeId, cluster::Cluster::Done)) {
    int32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size())
      return refuse(verb, fmt::format("\"{}\" is no broker's number", text));
    (cluster_.*command)(NodeId(id), [verb, id](const Result<void>& done) {
      Console::print(done ? json{{"ok", true}, {"command", verb}, {"broker", id}}.dump() : failure(verb, done.error()).dump());
    });
  }

  void leader(const std::string& text) {
    const size_t dash = text.rfind('-');
    int32_t index = -1;
    if (dash != std::string::npos) std::from_chars(text.data() + dash + 1, text.data() + text.size(), index);
    if (dash == std::string::npos || index < 0) return refuse("leader", fmt::format("\"{}\" is no TOPIC-PARTITION", text));
    const TopicPartition partition{text.substr(0, dash), PartitionIndex(index)};
    cluster_.findLeader(partition, [partition](const Result<NodeId>& found) {
      Console::print(found ? json{{"ok", true}, {"command", "leader"}, {"topic", partition.topic}, {"partition", partition.partition.value()}, {"leader", found->value()}}.dump()
                           : failure("leader", found.error()).dump());
    });
  }

  void topics() {
    cluster_.listTopics([](const std::vector<std::string>& names) {
      Console::print(json{{"ok", true}, {"command", "topics"}, {"topics", names}}.dump());
    });
  }

  cluster::Cluster& cluster_;
};

void announce(const ServeOptions& options, const cluster::Ready& ready) {
  if (options.json) {
    Console::print(json{{"bootstrap", ready.bootstrap}, {"brokers", ready.brokers}, {"clusterId", ready.clusterId}}.dump());
    return;
  }
  Console::print(fmt::format("{} brokers are ready: bootstrap {}", ready.brokers.size(), ready.bootstrap));
  Console::print("The lab's profile is in force (shorter times than Kafka's): " + ready.profile);
  Console::print("Ctrl-C stops them in control, a second one at once.");
}

}  // namespace

std::pair<std::string, std::string> keyAndValue(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

int serve(const ServeOptions& options) {
  observe::LaunchOptions launch{.brokers = options.brokers,
                                .host = options.host,
                                .port = options.port,
                                .dataFolder = options.data,
                                .firstTopic = {},
                                .settings = {}};
  for (const std::string& text : options.settings) {
    const auto [key, value] = keyAndValue(text);
    if (key.empty()) {
      Console::complain(fmt::format("tidemark: --set {}: write KEY=VALUE", text));
      return kUsage;
    }
    launch.settings.push_back({key, value});
  }
  if (options.host != "127.0.0.1" && options.host != "localhost" && options.host != "::1")
    Console::complain(fmt::format("tidemark: the brokers listen on {}: whoever reaches that address can read and write everything", options.host));

  Console console;
  cluster::Cluster cluster(cluster::nativePlatform(options.verbose));
  if (!options.advertise.empty()) cluster.advertise(options.advertise);
  int status = kOk;
  bool stopping = false;
  cluster.launch(std::move(launch), [&](const Result<void>& launched) {
    if (!launched) {
      Console::complain("tidemark: " + launched.error().message);
      status = launched.error().code == ErrorCode::InvalidConfig ? kUsage : kFailed;
      console.end();
      return;
    }
    cluster.whenReady([&options](const cluster::Ready& ready) { announce(options, ready); });
  });
  Commands commands(cluster);
  console.run([&commands](const std::string& line) { commands.run(line); },
              [&] {
                if (std::exchange(stopping, true)) {
                  cluster.abandon([&console](const Result<void>&) { console.end(); });
                } else {
                  cluster.shutdown([&console](const Result<void>&) { console.end(); });
                }
              });
  return status;
}

}  // namespace tidemark::app
