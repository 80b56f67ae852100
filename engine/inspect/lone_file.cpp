#include "inspect/lone_file.h"

#include <utility>

namespace tidemark::inspect {

LoneFile::LoneFile(platform::FileSystem& below, std::string folder, std::map<std::string, std::string> names)
    : below_(below), folder_(std::move(folder)), names_(std::move(names)) {}

const std::string* LoneFile::realPath(const std::string& path) const {
  if (!path.starts_with(folder_ + "/")) return nullptr;
  const auto found = names_.find(path.substr(folder_.size() + 1));
  return found == names_.end() ? nullptr : &found->second;
}

Result<std::shared_ptr<platform::File>> LoneFile::open(const std::string& path, platform::OpenMode mode) {
  const std::string* real = realPath(path);
  if (real == nullptr) return fail(ErrorCode::KafkaStorageError, path + ": no such file");
  if (mode != platform::OpenMode::Read) TIDEMARK_TRY(refuse(*real));
  return below_.open(*real, platform::OpenMode::Read);
}

bool LoneFile::exists(const std::string& path) const {
  const std::string* real = realPath(path);
  return real != nullptr && below_.exists(*real);
}

Result<std::vector<platform::DirectoryEntry>> LoneFile::list(const std::string& directory) const {
  if (directory != folder_) return fail(ErrorCode::KafkaStorageError, directory + ": no such folder");
  std::vector<platform::DirectoryEntry> entries;
  for (const auto& [name, real] : names_) {
    TIDEMARK_ASSIGN(const auto file, below_.open(real, platform::OpenMode::Read));
    TIDEMARK_ASSIGN(const uint64_t size, file->size());
    entries.push_back({.name = name, .isDirectory = false, .size = size});
  }
  return entries;
}

Result<std::unique_ptr<platform::FileLock>> LoneFile::lock(const std::string& path) {
  TIDEMARK_TRY(refuse(path));
  return nullptr;
}

Result<void> LoneFile::refuse(const std::string& path) {
  return fail(ErrorCode::KafkaStorageError, path + " is open for reading only");
}

}  // namespace tidemark::inspect
