#include <functional>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "broker/node.h"
#include "config/properties.h"
#include "platform/native/native.h"
#include "tidemark/answers.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

using nlohmann::json;

constexpr platform::Duration kHandOver = std::chrono::seconds(30);
constexpr platform::Duration kResign = std::chrono::seconds(5);

Result<config::BrokerConfig> readConfig(platform::Process& process, const std::string& file,
                                        const std::vector<std::string>& settings) {
  auto contents = process.files().readFile(file, 1 << 20);
  if (!contents) return fail(ErrorCode::InvalidConfig, contents.error().message);
  TIDEMARK_ASSIGN(config::ConfigMap properties, config::parseProperties(asText(*contents)));
  for (const std::string& text : settings) {
    const auto [key, value] = keyAndValue(text);
    if (key.empty()) return fail(ErrorCode::InvalidConfig, fmt::format("--set {}: write KEY=VALUE", text));
    properties[key] = value;
  }
  return config::BrokerConfig::create(std::move(properties));
}

std::shared_ptr<platform::Process> makeProcess(const std::string& name, bool verbose) {
  platform::NativeOptions options;
  options.name = name;
  options.level = verbose ? platform::Logger::Level::Info : platform::Logger::Level::Warning;
  return platform::makeNativeProcess(std::move(options));
}

int complain(const Error& error) {
  Console::complain("tidemark: " + error.message);
  return error.code == ErrorCode::InvalidConfig ? kUsage : kFailed;
}

/// Of the lab's commands a lone node knows the two that need no lab.
bool takeLine(const std::string& line, Strangers& strangers, const std::function<void()>& stop) {
  std::istringstream words(line);
  std::string verb;
  std::string more;
  words >> verb >> more;
  if (verb.empty()) return true;
  const bool known = verb == "help" || verb == "quit";
  if (!known) {
    refuse(verb,
           "the commands are for clusters of the lab, that is `tidemark serve` without --config; a node of a "
           "configuration file takes help and quit");
  } else if (!more.empty()) {
    refuse(verb, fmt::format("\"{}\" is one word too many", excerpt(more)));
  } else if (verb == "help") {
    say({{"ok", true},
         {"command", verb},
         {"commands",
          "help, quit; the others are for clusters of the lab, that is `tidemark serve` without --config"}});
  } else {
    say({{"ok", true}, {"command", verb}});
    stop();
  }
  return strangers.heard(known);
}

/// ID@HOST:PORT:DIRECTORY-ID, comma separated.
Result<raft::VoterSet> parseControllers(const std::string& text, const std::string& listener) {
  std::vector<raft::Voter> voters;
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const size_t last = entry.rfind(':');
    auto address = last == std::string::npos
                       ? fail(ErrorCode::InvalidConfig)
                       : config::parseQuorumAddresses("--initial-controllers", {entry.substr(0, last)}, true);
    const auto directory = last == std::string::npos ? std::nullopt : Uuid::parse(entry.substr(last + 1));
    if (!address || !directory)
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("--initial-controllers: \"{}\" is not ID@HOST:PORT:DIRECTORY-ID", entry));
    voters.push_back(
        {.key = {address->front().id, *directory},
         .endpoints = {{.listener = listener, .host = address->front().host, .port = address->front().port}}});
  }
  return raft::VoterSet(std::move(voters));
}

}  // namespace

int serveNode(const std::string& file, const ServeOptions& options) {
  Console console;
  platform::raiseFileLimit();
  const auto process = makeProcess("node", options.verbose);
  auto config = readConfig(*process, file, options.settings);
  if (!config) return complain(config.error());
  for (const std::string& key : config->unknownKeys())
    Console::complain(fmt::format("tidemark: {}: {} is no key of a broker's, it has no effect", file, key));
  events::Recorder recorder(process->clock(), config->nodeId());
  int status = kOk;
  process->onDeath([&](const std::string& reason) {
    if (!reason.empty()) {
      Console::complain("tidemark: " + reason);
      status = kFailed;
    }
    console.end();
  });
  auto node = std::make_unique<broker::Node>(*process, recorder, broker::NodeOptions{.config = *config});
  const auto finish = [&] {
    process->kill({});
    process->awaitStopped();
    node.reset();
  };
  if (auto opened = node->open(); !opened) {
    const int code = complain(opened.error());
    finish();
    return code;
  }
  InputEnd input;
  const auto announce = [&, id = config->nodeId()] {
    std::vector<std::string> addresses;
    for (const config::Listener& listener : config->advertisedListeners())
      addresses.push_back(fmt::format("{}", platform::Endpoint{listener.host, listener.port}));
    const std::string bootstrap = addresses.empty() ? std::string() : addresses.front();
    Console::print(
        options.json
            ? json{{"bootstrap", bootstrap}, {"brokers", {id.value()}}, {"clusterId", node->shared().clusterId}}.dump(
                  -1, ' ', false, json::error_handler_t::replace)
            : fmt::format("node {} is ready{}", id, bootstrap.empty() ? "" : ": bootstrap " + bootstrap));
    input.ready();
  };
  if (broker::BrokerServer* broker = node->broker())
    broker->onStateChanged([&announce](broker::LifecycleState state) {
      if (state == broker::LifecycleState::Running) announce();
    });
  node->start();
  if (node->broker() == nullptr) announce();
  bool stopping = false;
  const auto stop = [&] {
    if (std::exchange(stopping, true)) {
      console.end();
      return;
    }
    Console::complain("tidemark: the node hands over and shuts down in control; a second Ctrl-C ends it at once");
    node->shutdownBroker(kHandOver, [&] { node->shutdownController(kResign, [&] { console.end(); }); });
  };
  Strangers strangers;
  const auto tooLong = [&strangers] {
    refuse("", tooLongText());
    return strangers.heard(false);
  };
  const auto ended = [&] {
    if (stopping) return;
    options.untilEof ? stop() : input.ended();
  };
  console.listen();
  console.run([&](const std::string& line) { return takeLine(line, strangers, stop); }, tooLong, ended, stop);
  finish();
  return status;
}

int formatStorage(const FormatOptions& options) {
  const auto process = makeProcess("format", false);
  auto config = readConfig(*process, options.file, {});
  if (!config) return complain(config.error());
  const std::string id = options.clusterId.empty() ? process->random().uuid().toString() : options.clusterId;
  if (!Uuid::parse(id))
    return complain(
        {ErrorCode::InvalidConfig, fmt::format("--cluster-id {}: an id is 22 characters of URL-safe base64", id)});
  for (const std::string& directory : config->logDirs()) {
    if (process->files().exists(directory + "/meta.properties"))
      return complain({ErrorCode::InvalidConfig, fmt::format("{} is formatted already", directory)});
  }
  broker::FormatNode format{.config = *config, .clusterId = id, .voters = {}, .directoryId = process->random().uuid()};
  const std::string listener =
      config->controllerListenerNames().empty() ? "CONTROLLER" : config->controllerListenerNames().front();
  if (!options.initialControllers.empty()) {
    auto voters = parseControllers(options.initialControllers, listener);
    if (!voters) return complain(voters.error());
    format.voters = *std::move(voters);
    if (const raft::Voter* own = format.voters.find(config->nodeId())) format.directoryId = own->key.directoryId;
  } else if (config->quorumVoters().empty() && !config->controllerListeners().empty()) {
    const config::Listener& own = config->controllerListeners().front();
    format.voters =
        raft::VoterSet({raft::Voter{.key = {config->nodeId(), format.directoryId},
                                    .endpoints = {{.listener = own.name, .host = own.host, .port = own.port}}}});
  }
  if (auto formatted = broker::formatNode(*process, format); !formatted) return complain(formatted.error());
  for (const std::string& directory : config->logDirs())
    Console::print(fmt::format("formatted {}: cluster {}, node {}", directory, id, config->nodeId()));
  return kOk;
}

}  // namespace tidemark::app
