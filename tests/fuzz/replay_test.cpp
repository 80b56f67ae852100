#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "targets.h"

// The kept corpus of each fuzz target, with any compiler: as it is, cut off everywhere (roughly) and with bits turned.

namespace tidemark::fuzz {
namespace {

namespace fs = std::filesystem;

class ReplayTest : public testing::TestWithParam<Target> {};

TEST_P(ReplayTest, whatWasKeptDoesNoHarm) {
  const fs::path folder = fs::path(TIDEMARK_FUZZ_CORPUS) / GetParam().name;
  ASSERT_TRUE(fs::is_directory(folder)) << folder;
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const ByteVector bytes(std::istreambuf_iterator<char>(in), {});
    SCOPED_TRACE(entry.path().filename());
    ++count;
    GetParam().run(bytes);
    // Copies of their own, so that a sanitizer sees a byte read past the end.
    const size_t step = std::max<size_t>(1, bytes.size() / 8);
    for (size_t length = 0; length < bytes.size(); length += step)
      GetParam().run(ByteVector(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length)));
    for (size_t at = 0; at < bytes.size(); at += step) {
      ByteVector turned = bytes;
      turned[at] ^= static_cast<uint8_t>(1u << (at % 8));
      GetParam().run(turned);
    }
  }
  EXPECT_GT(count, 0u) << "a target without a corpus tests nothing";
}

INSTANTIATE_TEST_SUITE_P(Targets, ReplayTest, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& parameter) {
                           std::string name(parameter.param.name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace tidemark::fuzz
