#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tidemark::sim {
struct MutationRow;
struct ScenarioOptions;
struct ScenarioResult;
}  // namespace tidemark::sim

namespace tidemark::app {

/// The command `sim`: whole clusters in virtual time, from seeds.
class SimCommand {
 public:
  explicit SimCommand(CLI::App& app);

  bool parsed() const;
  /// Runs the seeds one after another, up to the first that fails, and returns the exit status.
  int run();

 private:
  /// Of a run that broke something: what, what happened before, and how it is run again.
  void report(uint64_t seed, const sim::ScenarioOptions& options, const sim::ScenarioResult& result,
              const sim::MutationRow* mutation) const;

  CLI::App* command_;
  uint64_t seed_ = 1;
  uint64_t seeds_ = 1;
  double minutes_ = 0;
  double until_ = 0;
  int brokers_ = 0;
  std::vector<size_t> faults_;
  std::string trace_;
  std::string record_;
  std::string mutation_;
  bool listMutations_ = false;
  bool brief_ = false;
  bool fewerKinds_ = false;
  bool noShrink_ = false;
  bool verbose_ = false;
};

}  // namespace tidemark::app
