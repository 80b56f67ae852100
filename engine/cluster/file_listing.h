#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "platform/file_system.h"

namespace tidemark::cluster {

/// What lies in folders, deepest folders included.
struct FileListing {
  struct Entry {
    std::string path;
    bool isDirectory = false;
    /// 0 of a folder.
    uint64_t sizeInBytes = 0;
  };
  /// Each folder before what is in it, in the order of names.
  std::vector<Entry> entries;
  /// There is more.
  bool cut = false;
};

/// At most `most` entries. Fails if one of the folders cannot be read.
Result<FileListing> listBelow(platform::FileSystem& files, std::span<const std::string> directories, size_t most);

}  // namespace tidemark::cluster
