#include "network/channel.h"

#include <gtest/gtest.h>

#include <optional>

#include "network/channel_codec.h"
#include "network/server_fixture.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"

namespace tidemark::test {
namespace {

using network::Channel;
using network::ChannelOptions;
using network::Received;
using network::RequestPtr;
using network::SendOptions;
using protocol::ApiKey;
using protocol::HeartbeatRequest;
using protocol::HeartbeatResponse;
using namespace std::chrono_literals;

struct Outcome {
  std::string label;
  ErrorCode error = ErrorCode::None;  ///< Of the Result.
  int16_t answer = 0;                 ///< The error code in the answer.
  int16_t version = -1;
  platform::MonotonicTime at;
};

class ChannelTest : public ServerTest {
 protected:
  ~ChannelTest() override {
    killAll();
    channel.reset();
  }

  void open(platform::Endpoint to, ChannelOptions options = {}) {
    executor = clientProcess->createExecutor({.name = "channel", .threads = 1});
    run([&] { channel = std::make_unique<Channel>(*clientProcess, executor, std::move(to), std::move(options)); });
  }
  /// On the channel's executor; returns once it has run.
  void run(const std::function<void()>& action) { runOn(*executor, action); }
  void sendHeartbeat(std::string label, SendOptions options = {}) {
    HeartbeatRequest request;
    request.groupId = label;
    channel->send(std::move(request), options, [this, label](Result<Received<HeartbeatResponse>> received) {
      Outcome outcome{.label = label, .at = clientProcess->clock().monotonic()};
      if (received) {
        outcome.answer = received->message.errorCode;
        outcome.version = received->version;
      } else {
        outcome.error = received.error().code;
      }
      stage->change([&] { outcomes.push_back(outcome); });
      if (then) then(outcome);
    });
  }
  Outcome only() {
    EXPECT_TRUE(await([&] { return !outcomes.empty(); }));
    Outcome first;
    stage->change([&] {
      EXPECT_EQ(outcomes.size(), 1u);
      if (!outcomes.empty()) first = outcomes.front();
      outcomes.clear();
    });
    return first;
  }
  std::vector<std::string> labels() {
    std::vector<std::string> all;
    for (const auto& outcome : outcomes) all.push_back(outcome.label);
    return all;
  }

  std::shared_ptr<platform::Executor> executor;
  std::unique_ptr<Channel> channel;
  std::vector<Outcome> outcomes;  ///< Only inside await() and change().
  std::function<void(const Outcome&)> then;
};

TIDEMARK_ON_EACH_PLATFORM(ChannelTest);

TEST_P(ChannelTest, ConnectsWhenFirstNeededAndAgreesOnTheNewestCommonVersion) {
  startServer();
  open(at(), {.clientId = "me"});
  run([&] { EXPECT_FALSE(channel->connected()); });
  EXPECT_EQ(server->load().connections, 0);
  run([&] { sendHeartbeat("a"); });
  const Outcome outcome = only();
  EXPECT_EQ(outcome.error, ErrorCode::None);
  EXPECT_EQ(outcome.version, 4);
  run([&] {
    EXPECT_TRUE(channel->connected());
    ASSERT_NE(channel->peerApis(), nullptr);
    EXPECT_TRUE(channel->peerApis()->serves(ApiKey::Fetch, 18));
  });
  const auto connections = server->connections();
  ASSERT_EQ(connections.size(), 1u);
  EXPECT_EQ(connections[0].client->softwareName, "tidemark")
      << "the server knows version 4 only, which we fell back to";
  EXPECT_EQ(connections[0].client->clientId, "me");
}

TEST_P(ChannelTest, SendsAtOnceWithoutNegotiation) {
  startServer();
  open(at(), {.negotiate = false});
  run([&] {
    sendHeartbeat("fixed", {.version = 1});
    sendHeartbeat("capped", {.maxVersion = 3});
    sendHeartbeat("newest");
  });
  ASSERT_TRUE(await([&] { return outcomes.size() == 3; }));
  EXPECT_EQ(outcomes[0].version, 1);
  EXPECT_EQ(outcomes[1].version, 3);
  EXPECT_EQ(outcomes[2].version, 4);
  EXPECT_EQ(server->connections().at(0).requests, 3u);
}

TEST_P(ChannelTest, GivesAnswersInTheOrderOfTheRequests) {
  int16_t count = 0;
  script = [&](RequestPtr request) { answerHeartbeat(*request, count++); };
  startServer();
  open(at());
  run([&] {
    for (int i = 0; i < 100; ++i) sendHeartbeat(std::to_string(i));
    EXPECT_EQ(channel->pending(), 100u);
  });
  ASSERT_TRUE(await([&] { return outcomes.size() == 100; }));
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(outcomes[i].label, std::to_string(i));
    EXPECT_EQ(outcomes[i].answer, static_cast<int16_t>(i));
  }
  run([&] { EXPECT_EQ(channel->pending(), 0u); });
}

TEST_P(ChannelTest, RefusesWhatThePeerDoesNotServe) {
  startServer();
  open(at());
  bool refused = false;
  run([&] {
    sendHeartbeat("old", {.version = 9});
    channel->send(protocol::MetadataRequest(), {}, [&](Result<Received<protocol::MetadataResponse>> received) {
      ASSERT_FALSE(received.has_value());
      EXPECT_EQ(received.error().code, ErrorCode::UnsupportedVersion);
      stage->change([&] { refused = true; });
    });
    sendHeartbeat("good");
  });
  ASSERT_TRUE(await([&] { return outcomes.size() == 2 && refused; }));
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.error, outcome.label == "old" ? ErrorCode::UnsupportedVersion : ErrorCode::None);
  }
}

TEST_P(ChannelTest, TellsThatARequestWithoutAnswerWasWritten) {
  startServer();
  open(at());
  bool written = false;
  run([&] {
    channel->send(protocol::ProduceRequest(), {.expectResponse = false},
                  [&](Result<Received<protocol::ProduceResponse>> received) {
                    EXPECT_TRUE(received.has_value());
                    stage->change([&] { written = true; });
                  });
    sendHeartbeat("after");
  });
  takeParked()->noResponse();
  EXPECT_EQ(only().error, ErrorCode::None);
  EXPECT_TRUE(await([&] { return written; }));
}

TEST_P(ChannelTest, KeepsTheFrameForWhoeverKeepsIt) {
  startServer();
  open(at());
  network::FramePtr frame;
  ByteView records;
  run([&] {
    channel->send(protocol::FetchRequest(), {}, [&](Result<Received<protocol::FetchResponse>> received) {
      ASSERT_TRUE(received.has_value()) << received.error().message;
      const ByteView view = received->message.responses.at(0).partitions.at(0).records.view();
      stage->change([&] {
        frame = received->frame;
        records = view;
      });
    });
  });
  protocol::FetchResponse response;
  response.responses.push_back({.topicId = kMetadataTopicId});
  response.responses[0].partitions.push_back({.records = protocol::Records(ByteVector(2'000'000, 0x5a))});
  takeParked()->respond(response);
  ASSERT_TRUE(await([&] { return frame != nullptr; }));
  run([&] { channel.reset(); });
  ASSERT_EQ(records.size(), 2'000'000u);
  EXPECT_EQ(records[1'999'999], 0x5a);
  EXPECT_TRUE(records.data() > frame->bytes().data() && records.data() < frame->bytes().data() + frame->bytes().size());
}

TEST_P(ChannelTest, FailsWhatWaitsWhenNobodyListensAndBacksOffLongerEachTime) {
  startServer();
  const platform::Endpoint nobody{at().host, 1};
  open(nobody, {.reconnectBackoff = 10ms, .reconnectBackoffMax = 40ms});
  then = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.error, ErrorCode::NetworkException);
    if (outcomes.size() < 6) sendHeartbeat("again");
  };
  const auto begin = clientProcess->clock().monotonic();
  run([&] { sendHeartbeat("first"); });
  ASSERT_TRUE(await([&] { return outcomes.size() == 6; }));
  // The n-th failure follows the one before by the back-off, give or take 20 %, and the time a refusal takes. Real
  // threads may tell of one late and of the next in time: only what has passed altogether is sure.
  const int expected[] = {10, 20, 40, 40, 40};
  platform::Duration least{};
  for (size_t i = 1; i < 6; ++i) {
    least += std::chrono::milliseconds(expected[i - 1]) * 8 / 10;
    EXPECT_GE(outcomes[i].at - begin, least) << i;
    if (stage->isSimulated()) {
      const auto gap = outcomes[i].at - outcomes[i - 1].at;
      EXPECT_GE(gap, std::chrono::milliseconds(expected[i - 1]) * 8 / 10) << i;
      EXPECT_LE(gap, std::chrono::milliseconds(expected[i - 1]) * 12 / 10 + 2ms) << i;
    }
  }
}

TEST_P(ChannelTest, GivesTheConnectionUpWhenAnAnswerIsOverdue) {
  bool silent = false;
  script = [&](RequestPtr request) {
    bool keep = false;
    stage->change([&] { keep = silent; });
    if (!keep) return answerHeartbeat(*request);
    stage->change([&] { parked.push_back(std::move(request)); });
  };
  startServer();
  open(at(), {.requestTimeout = 10s});
  // Connected: what has not been sent yet is not lost with what is overdue.
  run([&] { sendHeartbeat("first"); });
  EXPECT_EQ(only().error, ErrorCode::None);
  stage->change([&] { silent = true; });
  run([&] {
    sendHeartbeat("overdue", {.timeout = 50ms});
    sendHeartbeat("behind");
  });
  ASSERT_TRUE(await([&] { return outcomes.size() == 2; }));
  EXPECT_EQ(outcomes[0].label, "overdue");
  EXPECT_EQ(outcomes[0].error, ErrorCode::RequestTimedOut);
  EXPECT_EQ(outcomes[1].label, "behind");
  EXPECT_EQ(outcomes[1].error, ErrorCode::NetworkException);
  stage->change([&] {
    silent = false;
    outcomes.clear();
    parked.clear();
  });
  run([&] { sendHeartbeat("later"); });
  EXPECT_EQ(only().error, ErrorCode::None) << "it connects again";
}

TEST_P(ChannelTest, FailsWhatIsPendingWhenThePeerDiesAndFindsItsSuccessor) {
  script = [&](RequestPtr request) { stage->change([&] { parked.push_back(std::move(request)); }); };
  startServer();
  const platform::Endpoint address = at();
  open(address);
  run([&] {
    sendHeartbeat("a");
    sendHeartbeat("b");
  });
  ASSERT_TRUE(await([&] { return !parked.empty(); }));
  serverProcess->kill("test");
  serverProcess->awaitStopped();
  ASSERT_TRUE(await([&] { return outcomes.size() == 2; }));
  EXPECT_EQ(outcomes[0].error, ErrorCode::NetworkException);
  EXPECT_EQ(outcomes[1].error, ErrorCode::NetworkException);
  stage->change([&] {
    parked.clear();
    outcomes.clear();
  });
  server.reset();
  script = nullptr;

  const auto successor = process("server");
  auto options = defaults();
  options.listeners[0].endpoint = address;
  server = std::make_unique<network::Server>(*successor, std::move(options), *this);
  ASSERT_TRUE(server->start().has_value());
  run([&] { sendHeartbeat("c"); });
  EXPECT_EQ(only().error, ErrorCode::None);
}

TEST_P(ChannelTest, FailsEverythingOnceClosed) {
  script = [&](RequestPtr request) { stage->change([&] { parked.push_back(std::move(request)); }); };
  startServer();
  open(at());
  run([&] { sendHeartbeat("pending"); });
  const RequestPtr request = takeParked();
  run([&] {
    channel->close();
    sendHeartbeat("late");
    EXPECT_TRUE(outcomes.empty()) << "never inside the call";
  });
  ASSERT_TRUE(await([&] { return outcomes.size() == 2; }));
  EXPECT_EQ(outcomes[0].error, ErrorCode::NetworkException);
  EXPECT_EQ(outcomes[1].error, ErrorCode::NetworkException);
  answerHeartbeat(*request);
}

TEST_P(ChannelTest, ForgetsItsHandlersWhenItIsDestroyed) {
  script = [&](RequestPtr request) { stage->change([&] { parked.push_back(std::move(request)); }); };
  startServer();
  open(at());
  run([&] { sendHeartbeat("a"); });
  const RequestPtr request = takeParked();
  run([&] {
    sendHeartbeat("b");
    channel.reset();
  });
  answerHeartbeat(*request);
  stage->pass(1min);
  run([&] {});
  stage->change([&] { EXPECT_TRUE(outcomes.empty()); });
}

TEST_P(ChannelTest, MayBeDestroyedInsideAHandler) {
  startServer();
  open(at());
  then = [&](const Outcome&) { channel.reset(); };
  run([&] {
    for (int i = 0; i < 5; ++i) sendHeartbeat(std::to_string(i));
  });
  ASSERT_TRUE(await([&] { return outcomes.size() == 1; }));
  run([&] {});
  stage->change([&] { EXPECT_EQ(outcomes.size(), 1u); });
}

TEST_P(ChannelTest, TrustsNoAnswer) {
  serverProcess = process("server");
  clientProcess = process("client");
  // A peer that answers each connection's first bytes with the next of these and nothing else.
  ByteVector huge(64, 0x7f);
  ByteVector zero(64, 0);
  ByteVector wrongId = framed(ByteVector(20, 0x01));
  ByteVector garbage = framed(ByteVector{0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff});
  ByteVector refusal = framed(ByteVector{0, 0, 0, 0, 0, 35, 0, 0, 0, 0});
  std::vector<ByteVector> answers = {huge, zero, wrongId, garbage, refusal + wrongId};
  const size_t total = answers.size();

  struct Liar {
    std::unique_ptr<platform::Acceptor> acceptor;
    std::vector<std::unique_ptr<platform::Connection>> connections;
    std::vector<ByteVector> answers;
    uint8_t buffer[1000];
    platform::Executor* executor = nullptr;

    void accept() {
      acceptor->accept(*executor, [this](Result<std::unique_ptr<platform::Connection>> connection) {
        connections.push_back(std::move(*connection));
        auto* each = connections.back().get();
        each->read(buffer, [this, each](Result<size_t>) {
          const ByteVector answer = answers.empty() ? ByteVector(1) : answers.front();
          if (!answers.empty()) answers.erase(answers.begin());
          each->write({SharedBytes(answer)}, [](Result<void>) {});
        });
        accept();
      });
    }
  };
  auto liarExecutor = serverProcess->createExecutor({.name = "liar", .threads = 1});
  Liar liar;
  liar.executor = liarExecutor.get();
  liar.answers = std::move(answers);
  auto acceptor = serverProcess->network().listen(*liarExecutor, {stage->isSimulated() ? "server" : "127.0.0.1", 0});
  ASSERT_TRUE(acceptor.has_value());
  liar.acceptor = std::move(*acceptor);
  const platform::Endpoint address = liar.acceptor->endpoint();
  liarExecutor->post([&] { liar.accept(); });

  open(address, {.reconnectBackoff = 1ms, .reconnectBackoffMax = 1ms});
  for (size_t i = 0; i < total; ++i) {
    run([&] { sendHeartbeat(std::to_string(i)); });
    EXPECT_EQ(only().error, ErrorCode::NetworkException) << i;
  }
  killAll();
  liar.connections.clear();
  liar.acceptor.reset();
}

}  // namespace
}  // namespace tidemark::test
