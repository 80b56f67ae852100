#include "faults/fault_over.h"

namespace tidemark::faults {

std::string_view nameOf(Ending ending) noexcept {
  switch (ending) {
    case Ending::Healed:
      return "healed";
    case Ending::Expired:
      return "time over";
    case Ending::FiredOut:
      return "fired out";
    case Ending::Dropped:
      return "dropped";
  }
  return "?";
}

void Lasting::add(std::string path) {
  if (paths.size() < kMostPaths)
    paths.push_back(std::move(path));
  else
    ++morePaths;
}

bool Lasting::isNothing() const noexcept {
  return *this == Lasting{};
}

}  // namespace tidemark::faults
