#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "faults/fault_book.h"
#include "faults/faulty_process.h"
#include "faults/staller.h"
#include "platform/process.h"

namespace tidemark::faults {

/// How the reason begins for which a broker ends whose write was torn.
inline constexpr std::string_view kTornReason = "the lab tore the write";

/// How far the files that a process has written were synced. Its lock is taken when a file is opened, renamed or
/// removed, never by a write. Any thread.
class UnsyncedFiles {
 public:
  /// Of one file, whatever it is called by now.
  struct Mark {
    static constexpr uint64_t kUnknown = UINT64_MAX;
    /// Bytes that a loss of power leaves; unknown until the file is written.
    std::atomic<uint64_t> synced{kUnknown};
  };

  /// `isNew`: nothing of the file is on the disk.
  std::shared_ptr<Mark> opened(const std::string& path, bool isNew) EXCLUDES(mutex_);
  /// A file, or a directory with all that is in it.
  void renamed(const std::string& from, const std::string& to) EXCLUDES(mutex_);
  void removed(const std::string& path) EXCLUDES(mutex_);
  std::vector<UnsyncedFile> list() const EXCLUDES(mutex_);

 private:
  using Marks = std::map<std::string, std::shared_ptr<Mark>>;
  /// Takes the path and what lies below it out.
  Marks extract(const std::string& path) REQUIRES(mutex_);

  mutable Mutex mutex_;
  Marks marks_ GUARDED_BY(mutex_);
};

/// Files that may be slow, fail, be full or tear. A failed call has no effect, but for a torn write.
class FaultyFiles final : public platform::FileSystem {
 public:
  FaultyFiles(platform::Process& below, std::shared_ptr<FaultBook> book, std::shared_ptr<const Site> site,
              std::shared_ptr<Staller> staller, std::shared_ptr<UnsyncedFiles> unsynced);

  Result<std::shared_ptr<platform::File>> open(const std::string& path, platform::OpenMode mode) override;
  Result<ByteVector> readFile(const std::string& path, uint64_t limit) override {
    if (disk_->isFine()) [[likely]]
      return files_.readFile(path, limit);
    return FileSystem::readFile(path, limit);
  }
  bool exists(const std::string& path) const override { return files_.exists(path); }
  Result<std::vector<platform::DirectoryEntry>> list(const std::string& directory) const override;
  std::vector<std::string> brokenLinks(const std::string& directory) const override {
    return files_.brokenLinks(directory);
  }
  Result<void> createDirectories(const std::string& directory) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> removeTree(const std::string& directory) override;
  Result<void> syncDirectory(const std::string& directory) override;
  Result<std::unique_ptr<platform::FileLock>> lock(const std::string& path) override { return files_.lock(path); }
  Result<platform::DiskSpace> space(const std::string& directory) const override { return files_.space(directory); }

  /// What files and their system share.
  struct Disk {
    platform::Process& process;
    std::shared_ptr<FaultBook> book;
    std::shared_ptr<const Site> site;
    std::shared_ptr<Staller> staller;

    /// Takes the time that it takes, and fails if it fails. `what` begins the message, as in "write 5 bytes at 0 of".
    Result<FileVerdict> ask(FileCall call, std::string_view what, const std::string& path) const;
    bool isFine() const noexcept { return !site->any(kDiskFaults); }
  };

 private:
  Result<void> ask(FileCall call, std::string_view what, const std::string& path) const;

  platform::FileSystem& files_;
  const std::shared_ptr<const Disk> disk_;
  const std::shared_ptr<UnsyncedFiles> unsynced_;
};

/// What the platform below knows that file as.
std::shared_ptr<const platform::File> fileBelow(std::shared_ptr<const platform::File> file);

}  // namespace tidemark::faults
