#include <netdb.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster.h"
#include "config/config_table.h"
#include "faults/fault_json.h"
#include "tidemark/answers.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"
#include "tidemark/record.h"
#include "tidemark/suggest.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

bool listensEverywhere(const std::string& host) {
  return host == "0.0.0.0" || host == "::";
}
bool isOwnMachine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// What clients of brokers that listen on every address are told if nobody said: this machine's name, if it has one
/// that can be looked up.
std::string machineName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.data(), nullptr, nullptr, &found) != 0) return {};
  ::freeaddrinfo(found);
  return name.data();
}

json numbers(const std::vector<NodeId>& nodes) {
  json list = json::array();
  for (const NodeId node : nodes) list.push_back(node.value());
  return list;
}

std::string_view nameOf(observe::BrokerState state) {
  switch (state) {
    case observe::BrokerState::Starting:
      return "starting";
    case observe::BrokerState::Running:
      return "running";
    case observe::BrokerState::Fenced:
      return "fenced";
    case observe::BrokerState::Paused:
      return "paused";
    case observe::BrokerState::Stopping:
      return "stopping";
    case observe::BrokerState::Stopped:
      return "stopped";
    case observe::BrokerState::Killed:
      return "killed";
  }
  return "?";
}

/// Of nodes, partitions and faults what decides whether the cluster is whole.
json statusOf(const observe::ClusterSnapshot& cluster) {
  json status{{"ok", true}, {"command", "status"}, {"clusterId", cluster.clusterId}, {"bootstrap", cluster.bootstrap}};
  status["controller"] = cluster.quorum.leader == kNoNode ? json() : json(cluster.quorum.leader.value());
  json nodes = json::array();
  for (const observe::BrokerSnapshot& each : cluster.brokers) {
    json node{{"id", each.id.value()}, {"state", nameOf(each.state)}, {"broker", each.isBroker}};
    if (each.isBroker)
      node.update(
          {{"listener", fmt::format("{}", each.listener)}, {"leads", each.leaderCount}, {"holds", each.replicaCount}});
    if (!each.diedOf.empty()) node["diedOf"] = each.diedOf;
    nodes.push_back(std::move(node));
  }
  status["nodes"] = std::move(nodes);
  json partitions = json::array();
  for (const observe::TopicSnapshot& topic : cluster.topics)
    for (const observe::PartitionSnapshot& each : topic.partitions)
      partitions.push_back({{"topic", topic.name},
                            {"partition", each.index.value()},
                            {"leader", each.leader == kNoNode ? json() : json(each.leader.value())},
                            {"leaderEpoch", each.leaderEpoch.value()},
                            {"replicas", numbers(each.replicas)},
                            {"isr", numbers(each.isr)},
                            {"highWatermark", each.highWatermark.value()}});
  status["partitions"] = std::move(partitions);
  json faults = json::array();
  for (const auto& each : cluster.faults) faults.push_back({{"id", each.id}, {"fault", faults::textOf(each.fault)}});
  status["faults"] = std::move(faults);
  return status;
}

/// Commands of standard input, as `serve --help` lists them.
class Commands {
 public:
  Commands(cluster::Cluster& cluster, std::function<void()> quit) : cluster_(cluster), quit_(std::move(quit)) {}

  /// False: what comes is no commands, and is not listened to any more.
  bool run(const std::string& line) {
    known_ = true;
    take(line);
    return strangers_.heard(known_);
  }
  bool refuseLong() {
    refuseTooLong();
    return strangers_.heard(false);
  }

 private:
  void take(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::string object;
    std::string more;
    words >> verb >> object >> more;
    // Blank lines set answers apart for whoever types.
    if (verb.empty()) return;
    // Its JSON may hold blanks.
    if (verb == "fault") return fault(line.substr(line.find(verb) + verb.size()));
    if (verb == "step") return step(object, more);
    if (!more.empty()) return refuse(verb, fmt::format("\"{}\" is one word too many", more));
    const bool alone = verb == "status" || verb == "topics" || verb == "faults" || verb == "help" || verb == "quit";
    if (alone && !object.empty()) return refuse(verb, fmt::format("\"{}\" is one word too many", object));
    if (verb == "leader") return leader(object);
    if (verb == "topics") return topics();
    if (verb == "status") return status();
    if (verb == "faults") return faults();
    if (verb == "heal") return heal(object);
    if (verb == "help") return say({{"ok", true}, {"command", verb}, {"commands", kList}});
    if (verb == "quit") {
      say({{"ok", true}, {"command", verb}});
      return quit_();
    }
    if (verb == "kill") return broker(verb, object, &cluster::Cluster::killBroker);
    if (verb == "pause") return broker(verb, object, &cluster::Cluster::pauseBroker);
    if (verb == "resume") return broker(verb, object, &cluster::Cluster::resumeBroker);
    if (verb == "restart") return broker(verb, object, &cluster::Cluster::restartBroker);
    if (verb == "stop") return broker(verb, object, &cluster::Cluster::stopBroker);
    known_ = false;
    refuse(verb, fmt::format("unknown command; there are {}", kList));
  }

  void broker(const std::string& verb, const std::string& text,
              void (cluster::Cluster::*command)(NodeId, cluster::Cluster::Done)) {
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
    if (dash != std::string::npos)
      whole =
          std::from_chars(text.data() + dash + 1, text.data() + text.size(), index).ptr == text.data() + text.size();
    if (dash == std::string::npos || dash == 0 || index < 0 || !whole)
      return refuse("leader", fmt::format("\"{}\" is no TOPIC-PARTITION", text));
    const TopicPartition partition{text.substr(0, dash), PartitionIndex(index)};
    cluster_.findLeader(partition, [partition](const Result<NodeId>& found) {
      say(found ? json{{"ok", true},
                       {"command", "leader"},
                       {"topic", partition.topic},
                       {"partition", partition.partition.value()},
                       {"leader", found->value()}}
                : failure("leader", found.error()));
    });
  }

  void topics() {
    cluster_.listTopics([](const Result<std::vector<std::string>>& names) {
      say(names ? json{{"ok", true}, {"command", "topics"}, {"topics", *names}} : failure("topics", names.error()));
    });
  }

  void status() {
    cluster_.describeNow([](const observe::SnapshotPtr& cluster) { say(statusOf(*cluster)); });
  }

  static std::optional<int> number(const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value > 0 ? std::optional(value) : std::nullopt;
  }

  void fault(const std::string& text) {
    auto parsed = faults::parseFault(text);
    if (!parsed) return say(failure("fault", parsed.error()));
    cluster_.setFault(*std::move(parsed), [](const Result<int>& id) {
      say(id ? json{{"ok", true}, {"command", "fault"}, {"fault", *id}} : failure("fault", id.error()));
    });
  }

  void heal(const std::string& which) {
    if (which == "all")
      return cluster_.healEach([which](const Result<size_t>& healed) {
        say(healed ? json{{"ok", true}, {"command", "heal"}, {"healed", which}, {"count", *healed}}
                   : failure("heal", healed.error()));
      });
    const auto id = number(which);
    if (!id) return refuse("heal", fmt::format("\"{}\" is neither a fault's number nor all", which));
    cluster_.healFault(*id, [which](const Result<void>& healed) {
      say(healed ? json{{"ok", true}, {"command", "heal"}, {"healed", which}} : failure("heal", healed.error()));
    });
  }

  void step(const std::string& which, const std::string& many) {
    const auto id = number(which);
    const auto count = many.empty() ? std::optional(1) : number(many);
    if (!id || !count) return refuse("step", "write step FAULT or step FAULT COUNT");
    cluster_.stepFault(*id, static_cast<size_t>(*count), [](const Result<size_t>& passed) {
      say(passed ? json{{"ok", true}, {"command", "step"}, {"passed", *passed}} : failure("step", passed.error()));
    });
  }

  void faults() {
    cluster_.listFaults([](const std::vector<faults::FaultStatus>& all) {
      const auto ms = [](platform::Duration duration) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
      };
      json list = json::array();
      for (const faults::FaultStatus& each : all) {
        json shown{{"id", each.id},
                   {"fault", json::parse(faults::toJson(each.fault))},
                   {"state", each.waits ? "waiting" : "active"},
                   {"sinceMs", ms(each.since)},
                   {"fired", each.fired}};
        if (each.left) shown["leftMs"] = ms(*each.left);
        list.push_back(std::move(shown));
      }
      say({{"ok", true}, {"command", "faults"}, {"faults", std::move(list)}});
    });
  }

  static constexpr const char* kList =
      "kill N, pause N, resume N, restart N, stop N, fault JSON, faults, heal FAULT|all, step FAULT [COUNT], "
      "leader TOPIC-PARTITION, topics, status, help, quit (blank lines are passed over)";
  cluster::Cluster& cluster_;
  const std::function<void()> quit_;
  bool known_ = true;
  Strangers strangers_;
};

void announce(const ServeOptions& options, const cluster::Ready& ready) {
  if (!isOwnMachine(ready.host))
    Console::complain(fmt::format(
        "tidemark: the brokers listen on {}: whoever reaches that address can read and write everything{}", ready.host,
        ready.advertisedHost == ready.host ? "" : "; clients are told " + ready.advertisedHost));
  if (ready.host != options.host)
    Console::complain(
        fmt::format("tidemark: the cluster in {} keeps the addresses that it has, --host {} does not apply",
                    options.data, options.host));
  if (options.portGiven && options.port != 0 && options.port != ready.port)
    Console::complain(fmt::format("tidemark: the cluster in {} keeps the ports that it has, --port {} does not apply",
                                  options.data, options.port));
  if (options.logDirectoriesGiven && options.logDirectories != ready.logDirectories)
    Console::complain(fmt::format(
        "tidemark: each broker of the cluster in {} keeps the {} that it has, --log-dirs {} does not apply",
        options.data,
        ready.logDirectories == 1 ? "log directory" : fmt::format("{} log directories", ready.logDirectories),
        options.logDirectories));
  if (options.json) {
    say({{"bootstrap", ready.bootstrap}, {"brokers", ready.brokers}, {"clusterId", ready.clusterId}});
    return;
  }
  Console::print(fmt::format(
      "{}: bootstrap {}",
      ready.brokers.size() == 1 ? "1 broker is ready" : fmt::format("{} brokers are ready", ready.brokers.size()),
      ready.bootstrap));
  Console::print("The lab's profile is in force (shorter times than Kafka's, topics with copies): " + ready.profile);
  Console::print(
      fmt::format("Topics come into being at their first use, or by `tidemark topics --bootstrap {} create NAME`.",
                  ready.bootstrap));
  Console::print("Ctrl-C stops the brokers in control, a second one at once; `help` lists what can be typed here.");
}

/// What to do about a launch that failed for want of a port; empty if that was not it.
std::string portAdvice(const ServeOptions& options, const Error& error, bool stored) {
  if (error.code != ErrorCode::NetworkException || options.port == 0) return {};
  if (stored)
    return fmt::format("; the cluster in {} has its ports from its first launch: end what uses them", options.data);
  const auto free = freePort(options.host, options.port, options.brokers);
  // All are free: it was something else.
  if (free == options.port) return {};
  return fmt::format("; --port {}{}: {}--port 0 takes free ones", options.port,
                     options.portGiven ? "" : " is the default", free ? fmt::format("--port {} is free, ", *free) : "");
}

}  // namespace

std::pair<std::string, std::string> keyAndValue(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

int serve(const ServeOptions& options) {
  observe::LaunchOptions launch{.brokers = options.brokers,
                                .separateControllers = options.separateControllers,
                                .host = options.host,
                                .port = options.port,
                                .dataFolder = options.data,
                                .logDirectories = options.logDirectories,
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
      std::vector<std::string> names;
      for (const config::ConfigDefinition& each : config::configTable(config::ConfigLevel::Broker).all())
        names.emplace_back(each.name);
      const std::string near = nearest(key, names);
      Console::complain(fmt::format("tidemark: --set {}: there is no configuration {}{}", text, key,
                                    near.empty() ? "" : "; the nearest is " + near));
      return kUsage;
    }
    launch.settings.push_back({key, value});
  }
  std::string advertise = options.advertise;
  if (advertise.empty() && listensEverywhere(options.host)) {
    advertise = machineName();
    if (advertise.empty()) {
      Console::complain(fmt::format(
          "tidemark: --host {}: this machine's name cannot be looked up, say with --advertise what clients are told",
          options.host));
      return kUsage;
    }
  }

  Console console;
  cluster::Cluster cluster(cluster::nativePlatform(options.verbose));
  if (!advertise.empty()) cluster.advertise(std::move(advertise));
  std::optional<Record> record;
  if (!options.record.empty())
    if (auto opened = record.emplace().begin(cluster, options.record); !opened) {
      Console::complain("tidemark: --record: " + opened.error().message);
      return kUsage;
    }
  int status = kOk;
  std::atomic<bool> stopping{false};
  const auto stored =
      options.data.empty() ? Result<std::optional<observe::StoredCluster>>() : cluster.stored(options.data);
  const bool goesOn = stored && stored->has_value();
  cluster.launch(std::move(launch), [&](const Result<void>& launched) {
    // Whoever ends it while it starts has not met an error.
    if (stopping) return;
    if (!launched) {
      Console::complain("tidemark: " + launched.error().message + portAdvice(options, launched.error(), goesOn));
      status = launched.error().code == ErrorCode::InvalidConfig ? kUsage : kFailed;
      console.end();
      return;
    }
    cluster.whenReady([&](const cluster::Ready& ready) {
      // Before anybody can end it: a recording without a snapshot shows nothing.
      if (record)
        cluster.describeNow([&, ready](const observe::SnapshotPtr& now) {
          record->take(*now);
          announce(options, ready);
        });
      else
        announce(options, ready);
    });
  });
  const auto stop = [&] {
    if (stopping.exchange(true)) {
      cluster.abandon([&console](const Result<void>&) { console.end(); });
    } else {
      Console::complain("tidemark: the brokers shut down in control; a second Ctrl-C ends them at once");
      cluster.shutdown([&console](const Result<void>&) { console.end(); });
    }
  };
  Commands commands(cluster, stop);
  console.run([&commands](const std::string& line) { return commands.run(line); },
              [&commands] { return commands.refuseLong(); }, stop);
  if (record)
    if (auto ended = record->end(); !ended) {
      Console::complain("tidemark: --record: " + ended.error().message);
      return kFailed;
    }
  return status;
}

}  // namespace tidemark::app
