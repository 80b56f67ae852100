#pragma once

#include <stdexcept>
#include <string>

namespace tidemark {

/// A rule that cannot be broken was. The one exception that crosses folders: only an executor catches it, and kills the
/// Process it belongs to before harm reaches its data.
class InvariantBroken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void invariantBroken(const char* file, int line, const char* condition, const std::string& what);

}  // namespace tidemark

/// Always on. `what` is a std::string (evaluated only on failure) with the numbers that disagree.
#define TIDEMARK_INVARIANT(condition, what)                                \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::tidemark::invariantBroken(__FILE__, __LINE__, #condition, (what)); \
  } while (false)
