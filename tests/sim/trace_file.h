#pragma once

#include <functional>
#include <string_view>

namespace tidemark::sim {

using TraceSink = std::function<void(std::string_view)>;

/// Writes a world's trace, a line each, to the file that TIDEMARK_TRACE_FILE names; empty if it names none.
TraceSink traceToFile();

/// Does `run` in two processes, whose addresses the system draws anew, and compares their traces; the first lines that
/// part fail the test. A process of the two is this program with this test alone and TIDEMARK_TRACE_FILE set, which
/// tells it to run instead of to compare.
void expectTheSameTraceInTwoProcesses(const std::function<void(const TraceSink&)>& run);

}  // namespace tidemark::sim
