#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "golden_case.h"
#include "inspect/dump.h"
#include "inspect/file_kind.h"

// What dump-log tells of each file that Apache Kafka 4.4 wrote, beside what Kafka's own DumpLogSegments told.

namespace tidemark::inspect {
namespace {

namespace fs = std::filesystem;

/// What Kafka printed about one file.
struct Told {
  std::vector<std::string> facts;
  bool passed = false;
  bool threw = false;
};

/// Lines that tell a fact; the rest is about how the tool fared.
bool isFact(std::string_view line) {
  for (const std::string_view begin : {"baseOffset: ", "| offset: ", "offset: ", "timestamp: ", "producerId: ",
                                       "version: ", "Log starting offset: ", "Snapshot end offset: "})
    if (line.starts_with(begin)) return true;
  return false;
}

/// The line with its JSON in an order of its own: the fields of an object have none.
std::string canonical(const std::string& line) {
  const size_t begin = line.find('{');
  if (!line.starts_with("| ") || begin == std::string::npos) return line;
  const size_t payload = line.find(" payload: ");
  std::string text = line.substr(0, begin);
  const auto add = [&text](const std::string& json) {
    const auto value = nlohmann::json::parse(json, nullptr, false);
    text += value.is_discarded() ? json : value.dump();
  };
  if (payload != std::string::npos && payload > begin) {
    add(line.substr(begin, payload - begin));
    text += " payload: ";
    add(line.substr(payload + 10));
  } else {
    add(line.substr(begin));
  }
  return text;
}

std::map<std::string, Told> readDump(const fs::path& path) {
  std::map<std::string, Told> files;
  std::ifstream in(path);
  std::string name;
  bool sanity = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "index-sanity-check:") {
      sanity = true;
      continue;
    }
    if (line.starts_with("Dumping ")) {
      const std::string next = line.substr(8);
      if (next != name) sanity = false;
      name = next;
      files[name];
      continue;
    }
    Told& told = files[name];
    if (line.starts_with("EXCEPTION ")) told.threw = true;
    if (line.ends_with("passed sanity check.") || line.ends_with("is empty.")) told.passed = true;
    if (!sanity && isFact(line)) told.facts.push_back(line);
    // A value may hold a line feed.
    if (!sanity && !isFact(line) && !told.facts.empty() && told.facts.back().starts_with("| ") && !line.empty() &&
        line.find(" is followed by ") == std::string::npos && !line.starts_with("Non-consecutive") &&
        !line.starts_with("EXCEPTION ") && !line.starts_with("Found "))
      told.facts.back() += "\n" + line;
  }
  return files;
}

class DumpGoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(DumpGoldenTest, tellsTheFactsThatKafkasOwnToolTells) {
  GoldenCase& golden = GoldenCase::shared(GetParam());
  ASSERT_FALSE(golden.empty());
  size_t facts = 0;
  for (const fs::path& dump : golden.dumps()) {
    for (const auto& [name, told] : readDump(dump)) {
      SCOPED_TRACE(name);
      std::vector<std::string> ours;
      int findings = 0;
      int errors = 0;
      const LineSink sink = [&](std::string_view line) {
        if (isFact(line)) ours.emplace_back(line);
        if (line.starts_with("error: ")) ++errors;
        if (line.starts_with("error: ") || line.starts_with("warning: ") || line.starts_with("note: ")) ++findings;
      };
      DumpOptions options;
      options.records = true;
      const auto dumped =
          inspect::dump(golden.process().files(), (golden.folder() / "data" / name).string(), options, sink);
      ASSERT_TRUE(dumped) << dumped.error().message;
      EXPECT_EQ(dumped->findings, findings);
      facts += told.facts.size();
      // Kafka's tool ends at what it cannot read, and shows the zeros of a preallocated time index.
      std::vector<std::string> kafkas = told.facts;
      const FileKind kind = kindOf(fs::path(name).filename().string());
      if (kafkas.size() == ours.size() + 1 &&
          (kafkas.back().starts_with("timestamp: 0 ") ||
           (kind.type == FileType::OffsetIndex && kafkas.back() == fmt::format("offset: {} position: 0", kind.offset))))
        kafkas.pop_back();
      const size_t shared = std::min(ours.size(), kafkas.size());
      for (size_t i = 0; i < shared; ++i) ASSERT_EQ(canonical(ours[i]), canonical(kafkas[i])) << "line " << i;
      // Where it threw, ours goes on.
      EXPECT_TRUE(told.threw ? ours.size() >= kafkas.size() : ours.size() == kafkas.size())
          << ours.size() << " lines, not " << kafkas.size();
      // Two files of which Kafka's tool says what is wrong in their .log, or nothing although that ends early.
      const bool ofDamagedLog = name == "d0/codec-zstd-0/00000000000000000000.timeindex" ||
                                name.starts_with("d1/trimmed-1/00000000000000000160");
      if (GetParam() == "single-torn" && ofDamagedLog) continue;
      EXPECT_TRUE(!told.threw || findings > 0) << "Kafka's tool found something wrong";
      EXPECT_TRUE(told.threw || !told.passed || errors == 0) << "Kafka's tool found nothing wrong";
    }
  }
  EXPECT_GT(facts, 0u);
}

INSTANTIATE_TEST_SUITE_P(Cases, DumpGoldenTest, testing::ValuesIn(GoldenCase::names()), [](const auto& parameter) {
  std::string name = parameter.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace tidemark::inspect
