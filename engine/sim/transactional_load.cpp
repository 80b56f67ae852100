#include "sim/transactional_load.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/replica_logs.h"

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string processOf(const TransactionPlan::Producer& producer, bool isRival) {
  return fmt::format("{}-{}", producer.options.transactionalId, isRival ? "b" : "a");
}

}  // namespace

const std::string kLedger = "ledger";

std::vector<std::string> TransactionPlan::clients() const {
  std::vector<std::string> names;
  for (const Producer& each : producers) {
    names.push_back(processOf(each, false));
    if (each.rival) names.push_back(processOf(each, true));
  }
  return names;
}

std::string TransactionPlan::text() const {
  return version == 2 ? std::string() : fmt::format(", transaction.version {}", version);
}

TransactionPlan drawTransactions(uint64_t seed, const std::string& topic, int partitions, bool allVersions) {
  platform::Generator dice(platform::mix(seed, "transactions"));
  TransactionPlan plan;
  const uint64_t producers = dice.below(3);
  const auto draw = [&](const char* id) {
    TransactionalApplication::Options options;
    options.transactionalId = id;
    options.partitions = partitions;
    options.timeout = dice.between(seconds(2), seconds(8));
    options.pause = dice.between(milliseconds(20), milliseconds(300));
    options.aborts = static_cast<unsigned>(5 + dice.below(30));
    options.leavesOpen = static_cast<unsigned>(dice.below(8));
    return TransactionPlan::Producer{.options = std::move(options), .rival = dice.chance(50)};
  };
  if (producers > 0) {
    plan.producers.push_back(draw("payer"));
    plan.producers.back().options.output = topic;
    if (producers > 1) plan.producers.back().options.input = kLedger;
  }
  if (producers > 1) {
    plan.producers.push_back(draw("bookkeeper"));
    TransactionalApplication::Options& options = plan.producers.back().options;
    options.input = topic;
    options.output = kLedger;
    options.group = "bookkeepers";
  }
  // Last, so that what is drawn before does not depend on it.
  const uint64_t version = dice.below(8);
  if (allVersions) plan.version = static_cast<int16_t>(std::min<uint64_t>(version, 2));
  return plan;
}

TransactionalLoad::TransactionalLoad(Setup setup, TransactionPlan plan)
    : setup_(std::move(setup)), plan_(std::move(plan)), history_(setup_.judge, setup_.tally, plan_.version) {}

std::vector<TopicPartition> TransactionalLoad::partitions() const {
  std::vector<TopicPartition> all;
  for (int i = 0; i < setup_.partitions; ++i) {
    all.push_back({setup_.topic, PartitionIndex(i)});
    if (plan_.hasSecondTopic()) all.push_back({kLedger, PartitionIndex(i)});
  }
  return all;
}

void TransactionalLoad::start(const TransactionPlan::Producer& producer, const std::string& name) {
  applications_.push_back(std::make_unique<TransactionalApplication>(
      setup_.world, name, bootstrap_, producer.options, setup_.seed, setup_.journal, history_, setup_.tally));
}

std::unique_ptr<Reader> TransactionalLoad::reader(const std::string& name) {
  return std::make_unique<Reader>(setup_.world, name, bootstrap_, partitions(), client::IsolationLevel::ReadCommitted,
                                  setup_.journal, &history_);
}

void TransactionalLoad::begin(const std::vector<platform::Endpoint>& bootstrap) {
  if (!plan_.any()) return;
  bootstrap_ = bootstrap;
  for (const TransactionPlan::Producer& each : plan_.producers) start(each, processOf(each, false));
  reader_ = reader("committed-1");
}

void TransactionalLoad::rivalsCome() {
  for (const TransactionPlan::Producer& each : plan_.producers)
    if (each.rival) start(each, processOf(each, true));
}

void TransactionalLoad::stop() {
  for (const auto& each : applications_) each->stop();
}

std::shared_ptr<const log::PartitionLog> TransactionalLoad::atLeader(const TopicPartition& partition) const {
  const metadata::ImagePtr image = setup_.watch.newestImage();
  const auto* known = image ? image->topics.partition(partition.topic, partition.partition) : nullptr;
  broker::Node* node = known == nullptr ? nullptr : setup_.watch.node(known->leader);
  return node == nullptr ? nullptr : ReplicaLogs::find(*node, partition);
}

std::string TransactionalLoad::whatIsNotWhole() const {
  if (!plan_.any() || !whole_) return {};
  for (const auto& each : applications_)
    if (!each->isIdle()) return fmt::format("L2: {} has not brought its transaction to its end", each->name());
  const metadata::ImagePtr image = setup_.watch.newestImage();
  for (const auto& [name, topic] : image->topics.byName) {
    for (const auto& [index, registered] : topic->partitions) {
      const auto log = atLeader({name, index});
      if (!log) return fmt::format("L1: {}-{} has no leader", name, index);
      const log::OffsetSnapshot ends = log->offsetSnapshot();
      if (ends.lastStableOffset.offset < ends.highWatermark.offset)
        return fmt::format("T6: a transaction is open in {}-{} at offset {}, the high watermark is {}", name, index,
                           ends.lastStableOffset.offset, ends.highWatermark.offset);
    }
  }
  return {};
}

void TransactionalLoad::readAgain() {
  if (!plan_.any() || !whole_) return;
  late_ = reader("committed-2");
  for (const TransactionPlan::Producer& each : plan_.producers)
    if (!each.options.group.empty())
      for (const auto& application : applications_)
        if (application->name() == processOf(each, false)) application->askForOffsets();
  for (const TopicPartition& each : partitions())
    if (const auto log = atLeader(each)) logs_.emplace(each, readLog(setup_.judge, *log, plan_.version, true));
}

std::string TransactionalLoad::whatIsNotRead() {
  if (!plan_.any() || !whole_) return {};
  for (const auto& each : applications_)
    if (!each->options().group.empty() && each->name().ends_with("-a") && !each->offsets())
      return fmt::format("the offsets of {} are not to be had", each->options().group);
  return TransactionHistory::difference(late_->records(), logs_);
}

void TransactionalLoad::judgeAtRest() {
  if (!plan_.any() || !whole_) return;
  history_.judgeBy(logs_);
  for (const auto& each : applications_)
    if (each->offsets()) history_.judgeOffsets(each->options().transactionalId, *each->offsets(), logs_);
  const metadata::ImagePtr image = setup_.watch.newestImage();
  for (const auto& [name, topic] : image->topics.byName) {
    for (const auto& [index, registered] : topic->partitions) {
      for (const NodeId replica : registered->replicas) {
        broker::Node* node = setup_.watch.node(replica);
        const auto log = node == nullptr ? nullptr : ReplicaLogs::find(*node, {name, index});
        if (log) checkAgainst(setup_.judge, replica, *log, readLog(setup_.judge, *log, plan_.version, false));
      }
    }
  }
}

}  // namespace tidemark::sim
