#include "sim/three_brokers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "client/consumer.h"
#include "client/producer.h"

namespace tidemark::sim {
namespace {

constexpr int kPartitionsOfTopic = 3;

/// What producer and consumer of one client process were told; of the lab's lock.
struct ClientView {
  std::set<std::string> acknowledged;
  std::set<std::string> consumed;
  std::vector<std::string> errors;
  int unanswered = 0;
};

/// A client's process with an idempotent producer and a consumer of topic "orders".
class ClientProcess {
 public:
  explicit ClientProcess(Lab& lab)
      : lab_(lab), process_(lab.createProcess("client")), executor_(process_->createExecutor({.name = "client"})) {}

  ~ClientProcess() {
    process_->kill("the test is over");
    process_->awaitStopped();
  }

  void begin(const std::string& bootstrap) {
    lab_.run(*executor_, [&] {
      client::ClientOptions options;
      const size_t colon = bootstrap.rfind(':');
      options.bootstrap = {{bootstrap.substr(0, colon), static_cast<uint16_t>(std::stoi(bootstrap.substr(colon + 1)))}};
      client_ = std::make_unique<client::Client>(*process_, executor_, std::move(options));
      producer_ = std::make_unique<client::Producer>(*client_, client::ProducerOptions{});
      consumer_ = std::make_unique<client::Consumer>(
          *client_, client::ConsumerOptions{},
          [this](const client::ConsumedRecord& consumed) {
            lab_.change([&] { seen_.consumed.emplace(asText(*consumed.record.value)); });
          },
          [this](const TopicPartition&, const Error& error) {
            lab_.change([&] { seen_.errors.push_back(error.message); });
          });
      std::vector<client::Consumer::Position> positions;
      for (int i = 0; i < kPartitionsOfTopic; ++i) positions.push_back({.where = {"orders", PartitionIndex(i)}});
      consumer_->assign(std::move(positions));
    });
  }

  void produce(int count) {
    lab_.run(*executor_, [&] {
      for (int i = 0; i < count; ++i) {
        std::string value = "record-" + std::to_string(next_++);
        lab_.change([&] { ++seen_.unanswered; });
        const ByteView bytes = asBytes(value);
        producer_->send(
            {.topic = "orders", .partition = i % kPartitionsOfTopic, .value = ByteVector(bytes.begin(), bytes.end())},
            [this, value](const Result<client::Delivered>& delivered) {
              lab_.change([&] {
                --seen_.unanswered;
                if (delivered) {
                  seen_.acknowledged.insert(value);
                } else {
                  seen_.errors.push_back(delivered.error().message);
                }
              });
            });
      }
    });
  }

  bool awaitAnswers() {
    return lab_.await([&] { return seen_.unanswered == 0; });
  }
  bool awaitConsumed() {
    return lab_.await([&] { return std::ranges::includes(seen_.consumed, seen_.acknowledged); });
  }
  const ClientView& seen() const { return seen_; }

 private:
  Lab& lab_;
  const std::shared_ptr<platform::Process> process_;
  const std::shared_ptr<platform::Executor> executor_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::Producer> producer_;
  std::unique_ptr<client::Consumer> consumer_;
  int next_ = 0;
  ClientView seen_;
};

bool isWhole(const observe::ClusterSnapshot& cluster) {
  const observe::TopicSnapshot* topic = observe::findTopic(cluster, "orders");
  return topic != nullptr && topic->partitions.size() == kPartitionsOfTopic &&
         std::ranges::all_of(topic->partitions,
                             [](const auto& each) { return each.isr.size() == 3 && each.leader != kNoNode; });
}

}  // namespace

void runThreeBrokers(Lab& lab, const ThreeBrokersOptions& how) {
  observe::LaunchOptions options;
  options.port = 0;
  options.settings = how.settings;
  options.firstTopic = observe::TopicOptions{.name = "orders",
                                             .partitions = kPartitionsOfTopic,
                                             .replicationFactor = 3,
                                             .configs = {{"min.insync.replicas", "2"}}};
  const auto launched = lab.perform([&](auto done) { lab.cluster().launch(options, std::move(done)); });
  ASSERT_TRUE(launched) << launched.error().message;
  std::string bootstrap;
  lab.perform([&](auto done) {
    lab.cluster().whenReady([&, done = std::move(done)](const cluster::Ready& ready) mutable {
      lab.change([&] { bootstrap = ready.bootstrap; });
      done({});
    });
  });

  ClientProcess application(lab);
  application.begin(bootstrap);
  application.produce(100);
  ASSERT_TRUE(application.awaitAnswers());
  ASSERT_TRUE(application.awaitConsumed());

  for (int round = 0; round < how.kills; ++round) {
    const TopicPartition partition{"orders", PartitionIndex(round % kPartitionsOfTopic)};
    const NodeId leader = lab.leaderOf(partition);
    ASSERT_NE(leader, kNoNode);
    const auto killed = lab.perform([&](auto done) { lab.cluster().killBroker(leader, std::move(done)); });
    ASSERT_TRUE(killed) << killed.error().message;
    application.produce(100);
    ASSERT_TRUE(application.awaitAnswers());
    ASSERT_TRUE(application.awaitConsumed());
    EXPECT_NE(lab.leaderOf(partition), leader);

    const auto restarted = lab.perform([&](auto done) { lab.cluster().restartBroker(leader, std::move(done)); });
    ASSERT_TRUE(restarted) << restarted.error().message;
    EXPECT_TRUE(lab.awaitCluster(isWhole)) << "an ISR is not full again";
    application.produce(100);
    ASSERT_TRUE(application.awaitAnswers());
    ASSERT_TRUE(application.awaitConsumed());
  }

  EXPECT_EQ(application.seen().acknowledged.size(), 100U + 200U * static_cast<size_t>(how.kills));
  EXPECT_EQ(application.seen().consumed, application.seen().acknowledged);
  EXPECT_THAT(application.seen().errors, testing::IsEmpty());
}

}  // namespace tidemark::sim
