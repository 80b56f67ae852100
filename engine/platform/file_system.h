#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tidemark::platform {

/// A read-only view of a file's first bytes as they are in the page cache. Shared; valid while held, also after the
/// file is removed. Bytes past the file's end must not be touched: readers are bounded by the writer's own count.
class Mapping {
 public:
  virtual ~Mapping() = default;
  virtual ByteView bytes() const noexcept = 0;
};

/// An open file. Calls are synchronous; reads and writes at positions may run side by side on any threads. Errors carry
/// KafkaStorageError and name the path; after ProcessDead nothing has an effect. Destroying it closes it, no flush.
class File {
 public:
  virtual ~File() = default;

  /// Reads until `into` is full or the file ends; returns the bytes read.
  virtual Result<size_t> readAt(uint64_t position, MutableBytes into) const = 0;
  /// Writes all pieces one after another at `position`, growing the file if need be. A full disk is an error.
  virtual Result<void> writeAt(uint64_t position, std::span<const ByteView> pieces) = 0;
  Result<void> writeAt(uint64_t position, ByteView bytes) { return writeAt(position, std::span(&bytes, 1)); }
  virtual Result<uint64_t> size() const = 0;
  /// The first byte at or behind `position` that the disk holds anything for; the file's size if there is none. What is
  /// passed over reads as zeros. A file system that knows of no holes answers `position`.
  virtual Result<uint64_t> nextData(uint64_t position) const { return position; }
  virtual Result<void> truncate(uint64_t size) = 0;
  /// A hint: the file will soon be `size` bytes long. The disk may set the space aside, so that it lies together and
  /// appends need not ask for it one by one; size() stays. Nothing happens if there is no such space.
  virtual void reserve(uint64_t size) { static_cast<void>(size); }
  /// Gives back what was reserved behind the end and not used.
  virtual void releaseReserved() {}
  /// The contents (and the size) survive a power loss once this returns.
  virtual Result<void> sync() = 0;
  /// Maps `length` bytes from the start (at least 1).
  virtual Result<std::shared_ptr<const Mapping>> map(uint64_t length) const = 0;
  virtual const std::string& path() const noexcept = 0;
};

/// Part of a file, for sending it without copying. The slice keeps its file open.
struct FileSlice {
  std::shared_ptr<const File> file;
  uint64_t position = 0;
  uint64_t length = 0;
};

enum class OpenMode : uint8_t {
  Read,       ///< must exist
  ReadWrite,  ///< must exist
  Create,     ///< read and write; made if missing
  CreateNew,  ///< read and write; must not exist
  Truncate,   ///< read and write; made if missing, emptied if there
};

struct DirectoryEntry {
  std::string name;
  bool isDirectory = false;
  uint64_t size = 0;
};

/// Held until destroyed; excludes any other lock of the same file, in this process or another.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

struct DiskSpace {
  uint64_t capacity = 0;
  uint64_t available = 0;
};

/// The files of one Process. Paths are absolute or relative to the program's folder, with '/' between parts. Creating,
/// renaming and removing are lost at a power failure until syncDirectory() of the folder they happened in.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  /// A file or a directory.
  virtual bool exists(const std::string& path) const = 0;
  /// Sorted by name.
  virtual Result<std::vector<DirectoryEntry>> list(const std::string& directory) const = 0;
  /// Names of the links in it that lead nowhere, to themselves included; list() leaves them out. Sorted.
  virtual std::vector<std::string> brokenLinks(const std::string& directory) const {
    static_cast<void>(directory);
    return {};
  }
  virtual Result<void> createDirectories(const std::string& directory) = 0;
  /// Replaces `to` if it is a file.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  /// A file or an empty directory. It is an error if there is none.
  virtual Result<void> remove(const std::string& path) = 0;
  /// A directory with all that is in it; fine if there is none. A crash may leave part of it.
  virtual Result<void> removeTree(const std::string& directory) = 0;
  virtual Result<void> syncDirectory(const std::string& directory) = 0;
  /// Makes the file if it is missing and locks the whole of it, or fails at once: with InvalidConfig if somebody has
  /// it.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
  virtual Result<DiskSpace> space(const std::string& directory) const = 0;

  /// The whole of a file, refused if larger than `limit`.
  virtual Result<ByteVector> readFile(const std::string& path, uint64_t limit);
  /// Temporary file (`path`.tmp), sync, rename, sync of the folder: after a crash either the old contents or the new,
  /// and perhaps a temporary file that may be thrown away.
  Result<void> replaceFile(const std::string& path, ByteView contents);
};

/// The folder a path lies in: "." for a bare name, "/" for one in the root.
std::string parentDirectory(const std::string& path);

}  // namespace tidemark::platform
