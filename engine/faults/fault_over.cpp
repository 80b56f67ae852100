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

void Lasting::addCut(std::string path, uint64_t lost) {
  if (paths.size() < kMostPaths) lostBytes.push_back(lost);
  lostInAll += lost;
  add(std::move(path));
}

bool Lasting::isNothing() const noexcept {
  return *this == Lasting{};
}

}  // namespace tidemark::faults
