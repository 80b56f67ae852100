#include "base/crc32c.h"
#include "platform/simulated/core.h"

namespace tidemark::platform {

namespace {

constexpr std::string_view kCallNames[] = {"open", "read",   "write",  "size",   "truncate",       "sync", "map",
                                           "list", "create", "rename", "remove", "sync directory", "lock"};

std::unexpected<Error> storageError(std::string text) {
  return fail(ErrorCode::KafkaStorageError, std::move(text));
}

std::unexpected<Error> deadError(const std::string& path) {
  return storageError(fmt::format("{}: process is dead", path));
}

struct Call {
  FileCall kind;
  const std::string& path;
  Duration cost;
  uint64_t position = 0;
  uint64_t length = 0;
  uint64_t check = 0;
};

/// What all file calls have in common: they fail once the process is dead, are traced, take time, may be told to fail
/// and may be the one at which the process crashes. `effect` is told whether to leave off in the middle.
template <class Effect>
auto perform(ProcessCore& process, const Call& call, Effect effect) -> decltype(effect(false)) {
  if (process.dead()) return deadError(call.path);
  auto& world = *process.world;
  world.trace.record(world.scheduler.now(), TraceKind::File, process.id, static_cast<uint64_t>(call.kind),
                     mix(mix(mix(call.check, call.path), call.position), call.length), [&] {
                       return fmt::format("{} {} {} at {} length {} check {:08x}", process.name,
                                          kCallNames[static_cast<size_t>(call.kind)], call.path, call.position,
                                          call.length, call.check);
                     });
  // 0: no crash; 1: before, 2: in the middle, 3: after.
  const auto crash = process.countFileCall() ? 1 + process.fileChoices.below(3) : 0;
  const auto die = [&] {
    process.die(fmt::format("crashed in file call {} ({} {})", process.fileCalls,
                            kCallNames[static_cast<size_t>(call.kind)], call.path),
                process.crashHow == SimulatedProcess::Crash::PowerLoss, true);
    return deadError(call.path);
  };
  if (crash == 1) return die();
  process.takeTime(call.cost);
  auto& tree = process.disk.tree();
  if (tree.failWhen && tree.failWhen(call.kind, call.path)) {
    ++tree.damage.failed;
    if (call.kind == FileCall::Sync || call.kind == FileCall::Write) effect(true);
    if (crash != 0) return die();
    return storageError(
        fmt::format("{} {}: input/output error", kCallNames[static_cast<size_t>(call.kind)], call.path));
  }
  auto result = effect(crash == 2);
  if (crash != 0) return die();
  return result;
}

class SimulatedFile final : public File {
 public:
  SimulatedFile(std::shared_ptr<ProcessCore> process, DiskTree::Node node, std::string path, bool writable)
      : process_(std::move(process)), node_(std::move(node)), path_(std::move(path)), writable_(writable) {}

  Result<size_t> readAt(uint64_t position, MutableBytes into) const override {
    return perform(*process_, {FileCall::Read, path_, cost(costs().fileRead, into.size()), position, into.size()},
                   [&](bool) -> Result<size_t> { return copy(position, into); });
  }

  Result<void> writeAt(uint64_t position, std::span<const ByteView> pieces) override {
    uint64_t length = 0;
    uint32_t check = 0;
    for (const auto piece : pieces) {
      length += piece.size();
      check = crc32c(piece, check);
    }
    return perform(*process_, {FileCall::Write, path_, cost(costs().fileWrite, length), position, length, check},
                   [&](bool inTheMiddle) -> Result<void> {
                     if (!writable_) return storageError(fmt::format("{} was opened for reading", path_));
                     const uint64_t size = node_->content.size();
                     const uint64_t growth = position + length > size ? position + length - size : 0;
                     const uint64_t room = process_->disk.tree().room(growth);
                     uint64_t allowed = length;
                     if (room < growth) allowed -= std::min(length, growth - room);
                     if (inTheMiddle) allowed = process_->fileChoices.below(allowed + 1);
                     process_->disk.tree().damage.cutShort += allowed > 0 && allowed < length;
                     uint64_t at = position;
                     for (auto piece : pieces) {
                       piece = piece.first(std::min<uint64_t>(piece.size(), position + allowed - at));
                       node_->write(at, piece);
                       at += piece.size();
                     }
                     if (room < growth) {
                       ++process_->disk.tree().damage.full;
                       return storageError(
                           fmt::format("write {} bytes at {} of {}: no space left on device", length, position, path_));
                     }
                     return {};
                   });
  }

  Result<uint64_t> size() const override {
    return perform(*process_, {FileCall::Size, path_, costs().fileRead},
                   [&](bool) -> Result<uint64_t> { return node_->content.size(); });
  }

  Result<void> truncate(uint64_t size) override {
    return perform(*process_, {FileCall::Truncate, path_, costs().fileWrite, size}, [&](bool) -> Result<void> {
      if (!writable_) return storageError(fmt::format("{} was opened for reading", path_));
      const uint64_t now = node_->content.size();
      if (size > now && process_->disk.tree().room(size - now) < size - now) {
        return storageError(fmt::format("truncate {} to {}: no space left on device", path_, size));
      }
      node_->truncate(size);
      return {};
    });
  }

  Result<void> sync() override {
    // In the middle of it the disk has part of it: as good as nothing.
    return perform(*process_, {FileCall::Sync, path_, costs().fileSync}, [&](bool failed) -> Result<void> {
      if (failed) {
        if (process_->crashAt != process_->fileCalls) node_->failSync();
      } else {
        node_->sync();
      }
      return {};
    });
  }

  Result<std::shared_ptr<const Mapping>> map(uint64_t length) const override {
    return perform(*process_, {FileCall::Map, path_, costs().fileRead, 0, length},
                   [&](bool) -> Result<std::shared_ptr<const Mapping>> {
                     if (length == 0) return storageError(fmt::format("map {}: nothing to map", path_));
                     return node_->map(length);
                   });
  }

  const std::string& path() const noexcept override { return path_; }

  /// Without being a call of the process: what the operating system does when a socket takes bytes from a file.
  size_t copy(uint64_t position, MutableBytes into) const noexcept {
    if (position >= node_->content.size()) return 0;
    const size_t count = std::min<uint64_t>(into.size(), node_->content.size() - position);
    if (count > 0) std::memcpy(into.data(), node_->content.data() + position, count);
    return count;
  }
  bool readFails() const {
    const auto& tree = process_->disk.tree();
    return tree.failWhen && tree.failWhen(FileCall::Read, path_);
  }

 private:
  const SimulatedCosts& costs() const noexcept { return process_->world->options.costs; }
  Duration cost(Duration base, uint64_t bytes) const noexcept {
    return base + Duration(costs().perMebibyte.count() * static_cast<int64_t>(bytes) / (1 << 20));
  }

  const std::shared_ptr<ProcessCore> process_;
  const DiskTree::Node node_;
  const std::string path_;
  const bool writable_;
};

class SimulatedLock final : public FileLock {
 public:
  explicit SimulatedLock(std::shared_ptr<LockToken> token) noexcept : token_(std::move(token)) {}

 private:
  std::shared_ptr<LockToken> token_;
};

class SimulatedFiles final : public FileSystem {
 public:
  explicit SimulatedFiles(ProcessCore& process) noexcept : process_(process) {}

  Result<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override {
    return perform(process_, {FileCall::Open, path, costs().fileOpen, static_cast<uint64_t>(mode)},
                   [&](bool) -> Result<std::shared_ptr<File>> {
                     TIDEMARK_ASSIGN(auto place, tree().find(path));
                     if (place.node && place.node->directory) return storageError("open " + path + ": is a directory");
                     const bool mayCreate = mode != OpenMode::Read && mode != OpenMode::ReadWrite;
                     if (place.node && mode == OpenMode::CreateNew)
                       return storageError("open " + path + ": file exists");
                     if (!place.node && !mayCreate) return storageError("open " + path + ": no such file or directory");
                     if (!place.node) {
                       place.node = tree().create(place, false);
                     } else if (mode == OpenMode::Truncate) {
                       place.node->truncate(0);
                     }
                     return std::make_shared<SimulatedFile>(process_.shared_from_this(), place.node, path,
                                                            mode != OpenMode::Read);
                   });
  }

  bool exists(const std::string& path) const override {
    const auto found = perform(process_, {FileCall::Size, path, costs().fileRead}, [&](bool) -> Result<bool> {
      TIDEMARK_ASSIGN(const auto place, tree().find(path));
      return place.node != nullptr;
    });
    return found && *found;
  }

  Result<std::vector<DirectoryEntry>> list(const std::string& directory) const override {
    return perform(process_, {FileCall::List, directory, costs().directory},
                   [&](bool) -> Result<std::vector<DirectoryEntry>> {
                     TIDEMARK_ASSIGN(const auto node, findDirectory(directory));
                     std::vector<DirectoryEntry> entries;
                     for (const auto& [name, child] : node->entries) {
                       entries.push_back({name, child->directory, child->content.size()});
                     }
                     return entries;
                   });
  }

  Result<void> createDirectories(const std::string& directory) override {
    for (size_t end = 0; end != directory.size();) {
      const size_t slash = directory.find('/', end + 1);
      end = slash == std::string::npos ? directory.size() : slash;
      TIDEMARK_TRY(createDirectory(directory.substr(0, end)));
    }
    return {};
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    return perform(process_, {FileCall::Rename, from, costs().directory, 0, 0, mix(0, to)}, [&](bool) -> Result<void> {
      TIDEMARK_ASSIGN(const auto source, tree().find(from));
      TIDEMARK_ASSIGN(const auto target, tree().find(to));
      const auto text = [&](std::string_view why) { return fmt::format("rename {} to {}: {}", from, to, why); };
      if (!source.node || source.name.empty()) return storageError(text("no such file or directory"));
      if (target.name.empty()) return storageError(text("is the root"));
      if (target.node == source.node) return {};
      if (target.node && target.node->directory && !source.node->directory) return storageError(text("is a directory"));
      if (target.node && source.node->directory && !target.node->directory)
        return storageError(text("not a directory"));
      if (target.node && !target.node->entries.empty()) return storageError(text("directory not empty"));
      tree().rename(source, target);
      return {};
    });
  }

  Result<void> remove(const std::string& path) override {
    return perform(process_, {FileCall::Remove, path, costs().directory}, [&](bool) -> Result<void> {
      TIDEMARK_ASSIGN(const auto place, tree().find(path));
      if (!place.node || place.name.empty()) return storageError("remove " + path + ": no such file or directory");
      if (!place.node->entries.empty()) return storageError("remove " + path + ": directory not empty");
      tree().remove(place);
      return {};
    });
  }

  Result<void> removeTree(const std::string& directory) override {
    if (process_.dead()) return deadError(directory);
    TIDEMARK_ASSIGN(const auto place, tree().find(directory));
    if (!place.node) return {};
    std::vector<std::string> names;
    for (const auto& [name, child] : place.node->entries) names.push_back(name);
    for (const auto& name : names) TIDEMARK_TRY(removeTree(directory + "/" + name));
    return remove(directory);
  }

  Result<void> syncDirectory(const std::string& directory) override {
    return perform(process_, {FileCall::SyncDirectory, directory, costs().fileSync}, [&](bool middle) -> Result<void> {
      TIDEMARK_ASSIGN(const auto node, findDirectory(directory));
      if (!middle) tree().syncDirectory(node);
      return {};
    });
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
    return perform(process_, {FileCall::LockFile, path, costs().fileOpen},
                   [&](bool) -> Result<std::unique_ptr<FileLock>> {
                     TIDEMARK_ASSIGN(auto place, tree().find(path));
                     if (!place.node) place.node = tree().create(place, false);
                     if (const auto held = place.node->lock.lock(); held && !held->process->dead()) {
                       return fail(ErrorCode::InvalidConfig, fmt::format("{} is locked by another process", path));
                     }
                     auto token = std::make_shared<LockToken>(process_.shared_from_this());
                     place.node->lock = token;
                     return std::make_unique<SimulatedLock>(std::move(token));
                   });
  }

  Result<DiskSpace> space(const std::string& directory) const override {
    return perform(process_, {FileCall::Size, directory, costs().fileRead},
                   [&](bool) -> Result<DiskSpace> { return DiskSpace{tree().capacity, tree().room(UINT64_MAX)}; });
  }

 private:
  const SimulatedCosts& costs() const noexcept { return process_.world->options.costs; }
  DiskTree& tree() const noexcept { return process_.disk.tree(); }

  Result<DiskTree::Node> findDirectory(const std::string& path) const {
    TIDEMARK_ASSIGN(const auto place, tree().find(path));
    if (!place.node) return storageError(path + ": no such file or directory");
    if (!place.node->directory) return storageError(path + ": not a directory");
    return place.node;
  }

  Result<void> createDirectory(const std::string& path) {
    TIDEMARK_ASSIGN(const auto before, tree().find(path));
    if (before.node && before.node->directory) return {};
    return perform(process_, {FileCall::Create, path, costs().directory}, [&](bool) -> Result<void> {
      TIDEMARK_ASSIGN(const auto place, tree().find(path));
      if (place.node) return storageError("create " + path + ": not a directory");
      tree().create(place, true);
      return {};
    });
  }

  ProcessCore& process_;
};

}  // namespace

std::unique_ptr<FileSystem> makeSimulatedFiles(ProcessCore& process) {
  return std::make_unique<SimulatedFiles>(process);
}

Result<size_t> readForSending(const File& file, uint64_t position, MutableBytes into) {
  const auto* simulated = dynamic_cast<const SimulatedFile*>(&file);
  if (!simulated) return file.readAt(position, into);
  if (simulated->readFails()) return storageError(fmt::format("read {}: input/output error", file.path()));
  return simulated->copy(position, into);
}

}  // namespace tidemark::platform
