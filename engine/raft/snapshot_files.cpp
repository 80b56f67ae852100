#include "raft/snapshot_files.h"

#include <fmt/format.h>

#include "platform/file_system.h"
#include "raft/snapshot.h"

namespace tidemark::raft {
namespace {

constexpr std::string_view kPart = ".part";
constexpr std::string_view kDeleted = ".deleted";

class FileSnapshot final : public RawSnapshot {
 public:
  FileSnapshot(OffsetAndEpoch id, std::shared_ptr<platform::File> file, uint64_t size)
      : id_(id), file_(std::move(file)), size_(size) {}
  OffsetAndEpoch id() const override { return id_; }
  uint64_t sizeInBytes() const override { return size_; }
  Result<size_t> readAt(uint64_t position, MutableBytes into) const override { return file_->readAt(position, into); }
  const std::string& path() const override { return file_->path(); }

 private:
  OffsetAndEpoch id_;
  std::shared_ptr<platform::File> file_;
  uint64_t size_;
};

}  // namespace

class SnapshotFiles::Writer final : public RawSnapshotWriter {
 public:
  Writer(SnapshotFiles& owner, OffsetAndEpoch id, std::shared_ptr<platform::File> file)
      : owner_(owner), id_(id), file_(std::move(file)) {}
  OffsetAndEpoch id() const override { return id_; }
  uint64_t sizeInBytes() const override { return size_; }
  Result<void> append(ByteView bytes) override {
    TIDEMARK_TRY(file_->writeAt(size_, bytes));
    size_ += bytes.size();
    return {};
  }
  Result<void> freeze() override {
    TIDEMARK_TRY(file_->sync());
    file_.reset();
    const std::string path = owner_.path(id_);
    TIDEMARK_TRY(owner_.files_.rename(path + std::string(kPart), path));
    TIDEMARK_TRY(owner_.files_.syncDirectory(owner_.directory_));
    Lock lock(owner_.mutex_);
    owner_.ids_.insert(id_);
    return {};
  }

 private:
  SnapshotFiles& owner_;
  OffsetAndEpoch id_;
  std::shared_ptr<platform::File> file_;
  uint64_t size_ = 0;
};

std::string SnapshotFiles::path(OffsetAndEpoch id) const {
  return fmt::format("{}/{}", directory_, snapshotFileName(id));
}

Result<std::unique_ptr<SnapshotFiles>> SnapshotFiles::open(platform::FileSystem& files, std::string directory) {
  TIDEMARK_TRY(files.createDirectories(directory));
  TIDEMARK_ASSIGN(const auto entries, files.list(directory));
  std::unique_ptr<SnapshotFiles> result(new SnapshotFiles(files, std::move(directory)));
  Lock lock(result->mutex_);
  for (const platform::DirectoryEntry& entry : entries) {
    std::string_view name = entry.name;
    const bool leftOver = name.ends_with(kPart) || name.ends_with(kDeleted);
    if (leftOver) name.remove_suffix(name.ends_with(kPart) ? kPart.size() : kDeleted.size());
    const auto id = parseSnapshotFileName(name);
    if (!id || entry.isDirectory) continue;
    if (leftOver)
      TIDEMARK_TRY(files.remove(fmt::format("{}/{}", result->directory_, entry.name)));
    else
      result->ids_.insert(*id);
  }
  return result;
}

std::optional<OffsetAndEpoch> SnapshotFiles::earliest() const {
  Lock lock(mutex_);
  return ids_.empty() ? std::nullopt : std::optional(*ids_.begin());
}

std::optional<OffsetAndEpoch> SnapshotFiles::latest() const {
  Lock lock(mutex_);
  return ids_.empty() ? std::nullopt : std::optional(*ids_.rbegin());
}

std::vector<OffsetAndEpoch> SnapshotFiles::all() const {
  Lock lock(mutex_);
  return {ids_.begin(), ids_.end()};
}

Result<std::unique_ptr<RawSnapshotWriter>> SnapshotFiles::create(OffsetAndEpoch id) {
  {
    Lock lock(mutex_);
    if (ids_.contains(id)) return nullptr;
  }
  TIDEMARK_ASSIGN(auto file, files_.open(path(id) + std::string(kPart), platform::OpenMode::Truncate));
  return std::make_unique<Writer>(*this, id, std::move(file));
}

Result<std::shared_ptr<const RawSnapshot>> SnapshotFiles::read(OffsetAndEpoch id) const {
  {
    Lock lock(mutex_);
    if (!ids_.contains(id)) return fail(ErrorCode::SnapshotNotFound, fmt::format("there is no snapshot {}", path(id)));
  }
  TIDEMARK_ASSIGN(auto file, files_.open(path(id), platform::OpenMode::Read));
  TIDEMARK_ASSIGN(const uint64_t size, file->size());
  return std::make_shared<const FileSnapshot>(id, std::move(file), size);
}

Result<void> SnapshotFiles::removeBelow(Offset offset) {
  for (const OffsetAndEpoch& id : all()) {
    if (id.offset >= offset) break;
    {
      Lock lock(mutex_);
      ids_.erase(id);
    }
    TIDEMARK_TRY(files_.remove(path(id)));
  }
  return {};
}

}  // namespace tidemark::raft
