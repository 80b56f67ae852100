#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/process.h"

namespace tidemark::bench {

/// File calls by kind: what reaches the operating system.
struct FileCalls {
  std::atomic<int64_t> opens{0};
  std::atomic<int64_t> reads{0};
  /// Those of a .log.
  std::atomic<int64_t> logReads{0};
  std::atomic<int64_t> writes{0};
  std::atomic<int64_t> syncs{0};
  /// Those of a .log.
  std::atomic<int64_t> logSyncs{0};
  std::atomic<int64_t> maps{0};
  /// Of names and sizes: stat, list, rename, unlink, truncate, lock.
  std::atomic<int64_t> others{0};
  /// A sync of a file takes so much longer.
  std::chrono::microseconds syncTakes{0};

  int64_t all() const { return opens + reads + writes + syncs + maps + others; }
  void reset() { opens = reads = logReads = writes = logSyncs = syncs = maps = others = 0; }
};

class CountedFile final : public platform::File {
 public:
  CountedFile(std::shared_ptr<platform::File> file, FileCalls& calls) : file_(std::move(file)), calls_(calls) {}
  Result<size_t> readAt(uint64_t position, MutableBytes into) const override {
    ++calls_.reads;
    if (file_->path().ends_with(".log")) ++calls_.logReads;
    return file_->readAt(position, into);
  }
  Result<void> writeAt(uint64_t position, std::span<const ByteView> pieces) override {
    ++calls_.writes;
    return file_->writeAt(position, pieces);
  }
  Result<uint64_t> size() const override {
    ++calls_.others;
    return file_->size();
  }
  Result<void> truncate(uint64_t size) override {
    ++calls_.others;
    return file_->truncate(size);
  }
  Result<void> sync() override {
    ++calls_.syncs;
    if (file_->path().ends_with(".log")) ++calls_.logSyncs;
    if (calls_.syncTakes.count() > 0) std::this_thread::sleep_for(calls_.syncTakes);
    return file_->sync();
  }
  Result<std::shared_ptr<const platform::Mapping>> map(uint64_t length) const override {
    ++calls_.maps;
    return file_->map(length);
  }
  const std::string& path() const noexcept override { return file_->path(); }

 private:
  const std::shared_ptr<platform::File> file_;
  FileCalls& calls_;
};

class CountedFiles final : public platform::FileSystem {
 public:
  CountedFiles(platform::FileSystem& files, FileCalls& calls) : files_(files), calls_(calls) {}
  Result<std::shared_ptr<platform::File>> open(const std::string& path, platform::OpenMode mode) override {
    ++calls_.opens;
    auto file = files_.open(path, mode);
    if (!file) return file;
    return std::make_shared<CountedFile>(*std::move(file), calls_);
  }
  Result<ByteVector> readFile(const std::string& path, uint64_t limit) override {
    ++calls_.opens;
    ++calls_.reads;
    return files_.readFile(path, limit);
  }
  bool exists(const std::string& path) const override { return other().exists(path); }
  Result<std::vector<platform::DirectoryEntry>> list(const std::string& directory) const override {
    return other().list(directory);
  }
  Result<void> createDirectories(const std::string& directory) override { return other().createDirectories(directory); }
  Result<void> rename(const std::string& from, const std::string& to) override { return other().rename(from, to); }
  Result<void> remove(const std::string& path) override { return other().remove(path); }
  Result<void> removeTree(const std::string& directory) override { return other().removeTree(directory); }
  Result<void> syncDirectory(const std::string& directory) override {
    ++calls_.syncs;
    return files_.syncDirectory(directory);
  }
  Result<std::unique_ptr<platform::FileLock>> lock(const std::string& path) override { return other().lock(path); }
  Result<platform::DiskSpace> space(const std::string& directory) const override { return other().space(directory); }

 private:
  platform::FileSystem& other() const {
    ++calls_.others;
    return files_;
  }

  platform::FileSystem& files_;
  FileCalls& calls_;
};

/// A process whose file calls are counted.
class CountedProcess final : public platform::Process {
 public:
  CountedProcess(platform::Process& process, FileCalls& calls) : process_(process), files_(process.files(), calls) {}
  platform::Clock& clock() noexcept override { return process_.clock(); }
  platform::Random& random() noexcept override { return process_.random(); }
  platform::FileSystem& files() noexcept override { return files_; }
  platform::Network& network() noexcept override { return process_.network(); }
  platform::Logger& log() noexcept override { return process_.log(); }
  std::shared_ptr<platform::Executor> createExecutor(platform::ExecutorOptions options) override {
    return process_.createExecutor(std::move(options));
  }
  State state() const noexcept override { return process_.state(); }
  void pause() override { process_.pause(); }
  void resume() override { process_.resume(); }
  void kill(const std::string& reason) override { process_.kill(reason); }
  void awaitStopped() override { process_.awaitStopped(); }
  void onDeath(std::move_only_function<void(const std::string&)> handler) override {
    process_.onDeath(std::move(handler));
  }

 private:
  platform::Process& process_;
  CountedFiles files_;
};

}  // namespace tidemark::bench
