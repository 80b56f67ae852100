#include "inspect/lab_folder.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "inspect/file_kind.h"

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

std::optional<LabOwner> ownerInLab(platform::FileSystem& files, const std::string& directory) {
  constexpr size_t kMostBytes = 1u << 20;
  LabOwner owner{
      .path = platform::parentDirectory(directory) + "/" + std::string(kLabFile), .clusterId = {}, .node = {}};
  if (!files.exists(owner.path)) return std::nullopt;
  const auto contents = files.readFile(owner.path, kMostBytes);
  if (!contents) return std::nullopt;
  const auto lab = nlohmann::json::parse(asText(*contents), nullptr, false);
  if (!lab.is_object() || !lab.contains("clusterId") || !lab["clusterId"].is_string()) return std::nullopt;
  owner.clusterId = lab["clusterId"].get<std::string>();
  // broker-3, broker-3.disk-2
  std::string_view name = nameIn(directory);
  constexpr std::string_view kPrefix = "broker-";
  if (!name.starts_with(kPrefix)) return owner;
  name.remove_prefix(kPrefix.size());
  int32_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error == std::errc() && (end == name.data() + name.size() || *end == '.')) owner.node = NodeId(id);
  return owner;
}

}  // namespace tidemark::inspect
