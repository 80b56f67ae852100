#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::bench {

/// How often each system call was made; by name where there is one, else by number.
using SystemCalls = std::map<std::string, int64_t>;

/// Runs this program once more with these arguments, traced (ptrace), and counts what its first thread asks of the
/// system between two calls of markSystemCalls(). Nothing if tracing is not allowed here; throws if the program fails.
std::optional<SystemCalls> countSystemCalls(const std::vector<std::string>& arguments);

/// Begins or ends the counting. Only for a program that is counted: another one dies of it.
void markSystemCalls();

}  // namespace tidemark::bench
