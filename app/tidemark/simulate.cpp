#include "tidemark/simulate.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "sim/mutations.h"
#include "sim/shrink.h"
#include "tidemark/checks.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"

namespace tidemark::app {
namespace {

std::string sentence(uint64_t seed, const sim::ScenarioResult& result) {
  std::string given;
  if (!result.losses.empty())
    given = fmt::format(" (given up with the last leader, and told so: {})", fmt::join(result.losses, ", "));
  return fmt::format("seed {}: {}; {:.1f} s, {} faults, {} events: {}{}\n", seed, result.topology,
                     std::chrono::duration<double>(result.length).count(), result.faults.size(), result.events,
                     result.breach     ? "BROKEN"
                     : result.cutShort ? "nothing broken so far"
                                       : "all holds",
                     given);
}

/// Of this process, in seconds.
double cpuTime() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Runs one after the other, and what they cost.
class Total {
 public:
  explicit Total(uint64_t firstSeed) : first_(firstSeed) {}

  void add(const sim::ScenarioResult& result) {
    ++seeds_;
    (result.breach ? broken_ : held_) += 1;
    faults_ += result.faults.size();
    events_ += result.events;
    simulated_ += result.length;
  }
  void print(std::string_view what) const {
    Console::printText(fmt::format(
        "{} {} to {}: {} held, {} broke; {} faults, {} events, {:.1f} simulated minutes in {:.1f} s of CPU\n", what,
        first_, first_ + seeds_ - 1, held_, broken_, faults_, events_,
        std::chrono::duration<double>(simulated_).count() / 60, cpuTime() - began_));
  }
  uint64_t seeds() const noexcept { return seeds_; }

 private:
  const uint64_t first_;
  const double began_ = cpuTime();
  uint64_t seeds_ = 0;
  uint64_t held_ = 0;
  uint64_t broken_ = 0;
  uint64_t faults_ = 0;
  uint64_t events_ = 0;
  platform::Duration simulated_{};
};

/// So many seeds have a line of their own with what they cost.
constexpr uint64_t kChunk = 500;

/// Time is counted in nanoseconds; nobody simulates so long.
constexpr std::chrono::duration<double> kLongestRun = std::chrono::hours(24 * 365);

platform::Duration durationOf(double seconds) {
  return platform::Duration(std::llround(seconds * 1e9));
}

}  // namespace

SimCommand::SimCommand(CLI::App& app) {
  command_ = app.add_subcommand(
      "sim",
      "run simulated clusters from seeds: under load, with faults, then mended; ends with 1 if an invariant breaks");
  command_->add_option("--seed", seed_, "the first seed")->check(wholeNumber(0))->capture_default_str();
  command_->add_option("--seeds", seeds_, "how many, one after another")->check(wholeNumber(1))->capture_default_str();
  command_->add_option("--minutes", minutes_, "how long things break in each run, in simulated minutes (without: 25 s)")
      ->check(number(0.001, kLongestRun.count() / 60));
  command_->add_option("--until", until_, "end the run at this simulated second")
      ->check(number(0.001, kLongestRun.count()));
  command_->add_option("--trace", trace_,
                       "write each task, file call and packet of the run into this file; with one seed");
  command_->add_option("--record", record_,
                       "write a recording into this file that the window opens and replays; with one seed");
  command_->add_option("--brokers", brokers_, "instead of as many as the seed says")->check(wholeNumber(1, 7));
  command_->add_option("--faults", faults_, "numbers of the faults that happen, the others are left out")
      ->delimiter(',')
      ->check(wholeNumber(0));
  command_->add_flag("--no-shrink", noShrink_, "report a failure as it is, without looking for a smaller one");
  command_->add_flag("--fewer-kinds", fewerKinds_,
                     "no share groups, no streams groups, no clusters of transaction.version 0 and 1");
  command_->add_flag("--brief", brief_, "no line for each seed that holds; every 500 have one in any case");
  command_->add_flag("--verbose", verbose_, "print what brokers and clients log");
  command_->add_flag("--list-mutations", listMutations_,
                     "print the table of rules that can be broken on purpose, and run nothing");
  command_->add_option("--mutation", mutation_,
                       kHasMutations ? "break this rule of the engine" : "only of a build with the preset asan");
}

bool SimCommand::parsed() const {
  return command_->parsed();
}

int SimCommand::run() {
  if (listMutations_) {
    Console::printText(sim::mutationTable());
    return kOk;
  }
  if (!mutation_.empty() && !kHasMutations) {
    std::fputs("tidemark: the rules of this build cannot be broken: `./lab build asan` makes one with --mutation\n",
               stderr);
    return kUsage;
  }
  const sim::MutationRow* mutation = mutation_.empty() ? nullptr : sim::findMutation(mutation_);
  if (!mutation_.empty() && mutation == nullptr) {
    std::fprintf(stderr, "tidemark: there is no mutation %s; --list-mutations names them\n", mutation_.c_str());
    return kUsage;
  }
  if ((!trace_.empty() || !record_.empty()) && seeds_ != 1) {
    std::fprintf(stderr, "tidemark: %s is of one run, not of %llu seeds\n", trace_.empty() ? "--record" : "--trace",
                 static_cast<unsigned long long>(seeds_));
    return kUsage;
  }
  if (seeds_ > UINT64_MAX - seed_ + 1 && seed_ != 0) {
    std::fprintf(stderr, "tidemark: from seed %llu on there are not so many\n", static_cast<unsigned long long>(seed_));
    return kUsage;
  }
  if (!trace_.empty() && !record_.empty() && isSameFile(trace_, record_)) {
    std::fputs("tidemark: --trace and --record need a file each\n", stderr);
    return kUsage;
  }
  std::ofstream trace;
  std::ofstream recording;
  for (const auto& [path, file] : {std::pair(&trace_, &trace), std::pair(&record_, &recording)}) {
    if (path->empty()) continue;
    file->open(*path);
    if (!*file) {
      std::fprintf(stderr, "tidemark: %s cannot be written\n", path->c_str());
      return kFailed;
    }
  }
  bool written = true;
  const sim::MutationInForce inForce(mutation == nullptr ? Mutation::None : mutation->mutation);
  Total all(seed_);
  std::optional<Total> chunk;
  for (uint64_t i = 0; i < seeds_; ++i) {
    const uint64_t seed = seed_ + i;
    const bool allKinds = !fewerKinds_ && (mutation == nullptr || mutation->allKinds);
    sim::ScenarioOptions options{.seed = seed, .allKinds = allKinds};
    if (brokers_ > 0) options.brokers = brokers_;
    if (!faults_.empty()) options.faults = std::set<size_t>(faults_.begin(), faults_.end());
    if (minutes_ > 0) options.faultsFor = durationOf(minutes_ * 60);
    if (until_ > 0) options.until = durationOf(until_);
    sim::ScenarioOptions shown = options;
    if (trace.is_open()) shown.trace = [&trace](std::string_view line) { trace << line << '\n'; };
    if (recording.is_open()) shown.record = [&recording](std::string_view line) { recording << line << '\n'; };
    if (verbose_) shown.log = [](std::string_view line) { Console::printText(fmt::format("{}\n", line)); };
    const sim::ScenarioResult result = sim::runScenario(shown);
    for (const auto& [path, file] : {std::pair(&trace_, &trace), std::pair(&record_, &recording)}) {
      if (!file->is_open()) continue;
      file->close();
      if (*file) continue;
      std::fprintf(stderr, "tidemark: %s could not be written to its end\n", path->c_str());
      written = false;
    }
    if (!brief_ || result.breach || !result.losses.empty()) Console::printText(sentence(seed, result));
    if (!chunk) chunk.emplace(seed);
    chunk->add(result);
    all.add(result);
    if (chunk->seeds() == kChunk) {
      chunk->print("seeds");
      chunk.reset();
    }
    for (const size_t asked : options.faults.value_or(std::set<size_t>()))
      if (std::ranges::find(result.faults, asked) == result.faults.end())
        std::fprintf(stderr, "tidemark: fault %zu did not happen: --trace tells the numbers of those that do\n", asked);
    if (!result.breach) continue;
    report(seed, options, result, mutation);
    return kFailed;
  }
  if (seeds_ > 1) all.print("all seeds,");
  return written ? kOk : kFailed;
}

void SimCommand::report(uint64_t seed, const sim::ScenarioOptions& options, const sim::ScenarioResult& result,
                        const sim::MutationRow* mutation) const {
  const sim::Shrunk smallest =
      noShrink_ ? sim::Shrunk{.options = options, .result = result} : sim::shrink(options, result);
  const sim::ScenarioResult& least = smallest.result;
  if (smallest.runs > 0) Console::printText(fmt::format("shrunk in {} runs: {}", smallest.runs, sentence(seed, least)));
  std::string again = fmt::format("tidemark sim --seed {} --brokers {}", seed, least.brokers);
  if (!least.faults.empty()) again += fmt::format(" --faults {}", fmt::join(least.faults, ","));
  if (fewerKinds_) again += " --fewer-kinds";
  if (minutes_ > 0) again += fmt::format(" --minutes {}", minutes_);
  if (mutation != nullptr) again += fmt::format(" --mutation {}", mutation->name);
  Console::printText(
      fmt::format("\n{}: {}\n\n{}\nagain: {}\n", least.breach->invariant, least.breach->text, least.excerpt, again));
}

}  // namespace tidemark::app
