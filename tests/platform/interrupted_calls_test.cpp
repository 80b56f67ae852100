#include <array>
#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "harness.h"
#include "odd_calls.h"

namespace tidemark::platform {
namespace {

class InterruptedCallsTest : public testing::Test {
 protected:
  std::unique_ptr<Harness> harness_ = makeHarness(Kind::Native);
  std::shared_ptr<Process> process_ = harness_->createProcess("one");
  std::shared_ptr<File> file_ = process_->files().open(harness_->folder() + "/a", OpenMode::Create).value();
  OddCalls calls_;

  ~InterruptedCallsTest() override {
    oddCalls = nullptr;
    process_->kill("the test ends");
    process_->awaitStopped();
  }
  std::string text() {
    oddCalls = nullptr;
    ByteVector bytes(1000);
    const size_t got = file_->readAt(0, bytes).value();
    return std::string(asText(ByteView(bytes).first(got)));
  }
};

TEST_F(InterruptedCallsTest, aWriteThatEndsEarlyGoesOnWhereItEnded) {
  const std::array<ByteView, 5> pieces{asBytes("one "), asBytes("two "), asBytes(""), asBytes("three "),
                                       asBytes("four")};
  for (size_t most = 1; most <= 19; ++most) {
    ASSERT_TRUE(file_->truncate(0));
    calls_ = {.most = most};
    oddCalls = &calls_;
    ASSERT_TRUE(file_->writeAt(0, pieces));
    EXPECT_EQ(text(), "one two three four") << most << " at a time";
    EXPECT_EQ(calls_.made, static_cast<int>((18 + most - 1) / most)) << most << " at a time";
  }
}

TEST_F(InterruptedCallsTest, aReadThatEndsEarlyGoesOnWhereItEnded) {
  ASSERT_TRUE(file_->writeAt(0, asBytes("one two three four")));
  calls_ = {.most = 5};
  oddCalls = &calls_;
  ByteVector bytes(18);
  EXPECT_EQ(file_->readAt(0, bytes).value(), 18u);
  EXPECT_EQ(asText(bytes), "one two three four");
  EXPECT_EQ(calls_.made, 4);
}

TEST_F(InterruptedCallsTest, aCallThatASignalInterruptsIsMadeAgain) {
  calls_ = {.most = 3, .interrupted = true};
  oddCalls = &calls_;
  ASSERT_TRUE(file_->writeAt(0, asBytes("one two")));
  ByteVector bytes(7);
  EXPECT_EQ(file_->readAt(0, bytes).value(), 7u);
  EXPECT_EQ(asText(bytes), "one two");
  EXPECT_EQ(calls_.made, 2 * calls_.moved) << "each was interrupted once";
}

TEST_F(InterruptedCallsTest, aWriteThatIsRefusedHalfWayIsAnError) {
  for (const int error : {EIO, ENOSPC}) {
    calls_ = {.most = 4, .error = error, .errorAfter = 1};
    oddCalls = &calls_;
    const auto written = file_->writeAt(0, asBytes("one two three"));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::KafkaStorageError);
    EXPECT_TRUE(written.error().message.find(file_->path()) != std::string::npos) << written.error().message;
    EXPECT_EQ(text(), "one ");
    ASSERT_TRUE(file_->truncate(0));
  }
}

TEST_F(InterruptedCallsTest, aReadThatIsRefusedHalfWayIsAnErrorAndNoEnd) {
  ASSERT_TRUE(file_->writeAt(0, asBytes("one two three")));
  calls_ = {.most = 4, .error = EIO, .errorAfter = 1};
  oddCalls = &calls_;
  ByteVector bytes(13);
  const auto read = file_->readAt(0, bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::KafkaStorageError);
}

}  // namespace
}  // namespace tidemark::platform
