#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tidemark::app {

/// A command that has actions of its own, each on any cluster: `tidemark groups list`.
class ClusterCommand {
 public:
  ClusterCommand(const ClusterCommand&) = delete;
  ClusterCommand& operator=(const ClusterCommand&) = delete;

  bool parsed() const;
  CLI::App& command() noexcept { return *command_; }

 protected:
  ClusterCommand(CLI::App& app, const char* name, const char* help);
  ~ClusterCommand() = default;

  CLI::App* addAction(const char* name, const char* help);

  /// The one that the line names.
  std::string action_;
  std::string bootstrap_ = "127.0.0.1:19092";
  bool json_ = false;

 private:
  CLI::App* command_;
};

}  // namespace tidemark::app
