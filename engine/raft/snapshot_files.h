#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "raft/raft_log.h"

namespace tidemark::platform {
class FileSystem;
}

namespace tidemark::raft {

/// The snapshots in a metadata partition's folder. One that is being written has `.part` behind its name until it is
/// complete and synced; left-overs of a crash (`.part`, `.deleted`) are removed when the folder is opened. Any thread.
class SnapshotFiles {
 public:
  /// Creates the folder if need be.
  static Result<std::unique_ptr<SnapshotFiles>> open(platform::FileSystem& files, std::string directory);

  std::optional<OffsetAndEpoch> earliest() const;
  std::optional<OffsetAndEpoch> latest() const;
  std::vector<OffsetAndEpoch> all() const;
  /// Null if there is one of that id. Known as a snapshot once it is frozen. Must not outlive this object.
  Result<std::unique_ptr<RawSnapshotWriter>> create(OffsetAndEpoch id);
  Result<std::shared_ptr<const RawSnapshot>> read(OffsetAndEpoch id) const;
  /// Removes those with a smaller end offset.
  Result<void> removeBelow(Offset offset);

 private:
  class Writer;
  SnapshotFiles(platform::FileSystem& files, std::string directory) : files_(files), directory_(std::move(directory)) {}
  std::string path(OffsetAndEpoch id) const;

  struct ByOffset {
    bool operator()(const OffsetAndEpoch& a, const OffsetAndEpoch& b) const noexcept {
      return a.offset != b.offset ? a.offset < b.offset : a.epoch < b.epoch;
    }
  };

  platform::FileSystem& files_;
  const std::string directory_;
  mutable Mutex mutex_;
  std::set<OffsetAndEpoch, ByOffset> ids_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::raft
