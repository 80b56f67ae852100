#include <gmock/gmock.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "coordinator/group_fixture.h"
#include "coordinator/key_partition.h"
#include "coordinator/offsets/offset_records.h"
#include "protocol/framing.h"
#include "protocol/generated/offset_commit_value.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"
#include "records/batch_builder.h"
#include "records/control.h"

namespace tidemark::coordinator {
namespace {

TEST_F(Groups, OffsetsOfASimpleConsumerAreStoredWithoutMembers) {
  EXPECT_EQ(fetch("simple"), -1);
  EXPECT_EQ(errorOf(commit({.group = "simple", .offset = 42})), ErrorCode::None);
  EXPECT_EQ(fetch("simple"), 42);
  EXPECT_EQ(stateOf("simple"), "Empty");
  const auto records = log_.records(partitionOf("simple"));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(protocol::decodeVersioned(*records[0].value)->version, 4);
  const auto value = protocol::decodeVersionedAs<protocol::OffsetCommitValue>(*records[0].value);
  EXPECT_EQ(value->offset, 42);
  EXPECT_EQ(value->topicId, *topics_.topicId("orders"));
}

TEST_F(Groups, OffsetsOfATransactionWhoseVerificationIsGoneAreAskedForAgain) {
  protocol::TxnOffsetCommitRequest request;
  request.transactionalId = "tx";
  request.groupId = "simple";
  request.producerId = 7;
  request.producerEpoch = 0;
  auto& topic = request.topics.emplace_back();
  topic.name = "orders";
  topic.partitions.emplace_back().committedOffset = 5;
  log_.failWith = ErrorCode::InvalidTxnState;
  for (const auto& [verification, told] : {std::pair(std::optional<uint64_t>(3), ErrorCode::CoordinatorNotAvailable),
                                           std::pair(std::optional<uint64_t>(), ErrorCode::InvalidTxnState)}) {
    Answer<protocol::TxnOffsetCommitResponse> answer;
    coordinator_->commitTransactionalOffsets({3, "client", "/127.0.0.1"}, request, verification, answer.reply());
    executor_->drain();
    EXPECT_EQ(answer.get().topics.at(0).partitions.at(0).errorCode, static_cast<int16_t>(told));
  }
}

TEST_F(Groups, TellACommitToWhoeverLooks) {
  stableGroup();
  EXPECT_TRUE(told().empty()) << "nobody looked";
  recorder_.want(events::Kinds::all());
  EXPECT_EQ(errorOf(commit({.member = ids_["a"], .generation = 1, .offset = 5})), ErrorCode::None);
  EXPECT_EQ(errorOf(commit({.member = "nobody", .generation = 1, .offset = 6})), ErrorCode::UnknownMemberId);
  EXPECT_THAT(told(), testing::ElementsAre("OffsetCommitted group=\"group\" offset=5"));
}

TEST_F(Groups, CommitsOfAGenerationThatIsNotThereAreRefused) {
  EXPECT_EQ(errorOf(commit({.member = "m", .generation = 3, .version = 9})), ErrorCode::GroupIdNotFound);
  EXPECT_EQ(errorOf(commit({.member = "m", .generation = 3, .version = 8})), ErrorCode::IllegalGeneration);
  stableGroup();
  EXPECT_EQ(errorOf(commit({})), ErrorCode::UnknownMemberId) << "no outsider while there are members";
  EXPECT_EQ(errorOf(commit({.member = ids_["a"], .generation = 1, .offset = 5})), ErrorCode::None);
  EXPECT_EQ(fetch(), 5);
}

TEST_F(Groups, ACommitKeepsASessionAlive) {
  stableGroup();
  for (int i = 0; i < 3; ++i) {
    executor_->advance(6s);
    heartbeat(ids_["b"], 1);
    EXPECT_EQ(errorOf(commit({.member = ids_["a"], .generation = 1})), ErrorCode::None);
  }
}

TEST_F(Groups, OffsetsAreAnsweredAndShownOnlyOnceCommitted) {
  ASSERT_EQ(errorOf(commit({.group = "simple", .offset = 1})), ErrorCode::None);
  log_.commitsAtOnce = false;
  const auto later = commit({.group = "simple", .offset = 2});
  EXPECT_FALSE(later.has());
  EXPECT_EQ(fetch("simple"), 1) << "who does not ask for stable offsets sees the committed one";
  const auto stable = fetchLater("simple", "orders", true);
  EXPECT_FALSE(stable.has()) << "who does waits";
  log_.commit(partitionOf("simple"));
  executor_->drain();
  EXPECT_EQ(errorOf(later), ErrorCode::None);
  EXPECT_EQ(stable.get().groups[0].topics[0].partitions[0].committedOffset, 2);
  EXPECT_EQ(fetch("simple"), 2);
}

TEST_F(Groups, EachCommitIsAnsweredAndShownWhenTheHighWatermarkHasPassedIt) {
  log_.commitsAtOnce = false;
  const auto first = commit({.group = "simple", .offset = 1});
  const auto second = commit({.group = "simple", .offset = 2});
  log_.commit(partitionOf("simple"), Offset(1));
  executor_->drain();
  EXPECT_TRUE(first.has());
  EXPECT_FALSE(second.has());
  EXPECT_EQ(fetch("simple"), 1);
  log_.commit(partitionOf("simple"), Offset(2));
  executor_->drain();
  EXPECT_TRUE(second.has());
  EXPECT_EQ(fetch("simple"), 2);
}

TEST_F(Groups, ACommitThatIsNotCommittedInTimeIsRetriable) {
  log_.commitsAtOnce = false;
  const auto late = commit({.group = "simple", .offset = 2});
  const auto stable = fetchLater("simple", "orders", true);
  executor_->advance(5s);
  EXPECT_EQ(errorOf(late), ErrorCode::CoordinatorNotAvailable);
  EXPECT_EQ(static_cast<ErrorCode>(stable.get().groups[0].errorCode), ErrorCode::NotCoordinator);
}

TEST_F(Groups, ACommitThatCannotBeWrittenChangesNothing) {
  log_.failWith = ErrorCode::NotEnoughReplicas;
  EXPECT_EQ(errorOf(commit({.group = "simple", .offset = 2})), ErrorCode::CoordinatorNotAvailable);
  log_.failWith.reset();
  EXPECT_EQ(fetch("simple"), -1);
  EXPECT_EQ(stateOf("simple"), "Dead");
  log_.batchLimit = 100;
  EXPECT_EQ(errorOf(commit({.group = "simple", .offset = 2, .metadata = std::string(100, 'x')})),
            ErrorCode::UnknownServerError);
}

TEST_F(Groups, CommitsThatAreQueuedAreAppendedAsOneBatch) {
  const size_t before = log_.appends;
  const auto first = commitLater({.group = "simple", .offset = 1});
  const auto second = commitLater({.group = "simple", .partition = 1, .offset = 2});
  EXPECT_EQ(fetch("simple"), 1) << "whoever asks after them sees them";
  EXPECT_EQ(errorOf(first), ErrorCode::None);
  EXPECT_EQ(errorOf(second), ErrorCode::None);
  EXPECT_EQ(log_.appends, before + 1);
}

TEST_F(Groups, QueuedCommitsThatDoNotFitABatchTakeSeveral) {
  log_.batchLimit = 400;
  const size_t before = log_.appends;
  std::vector<Answer<protocol::OffsetCommitResponse>> answers;
  for (int32_t i = 0; i < 4; ++i)
    answers.push_back(commitLater({.group = "simple", .partition = i, .offset = i, .metadata = std::string(100, 'x')}));
  executor_->drain();
  for (const auto& answer : answers) EXPECT_EQ(errorOf(answer), ErrorCode::None);
  EXPECT_EQ(log_.appends, before + 4);
}

TEST_F(Groups, QueuedCommitsFailTogether) {
  log_.failWith = ErrorCode::NotEnoughReplicas;
  const auto first = commitLater({.group = "simple", .offset = 1});
  const auto second = commitLater({.group = "simple", .partition = 1, .offset = 2});
  executor_->drain();
  EXPECT_EQ(errorOf(first), ErrorCode::CoordinatorNotAvailable);
  EXPECT_EQ(errorOf(second), ErrorCode::CoordinatorNotAvailable);
  log_.failWith.reset();
  EXPECT_EQ(fetch("simple"), -1);
}

TEST_F(Groups, ACommitThatIsNotYetAppendedWhenTheCoordinatorMovesIsRefused) {
  const auto answer = commitLater({.group = "simple", .offset = 1});
  resign();
  EXPECT_EQ(errorOf(answer), ErrorCode::NotCoordinator);
  lead();
  EXPECT_EQ(fetch("simple"), -1);
}

TEST_F(Groups, MetadataThatIsTooLongIsRefusedAlone) {
  EXPECT_EQ(errorOf(commit({.group = "simple", .metadata = std::string(4096, 'x')})), ErrorCode::None);
  EXPECT_EQ(errorOf(commit({.group = "simple", .metadata = std::string(4097, 'x')})),
            ErrorCode::OffsetMetadataTooLarge);
  const auto times = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  // As Java counts: an umlaut is one, what lies beyond the basic plane two.
  EXPECT_EQ(errorOf(commit({.group = "simple", .metadata = times("ä", 4096)})), ErrorCode::None);
  EXPECT_EQ(errorOf(commit({.group = "simple", .metadata = times("ä", 4097)})), ErrorCode::OffsetMetadataTooLarge);
  EXPECT_EQ(errorOf(commit({.group = "simple", .metadata = times("😀", 2048)})), ErrorCode::None);
  EXPECT_EQ(errorOf(commit({.group = "simple", .metadata = times("😀", 2049)})), ErrorCode::OffsetMetadataTooLarge);
}

TEST_F(Groups, OffsetsOfTopicsThatDoNotExistAreRefused) {
  EXPECT_EQ(errorOf(commit({.group = "simple", .topic = "no", .version = 9})), ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(errorOf(commit({.group = "simple", .topic = "no", .version = 10})), ErrorCode::UnknownTopicId);
  EXPECT_EQ(errorOf(commit({.group = "simple", .offset = 7, .version = 10})), ErrorCode::None);
  EXPECT_EQ(fetch("simple"), 7);
}

TEST_F(Groups, OffsetsAreFetchedByTopicIdAndAllAtOnce) {
  commit({.group = "simple", .offset = 7});
  commit({.group = "simple", .topic = "bills", .partition = 2, .offset = 8});
  topics_.topics.erase("bills");
  const Uuid nobodys = kMetadataTopicId;
  topics_.add("orders", 77);  // made anew under its name
  protocol::OffsetFetchRequest request;
  request.groups.resize(2);
  for (auto& group : request.groups) group.groupId = "simple";
  request.groups[0].topics->push_back({.name = "", .topicId = *topics_.topicId("orders"), .partitionIndexes = {0, 1}});
  request.groups[0].topics->push_back({.name = "", .topicId = nobodys, .partitionIndexes = {0}});
  request.groups[1].topics.reset();
  Answer<protocol::OffsetFetchResponse> answer;
  coordinator_->fetchOffsets({10, "client", "/127.0.0.1"}, request, answer.reply());
  executor_->drain();
  const auto& known = answer.get().groups.at(0).topics;
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known[0].partitions[0].committedOffset, -1) << "the offset is of the topic before";
  EXPECT_EQ(static_cast<ErrorCode>(known[1].partitions[0].errorCode), ErrorCode::UnknownTopicId);
  ASSERT_EQ(answer.get().groups.at(1).topics.size(), 1u) << "a topic that is gone has no id to be told by";
  EXPECT_EQ(answer.get().groups.at(1).topics[0].partitions[0].committedOffset, 7);
}

TEST_F(Groups, OldVersionsFetchOneGroup) {
  commit({.group = "simple", .offset = 7, .metadata = "why"});
  protocol::OffsetFetchRequest request;
  request.groupId = "simple";
  auto& topic = request.topics->emplace_back();
  topic.name = "orders";
  topic.partitionIndexes = {0, 1};
  Answer<protocol::OffsetFetchResponse> answer;
  coordinator_->fetchOffsets({5, "client", "/127.0.0.1"}, request, answer.reply());
  executor_->drain();
  EXPECT_EQ(answer.error(), ErrorCode::None);
  ASSERT_EQ(answer.get().topics.size(), 1u);
  EXPECT_EQ(answer.get().topics[0].partitions[0].committedOffset, 7);
  EXPECT_EQ(*answer.get().topics[0].partitions[0].metadata, "why");
  EXPECT_EQ(answer.get().topics[0].partitions[1].committedOffset, -1);

  resign();
  Answer<protocol::OffsetFetchResponse> v1, v2;
  coordinator_->fetchOffsets({1, "client", "/127.0.0.1"}, request, v1.reply());
  coordinator_->fetchOffsets({2, "client", "/127.0.0.1"}, request, v2.reply());
  executor_->drain();
  EXPECT_EQ(static_cast<ErrorCode>(v1.get().topics.at(0).partitions.at(1).errorCode), ErrorCode::NotCoordinator);
  EXPECT_EQ(v2.error(), ErrorCode::NotCoordinator);
}

TEST_F(Groups, OffsetsAreThereAfterTheCoordinatorMoved) {
  for (int i = 0; i < 30; ++i) commit({.group = "g" + std::to_string(i), .offset = i});
  resign();
  config_.loadBufferSize = 200;
  start();
  for (int i = 0; i < 30; ++i) EXPECT_EQ(fetch("g" + std::to_string(i)), i);
}

TEST_F(Groups, ALongLogIsReadInPiecesBetweenWhichOthersAreServed) {
  for (int i = 0; i < 3000; ++i) commit({.group = "g", .offset = i});
  resign();
  start();
  EXPECT_EQ(fetch("g"), 2999);
  EXPECT_GT(log_.largestRead, 0u);
  EXPECT_LE(log_.largestRead, 128u << 10);
}

// ---- expiry and deletion

TEST_F(Groups, OffsetsOfASimpleConsumerExpireAfterTheirCommit) {
  config_.offsetsRetention = 1h;
  start();
  commit({.group = "simple", .offset = 1});
  executor_->advance(50min);
  commit({.group = "simple", .partition = 1, .offset = 2});
  executor_->advance(20min);
  EXPECT_EQ(fetch("simple"), -1);
  EXPECT_EQ(stateOf("simple"), "Empty");
  executor_->advance(1h);
  EXPECT_EQ(stateOf("simple"), "Dead") << "the group went with its last offset";
}

TEST_F(Groups, OffsetsOfAGroupWithMembersDoNotExpire) {
  config_.offsetsRetention = 1h;
  start();
  // "m" is no subscription, so the coordinator does not know the topics and keeps everything.
  stableGroup();
  commit({.member = ids_["a"], .generation = 1, .offset = 5});
  const auto live = [&](int minutes) {
    for (int i = 0; i < minutes * 12; ++i) {
      executor_->advance(5s);
      heartbeat(ids_["a"], 1);
      heartbeat(ids_["b"], 1);
    }
  };
  live(150);
  EXPECT_EQ(fetch(), 5);
  leave(ids_["a"]);
  leave(ids_["b"]);
  executor_->advance(55min);
  EXPECT_EQ(fetch(), 5) << "counted from when the last member left";
  recorder_.want(events::Kinds::all());
  executor_->advance(16min);
  EXPECT_EQ(fetch(), -1);
  EXPECT_THAT(told(), testing::ElementsAre("GroupStateChanged group=\"group\" from=Empty to=Dead kind=Classic "
                                           "cause=Removed generation=2 members=0"));
  EXPECT_EQ(stateOf("group"), "Dead");
}

TEST_F(Groups, ARetentionThatTheClientNamesCounts) {
  commit({.group = "simple", .offset = 1, .version = 4, .retentionMs = 60000});
  const auto records = log_.records(partitionOf("simple"));
  EXPECT_EQ(protocol::decodeVersioned(*records[0].value)->version, 1);
  executor_->advance(11min);
  EXPECT_EQ(fetch("simple"), -1);
}

TEST_F(Groups, OffsetsAreWrittenWithTheCodecOfTheTopicAndReadBack) {
  config_.codec = records::Codec::Zstd;
  resign();
  start();
  commit({.group = "simple", .offset = 7});
  const auto bytes = log_.read(partitionOf("simple"), Offset(0), 1 << 20);
  EXPECT_EQ(records::BatchHeader::read(bytes->view().data()).codec(), records::Codec::Zstd);
  resign();
  start();
  EXPECT_EQ(fetch("simple", "orders"), 7);
}

TEST_F(Groups, OffsetsOfADeletedTopicGo) {
  commit({.group = "simple", .offset = 1});
  commit({.group = "simple", .topic = "bills", .offset = 2});
  coordinator_->onTopicsDeleted({{"orders", *topics_.topicId("orders")}});
  executor_->drain();
  EXPECT_EQ(fetch("simple", "orders"), -1);
  EXPECT_EQ(fetch("simple", "bills"), 2);
}

TEST_F(Groups, OffsetsOfATopicOutliveAnotherOfItsName) {
  commit({.group = "simple", .offset = 1});
  coordinator_->onTopicsDeleted({{"orders", Uuid({1, 2, 3})}});
  executor_->drain();
  EXPECT_EQ(fetch("simple", "orders"), 1) << "it was made and committed to before the news of the other's end came";
}

TEST_F(Groups, ManyTombstonesGoInSeveralBatches) {
  for (int i = 0; i < 100; ++i) commit({.group = "simple", .partition = i, .offset = i});
  log_.batchLimit = 500;
  const size_t before = log_.appends;
  coordinator_->onTopicsDeleted({{"orders", *topics_.topicId("orders")}});
  executor_->drain();
  EXPECT_GT(log_.appends - before, 5u);
  EXPECT_EQ(fetch("simple"), -1);
}

TEST_F(Groups, AnEmptyGroupCanBeDeletedWithItsOffsets) {
  stableGroup();
  commit({.group = "simple", .offset = 1});
  protocol::DeleteGroupsRequest request;
  request.groupsNames = {"group", "simple", "nobody"};
  Answer<protocol::DeleteGroupsResponse> answer;
  coordinator_->deleteGroups({2, "client", "/127.0.0.1"}, request, answer.reply());
  executor_->drain();
  const auto& results = answer.get().results;
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(static_cast<ErrorCode>(results[0].errorCode), ErrorCode::NonEmptyGroup);
  EXPECT_EQ(static_cast<ErrorCode>(results[1].errorCode), ErrorCode::None);
  EXPECT_EQ(static_cast<ErrorCode>(results[2].errorCode), ErrorCode::GroupIdNotFound);
  EXPECT_EQ(fetch("simple"), -1);
  EXPECT_EQ(stateOf("simple"), "Dead");
  start();
  EXPECT_EQ(stateOf("simple"), "Dead") << "the tombstones are in the log";
}

TEST_F(Groups, SingleOffsetsCanBeDeletedUnlessSubscribed) {
  stableGroup();
  commit({.member = ids_["a"], .generation = 1, .offset = 5});
  commit({.group = "simple", .offset = 1});
  const auto remove = [&](const std::string& group) {
    protocol::OffsetDeleteRequest request;
    request.groupId = group;
    request.topics.push_back({.name = "orders", .partitions = {{.partitionIndex = 0}}});
    Answer<protocol::OffsetDeleteResponse> answer;
    coordinator_->deleteOffsets({0, "client", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    return answer;
  };
  EXPECT_EQ(static_cast<ErrorCode>(remove("group").get().topics[0].partitions[0].errorCode),
            ErrorCode::GroupSubscribedToTopic);
  EXPECT_EQ(remove("simple").get().topics[0].partitions[0].errorCode, 0);
  EXPECT_EQ(fetch("simple"), -1);
  EXPECT_EQ(remove("nobody").error(), ErrorCode::GroupIdNotFound);
}

TEST_F(Groups, AreListedByStateAndType) {
  stableGroup();
  commit({.group = "simple", .offset = 1});
  const auto list = [&](std::vector<protocol::Text> states, std::vector<protocol::Text> types) {
    protocol::ListGroupsRequest request;
    request.statesFilter = std::move(states);
    request.typesFilter = std::move(types);
    Answer<protocol::ListGroupsResponse> answer;
    coordinator_->listGroups({5, "client", "/127.0.0.1"}, request, answer.reply());
    executor_->drain();
    std::vector<std::string> ids;
    for (const auto& group : answer.get().groups) ids.push_back(group.groupId.str());
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  EXPECT_EQ(list({}, {}), (std::vector<std::string>{"group", "simple"}));
  EXPECT_EQ(list({"stable"}, {}), std::vector<std::string>{"group"});
  EXPECT_EQ(list({}, {"Classic"}).size(), 2u);
  EXPECT_TRUE(list({}, {"consumer"}).empty());
}

// ---- transactions, as they lie in a log

ByteVector transactionalCommit(int64_t producer, const std::string& group, int64_t offset) {
  records::BatchOptions options;
  options.producerId = ProducerId(producer);
  options.producerEpoch = ProducerEpoch(0);
  options.baseSequence = 0;
  options.transactional = true;
  records::BatchBuilder builder(options);
  CommittedOffset committed;
  committed.offset = Offset(offset);
  const CoordinatorRecord record = offsetCommitRecord(group, "orders", 0, committed);
  builder.append(1, record.key, *record.value);
  return builder.build();
}

TEST_F(Groups, OffsetsOfATransactionCountFromItsMarkerOn) {
  const PartitionIndex partition = partitionOf("simple");
  const auto append = [&](ByteVector batch) {
    ASSERT_TRUE(log_.append(partition, epoch_, std::move(batch)).has_value());
  };
  const auto reload = [&] {
    resign();
    start();
  };
  commit({.group = "simple", .offset = 1});
  append(transactionalCommit(9, "simple", 10));
  reload();
  EXPECT_EQ(fetch("simple"), 1);
  EXPECT_EQ(
      static_cast<ErrorCode>(fetchLater("simple", "orders", true).get().groups[0].topics[0].partitions[0].errorCode),
      ErrorCode::UnstableOffsetCommit);
  append(records::buildEndTxnMarker(ProducerId(9), ProducerEpoch(0), {false, 0}, 1));
  reload();
  EXPECT_EQ(fetch("simple"), 1) << "aborted";
  append(transactionalCommit(9, "simple", 20));
  append(records::buildEndTxnMarker(ProducerId(9), ProducerEpoch(0), {true, 0}, 1));
  reload();
  EXPECT_EQ(fetch("simple"), 20);
  append(transactionalCommit(9, "simple", 30));
  reload();
  commit({.group = "simple", .offset = 31});
  append(records::buildEndTxnMarker(ProducerId(9), ProducerEpoch(0), {true, 0}, 1));
  reload();
  EXPECT_EQ(fetch("simple"), 31) << "the later record counts, not the later marker";
}

// ---- golden

TEST_F(Groups, OfARealKafkaAreReadAsItsClientsSawThem) {
  for (int i = 0; i < kPartitions; ++i) {
    std::ifstream file(
        std::string(TIDEMARK_TEST_DATA) + "/coordinator/__consumer_offsets-" + std::to_string(i) + ".log",
        std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(bytes.empty());
    log_.load(PartitionIndex(i), {bytes.begin(), bytes.end()});
  }
  const std::map<std::string, std::string> ids{{"codec-snappy", "_jU6qTMeTj2f69XWHddIMw"},
                                               {"codec-gzip", "oiQIYonmRxOlS6eYTH0xFg"},
                                               {"codec-lz4", "pIxSEHPFTdekzFle31QqTw"},
                                               {"codec-none", "RrJDi3vqQB2K4cV9G_HQ3w"},
                                               {"codec-zstd", "ZNw6KZHoT6WAcOYeWUyXoQ"}};
  for (const auto& [name, id] : ids) topics_.topics[name] = {.name = name, .id = *Uuid::parse(id), .racks = {{}}};
  resign();
  start();
  Answer<std::vector<GroupSnapshot>> answer;
  coordinator_->snapshot(answer.reply());
  executor_->drain();
  std::map<std::string, GroupSnapshot> groups;
  for (const GroupSnapshot& group : answer.get()) groups[group.groupId] = group;

  std::ifstream file(std::string(TIDEMARK_TEST_DATA) + "/data-dirs/single-clean.expected.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  size_t compared = 0;
  for (const auto& group : expected["groups"]) {
    if (!group.contains("offsets")) continue;
    SCOPED_TRACE(group["groupId"].get<std::string>());
    const GroupSnapshot& ours = groups[group["groupId"].get<std::string>()];
    std::map<std::string, int64_t> offsets, expectedOffsets;
    for (const GroupOffsetSnapshot& one : ours.offsets) offsets[fmt::format("{}", one.partition)] = one.offset.value();
    for (const auto& [partition, one] : group["offsets"].items()) expectedOffsets[partition] = one["offset"];
    EXPECT_EQ(offsets, expectedOffsets);
    if (group["type"] == "Classic") {
      EXPECT_EQ(ours.state, group["state"].get<std::string>());
      EXPECT_EQ(ours.protocolType, group["protocol"].get<std::string>());
    }
    ++compared;
  }
  EXPECT_EQ(compared, 6u);
  EXPECT_EQ(groups["classic-static"].members.at(0).groupInstanceId, "static-1");
  EXPECT_EQ(groups["classic-static"].members.at(0).assigned.at(0).topic, "codec-gzip");
  EXPECT_FALSE(groups.contains("deleted-group"));
  // Groups of the consumer protocol: one that everybody left, and one whose only member is away for a while.
  EXPECT_EQ(groups["new-group"].kind, events::GroupKind::Consumer);
  EXPECT_EQ(groups["new-group"].state, "Empty");
  EXPECT_EQ(groups["new-group"].generation, 3);
  const GroupSnapshot& away = groups["new-static"];
  EXPECT_EQ(away.state, "Reconciling");
  EXPECT_EQ(away.protocol, "range");
  EXPECT_EQ(away.generation, 3);
  EXPECT_EQ(away.assignmentEpoch, 3);
  ASSERT_EQ(away.members.size(), 1u);
  EXPECT_EQ(away.members[0].groupInstanceId, "inst-1");
  EXPECT_EQ(away.members[0].clientId, "new-s");
  EXPECT_EQ(away.members[0].epoch, -2);
  EXPECT_EQ(away.members[0].subscribedRegex, "codec-.*");
  std::vector<std::string> owned;
  for (const TopicPartition& one : away.members[0].assigned) owned.push_back(one.topic);
  EXPECT_EQ(owned, (std::vector<std::string>{"codec-gzip", "codec-lz4", "codec-none", "codec-snappy", "codec-zstd"}));
  EXPECT_EQ(away.members[0].target, away.members[0].assigned);
  const auto classic = join({.group = "new-group"});
  EXPECT_EQ(classic.error(), ErrorCode::MemberIdRequired) << "an empty group makes room";
}

TEST(KeyPartitions, AreThoseThatKafkaComputes) {
  std::ifstream file(std::string(TIDEMARK_TEST_DATA) + "/coordinator/group_partitions.tsv");
  size_t lines = 0;
  std::string id, hash, of50, of7;
  while (std::getline(file, id, '\t') && std::getline(file, hash, '\t') && std::getline(file, of50, '\t') &&
         std::getline(file, of7)) {
    const std::string key = id == "-" ? "" : id;
    EXPECT_EQ(javaHashCode(key), std::stoi(hash)) << id;
    EXPECT_EQ(partitionForKey(key, 50), PartitionIndex(std::stoi(of50))) << id;
    EXPECT_EQ(partitionForKey(key, 7), PartitionIndex(std::stoi(of7))) << id;
    ++lines;
  }
  EXPECT_EQ(lines, 43u);
  EXPECT_EQ(javaHashCode("polygenelubricants"), INT32_MIN);
  EXPECT_EQ(partitionForKey("polygenelubricants", 50), PartitionIndex(0));
}

}  // namespace
}  // namespace tidemark::coordinator
