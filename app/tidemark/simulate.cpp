#include "tidemark/simulate.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "sim/mutations.h"
#include "sim/shrink.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

std::string sentence(uint64_t seed, const sim::ScenarioResult& result) {
  return fmt::format("seed {}: {}; {:.1f} s, {} faults, {} events: {}\n", seed, result.topology,
                     std::chrono::duration<double>(result.length).count(), result.faults.size(), result.events,
                     result.breach ? "BROKEN" : result.cutShort ? "nothing broken so far" : "all holds");
}

platform::Duration durationOf(double seconds) {
  return platform::Duration(std::llround(seconds * 1e9));
}

}  // namespace

SimCommand::SimCommand(CLI::App& app) {
  command_ = app.add_subcommand(
      "sim",
      "run simulated clusters from seeds: under load, with faults, then mended; ends with 1 if an invariant breaks");
  command_->add_option("--seed", seed_, "the first seed")->capture_default_str();
  command_->add_option("--seeds", seeds_, "how many, one after another")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command_->add_option("--minutes", minutes_, "how long things break in each run, in simulated minutes (without: 25 s)")
      ->check(CLI::PositiveNumber);
  command_->add_option("--until", until_, "end the run at this simulated second")->check(CLI::PositiveNumber);
  command_->add_option("--trace", trace_,
                       "write each task, file call and packet of the run into this file; with one seed");
  command_->add_option("--brokers", brokers_, "instead of as many as the seed says")->check(CLI::Range(1, 7));
  command_->add_option("--faults", faults_, "numbers of the faults that happen, the others are left out")
      ->delimiter(',');
  command_->add_flag("--no-shrink", noShrink_, "report a failure as it is, without looking for a smaller one");
  command_->add_flag("--verbose", verbose_, "print what brokers and clients log");
  command_->add_flag("--list-mutations", listMutations_,
                     "print the table of rules that can be broken on purpose, and run nothing");
  if (kHasMutations) command_->add_option("--mutation", mutation_, "break this rule of the engine");
}

bool SimCommand::parsed() const {
  return command_->parsed();
}

int SimCommand::run() {
  if (listMutations_) {
    Console::printText(sim::mutationTable());
    return kOk;
  }
  const sim::MutationRow* mutation = mutation_.empty() ? nullptr : sim::findMutation(mutation_);
  if (!mutation_.empty() && mutation == nullptr) {
    std::fprintf(stderr, "tidemark: there is no mutation %s; --list-mutations names them\n", mutation_.c_str());
    return kUsage;
  }
  if (!trace_.empty() && seeds_ != 1) {
    std::fprintf(stderr, "tidemark: --trace is of one run, not of %llu seeds\n",
                 static_cast<unsigned long long>(seeds_));
    return kUsage;
  }
  std::ofstream trace;
  if (!trace_.empty()) {
    trace.open(trace_);
    if (!trace) {
      std::fprintf(stderr, "tidemark: %s cannot be written\n", trace_.c_str());
      return kFailed;
    }
  }
  const sim::MutationInForce inForce(mutation == nullptr ? Mutation::None : mutation->mutation);
  for (uint64_t seed = seed_; seed < seed_ + seeds_; ++seed) {
    sim::ScenarioOptions options{.seed = seed};
    if (brokers_ > 0) options.brokers = brokers_;
    if (!faults_.empty()) options.faults = std::set<size_t>(faults_.begin(), faults_.end());
    if (minutes_ > 0) options.faultsFor = durationOf(minutes_ * 60);
    if (until_ > 0) options.until = durationOf(until_);
    sim::ScenarioOptions shown = options;
    if (trace.is_open()) shown.trace = [&trace](std::string_view line) { trace << line << '\n'; };
    if (verbose_) shown.log = [](std::string_view line) { Console::printText(fmt::format("{}\n", line)); };
    const sim::ScenarioResult result = sim::runScenario(shown);
    Console::printText(sentence(seed, result));
    if (!result.breach) continue;
    const sim::Shrunk smallest =
        noShrink_ ? sim::Shrunk{.options = options, .result = result} : sim::shrink(options, result);
    const sim::ScenarioResult& least = smallest.result;
    if (smallest.runs > 0)
      Console::printText(fmt::format("shrunk in {} runs: {}", smallest.runs, sentence(seed, least)));
    std::string again = fmt::format("tidemark sim --seed {} --brokers {}", seed, least.brokers);
    if (!least.faults.empty()) again += fmt::format(" --faults {}", fmt::join(least.faults, ","));
    if (minutes_ > 0) again += fmt::format(" --minutes {}", minutes_);
    if (mutation != nullptr) again += fmt::format(" --mutation {}", mutation->name);
    Console::printText(
        fmt::format("\n{}: {}\n\n{}\nagain: {}\n", least.breach->invariant, least.breach->text, least.excerpt, again));
    return kFailed;
  }
  return kOk;
}

}  // namespace tidemark::app
