#include "faults/unmatched.h"

#include <fmt/format.h>

namespace tidemark::faults {

std::string textOf(const Unmatched& unmatched) {
  switch (unmatched.what) {
    case Unmatched::What::Client:
      return fmt::format("no client named {} is connected", unmatched.name);
    case Unmatched::What::Topic:
      return fmt::format("there is no topic {}", unmatched.name);
    case Unmatched::What::Partition:
      return fmt::format("there is no partition {}", unmatched.name);
    case Unmatched::What::Path:
      return fmt::format("broker {} has no file or folder {}", unmatched.node, unmatched.name);
    case Unmatched::What::Process:
      return fmt::format("broker {} does not run, and its clocks are right when it starts", unmatched.node);
  }
  return {};
}

}  // namespace tidemark::faults
