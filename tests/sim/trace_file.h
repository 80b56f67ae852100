#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace tidemark::sim {

/// Where a test that runs as a child process writes the trace of its world.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : file_(path) {}
  std::function<void(std::string_view)> sink() {
    return [this](std::string_view line) { file_ << line << '\n'; };
  }
  /// As the parent told it.
  static std::string pathOfChild();

 private:
  std::ofstream file_;
};

/// Runs a (disabled) test of this program in two processes, whose addresses the system draws anew, each writing a
/// trace. Empty if both succeeded and the traces are equal; else what went wrong and the lines where they part.
std::string compareTracesOfTwoProcesses(const std::string& test);

}  // namespace tidemark::sim
