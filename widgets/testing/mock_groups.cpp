#include "testing/mock_groups.h"

namespace tidemark::widgets::fake {

using namespace std::chrono_literals;
using namespace events;

namespace {

TopicPartition at(const char* topic, int partition) {
  return {topic, PartitionIndex(partition)};
}

observe::GroupMemberSnapshot member(const char* id, const char* software, const char* state, int32_t epoch,
                                    std::vector<TopicPartition> assigned) {
  observe::GroupMemberSnapshot one;
  one.memberId = id;
  one.clientId = std::string(id).substr(0, 3);
  one.host = "/127.0.0.1";
  one.software = software;
  one.state = state;
  one.epoch = epoch;
  one.assigned = assigned;
  one.target = std::move(assigned);
  one.sessionTimeout = 45s;
  return one;
}

observe::GroupPartitionSnapshot lags(const observe::ClusterSnapshot& cluster, const TopicPartition& partition,
                                     int64_t committed, int64_t end, std::chrono::milliseconds age) {
  observe::GroupPartitionSnapshot one{.partition = partition,
                                      .committed = Offset(committed),
                                      .committedAt = cluster.wall - age,
                                      .highWatermark = Offset(end)};
  if (end > committed) one.firstPending = cluster.wall - age;
  return one;
}

/// Events of one broker, told in milliseconds before the moment of the scene.
struct Teller {
  FakeCluster& into;
  const observe::ClusterSnapshot& cluster;
  int broker;

  void operator()(int msBefore, const Payload& payload, const TopicPartition& where = {}) const {
    Event event;
    event.at = cluster.at - std::chrono::milliseconds(msBefore);
    event.wall = cluster.wall - std::chrono::milliseconds(msBefore);
    event.broker = NodeId(broker);
    event.payload = payload;
    into.append(event, where.topic, where.topic.empty() ? PartitionIndex() : where.partition);
  }
};

}  // namespace

void addMockGroups(observe::ClusterSnapshot& cluster) {
  observe::GroupSnapshot billing{.id = "billing",
                                 .kind = GroupKind::Classic,
                                 .state = "PreparingRebalance",
                                 .protocolType = "consumer",
                                 .protocol = "range",
                                 .generation = 8,
                                 .assignmentEpoch = 8};
  billing.coordinator = NodeId(1);
  billing.coordinatorPartition = PartitionIndex(9);
  billing.members = {member("c-1-8f0c2a11-7d3e", "librdkafka 2.0.2", "Joining", 8, {at("orders", 0), at("orders", 1)}),
                     member("c-2-11aa93c0-52be", "librdkafka 2.0.2", "Away", 8, {at("orders", 2)}),
                     member("c-3-5be07d92-90ff", "apache-kafka-java 4.4.0", "Joining", 8, {})};
  billing.members[0].leader = true;
  billing.partitions = {lags(cluster, at("orders", 0), 1279, 1286, 3200ms),
                        lags(cluster, at("orders", 1), 410, 417, 2900ms),
                        lags(cluster, at("orders", 2), 408, 434, 14200ms)};

  observe::GroupSnapshot search{.id = "search-index",
                                .kind = GroupKind::Consumer,
                                .state = "Reconciling",
                                .protocolType = "consumer",
                                .protocol = "uniform",
                                .generation = 12,
                                .assignmentEpoch = 12};
  search.coordinator = NodeId(2);
  search.coordinatorPartition = PartitionIndex(7);
  search.members = {
      member("s-1-0a7711d0-3c41", "franz-go 1.18.0", "STABLE", 12, {at("payments", 0), at("payments", 1)}),
      member("s-2-77b1c0fe-88aa", "franz-go 1.18.0", "UNREVOKED_PARTITIONS", 11,
             {at("payments", 2), at("payments", 3), at("payments", 4)}),
      member("s-3-c93411d2-001b", "franz-go 1.18.0", "UNRELEASED_PARTITIONS", 12, {at("payments", 5)})};
  for (auto& one : search.members) one.classic = false;
  search.members[1].target = {at("payments", 2), at("payments", 3)};
  search.members[1].assigned = {at("payments", 2), at("payments", 3)};
  search.members[1].revoking = {at("payments", 4)};
  search.members[2].target = {at("payments", 4), at("payments", 5)};
  for (int i = 0; i < 6; ++i)
    search.partitions.push_back(lags(cluster, at("payments", i),
                                     400 + 17 * i - (i >= 4 ? 3210 / (i - 2) : 184 + i) % 300, 400 + 17 * i,
                                     i >= 4 ? 1600ms : 100ms));

  observe::GroupSnapshot shared{.id = "thumbnails",
                                .kind = GroupKind::Share,
                                .state = "Stable",
                                .protocolType = "share",
                                .protocol = "simple",
                                .generation = 3,
                                .assignmentEpoch = 3};
  shared.coordinator = NodeId(3);
  shared.coordinatorPartition = PartitionIndex(21);
  shared.members = {member("w-1-2f0d", "apache-kafka-java 4.4.0", "STABLE", 3, {at("orders", 0)}),
                    member("w-2-90cc", "apache-kafka-java 4.4.0", "STABLE", 3, {at("orders", 0)})};
  for (auto& one : shared.members) one.classic = false;
  shared.partitions = {lags(cluster, at("orders", 0), 1250, 1286, 900ms)};
  shared.shared = {{.partition = at("orders", 0),
                    .broker = NodeId(1),
                    .start = Offset(1250),
                    .end = Offset(1286),
                    .inFlight = 20,
                    .batches = {{Offset(1250), Offset(1254), "Acknowledged", 1, "", {}},
                                {Offset(1255), Offset(1261), "Acquired", 1, "w-1-2f0d", 21s},
                                {Offset(1262), Offset(1262), "Archived", 5, "", {}},
                                {Offset(1263), Offset(1270), "Available", 2, "", {}},
                                {Offset(1271), Offset(1283), "Acquired", 1, "w-2-90cc", 28s}}}};

  observe::GroupSnapshot streams{.id = "word-count",
                                 .kind = GroupKind::Streams,
                                 .state = "Reconciling",
                                 .protocolType = "streams",
                                 .protocol = "sticky",
                                 .generation = 5,
                                 .assignmentEpoch = 5};
  streams.coordinator = NodeId(2);
  streams.coordinatorPartition = PartitionIndex(30);
  streams.subtopologies = {{.id = "0", .sources = {"orders"}, .repartitionSinks = {"word-count-words-repartition"}},
                           {.id = "1",
                            .repartitionSources = {"word-count-words-repartition"},
                            .changelogs = {"word-count-counts-changelog"}}};
  streams.members = {member("t-1-6a10", "apache-kafka-java 4.4.0", "UNREVOKED_TASKS", 4, {}),
                     member("t-2-c0de", "apache-kafka-java 4.4.0", "UNRELEASED_TASKS", 5, {})};
  using observe::TaskRole;
  streams.members[0].tasks = {
      {"0", 0, TaskRole::Active}, {"0", 1, TaskRole::Active}, {"1", 0, TaskRole::Active}, {"1", 2, TaskRole::Standby}};
  streams.members[0].revokingTasks = {{"1", 1, TaskRole::Active}};
  streams.members[0].targetTasks = {
      {"0", 0, TaskRole::Active}, {"0", 1, TaskRole::Active}, {"1", 0, TaskRole::Active}, {"1", 2, TaskRole::Standby}};
  streams.members[1].tasks = {{"0", 2, TaskRole::Active}, {"1", 2, TaskRole::Active}, {"1", 0, TaskRole::Warmup}};
  streams.members[1].targetTasks = {
      {"0", 2, TaskRole::Active}, {"1", 1, TaskRole::Active}, {"1", 2, TaskRole::Active}, {"1", 0, TaskRole::Warmup}};
  for (auto& one : streams.members) one.classic = false;
  streams.partitions = {lags(cluster, at("orders", 0), 1279, 1286, 400ms),
                        lags(cluster, at("orders", 1), 410, 417, 300ms)};
  cluster.groups = {std::move(billing), std::move(search), std::move(shared), std::move(streams)};
}

void appendMockGroupEvents(FakeCluster& into, const observe::ClusterSnapshot& cluster) {
  const Teller one{into, cluster, 1};
  const auto change = [&](int before, GroupState from, GroupState to, GroupCause cause, int32_t generation,
                          int32_t members) {
    one(before, GroupStateChanged{.group = "billing",
                                  .from = from,
                                  .to = to,
                                  .kind = GroupKind::Classic,
                                  .cause = cause,
                                  .generation = generation,
                                  .members = members});
  };
  // Generation 7: c-2 was lost and came back.
  one(62'300, MemberLeft{.group = "billing",
                         .member = "c-2-11aa93c0-52be",
                         .cause = GroupCause::SessionMissed,
                         .silent = 46'300ms,
                         .allowed = 45s});
  change(62'300, GroupState::Stable, GroupState::PreparingRebalance, GroupCause::SessionMissed, 7, 1);
  one(62'300, RebalanceStarted{.group = "billing",
                               .member = "c-2-11aa93c0-52be",
                               .kind = GroupKind::Classic,
                               .cause = GroupCause::SessionMissed,
                               .generation = 7,
                               .members = 1});
  one(61'100, MemberJoined{.group = "billing", .member = "c-2-11aa93c0-52be", .kind = GroupKind::Classic, .epoch = 7});
  one(60'900, MemberProgressed{.group = "billing",
                               .member = "c-1-8f0c2a11-7d3e",
                               .step = MemberStep::Rejoined,
                               .epoch = 7,
                               .target = 8,
                               .partitions = 3,
                               .took = 1400ms});
  change(60'900, GroupState::PreparingRebalance, GroupState::CompletingRebalance, GroupCause::AllJoined, 8, 2);
  one(60'401, MemberProgressed{.group = "billing",
                               .member = "c-1-8f0c2a11-7d3e",
                               .step = MemberStep::Synced,
                               .epoch = 8,
                               .target = 8,
                               .partitions = 2,
                               .took = 1900ms});
  one(60'401, MemberProgressed{.group = "billing",
                               .member = "c-2-11aa93c0-52be",
                               .step = MemberStep::Synced,
                               .epoch = 8,
                               .target = 8,
                               .partitions = 1,
                               .took = 1900ms});
  change(60'400, GroupState::CompletingRebalance, GroupState::Stable, GroupCause::Assigned, 8, 2);
  one(60'400, RebalanceCompleted{
                  .group = "billing", .kind = GroupKind::Classic, .generation = 8, .members = 2, .took = 1900ms});
  // c-3 is new; c-2 does not come.
  one(3'401, MemberJoined{.group = "billing", .member = "c-3-5be07d92-90ff", .kind = GroupKind::Classic, .epoch = 8});
  change(3'400, GroupState::Stable, GroupState::PreparingRebalance, GroupCause::MemberJoined, 8, 3);
  one(3'400, RebalanceStarted{.group = "billing",
                              .member = "c-3-5be07d92-90ff",
                              .kind = GroupKind::Classic,
                              .cause = GroupCause::MemberJoined,
                              .generation = 8,
                              .members = 3});
  one(2'160, MemberProgressed{.group = "billing",
                              .member = "c-1-8f0c2a11-7d3e",
                              .step = MemberStep::Rejoined,
                              .epoch = 8,
                              .target = 9,
                              .partitions = 2,
                              .took = 1240ms});

  const Teller two{into, cluster, 2};
  two(5'003,
      MemberJoined{.group = "search-index", .member = "s-3-c93411d2-001b", .kind = GroupKind::Consumer, .epoch = 0});
  two(5'001, GroupStateChanged{.group = "search-index",
                               .from = GroupState::Stable,
                               .to = GroupState::Reconciling,
                               .kind = GroupKind::Consumer,
                               .cause = GroupCause::MemberJoined,
                               .generation = 12,
                               .members = 3});
  two(5'001, RebalanceStarted{.group = "search-index",
                              .member = "s-3-c93411d2-001b",
                              .kind = GroupKind::Consumer,
                              .cause = GroupCause::MemberJoined,
                              .generation = 12,
                              .members = 3});
  two(4'535, MemberProgressed{.group = "search-index",
                              .member = "s-1-0a7711d0-3c41",
                              .step = MemberStep::Revoking,
                              .epoch = 11,
                              .target = 12,
                              .partitions = 1,
                              .took = 466ms});
  two(4'517, MemberProgressed{.group = "search-index",
                              .member = "s-1-0a7711d0-3c41",
                              .step = MemberStep::Reconciled,
                              .epoch = 12,
                              .target = 12,
                              .partitions = 2,
                              .took = 484ms});
  two(1'600, MemberProgressed{.group = "search-index",
                              .member = "s-2-77b1c0fe-88aa",
                              .step = MemberStep::Revoking,
                              .epoch = 11,
                              .target = 12,
                              .partitions = 1,
                              .took = 3400ms});
  two(1'100, MemberProgressed{.group = "search-index",
                              .member = "s-3-c93411d2-001b",
                              .step = MemberStep::Waiting,
                              .epoch = 12,
                              .target = 12,
                              .partitions = 1,
                              .took = 3900ms});
}

void addMockTransactions(observe::ClusterSnapshot& cluster) {
  const auto add = [&](const char* id, int64_t producer, int16_t epoch, std::string_view state,
                       std::chrono::milliseconds openFor, std::vector<TopicPartition> partitions) {
    observe::TransactionSnapshot one{.id = id,
                                     .state = std::string(state),
                                     .producer = ProducerId(producer),
                                     .epoch = ProducerEpoch(epoch),
                                     .timeout = 60s};
    if (openFor > 0ms) one.start = cluster.wall - openFor;
    one.partitions = std::move(partitions);
    one.coordinator = NodeId(1);
    one.coordinatorPartition = PartitionIndex(39);
    cluster.transactions.push_back(std::move(one));
  };
  add("billing-tx-1", 1000, 14, "CompleteCommit", 0ms, {});
  add("billing-tx-2", 1001, 6, "CompleteCommit", 0ms, {});
  add("ledger-sync", 2004, 7, "Ongoing", 28'800ms, {at("orders", 0)});
  for (observe::TopicSnapshot& topic : cluster.topics)
    if (topic.name == "orders") {
      observe::PartitionSnapshot& partition = topic.partitions.front();
      partition.lastStable = Offset(1268);
      partition.openTransactions = {{ProducerId(2004), ProducerEpoch(7), Offset(1268), cluster.wall}};
      using observe::TransactionFate;
      for (observe::ReplicaSnapshot& copy : partition.copies)
        for (observe::BatchSnapshot& batch : copy.batches) {
          const int64_t base = batch.baseOffset.value();
          batch.transactional = base >= 1256;
          batch.fate = base >= 1280   ? TransactionFate::Open
                       : base >= 1268 ? TransactionFate::Committed
                       : base >= 1256 ? TransactionFate::Aborted
                                      : TransactionFate::Unknown;
        }
    }
}

void appendMockTransactionEvents(FakeCluster& into, const observe::ClusterSnapshot& cluster) {
  const Teller tell{into, cluster, 1};
  const TopicPartition orders = at("orders", 0);
  const TopicPartition payments = at("payments", 1);
  const auto append = [&](int before, const TopicPartition& where, int64_t base, int64_t last, int64_t producer,
                          bool control = false) {
    tell(before,
         BatchAppended{.baseOffset = Offset(base),
                       .lastOffset = Offset(last),
                       .recordCount = static_cast<int32_t>(last - base + 1),
                       .producer = ProducerId(producer),
                       .transactional = producer != 7,
                       .control = control,
                       .asLeader = true},
         where);
  };
  const auto open = [&](int before, const TopicPartition& where, int64_t first, int64_t last, int64_t producer,
                        int16_t epoch) {
    tell(before,
         TransactionOpened{.producer = ProducerId(producer), .epoch = ProducerEpoch(epoch), .first = Offset(first)},
         where);
    append(before, where, first, last, producer);
  };
  const auto mark = [&](int before, const TopicPartition& where, int64_t first, int64_t marker, int64_t producer,
                        int16_t epoch, bool committed, int64_t lastStable) {
    tell(before,
         MarkerWritten{.producer = ProducerId(producer),
                       .epoch = ProducerEpoch(epoch),
                       .committed = committed,
                       .first = Offset(first),
                       .marker = Offset(marker),
                       .lastStable = Offset(lastStable)},
         where);
    append(before, where, marker, marker, producer, true);
  };
  open(40'000, orders, 1250, 1255, 1000, 12);
  open(39'500, payments, 380, 382, 1000, 12);
  open(37'000, orders, 1256, 1258, 1001, 3);
  mark(33'300, orders, 1250, 1259, 1000, 12, true, 1256);
  mark(33'290, payments, 380, 383, 1000, 12, true, 384);
  append(31'000, payments, 384, 389, 7);
  open(28'800, orders, 1268, 1270, 2004, 7);
  tell(22'000, TransactionStateChanged{.transactionalId = "billing-tx-2",
                                       .producer = ProducerId(1001),
                                       .epoch = ProducerEpoch(4),
                                       .from = TransactionState::Ongoing,
                                       .to = TransactionState::PrepareAbort,
                                       .cause = TransactionCause::Fenced,
                                       .partitions = 1});
  mark(21'900, orders, 1256, 1271, 1001, 4, false, 1268);
  open(19'200, orders, 1272, 1278, 1000, 13);
  open(19'000, payments, 390, 395, 1000, 13);
  mark(12'600, orders, 1272, 1279, 1000, 13, true, 1268);
  mark(12'590, payments, 390, 396, 1000, 13, true, 397);
  open(11'900, payments, 397, 400, 1001, 5);
  mark(5'900, payments, 397, 401, 1001, 5, true, 402);
  append(4'000, orders, 1280, 1285, 2004);
  tell(3'800, ProducerFenced{.producer = ProducerId(1001), .epoch = ProducerEpoch(3)}, orders);
}

}  // namespace tidemark::widgets::fake
