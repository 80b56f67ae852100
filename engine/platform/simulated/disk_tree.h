#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "platform/file_system.h"
#include "platform/simulated/disk.h"
#include "platform/simulated/generator.h"

namespace tidemark::platform {

struct ProcessCore;

/// A view of a file's first bytes. Its memory is its own and every write to the file goes there as well, so that it
/// stays where it is however the file grows.
class SimulatedMapping final : public Mapping {
 public:
  explicit SimulatedMapping(size_t length)
      : bytes_(std::make_unique_for_overwrite<uint8_t[]>(length)), length_(length) {}
  ByteView bytes() const noexcept override { return {bytes_.get(), length_}; }
  void put(uint64_t position, ByteView from) noexcept;

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t length_;
};

/// Who has a file locked. Void once its process is dead.
struct LockToken {
  std::shared_ptr<ProcessCore> process;
};

/// A file or a directory: what is in the page cache, and what a power loss would leave.
struct DiskNode {
  static constexpr size_t kPageSize = 4096;
  /// What the disk has of a page; nothing: zeros.
  using DurablePage = std::optional<std::array<uint8_t, kPageSize>>;

  DiskNode(bool isDirectory, std::shared_ptr<uint64_t> usedOnDisk)
      : directory(isDirectory), used_(std::move(usedOnDisk)) {}
  ~DiskNode() { *used_ -= content.size(); }
  DiskNode(const DiskNode&) = delete;
  DiskNode& operator=(const DiskNode&) = delete;

  void write(uint64_t position, ByteView bytes);
  void truncate(uint64_t size);
  void sync();
  /// The disk refused: what should have been written is lost, though the page cache has it and looks clean.
  void failSync();
  /// `sectorSize`: what the disk writes whole or not at all; a page is a multiple of it.
  void losePower(Generator& choices, size_t sectorSize, DiskDamage& damage);
  /// Every byte would survive a power loss.
  bool isDurable() const noexcept { return dirty_.empty() && lost_.empty() && durableSize_ == content.size(); }
  std::shared_ptr<const Mapping> map(uint64_t length);

  const bool directory;
  ByteVector content;
  std::map<std::string, std::shared_ptr<DiskNode>> entries;
  std::map<std::string, std::shared_ptr<DiskNode>> durableEntries;
  std::weak_ptr<LockToken> lock;

 private:
  void dirty(uint64_t from, uint64_t to);
  void resize(uint64_t size);

  /// Pages below durableSize_ that are neither dirty nor lost are on the disk as they are in `content`; those above it
  /// are not on the disk unless they are lost.
  uint64_t durableSize_ = 0;
  std::map<uint64_t, DurablePage> dirty_;
  std::map<uint64_t, DurablePage> lost_;
  std::vector<std::weak_ptr<SimulatedMapping>> mappings_;
  std::shared_ptr<uint64_t> used_;
};

/// The files of a simulated disk.
class DiskTree {
 public:
  using Node = std::shared_ptr<DiskNode>;
  struct Place {
    Node directory;
    std::string name;
    /// Null if there is none of that name.
    Node node;
  };

  explicit DiskTree(uint64_t seed);

  /// The directory a path lies in, which must exist, and what is there. The root has an empty name.
  Result<Place> find(const std::string& path) const;
  Node create(const Place& place, bool directory);
  void remove(const Place& place);
  void rename(const Place& from, const Place& to);
  void syncDirectory(const Node& directory);
  void losePower();

  /// How many of `bytes` more fit.
  uint64_t room(uint64_t bytes) const noexcept;

  uint64_t capacity = UINT64_MAX;
  std::shared_ptr<uint64_t> used = std::make_shared<uint64_t>(0);
  std::function<bool(FileCall, const std::string&)> failWhen;
  bool strictDirectories = false;
  size_t sectorSize = 512;
  DiskDamage damage;

 private:
  struct Entry {
    Node directory;
    std::string name;
    Node node;
  };
  /// What became of some names in one step, not yet certain to survive.
  using Change = std::vector<Entry>;
  /// The oldest become certain by themselves beyond so many, as a file system's journal is written now and then.
  static constexpr size_t kMaxUncertain = 512;

  void apply(Change change);
  static void makeDurable(const Change& change);

  Node root_;
  std::deque<Change> changes_;
  Generator choices_;
};

}  // namespace tidemark::platform
