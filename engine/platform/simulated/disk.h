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

/// What became of writes on a disk so far: for tests that must know that it came to pass.
struct DiskDamage {
  /// Files of which a power loss took unsynced bytes; of them, those of which it left others, and those of which it
  /// left some behind what it took.
  uint64_t lost = 0;
  uint64_t torn = 0;
  uint64_t reordered = 0;
  /// Writes of which a front part arrived, whatever ended them: a full disk, an error or a crash.
  uint64_t cutShort = 0;
  /// Calls that failed because the disk was full, and because they were told to.
  uint64_t full = 0;
  uint64_t failed = 0;
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
  const DiskDamage& damage() const noexcept;
  /// Asked before each call; true makes it fail with an input/output error. Of a failed write a front part may arrive,
  /// by the seed. A failed sync loses what it should have written: a later sync that succeeds does not bring it back.
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
