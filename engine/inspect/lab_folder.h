#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "platform/file_system.h"

namespace tidemark::inspect {

/// The log directories in the data folder of a lab, in order; nothing if `folder` is none.
std::vector<std::string> logDirectoriesOfLab(const platform::FileSystem& files, const std::string& folder);

/// Whose a log directory in the data folder of a lab has to be.
struct LabOwner {
  /// The file that says so.
  std::string path;
  std::string clusterId;
  /// By the directory's name; nothing if that is none that a lab gives.
  std::optional<NodeId> node;
};
/// Nothing if `directory` is not in the folder of a lab, or that does not say of which cluster it is.
std::optional<LabOwner> ownerInLab(platform::FileSystem& files, const std::string& directory);

}  // namespace tidemark::inspect
