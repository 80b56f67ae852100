#include "client/admin.h"

#include <gtest/gtest.h>

#include <optional>

#include "client/client_fixture.h"

namespace tidemark::test {
namespace {

using client::Admin;
using protocol::ApiKey;
using namespace std::chrono_literals;

class AdminTest : public ClientTest {
 protected:
  void release() override { admin.reset(); }

  void open() {
    start({.retryBackoff = 5ms, .retryBackoffMax = 20ms});
    run([&] { admin = std::make_unique<Admin>(*client, 20s); });
  }
  /// The result of a call that `begin` makes.
  template <class T>
  Result<T> call(const std::function<void(Admin::Handler<T>)>& begin) {
    std::optional<Result<T>> result;
    run([&] { begin([&](Result<T> got) { change([&] { result = std::move(got); }); }); });
    EXPECT_TRUE(await([&] { return result.has_value(); }));
    return *result;
  }

  std::unique_ptr<Admin> admin;
};

TIDEMARK_ON_EACH_PLATFORM(AdminTest);

TEST_P(AdminTest, CreatesListsDescribesAndDeletesTopics) {
  open();
  const auto id = call<Uuid>([&](auto done) { admin->createTopic({.name = "a", .partitions = 4}, std::move(done)); });
  ASSERT_TRUE(id.has_value()) << id.error().message;
  EXPECT_FALSE(id->isZero());
  const auto again =
      call<Uuid>([&](auto done) { admin->createTopic({.name = "a", .partitions = 4}, std::move(done)); });
  EXPECT_EQ(again.error().code, ErrorCode::TopicAlreadyExists);
  const auto names = call<std::vector<std::string>>([&](auto done) { admin->listTopics(std::move(done)); });
  EXPECT_EQ(*names, (std::vector<std::string>{"a"}));
  const auto topic = call<client::TopicDescription>([&](auto done) { admin->describeTopic("a", std::move(done)); });
  ASSERT_TRUE(topic.has_value());
  EXPECT_EQ(topic->id, *id);
  EXPECT_EQ(topic->partitions.size(), 4u);
  EXPECT_EQ(topic->partitions.at(1).leader, NodeId(2));
  EXPECT_TRUE(call<void>([&](auto done) { admin->deleteTopic("a", std::move(done)); }).has_value());
  EXPECT_EQ(call<void>([&](auto done) { admin->deleteTopic("a", std::move(done)); }).error().code,
            ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(call<client::TopicDescription>([&](auto done) { admin->describeTopic("a", std::move(done)); }).error().code,
            ErrorCode::UnknownTopicOrPartition)
      << "and is not created by asking";
}

TEST_P(AdminTest, WaitsForATopicOfWhichBrokersHearLater) {
  cluster.autoCreate = false;
  open();
  std::optional<Result<client::TopicDescription>> topic;
  run([&] { admin->awaitTopic("late", [&](auto got) { change([&] { topic = std::move(got); }); }); });
  EXPECT_TRUE(await([&] { return cluster.requests[ApiKey::Metadata] > 3; }));
  change([&] {
    EXPECT_FALSE(topic.has_value());
    cluster.createTopic("late", 2);
  });
  EXPECT_TRUE(await([&] { return topic.has_value(); }));
  ASSERT_TRUE(topic->has_value()) << topic->error().message;
  EXPECT_EQ((*topic)->partitions.size(), 2u);
}

TEST_P(AdminTest, AsksAgainWhileTheErrorIsOneThatPasses) {
  int refusals = 3;
  cluster.adminError = [&](ApiKey) { return refusals-- > 0 ? ErrorCode::NotController : ErrorCode::None; };
  open();
  EXPECT_TRUE(
      call<Uuid>([&](auto done) { admin->createTopic({.name = "a", .partitions = 1}, std::move(done)); }).has_value());
  change([&] {
    EXPECT_EQ(cluster.requests[ApiKey::CreateTopics], 4);
    refusals = 1 << 30;
  });
  // Each attempt has as long as all together, so the last one is answered as well.
  run([&] { admin = std::make_unique<Admin>(*client, stage->isSimulated() ? platform::Duration(50ms) : 1s); });
  EXPECT_EQ(
      call<Uuid>([&](auto done) { admin->createTopic({.name = "b", .partitions = 1}, std::move(done)); }).error().code,
      ErrorCode::NotController);
}

TEST_P(AdminTest, ListsOffsetsAtTheLeaderWhereverItIsNow) {
  cluster.createTopic("t", 1);
  cluster.at("t", 0).end = Offset(42);
  open();
  const TopicPartition where{"t", PartitionIndex(0)};
  auto latest = [&] {
    return call<client::ListedOffset>(
        [&](auto done) { admin->listOffset(where, client::kLatestTimestamp, std::move(done)); });
  };
  auto first = latest();
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->offset, Offset(42));
  change([&] { cluster.elect("t", 0, 2); });
  auto second = latest();
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(second->leaderEpoch, LeaderEpoch(1));
}

TEST_P(AdminTest, RefusesWhatNoBrokerServes) {
  open();
  EXPECT_EQ(call<client::ClusterDescription>([&](auto done) { admin->describeCluster(std::move(done)); }).error().code,
            ErrorCode::UnsupportedVersion);
}

TEST_P(AdminTest, FindsABrokerAmongAddressesOfWhichMostAreDead) {
  cluster.createTopic("t", 1);
  cluster.start([this](const std::string& name) { return process(name); });
  clientProcess = process("client");
  executor = clientProcess->createExecutor({.name = "client", .threads = 1});
  client::ClientOptions options{.retryBackoff = 5ms, .retryBackoffMax = 20ms};
  const std::string host = cluster.bootstrap()[0].host;
  options.bootstrap = {{host, 1}, {host, 2}, cluster.bootstrap()[0]};
  run([&] {
    client = std::make_unique<client::Client>(*clientProcess, executor, options);
    admin = std::make_unique<Admin>(*client, 10s);
  });
  const auto names = call<std::vector<std::string>>([&](auto done) { admin->listTopics(std::move(done)); });
  ASSERT_TRUE(names.has_value()) << names.error().message;
  EXPECT_EQ(*names, (std::vector<std::string>{"t"}));
}

}  // namespace
}  // namespace tidemark::test
