#include <netdb.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster.h"
#include "config/config_table.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

/// Whatever somebody typed comes back in answers: bytes that are no UTF-8 are replaced.
void say(const json& answer) { Console::print(answer.dump(-1, ' ', false, json::error_handler_t::replace)); }

json failure(const std::string& command, const Error& error) { return {{"ok", false}, {"command", command}, {"error", error.message}}; }

bool listensEverywhere(const std::string& host) { return host == "0.0.0.0" || host == "::"; }
bool isOwnMachine(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

/// What clients of brokers that listen on every address are told if nobody said: this machine's name, if it has one that
/// can be looked up.
std::string machineName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.data(), nullptr, nullptr, &found) != 0) return {};
  ::freeaddrinfo(found);
  return name.data();
}

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
  void refuse(const std::string& verb, const std::string& why) { say(failure(verb, {ErrorCode::InvalidRequest, why})); }

  void broker(const std::string& verb, const std::string& text, void (cluster::Cluster::*command)(NodeId, cluster::Cluster::Done)) {
    int32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size())
      return refuse(verb, fmt::format("\"{}\" is no broker's number", text));
    (cluster_.*command)(NodeId(id), [verb, id](const Result<void>& done) {
      say(done ? json{{"ok", true}, {"command", verb}, {"broker", id}} : failure(verb, done.error()));
    });
  }

  void leader(const std::string& text) {
    const size_t dash = text.rfind('-');
    int32_t index = -1;
    bool whole = false;
    if (dash != std::string::npos) whole = std::from_chars(text.data() + dash + 1, text.data() + text.size(), index).ptr == text.data() + text.size();
    if (dash == std::string::npos || dash == 0 || index < 0 || !whole) return refuse("leader", fmt::format("\"{}\" is no TOPIC-PARTITION", text));
    const TopicPartition partition{text.substr(0, dash), PartitionIndex(index)};
    cluster_.findLeader(partition, [partition](const Result<NodeId>& found) {
      say(found ? json{{"ok", true}, {"command", "leader"}, {"topic", partition.topic}, {"partition", partition.partition.value()}, {"leader", found->value()}}
                : failure("leader", found.error()));
    });
  }

  void topics() {
    cluster_.listTopics([](const std::vector<std::string>& names) {
      say({{"ok", true}, {"command", "topics"}, {"topics", names}});
    });
  }

  cluster::Cluster& cluster_;
};

void announce(const ServeOptions& options, const cluster::Ready& ready) {
  if (!isOwnMachine(ready.host))
    Console::complain(fmt::format("tidemark: the brokers listen on {}: whoever reaches that address can read and write everything{}", ready.host,
                                  ready.advertisedHost == ready.host ? "" : "; clients are told " + ready.advertisedHost));
  if (ready.host != options.host)
    Console::complain(fmt::format("tidemark: the cluster in {} keeps the addresses that it has, --host {} does not apply", options.data, options.host));
  if (options.portGiven && options.port != 0 && options.port != ready.port)
    Console::complain(fmt::format("tidemark: the cluster in {} keeps the ports that it has, --port {} does not apply", options.data, options.port));
  if (options.json) {
    say({{"bootstrap", ready.bootstrap}, {"brokers", ready.brokers}, {"clusterId", ready.clusterId}});
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
    // A file may hold keys of plug-ins; what somebody types here and nobody knows is a slip.
    if (config::configTable(config::ConfigLevel::Broker).find(key) == nullptr) {
      Console::complain(fmt::format("tidemark: Invalid value {} for configuration {}: there is no such key", value, key));
      return kUsage;
    }
    launch.settings.push_back({key, value});
  }
  std::string advertise = options.advertise;
  if (advertise.empty() && listensEverywhere(options.host)) {
    advertise = machineName();
    if (advertise.empty()) {
      Console::complain(fmt::format("tidemark: --host {}: this machine's name cannot be looked up, say with --advertise what clients are told", options.host));
      return kUsage;
    }
  }

  Console console;
  cluster::Cluster cluster(cluster::nativePlatform(options.verbose));
  if (!advertise.empty()) cluster.advertise(std::move(advertise));
  int status = kOk;
  std::atomic<bool> stopping{false};
  cluster.launch(std::move(launch), [&](const Result<void>& launched) {
    // Whoever ends it while it starts has not met an error.
    if (stopping) return;
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
                if (stopping.exchange(true)) {
                  cluster.abandon([&console](const Result<void>&) { console.end(); });
                } else {
                  cluster.shutdown([&console](const Result<void>&) { console.end(); });
                }
              });
  return status;
}

}  // namespace tidemark::app
