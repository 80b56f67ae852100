#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "../../engine/protocol/generator/schema.h"

/// What the generator says about schemas that are wrong.
namespace generator::test {
namespace {

class Schema : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("tidemark-schema-") + testing::UnitTest::GetInstance()->current_test_info()->name() + "-" +
               std::to_string(reinterpret_cast<uintptr_t>(this)));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Message parse(const std::string& fields, const std::string& versions = "0-3", const std::string& flexible = "2+") {
    const std::filesystem::path file = folder_ / "Some.txt";
    std::ofstream(file) << "message Some\nkind data\nmodule test\nvalidVersions " << versions << "\nflexibleVersions "
                        << flexible << "\nfields\n"
                        << fields;
    return parseMessage(file.string());
  }

  /// The complaint without the folder.
  std::string complaint(const std::string& fields) {
    try {
      parse(fields);
    } catch (const SchemaError& error) {
      const std::string text = error.what();
      return text.substr(text.find("Some.txt"));
    }
    return "none";
  }

  std::filesystem::path folder_;
};

TEST_F(Schema, FieldsNestByTheirIndent) {
  const Message message = parse(
      "  Topics []Topic 0+ null=1+\n    Name string 0+ mapKey\n    Parts []int32 1-2\n  Last bool 2+ tag=5@2+ "
      "default=true\n");
  ASSERT_EQ(message.body.fields.size(), 2u);
  const Field& topics = message.body.fields[0];
  EXPECT_TRUE(topics.isArray);
  EXPECT_EQ(topics.structure->fields.size(), 2u);
  EXPECT_EQ(topics.minElementSize, 2u) << "version 0: an empty name; later ones have more";
  EXPECT_EQ(message.body.fields[1].tag, 5u);
  EXPECT_EQ(snakeCase("KRaftVersionRecord"), "k_raft_version_record");
  EXPECT_EQ(snakeCase("ApiVersionsRequest"), "api_versions_request");
}

TEST_F(Schema, ComplaintsNameFileAndLine) {
  EXPECT_EQ(complaint("  A int32 0+\n  B int33 0+\n"), "Some.txt:8: unknown type \"int33\"");
  EXPECT_EQ(complaint("  A int32 5-3\n"), "Some.txt:7: the version range \"5-3\" is empty");
  EXPECT_EQ(complaint("  A int32 x+\n"), "Some.txt:7: \"x\" is not a number from 0 to 32767");
  EXPECT_EQ(complaint("  A int32\n"), "Some.txt:7: expected: NAME TYPE VERSIONS …");
  EXPECT_EQ(complaint("  A int32 0+ colour=red\n"), "Some.txt:7: unknown option \"colour=red\"");
  EXPECT_EQ(complaint("  A int32 0+\n  A int32 0+\n"), "Some.txt:8: field \"A\" occurs twice in \"Some\"");
  EXPECT_EQ(complaint("  A int32 0+\n      B int32 0+\n"),
            "Some.txt:8: a field is indented deeper than its parent allows");
  EXPECT_EQ(complaint(" A int32 0+\n"), "Some.txt:7: a field is indented by two spaces a level");
  EXPECT_EQ(complaint("  A Missing 0+\n"), "Some.txt:7: unknown type \"Missing\"");
  EXPECT_EQ(complaint("  A string 0+ default=null\n"), "Some.txt:7: the default is null but the field is never null");
  EXPECT_EQ(complaint("  A int32 0+ tag=0@0+\n"), "Some.txt:7: a tagged field in versions that are not flexible");
  EXPECT_EQ(complaint("  A int32 2+ tag=0@2+\n  B int32 2+ tag=0@2+\n"), "Some.txt:8: tag 0 is taken by \"A\"");
  EXPECT_EQ(complaint("  A int32 0+\nstruct B 0+\n  C int32 0+\n"), "Some.txt:8: struct \"B\" is not used");
  EXPECT_EQ(complaint("  A []B 0+\nstruct B 0+\n  C []B 0+\n"), "Some.txt:8: struct \"B\" contains itself");
}

TEST_F(Schema, AnArrayOfNothingIsRefused) {
  EXPECT_EQ(complaint("  A []B 0+\n    C int32 1+\n"),
            "Some.txt:7: an element of this array can take no bytes: its count would be unbounded");
}

}  // namespace
}  // namespace generator::test
