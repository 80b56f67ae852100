// What faults of requests do to clients, on a real broker and in the simulator.
#include <gmock/gmock.h>

#include <optional>

#include "faults/fault_json.h"
#include "network/channel_codec.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "sim/lab.h"

namespace tidemark::faults {
namespace {

using std::chrono::seconds;

class RequestFaultsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    observe::LaunchOptions options;
    options.brokers = 1;
    options.port = 0;
    options.firstTopic =
        observe::TopicOptions{.name = "orders", .partitions = 1, .replicationFactor = 1, .configs = {}};
    const auto launched = lab_->perform([&](auto done) { lab_->cluster().launch(options, std::move(done)); });
    ASSERT_TRUE(launched) << launched.error().message;
    uint16_t port = 0;
    ASSERT_TRUE(lab_->perform([&](auto done) {
      lab_->cluster().whenReady([&, done = std::move(done)](const cluster::Ready& ready) mutable {
        lab_->change([&] { port = ready.port; });
        done({});
      });
    }));
    for (const char* name : {"billing", "shop"})
      lab_->run(*executor_, [&] {
        network::ChannelOptions named;
        named.clientId = name;
        channels_[name] =
            std::make_unique<network::Channel>(*process_, executor_, platform::Endpoint{"127.0.0.1", port}, named);
      });
    ASSERT_EQ(ask(), "NONE");
    ASSERT_EQ(ask("shop"), "NONE");
  }
  ~RequestFaultsTest() override {
    process_->kill("the test is over");
    process_->awaitStopped();
  }

  int set(std::string_view json) {
    auto fault = parseFault(json);
    EXPECT_TRUE(fault) << fault.error().message;
    std::optional<Result<int>> answer;
    lab_->cluster().setFault(*fault, [&](Result<int> id) { lab_->change([&] { answer = std::move(id); }); });
    EXPECT_TRUE(lab_->await([&] { return answer.has_value(); }));
    EXPECT_TRUE(*answer) << answer->error().message;
    return answer->value_or(0);
  }
  void heal(int id) { EXPECT_TRUE(lab_->heal(id)); }

  /// The name of the error that the end of orders-0 is answered with, or of that with which the channel gave up.
  std::string ask(const std::string& client = "billing", Duration timeout = seconds(20)) {
    std::optional<std::string> answer;
    executor_->post([&] {
      protocol::ListOffsetsRequest request;
      request.replicaId = -1;
      auto& topic = request.topics.emplace_back();
      topic.name = protocol::Text("orders");
      topic.partitions.push_back({.partitionIndex = 0, .currentLeaderEpoch = -1, .timestamp = -1});
      channels_[client]->send(
          std::move(request), {.timeout = timeout}, [&](Result<network::Received<protocol::ListOffsetsResponse>> got) {
            lab_->change([&] {
              answer = std::string(
                  errorName(got ? static_cast<ErrorCode>(got->message.topics.at(0).partitions.at(0).errorCode)
                                : got.error().code));
            });
          });
    });
    EXPECT_TRUE(lab_->await([&] { return answer.has_value(); }));
    return answer.value_or("");
  }

  const std::unique_ptr<sim::Lab> lab_ = GetParam()
                                             ? std::unique_ptr<sim::Lab>(std::make_unique<sim::NativeLab>())
                                             : std::make_unique<sim::SimulatedLab>(platform::WorldOptions{.seed = 3});
  const std::shared_ptr<platform::Process> process_ = lab_->createProcess("client");
  const std::shared_ptr<platform::Executor> executor_ = process_->createExecutor({.name = "client"});
  std::map<std::string, std::unique_ptr<network::Channel>> channels_;
};

TEST_P(RequestFaultsTest, AnErrorIsToldInTheApisOwnPlace) {
  set(R"({"kind":"request-error","api":"ListOffsets","error":"NOT_LEADER_OR_FOLLOWER","topic":"orders","partition":0,"trigger":{"nth":2}})");
  EXPECT_EQ(ask(), "NONE");
  EXPECT_EQ(ask(), "NOT_LEADER_OR_FOLLOWER");
  EXPECT_EQ(ask(), "NONE");
}

TEST_P(RequestFaultsTest, OthersAreNotMet) {
  set(R"({"kind":"request-error","api":"ListOffsets","error":"NOT_LEADER_OR_FOLLOWER","target":"clients named billing"})");
  set(R"({"kind":"request-error","api":"ListOffsets","error":"BROKER_NOT_AVAILABLE","topic":"payments"})");
  set(R"({"kind":"request-error","api":"ListOffsets","error":"BROKER_NOT_AVAILABLE","topic":"orders","partition":1})");
  set(R"({"kind":"request-error","api":"Produce","error":"BROKER_NOT_AVAILABLE"})");
  EXPECT_EQ(ask("shop"), "NONE");
  EXPECT_EQ(ask("billing"), "NOT_LEADER_OR_FOLLOWER");
}

TEST_P(RequestFaultsTest, ADelayedRequestIsHandledLater) {
  const int id = set(R"({"kind":"request-delay","api":"ListOffsets","delayMs":200})");
  const MonotonicTime begun = process_->clock().monotonic();
  EXPECT_EQ(ask(), "NONE");
  EXPECT_GE(process_->clock().monotonic() - begun, milliseconds(200));
  heal(id);
  EXPECT_EQ(ask(), "NONE");
}

TEST_P(RequestFaultsTest, ADroppedRequestIsNeverAnswered) {
  const int id = set(R"({"kind":"request-drop","api":"ListOffsets","target":"clients named billing"})");
  EXPECT_EQ(ask("billing", milliseconds(100)), "REQUEST_TIMED_OUT");
  EXPECT_EQ(ask("shop"), "NONE");
  heal(id);
  EXPECT_EQ(ask(), "NONE");
}

TEST_P(RequestFaultsTest, WhenADropIsOverItsConnectionsAreClosed) {
  set(R"({"kind":"request-drop","api":"ListOffsets","durationMs":1500})");
  EXPECT_EQ(ask(), "NETWORK_EXCEPTION");
  EXPECT_EQ(ask(), "NONE");
}

TEST_P(RequestFaultsTest, ADisconnectedClientComesBack) {
  set(R"({"kind":"request-disconnect","api":"ListOffsets","trigger":{"every":2}})");
  EXPECT_EQ(ask(), "NONE");
  EXPECT_EQ(ask(), "NETWORK_EXCEPTION");
  EXPECT_EQ(ask(), "NONE");
}

INSTANTIATE_TEST_SUITE_P(Platforms, RequestFaultsTest, testing::Values(true, false),
                         [](const auto& which) { return which.param ? "Native" : "Simulated"; });

}  // namespace
}  // namespace tidemark::faults
