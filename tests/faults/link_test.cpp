// What faults of links do to connections, on real sockets and on simulated ones.
#include <gmock/gmock.h>

#include <atomic>

#include <fmt/format.h>

#include "faults/fault_json.h"
#include "faults/faulty_process.h"
#include "platform/harness.h"

namespace tidemark::faults {
namespace {

using platform::Connection;
using platform::Harness;
using std::chrono::seconds;
using testing::HasSubstr;

/// One side of a connection; what it is told it tells the harness.
class Side {
 public:
  Side(Harness& harness, std::shared_ptr<platform::Executor> executor, std::unique_ptr<Connection> connection)
      : harness_(harness), executor_(std::move(executor)), connection_(std::move(connection)) {
    harness_.run(*executor_, [&] { read(); });
  }
  ~Side() {
    harness_.run(*executor_, [&] { connection_.reset(); });
  }

  void send(std::string_view text) {
    harness_.run(*executor_, [&] {
      const ByteView bytes = asBytes(text);
      connection_->write({SharedBytes(ByteVector(bytes.begin(), bytes.end()))},
                         [this](const Result<void>& done) { harness_.update([&] { done ? ++written : ++failed; }); });
    });
  }
  /// The head of a request of 100 bytes from that client, in two parts.
  std::string introduce(std::string_view client) {
    ByteVector head(14);
    writeBigEndian<int32_t>(head.data(), 100);
    writeBigEndian<int16_t>(head.data() + 12, static_cast<int16_t>(client.size()));
    const std::string all = std::string(asText(head)) + std::string(client);
    send(all.substr(0, 9));
    send(all.substr(9));
    return all;
  }
  bool awaits(std::string_view text) {
    return harness_.await([&] { return got == text; });
  }

  std::string got;
  bool ended = false;
  std::string error;
  int written = 0;
  int failed = 0;

 private:
  void read() {
    connection_->read(buffer_, [this](Result<size_t> count) {
      const bool more = count && *count > 0;
      harness_.update([&] {
        if (more) got += asText(ByteView(buffer_).first(*count));
        ended |= !more;
        if (!count) error = count.error().message;
      });
      if (more) read();
    });
  }

  Harness& harness_;
  const std::shared_ptr<platform::Executor> executor_;
  std::unique_ptr<Connection> connection_;
  ByteVector buffer_ = ByteVector(64 * 1024);
};

/// Broker 3 listens; broker 1 and clients connect.
class LinkTest : public testing::TestWithParam<platform::Kind> {
 protected:
  LinkTest() {
    harness_->run(*acceptorThread_,
                  [&] { acceptor_ = server_->network().listen(*acceptorThread_, {"127.0.0.1", 0}).value(); });
    endpoint_ = acceptor_->endpoint();
    book_->setListeners({{endpoint_.port, {.node = NodeId(3), .port = Port::Broker}}});
  }
  ~LinkTest() override {
    for (platform::Process* process :
         std::initializer_list<platform::Process*>{client_.get(), opener_.get(), server_.get()}) {
      process->kill("the test ends");
      process->awaitStopped();
    }
  }

  int set(std::string_view json) {
    Fault fault = parseFault(json).value();
    Place place;
    const auto& link = std::get<LinkName>(fault.target);
    const auto end = [](const LinkEnd& name) {
      return End{.node = name.isClients ? kNoNode : name.node.id, .port = name.port, .client = name.client};
    };
    place.links.push_back({.from = end(link.from), .to = end(link.to)});
    if (link.bothWays) place.links.push_back({.from = end(link.to), .to = end(link.from)});
    const int id = book_->add(std::move(fault), MonotonicTime{});
    book_->begin(id, std::move(place), MonotonicTime{});
    return id;
  }
  void heal(int id) { EXPECT_TRUE(book_->end(id, Ending::Healed)); }
  uint64_t fired(int id) {
    for (const FaultStatus& each : book_->list(MonotonicTime{}))
      if (each.id == id) return each.fired;
    return 0;
  }
  bool awaitFired(int id, uint64_t times) {
    return harness_->await([&] { return fired(id) >= times; });
  }

  void accept() {
    acceptorThread_->post([this] {
      acceptor_->accept(*serverThread_, [this](Result<std::unique_ptr<Connection>> accepted) {
        harness_->update([&] { accepted_ = std::move(accepted).value(); });
      });
    });
  }
  struct Dialled {
    bool done = false;
    std::unique_ptr<Connection> connection;
    std::string error;
  };
  std::shared_ptr<Dialled> dial(platform::Process& process, platform::Executor& executor,
                                Duration timeout = seconds(20)) {
    auto dialled = dialled_.emplace_back(std::make_shared<Dialled>());
    process.network().connect(executor, endpoint_, timeout,
                              [this, dialled](Result<std::unique_ptr<Connection>> result) {
                                harness_->update([&] {
                                  dialled->done = true;
                                  if (result) {
                                    dialled->connection = std::move(*result);
                                  } else {
                                    dialled->error = result.error().message;
                                  }
                                });
                              });
    return dialled;
  }
  /// Both sides of a new connection: who opened it, then the server's.
  std::pair<std::unique_ptr<Side>, std::unique_ptr<Side>> connect(bool fromBroker = true) {
    accept();
    const auto dialled = fromBroker ? dial(*opener_, *openerThread_) : dial(*client_, *clientThread_);
    EXPECT_TRUE(harness_->await([&] { return dialled->connection && accepted_; }));
    return {
        std::make_unique<Side>(*harness_, fromBroker ? openerThread_ : clientThread_, std::move(dialled->connection)),
        std::make_unique<Side>(*harness_, serverThread_, std::move(accepted_))};
  }

  const std::unique_ptr<Harness> harness_ = platform::makeHarness(GetParam());
  /// Told on whatever thread a fault fires.
  const std::shared_ptr<FaultBook> book_ =
      std::make_shared<FaultBook>([](const events::Payload&) {}, [this](int, uint64_t) { harness_->update([] {}); });
  const std::shared_ptr<platform::Process> client_ = harness_->createProcess("client");
  const std::shared_ptr<FaultyProcess> opener_ =
      std::make_shared<FaultyProcess>(harness_->createProcess("broker-1"), book_, NodeId(1));
  const std::shared_ptr<FaultyProcess> server_ =
      std::make_shared<FaultyProcess>(harness_->createProcess("broker-3"), book_, NodeId(3));
  const std::shared_ptr<platform::Executor> clientThread_ = client_->createExecutor({.name = "client"});
  const std::shared_ptr<platform::Executor> openerThread_ = opener_->createExecutor({.name = "fetcher"});
  const std::shared_ptr<platform::Executor> acceptorThread_ = server_->createExecutor({.name = "acceptor"});
  const std::shared_ptr<platform::Executor> serverThread_ = server_->createExecutor({.name = "network-0"});
  std::unique_ptr<platform::Acceptor> acceptor_;
  std::unique_ptr<Connection> accepted_;
  std::vector<std::shared_ptr<Dialled>> dialled_;
  platform::Endpoint endpoint_;
};

TEST_P(LinkTest, CarriesEverythingWhileNothingIsBroken) {
  auto [opener, server] = connect();
  opener->send("there");
  server->send("back");
  EXPECT_TRUE(server->awaits("there"));
  EXPECT_TRUE(opener->awaits("back"));
}

TEST_P(LinkTest, WhatIsSentOverACutLinkArrivesWhenItIsHealed) {
  auto [opener, server] = connect();
  const int cut = set(R"({"kind":"cut","target":"link 1->3"})");
  opener->send("a");
  EXPECT_TRUE(awaitFired(cut, 1));
  server->send("b");
  EXPECT_TRUE(opener->awaits("b")) << "the way back is open";
  opener->send("c");
  EXPECT_TRUE(harness_->await([&] { return opener->written == 2; })) << "the system takes what it cannot send yet";
  harness_->pass(milliseconds(20));
  EXPECT_EQ(server->got, "");
  heal(cut);
  EXPECT_TRUE(server->awaits("ac"));
}

TEST_P(LinkTest, TheWayBackIsCutAtTheSameSide) {
  auto [opener, server] = connect();
  const int cut = set(R"({"kind":"cut","target":"link 3->1"})");
  server->send("b");
  EXPECT_TRUE(awaitFired(cut, 1));
  opener->send("a");
  EXPECT_TRUE(server->awaits("a"));
  EXPECT_EQ(opener->got, "");
  heal(cut);
  EXPECT_TRUE(opener->awaits("b"));
}

TEST_P(LinkTest, ASenderHasNoMoreUnderWayThanBuffersHold) {
  auto [opener, server] = connect();
  const int cut = set(R"({"kind":"cut","target":"link 1->3"})");
  const std::string large(200 * 1024, 'x');
  opener->send(large);
  EXPECT_TRUE(harness_->await([&] { return opener->written == 1; }));
  opener->send(large);
  harness_->pass(milliseconds(20));
  EXPECT_EQ(opener->written, 1);
  heal(cut);
  EXPECT_TRUE(server->awaits(large + large));
  EXPECT_TRUE(harness_->await([&] { return opener->written == 2; }));
}

TEST_P(LinkTest, AnAttemptToConnectWaitsUntilTheLinkIsHealed) {
  const int cut = set(R"({"kind":"cut","target":"link 3->1"})");
  accept();
  const auto dialled = dial(*opener_, *openerThread_);
  EXPECT_TRUE(awaitFired(cut, 1));
  EXPECT_FALSE(dialled->done);
  heal(cut);
  EXPECT_TRUE(harness_->await([&] { return dialled->connection && accepted_; }));
}

TEST_P(LinkTest, AnAttemptToConnectOverACutLinkTimesOut) {
  set(R"({"kind":"cut","target":"link 1->3"})");
  const auto dialled = dial(*opener_, *openerThread_, milliseconds(50));
  EXPECT_TRUE(harness_->await([&] { return dialled->done; }));
  EXPECT_EQ(dialled->error, fmt::format("cannot connect to {}: timed out", endpoint_));
  accept();
  const auto other = dial(*client_, *clientThread_);
  EXPECT_TRUE(harness_->await([&] { return other->connection && accepted_; })) << "others can";
}

TEST_P(LinkTest, AResetEndsTheConnectionForBoth) {
  auto [opener, server] = connect();
  set(R"({"kind":"reset","target":"link 1->3","trigger":{"nth":2}})");
  opener->send("a");
  EXPECT_TRUE(server->awaits("a"));
  opener->send("b");
  EXPECT_TRUE(harness_->await([&] { return opener->ended && server->ended; }));
  EXPECT_THAT(opener->error, HasSubstr("connection reset by peer"));
  EXPECT_EQ(server->got, "a");
  opener->send("c");
  EXPECT_TRUE(harness_->await([&] { return opener->failed > 0; }));
  auto [again, serverAgain] = connect();
  again->send("d");
  EXPECT_TRUE(serverAgain->awaits("d")) << "it was the second one only";
}

TEST_P(LinkTest, ADelayedLinkCarriesLateButInOrderAndNotOneByOne) {
  auto [opener, server] = connect();
  set(R"({"kind":"delay","target":"link 1->3","delayMs":100,"jitterMs":50})");
  const MonotonicTime begun = opener_->clock().monotonic();
  std::string all;
  for (int i = 0; i < 20; ++i) {
    opener->send(std::string(1, static_cast<char>('a' + i)));
    all += static_cast<char>('a' + i);
  }
  EXPECT_TRUE(server->awaits(all));
  const Duration took = opener_->clock().monotonic() - begun;
  EXPECT_GE(took, milliseconds(50));
  EXPECT_LT(took, milliseconds(1000)) << "twenty delays are on their way at once";
}

TEST_P(LinkTest, AThrottledLinkTakesItsTime) {
  auto [opener, server] = connect();
  set(R"({"kind":"throttle","target":"link 1<->3","bytesPerSecond":100000})");
  const std::string bytes(10'000, 'x');
  MonotonicTime begun = opener_->clock().monotonic();
  opener->send(bytes);
  EXPECT_TRUE(server->awaits(bytes));
  EXPECT_GE(opener_->clock().monotonic() - begun, milliseconds(100));
  begun = opener_->clock().monotonic();
  server->send(bytes);
  EXPECT_TRUE(opener->awaits(bytes));
  EXPECT_GE(opener_->clock().monotonic() - begun, milliseconds(100));
}

TEST_P(LinkTest, AHeldLinkIsStepped) {
  auto [opener, server] = connect();
  const int hold = set(R"({"kind":"hold","target":"link 1->3"})");
  for (const char* text : {"a", "b", "c"}) opener->send(text);
  EXPECT_TRUE(awaitFired(hold, 1));
  EXPECT_EQ(server->got, "");
  EXPECT_EQ(book_->step(hold, 1), 1U);
  EXPECT_TRUE(server->awaits("a"));
  EXPECT_TRUE(awaitFired(hold, 2)) << "the next one waits now";
  EXPECT_EQ(book_->step(hold, 1), 1U);
  EXPECT_TRUE(server->awaits("ab"));
  heal(hold);
  EXPECT_TRUE(server->awaits("abc"));
}

TEST_P(LinkTest, AClientIsCutWhereItIsAcceptedOnceItsHeaderWasRead) {
  auto [billing, billingServer] = connect(false);
  auto [shop, shopServer] = connect(false);
  const std::string billingHead = billing->introduce("billing");
  const std::string shopHead = shop->introduce("shop");
  EXPECT_TRUE(billingServer->awaits(billingHead));
  EXPECT_TRUE(shopServer->awaits(shopHead));
  const int there = set(R"({"kind":"cut","target":"link clients named billing->3"})");
  const int back = set(R"({"kind":"cut","target":"link 3->clients named billing"})");
  billing->send("2");
  EXPECT_TRUE(awaitFired(there, 1));
  billingServer->send("3");
  EXPECT_TRUE(awaitFired(back, 1));
  shop->send("4");
  shopServer->send("5");
  EXPECT_TRUE(shopServer->awaits(shopHead + "4"));
  EXPECT_TRUE(shop->awaits("5"));
  EXPECT_EQ(billingServer->got, billingHead);
  EXPECT_EQ(billing->got, "");
  heal(there);
  EXPECT_TRUE(billingServer->awaits(billingHead + "2"));
  EXPECT_EQ(billing->got, "");
  heal(back);
  EXPECT_TRUE(billing->awaits("3"));
}

TEST_P(LinkTest, NobodyIsCutBeforeItsHeaderIsWhole) {
  const int cut = set(R"({"kind":"cut","target":"link clients->3"})");
  auto [client, server] = connect(false);
  client->send(std::string(13, '\0'));
  EXPECT_TRUE(server->awaits(std::string(13, '\0')));
  client->send(std::string(1, '\0'));
  EXPECT_TRUE(awaitFired(cut, 1)) << "a name of no letters";
  EXPECT_EQ(server->got.size(), 13U);
  heal(cut);
  EXPECT_TRUE(server->awaits(std::string(14, '\0')));
}

TEST_P(LinkTest, ABrokerIsNoClientWhateverItCallsItself) {
  auto [opener, server] = connect();
  set(R"({"kind":"cut","target":"link clients<->3"})");
  const std::string head = opener->introduce("billing");
  server->send("b");
  EXPECT_TRUE(server->awaits(head));
  EXPECT_TRUE(opener->awaits("b"));
}

INSTANTIATE_TEST_SUITE_P(Platforms, LinkTest, testing::Values(platform::Kind::Native, platform::Kind::Simulated),
                         [](const auto& which) {
                           return which.param == platform::Kind::Native ? "Native" : "Simulated";
                         });

}  // namespace
}  // namespace tidemark::faults
