#pragma once

#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "log/partition_log.h"
#include "platform/native/native.h"
#include "records/batch_builder.h"

// What the rows of the log have in common.

namespace tidemark::bench {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

inline constexpr double kGB = 1e9;
inline constexpr int64_t kTimestampMs = 1'767'225'600'000;

template <class T>
T value(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline int64_t check(int64_t result, const std::string& what) {
  if (result < 0) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
  return result;
}

inline double cpuSeconds() {
  rusage usage{};
  check(getrusage(RUSAGE_SELF, &usage), "getrusage");
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// CPU seconds of all threads while `work` runs.
inline double costOf(const std::function<void()>& work) {
  const double before = cpuSeconds();
  work();
  return cpuSeconds() - before;
}

inline ByteVector makeBatch(int records, size_t valueSize) {
  records::BatchBuilder builder;
  std::vector<uint8_t> bytes(valueSize, 0x5a);
  for (int i = 0; i < records; ++i) builder.append(kTimestampMs, std::nullopt, ByteView(bytes));
  return builder.build();
}

/// A broker's logs without the broker.
class Lab {
 public:
  explicit Lab(fs::path folder)
      : folder_(std::move(folder)),
        process_(platform::makeNativeProcess({.name = "bench", .level = platform::Logger::Level::Warning})),
        background_(process_->createExecutor({.name = "background"})),
        handles_(std::make_shared<log::HandleCache>(1024)) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Lab() {
    process_->kill("the benchmark is over");
    process_->awaitStopped();
    fs::remove_all(folder_);
  }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  log::LogContext context() { return contextOf(process_->files()); }
  /// With files of somebody else's.
  log::LogContext contextOf(platform::FileSystem& files) {
    return {.files = &files,
            .clock = &process_->clock(),
            .logger = &process_->log(),
            .background = background_,
            .handles = handles_};
  }
  log::PartitionLogOptions options(int partition) const {
    log::PartitionLogOptions options;
    options.partition = {"bench", PartitionIndex(partition)};
    options.directory = (folder_ / fmt::format("bench-{}", partition)).string();
    return options;
  }
  std::shared_ptr<log::PartitionLog> open(const log::PartitionLogOptions& options) {
    return value(log::PartitionLog::open(context(), options));
  }
  /// Files that are being removed in the background are gone before.
  void drop(int partition) {
    std::promise<void> done;
    background_->post([&done] { done.set_value(); });
    done.get_future().wait();
    fs::remove_all(options(partition).directory);
  }
  platform::Process& process() { return *process_; }
  const std::shared_ptr<platform::Executor>& background() { return background_; }
  const fs::path& folder() const { return folder_; }

 private:
  const fs::path folder_;
  std::shared_ptr<platform::Process> process_;
  std::shared_ptr<platform::Executor> background_;
  std::shared_ptr<log::HandleCache> handles_;
};

/// The same batch again and again: the append stamps its offset, a client writes 0.
inline void appendTo(log::PartitionLog& log, MutableBytes batch) {
  writeBigEndian<int64_t>(batch.data(), 0);
  const auto done = log.appendAsLeader(batch, LeaderEpoch(0));
  if (!done) throw std::runtime_error(done.error().error.message);
}

/// A thing and its yardstick, once each.
struct Turns {
  std::function<double()> ours;
  std::function<double()> least;
};

}  // namespace tidemark::bench
