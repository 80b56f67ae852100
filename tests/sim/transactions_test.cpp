#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "client/consumer.h"
#include "client/transactional_producer.h"
#include "config/broker_config.h"
#include "config/config_table.h"
#include "coordinator/key_partition.h"
#include "sim/lab.h"

namespace tidemark::sim {
namespace {

constexpr int kOrdersPartitions = 3;
constexpr int kCoordinatorPartitions = 5;
const std::string kTransactionalId = "accounts";

/// What became of transactions as their producer was told; of the lab's lock.
struct Outcomes {
  /// Values of each.
  std::map<int, std::set<std::string>> committed;
  std::map<int, std::set<std::string>> aborted;
  /// Nobody told how it ended.
  std::map<int, std::set<std::string>> unknown;
  std::vector<std::string> errors;
  /// What a read_committed consumer was given, in order.
  std::vector<std::string> consumed;
  bool busy = false;
};

/// A client's process: a transactional producer that writes to each partition of "orders", and a consumer of it.
class TransactionalProcess {
 public:
  TransactionalProcess(Lab& lab, const std::string& bootstrap)
      : lab_(lab), process_(lab.createProcess("client")), executor_(process_->createExecutor({.name = "client"})) {
    lab_.run(*executor_, [&] {
      client::ClientOptions options;
      const size_t colon = bootstrap.rfind(':');
      options.bootstrap = {{bootstrap.substr(0, colon), static_cast<uint16_t>(std::stoi(bootstrap.substr(colon + 1)))}};
      client_ = std::make_unique<client::Client>(*process_, executor_, std::move(options));
      producer_ = newProducer();
      consumer_ = std::make_unique<client::Consumer>(
          *client_, client::ConsumerOptions{.isolation = client::IsolationLevel::ReadCommitted},
          [this](const client::ConsumedRecord& consumed) {
            lab_.change([&] { seen_.consumed.emplace_back(asText(*consumed.record.value)); });
          });
      std::vector<client::Consumer::Position> positions;
      for (int i = 0; i < kOrdersPartitions; ++i) positions.push_back({.where = {"orders", PartitionIndex(i)}});
      consumer_->assign(std::move(positions));
    });
  }
  ~TransactionalProcess() {
    process_->kill("the test is over");
    process_->awaitStopped();
  }

  std::unique_ptr<client::TransactionalProducer> newProducer() {
    return std::make_unique<client::TransactionalProducer>(
        *client_, client::TransactionalProducerOptions{.transactionalId = kTransactionalId, .producer = {}});
  }

  /// Begins, again if it is what a failed transaction needs.
  bool begin() {
    return perform([&](auto done) { producer_->begin(std::move(done)); });
  }
  bool perform(const std::function<void(client::TransactionalProducer::Done)>& what) {
    bool succeeded = false;
    lab_.change([&] { seen_.busy = true; });
    lab_.run(*executor_, [&] {
      what([this, &succeeded](Result<void> result) {
        lab_.change([&] {
          succeeded = result.has_value();
          if (!result) seen_.errors.push_back(result.error().message);
          seen_.busy = false;
        });
      });
    });
    EXPECT_TRUE(lab_.await([&] { return !seen_.busy; }));
    return succeeded;
  }

  void write(client::TransactionalProducer& producer, const std::set<std::string>& values) {
    lab_.run(*executor_, [&] {
      int index = 0;
      for (const std::string& value : values) {
        const ByteView bytes = asBytes(value);
        producer.send({.topic = "orders",
                       .partition = index++ % kOrdersPartitions,
                       .value = ByteVector(bytes.begin(), bytes.end())});
      }
    });
  }

  /// One transaction over all partitions and a group's offset.
  void transaction(bool commit) {
    const int number = next_++;
    std::set<std::string> values;
    for (int i = 0; i < kOrdersPartitions; ++i) values.insert(fmt::format("{:04}-{}", number, i));
    write(*producer_, values);
    perform([&](auto done) {
      producer_->sendOffsets("readers", {{{"orders", PartitionIndex(0)}, Offset(number)}}, std::move(done));
    });
    const bool ended = perform([&](auto done) { producer_->end(commit, std::move(done)); });
    if (ended) {
      (commit ? seen_.committed : seen_.aborted)[number] = values;
      return;
    }
    seen_.unknown[number] = values;
    ASSERT_TRUE(begin()) << seen_.errors.back();
  }

  /// What a consumer has to see, and may not.
  void expectExactlyTheCommitted() {
    std::set<std::string> owed;
    for (const auto& [number, values] : seen_.committed) owed.insert(values.begin(), values.end());
    EXPECT_TRUE(lab_.await([&] {
      const std::set<std::string> got(seen_.consumed.begin(), seen_.consumed.end());
      return std::ranges::includes(got, owed);
    })) << "something committed is not seen";
    const std::set<std::string> got(seen_.consumed.begin(), seen_.consumed.end());
    EXPECT_EQ(got.size(), seen_.consumed.size()) << "something is seen twice";
    for (const auto& [number, values] : seen_.aborted)
      for (const std::string& value : values) EXPECT_FALSE(got.contains(value)) << value << " was aborted";
    for (const auto& [number, values] : seen_.unknown) {
      const auto seen = std::ranges::count_if(values, [&](const std::string& value) { return got.contains(value); });
      EXPECT_TRUE(seen == 0 || seen == static_cast<long>(values.size()))
          << "transaction " << number << " is seen in part";
    }
  }

  client::TransactionalProducer& producer() { return *producer_; }
  platform::Executor& executor() { return *executor_; }
  const Outcomes& seen() const { return seen_; }

 private:
  Lab& lab_;
  const std::shared_ptr<platform::Process> process_;
  const std::shared_ptr<platform::Executor> executor_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::TransactionalProducer> producer_;
  std::unique_ptr<client::Consumer> consumer_;
  int next_ = 0;
  Outcomes seen_;
};

std::string launch(Lab& lab, int16_t version = 2) {
  observe::LaunchOptions options;
  options.features = {{"transaction.version", version}};
  options.port = 0;
  options.settings.push_back({"transaction.state.log.num.partitions", std::to_string(kCoordinatorPartitions)});
  options.settings.push_back({"offsets.topic.num.partitions", "3"});
  options.firstTopic = observe::TopicOptions{.name = "orders",
                                             .partitions = kOrdersPartitions,
                                             .replicationFactor = 3,
                                             .configs = {{"min.insync.replicas", "2"}}};
  const auto launched = lab.perform([&](auto done) { lab.cluster().launch(options, std::move(done)); });
  EXPECT_TRUE(launched) << launched.error().message;
  std::string bootstrap;
  lab.perform([&](auto done) {
    lab.cluster().whenReady([&, done = std::move(done)](const cluster::Ready& ready) mutable {
      lab.change([&] { bootstrap = ready.bootstrap; });
      done({});
    });
  });
  return bootstrap;
}

bool allInSync(const observe::ClusterSnapshot& cluster) {
  return std::ranges::all_of(cluster.topics, [](const observe::TopicSnapshot& topic) {
    return topic.name.starts_with("__cluster") || std::ranges::all_of(topic.partitions, [](const auto& each) {
             return each.isr.size() == each.replicas.size() && each.leader != kNoNode;
           });
  });
}

/// Transactions go on while first a leader of records, then their coordinator is killed in the middle.
void runTransactions(Lab& lab, int16_t version = 2) {
  const std::string bootstrap = launch(lab, version);
  TransactionalProcess application(lab, bootstrap);
  ASSERT_TRUE(application.begin());
  EXPECT_EQ(application.producer().transactionVersion(), version);
  for (int i = 0; i < 6; ++i) application.transaction(i % 3 != 2);
  EXPECT_TRUE(application.seen().unknown.empty());
  const TopicPartition coordinator{"__transaction_state",
                                   coordinator::partitionForKey(kTransactionalId, kCoordinatorPartitions)};
  for (const TopicPartition& struck : {TopicPartition{"orders", PartitionIndex(1)}, coordinator}) {
    SCOPED_TRACE(fmt::format("{}", struck));
    // Some of it is written, and what follows meets a dead leader.
    application.write(application.producer(), {fmt::format("{}-before", struck)});
    const NodeId leader = lab.leaderOf(struck);
    ASSERT_NE(leader, kNoNode);
    const auto killed = lab.perform([&](auto done) { lab.cluster().killBroker(leader, std::move(done)); });
    ASSERT_TRUE(killed) << killed.error().message;
    for (int i = 0; i < 4; ++i) application.transaction(i % 2 == 0);
    EXPECT_NE(lab.leaderOf(struck), leader);
    const auto restarted = lab.perform([&](auto done) { lab.cluster().restartBroker(leader, std::move(done)); });
    ASSERT_TRUE(restarted) << restarted.error().message;
    EXPECT_TRUE(lab.awaitCluster(allInSync)) << "an ISR is not full again";
    for (int i = 0; i < 3; ++i) application.transaction(i % 2 == 0);
  }
  EXPECT_GE(application.seen().committed.size(), 10U) << testing::PrintToString(application.seen().errors);
  application.expectExactlyTheCommitted();
  // Nothing stays open, and the window sees it.
  EXPECT_TRUE(lab.awaitCluster([](const observe::ClusterSnapshot& cluster) {
    const auto found = std::ranges::find(cluster.transactions, kTransactionalId, &observe::TransactionSnapshot::id);
    return found != cluster.transactions.end() &&
           (found->state == "CompleteCommit" || found->state == "CompleteAbort") && found->pendingMarkers.empty();
  }));
}

TEST(TransactionsOfThreeBrokers, AreSeenWholeOrNotAtAllInTheSimulator) {
  SimulatedLab lab({.seed = 1});
  runTransactions(lab);
}

TEST(TransactionsOfThreeBrokers, AreSeenWholeOrNotAtAllOnRealThreads) {
  NativeLab lab;
  runTransactions(lab);
}

TEST(TransactionsOfThreeBrokers, AreSeenWholeOrNotAtAllInAnyOrderOfEvents) {
  for (uint64_t seed = 1; seed <= 10 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SimulatedLab lab({.seed = seed});
    runTransactions(lab);
  }
}

TEST(TransactionsOfThreeBrokers, AreSeenWholeOrNotAtAllBelowVersionTwo) {
  for (uint64_t seed = 1; seed <= 4 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SimulatedLab lab({.seed = seed});
    runTransactions(lab, seed % 2 == 0 ? 0 : 1);
  }
}

TEST(TransactionsOfThreeBrokers, ALookBetweenTwoStepsTellsWhatCoordinatorsKnow) {
  SimulatedLab lab({.seed = 3});
  TransactionalProcess application(lab, launch(lab));
  ASSERT_TRUE(application.begin());
  application.transaction(true);
  application.write(application.producer(), {"open-0", "open-1"});
  lab.world().runFor(std::chrono::seconds(2));
  const observe::SnapshotPtr now = lab.cluster().describeNow();
  const auto open = std::ranges::find(now->transactions, kTransactionalId, &observe::TransactionSnapshot::id);
  ASSERT_NE(open, now->transactions.end());
  EXPECT_EQ(open->state, "Ongoing");
  EXPECT_TRUE(open->start.has_value());
  EXPECT_FALSE(open->partitions.empty());
  EXPECT_TRUE(application.perform([&](auto done) { application.producer().end(false, std::move(done)); }));
}

void runZombie(int16_t version) {
  SimulatedLab lab({.seed = 2});
  TransactionalProcess application(lab, launch(lab, version));
  ASSERT_TRUE(application.begin());
  application.transaction(true);
  application.write(application.producer(), {"zombie-0", "zombie-1"});
  std::unique_ptr<client::TransactionalProducer> heir;
  lab.run(application.executor(), [&] { heir = application.newProducer(); });
  ASSERT_TRUE(application.perform([&](auto done) { heir->begin(std::move(done)); }));
  application.write(application.producer(), {"zombie-2"});
  EXPECT_FALSE(application.perform([&](auto done) { application.producer().end(true, std::move(done)); }));
  application.write(*heir, {"heir"});
  EXPECT_TRUE(application.perform([&](auto done) { heir->end(true, std::move(done)); }));
  EXPECT_TRUE(lab.await([&] { return std::ranges::count(application.seen().consumed, "heir") == 1; }));
  application.expectExactlyTheCommitted();
  for (const std::string& value : application.seen().consumed) EXPECT_FALSE(value.starts_with("zombie")) << value;
  lab.run(application.executor(), [&] { heir.reset(); });
}

TEST(TransactionsOfThreeBrokers, AZombieIsFencedAndItsTransactionAborted) {
  runZombie(2);
}

TEST(TransactionsOfThreeBrokers, AZombieIsFencedAndItsTransactionAbortedBelowVersionTwo) {
  runZombie(0);
  runZombie(1);
}

}  // namespace
}  // namespace tidemark::sim
