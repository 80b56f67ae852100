#include "broker/broker_fixture.h"

#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "records/batch_builder.h"

namespace tidemark::broker {

class BrokerTest::LabStage final : public test::Stage {
 public:
  explicit LabStage(sim::SimulatedLab& lab) : lab_(lab) {}
  std::shared_ptr<platform::Process> createProcess(const std::string& name) override {
    return lab_.createProcess(name);
  }
  void change(const std::function<void()>& action) override { action(); }
  bool await(const std::function<bool()>& predicate) override {
    return lab_.world().runUntil(predicate, std::chrono::minutes(2));
  }
  void pass(platform::Duration duration) override { lab_.world().runFor(duration); }
  bool isSimulated() const override { return true; }

 private:
  sim::SimulatedLab& lab_;
};

BrokerTest::BrokerTest(int logDirectories)
    : stage_(std::make_unique<LabStage>(lab_)), client_(lab_.createProcess("client")) {
  const auto launched = lab_.perform([&](auto done) {
    lab_.cluster().launch(
        {.brokers = 3, .dataFolder = "/lab", .logDirectories = logDirectories, .firstTopic = {}, .settings = {}},
        std::move(done));
  });
  EXPECT_TRUE(launched) << launched.error().message;
}

BrokerTest::~BrokerTest() {
  kept_.clear();
  client_->kill("the test is over");
  client_->awaitStopped();
}

void BrokerTest::createTopic(const std::string& name, int partitions, int replicas) {
  const auto created = lab_.perform([&](auto done) {
    lab_.cluster().createTopic({.name = name, .partitions = partitions, .replicationFactor = replicas, .configs = {}},
                               std::move(done));
  });
  ASSERT_TRUE(created) << created.error().message;
}

int BrokerTest::leaderOf(const std::string& topic, int partition) {
  return lab_.leaderOf({topic, PartitionIndex(partition)}).value();
}

Uuid BrokerTest::topicId(const std::string& name) {
  const metadata::TopicImage* topic = node(1).broker()->image()->topics.find(name);
  return topic != nullptr ? topic->id : Uuid();
}

int BrokerTest::activeController() {
  for (int id = 1; id <= 3; ++id)
    if (node(id).controller()->driver().status().active) return id;
  ADD_FAILURE() << "no controller is active";
  return 1;
}

std::optional<ByteVector> BrokerTest::exchange(platform::Endpoint at, ByteVector bytes) {
  auto peer = std::make_unique<test::Peer>(*stage_, *client_, std::move(at));
  peer->send(std::move(bytes));
  EXPECT_TRUE(await([&] { return peer->closed() || !peer->frames().empty(); }));
  const auto frames = peer->frames();
  if (keeps_) kept_.push_back(std::move(peer));
  return frames.empty() ? std::nullopt : std::optional(frames.front());
}

void BrokerTest::closeConnections() {
  kept_.clear();
  lab_.world().runFor(std::chrono::milliseconds(100));
}

ByteVector BrokerTest::batch(std::initializer_list<std::string_view> values, int64_t timestampMs) {
  records::BatchBuilder builder;
  for (std::string_view value : values) builder.append(timestampMs, std::nullopt, asBytes(value));
  return builder.build();
}

int64_t BrokerTest::produce(const std::string& topic, int partition, std::initializer_list<std::string_view> values,
                            int64_t timestampMs) {
  protocol::ProduceRequest request{.acks = -1, .timeoutMs = 10000};
  auto& data = request.topicData.emplace_back();
  data.name = topic;
  data.partitionData.push_back({.index = partition, .records = protocol::Records(batch(values, timestampMs))});
  const auto answer = ask(leaderOf(topic, partition), request, 12);
  const auto& written = answer.responses.at(0).partitionResponses.at(0);
  EXPECT_EQ(code(written.errorCode), ErrorCode::None);
  return written.baseOffset;
}

}  // namespace tidemark::broker
