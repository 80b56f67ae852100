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
  json status{{"clusterId", cluster.clusterId}, {"bootstrap", cluster.bootstrap}};
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

/// Answers one line of standard input. Some take longer than what is asked after them, so each says which line it
/// answers.
struct Answer {
  std::string verb;
  uint64_t line = 0;

  void operator()(json what) const {
    what.emplace("command", verb);
    what["line"] = line;
    say(what);
  }
  void done(json what) const {
    what["ok"] = true;
    (*this)(std::move(what));
  }
  void failed(const Error& error) const { (*this)(failure(verb, error)); }
  void refuse(const std::string& why) const { failed({ErrorCode::InvalidRequest, why}); }
};

/// Commands of standard input, as `serve --help` lists them.
class Commands {
 public:
  Commands(cluster::Cluster& cluster, std::function<void()> quit) : cluster_(cluster), quit_(std::move(quit)) {}

  /// False: what comes is no commands, and is not listened to any more.
  bool run(const std::string& line) {
    known_ = true;
    ++line_;
    take(line);
    return strangers_.heard(known_);
  }
  bool refuseLong() {
    ++line_;
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
    const Answer answer{.verb = verb, .line = line_};
    // Its JSON may hold blanks.
    if (verb == "fault") return fault(answer, line.substr(line.find(verb) + verb.size()));
    if (verb == "step") return step(answer, object, more);
    if (!more.empty()) return answer.refuse(fmt::format("\"{}\" is one word too many", more));
    const bool alone = verb == "status" || verb == "topics" || verb == "faults" || verb == "help" || verb == "quit";
    if (alone && !object.empty()) return answer.refuse(fmt::format("\"{}\" is one word too many", object));
    if (verb == "leader") return leader(answer, object);
    if (verb == "topics") return topics(answer);
    if (verb == "status") return status(answer);
    if (verb == "faults") return faults(answer);
    if (verb == "heal") return heal(answer, object);
    if (verb == "help") return help(answer);
    if (verb == "quit") {
      answer.done({});
      return quit_();
    }
    if (verb == "kill") return broker(answer, object, &cluster::Cluster::killBroker);
    if (verb == "pause") return broker(answer, object, &cluster::Cluster::pauseBroker);
    if (verb == "resume") return broker(answer, object, &cluster::Cluster::resumeBroker);
    // The window calls it so.
    if (verb == "restart" || verb == "start") return broker(answer, object, &cluster::Cluster::restartBroker);
    if (verb == "stop") return broker(answer, object, &cluster::Cluster::stopBroker);
    known_ = false;
    answer.refuse(fmt::format("unknown command; there are {}", kList));
  }

  static void help(const Answer& answer) {
    json kinds = json::array();
    for (const faults::Kind each : faults::allKinds()) kinds.push_back(faults::nameOf(each));
    answer.done({{"commands", kList},
                 {"faults", std::move(kinds)},
                 {"example", R"(fault {"kind": "delay", "target": "link leader of orders-0<->2", "delayMs": 50})"}});
  }

  void broker(const Answer& answer, const std::string& text,
              void (cluster::Cluster::*command)(NodeId, cluster::Cluster::Done)) {
    int32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size())
      return answer.refuse(fmt::format("\"{}\" is no broker's number", text));
    (cluster_.*command)(NodeId(id), [answer, id](const Result<void>& done) {
      done ? answer.done({{"broker", id}}) : answer.failed(done.error());
    });
  }

  void leader(const Answer& answer, const std::string& text) {
    const size_t dash = text.rfind('-');
    int32_t index = -1;
    bool whole = false;
    if (dash != std::string::npos)
      whole =
          std::from_chars(text.data() + dash + 1, text.data() + text.size(), index).ptr == text.data() + text.size();
    if (dash == std::string::npos || dash == 0 || index < 0 || !whole)
      return answer.refuse(fmt::format("\"{}\" is no TOPIC-PARTITION", text));
    const TopicPartition partition{text.substr(0, dash), PartitionIndex(index)};
    cluster_.findLeader(partition, [answer, partition](const Result<NodeId>& found) {
      found ? answer.done(
                  {{"topic", partition.topic}, {"partition", partition.partition.value()}, {"leader", found->value()}})
            : answer.failed(found.error());
    });
  }

  void topics(const Answer& answer) {
    cluster_.listTopics([answer](const Result<std::vector<std::string>>& names) {
      names ? answer.done({{"topics", *names}}) : answer.failed(names.error());
    });
  }

  void status(const Answer& answer) {
    cluster_.describeNow([answer](const observe::SnapshotPtr& cluster) { answer.done(statusOf(*cluster)); });
  }

  static std::optional<int> number(const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value > 0 ? std::optional(value) : std::nullopt;
  }

  void fault(const Answer& answer, const std::string& text) {
    auto parsed = faults::parseFault(text);
    if (!parsed) return answer.failed(parsed.error());
    cluster_.setFault(*std::move(parsed), [answer](const Result<int>& id) {
      id ? answer.done({{"fault", *id}}) : answer.failed(id.error());
    });
  }

  void heal(const Answer& answer, const std::string& which) {
    if (which == "all")
      return cluster_.healEach([&cluster = cluster_, answer](const Result<size_t>& healed) {
        if (!healed) return answer.failed(healed.error());
        cluster.describeNow([answer, count = *healed](const observe::SnapshotPtr& now) {
          json what{{"healed", "all"}, {"count", count}};
          // No fault holds them: whoever has mended what they died of starts them.
          for (const observe::BrokerSnapshot& each : now->brokers)
            if (each.state == observe::BrokerState::Killed) what["down"].push_back(each.id.value());
          if (what.contains("down")) what["advice"] = "`restart N` starts a broker that died of something";
          answer.done(std::move(what));
        });
      });
    const auto id = number(which);
    if (!id) return answer.refuse(fmt::format("\"{}\" is neither a fault's number nor all", which));
    cluster_.healFault(*id, [answer, id = *id](const Result<void>& healed) {
      healed ? answer.done({{"healed", id}}) : answer.failed(healed.error());
    });
  }

  void step(const Answer& answer, const std::string& which, const std::string& many) {
    const auto id = number(which);
    const auto count = many.empty() ? std::optional(1) : number(many);
    if (!id || !count) return answer.refuse("write step FAULT or step FAULT COUNT");
    cluster_.stepFault(*id, static_cast<size_t>(*count), [answer](const Result<size_t>& passed) {
      passed ? answer.done({{"passed", *passed}}) : answer.failed(passed.error());
    });
  }

  void faults(const Answer& answer) {
    cluster_.listFaults([answer](const std::vector<faults::FaultStatus>& all) {
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
        // Whom its target meant when it began.
        if (each.node != kNoNode) shown["node"] = each.node.value();
        if (each.left) shown["leftMs"] = ms(*each.left);
        list.push_back(std::move(shown));
      }
      answer.done({{"faults", std::move(list)}});
    });
  }

  static constexpr const char* kList =
      "kill N, pause N, resume N, restart N (or start N), stop N, fault JSON, faults, heal FAULT|all, step FAULT "
      "[COUNT], "
      "leader TOPIC-PARTITION, topics, status, help, quit (blank lines are passed over)";
  cluster::Cluster& cluster_;
  const std::function<void()> quit_;
  bool known_ = true;
  /// How many lines have come.
  uint64_t line_ = 0;
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
