#include "log/directories.h"

#include <vector>

namespace tidemark::log {

Result<void> makeDirectories(platform::FileSystem& files, const std::string& path) {
  std::vector<std::string> parents;
  std::string missing = path;
  // Nothing exists for a process that is dead: the root ends the way up.
  while (!missing.empty() && missing != "/" && missing != "." && !files.exists(missing)) {
    const size_t slash = missing.rfind('/');
    missing = slash == std::string::npos ? "." : slash == 0 ? "/" : missing.substr(0, slash);
    parents.push_back(missing);
  }
  if (parents.empty()) return {};
  TIDEMARK_TRY(files.createDirectories(path));
  for (const std::string& parent : parents) TIDEMARK_TRY(files.syncDirectory(parent));
  return {};
}

}  // namespace tidemark::log
