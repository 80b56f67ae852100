#include "tidemark/clusters/cluster_command.h"

#include <CLI/CLI.hpp>

#include "tidemark/clusters/cluster_session.h"

namespace tidemark::app {

ClusterCommand::ClusterCommand(CLI::App& app, const char* name, const char* help)
    : command_(app.add_subcommand(name, help)) {
  command_->require_subcommand(1);
  command_->add_option(kBootstrapNames, bootstrap_, "HOST:PORT[,HOST:PORT…]")->capture_default_str();
  command_->add_flag("--json", json_, "print JSON");
  command_->fallthrough();
}

bool ClusterCommand::parsed() const {
  return command_->parsed();
}

CLI::App* ClusterCommand::addAction(const char* name, const char* help) {
  CLI::App* action = command_->add_subcommand(name, help);
  action->fallthrough();
  action->callback([this, name] { action_ = name; });
  return action;
}

}  // namespace tidemark::app
