#pragma once

#include <string>

#include "base/result.h"
#include "platform/file_system.h"

namespace tidemark::log {

/// Makes a directory and those it lies in, as far as they are missing, so that they survive a power loss.
Result<void> makeDirectories(platform::FileSystem& files, const std::string& path);

}  // namespace tidemark::log
