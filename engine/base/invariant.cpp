#include "base/invariant.h"

namespace tidemark {

void invariantBroken(const char* file, int line, const char* condition, const std::string& what) {
  std::string text(file);
  text += ':' + std::to_string(line) + ": " + condition + (what.empty() ? "" : ": " + what);
  throw InvariantBroken(text);
}

}  // namespace tidemark
