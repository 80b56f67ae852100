#include <array>
#include <cerrno>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness.h"
#include "odd_calls.h"
#include "platform/native/native.h"

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

TEST_F(InterruptedCallsTest, whoCannotAcceptSaysSoOnceAndTriesAgain) {
  std::vector<std::string> lines;
  const auto server = makeNativeProcess({.name = "server",
                                         .level = Logger::Level::Warning,
                                         .sink = [&](auto, std::string_view, std::string_view, std::string_view text) {
                                           harness_->update([&] { lines.emplace_back(text); });
                                         }});
  const auto acceptors = server->createExecutor({.name = "acceptor"});
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<Connection> accepted;
  calls_ = {.error = EMFILE, .errors = 4};
  harness_->run(*acceptors, [&] {
    oddCalls = &calls_;
    acceptor = server->network().listen(*acceptors, {"127.0.0.1", 0}).value();
    acceptor->accept(*acceptors, [&](Result<std::unique_ptr<Connection>> got) {
      harness_->update([&] { accepted = std::move(got).value(); });
    });
  });
  const auto clients = process_->createExecutor({.name = "client"});
  std::unique_ptr<Connection> connected;
  harness_->run(*clients, [&] {
    process_->network().connect(*clients, acceptor->endpoint(), {}, [&](Result<std::unique_ptr<Connection>> got) {
      harness_->update([&] { connected = std::move(got).value(); });
    });
  });
  EXPECT_TRUE(harness_->await([&] { return accepted != nullptr && connected != nullptr; }));
  EXPECT_EQ(calls_.errors, 0);
  EXPECT_EQ(lines, std::vector<std::string>{fmt::format(
                       "cannot accept on {}: Too many open files; new clients wait: raise the limit of open files "
                       "(ulimit -n), or close connections",
                       acceptor->endpoint())});
  harness_->run(*acceptors, [&] {
    accepted.reset();
    acceptor.reset();
  });
  harness_->run(*clients, [&] { connected.reset(); });
  server->kill("done");
  server->awaitStopped();
}

}  // namespace
}  // namespace tidemark::platform
