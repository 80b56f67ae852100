#pragma once

#include <span>
#include <string_view>

#include "base/bytes.h"

namespace tidemark::fuzz {

/// Feeds any bytes to one of the readers. Whatever they are, it returns; what must not be shows as a crash, a
/// sanitizer's report, or std::abort() after a line that says which rule was broken.
struct Target {
  std::string_view name;
  void (*run)(ByteView bytes);
};

std::span<const Target> targets() noexcept;
/// Null if there is none of that name.
const Target* findTarget(std::string_view name) noexcept;

}  // namespace tidemark::fuzz
