#include <netdb.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster.h"
#include "config/config_table.h"
#include "config/properties.h"
#include "tidemark/answers.h"
#include "tidemark/checks.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"
#include "tidemark/serve/lab_commands.h"
#include "tidemark/serve/lab_json.h"
#include "tidemark/serve/record.h"
#include "tidemark/suggest.h"

namespace tidemark::app {
namespace {

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

/// Says which options do not apply, because a cluster that goes on has what they are about from its first launch.
void tellKept(const ServeOptions& options, const cluster::Ready& ready) {
  struct Kept {
    std::string_view option;
    std::string said;
    bool isSo;
    std::string what;
  };
  const std::array<Kept, 5> all = {
      {{.option = "--separate-controllers",
        .said = std::to_string(options.separateControllers),
        .isSo = options.separateControllers == ready.separateControllers,
        .what = ready.separateControllers == 0 ? "its brokers as the controllers"
                : ready.separateControllers == 1
                    ? "the controller of its own that it has"
                    : fmt::format("the {} controllers of their own that it has", ready.separateControllers)},
       {.option = "--host",
        .said = options.host,
        .isSo = options.host == ready.host,
        .what = "the addresses that it has"},
       {.option = "--advertise",
        .said = options.advertise,
        .isSo = options.advertise == ready.advertisedHost,
        .what = fmt::format("the host name that clients are told, {}", ready.advertisedHost)},
       // Any free ones are asked for by 0, and those that it has are that.
       {.option = "--port",
        .said = std::to_string(options.port),
        .isSo = options.port == 0 || options.port == ready.port,
        .what = "the ports that it has"},
       {.option = "--log-dirs",
        .said = std::to_string(options.logDirectories),
        .isSo = options.logDirectories == ready.logDirectories,
        .what = ready.logDirectories == 1
                    ? "the one log directory that each broker has"
                    : fmt::format("the {} log directories that each broker has", ready.logDirectories)}}};
  for (const Kept& each : all)
    if (!each.isSo && options.given.contains(each.option))
      Console::complain(fmt::format("tidemark: the cluster in {} keeps {}, {} {} does not apply", options.data,
                                    each.what, each.option, each.said));
}

void announce(const ServeOptions& options, const cluster::Ready& ready) {
  if (!isOwnMachine(ready.host))
    Console::complain(fmt::format(
        "tidemark: the brokers listen on {}: whoever reaches that address can read and write everything{}", ready.host,
        ready.advertisedHost == ready.host ? "" : "; clients are told " + ready.advertisedHost));
  tellKept(options, ready);
  if (options.json) {
    nlohmann::json told{{"bootstrap", ready.bootstrap},
                        {"brokers", ready.brokers},
                        {"clusterId", ready.clusterId},
                        {"profile", ready.profile}};
    if (!ready.missing.empty()) told["missing"] = ready.missing;
    say(told);
    return;
  }
  Console::print(fmt::format(
      "{}{}: bootstrap {}",
      ready.brokers.size() == 1 ? "1 broker is ready" : fmt::format("{} brokers are ready", ready.brokers.size()),
      ready.missing.empty() ? "" : fmt::format(" but {}", fmt::join(ready.missing, ", ")), ready.bootstrap));
  Console::print("The lab's profile is in force (shorter times than Kafka's, topics with copies): " +
                 config::listed(ready.profile));
  Console::print(
      fmt::format("Topics come into being at their first use, or by `tidemark topics --bootstrap {} create NAME`.",
                  ready.bootstrap));
  Console::print("Ctrl-C stops the brokers in control, a second one at once; `help` lists what can be typed here.");
}

/// What happens by itself, a line each. A script reads the line of the ready brokers first: what comes before waits for
/// it.
class News {
 public:
  void tell(nlohmann::json line) {
    if (open_) return say(line);
    waiting_.push_back(std::move(line));
  }
  /// There will be no line to wait for, or it has been said.
  void open() {
    open_ = true;
    for (const nlohmann::json& line : std::exchange(waiting_, {})) say(line);
  }

 private:
  bool open_ = false;
  std::vector<nlohmann::json> waiting_;
};

/// What to do about a launch that failed for want of a port; empty if that was not it.
std::string portAdvice(const ServeOptions& options, const Error& error,
                       const std::optional<observe::StoredCluster>& stored) {
  if (error.code != ErrorCode::NetworkException) return {};
  if (stored && !canListen(stored->host))
    return fmt::format("; the cluster in {} listens on {} since its first launch, which is no address of this machine",
                       options.data, stored->host);
  if (stored)
    return fmt::format("; the cluster in {} has its ports from its first launch: end what uses them", options.data);
  if (!canListen(options.host))
    return fmt::format("; --host {}: that is no address of this machine; 127.0.0.1 is, and 0.0.0.0 is all of them",
                       options.host);
  if (options.port == 0) return {};
  const auto free = freePort(options.host, options.port, options.brokers + options.separateControllers);
  // All are free: it was something else.
  if (free == options.port) return {};
  return fmt::format("; --port {}{}: {}--port 0 takes free ones", options.port,
                     options.given.contains("--port") ? "" : " is the default",
                     free ? fmt::format("--port {} is free, ", *free) : "");
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
                                .settings = {},
                                .racks = config::splitList(options.racks)};
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

  if (!options.record.empty() && !options.data.empty() && isInside(options.record, options.data)) {
    Console::complain(
        fmt::format("tidemark: --record {} is in the folder of the brokers' data: write it elsewhere", options.record));
    return kUsage;
  }

  Console console;
  News news;
  cluster::Cluster cluster(cluster::nativePlatform(options.verbose));
  cluster.setPatience(cluster::Cluster::kUsualPatience);
  cluster.onNews({.died =
                      [&news](NodeId broker, const std::string& reason) {
                        news.tell({{"event", "died"}, {"broker", broker.value()}, {"reason", reason}});
                      },
                  // Whoever wants to end it, or to look what it lacks, has waited long enough.
                  .late =
                      [&console, &news](NodeId) {
                        news.open();
                        console.listen();
                      },
                  .lost = [&news](const TopicPartition& partition,
                                  const events::RecordsLost& lost) { news.tell(lostOf(partition, lost)); }});
  if (!advertise.empty()) cluster.advertise(std::move(advertise));
  std::optional<Record> record;
  if (!options.record.empty())
    if (auto opened = record.emplace().begin(cluster, options.record); !opened) {
      Console::complain("tidemark: --record: " + opened.error().message);
      return kUsage;
    }
  std::atomic<int> status = kOk;
  std::atomic<bool> stopping{false};
  std::atomic<bool> ready{false};
  InputEnd input;
  const auto stored =
      options.data.empty() ? Result<std::optional<observe::StoredCluster>>() : cluster.stored(options.data);
  const std::optional<observe::StoredCluster> goesOn = stored.value_or(std::nullopt);
  cluster.launch(std::move(launch), [&](const Result<void>& launched) {
    // Whoever ends it while it starts has not met an error.
    if (stopping) return;
    if (!launched) {
      news.open();
      Console::complain("tidemark: " + launched.error().message + portAdvice(options, launched.error(), goesOn));
      status = launched.error().code == ErrorCode::InvalidConfig ? kUsage : kFailed;
      console.end();
      return;
    }
    cluster.whenReady([&](const cluster::Ready& found) {
      const auto tell = [&, found] {
        announce(options, found);
        news.open();
        ready = true;
        input.ready();
        console.listen();
      };
      if (!record) return tell();
      // Before anybody can end it: a recording without a snapshot shows nothing.
      cluster.describeNow([&record, tell](const observe::SnapshotPtr& now) {
        record->take(*now);
        tell();
      });
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
  LabCommands commands(cluster, stop);
  console.run([&commands](const std::string& line) { return commands.run(line); },
              [&commands] { return commands.refuseLong(); },
              [&] {
                if (stopping) return;
                if (!options.untilEof) return input.ended();
                if (!ready) {
                  Console::complain("tidemark: standard input has ended, and the brokers are not ready yet");
                  status = kFailed;
                }
                stop();
              },
              stop);
  if (record) {
    if (auto ended = record->end(); !ended) {
      Console::complain("tidemark: --record: " + ended.error().message);
      return kFailed;
    }
    if (const uint64_t lost = record->lostEvents(); lost > 0)
      Console::complain(
          fmt::format("tidemark: --record: {} events came faster than they could be taken and are not in {}", lost,
                      options.record));
  }
  return status;
}

}  // namespace tidemark::app
