#include "sim/trace_file.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>

namespace tidemark::sim {
namespace {

constexpr const char* kVariable = "TIDEMARK_TRACE_FILE";
constexpr size_t kContext = 6;

/// The exit status of a child that runs that one test.
int runChild(const std::string& test, const std::string& tracePath) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kVariable, tracePath.c_str(), 1);
    const std::string filter = "--gtest_filter=" + test;
    execl("/proc/self/exe", "tests_sim", filter.c_str(), "--gtest_brief=1", nullptr);
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string difference(const std::string& one, const std::string& other) {
  std::array<std::ifstream, 2> files{std::ifstream(one), std::ifstream(other)};
  std::deque<std::string> before;
  std::array<std::string, 2> lines;
  for (size_t number = 1;; ++number) {
    const bool first = static_cast<bool>(std::getline(files[0], lines[0]));
    const bool second = static_cast<bool>(std::getline(files[1], lines[1]));
    if (!first && !second) return number == 1 ? "both traces are empty" : "";
    if (first != second || lines[0] != lines[1]) {
      std::string text = fmt::format("the traces part at line {}:\n", number);
      for (const std::string& line : before) text += fmt::format("  {}\n", line);
      return text + fmt::format("1 {}\n2 {}", first ? lines[0] : "(ends)", second ? lines[1] : "(ends)");
    }
    before.push_back(lines[0]);
    if (before.size() > kContext) before.pop_front();
  }
}

std::string compare(const std::string& test) {
  std::string folder = (std::filesystem::temp_directory_path() / "tidemark-trace-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return "no temporary folder";
  std::string wrong;
  for (int i = 1; i <= 2 && wrong.empty(); ++i)
    if (const int status = runChild(test, fmt::format("{}/{}", folder, i)); status != 0)
      wrong = fmt::format("process {} ended with status {}", i, status);
  if (wrong.empty()) wrong = difference(folder + "/1", folder + "/2");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return wrong;
}

}  // namespace

TraceSink traceToFile() {
  const char* path = std::getenv(kVariable);
  if (path == nullptr) return {};
  return [file = std::make_shared<std::ofstream>(path)](std::string_view line) { *file << line << '\n'; };
}

void expectTheSameTraceInTwoProcesses(const std::function<void(const TraceSink&)>& run) {
  if (const TraceSink trace = traceToFile()) return run(trace);
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  EXPECT_EQ(compare(fmt::format("{}.{}", test.test_suite_name(), test.name())), "");
}

}  // namespace tidemark::sim
