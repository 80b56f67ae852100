#include "metadata/controller/controller_driver.h"

#include <gmock/gmock.h>

#include "events/recorder.h"
#include "metadata/controller/error_response.h"
#include "metadata/controller_fixture.h"
#include "metadata/loader.h"
#include "metadata/log_files.h"
#include "platform/simulated/world.h"
#include "protocol/api.h"
#include "protocol/message.h"

namespace tidemark::metadata {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::codeOf;

/// A quorum in one object: appends go to a log, which the test commits when it wants (or after a delay by itself).
class FakeQuorum final : public RaftAppender {
 public:
  Result<Offset> append(LeaderEpoch epoch, std::vector<ByteVector> records) override {
    if (epoch != leading) return fail(ErrorCode::NotController, "it does not lead");
    batches.push_back({Offset(end), epoch, std::move(records)});
    end += static_cast<int64_t>(batches.back().records.size());
    if (onAppend) onAppend();
    return Offset(end - 1);
  }
  Result<Offset> nextAppendOffset(LeaderEpoch epoch) const override {
    if (epoch != leading) return fail(ErrorCode::NotController, "it does not lead");
    return Offset(end);
  }
  void resign(LeaderEpoch) override { leading = kNoLeaderEpoch; }

  struct Batch {
    Offset base;
    LeaderEpoch epoch;
    std::vector<ByteVector> records;
  };
  std::vector<Batch> batches;
  size_t committed = 0;
  int64_t end = 0;
  LeaderEpoch leading = kNoLeaderEpoch;
  std::function<void()> onAppend;
};

class Driver : public testing::Test {
 protected:
  Driver() {
    settings_.nodeId = NodeId(1);
    settings_.clusterId = "the-cluster";
    settings_.sessionTimeout = seconds(9);
    settings_.maxIdle = milliseconds(0);
    quorum_.onAppend = [this] {
      if (autoCommit_) world_.after(milliseconds(2), [this] { commitAll(); });
    };
  }
  void start() {
    driver_ = std::make_unique<ControllerDriver>(ControllerDriver::Setup{.settings = settings_,
                                                                         .appender = &quorum_,
                                                                         .process = process_.get(),
                                                                         .executor = executor_,
                                                                         .recorder = &recorder_,
                                                                         .bootstrap = bootstrapRecords(),
                                                                         .verifyImages = true});
    loader_->addPublisher(*driver_);
  }
  void lead(int epoch) {
    quorum_.leading = LeaderEpoch(epoch);
    loader_->onLeaderChange({NodeId(1), LeaderEpoch(epoch)});
    settle();
  }
  void loseLeadership(int epoch) {
    quorum_.leading = kNoLeaderEpoch;
    loader_->onLeaderChange({NodeId(2), LeaderEpoch(epoch)});
    settle();
  }
  void commitAll() {
    for (; quorum_.committed < quorum_.batches.size(); ++quorum_.committed) {
      const FakeQuorum::Batch& batch = quorum_.batches[quorum_.committed];
      const raft::CommittedBatch committed = test::batchOf(batch.base, batch.epoch, batch.records);
      loader_->onCommit(std::span(&committed, 1));
    }
  }
  /// What was appended and never committed is gone.
  void truncate() {
    quorum_.batches.resize(quorum_.committed);
    quorum_.end = quorum_.batches.empty() ? 0
                                          : quorum_.batches.back().base.value() +
                                                static_cast<int64_t>(quorum_.batches.back().records.size());
  }
  void settle() { world_.runFor(milliseconds(20)); }

  template <class Request>
  std::shared_ptr<std::optional<Result<typename Request::Response>>> send(const Request& request,
                                                                          int16_t version = Request::kMaxVersion) {
    auto answer = std::make_shared<std::optional<Result<typename Request::Response>>>();
    driver_->submit(request, version,
                    [answer](Result<typename Request::Response> response) { *answer = std::move(response); });
    return answer;
  }
  template <class Request>
  typename Request::Response ask(const Request& request) {
    const auto answer = send(request);
    settle();
    EXPECT_TRUE(*answer && **answer) << (*answer ? (**answer).error().message : "no answer");
    return *answer && **answer ? std::move(***answer) : typename Request::Response();
  }
  int64_t startBroker(int id) {
    const int64_t epoch = ask(requests_.registration(id)).brokerEpoch;
    EXPECT_FALSE(ask(heartbeat(id, epoch)).isFenced);
    return epoch;
  }
  protocol::BrokerHeartbeatRequest heartbeat(int id, int64_t epoch) {
    return {.brokerId = id,
            .brokerEpoch = epoch,
            .currentMetadataOffset = loader_->image()->provenance.lastContainedOffset.value()};
  }
  static protocol::CreateTopicsRequest creation(const std::string& name) {
    protocol::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.numPartitions = 1;
    topic.replicationFactor = 1;
    return request;
  }
  const Image& image() { return *loader_->image(); }

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("controller");
  std::shared_ptr<platform::Executor> executor_ = process_->createExecutor({.name = "controller"});
  events::Recorder recorder_{process_->clock(), NodeId(1)};
  ControllerSettings settings_;
  FakeQuorum quorum_;
  bool autoCommit_ = true;
  std::unique_ptr<Loader> loader_ = test::makeLoader();
  std::unique_ptr<ControllerDriver> driver_;
  test::ControllerFixture requests_;
};

TEST_F(Driver, ActivationOnAnEmptyLogWritesTheBootstrapRecordsInATransaction) {
  start();
  EXPECT_FALSE(driver_->status().active);
  lead(1);
  EXPECT_TRUE(driver_->status().active);
  EXPECT_EQ(image().features.metadataVersion(), kLatestMetadataVersion);
  ASSERT_EQ(quorum_.batches.size(), 1u);
  EXPECT_EQ(recordName(*decodeRecord(quorum_.batches[0].records.front())), "BeginTransactionRecord");
  EXPECT_EQ(recordName(*decodeRecord(quorum_.batches[0].records.back())), "EndTransactionRecord");
  loseLeadership(2);
  lead(3);
  EXPECT_EQ(quorum_.batches.size(), 1u);
}

TEST_F(Driver, AnswersWaitForTheCommit) {
  start();
  lead(1);
  startBroker(1);
  autoCommit_ = false;
  const auto created = send(creation("a"));
  const auto again = send(creation("a"));  // refused because of a topic that is not committed yet
  settle();
  EXPECT_FALSE(*created);
  EXPECT_FALSE(*again);
  EXPECT_EQ(driver_->status().pending, 2u);
  commitAll();
  settle();
  ASSERT_TRUE(*created);
  EXPECT_EQ(codeOf((**created)->topics[0].errorCode), ErrorCode::None);
  ASSERT_TRUE(*again);
  EXPECT_EQ(codeOf((**again)->topics[0].errorCode), ErrorCode::TopicAlreadyExists);
  EXPECT_TRUE(image().topics.find("a"));
}

TEST_F(Driver, AStandbySendsEverybodyAway) {
  start();
  const auto answer = send(creation("a"));
  settle();
  ASSERT_TRUE(*answer);
  EXPECT_EQ((*answer)->error().code, ErrorCode::NotController);
  const auto response = errorResponse(creation("a"), (*answer)->error(), 7);
  EXPECT_EQ(codeOf(response.topics.at(0).errorCode), ErrorCode::NotController);
}

template <class Request>
void expectSayable(const Request& request) {
  for (int16_t version = Request::kMinVersion; version <= Request::kMaxVersion; ++version) {
    const auto response = errorResponse(request, {ErrorCode::NotController, "not here"}, version);
    EXPECT_TRUE(protocol::encode(response, version)) << protocol::apiName(Request::kApiKey) << " " << version;
  }
}

TEST(ErrorResponse, CanBeSaidInEveryVersionOfEveryRequest) {
  expectSayable(protocol::BrokerRegistrationRequest());
  expectSayable(protocol::BrokerHeartbeatRequest());
  expectSayable(protocol::UnregisterBrokerRequest());
  expectSayable(protocol::ControllerRegistrationRequest());
  expectSayable(protocol::UnregisterControllerRequest());
  protocol::CreateTopicsRequest create;
  create.topics.push_back({.name = "a"});
  expectSayable(create);
  protocol::DeleteTopicsRequest remove;
  remove.topicNames = {"a"};
  expectSayable(remove);
  protocol::CreatePartitionsRequest grow;
  grow.topics.push_back({.name = "a"});
  expectSayable(grow);
  expectSayable(protocol::AlterPartitionRequest());
  expectSayable(protocol::AssignReplicasToDirsRequest());
  protocol::AlterConfigsRequest alter;
  alter.resources.push_back({.resourceType = 2, .resourceName = "a"});
  expectSayable(alter);
  protocol::IncrementalAlterConfigsRequest incremental;
  incremental.resources.push_back({.resourceType = 2, .resourceName = "a"});
  expectSayable(incremental);
  expectSayable(protocol::UpdateFeaturesRequest());
  expectSayable(protocol::AllocateProducerIdsRequest());
  protocol::ElectLeadersRequest elect;
  elect.topicPartitions.emplace();
  elect.topicPartitions->push_back({.topic = "a", .partitions = {0, 1}});
  expectSayable(elect);
  const auto first = errorResponse(elect, {ErrorCode::NotController, "not here"}, 0);
  EXPECT_EQ(codeOf(first.replicaElectionResults.at(0).partitionResult.at(1).errorCode), ErrorCode::NotController);
  EXPECT_EQ(codeOf(errorResponse(elect, {ErrorCode::NotController, "not here"}, 2).errorCode),
            ErrorCode::NotController);
}

TEST_F(Driver, LosingLeadershipFailsWhatIsPendingAndForgetsWhatWasNotCommitted) {
  start();
  lead(1);
  startBroker(1);
  autoCommit_ = false;
  const auto answer = send(creation("a"));
  settle();
  EXPECT_FALSE(*answer);
  loseLeadership(2);
  ASSERT_TRUE(*answer);
  EXPECT_EQ((*answer)->error().code, ErrorCode::NotController);
  EXPECT_FALSE(driver_->status().active);
  truncate();
  autoCommit_ = true;
  lead(3);
  EXPECT_EQ(codeOf(ask(creation("a")).topics.at(0).errorCode), ErrorCode::None);
  EXPECT_TRUE(image().topics.find("a"));
}

TEST_F(Driver, AnAppendThatIsRefusedEndsItsTerm) {
  start();
  lead(1);
  startBroker(1);
  quorum_.leading = LeaderEpoch(5);  // the quorum knows already, the controller does not
  const auto answer = send(creation("a"));
  settle();
  ASSERT_TRUE(*answer);
  EXPECT_EQ((*answer)->error().code, ErrorCode::NotController);
  EXPECT_FALSE(driver_->status().active);
}

TEST_F(Driver, SilentBrokersAreFencedExactlyWhenTheirSessionEnds) {
  start();
  lead(1);
  const int64_t first = startBroker(1);
  startBroker(2);
  const auto begin = world_.now();
  world_.runFor(seconds(8));
  ask(heartbeat(1, first));
  EXPECT_TRUE(image().cluster.isActive(NodeId(2)));
  EXPECT_TRUE(world_.runUntil([&] { return !image().cluster.isActive(NodeId(2)); }, seconds(2)));
  EXPECT_LE(world_.now() - begin, seconds(9) + milliseconds(5));
  EXPECT_GE(world_.now() - begin, seconds(9) - milliseconds(50));
  EXPECT_TRUE(image().cluster.isActive(NodeId(1)));
  world_.runFor(seconds(20));
  EXPECT_FALSE(image().cluster.isActive(NodeId(1)));
}

TEST_F(Driver, NothingTicksWhileNothingIsDue) {
  start();
  lead(1);
  settle();
  const uint64_t before = process_->tasksRun();
  world_.runFor(std::chrono::hours(1));
  EXPECT_EQ(process_->tasksRun(), before);
}

TEST_F(Driver, AnIdleLogGetsANoOpRecordAndABusyOneNone) {
  settings_.maxIdle = milliseconds(500);
  start();
  lead(1);
  const size_t before = quorum_.batches.size();
  world_.runFor(milliseconds(2600));
  EXPECT_EQ(quorum_.batches.size(), before + 5);
  EXPECT_EQ(recordName(*decodeRecord(quorum_.batches.back().records.front())), "NoOpRecord");
  startBroker(1);
  const size_t busy = quorum_.batches.size();
  for (int i = 0; i < 10; ++i) {
    world_.runFor(milliseconds(180));
    ask(creation("t" + std::to_string(i)));
  }
  EXPECT_EQ(quorum_.batches.size(), busy + 10);
}

TEST_F(Driver, ATransactionLeftOpenIsAborted) {
  start();
  lead(1);
  startBroker(1);
  autoCommit_ = false;
  // What a predecessor might have written before it died.
  ASSERT_TRUE(quorum_.append(LeaderEpoch(1),
                             *encodeRecords({{protocol::BeginTransactionRecord()},
                                             {protocol::TopicRecord{.name = "half", .topicId = test::uuid(9)}}})));
  commitAll();
  settle();
  loseLeadership(2);
  autoCommit_ = true;
  lead(3);
  EXPECT_EQ(recordName(*decodeRecord(quorum_.batches.back().records.front())), "AbortTransactionRecord");
  EXPECT_FALSE(image().topics.find("half"));
  EXPECT_EQ(codeOf(ask(creation("whole")).topics.at(0).errorCode), ErrorCode::None);
}

TEST_F(Driver, AllowingUncleanElectionElectsAtOnce) {
  start();
  lead(1);
  const int64_t first = startBroker(1);
  const int64_t second = startBroker(2);
  auto request = creation("t");
  request.topics[0].numPartitions = -1;
  request.topics[0].replicationFactor = -1;
  request.topics[0].assignments.push_back({.partitionIndex = 0, .brokerIds = {1, 2}});
  ask(request);
  auto stop = heartbeat(1, first);
  stop.wantFence = true;
  ask(stop);
  stop = heartbeat(2, second);
  stop.wantFence = true;
  ask(stop);
  ask(heartbeat(1, first));
  const auto leader = [&] { return image().topics.partition("t", PartitionIndex(0))->leader; };
  EXPECT_EQ(leader(), kNoNode);
  protocol::IncrementalAlterConfigsRequest alter;
  auto& resource = alter.resources.emplace_back();
  resource.resourceType = static_cast<int8_t>(config::ResourceType::Topic);
  resource.resourceName = "t";
  auto& config = resource.configs.emplace_back();
  config.name = "unclean.leader.election.enable";
  config.value = protocol::Text("true");
  ask(alter);
  EXPECT_EQ(leader(), NodeId(1));
}

TEST_F(Driver, EventsTellWhatItDid) {
  recorder_.want(events::Kinds::all());
  start();
  lead(1);
  startBroker(1);
  world_.runFor(seconds(10));
  std::vector<events::Event> seen;
  recorder_.drain(seen);
  std::vector<std::string_view> names;
  for (const events::Event& event : seen) names.push_back(events::nameOf(event.payload));
  EXPECT_THAT(names, testing::ElementsAre("ControllerActivated", "ConfigChanged", "BrokerRegistered", "BrokerUnfenced",
                                          "BrokerFenced"));
}

TEST_F(Driver, EventsTellOfTopicsAndLeadersOnceTheyAreCommitted) {
  start();
  lead(1);
  const int64_t first = startBroker(1);
  startBroker(2);
  recorder_.want(events::Kinds::all());
  autoCommit_ = false;
  auto request = creation("t");
  request.topics[0].numPartitions = -1;
  request.topics[0].replicationFactor = -1;
  request.topics[0].assignments.push_back({.partitionIndex = 0, .brokerIds = {1, 2}});
  const auto answer = send(request);
  settle();
  std::vector<events::Event> seen;
  recorder_.drain(seen);
  EXPECT_TRUE(seen.empty()) << "appended is not yet decided";
  autoCommit_ = true;
  commitAll();
  settle();
  auto stop = heartbeat(1, first);
  stop.wantFence = true;
  ask(stop);
  protocol::DeleteTopicsRequest deletion;
  deletion.topics.push_back({.name = protocol::Text("t"), .topicId = Uuid()});
  ask(deletion);
  recorder_.drain(seen);
  std::vector<std::string> lines;
  for (const events::Event& event : seen) {
    if (std::holds_alternative<events::BrokerFenced>(event.payload)) continue;
    const events::PartitionTag about = events::partitionOf(event.payload);
    EXPECT_EQ(recorder_.topicName(about.topic), "t");
    lines.push_back(fmt::format("{} {}", events::nameOf(event.payload), events::fieldsText(event.payload)));
  }
  EXPECT_THAT(lines, testing::ElementsAre("TopicCreated partitions=1 replicationFactor=2",
                                          "LeaderElected from=-1 to=1 epoch=0 cause=Created",
                                          "LeaderElected from=1 to=2 epoch=1 cause=LeaderFenced", "TopicDeleted "));
}

TEST_F(Driver, ANewControllerGivesEverybodyAWholeSession) {
  start();
  lead(1);
  startBroker(1);
  world_.runFor(seconds(8));
  loseLeadership(2);
  world_.runFor(seconds(8));
  lead(3);
  world_.runFor(seconds(8));
  EXPECT_TRUE(image().cluster.isActive(NodeId(1)));
  world_.runFor(seconds(2));
  EXPECT_FALSE(image().cluster.isActive(NodeId(1)));
}

}  // namespace
}  // namespace tidemark::metadata
