#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "network/server_fixture.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"

namespace tidemark::test {
namespace {

/// The seam has no half-closed connections, so this peer is the operating system's own.
class HalfCloseTest : public ServerTest {
 protected:
  int connectRaw() {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(at().port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return descriptor;
  }
  static ByteVector readToEnd(int descriptor) {
    ByteVector all;
    uint8_t buffer[4096];
    for (ssize_t count = 0; (count = ::read(descriptor, buffer, sizeof buffer)) > 0;) {
      all.insert(all.end(), buffer, buffer + count);
    }
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Platforms, HalfCloseTest, testing::Values("native"));

TEST_P(HalfCloseTest, AnswersWhatWasSentBeforeThePeerFinishedThenCloses) {
  startServer();
  const int descriptor = connectRaw();
  const ByteVector bytes = requestBytes(protocol::FetchRequest(), 12, 1) + heartbeat(2);
  ASSERT_EQ(::write(descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ASSERT_EQ(::shutdown(descriptor, SHUT_WR), 0);
  takeParked()->respond(protocol::FetchResponse());
  const ByteVector received = readToEnd(descriptor);
  ASSERT_GT(received.size(), 12u);
  EXPECT_EQ(readBigEndian<int32_t>(received.data() + 4), 1);
  const auto first = static_cast<size_t>(readBigEndian<int32_t>(received.data())) + 4;
  ASSERT_GE(received.size(), first + 8);
  EXPECT_EQ(readBigEndian<int32_t>(received.data() + first + 4), 2);
  ASSERT_TRUE(await([&] { return watch.open == 0; }));
  ::close(descriptor);
}

TEST_P(HalfCloseTest, ClosesWhenThePeerFinishesInsideARequest) {
  startServer();
  const int descriptor = connectRaw();
  const ByteVector bytes = heartbeat(2);
  ASSERT_EQ(::write(descriptor, bytes.data(), bytes.size() - 3), static_cast<ssize_t>(bytes.size() - 3));
  ASSERT_EQ(::shutdown(descriptor, SHUT_WR), 0);
  EXPECT_TRUE(readToEnd(descriptor).empty());
  ::close(descriptor);
}

}  // namespace
}  // namespace tidemark::test
