// What the log costs beside the least that the same work can cost, turn by turn in one process.
//
//   tidemark_bench_log COMMAND --dir FOLDER --rounds N [--scale X]
//
// append, append-many, recovery, read, compact, compact-small: print {"ours":[…],"least":[…]} in CPU seconds per GB,
// A B B A each round after one turn of both that is not counted. open, lookup, flush: {"ours":[…],…} without `least`.
// README.md tells what the rows mean.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/crc32c.h"
#include "counting_files.h"
#include "log/cleaner/cleaner_types.h"
#include "log/log_manager.h"
#include "log_lab.h"
#include "log_rows.h"
#include "system_calls.h"

namespace {

using namespace tidemark;
using namespace tidemark::bench;

/// CRC-32C and write(2): what no append can do without.
void writePlainly(int file, ByteView batch, uint64_t& sum) {
  sum += crc32c(batch);
  check(::write(file, batch.data(), batch.size()), "write");
}

int createPlain(const fs::path& path) {
  return static_cast<int>(check(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), path.string()));
}

/// `count` batches to `partitions` logs, each log by one of `threads`, beside as many plain files.
Turns appending(Lab& lab, int partitions, int threads, ByteVector batch, size_t count) {
  const auto inThreads = [=](const std::function<void(int thread)>& work) {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back([&work, i] { work(i); });
    for (auto& thread : running) thread.join();
  };
  const double gigabytes = static_cast<double>(count * batch.size()) / kGB;
  const size_t each = count / static_cast<size_t>(partitions);
  return {.ours =
              [=, &lab] {
                std::vector<std::shared_ptr<log::PartitionLog>> logs;
                for (int i = 0; i < partitions; ++i) logs.push_back(lab.open(lab.options(i)));
                const double cost = costOf([&] {
                  inThreads([&](int thread) {
                    ByteVector mine = batch;
                    for (size_t n = 0; n < each; ++n)
                      for (int i = thread; i < partitions; i += threads) appendTo(*logs[static_cast<size_t>(i)], mine);
                  });
                });
                for (int i = 0; i < partitions; ++i) {
                  logs[static_cast<size_t>(i)]->abandon();
                  lab.drop(i);
                }
                return cost / gigabytes;
              },
          .least =
              [=, &lab] {
                std::vector<int> files;
                for (int i = 0; i < partitions; ++i)
                  files.push_back(createPlain(lab.folder() / fmt::format("plain-{}", i)));
                std::vector<uint64_t> sums(static_cast<size_t>(threads));
                const double cost = costOf([&] {
                  inThreads([&](int thread) {
                    for (size_t n = 0; n < each; ++n)
                      for (int i = thread; i < partitions; i += threads)
                        writePlainly(files[static_cast<size_t>(i)], batch, sums[static_cast<size_t>(thread)]);
                  });
                });
                for (int i = 0; i < partitions; ++i) {
                  ::close(files[static_cast<size_t>(i)]);
                  fs::remove(lab.folder() / fmt::format("plain-{}", i));
                }
                return cost / gigabytes;
              }};
}

/// Opening a log that was not closed, all of it past the recovery point, beside reading and summing its bytes.
Turns recovering(Lab& lab, size_t bytes) {
  ByteVector batch = makeBatch(63, 1024);
  const auto options = lab.options(0);
  {
    const auto log = lab.open(options);
    for (size_t done = 0; done < bytes; done += batch.size()) appendTo(*log, batch);
    log->abandon();
  }
  const fs::path file = fs::path(options.directory) / "00000000000000000000.log";
  const double gigabytes = static_cast<double>(fs::file_size(file)) / kGB;
  return {.ours =
              [=, &lab] {
                std::shared_ptr<log::PartitionLog> log;
                const double cost = costOf([&] { log = lab.open(options); });
                log->abandon();
                return cost / gigabytes;
              },
          .least =
              [=] {
                return costOf([&] {
                         const int plain =
                             static_cast<int>(check(::open(file.c_str(), O_RDONLY | O_CLOEXEC), file.string()));
                         std::vector<uint8_t> buffer(1U << 20);
                         uint64_t sum = 0;
                         while (true) {
                           const int64_t got = check(::read(plain, buffer.data(), buffer.size()), "read");
                           if (got == 0) break;
                           sum += crc32c({buffer.data(), static_cast<size_t>(got)});
                         }
                         ::close(plain);
                         if (sum == 0) throw std::runtime_error("nothing was read");
                       }) /
                       gigabytes;
              }};
}

struct Opening {
  /// Microseconds of wall time for each partition, from LogManager::open to the end of load.
  std::vector<double> micros;
  /// File calls of the seam for each.
  double calls = 0;
};

std::shared_ptr<log::LogManager> managerOf(Lab& lab, platform::Process& process) {
  return value(
      log::LogManager::open(process, lab.background(), nullptr,
                            {.directories = {(lab.folder() / "logs").string()}, .defaults = {}, .cleaner = {}}));
}

/// `count` partitions that were closed cleanly.
void makePartitions(Lab& lab, int count) {
  const auto logs = managerOf(lab, lab.process());
  value(logs->format("AAAAAAAAAAAAAAAAAAAAAA", NodeId(1)));
  value(logs->load({}));
  ByteVector batch = makeBatch(10, 100);
  for (int i = 0; i < count; ++i) {
    const auto log = value(logs->getOrCreate({"bench", PartitionIndex(i)}, Uuid(), {}));
    appendTo(*log, batch);
  }
  value(logs->shutdown(BrokerEpoch(1)));
}

/// Calls of the seam are counted in a round of their own.
Opening opening(Lab& lab, int count, int rounds) {
  makePartitions(lab, count);
  Opening found;
  for (int round = 0; round <= rounds; ++round) {
    const Clock::time_point began = Clock::now();
    const auto logs = managerOf(lab, lab.process());
    value(logs->load({}));
    const double micros = std::chrono::duration<double, std::micro>(Clock::now() - began).count() / count;
    if (round > 0) found.micros.push_back(micros);
    value(logs->shutdown(BrokerEpoch(round + 2)));
  }
  FileCalls calls;
  CountedProcess counted(lab.process(), calls);
  const auto logs = managerOf(lab, counted);
  calls.reset();
  value(logs->load({}));
  found.calls = static_cast<double>(calls.all()) / count;
  value(logs->shutdown(BrokerEpoch(1)));
  return found;
}

/// What is done once more, traced: see countSystemCalls().
void openTraced(Lab& lab, int count) {
  makePartitions(lab, count);
  markSystemCalls();
  const auto logs = managerOf(lab, lab.process());
  value(logs->load({}));
  markSystemCalls();
  value(logs->shutdown(BrokerEpoch(1)));
}

/// {"openat":4.0,…}: system calls for each of `count` partitions, all that come to a tenth of one; null if nobody may
/// count them.
std::string systemCallsOfOpening(const std::string& folder, int count) {
  const auto calls = countSystemCalls({"open-traced", "--dir", folder, "--partitions", std::to_string(count)});
  if (!calls) return "null";
  std::string text;
  for (const auto& [name, times] : *calls)
    if (times * 10 >= count)
      text += fmt::format("{}\"{}\":{:.1f}", text.empty() ? "" : ",", name, static_cast<double>(times) / count);
  return "{" + text + "}";
}

std::pair<std::vector<double>, std::vector<double>> turns(const Turns& once, int rounds) {
  std::vector<double> ours, least;
  once.ours();
  once.least();
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(once.ours());
    least.push_back(once.least());
    least.push_back(once.least());
    ours.push_back(once.ours());
  }
  return {ours, least};
}

void abba(const Turns& once, int rounds) {
  const auto [ours, least] = turns(once, rounds);
  fmt::print("{{\"ours\":[{:.6f}],\"least\":[{:.6f}]}}\n", fmt::join(ours, ","), fmt::join(least, ","));
}

constexpr const char* kCommands =
    "append | append-many | recovery | open | read | lookup | flush | compact | compact-small";

}  // namespace

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> options = {{"--rounds", "2"}, {"--scale", "1"}};
    for (int i = 2; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const std::string command = argc > 1 ? argv[1] : "";
    if (!options.contains("--dir")) throw std::runtime_error(fmt::format("expected {}, and --dir FOLDER", kCommands));
    const int rounds = std::stoi(options["--rounds"]);
    const double scale = std::stod(options["--scale"]);
    const auto scaled = [scale](double amount) { return static_cast<size_t>(std::max(1.0, amount * scale)); };
    const fs::path parent = options["--dir"];
    Lab lab(parent / fmt::format("log-bench-{}", ::getpid()));
    if (command == "append") {
      abba(appending(lab, 1, 1, makeBatch(63, 1024), scaled(15'000)), rounds);
    } else if (command == "append-many") {
      abba(appending(lab, 100, 4, makeBatch(148, 100), std::max<size_t>(100, scaled(60'000))), rounds);
    } else if (command == "recovery") {
      abba(recovering(lab, scaled(1e9)), rounds);
    } else if (command == "open") {
      const Opening found = opening(lab, static_cast<int>(scaled(2'000)), rounds * 2);
      fmt::print("{{\"ours\":[{:.6f}],\"calls\":{:.2f},\"systemCalls\":{}}}\n", fmt::join(found.micros, ","),
                 found.calls, systemCallsOfOpening(parent, static_cast<int>(scaled(2'000))));
    } else if (command == "open-traced") {
      openTraced(lab, std::stoi(options.at("--partitions")));
    } else if (command == "read") {
      abba(reading(lab, std::min<size_t>(scaled(5e8), 1'000'000'000)), rounds);
    } else if (command == "lookup") {
      const std::vector<LookupCost> most = lookingUp(lab, static_cast<int>(std::clamp<size_t>(scaled(10), 1, 100)));
      fmt::print("{{\"pages\":[{},{}],\"reads\":[{},{}]}}\n", most[0].pages, most[1].pages, most[0].reads,
                 most[1].reads);
    } else if (command == "flush") {
      std::vector<double> found;
      for (int round = 0; round < rounds * 2; ++round)
        found.push_back(flushing(lab, 16, std::max<size_t>(160, scaled(2'000))));
      fmt::print("{{\"ours\":[{:.1f}]}}\n", fmt::join(found, ","));
    } else if (command == "compact" || command == "compact-small") {
      // Records of 1 KiB, or of a quarter of it.
      const size_t valueBytes = command == "compact" ? 1000 : 230;
      const Compaction compaction = compacting(lab, scaled(static_cast<double>(1u << 28)), scaled(250'000), valueBytes);
      const auto [ours, least] = turns(compaction.turns, rounds);
      fmt::print("{{\"ours\":[{:.6f}],\"least\":[{:.6f}],\"memory\":[{:.4f}]}}\n", fmt::join(ours, ","),
                 fmt::join(least, ","), fmt::join(*compaction.memory, ","));
    } else {
      throw std::runtime_error(fmt::format("there is no {}: {}", command, kCommands));
    }
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "tidemark_bench_log: {}\n", e.what());
    return 1;
  }
}
