#include <gtest/gtest.h>

#include <limits>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error_code.h"
#include "base/excerpt.h"
#include "base/ids.h"
#include "base/invariant.h"
#include "base/mutex.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "base/varint.h"

namespace tidemark {
namespace {

TEST(Crc32c, MatchesTheCheckValueOfTheCastagnoliPolynomial) {
  EXPECT_EQ(crc32c(asBytes("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(asBytes("")), 0U);
}

TEST(Crc32c, ContinuesAnEarlierSum) {
  EXPECT_EQ(crc32c(asBytes("6789"), crc32c(asBytes("12345"))), crc32c(asBytes("123456789")));
}

TEST(Varint, ZigZagMapsSmallMagnitudesToSmallNumbers) {
  EXPECT_EQ(zigZag(int32_t{0}), 0U);
  EXPECT_EQ(zigZag(int32_t{-1}), 1U);
  EXPECT_EQ(zigZag(int32_t{1}), 2U);
  for (int64_t value :
       {int64_t{0}, int64_t{-64}, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})
    EXPECT_EQ(unZigZag(zigZag(value)), value);
}

TEST(Varint, SurvivesTheRoundTripAtEverySize) {
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t value = uint64_t{1} << bit;
    uint8_t buffer[kMaxVarlongSize];
    const uint8_t* end = writeUnsignedVarint(buffer, value);
    ASSERT_EQ(static_cast<size_t>(end - buffer), unsignedVarintSize(value));
    ByteView view(buffer, static_cast<size_t>(end - buffer));
    EXPECT_EQ(takeUnsignedVarint<uint64_t>(view), value);
    EXPECT_TRUE(view.empty());
  }
}

TEST(Varint, RefusesOneThatIsCutOffOrTooLong) {
  const uint8_t cut[] = {0x80, 0x80};
  ByteView view(cut);
  EXPECT_FALSE(takeUnsignedVarint<uint32_t>(view));
  const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x01};
  view = endless;
  EXPECT_FALSE(takeUnsignedVarint<uint32_t>(view));
}

TEST(UuidText, IsKafkasBase64) {
  EXPECT_EQ(kMetadataTopicId.toString(), "AAAAAAAAAAAAAAAAAAAAAQ");
  EXPECT_EQ(Uuid::parse("AAAAAAAAAAAAAAAAAAAAAQ"), kMetadataTopicId);
  EXPECT_FALSE(Uuid::parse("AAAAAAAAAAAAAAAAAAAAA"));
  EXPECT_FALSE(Uuid::parse("AAAAAAAAAAAAAAAAAAAA+Q"));
  EXPECT_FALSE(Uuid::parse("AAAAAAAAAAAAAAAAAAAAAR"));  // bits beyond the 128th
}

TEST(ErrorCodes, HaveKafkasNamesAndClasses) {
  EXPECT_EQ(errorName(ErrorCode::NotLeaderOrFollower), "NOT_LEADER_OR_FOLLOWER");
  EXPECT_TRUE(isRetriable(ErrorCode::NotLeaderOrFollower));
  EXPECT_FALSE(isRetriable(ErrorCode::OffsetOutOfRange));
  EXPECT_EQ(errorName(static_cast<ErrorCode>(9999)), "UNKNOWN_SERVER_ERROR");
}

TEST(Offsets, DifferByCounts) {
  EXPECT_EQ(Offset(7) - Offset(3), 4);
  EXPECT_EQ(Offset(3) + 4, Offset(7));
  EXPECT_LT(Offset(3), Offset(7));
}

TEST(Invariant, ThrowsWithThePlaceTheConditionAndTheNumbers) {
  try {
    TIDEMARK_INVARIANT(1 + 1 == 3, "sum is 2");
    FAIL();
  } catch (const InvariantBroken& broken) {
    EXPECT_NE(std::string(broken.what()).find("1 + 1 == 3: sum is 2"), std::string::npos);
  }
}

/// What the analysis would refuse to compile.
void lockAgain(Mutex& mutex) NO_THREAD_SAFETY_ANALYSIS {
  mutex.lock();
}

TEST(MutexOfASingleThread, IsLoudWhenLockedTwice) {
  Mutex::singleThreaded() = true;
  Mutex mutex;
  {
    Lock lock(mutex);
    EXPECT_THROW(lockAgain(mutex), InvariantBroken);
  }
  Mutex::singleThreaded() = false;
}

// --- printable.h ---

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(printable("grün 日本 😀 \\"), "grün 日本 😀 \\");
}

TEST(Printable, ShowsWhatWouldCommandATerminal) {
  EXPECT_EQ(printable("a\x1b[2J\nb\x7f\xc2\x9b"), "a\\x1b[2J\\x0ab\\x7f\\xc2\\x9b");
}

TEST(Printable, ShowsBytesThatAreNoText) {
  EXPECT_EQ(printable("\xff\xc0\xaf\xe2\x82"), "\\xff\\xc0\\xaf\\xe2\\x82");
  EXPECT_EQ(printable("\xed\xa0\x80|\xe0\x80\xaf|\xf4\x90\x80\x80"),
            "\\xed\\xa0\\x80|\\xe0\\x80\\xaf|\\xf4\\x90\\x80\\x80");
}

// --- excerpt.h ---

TEST(Excerpt, LeavesShortTextsAsTheyAreAndOfLongOnesBothEnds) {
  const std::string longest(kLongestExcerpt, 'x');
  EXPECT_EQ(excerpt(longest), longest);
  const std::string some = excerpt("begin" + std::string(1000, 'x') + "end");
  EXPECT_LT(some.size(), kLongestExcerpt + 40);
  EXPECT_TRUE(some.starts_with("beginxxx")) << some;
  EXPECT_TRUE(some.ends_with("xxxend")) << some;
  EXPECT_NE(some.find(" … 808 bytes … "), std::string::npos) << some;
}

TEST(Excerpt, CutsNoCharacterInTwo) {
  for (const char* before : {"", "x", "xx"}) {
    std::string text = before;
    for (int i = 0; i < 200; ++i) text += "日";
    EXPECT_TRUE(utf8::isWellFormed(excerpt(text))) << before;
  }
}

// --- utf8.h ---

TEST(Utf8, IsCutBetweenCharactersOnly) {
  const std::string_view text = "a日b";  // 日 is three bytes, from 1.
  for (size_t at = 1; at < 4; ++at) EXPECT_EQ(utf8::boundaryBefore(text, at), 1U) << at;
  EXPECT_EQ(utf8::boundaryBehind(text, 1), 1U);
  for (size_t at = 2; at < 5; ++at) EXPECT_EQ(utf8::boundaryBehind(text, at), 4U) << at;
  EXPECT_EQ(utf8::boundaryBefore(text, text.size()), text.size());
  EXPECT_EQ(utf8::boundaryBehind("\x80\x80", 0), 2U);  // nothing but what goes on
  EXPECT_EQ(utf8::boundaryBefore("\x80\x80", 1), 0U);
}

TEST(Utf8, IsWellFormedIfEachCharacterIs) {
  EXPECT_TRUE(utf8::isWellFormed("grün 日本 😀"));
  EXPECT_TRUE(utf8::isWellFormed(""));
  for (const std::string_view broken : {"\xff", "\xc0\xaf", "a\xe2\x82", "\xed\xa0\x80", "\xe0\x80\xaf",
                                        "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\x80"})
    EXPECT_FALSE(utf8::isWellFormed(broken)) << printable(broken);
}

}  // namespace
}  // namespace tidemark
