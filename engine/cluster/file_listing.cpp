#include "cluster/file_listing.h"

#include <fmt/format.h>

namespace tidemark::cluster {
namespace {

/// What is in it, until the listing is cut.
Result<void> addBelow(platform::FileSystem& files, const std::string& directory, size_t most, FileListing& into) {
  TIDEMARK_ASSIGN(const std::vector<platform::DirectoryEntry> entries, files.list(directory));
  for (const platform::DirectoryEntry& entry : entries) {
    if (into.entries.size() >= most) into.cut = true;
    if (into.cut) return {};
    std::string path = fmt::format("{}/{}", directory, entry.name);
    into.entries.push_back({.path = path, .isDirectory = entry.isDirectory, .sizeInBytes = entry.size});
    if (entry.isDirectory) TIDEMARK_TRY(addBelow(files, path, most, into));
  }
  return {};
}

}  // namespace

Result<FileListing> listBelow(platform::FileSystem& files, std::span<const std::string> directories, size_t most) {
  FileListing listing;
  for (const std::string& directory : directories) TIDEMARK_TRY(addBelow(files, directory, most, listing));
  return listing;
}

}  // namespace tidemark::cluster
