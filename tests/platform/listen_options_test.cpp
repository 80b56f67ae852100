#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "harness.h"
#include "platform/native/native.h"

namespace tidemark::platform {
namespace {

constexpr int kLittle = 4096;
constexpr int kMuch = 1 << 20;

/// A listener with options, and peers that are plain sockets, whose kernel tells what the options did.
class ListenOptionsTest : public testing::Test {
 protected:
  ~ListenOptionsTest() override {
    for (const int peer : peers_) ::close(peer);
    process_->kill("the end");
    process_->awaitStopped();
  }

  void listen(const ListenOptions& options) {
    harness_->run(*executor_, [&] {
      auto acceptor = process_->network().listen(*executor_, {"127.0.0.1", 0}, options);
      ASSERT_TRUE(acceptor) << acceptor.error().message;
      acceptor_ = std::move(*acceptor);
    });
  }

  /// Begins to connect; small buffers of its own.
  int connect() {
    const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ::setsockopt(peer, SOL_SOCKET, SO_SNDBUF, &kLittle, sizeof kLittle);
    ::setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &kLittle, sizeof kLittle);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(acceptor_->endpoint().port);
    ::connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    peers_.push_back(peer);
    return peer;
  }

  int accepted() {
    const int peer = connect();
    executor_->post([this] {
      acceptor_->accept(*executor_, [this](Result<std::unique_ptr<Connection>> got) {
        harness_->update([&] { connection_ = std::move(*got); });
      });
    });
    EXPECT_TRUE(harness_->await([this] { return connection_ != nullptr; }));
    return peer;
  }

  /// Whether the system takes so many bytes for a peer that reads nothing.
  bool takesAtOnce(size_t bytes) {
    const int peer = accepted();
    bool written = false, heard = false;
    ByteVector into(1);
    harness_->run(*executor_, [&] {
      connection_->write({SharedBytes(ByteVector(bytes))}, [&](Result<void>) { written = true; });
      connection_->read(into, [&](Result<size_t>) { harness_->update([&] { heard = true; }); });
    });
    // What the peer says comes after all that the system would take at once.
    EXPECT_EQ(::send(peer, "x", 1, MSG_NOSIGNAL), 1);
    EXPECT_TRUE(harness_->await([&] { return heard; }));
    harness_->run(*executor_, [&] { connection_.reset(); });
    return written;
  }

  /// What a peer can send to somebody who reads nothing.
  size_t unreadBytes() {
    const int peer = accepted();
    const ByteVector piece(4096);
    size_t sent = 0;
    pollfd ready{.fd = peer, .events = POLLOUT, .revents = 0};
    while (::poll(&ready, 1, 20) == 1) {
      const ssize_t count = ::send(peer, piece.data(), piece.size(), MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<size_t>(count);
    }
    harness_->run(*executor_, [&] { connection_.reset(); });
    return sent;
  }

  std::unique_ptr<Harness> harness_ = makeHarness(Kind::Native);
  std::shared_ptr<Process> process_ = harness_->createProcess("one");
  std::shared_ptr<Executor> executor_ = process_->createExecutor({.name = "acceptor"});
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<Connection> connection_;
  std::vector<int> peers_;
};

TEST_F(ListenOptionsTest, theSendBufferIsThatOfAcceptedConnections) {
  constexpr size_t kBytes = 200 << 10;
  listen({.sendBufferBytes = kMuch});
  EXPECT_TRUE(takesAtOnce(kBytes));
  listen({.sendBufferBytes = kLittle});
  EXPECT_FALSE(takesAtOnce(kBytes));
}

TEST_F(ListenOptionsTest, theReceiveBufferIsThatOfAcceptedConnections) {
  listen({.receiveBufferBytes = kMuch});
  const size_t much = unreadBytes();
  listen({.receiveBufferBytes = kLittle});
  EXPECT_LT(unreadBytes() * 4, much);
}

TEST_F(ListenOptionsTest, aShortBacklogHoldsUpConnectionsThatNobodyAccepts) {
  constexpr int kPeers = 8;
  // Loopback may be late on a busy machine: who must connect has long.
  const auto connected = [this](int patienceMs) {
    int count = 0;
    for (int i = 0; i < kPeers; ++i) {
      pollfd ready{.fd = connect(), .events = POLLOUT, .revents = 0};
      if (::poll(&ready, 1, patienceMs) == 1) ++count;
    }
    return count;
  };
  listen({.backlog = 1});
  EXPECT_LT(connected(20), kPeers / 2);
  listen({});
  EXPECT_EQ(connected(10'000), kPeers);
}

}  // namespace
}  // namespace tidemark::platform
