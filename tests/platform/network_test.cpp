#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness.h"
#include "platform/native/native.h"

namespace tidemark::platform {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

ByteVector pattern(size_t size, uint32_t seed = 1) {
  ByteVector bytes(size);
  for (auto& byte : bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  return bytes;
}

/// Reads a connection to its end, or to an error.
struct Sink {
  explicit Sink(Harness& toTell, std::unique_ptr<Connection> from) : harness(toTell), connection(std::move(from)) {}
  void start() {
    connection->read(buffer, [this](Result<size_t> count) {
      if (count && *count > 0) {
        harness.update([&] { bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + static_cast<long>(*count)); });
        if (!holding) start();
        return;
      }
      harness.update([&] {
        ended = true;
        if (!count) error = count.error().message;
      });
    });
  }
  Harness& harness;
  std::unique_ptr<Connection> connection;
  ByteVector buffer = ByteVector(10'000);
  ByteVector bytes;
  bool holding = false;
  bool ended = false;
  std::string error;
};

class NetworkTest : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Harness> harness_ = makeHarness(GetParam());
  std::shared_ptr<Process> server_ = harness_->createProcess("server");
  std::shared_ptr<Process> client_ = harness_->createProcess("client");
  std::shared_ptr<Executor> acceptorThread_ = server_->createExecutor({.name = "acceptor"});
  std::shared_ptr<Executor> serverThread_ = server_->createExecutor({.name = "network-0"});
  std::shared_ptr<Executor> clientThread_ = client_->createExecutor({.name = "client"});
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<Connection> here_;
  std::unique_ptr<Connection> there_;

  ~NetworkTest() override { stop(); }

  void stop() {
    for (const auto& process : {client_, server_}) {
      process->kill("the test ends");
      process->awaitStopped();
    }
  }
  /// Below what the handlers of a test refer to: they end before it goes.
  struct Ending {
    NetworkTest& test;
    ~Ending() { test.stop(); }
  };

  void listen(const std::string& host = "127.0.0.1", uint16_t port = 0) {
    harness_->run(*acceptorThread_, [&] {
      auto acceptor = server_->network().listen(*acceptorThread_, {host, port});
      ASSERT_TRUE(acceptor) << acceptor.error().message;
      acceptor_ = std::move(*acceptor);
      EXPECT_EQ(acceptor_->endpoint().host, host);
      EXPECT_GT(acceptor_->endpoint().port, 0);
    });
  }

  /// Accepts one connection onto the server's network thread, and makes one.
  void connect(const std::string& host = "127.0.0.1") {
    std::string error;
    acceptorThread_->post([&] {
      acceptor_->accept(*serverThread_, [&](Result<std::unique_ptr<Connection>> got) {
        EXPECT_TRUE(serverThread_->isCurrent());
        harness_->update([&] { there_ = got ? std::move(*got) : nullptr; });
      });
    });
    client_->network().connect(*clientThread_, {host, acceptor_->endpoint().port}, seconds(5),
                               [&](Result<std::unique_ptr<Connection>> got) {
                                 EXPECT_TRUE(clientThread_->isCurrent());
                                 harness_->update([&] {
                                   if (got) {
                                     here_ = std::move(*got);
                                   } else {
                                     error = got.error().message;
                                   }
                                 });
                               });
    ASSERT_TRUE(harness_->await([&] { return (here_ && there_) || !error.empty(); }));
    ASSERT_EQ(error, "");
  }
  void listenAndConnect() {
    listen();
    connect();
  }

  void send(Executor& thread, Connection& connection, std::vector<Piece> pieces, Result<void>* result = nullptr) {
    thread.post([this, &connection, result, sent = std::make_shared<std::vector<Piece>>(std::move(pieces))] {
      connection.write(std::move(*sent), [this, result](Result<void> done) {
        if (result) {
          harness_->update([&] { *result = std::move(done); });
        } else {
          EXPECT_TRUE(done) << done.error().message;
        }
      });
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Platform, NetworkTest, testing::Values(Kind::Native, Kind::Simulated),
                         [](const auto& test) { return test.param == Kind::Native ? "Native" : "Simulated"; });

TEST_P(NetworkTest, bothSidesKnowWhomTheyTalkTo) {
  listenAndConnect();
  EXPECT_EQ(here_->remote(), (Endpoint{"127.0.0.1", acceptor_->endpoint().port}));
  EXPECT_EQ(here_->remote(), there_->local());
  EXPECT_EQ(here_->local(), there_->remote());
}

TEST_P(NetworkTest, whatIsWrittenArrivesInOrderAndThenTheEnd) {
  listenAndConnect();
  Sink sink(*harness_, std::move(there_));
  const Ending ending{*this};
  serverThread_->post([&] { sink.start(); });
  ByteVector all;
  std::vector<Piece> pieces;
  for (uint32_t i = 0; i < 200; ++i) {
    const auto part = pattern(i * i % 9000, i + 1);
    all.insert(all.end(), part.begin(), part.end());
    pieces.push_back(SharedBytes(part));
  }
  clientThread_->post([this, pieces = std::move(pieces)]() mutable {
    here_->write(std::move(pieces), [this](Result<void> done) {
      EXPECT_TRUE(done);
      here_->close();
    });
  });
  ASSERT_TRUE(harness_->await([&] { return sink.ended; }));
  EXPECT_EQ(sink.error, "");
  EXPECT_TRUE(sink.bytes == all);
}

TEST_P(NetworkTest, aWriteLargerThanAnyBufferWaitsForTheReader) {
  listenAndConnect();
  Sink sink(*harness_, std::move(there_));
  const Ending ending{*this};
  const auto all = pattern(20 << 20);
  Result<void> done = fail(ErrorCode::None, "not yet");
  bool finished = false;
  const Ending inTheEnd{*this};
  clientThread_->post([&] {
    here_->write({SharedBytes(all)}, [&](Result<void> result) {
      harness_->update([&] {
        finished = true;
        done = std::move(result);
      });
    });
  });
  harness_->run(*clientThread_, [] {});
  harness_->pass(milliseconds(20));
  harness_->update([&] { EXPECT_FALSE(finished); });
  serverThread_->post([&] { sink.start(); });
  ASSERT_TRUE(harness_->await([&] { return finished && sink.bytes.size() == all.size(); }));
  EXPECT_TRUE(done);
  EXPECT_TRUE(sink.bytes == all);
}

TEST_P(NetworkTest, writesOneAfterAnotherAndAnswersGoBothWays) {
  listenAndConnect();
  struct Echo {
    Connection& connection;
    ByteVector buffer = ByteVector(1000);
    void start() {
      connection.read(buffer, [this](Result<size_t> count) {
        if (!count || *count == 0) return;
        ByteVector answer(buffer.begin(), buffer.begin() + static_cast<long>(*count));
        connection.write({SharedBytes(std::move(answer))}, [this](Result<void> done) {
          if (done) start();
        });
      });
    }
  };
  Echo echo{*there_};
  serverThread_->post([&] { echo.start(); });
  struct Pinger {
    Harness& harness;
    Connection& connection;
    ByteVector buffer = ByteVector(16);
    int rounds = 0;
    void start() {
      connection.write({SharedBytes(ByteVector{1, 2, 3})}, [this](Result<void> done) {
        ASSERT_TRUE(done);
        read(3);
      });
    }
    void read(size_t left) {
      connection.read(MutableBytes(buffer).first(left), [this, left](Result<size_t> count) {
        ASSERT_TRUE(count && *count > 0);
        if (*count < left) return read(left - *count);
        harness.update([&] { ++rounds; });
        if (rounds < 300) start();
      });
    }
  };
  Pinger pinger{*harness_, *here_};
  const Ending ending{*this};
  clientThread_->post([&] { pinger.start(); });
  EXPECT_TRUE(harness_->await([&] { return pinger.rounds == 300; }));
}

TEST_P(NetworkTest, handlersNeverRunInsideTheCall) {
  listenAndConnect();
  send(*serverThread_, *there_, {SharedBytes(pattern(100))});
  ByteVector buffer(100);
  bool inside = false;
  bool wrong = false;
  int called = 0;
  const Ending ending{*this};
  // The second time bytes wait already.
  for (int round = 0; round < 2; ++round) {
    harness_->run(*clientThread_, [&] {
      inside = true;
      here_->read(MutableBytes(buffer).first(1), [&](Result<size_t>) {
        wrong |= inside;
        harness_->update([&] { ++called; });
      });
      here_->write({SharedBytes(pattern(10))}, [&](Result<void>) {
        wrong |= inside;
        harness_->update([&] { ++called; });
      });
      inside = false;
    });
    ASSERT_TRUE(harness_->await([&] { return called == 2 * (round + 1); }));
  }
  EXPECT_FALSE(wrong);
}

TEST_P(NetworkTest, partsOfFilesGoBetweenBytesOfMemory) {
  listenAndConnect();
  const std::string path = harness_->folder() + "/segment";
  const auto contents = pattern(3 << 20);
  auto file = *client_->files().open(path, OpenMode::Create);
  ASSERT_TRUE(file->writeAt(0, contents));
  Sink sink(*harness_, std::move(there_));
  const Ending ending{*this};
  serverThread_->post([&] { sink.start(); });
  const auto header = pattern(17, 5);
  ByteVector expected = header;
  expected.insert(expected.end(), contents.begin() + 1000, contents.begin() + 1000 + (2 << 20));
  expected.insert(expected.end(), header.begin(), header.end());
  expected.insert(expected.end(), contents.begin(), contents.begin() + 1);
  Result<void> result = fail(ErrorCode::None, "not yet");
  send(*clientThread_, *here_,
       {SharedBytes(header), FileSlice{file, 1000, 2 << 20}, SharedBytes(), SharedBytes(header), FileSlice{file, 0, 1},
        FileSlice{file, 7, 0}},
       &result);
  ASSERT_TRUE(harness_->await([&] { return result.has_value() && sink.bytes.size() == expected.size(); }));
  EXPECT_TRUE(sink.bytes == expected);
}

TEST_P(NetworkTest, aFileShorterThanItsSliceIsAnError) {
  listenAndConnect();
  auto file = *client_->files().open(harness_->folder() + "/short", OpenMode::Create);
  ASSERT_TRUE(file->writeAt(0, pattern(100)));
  Result<void> result = fail(ErrorCode::None, "not yet");
  send(*clientThread_, *here_, {SharedBytes(pattern(4)), FileSlice{file, 50, 51}}, &result);
  ASSERT_TRUE(harness_->await([&] { return result.has_value() || result.error().code != ErrorCode::None; }));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("short"));
}

TEST_P(NetworkTest, aWriteOfNothingIsDoneAtOnce) {
  listenAndConnect();
  int done = 0;
  clientThread_->post([&] {
    here_->write({}, [&](Result<void> result) {
      EXPECT_TRUE(result);
      here_->write({SharedBytes()}, [&](Result<void>) { harness_->update([&] { ++done; }); });
    });
  });
  EXPECT_TRUE(harness_->await([&] { return done == 1; }));
}

TEST_P(NetworkTest, connectingWhereNobodyListensIsRefused) {
  listen();
  const uint16_t port = acceptor_->endpoint().port;
  harness_->run(*acceptorThread_, [&] { acceptor_.reset(); });
  std::string error;
  client_->network().connect(*clientThread_, {"127.0.0.1", port}, seconds(5), [&](auto got) {
    harness_->update([&] { error = got ? "connected" : got.error().message; });
  });
  ASSERT_TRUE(harness_->await([&] { return !error.empty(); }));
  EXPECT_THAT(error, HasSubstr(std::to_string(port)));
  EXPECT_THAT(error, HasSubstr("refused"));
}

TEST_P(NetworkTest, aPortInUseIsNamed) {
  listen();
  auto second = server_->network().listen(*acceptorThread_, acceptor_->endpoint());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(acceptor_->endpoint().port) + " is in use"));
  const auto endpoint = acceptor_->endpoint();
  harness_->run(*acceptorThread_, [&] { acceptor_.reset(); });
  EXPECT_TRUE(server_->network().listen(*acceptorThread_, endpoint));
}

TEST_P(NetworkTest, aPortIsFreeAgainAtOnceAfterItsProcessDied) {
  listenAndConnect();
  const auto endpoint = acceptor_->endpoint();
  server_->kill("to free the port");
  server_->awaitStopped();
  auto next = harness_->createProcess("server");
  auto thread = next->createExecutor({.name = "acceptor"});
  auto again = next->network().listen(*thread, endpoint);
  EXPECT_TRUE(again) << again.error().message;
  next->kill("done");
  next->awaitStopped();
}

TEST_P(NetworkTest, namesAndWildcardsWork) {
  listen("0.0.0.0");
  connect("localhost");
  harness_->run(*clientThread_, [&] { here_.reset(); });
  harness_->run(*serverThread_, [&] { there_.reset(); });
  harness_->run(*acceptorThread_, [&] { acceptor_.reset(); });
  listen("");
  connect("127.0.0.1");
}

TEST_P(NetworkTest, ipVersion6Works) {
  // The system's choice for one family may be taken in the other.
  listen("::1", GetParam() == Kind::Native ? pickFreePorts("0.0.0.0", 1).value().front() : 0);
  connect("::1");
  EXPECT_EQ(here_->remote().host, "::1");
  EXPECT_EQ(fmt::format("{}", here_->remote()), fmt::format("[::1]:{}", acceptor_->endpoint().port));
  harness_->run(*clientThread_, [&] { here_.reset(); });
  harness_->run(*serverThread_, [&] { there_.reset(); });
  const uint16_t port = acceptor_->endpoint().port;
  // The other family's port of the same number is another port.
  auto other = server_->network().listen(*acceptorThread_, {"0.0.0.0", port});
  EXPECT_TRUE(other) << other.error().message;
  harness_->run(*acceptorThread_, [&] {
    acceptor_.reset();
    other->reset();
  });
  listen("");
  connect("::1");
}

TEST_P(NetworkTest, anUnknownHostAndAHostThatIsNotOursAreErrors) {
  std::string error;
  client_->network().connect(*clientThread_, {"no-such-host.invalid", 1}, seconds(20), [&](auto got) {
    harness_->update([&] { error = got ? "connected" : got.error().message; });
  });
  ASSERT_TRUE(harness_->await([&] { return !error.empty(); }));
  EXPECT_THAT(error, HasSubstr("no-such-host.invalid"));
  EXPECT_FALSE(server_->network().listen(*acceptorThread_, {"192.0.2.1", 0}));
}

TEST_P(NetworkTest, aClosedConnectionForgetsItsHandlers) {
  listenAndConnect();
  bool wrong = false;
  auto held = std::make_shared<int>(1);
  ByteVector buffer(10);
  harness_->run(*clientThread_, [&] {
    here_->read(buffer, [&, held](Result<size_t>) { wrong = true; });
    here_->close();
    here_->read(buffer, [&, held](Result<size_t>) { wrong = true; });
    here_->write({SharedBytes(pattern(3))}, [&, held](Result<void>) { wrong = true; });
    here_->close();
  });
  Sink sink(*harness_, std::move(there_));
  const Ending ending{*this};
  serverThread_->post([&] { sink.start(); });
  ASSERT_TRUE(harness_->await([&] { return sink.ended; }));
  harness_->run(*clientThread_, [] {});
  EXPECT_FALSE(wrong);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(NetworkTest, aConnectionMayBeDestroyedInItsOwnHandler) {
  listenAndConnect();
  bool done = false;
  ByteVector buffer(10);
  harness_->run(*clientThread_, [&] {
    here_->read(buffer, [&](Result<size_t>) {
      here_.reset();
      harness_->update([&] { done = true; });
    });
  });
  send(*serverThread_, *there_, {SharedBytes(pattern(3))});
  EXPECT_TRUE(harness_->await([&] { return done; }));
}

TEST_P(NetworkTest, writingToAPeerThatHasGoneFailsBeforeLong) {
  listenAndConnect();
  harness_->run(*serverThread_, [&] { there_.reset(); });
  std::string error;
  struct Writer {
    Harness& harness;
    Connection& connection;
    std::string& error;
    void start() {
      connection.write({SharedBytes(ByteVector(100))}, [this](Result<void> done) {
        if (done) return start();
        harness.update([&] { error = done.error().message; });
      });
    }
  };
  Writer writer{*harness_, *here_, error};
  const Ending ending{*this};
  clientThread_->post([&] { writer.start(); });
  EXPECT_TRUE(harness_->await([&] { return !error.empty(); }));
}

TEST_P(NetworkTest, whenAProcessDiesItsPeersSeeTheEndAndItsOwnHandlersAreForgotten) {
  listenAndConnect();
  bool wrong = false;
  auto held = std::make_shared<int>(1);
  ByteVector buffer(10);
  harness_->run(*serverThread_, [&] { there_->read(buffer, [&, held](Result<size_t>) { wrong = true; }); });
  harness_->run(*acceptorThread_, [&] { acceptor_->accept(*serverThread_, [&, held](auto) { wrong = true; }); });
  Sink sink(*harness_, std::move(here_));
  const Ending ending{*this};
  clientThread_->post([&] { sink.start(); });
  harness_->run(*clientThread_, [] {});
  server_->kill("to see the end");
  server_->awaitStopped();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(harness_->await([&] { return sink.ended; }));
  EXPECT_FALSE(wrong);
  EXPECT_FALSE(server_->network().listen(*acceptorThread_, {"127.0.0.1", 0}));
  server_->network().connect(*serverThread_, {"127.0.0.1", 1}, seconds(1), [&, held](auto) { wrong = true; });
  EXPECT_EQ(held.use_count(), 1);
  // Only now what was built on it goes, from another thread.
  there_.reset();
  acceptor_.reset();
  serverThread_.reset();
  acceptorThread_.reset();
}

TEST_P(NetworkTest, aPausedProcessKeepsItsSocketsAndAnswersOnceResumed) {
  listenAndConnect();
  Sink sink(*harness_, std::move(there_));
  const Ending ending{*this};
  serverThread_->post([&] { sink.start(); });
  harness_->run(*serverThread_, [] {});
  server_->pause();
  send(*clientThread_, *here_, {SharedBytes(pattern(1000))});
  harness_->pass(milliseconds(20));
  harness_->update([&] {
    EXPECT_TRUE(sink.bytes.empty());
    EXPECT_FALSE(sink.ended);
  });
  server_->resume();
  EXPECT_TRUE(harness_->await([&] { return sink.bytes == pattern(1000); }));
}

TEST_P(NetworkTest, manyConnectionsAreAcceptedInTurn) {
  listen();
  std::vector<std::unique_ptr<Connection>> accepted;
  std::vector<std::unique_ptr<Connection>> made;
  std::function<void()> next = [&] {
    acceptor_->accept(*serverThread_, [&](Result<std::unique_ptr<Connection>> got) {
      ASSERT_TRUE(got);
      harness_->update([&] { accepted.push_back(std::move(*got)); });
      acceptorThread_->post([&] { next(); });
    });
  };
  const Ending ending{*this};
  acceptorThread_->post([&] { next(); });
  for (int i = 0; i < 50; ++i) {
    client_->network().connect(*clientThread_, {"127.0.0.1", acceptor_->endpoint().port}, seconds(5), [&](auto got) {
      ASSERT_TRUE(got);
      harness_->update([&] { made.push_back(std::move(*got)); });
    });
  }
  EXPECT_TRUE(harness_->await([&] { return accepted.size() == 50 && made.size() == 50; }));
}

}  // namespace
}  // namespace tidemark::platform
