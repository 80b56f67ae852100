#include "config/properties.h"

#include <gmock/gmock.h>

namespace tidemark::config {
namespace {

TEST(Properties, ReadsKeysWithEverySeparator) {
  const Result<ConfigMap> map = parseProperties("a=1\nb : 2\r\nc 3\n  d  =  four words \n# no\n! no\n\ne\n");
  ASSERT_TRUE(map);
  EXPECT_EQ(*map, (ConfigMap{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "four words "}, {"e", ""}}));
}

TEST(Properties, JoinsContinuedLines) {
  const Result<ConfigMap> map =
      parseProperties("listeners=PLAINTEXT://:9092,\\\n    CONTROLLER://:9093\npath=C:\\\\\nlast=x\\");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->at("listeners"), "PLAINTEXT://:9092,CONTROLLER://:9093");
  EXPECT_EQ(map->at("path"), "C:\\");
  EXPECT_EQ(map->at("last"), "x");
}

TEST(Properties, ReadsEscapes) {
  const Result<ConfigMap> map = parseProperties("a\\ b\\=c=\\tx\\u00e9\\ud83d\\ude00\\q");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->at("a b=c"), "\tx\xc3\xa9\xf0\x9f\x98\x80q");
}

TEST(Properties, TheLastValueOfAKeyCounts) {
  EXPECT_EQ(parseProperties("a=1\na=2")->at("a"), "2");
}

TEST(Properties, NamesTheLineThatIsWrong) {
  EXPECT_EQ(parseProperties("a=1\nb=\\u12x4").error().message, "Line 2: \\u must be followed by four hex digits");
  EXPECT_EQ(parseProperties("\n = 3").error().message, "Line 2: a key is missing before '='");
}

TEST(Properties, WritesWhatItReads) {
  const ConfigMap map{{"a b", " lead"}, {"c:d", "x=y#z!\n\t\\"}, {"empty", ""}};
  EXPECT_EQ(*parseProperties(formatProperties(map, "made by a test")), map);
}

TEST(Properties, ListsThemForPeople) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({{"b", "2"}, {"a", "1, x"}}), "a=1, x, b=2");
}

TEST(Properties, TakesAnAssignmentApart) {
  EXPECT_EQ(*parseAssignment("log.dirs = /a=b"), (std::pair<std::string, std::string>("log.dirs", "/a=b")));
  EXPECT_EQ(parseAssignment("log.dirs").error().message, "\"log.dirs\" is not of the form key=value");
}

}  // namespace
}  // namespace tidemark::config
