#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "platform/native/native_file.h"
#include "platform/native/process_core.h"

namespace tidemark::platform::native {

namespace {

std::unexpected<Error> storageError(std::string_view what, const std::string& path, int number) {
  return fail(ErrorCode::KafkaStorageError,
              fmt::format("{} {}: {}", what, path, std::generic_category().message(number)));
}

std::unexpected<Error> deadError(const std::string& path) {
  return fail(ErrorCode::KafkaStorageError, fmt::format("{}: process is dead", path));
}

/// A system call, again as long as a signal interrupts it.
template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

/// Until `into` is full or the file ends.
Result<size_t> readFully(int descriptor, const std::string& path, uint64_t position, MutableBytes into) {
  size_t count = 0;
  while (count < into.size()) {
    const ssize_t got = retry([&] {
      return ::pread(descriptor, into.data() + count, into.size() - count, static_cast<off_t>(position + count));
    });
    if (got < 0) return storageError("read", path, errno);
    if (got == 0) break;
    count += static_cast<size_t>(got);
  }
  return count;
}

class NativeMapping final : public Mapping {
 public:
  NativeMapping(void* address, size_t length) noexcept : address_(address), length_(length) {}
  ~NativeMapping() override { ::munmap(address_, length_); }
  NativeMapping(const NativeMapping&) = delete;
  NativeMapping& operator=(const NativeMapping&) = delete;
  ByteView bytes() const noexcept override { return {static_cast<const uint8_t*>(address_), length_}; }

 private:
  void* const address_;
  const size_t length_;
};

class NativeLock final : public FileLock {
 public:
  NativeLock(std::shared_ptr<DescriptorTable> table, int descriptor) : descriptor_(std::move(table), descriptor) {}

 private:
  const Descriptor descriptor_;
};

}  // namespace

// Every call looks twice whether the process is dead: descriptors lead nowhere once it is, so what a call under way
// then reports means nothing.

Result<size_t> NativeFile::readAt(uint64_t position, MutableBytes into) const {
  if (process_->dead()) return deadError(path_);
  TIDEMARK_ASSIGN(const size_t count, readFully(descriptor_.get(), path_, position, into));
  if (process_->dead()) return deadError(path_);
  return count;
}

Result<void> NativeFile::writeAt(uint64_t position, std::span<const ByteView> pieces) {
  if (process_->dead()) return deadError(path_);
  constexpr size_t kMaxPieces = 64;
  std::array<iovec, kMaxPieces> vectors;
  size_t piece = 0;
  size_t offset = 0;
  while (true) {
    size_t count = 0;
    size_t bytes = 0;
    size_t skip = offset;
    for (size_t i = piece; i < pieces.size() && count < kMaxPieces; ++i) {
      const auto part = pieces[i].subspan(skip);
      skip = 0;
      if (part.empty()) continue;
      vectors[count++] = {const_cast<uint8_t*>(part.data()), part.size()};
      bytes += part.size();
    }
    if (count == 0) break;
    const ssize_t wrote = retry([&] {
      return ::pwritev(descriptor_.get(), vectors.data(), static_cast<int>(count), static_cast<off_t>(position));
    });
    if (wrote < 0) {
      return storageError(fmt::format("write {} bytes at {} of", bytes, position), path_, errno);
    }
    position += static_cast<size_t>(wrote);
    auto left = static_cast<size_t>(wrote);
    while (piece < pieces.size() && left >= pieces[piece].size() - offset) {
      left -= pieces[piece].size() - offset;
      offset = 0;
      ++piece;
    }
    offset += left;
  }
  if (process_->dead()) return deadError(path_);
  return {};
}

Result<uint64_t> NativeFile::size() const {
  if (process_->dead()) return deadError(path_);
  struct stat status;
  if (::fstat(descriptor_.get(), &status) != 0) return storageError("size of", path_, errno);
  if (process_->dead()) return deadError(path_);
  return static_cast<uint64_t>(status.st_size);
}

Result<uint64_t> NativeFile::nextData(uint64_t position) const {
  if (process_->dead()) return deadError(path_);
  const off_t found = ::lseek(descriptor_.get(), static_cast<off_t>(position), SEEK_DATA);
  const int number = errno;
  if (process_->dead()) return deadError(path_);
  if (found >= 0) return static_cast<uint64_t>(found);
  // No data behind it, or nobody who could tell.
  if (number == ENXIO) return size();
  return position;
}

Result<void> NativeFile::truncate(uint64_t size) {
  if (process_->dead()) return deadError(path_);
  const int result = retry([&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(size)); });
  const int number = errno;
  if (process_->dead()) return deadError(path_);
  if (result != 0) return storageError(fmt::format("truncate to {}", size), path_, number);
  return {};
}

void NativeFile::reserve(uint64_t size) {
  if (process_->dead()) return;
  struct stat status{};
  if (::fstat(descriptor_.get(), &status) != 0 || static_cast<uint64_t>(status.st_size) >= size) return;
  // A file system that cannot, and a full one, say so when the bytes come.
  static_cast<void>(
      ::fallocate(descriptor_.get(), FALLOC_FL_KEEP_SIZE, status.st_size, static_cast<off_t>(size) - status.st_size));
}

void NativeFile::releaseReserved() {
  if (process_->dead()) return;
  struct stat status{};
  if (::fstat(descriptor_.get(), &status) != 0) return;
  static_cast<void>(retry([&] { return ::ftruncate(descriptor_.get(), status.st_size); }));
}

Result<void> NativeFile::sync() {
  if (process_->dead()) return deadError(path_);
  const int result = retry([&] { return ::fdatasync(descriptor_.get()); });
  const int number = errno;
  if (process_->dead()) return deadError(path_);
  if (result != 0) return storageError("sync", path_, number);
  return {};
}

Result<std::shared_ptr<const Mapping>> NativeFile::map(uint64_t length) const {
  if (process_->dead()) return deadError(path_);
  void* const address = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor_.get(), 0);
  const int number = errno;
  if (process_->dead()) {
    if (address != MAP_FAILED) ::munmap(address, length);
    return deadError(path_);
  }
  if (address == MAP_FAILED) return storageError(fmt::format("map {} bytes of", length), path_, number);
  return std::make_shared<NativeMapping>(address, length);
}

namespace {

class NativeFiles final : public FileSystem {
 public:
  explicit NativeFiles(std::shared_ptr<ProcessCore> process) noexcept : process_(std::move(process)) {}

  Result<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override {
    if (process_->dead()) return deadError(path);
    static constexpr int kFlags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL,
                                     O_RDWR | O_CREAT | O_TRUNC};
    struct stat status{};
    TIDEMARK_ASSIGN(const int descriptor, openDescriptor("open", path, kFlags[static_cast<size_t>(mode)], &status));
    auto file = std::make_shared<NativeFile>(process_, descriptor, path);
    if (S_ISDIR(status.st_mode)) return storageError("open", path, EISDIR);
    if (process_->dead()) return deadError(path);
    return file;
  }

  /// In as few calls as can be: a start reads several small files of each partition.
  Result<ByteVector> readFile(const std::string& path, uint64_t limit) override {
    if (process_->dead()) return deadError(path);
    struct stat status{};
    TIDEMARK_ASSIGN(const int number, openDescriptor("open", path, O_RDONLY, &status));
    const Descriptor descriptor(process_->descriptors(), number);
    if (S_ISDIR(status.st_mode)) return storageError("open", path, EISDIR);
    const auto size = static_cast<uint64_t>(status.st_size);
    if (size > limit) {
      return fail(ErrorCode::KafkaStorageError,
                  fmt::format("{} has {} bytes, more than the {} allowed", path, size, limit));
    }
    ByteVector bytes(size);
    TIDEMARK_ASSIGN(const size_t count, readFully(descriptor.get(), path, 0, bytes));
    if (process_->dead()) return deadError(path);
    bytes.resize(count);
    return bytes;
  }

  bool exists(const std::string& path) const override {
    struct stat status;
    return !process_->dead() && ::stat(path.c_str(), &status) == 0;
  }

  Result<std::vector<DirectoryEntry>> list(const std::string& directory) const override {
    if (process_->dead()) return deadError(directory);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
    if (!stream) return storageError("list", directory, errno);
    std::vector<DirectoryEntry> entries;
    while (true) {
      errno = 0;
      const dirent* found = ::readdir(stream.get());
      if (!found) break;
      const std::string_view name = found->d_name;
      if (name == "." || name == "..") continue;
      if (found->d_type == DT_DIR) {
        entries.push_back({std::string(name), true, 0});
        continue;
      }
      struct stat status;
      // Gone since it was listed: as if it had not been.
      if (::fstatat(::dirfd(stream.get()), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (S_ISLNK(status.st_mode) && ::fstatat(::dirfd(stream.get()), found->d_name, &status, 0) != 0) continue;
      const bool isDirectory = S_ISDIR(status.st_mode);
      entries.push_back({std::string(name), isDirectory, isDirectory ? 0 : static_cast<uint64_t>(status.st_size)});
    }
    if (errno != 0) return storageError("list", directory, errno);
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
  }

  std::vector<std::string> brokenLinks(const std::string& directory) const override {
    std::vector<std::string> broken;
    if (process_->dead()) return broken;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
    if (!stream) return broken;
    while (const dirent* found = ::readdir(stream.get())) {
      struct stat status;
      if (::fstatat(::dirfd(stream.get()), found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISLNK(status.st_mode) && ::fstatat(::dirfd(stream.get()), found->d_name, &status, 0) != 0)
        broken.emplace_back(found->d_name);
    }
    std::ranges::sort(broken);
    return broken;
  }

  Result<void> createDirectories(const std::string& directory) override {
    if (process_->dead()) return deadError(directory);
    std::error_code code;
    std::filesystem::create_directories(directory, code);
    if (code) return storageError("create", directory, code.value());
    return {};
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (process_->dead()) return deadError(from);
    if (::rename(from.c_str(), to.c_str()) != 0) return storageError("rename " + from + " to", to, errno);
    return {};
  }

  Result<void> remove(const std::string& path) override {
    if (process_->dead()) return deadError(path);
    if (::unlink(path.c_str()) == 0) return {};
    const int number = errno;
    if ((number == EISDIR || number == EPERM) && ::rmdir(path.c_str()) == 0) return {};
    return storageError("remove", path, number == EISDIR ? errno : number);
  }

  Result<void> removeTree(const std::string& directory) override {
    if (process_->dead()) return deadError(directory);
    std::error_code code;
    std::filesystem::remove_all(directory, code);
    if (code) return storageError("remove", directory, code.value());
    return {};
  }

  Result<void> syncDirectory(const std::string& directory) override {
    if (process_->dead()) return deadError(directory);
    TIDEMARK_ASSIGN(const int number, openDescriptor("sync", directory, O_RDONLY | O_DIRECTORY));
    const Descriptor descriptor(process_->descriptors(), number);
    if (retry([&] { return ::fsync(descriptor.get()); }) != 0 && !process_->dead()) {
      return storageError("sync", directory, errno);
    }
    if (process_->dead()) return deadError(directory);
    return {};
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
    if (process_->dead()) return deadError(path);
    TIDEMARK_ASSIGN(const int descriptor, openDescriptor("open", path, O_RDWR | O_CREAT));
    auto held = std::make_unique<NativeLock>(process_->descriptors(), descriptor);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (::fcntl(descriptor, F_OFD_SETLK, &whole) != 0) {
      if (errno == EAGAIN || errno == EACCES) {
        return fail(ErrorCode::InvalidConfig, fmt::format("{} is locked by another process", path));
      }
      return storageError("lock", path, errno);
    }
    if (process_->dead()) return deadError(path);
    return held;
  }

  Result<DiskSpace> space(const std::string& directory) const override {
    if (process_->dead()) return deadError(directory);
    struct statvfs status;
    if (::statvfs(directory.c_str(), &status) != 0) return storageError("space of", directory, errno);
    return DiskSpace{status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize};
  }

 private:
  /// `status` is filled if it is not null.
  static Result<int> openDescriptor(std::string_view what, const std::string& path, int flags,
                                    struct stat* status = nullptr) {
    // Not blocking: the end of a pipe might never be opened on its other side.
    const int descriptor = retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0644); });
    if (descriptor < 0) return storageError(what, path, errno);
    struct stat found{};
    if (::fstat(descriptor, &found) != 0) {
      const int number = errno;
      ::close(descriptor);
      return storageError(what, path, number);
    }
    if (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode)) {
      ::close(descriptor);
      return fail(ErrorCode::KafkaStorageError, fmt::format("{} {}: it is a pipe or a socket, not a file", what, path));
    }
    if (status != nullptr) *status = found;
    return descriptor;
  }

  const std::shared_ptr<ProcessCore> process_;
};

}  // namespace

std::unique_ptr<FileSystem> makeFiles(std::shared_ptr<ProcessCore> core) {
  return std::make_unique<NativeFiles>(std::move(core));
}

}  // namespace tidemark::platform::native
