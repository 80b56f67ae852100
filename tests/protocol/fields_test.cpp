#include <gtest/gtest.h>

#include "protocol/fields.h"
#include "protocol/records_field.h"

namespace tidemark::protocol::test {
namespace {

TEST(Text, BorrowsUntilItIsCopied) {
  std::string frame = "orders";
  Text borrowed = Text::borrowed(frame);
  const Text copy = borrowed;
  const Text moved = std::move(borrowed);
  EXPECT_TRUE(moved.isBorrowed());
  EXPECT_FALSE(copy.isBorrowed());
  frame = "XXXXXX";
  EXPECT_EQ(moved, "XXXXXX");
  EXPECT_EQ(copy, "orders");
}

TEST(Text, OwnsWhatItIsBuiltFrom) {
  std::string source = "a name that is too long for any small buffer";
  Text text = source;
  source.assign(source.size(), 'x');
  EXPECT_EQ(text, "a name that is too long for any small buffer");
  text = "short";
  EXPECT_EQ(text.str(), "short");
  text = Text();
  EXPECT_TRUE(text.empty());
}

TEST(Text, AssignmentCopiesAndMoves) {
  Text a = "first";
  Text b = "second";
  a = b;
  EXPECT_EQ(a, b);
  b = std::move(a);
  EXPECT_EQ(b, "second");
  Text& alias = b;
  b = alias;
  EXPECT_EQ(b, "second");
  std::vector<Text> many;
  for (int i = 0; i < 100; ++i) many.emplace_back(std::to_string(i));
  EXPECT_EQ(many[42], "42");
}

TEST(Text, ComparesWithEverythingThatIsText) {
  const Text text = "b";
  EXPECT_TRUE(text == "b" && text == std::string("b") && text == std::string_view("b") && "b" == text);
  EXPECT_TRUE(Text("a") < text && text > std::string_view("a"));
  EXPECT_TRUE(std::optional<Text>(text) == "b");
  EXPECT_EQ(fmt::format("<{}>", text), "<b>");
  EXPECT_EQ(std::hash<Text>()(text), std::hash<std::string_view>()("b"));
}

TEST(Blob, FollowsTheRulesOfText) {
  ByteVector bytes = {1, 2, 3};
  Blob borrowed = Blob::borrowed(bytes);
  const Blob owned = bytes;
  const Blob copy = borrowed;
  bytes[0] = 9;
  EXPECT_EQ(borrowed.view()[0], 9);
  EXPECT_EQ(copy, owned);
  EXPECT_EQ(owned.bytes(), (ByteVector{1, 2, 3}));
}

TEST(Records, AreEmptyByDefaultAndNullOnRequest) {
  EXPECT_FALSE(Records().isNull());
  EXPECT_TRUE(Records().empty());
  EXPECT_TRUE(Records::null().isNull());
  EXPECT_NE(Records(), Records::null());
}

TEST(Records, BorrowUntilTheyAreCopied) {
  ByteVector frame = {1, 2, 3};
  Records borrowed = Records::borrowed(frame);
  const Records copy = borrowed;
  const Records moved = std::move(borrowed);
  EXPECT_EQ(copy, moved);
  frame[0] = 9;
  EXPECT_EQ(moved.view()[0], 9);
  EXPECT_EQ(copy.view()[0], 1);
  EXPECT_TRUE(moved.isBorrowed());
  EXPECT_FALSE(copy.isBorrowed());
}

TEST(Records, ShareMemoryWithTheirCopies) {
  const Records records(ByteVector{1, 2, 3});
  const Records copy = records;
  EXPECT_EQ(records.view().data(), copy.view().data());
}

TEST(Records, OfSeveralPiecesKnowTheirSize) {
  std::vector<platform::Piece> pieces;
  pieces.emplace_back(SharedBytes(ByteVector{1, 2}));
  pieces.emplace_back(SharedBytes(ByteVector{3}));
  const Records records(std::move(pieces));
  EXPECT_EQ(records.size(), 3u);
  EXPECT_FALSE(records.isInMemory());
  EXPECT_EQ(*records.bytes(), (ByteVector{1, 2, 3}));
}

}  // namespace
}  // namespace tidemark::protocol::test
