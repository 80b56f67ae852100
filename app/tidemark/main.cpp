#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tidemark/checks.h"
#include "tidemark/clusters/cluster_session.h"
#include "tidemark/clusters/groups.h"
#include "tidemark/clusters/transactions.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"
#include "tidemark/simulate.h"
#include "tidemark/storage.h"
#include "tidemark/suggest.h"

namespace {

/// `tidemark` without a command opens the window, which is a program of its own beside this one.
int openWindow(char** argv, const CLI::App& app) {
  const auto set = [](const char* name) { return std::getenv(name) != nullptr && *std::getenv(name) != '\0'; };
  if (!set("DISPLAY") && !set("WAYLAND_DISPLAY") && !set("QT_QPA_PLATFORM")) {
    std::fprintf(stderr,
                 "tidemark: without a command it opens its window, and there is no display here (DISPLAY and "
                 "WAYLAND_DISPLAY are empty)\n\n%s",
                 app.help().c_str());
    return tidemark::app::kFailed;
  }
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  const std::string window = own.parent_path() / "tidemark-window";
  std::string name = window;
  std::vector<char*> arguments{name.data()};
  for (char** argument = argv + 1; *argument != nullptr; ++argument) arguments.push_back(*argument);
  arguments.push_back(nullptr);
  ::execv(window.c_str(), arguments.data());
  std::fprintf(stderr,
               "tidemark: there is no window beside this program (%s); `tidemark serve` runs a cluster without one\n",
               window.c_str());
  return tidemark::app::kFailed;
}

/// If it is no command of `app` says so, which CLI11 does not. `before`: what is written before it.
bool complainOfCommand(const std::string& typed, const CLI::App& app, const std::string& before = {}) {
  if (typed.empty() || typed.starts_with('-')) return false;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::ranges::find(names, typed) != names.end()) return false;
  const std::string near = tidemark::app::nearest(typed, names);
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  tidemark::app::Console::complain("tidemark: there is no command " + before + typed +
                                   (near.empty() ? "" : "; the nearest is " + near) + "; there are " + known);
  return true;
}

/// If an option was given an empty value says so.
bool complainOfEmpty(const CLI::App& app) {
  const CLI::Option* option = tidemark::app::emptyOption(app);
  if (option == nullptr) return false;
  tidemark::app::Console::complain("tidemark: " + option->get_name() + " is empty: give it a value" +
                                   (option->get_required() ? "" : ", or leave it out"));
  return true;
}

/// The first argument that is neither an option nor the address behind --bootstrap.
std::string firstWord(char** arguments) {
  for (; *arguments != nullptr; ++arguments) {
    const std::string_view argument = *arguments;
    if (!argument.starts_with('-')) return std::string(argument);
    const bool addressFollows = argument == "--bootstrap" || argument == "--bootstrap-server";
    if (addressFollows && *++arguments == nullptr) break;
  }
  return {};
}

int run(int argc, char** argv) {
  using namespace tidemark::app;
  CLI::App app{
      "Tidemark: real brokers of a Kafka-protocol cluster, to watch and to break.\n"
      "`tidemark` alone opens the window; the commands below need none.",
      "tidemark"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "tidemark " TIDEMARK_VERSION);
  app.set_help_all_flag("--help-all", "help of all commands");

  ServeOptions serving;
  std::string file;
  CLI::App* serveCommand = app.add_subcommand("serve", "run a cluster (or, with --config, one node) until Ctrl-C");
  serveCommand->footer(
      "While it runs, standard input takes commands. Each is answered by one line of JSON, with the number of the\n"
      "line that it answers:\n"
      "  kill N | pause N | resume N | restart N | stop N | leader TOPIC-PARTITION | topics | status\n"
      "  fault JSON | faults | heal FAULT|all | step FAULT [COUNT] | help | quit\n"
      "Blank lines are passed over, lines of more than 64 KiB refused. With --config only help and quit are taken.\n"
      "Topics come into being at their first use; `tidemark topics create NAME` makes one with what you want.");
  serveCommand->add_option("--brokers", serving.brokers, "brokers, each also a controller: 1 to 7")
      ->check(wholeNumber(1, 7))
      ->capture_default_str();
  serveCommand
      ->add_option("--separate-controllers", serving.separateControllers,
                   "controllers that are nodes of their own, numbered behind the brokers, which then are none: 0 to 5")
      ->check(wholeNumber(0, 5))
      ->capture_default_str();
  serveCommand
      ->add_option("--port", serving.port,
                   "port of broker 1, the others follow; controllers from PORT+100; 0: free ones")
      ->check(wholeNumber(0, 65535))
      ->capture_default_str();
  serveCommand->add_option("--host", serving.host, "address to listen on")->capture_default_str();
  serveCommand->add_option(
      "--advertise", serving.advertise,
      "host name that clients are told, if it is another; with --host 0.0.0.0 or :: this machine's");
  serveCommand->add_option("--data", serving.data,
                           "folder for the data, goes on with what is there; without: a temporary one");
  serveCommand
      ->add_option("--log-dirs", serving.logDirectories, "log directories of each broker, as if it had so many disks")
      ->check(wholeNumber(1, 16))
      ->capture_default_str();
  serveCommand->add_option("--set", serving.settings,
                           "KEY=VALUE of the brokers' configuration, on top of the lab's profile");
  serveCommand->add_option("--racks", serving.racks,
                           "racks of brokers 1, 2, …, comma separated, one for each (broker.rack)");
  serveCommand->add_option("--record", serving.record,
                           "write what happens into this file, which the window opens and replays");
  serveCommand->add_option("--config", file, "run one node from this Kafka configuration file instead");
  serveCommand->add_flag("--until-eof", serving.untilEof,
                         "end when standard input does, as it does when the program at its other end is gone");
  serveCommand->add_flag("--json", serving.json, "print one line of JSON when all brokers are ready");
  serveCommand->add_flag("--verbose", serving.verbose, "tell on standard error what brokers do");

  FormatOptions formatting;
  CLI::App* formatCommand =
      app.add_subcommand("format", "make the log directories of a configuration file ready for the first start");
  formatCommand->add_option("--config", formatting.file, "Kafka configuration file")->required();
  formatCommand->add_option("--cluster-id", formatting.clusterId, "22 characters of base64; without: a new one");
  CLI::Option* initial = formatCommand->add_option("--initial-controllers", formatting.initialControllers,
                                                   "ID@HOST:PORT:DIRECTORY-ID,…; without: this node alone");
  bool standalone = false;  // Which is what happens anyway.
  formatCommand->add_flag("--standalone", standalone, "this node alone, as without; Kafka's tool wants it said")
      ->excludes(initial);

  TopicsOptions topicOptions;
  CLI::App* topicsCommand = app.add_subcommand("topics", "create, list, describe or delete topics of any cluster");
  topicsCommand->require_subcommand(1);
  topicsCommand->add_option(kBootstrapNames, topicOptions.bootstrap, "HOST:PORT[,HOST:PORT…]")->capture_default_str();
  topicsCommand->add_flag("--json", topicOptions.json, "print JSON");
  topicsCommand->fallthrough();
  const auto action = [&](const char* name, const char* help, bool named) {
    CLI::App* command = topicsCommand->add_subcommand(name, help);
    command->fallthrough();
    if (named) command->add_option("name", topicOptions.name, "the topic")->required();
    command->callback([&topicOptions, name] { topicOptions.action = name; });
    return command;
  };
  CLI::App* create = action("create", "make a topic", true);
  create->add_option("--partitions", topicOptions.partitions, "without: the cluster's default")
      ->check(wholeNumber(1, INT32_MAX));
  create->add_option("--replication-factor", topicOptions.replicationFactor, "without: the cluster's default")
      ->check(wholeNumber(1, INT16_MAX));
  create->add_option("--config", topicOptions.configs, "KEY=VALUE");
  action("list", "names of all topics", false);
  action("describe", "partitions, leaders, replicas and ISR", false)
      ->add_option("name", topicOptions.name, "the topic; without: all");
  action("delete", "remove a topic with all its records", true);

  GroupCommands groups(app);
  TransactionCommands transactions(app);
  StorageCommands storage(app);
  SimCommand simulation(app);

  if (argc == 1) return openWindow(argv, app);
  if (complainOfCommand(argv[1], app)) return kUsage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help is an "error" too.
    for (const CLI::App* family : {topicsCommand, &groups.command(), &transactions.command()})
      if (error.get_exit_code() != 0 && argv[1] == family->get_name() &&
          complainOfCommand(firstWord(argv + 2), *family, family->get_name() + " "))
        return kUsage;
    // Rather than that it is no number.
    if (error.get_exit_code() != 0 && complainOfEmpty(app)) return kUsage;
    std::ostringstream output;
    const int status = app.exit(error, output, std::cerr);
    Console::printText(output.str());
    return status == 0 ? kOk : kUsage;
  }
  if (complainOfEmpty(app)) return kUsage;
  if (serveCommand->parsed()) {
    for (const CLI::Option* option : serveCommand->get_options())
      if (option->count() > 0) serving.given.insert(option->get_name());
    if (file.empty()) return serve(serving);
    for (const char* lone :
         {"--brokers", "--separate-controllers", "--port", "--host", "--data", "--log-dirs", "--advertise", "--racks"})
      if (serving.given.contains(lone)) {
        std::fprintf(stderr, "tidemark: %s and --config exclude each other: the file says it\n", lone);
        return kUsage;
      }
    if (!serving.record.empty()) {
      std::fputs("tidemark: --record is for clusters of the lab, that is `tidemark serve` without --config\n", stderr);
      return kUsage;
    }
    return serveNode(file, serving);
  }
  if (formatCommand->parsed()) return formatStorage(formatting);
  if (storage.parsed()) return storage.run();
  if (simulation.parsed()) return simulation.run();
  if (groups.parsed()) return groups.run();
  if (transactions.parsed()) return transactions.run();
  return topics(topicOptions);
}

}  // namespace

int main(int argc, char** argv) {
  tidemark::app::Console::guardDescriptors();
  return tidemark::app::Console::finish(run(argc, argv));
}
