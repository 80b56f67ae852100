#include "inspect/lab_folder.h"

#include <algorithm>

namespace tidemark::inspect {

namespace {

/// In the folder of a lab, which holds the log directories of its nodes.
constexpr std::string_view kLabFile = "tidemark.json";

}  // namespace

std::vector<std::string> logDirectoriesOfLab(const platform::FileSystem& files, const std::string& folder) {
  std::vector<std::string> found;
  if (!files.exists(folder + "/" + std::string(kLabFile)) || files.exists(folder + "/meta.properties")) return found;
  const auto entries = files.list(folder);
  if (!entries) return found;
  for (const auto& entry : *entries) {
    const std::string inside = folder + "/" + entry.name;
    if (entry.isDirectory && entry.name.find(".before-repair-") == std::string::npos &&
        files.exists(inside + "/meta.properties"))
      found.push_back(inside);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace tidemark::inspect
