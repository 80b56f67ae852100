#include "faults/unmatched.h"

#include <fmt/format.h>

namespace tidemark::faults {

std::string textOf(const Unmatched& unmatched, std::string_view who) {
  switch (unmatched.what) {
    case Unmatched::What::Client:
      return fmt::format("no client named {} is connected", unmatched.name);
    case Unmatched::What::Topic:
      return fmt::format("there is no topic {}", unmatched.name);
    case Unmatched::What::Partition:
      return fmt::format("there is no partition {}", unmatched.name);
    case Unmatched::What::Path:
      return fmt::format("{} has no file or folder {}", who, unmatched.name);
  }
  return {};
}

}  // namespace tidemark::faults
