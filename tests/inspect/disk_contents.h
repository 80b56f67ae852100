#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/bytes.h"
#include "platform/file_system.h"

namespace tidemark::inspect {

/// Every file below a directory by its path, but for locks. None if there is no such directory.
inline std::map<std::string, ByteVector> contentsOf(platform::FileSystem& files, const std::string& directory) {
  std::map<std::string, ByteVector> all;
  const auto entries = files.list(directory);
  if (!entries) return all;
  for (const auto& entry : *entries) {
    const std::string path = directory + "/" + entry.name;
    if (entry.isDirectory) {
      all.merge(contentsOf(files, path));
    } else if (entry.name != ".lock") {
      auto contents = files.readFile(path, 64 << 20);
      EXPECT_TRUE(contents) << path;
      if (contents) all[path] = *std::move(contents);
    }
  }
  return all;
}

}  // namespace tidemark::inspect
