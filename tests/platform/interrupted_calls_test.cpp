#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "harness.h"

// The system's calls as they may be and rarely are: ended early, interrupted by a signal, refused half-way. This
// program has its own pread and pwritev for that; they do what the system's do unless a test on the same thread says
// otherwise.

namespace {

struct Calls {
  /// Most bytes that a call moves; 0: as many as it is asked to.
  size_t most = 0;
  /// Every other call ends with EINTR before it has done anything.
  bool interrupted = false;
  /// The error of the call after so many that moved something.
  int error = 0;
  int errorAfter = 0;

  int made = 0;
  int moved = 0;

  /// Whether the call fails; errno is set.
  bool fails() {
    ++made;
    if (interrupted && made % 2 == 1) {
      errno = EINTR;
      return true;
    }
    if (error != 0 && moved >= errorAfter) {
      errno = error;
      return true;
    }
    ++moved;
    return false;
  }
  size_t bounded(size_t bytes) const { return most == 0 ? bytes : std::min(bytes, most); }
};

thread_local Calls* odd = nullptr;

}  // namespace

extern "C" ssize_t pread(int descriptor, void* into, size_t bytes, off_t position) {
  if (odd != nullptr) {
    if (odd->fails()) return -1;
    bytes = odd->bounded(bytes);
  }
  return ::syscall(SYS_pread64, descriptor, into, bytes, position);
}

extern "C" ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t position) {
  if (odd == nullptr || odd->most == 0) {
    if (odd != nullptr && odd->fails()) return -1;
    return ::syscall(SYS_pwritev, descriptor, pieces, count, position, 0);
  }
  if (odd->fails()) return -1;
  // So many bytes of the pieces from the front.
  size_t left = odd->most;
  std::array<iovec, 64> part;
  int used = 0;
  for (; used < count && used < 64 && left > 0; ++used) {
    part[static_cast<size_t>(used)] = pieces[used];
    part[static_cast<size_t>(used)].iov_len = std::min(left, pieces[used].iov_len);
    left -= part[static_cast<size_t>(used)].iov_len;
  }
  return ::syscall(SYS_pwritev, descriptor, part.data(), used, position, 0);
}

namespace tidemark::platform {
namespace {

class InterruptedCallsTest : public testing::Test {
 protected:
  std::unique_ptr<Harness> harness_ = makeHarness(Kind::Native);
  std::shared_ptr<Process> process_ = harness_->createProcess("one");
  std::shared_ptr<File> file_ = process_->files().open(harness_->folder() + "/a", OpenMode::Create).value();
  Calls calls_;

  ~InterruptedCallsTest() override {
    odd = nullptr;
    process_->kill("the test ends");
    process_->awaitStopped();
  }
  std::string text() {
    odd = nullptr;
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
    odd = &calls_;
    ASSERT_TRUE(file_->writeAt(0, pieces));
    EXPECT_EQ(text(), "one two three four") << most << " at a time";
    EXPECT_EQ(calls_.made, static_cast<int>((18 + most - 1) / most)) << most << " at a time";
  }
}

TEST_F(InterruptedCallsTest, aReadThatEndsEarlyGoesOnWhereItEnded) {
  ASSERT_TRUE(file_->writeAt(0, asBytes("one two three four")));
  calls_ = {.most = 5};
  odd = &calls_;
  ByteVector bytes(18);
  EXPECT_EQ(file_->readAt(0, bytes).value(), 18u);
  EXPECT_EQ(asText(bytes), "one two three four");
  EXPECT_EQ(calls_.made, 4);
}

TEST_F(InterruptedCallsTest, aCallThatASignalInterruptsIsMadeAgain) {
  calls_ = {.most = 3, .interrupted = true};
  odd = &calls_;
  ASSERT_TRUE(file_->writeAt(0, asBytes("one two")));
  ByteVector bytes(7);
  EXPECT_EQ(file_->readAt(0, bytes).value(), 7u);
  EXPECT_EQ(asText(bytes), "one two");
  EXPECT_EQ(calls_.made, 2 * calls_.moved) << "each was interrupted once";
}

TEST_F(InterruptedCallsTest, aWriteThatIsRefusedHalfWayIsAnError) {
  for (const int error : {EIO, ENOSPC}) {
    calls_ = {.most = 4, .error = error, .errorAfter = 1};
    odd = &calls_;
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
  odd = &calls_;
  ByteVector bytes(13);
  const auto read = file_->readAt(0, bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::KafkaStorageError);
}

}  // namespace
}  // namespace tidemark::platform
