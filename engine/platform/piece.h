#pragma once

#include <variant>

#include "base/bytes.h"
#include "platform/file_system.h"

namespace tidemark::platform {

/// Part of what a write sends: bytes of memory, or bytes of a file that go to the socket without a copy.
using Piece = std::variant<SharedBytes, FileSlice>;

}  // namespace tidemark::platform
