#pragma once

#include <string>
#include <vector>

#include "platform/file_system.h"

namespace tidemark::inspect {

/// The log directories in the data folder of a lab, in order; nothing if `folder` is none.
std::vector<std::string> logDirectoriesOfLab(const platform::FileSystem& files, const std::string& folder);

}  // namespace tidemark::inspect
