#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "log/partition_log.h"
#include "log_fixture.h"
#include "platform/native/native.h"

// Threads that append to one log, each record flushed before it is acknowledged.

namespace tidemark::log {
namespace {

/// What a test does when a .log is written and synced. Nothing is synced in truth.
struct DiskHooks {
  std::function<void()> onWritten = [] {};
  std::function<Result<void>()> onSync = [] { return Result<void>(); };
};

class HookedFile final : public platform::File {
 public:
  HookedFile(std::shared_ptr<platform::File> file, const DiskHooks& hooks) : file_(std::move(file)), hooks_(hooks) {}
  Result<size_t> readAt(uint64_t position, MutableBytes into) const override { return file_->readAt(position, into); }
  Result<void> writeAt(uint64_t position, std::span<const ByteView> pieces) override {
    TIDEMARK_TRY(file_->writeAt(position, pieces));
    if (path().ends_with(".log")) hooks_.onWritten();
    return {};
  }
  Result<uint64_t> size() const override { return file_->size(); }
  Result<void> truncate(uint64_t size) override { return file_->truncate(size); }
  Result<void> sync() override { return path().ends_with(".log") ? hooks_.onSync() : Result<void>(); }
  Result<std::shared_ptr<const platform::Mapping>> map(uint64_t length) const override { return file_->map(length); }
  const std::string& path() const noexcept override { return file_->path(); }

 private:
  const std::shared_ptr<platform::File> file_;
  const DiskHooks& hooks_;
};

class HookedFiles final : public platform::FileSystem {
 public:
  HookedFiles(platform::FileSystem& files, const DiskHooks& hooks) : files_(files), hooks_(hooks) {}
  Result<std::shared_ptr<platform::File>> open(const std::string& path, platform::OpenMode mode) override {
    TIDEMARK_ASSIGN(auto file, files_.open(path, mode));
    return std::make_shared<HookedFile>(std::move(file), hooks_);
  }
  bool exists(const std::string& path) const override { return files_.exists(path); }
  Result<std::vector<platform::DirectoryEntry>> list(const std::string& directory) const override {
    return files_.list(directory);
  }
  Result<void> createDirectories(const std::string& directory) override { return files_.createDirectories(directory); }
  Result<void> rename(const std::string& from, const std::string& to) override { return files_.rename(from, to); }
  Result<void> remove(const std::string& path) override { return files_.remove(path); }
  Result<void> removeTree(const std::string& directory) override { return files_.removeTree(directory); }
  Result<void> syncDirectory(const std::string&) override { return {}; }
  Result<std::unique_ptr<platform::FileLock>> lock(const std::string& path) override { return files_.lock(path); }
  Result<platform::DiskSpace> space(const std::string& directory) const override { return files_.space(directory); }

 private:
  platform::FileSystem& files_;
  const DiskHooks& hooks_;
};

class GroupCommitTest : public testing::Test {
 protected:
  GroupCommitTest()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("group-commit-{}", ::getpid())),
        process_(platform::makeNativeProcess({.name = "test", .level = platform::Logger::Level::Error})),
        files_(process_->files(), hooks_) {
    PartitionLogOptions options;
    options.partition = {"orders", PartitionIndex(0)};
    options.directory = (folder_ / "orders-0").string();
    options.config.flushMessages = 1;
    options.config.timestampAfterMaxMs = INT64_MAX;
    log_ = PartitionLog::open({.files = &files_,
                               .clock = &process_->clock(),
                               .logger = &process_->log(),
                               .background = nullptr,
                               .handles = std::make_shared<HandleCache>(16)},
                              options)
               .value();
  }
  ~GroupCommitTest() override {
    log_->abandon();
    process_->kill("done");
    process_->awaitStopped();
    std::filesystem::remove_all(folder_);
  }

  std::expected<AppendInfo, records::ProduceFailure> append() {
    ByteVector batch = makeBatch({});
    return log_->appendAsLeader(batch, LeaderEpoch(0));
  }
  /// Appends and expects that the record is on disk by then.
  void appendDurably() {
    const auto info = append();
    ASSERT_TRUE(info) << info.error().error.message;
    EXPECT_GT(log_->recoveryPoint(), info->lastOffset) << "acknowledged, and not on disk";
  }

  void count(int& what) {
    const std::lock_guard lock(mutex_);
    ++what;
    changed_.notify_all();
  }
  void await(const int& what, int atLeast) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return what >= atLeast; });
  }

  const std::filesystem::path folder_;
  const std::shared_ptr<platform::Process> process_;
  DiskHooks hooks_;
  HookedFiles files_;
  std::shared_ptr<PartitionLog> log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int writes_ = 0;
  int syncs_ = 0;
};

TEST_F(GroupCommitTest, noAppendOfManyReturnsBeforeItsRecordIsOnDisk) {
  // Others come meanwhile.
  hooks_.onSync = [] {
    std::this_thread::yield();
    return Result<void>();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this] {
      for (int n = 0; n < 300; ++n) appendDurably();
    });
  for (auto& thread : threads) thread.join();
}

TEST_F(GroupCommitTest, allThatComeDuringAFlushShareTheNext) {
  constexpr int kThreads = 16;
  hooks_.onWritten = [this] { count(writes_); };
  hooks_.onSync = [this] {
    count(syncs_);
    await(writes_, kThreads);
    return Result<void>();
  };
  std::vector<std::thread> threads;
  threads.emplace_back([this] { appendDurably(); });
  await(syncs_, 1);
  for (int i = 1; i < kThreads; ++i) threads.emplace_back([this] { appendDurably(); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(syncs_, 2);
}

TEST_F(GroupCommitTest, whoseFlushHasEndedDoesNotWaitForTheNext) {
  int returned = 0;
  hooks_.onWritten = [this] { count(writes_); };
  hooks_.onSync = [this, &returned] {
    count(syncs_);
    // The first waits until two more have written; the third, a second append of one of them, until both have returned.
    if (syncs_ == 1) await(writes_, 3);
    if (syncs_ == 3) await(returned, 2);
    return Result<void>();
  };
  std::thread first([this] { appendDurably(); });
  await(syncs_, 1);
  std::thread twice([&] {
    appendDurably();
    count(returned);
    appendDurably();
  });
  await(writes_, 2);
  std::thread once([&] {
    appendDurably();
    count(returned);
  });
  first.join();
  once.join();
  twice.join();
  EXPECT_EQ(syncs_, 3);
}

TEST_F(GroupCommitTest, nobodyIsAcknowledgedWhoseFlushFailed) {
  hooks_.onWritten = [this] { count(writes_); };
  hooks_.onSync = [this] {
    count(syncs_);
    await(writes_, 3);
    return syncs_ == 1 ? Result<void>() : fail(ErrorCode::KafkaStorageError, "the disk is broken");
  };
  std::thread first([this] { EXPECT_TRUE(append()); });
  await(syncs_, 1);
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i)
    others.emplace_back([this] {
      const auto info = append();
      ASSERT_FALSE(info);
      EXPECT_EQ(info.error().error.code, ErrorCode::KafkaStorageError);
    });
  first.join();
  for (auto& thread : others) thread.join();
  EXPECT_TRUE(log_->offline());
}

}  // namespace
}  // namespace tidemark::log
