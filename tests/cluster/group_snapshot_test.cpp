#include "cluster/cluster_fixture.h"

#include <algorithm>

#include "client/client.h"
#include "client/group_admin.h"
#include "client/group_consumer.h"
#include "client/producer.h"

// Groups as a window sees them, and what it changes of them.

namespace tidemark::cluster {
namespace {

using namespace std::chrono_literals;

class GroupSnapshots : public ClusterTest {
 protected:
  ~GroupSnapshots() override {
    if (executor_ == nullptr) return;
    lab_.run(*executor_, [&] {
      consumer_.reset();
      producer_.reset();
      client_.reset();
    });
  }

  void start() {
    auto launched = options(1);
    launched.settings = {{"group.initial.rebalance.delay.ms", "100"}};
    ASSERT_LAUNCHED(launched);
    ASSERT_TRUE(createTopic("orders", 2));
    lab_.cluster().onChange([] {});
    process_ = lab_.createProcess("application");
    executor_ = process_->createExecutor({.name = "application", .threads = 1});
    const std::string bootstrap = ready().bootstrap;
    const size_t colon = bootstrap.rfind(':');
    lab_.run(*executor_, [&] {
      client::ClientOptions to;
      to.clientId = "c-1";
      to.bootstrap = {{bootstrap.substr(0, colon), static_cast<uint16_t>(std::stoi(bootstrap.substr(colon + 1)))}};
      client_ = std::make_unique<client::Client>(*process_, executor_, std::move(to));
      producer_ = std::make_unique<client::Producer>(*client_, client::ProducerOptions{});
    });
  }
  void join() {
    lab_.run(*executor_, [&] {
      client::GroupOptions options{.groupId = "billing", .topics = {"orders"}};
      options.autoCommitInterval = 0s;
      consumer_ =
          std::make_unique<client::GroupConsumer>(*client_, std::move(options), [](const client::ConsumedRecord&) {});
    });
  }
  void produce(int records) {
    int left = records;
    lab_.run(*executor_, [&] {
      for (int i = 0; i < records; ++i)
        producer_->send({.topic = "orders", .partition = 0, .value = ByteVector(8)},
                        [&](auto) { lab_.change([&] { --left; }); });
    });
    ASSERT_TRUE(lab_.await([&] { return left == 0; }));
  }
  const observe::GroupSnapshot* find(const observe::ClusterSnapshot& in) {
    const auto found = std::ranges::find(in.groups, "billing", &observe::GroupSnapshot::id);
    return found == in.groups.end() ? nullptr : &*found;
  }
  bool awaitGroup(const std::function<bool(const observe::GroupSnapshot&)>& holds) {
    return lab_.awaitCluster([&](const observe::ClusterSnapshot& now) {
      const observe::GroupSnapshot* group = find(now);
      return group != nullptr && holds(*group);
    });
  }
  Result<void> edit(std::vector<observe::OffsetEdit> edits) {
    return lab_.perform([&](auto done) {
      lab_.cluster().editOffsets("billing", events::GroupKind::Classic, std::move(edits), std::move(done));
    });
  }

  std::shared_ptr<platform::Process> process_;
  std::shared_ptr<platform::Executor> executor_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::Producer> producer_;
  std::unique_ptr<client::GroupConsumer> consumer_;
};

TEST_F(GroupSnapshots, TellMembersAndLagInRecordsAndSeconds) {
  start();
  produce(5);
  join();
  ASSERT_TRUE(awaitGroup([](const observe::GroupSnapshot& group) {
    return group.state == "Stable" && group.members.size() == 1 && group.members[0].assigned.size() == 2;
  }));
  EXPECT_TRUE(awaitGroup([](const observe::GroupSnapshot& group) {
    return group.coordinator == NodeId(1) && group.members[0].clientId == "c-1" &&
           group.members[0].software.starts_with("tidemark") && !group.members[0].host.empty();
  }));
  // Nothing is committed yet; then all but two.
  lab_.run(*executor_, [&] { consumer_->commit([](const Result<void>&) {}); });
  produce(2);
  ASSERT_TRUE(awaitGroup([](const observe::GroupSnapshot& group) {
    return group.lag() == 2 && !group.partitions.empty() && group.partitions[0].firstPending.has_value();
  }));
  const observe::SnapshotPtr now = lab_.cluster().snapshot();
  const observe::GroupPartitionSnapshot& first = find(*now)->partitions[0];
  EXPECT_EQ(first.committed, Offset(5));
  EXPECT_EQ(first.highWatermark, Offset(7));
  EXPECT_LE(*first.firstPending, now->wall);
}

TEST_F(GroupSnapshots, OffsetsAreEditedOnlyWithoutMembers) {
  start();
  produce(5);
  const TopicPartition orders{"orders", PartitionIndex(0)};
  std::optional<Result<std::vector<observe::OffsetEdit>>> planned;
  lab_.cluster().planOffsets(
      {.group = "billing", .kind = observe::OffsetResetRequest::Kind::Offset, .value = 3, .partitions = {orders}},
      [&](auto result) { lab_.change([&] { planned = std::move(result); }); });
  ASSERT_TRUE(lab_.await([&] { return planned.has_value(); }));
  ASSERT_TRUE(planned->has_value()) << planned->error().message;
  ASSERT_EQ((*planned)->size(), 1u);
  EXPECT_EQ((**planned)[0].to, Offset(3));
  EXPECT_FALSE((**planned)[0].from) << "nothing is committed, and a plan commits nothing";
  ASSERT_TRUE(edit(**planned));
  EXPECT_TRUE(awaitGroup([](const observe::GroupSnapshot& group) {
    return group.lag() == 2 && group.partitions[0].committed == Offset(3);
  }));
  join();
  ASSERT_TRUE(awaitGroup([](const observe::GroupSnapshot& group) { return group.state == "Stable"; }));
  const auto refused = edit(**planned);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("has members"), std::string::npos) << refused.error().message;
  EXPECT_EQ(lab_.perform([&](auto done) { lab_.cluster().deleteGroup("billing", std::move(done)); }).error().code,
            ErrorCode::NonEmptyGroup);
}

}  // namespace
}  // namespace tidemark::cluster
