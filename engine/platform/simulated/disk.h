#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tidemark::platform {

class DiskTree;

enum class FileCall : uint8_t {
  Open,
  Read,
  Write,
  Size,
  Truncate,
  Sync,
  Map,
  List,
  Create,
  Rename,
  Remove,
  SyncDirectory,
  LockFile
};

/// A disk of a World. It keeps what processes leave on it. Removing, creating and renaming is certain to survive a
/// power loss only once the directory was synced, bytes once the file was; what was not synced survives in part, by the
/// seed: of bytes each sector for itself (so that writes are torn and reordered), of names a prefix of the changes.
class SimulatedDisk {
 public:
  explicit SimulatedDisk(std::shared_ptr<DiskTree> tree) noexcept : tree_(std::move(tree)) {}

  /// Writes beyond it fail as on a full disk, after what still fits. Unlimited at first.
  void setCapacity(uint64_t bytes);
  uint64_t used() const noexcept;
  /// Asked before each call; true makes it fail with an input/output error. A failed sync loses what it should have
  /// written: a later sync that succeeds does not bring it back.
  void failWhen(std::function<bool(FileCall call, const std::string& path)> predicate);
  /// Forgets what was not synced. No process may be using the disk (SimulatedProcess::losePower() sees to that).
  void losePower();
  /// Whether the file of that path is there and both its bytes and its name in its directory would survive a power
  /// loss.
  bool isDurable(const std::string& path) const;
  /// Every unsynced name change is undone at a power loss (instead of a part of them by the seed).
  void setStrictDirectories(bool strict) noexcept;
  /// What is written whole or not at all: 512 bytes at first, or 4096.
  void setSectorSize(size_t bytes) noexcept;

  DiskTree& tree() noexcept { return *tree_; }

 private:
  std::shared_ptr<DiskTree> tree_;
};

}  // namespace tidemark::platform
