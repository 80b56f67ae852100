#include "faults/faulty_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tidemark::faults {
namespace {

/// What a disk writes at once or not at all.
constexpr uint64_t kSector = 512;

uint64_t sizeOf(std::span<const ByteView> pieces) noexcept {
  uint64_t size = 0;
  for (const ByteView piece : pieces) size += piece.size();
  return size;
}

class FaultyFile final : public platform::File {
 public:
  FaultyFile(std::shared_ptr<platform::File> below, std::shared_ptr<const FaultyFiles::Disk> disk,
             std::shared_ptr<UnsyncedFiles::Mark> mark)
      : below_(std::move(below)), disk_(std::move(disk)), mark_(std::move(mark)) {}

  Result<size_t> readAt(uint64_t position, MutableBytes into) const override {
    if (!disk_->isFine()) [[unlikely]]
      TIDEMARK_TRY(disk_->ask({.kind = kReads}, "read", path()));
    return below_->readAt(position, into);
  }

  Result<void> writeAt(uint64_t position, std::span<const ByteView> pieces) override {
    if (mark_->synced.load(std::memory_order_relaxed) == UnsyncedFiles::Mark::kUnknown) [[unlikely]] {
      TIDEMARK_ASSIGN(const uint64_t before, below_->size());
      uint64_t unknown = UnsyncedFiles::Mark::kUnknown;
      mark_->synced.compare_exchange_strong(unknown, before);
    }
    if (!disk_->isFine()) [[unlikely]]
      return writeToFaulty(position, pieces);
    return below_->writeAt(position, pieces);
  }

  Result<uint64_t> size() const override { return below_->size(); }
  Result<uint64_t> nextData(uint64_t position) const override { return below_->nextData(position); }

  Result<void> truncate(uint64_t size) override {
    if (!disk_->isFine()) [[unlikely]]
      TIDEMARK_TRY(disk_->ask({.kind = kWrites}, fmt::format("truncate to {}", size), path()));
    TIDEMARK_TRY(below_->truncate(size));
    uint64_t synced = mark_->synced.load();
    while (synced > size && synced != UnsyncedFiles::Mark::kUnknown &&
           !mark_->synced.compare_exchange_weak(synced, size)) {
    }
    return {};
  }

  void reserve(uint64_t size) override { below_->reserve(size); }
  void releaseReserved() override { below_->releaseReserved(); }

  Result<void> sync() override {
    if (!disk_->isFine()) [[unlikely]]
      TIDEMARK_TRY(disk_->ask({.kind = kSyncs}, "sync", path()));
    if (mark_->synced.load() == UnsyncedFiles::Mark::kUnknown) return below_->sync();
    // What is written meanwhile may be on the disk or not.
    TIDEMARK_ASSIGN(const uint64_t before, below_->size());
    TIDEMARK_TRY(below_->sync());
    mark_->synced.store(before);
    return {};
  }

  Result<std::shared_ptr<const platform::Mapping>> map(uint64_t length) const override {
    if (!disk_->isFine()) [[unlikely]]
      TIDEMARK_TRY(disk_->ask({.kind = kReads}, "map", path()));
    return below_->map(length);
  }

  const std::string& path() const noexcept override { return below_->path(); }
  const std::shared_ptr<platform::File>& below() const noexcept { return below_; }

 private:
  Result<void> writeToFaulty(uint64_t position, std::span<const ByteView> pieces) {
    const uint64_t bytes = sizeOf(pieces);
    const std::string what = fmt::format("write {} bytes at {} of", bytes, position);
    TIDEMARK_ASSIGN(const uint64_t now, below_->size());
    TIDEMARK_ASSIGN(
        const FileVerdict verdict,
        disk_->ask({.kind = kWrites, .grows = position + bytes > now, .hasBytes = bytes > 0}, what, path()));
    if (!verdict.isTorn) return below_->writeAt(position, pieces);
    // Whole sectors of the file, about half of the bytes.
    const uint64_t end = std::max(position, (position + bytes / 2) / kSector * kSector);
    std::vector<ByteView> torn;
    for (uint64_t left = end - position; const ByteView piece : pieces) {
      torn.push_back(piece.first(std::min<uint64_t>(left, piece.size())));
      left -= torn.back().size();
    }
    static_cast<void>(below_->writeAt(position, torn));
    disk_->process.kill(fmt::format("{} of {} bytes at {} of {}", kTornReason, bytes, position, path()));
    return fail(ErrorCode::KafkaStorageError, fmt::format("{} {}: process is dead", what, path()));
  }

  const std::shared_ptr<platform::File> below_;
  const std::shared_ptr<const FaultyFiles::Disk> disk_;
  const std::shared_ptr<UnsyncedFiles::Mark> mark_;
};

}  // namespace

std::shared_ptr<const platform::File> fileBelow(std::shared_ptr<const platform::File> file) {
  const auto* faulty = dynamic_cast<const FaultyFile*>(file.get());
  if (faulty == nullptr) return file;
  return faulty->below();
}

// --- what was synced
// -------------------------------------------------------------------------------------------------

std::shared_ptr<UnsyncedFiles::Mark> UnsyncedFiles::opened(const std::string& path, bool isNew) {
  const Lock lock(mutex_);
  auto& mark = marks_[path];
  if (!mark) mark = std::make_shared<Mark>();
  if (isNew) mark->synced.store(0);
  return mark;
}

UnsyncedFiles::Marks UnsyncedFiles::extract(const std::string& path) {
  Marks taken;
  if (auto node = marks_.extract(path)) taken.insert(std::move(node));
  const std::string inside = path + "/";
  for (auto at = marks_.lower_bound(inside); at != marks_.end() && at->first.starts_with(inside);)
    taken.insert(marks_.extract(at++));
  return taken;
}

void UnsyncedFiles::renamed(const std::string& from, const std::string& to) {
  const Lock lock(mutex_);
  extract(to);
  for (auto& [path, mark] : extract(from)) marks_[to + path.substr(from.size())] = mark;
}

void UnsyncedFiles::removed(const std::string& path) {
  const Lock lock(mutex_);
  extract(path);
}

std::vector<UnsyncedFile> UnsyncedFiles::list() const {
  const Lock lock(mutex_);
  std::vector<UnsyncedFile> all;
  for (const auto& [path, mark] : marks_)
    if (const uint64_t synced = mark->synced.load(); synced != Mark::kUnknown)
      all.push_back({.path = path, .synced = synced});
  return all;
}

// --- the file system
// -------------------------------------------------------------------------------------------------

FaultyFiles::FaultyFiles(platform::Process& below, std::shared_ptr<FaultBook> book, std::shared_ptr<const Site> site,
                         std::shared_ptr<Staller> staller, std::shared_ptr<UnsyncedFiles> unsynced)
    : files_(below.files()),
      disk_(std::make_shared<const Disk>(
          Disk{.process = below, .book = std::move(book), .site = std::move(site), .staller = std::move(staller)})),
      unsynced_(std::move(unsynced)) {}

Result<FileVerdict> FaultyFiles::Disk::ask(FileCall call, std::string_view what, const std::string& path) const {
  FileVerdict verdict = book->fileCall(site->node(), call, path);
  if (verdict.delay > Duration{}) staller->stall(verdict.delay);
  if (verdict.isFull)
    return fail(ErrorCode::KafkaStorageError, fmt::format("{} {}: No space left on device", what, path));
  if (verdict.fails) return fail(ErrorCode::KafkaStorageError, fmt::format("{} {}: Input/output error", what, path));
  return verdict;
}

Result<void> FaultyFiles::ask(FileCall call, std::string_view what, const std::string& path) const {
  if (disk_->isFine()) [[likely]]
    return {};
  TIDEMARK_TRY(disk_->ask(call, what, path));
  return {};
}

Result<std::shared_ptr<platform::File>> FaultyFiles::open(const std::string& path, platform::OpenMode mode) {
  const bool mayMake = mode != platform::OpenMode::Read && mode != platform::OpenMode::ReadWrite;
  if (!disk_->isFine()) [[unlikely]]
    TIDEMARK_TRY(ask({.kind = mayMake ? kWrites : kReads, .grows = mayMake && !files_.exists(path)}, "open", path));
  const bool isNew = mode == platform::OpenMode::CreateNew || mode == platform::OpenMode::Truncate ||
                     (mode == platform::OpenMode::Create && !files_.exists(path));
  TIDEMARK_ASSIGN(auto file, files_.open(path, mode));
  return std::make_shared<FaultyFile>(std::move(file), disk_, unsynced_->opened(path, isNew));
}

Result<std::vector<platform::DirectoryEntry>> FaultyFiles::list(const std::string& directory) const {
  TIDEMARK_TRY(ask({.kind = kReads}, "list", directory));
  return files_.list(directory);
}

Result<void> FaultyFiles::createDirectories(const std::string& directory) {
  TIDEMARK_TRY(ask({.kind = kWrites, .grows = true}, "create", directory));
  return files_.createDirectories(directory);
}

Result<void> FaultyFiles::rename(const std::string& from, const std::string& to) {
  TIDEMARK_TRY(ask({.kind = kWrites}, "rename", from));
  TIDEMARK_TRY(files_.rename(from, to));
  unsynced_->renamed(from, to);
  return {};
}

Result<void> FaultyFiles::remove(const std::string& path) {
  TIDEMARK_TRY(ask({.kind = kWrites}, "remove", path));
  TIDEMARK_TRY(files_.remove(path));
  unsynced_->removed(path);
  return {};
}

Result<void> FaultyFiles::removeTree(const std::string& directory) {
  TIDEMARK_TRY(ask({.kind = kWrites}, "remove", directory));
  TIDEMARK_TRY(files_.removeTree(directory));
  unsynced_->removed(directory);
  return {};
}

Result<void> FaultyFiles::syncDirectory(const std::string& directory) {
  TIDEMARK_TRY(ask({.kind = kSyncs}, "sync", directory));
  return files_.syncDirectory(directory);
}

}  // namespace tidemark::faults
