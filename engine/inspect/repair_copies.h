#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "platform/file_system.h"

namespace tidemark::inspect {

/// Keeps what a repair changes, as it was: in `DIRECTORY.before-repair-TIME/`, beside each log directory. One thread.
class RepairCopies {
 public:
  /// `nowMs`: Unix time, for the folders' names.
  RepairCopies(platform::FileSystem& files, int64_t nowMs);

  /// Paths from now on are of this log directory.
  void enter(const std::string& directory) { directory_ = directory; }
  /// Holes stay holes. KafkaStorageError if the disk has no room: nothing is left of the copy then.
  Result<void> copy(const std::string& path);
  /// A file, also onto another file system; a folder only within one.
  Result<void> moveAside(const std::string& path);
  /// Folders that hold anything.
  const std::vector<std::string>& folders() const noexcept { return folders_; }

 private:
  Result<std::string> placeFor(const std::string& path);
  Result<void> copyData(const std::string& path, const std::string& to);

  platform::FileSystem& files_;
  const std::string suffix_;
  std::string directory_;
  std::vector<std::string> folders_;
};

}  // namespace tidemark::inspect
