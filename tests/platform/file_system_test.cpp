#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "harness.h"

namespace tidemark::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FileSystemTest : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Harness> harness_ = makeHarness(GetParam());
  std::shared_ptr<Process> process_ = harness_->createProcess("one");
  std::string folder_ = harness_->folder();
  FileSystem& files_ = process_->files();

  ~FileSystemTest() override {
    process_->kill("the test ends");
    process_->awaitStopped();
  }

  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  std::shared_ptr<File> open(const std::string& name, OpenMode mode = OpenMode::Create) {
    auto file = files_.open(at(name), mode);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : nullptr;
  }
  static std::string text(const File& file, uint64_t position, size_t length) {
    ByteVector bytes(length);
    const auto got = file.readAt(position, bytes);
    EXPECT_TRUE(got);
    return std::string(asText(ByteView(bytes).first(got.value_or(0))));
  }
  std::vector<std::string> names(const std::string& path) {
    std::vector<std::string> found;
    const auto entries = files_.list(path);
    EXPECT_TRUE(entries) << entries.error().message;
    if (entries) {
      for (const auto& entry : *entries) found.push_back(entry.name + (entry.isDirectory ? "/" : ""));
    }
    return found;
  }
};

INSTANTIATE_TEST_SUITE_P(Platform, FileSystemTest, testing::Values(Kind::Native, Kind::Simulated),
                         [](const auto& test) { return test.param == Kind::Native ? "Native" : "Simulated"; });

TEST_P(FileSystemTest, whatIsWrittenAtPositionsIsReadBack) {
  auto file = open("a");
  const std::array<ByteView, 4> pieces{asBytes("one"), asBytes(""), asBytes("two"), asBytes("three")};
  ASSERT_TRUE(file->writeAt(0, pieces));
  EXPECT_EQ(*file->size(), 11u);
  EXPECT_EQ(text(*file, 0, 100), "onetwothree");
  ASSERT_TRUE(file->writeAt(3, asBytes("TWO")));
  EXPECT_EQ(text(*file, 2, 5), "eTWOt");
  EXPECT_EQ(text(*file, 11, 5), "");
  EXPECT_EQ(text(*file, 500, 5), "");
  ASSERT_TRUE(file->writeAt(13, asBytes("!")));
  EXPECT_EQ(text(*file, 10, 10), std::string("e\0\0!", 4));
  EXPECT_TRUE(file->sync());
}

TEST_P(FileSystemTest, aWriteOfManyPiecesArrivesWhole) {
  auto file = open("a");
  std::vector<ByteVector> parts;
  ByteVector all;
  for (size_t i = 0; i < 300; ++i) {
    parts.emplace_back(i * 7 % 5000, static_cast<uint8_t>(i));
    all.insert(all.end(), parts.back().begin(), parts.back().end());
  }
  const std::vector<ByteView> pieces(parts.begin(), parts.end());
  ASSERT_TRUE(file->writeAt(5, pieces));
  ByteVector back(all.size() + 10);
  EXPECT_EQ(file->readAt(5, back).value_or(0), all.size());
  back.resize(all.size());
  EXPECT_EQ(back, all);
}

TEST_P(FileSystemTest, openModesDoWhatTheySay) {
  EXPECT_THAT(files_.open(at("none"), OpenMode::Read).error().message, HasSubstr("none"));
  EXPECT_EQ(files_.open(at("none"), OpenMode::ReadWrite).error().code, ErrorCode::KafkaStorageError);
  EXPECT_FALSE(files_.open(at("no/folder"), OpenMode::Create));
  ASSERT_TRUE(open("a", OpenMode::CreateNew)->writeAt(0, asBytes("abc")));
  EXPECT_FALSE(files_.open(at("a"), OpenMode::CreateNew));
  EXPECT_EQ(*open("a", OpenMode::Create)->size(), 3u);
  auto reader = open("a", OpenMode::Read);
  EXPECT_EQ(text(*reader, 0, 3), "abc");
  EXPECT_FALSE(reader->writeAt(0, asBytes("x")));
  EXPECT_EQ(reader->path(), at("a"));
  EXPECT_EQ(*open("a", OpenMode::Truncate)->size(), 0u);
  EXPECT_EQ(text(*reader, 0, 3), "");
  EXPECT_FALSE(files_.open(folder_, OpenMode::Read));
}

TEST_P(FileSystemTest, truncateCutsAndExtends) {
  auto file = open("a");
  ASSERT_TRUE(file->writeAt(0, asBytes("0123456789")));
  ASSERT_TRUE(file->truncate(4));
  EXPECT_EQ(text(*file, 0, 100), "0123");
  ASSERT_TRUE(file->truncate(6));
  EXPECT_EQ(text(*file, 0, 100), std::string("0123\0\0", 6));
}

TEST_P(FileSystemTest, directoriesAreMadeListedAndRemoved) {
  ASSERT_TRUE(files_.createDirectories(at("x/y/z")));
  ASSERT_TRUE(files_.createDirectories(at("x/y/z")));
  open("x/b");
  ASSERT_TRUE(open("x/a")->writeAt(0, asBytes("12")));
  EXPECT_THAT(names(at("x")), ElementsAre("a", "b", "y/"));
  EXPECT_EQ((*files_.list(at("x")))[0].size, 2u);
  EXPECT_TRUE(files_.exists(at("x/y")));
  EXPECT_TRUE(files_.exists(at("x/a")));
  EXPECT_FALSE(files_.exists(at("x/c")));
  EXPECT_FALSE(files_.remove(at("x")));
  EXPECT_FALSE(files_.remove(at("x/c")));
  EXPECT_TRUE(files_.remove(at("x/a")));
  EXPECT_TRUE(files_.remove(at("x/y/z")));
  EXPECT_THAT(names(at("x")), ElementsAre("b", "y/"));
  EXPECT_TRUE(files_.syncDirectory(at("x")));
  EXPECT_FALSE(files_.syncDirectory(at("none")));
  EXPECT_TRUE(files_.removeTree(at("x")));
  EXPECT_FALSE(files_.exists(at("x")));
  EXPECT_TRUE(files_.removeTree(at("x")));
  EXPECT_FALSE(files_.list(at("x")));
}

TEST_P(FileSystemTest, renameReplacesAFileAndMovesADirectory) {
  ASSERT_TRUE(open("a")->writeAt(0, asBytes("new")));
  ASSERT_TRUE(open("b")->writeAt(0, asBytes("old")));
  auto held = open("b", OpenMode::Read);
  ASSERT_TRUE(files_.rename(at("a"), at("b")));
  EXPECT_EQ(text(*open("b", OpenMode::Read), 0, 9), "new");
  EXPECT_EQ(text(*held, 0, 9), "old");
  EXPECT_FALSE(files_.exists(at("a")));
  EXPECT_FALSE(files_.rename(at("a"), at("c")));
  ASSERT_TRUE(files_.createDirectories(at("d/e")));
  open("d/e/f");
  ASSERT_TRUE(files_.rename(at("d/e"), at("g")));
  EXPECT_THAT(names(at("g")), ElementsAre("f"));
  EXPECT_THAT(names(at("d")), ElementsAre());
}

TEST_P(FileSystemTest, anOpenFileOutlivesItsName) {
  auto file = open("a");
  ASSERT_TRUE(file->writeAt(0, asBytes("still")));
  ASSERT_TRUE(files_.remove(at("a")));
  EXPECT_EQ(text(*file, 0, 9), "still");
  EXPECT_TRUE(file->writeAt(5, asBytes(" here")));
  EXPECT_EQ(text(*file, 0, 20), "still here");
}

TEST_P(FileSystemTest, aMappingShowsWhatIsWrittenLaterAndStaysWhereItIs) {
  auto file = open("a");
  ASSERT_TRUE(file->writeAt(0, asBytes("abc")));
  constexpr uint64_t kLength = 1 << 20;
  const auto mapping = file->map(kLength);
  ASSERT_TRUE(mapping);
  const uint8_t* const start = (*mapping)->bytes().data();
  EXPECT_EQ((*mapping)->bytes().size(), kLength);
  EXPECT_EQ(asText((*mapping)->bytes().first(3)), "abc");
  const ByteVector much(kLength, 'x');
  ASSERT_TRUE(file->writeAt(3, much));
  ASSERT_TRUE(file->writeAt(1, asBytes("B")));
  EXPECT_EQ((*mapping)->bytes().data(), start);
  EXPECT_EQ(asText((*mapping)->bytes().first(5)), "aBcxx");
  EXPECT_EQ((*mapping)->bytes()[kLength - 1], 'x');
  file.reset();
  ASSERT_TRUE(files_.remove(at("a")));
  EXPECT_EQ(asText((*mapping)->bytes().first(5)), "aBcxx");
}

TEST_P(FileSystemTest, aLockExcludesEveryOtherUntilItIsReleasedOrItsProcessDies) {
  auto lock = files_.lock(at(".lock"));
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_THAT(files_.lock(at(".lock")).error().message, HasSubstr(".lock is locked"));
  auto other = harness_->createProcess("two");
  EXPECT_FALSE(other->files().lock(at(".lock")));
  lock->reset();
  auto second = other->files().lock(at(".lock"));
  ASSERT_TRUE(second);
  EXPECT_FALSE(files_.lock(at(".lock")));
  other->kill("to see its lock go");
  EXPECT_TRUE(files_.lock(at(".lock")));
  other->awaitStopped();
}

TEST_P(FileSystemTest, replaceFileLeavesTheNewContentsAndNothingElse) {
  ASSERT_TRUE(files_.replaceFile(at("c"), asBytes("first, and longer")));
  ASSERT_TRUE(files_.replaceFile(at("c"), asBytes("second")));
  EXPECT_EQ(asText(*files_.readFile(at("c"), 100)), "second");
  EXPECT_THAT(names(folder_), ElementsAre("c"));
  EXPECT_FALSE(files_.readFile(at("c"), 5));
  EXPECT_FALSE(files_.readFile(at("none"), 5));
  EXPECT_FALSE(files_.replaceFile(at("no/folder"), asBytes("x")));
}

TEST_P(FileSystemTest, onceTheProcessIsDeadNoCallHasAnEffect) {
  auto file = open("a");
  ASSERT_TRUE(file->writeAt(0, asBytes("before")));
  process_->kill("to see");
  ByteVector bytes(3);
  EXPECT_THAT(file->readAt(0, bytes).error().message, HasSubstr("process is dead"));
  EXPECT_FALSE(file->writeAt(0, asBytes("after")));
  EXPECT_FALSE(file->truncate(0));
  EXPECT_FALSE(file->sync());
  EXPECT_FALSE(file->size());
  EXPECT_FALSE(file->map(1));
  EXPECT_FALSE(files_.open(at("b"), OpenMode::Create));
  EXPECT_FALSE(files_.exists(at("a")));
  EXPECT_FALSE(files_.list(folder_));
  EXPECT_FALSE(files_.remove(at("a")));
  EXPECT_FALSE(files_.removeTree(folder_));
  EXPECT_FALSE(files_.rename(at("a"), at("b")));
  EXPECT_FALSE(files_.createDirectories(at("d")));
  EXPECT_FALSE(files_.syncDirectory(folder_));
  EXPECT_FALSE(files_.lock(at("l")));
  EXPECT_FALSE(files_.space(folder_));
  process_->awaitStopped();
  auto next = harness_->createProcess("one");
  EXPECT_EQ(asText(*next->files().readFile(at("a"), 100)), "before");
  EXPECT_EQ(next->files().list(folder_)->size(), 1u);
  next->kill("done");
  next->awaitStopped();
}

TEST_P(FileSystemTest, spaceIsReported) {
  const auto space = files_.space(folder_);
  ASSERT_TRUE(space);
  EXPECT_GT(space->capacity, 0u);
  EXPECT_LE(space->available, space->capacity);
}

TEST(PlatformTest, parentDirectoryIsWhereAPathLies) {
  EXPECT_EQ(parentDirectory("a"), ".");
  EXPECT_EQ(parentDirectory("a/b"), "a");
  EXPECT_EQ(parentDirectory("a//b/"), "a");
  EXPECT_EQ(parentDirectory("/a"), "/");
  EXPECT_EQ(parentDirectory("/"), "/");
  EXPECT_EQ(parentDirectory(""), ".");
}

}  // namespace
}  // namespace tidemark::platform
