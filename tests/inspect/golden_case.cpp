#include "golden_case.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tidemark::inspect {

namespace fs = std::filesystem;

namespace {

bool unpack(const fs::path& archive, const fs::path& into) {
  fs::create_directories(into);
  const std::string command =
      fmt::format("cd '{}' && '{}' -E tar xf '{}'", into.string(), TIDEMARK_CMAKE, archive.string());
  return std::system(command.c_str()) == 0;
}

}  // namespace

GoldenCase::GoldenCase(const std::string& name) : name_(name) {
  const fs::path archives = fs::path(TIDEMARK_TEST_DATA) / "data-dirs";
  static int made = 0;
  folder_ = fs::path(testing::TempDir()) / fmt::format("tidemark-inspect-{}-{}-{}", name, ::getpid(), ++made);
  fs::remove_all(folder_);
  EXPECT_TRUE(unpack(archives / (name + ".tar.zst"), folder_ / "data"));
  EXPECT_TRUE(unpack(archives / (name + ".dump.tar.zst"), folder_ / "dump"));
  for (const auto& entry : fs::directory_iterator(folder_ / "data"))
    if (entry.is_directory()) directories_.push_back(entry.path().filename());
  std::ranges::sort(directories_);
  platform::NativeOptions options;
  options.name = "inspect";
  options.level = platform::Logger::Level::Error;
  process_ = platform::makeNativeProcess(std::move(options));
}

GoldenCase::~GoldenCase() {
  process_->kill({});
  process_->awaitStopped();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

const std::vector<std::string>& GoldenCase::names() {
  static const std::vector<std::string> kNames{"single-formatted", "single-clean",   "single-unclean",
                                               "single-recovered", "single-torn",    "single-torn-recovered",
                                               "cluster-clean",    "diverge-before", "diverge-after",
                                               "old-formatted",    "old-clean",      "upgraded-clean"};
  return kNames;
}

GoldenCase& GoldenCase::shared(const std::string& name) {
  static std::map<std::string, std::unique_ptr<GoldenCase>> cases;
  auto& found = cases[name];
  if (!found) found = std::make_unique<GoldenCase>(name);
  return *found;
}

std::vector<fs::path> GoldenCase::dumps() const {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder_ / "dump"))
    if (entry.path().extension() == ".txt") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace tidemark::inspect
