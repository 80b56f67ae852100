#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/simulated/world.h"

namespace tidemark::platform {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::MatchesRegex;

/// A server and a client with one connection between them.
class SimulatedNetworkTest : public testing::Test {
 protected:
  void make(uint64_t seed = 1, LinkOptions link = {}) {
    here_.reset();
    there_.reset();
    acceptor_.reset();
    world_ = std::make_unique<World>(WorldOptions{.seed = seed, .link = link, .trace = trace_});
    server_ = world_->createProcess({.name = "server", .host = "alpha"});
    client_ = world_->createProcess({.name = "client", .host = "beta"});
    serverThread_ = server_->createExecutor({.name = "network"});
    clientThread_ = client_->createExecutor({.name = "main"});
    acceptor_ = std::move(*server_->network().listen(*serverThread_, {"alpha", 9092}));
    acceptor_->accept(*serverThread_, [this](auto got) { there_ = std::move(*got); });
    client_->network().connect(*clientThread_, {"alpha", 9092}, seconds(30),
                               [this](auto got) { here_ = std::move(*got); });
    ASSERT_TRUE(world_->runUntil([&] { return here_ && there_; }, seconds(1)));
  }
  void readAll(Connection& connection, std::string& into) {
    auto buffer = std::make_shared<ByteVector>(1000);
    connection.read(*buffer, [this, &connection, &into, buffer](Result<size_t> count) {
      if (!count) {
        into += "<" + count.error().message + ">";
      } else if (*count == 0) {
        into += "<end>";
      } else {
        into += asText(ByteView(*buffer).first(*count));
        readAll(connection, into);
      }
    });
  }
  void write(Connection& connection, const std::string& text) {
    connection.write({SharedBytes(ByteVector(text.begin(), text.end()))}, [this](Result<void> done) {
      ++written_;
      if (!done) writeError_ = done.error().message;
    });
  }
  bool arrives(const std::string& in, const std::string& text, Duration limit = seconds(10)) {
    return world_->runUntil([&] { return in.find(text) != std::string::npos; }, limit);
  }
  void TearDown() override {
    for (const auto& process : {server_, client_}) {
      if (process) process->kill("the test ends");
    }
  }

  std::function<void(std::string_view)> trace_;
  std::unique_ptr<World> world_;
  std::shared_ptr<SimulatedProcess> server_;
  std::shared_ptr<SimulatedProcess> client_;
  std::shared_ptr<Executor> serverThread_;
  std::shared_ptr<Executor> clientThread_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<Connection> here_;
  std::unique_ptr<Connection> there_;
  int written_ = 0;
  std::string writeError_;
};

TEST_F(SimulatedNetworkTest, connectingOverACutLinkTimesOut) {
  make();
  world_->network().cut("client", "server");
  std::string error;
  const auto start = world_->now();
  client_->network().connect(*clientThread_, {"alpha", 9092}, seconds(3),
                             [&](auto got) { error = got ? "connected" : got.error().message; });
  ASSERT_TRUE(world_->runUntil([&] { return !error.empty(); }, seconds(10)));
  EXPECT_THAT(error, HasSubstr("timed out"));
  EXPECT_GE(world_->now() - start, seconds(3));
}

TEST_F(SimulatedNetworkTest, aCutLinkHoldsWhatIsUnderWayUntilItIsHealed) {
  make();
  std::string got;
  readAll(*there_, got);
  write(*here_, "before ");
  ASSERT_TRUE(arrives(got, "before "));
  world_->network().cut("client", "server");
  write(*here_, "during ");
  EXPECT_FALSE(arrives(got, "during", seconds(20)));
  EXPECT_EQ(written_, 2);
  world_->network().heal("client", "server");
  write(*here_, "after");
  EXPECT_TRUE(arrives(got, "before during after"));
}

TEST_F(SimulatedNetworkTest, theTraceSaysOfAPacketWhoSentItToWhom) {
  std::vector<std::string> packets;
  trace_ = [&packets](std::string_view line) {
    if (line.contains(" net ") && line.contains(" data ")) packets.emplace_back(line.substr(line.find("pipe")));
  };
  make();
  std::string atServer;
  std::string atClient;
  readAll(*there_, atServer);
  readAll(*here_, atClient);
  write(*here_, "there");
  ASSERT_TRUE(arrives(atServer, "there"));
  write(*there_, "and back");
  ASSERT_TRUE(arrives(atClient, "and back"));
  // A write may go in several packets.
  ASSERT_GE(packets.size(), 2u);
  EXPECT_THAT(packets.front(), MatchesRegex("pipe [0-9]+ client → server data [0-9]+ bytes [0-9a-f]+"));
  EXPECT_THAT(packets.back(), MatchesRegex("pipe [0-9]+ server → client data [0-9]+ bytes [0-9a-f]+"));
}

TEST_F(SimulatedNetworkTest, whoAsksIsToldOfLinks) {
  make();
  SimulatedNetwork& network = world_->network();
  network.cutOneWay("client", "server");
  EXPECT_TRUE(network.isCut("client", "server"));
  EXPECT_FALSE(network.isCut("server", "client"));
  network.isolate("server");
  EXPECT_TRUE(network.isIsolated("server"));
  EXPECT_FALSE(network.isCut("server", "client")) << "that is another matter";
  EXPECT_FALSE(network.isIsolated("nobody"));
  const LinkOptions slow{.minDelay = milliseconds(1), .maxDelay = milliseconds(9)};
  network.setLink("server", "client", slow);
  EXPECT_EQ(network.link("server", "client"), slow);
  EXPECT_EQ(network.link("client", "server"), LinkOptions());
  network.heal();
  EXPECT_FALSE(network.isCut("client", "server"));
  EXPECT_FALSE(network.isIsolated("server"));
}

TEST_F(SimulatedNetworkTest, aCutInOneDirectionLeavesTheOther) {
  make();
  std::string atServer;
  std::string atClient;
  readAll(*there_, atServer);
  readAll(*here_, atClient);
  world_->network().cutOneWay("client", "server");
  write(*here_, "lost");
  write(*there_, "found");
  EXPECT_TRUE(arrives(atClient, "found"));
  EXPECT_EQ(atServer, "");
  world_->network().heal();
  EXPECT_TRUE(arrives(atServer, "lost"));
}

TEST_F(SimulatedNetworkTest, anIsolatedProcessHearsNobody) {
  make();
  std::string got;
  readAll(*there_, got);
  world_->network().isolate("server");
  write(*here_, "x");
  EXPECT_FALSE(arrives(got, "x", seconds(5)));
  bool connected = false;
  client_->network().connect(*clientThread_, {"alpha", 9092}, seconds(60),
                             [&](auto result) { connected = result.has_value(); });
  EXPECT_FALSE(world_->runUntil([&] { return connected; }, seconds(10)));
  world_->network().heal("server");
  EXPECT_TRUE(arrives(got, "x"));
  EXPECT_TRUE(world_->runUntil([&] { return connected; }, seconds(50)));
}

TEST_F(SimulatedNetworkTest, theEndOfAKilledProcessWaitsForTheLinkToo) {
  make();
  std::string got;
  readAll(*here_, got);
  world_->network().cut("client", "server");
  server_->kill("to see");
  EXPECT_FALSE(arrives(got, "<", seconds(60)));
  world_->network().heal();
  EXPECT_TRUE(arrives(got, "<end>"));
}

TEST_F(SimulatedNetworkTest, aKilledProcessWithUnreadBytesResetsItsPeer) {
  make();
  std::string got;
  readAll(*here_, got);
  write(*here_, "never read");
  world_->runFor(seconds(1));
  server_->kill("to see");
  EXPECT_TRUE(arrives(got, "reset"));
}

TEST_F(SimulatedNetworkTest, aPowerLossIsSilentUntilTheMachineIsBackAndAskedAgain) {
  make();
  std::string got;
  readAll(*here_, got);
  server_->losePower();
  EXPECT_FALSE(arrives(got, "<", seconds(60)));
  write(*here_, "anybody there?");
  EXPECT_FALSE(arrives(got, "<", seconds(60)));
  auto again = world_->createProcess({.name = "server", .host = "alpha"});
  EXPECT_TRUE(arrives(got, "reset"));
}

TEST_F(SimulatedNetworkTest, aResetReachesBothSides) {
  make();
  std::string atServer;
  std::string atClient;
  readAll(*there_, atServer);
  readAll(*here_, atClient);
  world_->network().reset("server", "client");
  EXPECT_TRUE(arrives(atServer, "reset"));
  EXPECT_TRUE(arrives(atClient, "reset"));
  write(*here_, "x");
  EXPECT_TRUE(world_->runUntil([&] { return !writeError_.empty(); }, seconds(1)));
}

TEST_F(SimulatedNetworkTest, readsAndWritesAreCutShortNowAndThen) {
  std::set<size_t> sizes;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    make(seed);
    ByteVector buffer(1 << 16);
    size_t got = 0;
    std::function<void()> next = [&] {
      there_->read(buffer, [&](Result<size_t> count) {
        sizes.insert(*count);
        if ((got += *count) < 500'000) next();
      });
    };
    next();
    write(*here_, std::string(500'000, 'x'));
    EXPECT_TRUE(world_->runUntil([&] { return got == 500'000; }, seconds(10)));
    server_->kill("next");
    client_->kill("next");
  }
  EXPECT_GT(sizes.size(), 30u);
}

TEST_F(SimulatedNetworkTest, linksHaveDelayAndSpeed) {
  make();
  std::string got;
  readAll(*there_, got);
  world_->network().setLink("client", "server", {.minDelay = milliseconds(100), .maxDelay = milliseconds(100)});
  auto start = world_->now();
  write(*here_, "slow");
  ASSERT_TRUE(arrives(got, "slow"));
  EXPECT_GE(world_->now() - start, milliseconds(100));
  EXPECT_LT(world_->now() - start, milliseconds(102));
  world_->network().setLink("client", "server", {.bytesPerSecond = 100'000});
  start = world_->now();
  write(*here_, std::string(100'000, 'x') + "end");
  ASSERT_TRUE(arrives(got, "end"));
  EXPECT_GE(world_->now() - start, milliseconds(990));
  EXPECT_LT(world_->now() - start, milliseconds(1100));
}

TEST_F(SimulatedNetworkTest, connectionsOvertakeEachOtherButNotThemselves) {
  bool overtook = false;
  for (uint64_t seed = 0; seed < 30 && !overtook; ++seed) {
    make(seed);
    std::unique_ptr<Connection> second;
    std::unique_ptr<Connection> secondThere;
    acceptor_->accept(*serverThread_, [&](auto got) { secondThere = std::move(*got); });
    client_->network().connect(*clientThread_, {"alpha", 9092}, seconds(1),
                               [&](auto got) { second = std::move(*got); });
    ASSERT_TRUE(world_->runUntil([&] { return second && secondThere; }, seconds(1)));
    std::string got;
    readAll(*there_, got);
    readAll(*secondThere, got);
    write(*here_, "1");
    write(*second, "2");
    ASSERT_TRUE(arrives(got, "1"));
    ASSERT_TRUE(arrives(got, "2"));
    overtook = got == "21";
    server_->kill("next");
    client_->kill("next");
  }
  EXPECT_TRUE(overtook);
}

TEST_F(SimulatedNetworkTest, aConnectionIsUsedOnlyOnItsOwnExecutor) {
  make();
  auto other = client_->createExecutor({.name = "other"});
  std::string reason;
  client_->onDeath([&](const std::string& why) { reason = why; });
  other->post([&] { write(*here_, "x"); });
  world_->runFor(seconds(1));
  EXPECT_THAT(reason, HasSubstr("is used on other"));
}

TEST_F(SimulatedNetworkTest, portsBelongToHosts) {
  make();
  auto third = world_->createProcess({.name = "third", .host = "alpha"});
  auto thread = third->createExecutor({.name = "main"});
  EXPECT_FALSE(third->network().listen(*thread, {"alpha", 9092}));
  EXPECT_FALSE(third->network().listen(*thread, {"beta", 9093}));
  auto fourth = world_->createProcess({.name = "fourth", .host = "gamma"});
  auto fourthThread = fourth->createExecutor({.name = "main"});
  EXPECT_TRUE(fourth->network().listen(*fourthThread, {"", 9092}));
  EXPECT_EQ(world_->network().connectionCount(), 1u);
}

}  // namespace
}  // namespace tidemark::platform
