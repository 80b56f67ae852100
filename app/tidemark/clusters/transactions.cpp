#include "tidemark/clusters/transactions.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "client/admin.h"
#include "tidemark/answers.h"
#include "tidemark/checks.h"
#include "tidemark/clusters/cluster_session.h"
#include "tidemark/clusters/columns.h"
#include "tidemark/clusters/time_text.h"
#include "tidemark/commands.h"
#include "tidemark/console.h"
#include "tidemark/suggest.h"

namespace tidemark::app {
namespace {

using client::ListedTransaction;
using client::ProducerOnPartition;
using client::TransactionDescription;
using nlohmann::json;

constexpr std::chrono::seconds kTransactionPatience{15};

int64_t nowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// A partition's producer as it hangs, and for how long nothing came from it.
json hangingJson(const ProducerOnPartition& one) {
  return {{"topic", one.partition.topic},
          {"partition", one.partition.partition.value()},
          {"producerId", one.producer.value()},
          {"producerEpoch", one.epoch.value()},
          {"coordinatorEpoch", one.coordinatorEpoch},
          {"startOffset", one.transactionStart.value()},
          {"lastTimestamp", one.lastTimestampMs}};
}

}  // namespace

TransactionCommands::TransactionCommands(CLI::App& app)
    : ClusterCommand(app, "transactions", "list and describe transactions of any cluster, abort what hangs") {
  CLI::App* listing = addAction("list", "all transactional ids and the state of their newest transaction");
  listing->add_option("--state", states_,
                      "only these: Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort");
  CLI::App* describing = addAction("describe", "one transactional id: producer, epoch, timeout, partitions");
  describing->add_option("transactional-id", id_, "the transactional id")->required();
  CLI::App* aborting = addAction("abort", "write an abort marker to one partition, past the coordinator");
  aborting->footer(
      "For a transaction that find-hanging has found: one that its coordinator still knows ends by itself at its "
      "timeout.");
  aborting->add_option("--topic", topic_, "the topic")->required();
  aborting->add_option("--partition", partition_, "the partition")->required()->check(wholeNumber(0, INT32_MAX));
  auto* start = aborting->add_option("--start-offset", startOffset_, "where the transaction begins")
                    ->check(wholeNumber(0, INT64_MAX));
  aborting->add_option("--producer-id", producer_, "or whose it is")->check(wholeNumber(0, INT64_MAX))->excludes(start);
  CLI::App* hanging = addAction("find-hanging", "open transactions that no coordinator will end");
  hanging->add_option("--topic", topic_, "look at this topic; without: at all");
  hanging->add_option("--partition", partition_, "only at this partition of it")->check(wholeNumber(0, INT32_MAX));
  hanging
      ->add_option("--max-transaction-timeout", maxTransactionMinutes_, "minutes without a write after which it counts")
      ->check(wholeNumber(0, INT32_MAX))
      ->capture_default_str();
}

int TransactionCommands::run() {
  const auto usage = [](const std::string& message) {
    Console::complain("tidemark: " + message);
    return kUsage;
  };
  if (const auto endpoints = parseBootstrap(bootstrap_); !endpoints) return usage(endpoints.error().message);
  if (action_ == "abort" && startOffset_ < 0 && producer_ < 0)
    return usage("abort takes --start-offset or --producer-id: find-hanging shows both");
  if (action_ == "find-hanging" && partition_ >= 0 && topic_.empty()) return usage("--partition needs --topic");
  const int status = runSession("transactions", bootstrap_, [this](ClusterSession& session) { return act(session); });
  return status == kOk && partial_ ? kPartial : status;
}

Result<void> TransactionCommands::act(ClusterSession& session) {
  if (action_ == "list") return list(session);
  if (action_ == "describe") return describe(session);
  if (action_ == "abort") return abort(session);
  return findHanging(session);
}

Result<void> TransactionCommands::list(ClusterSession& session) {
  const auto admin = session.make<client::TransactionAdmin>(kListPatience);
  TIDEMARK_ASSIGN(const auto gathered, session.ask<client::Gathered<ListedTransaction>>([&](auto done) {
    admin->listTransactions({.states = states_, .producers = {}}, std::move(done));
  }));
  const std::vector<ListedTransaction>& found = gathered.all;
  // What is wrong with the question every broker says.
  if (found.empty() && !gathered.missing.empty() && gathered.missing.begin()->second.code == ErrorCode::InvalidRequest)
    return fail(gathered.missing.begin()->second);
  partial_ = complainOfMissing("transactions", gathered.missing);
  if (json_) {
    json all = json::array();
    for (const ListedTransaction& one : found)
      all.push_back({{"transactionalId", one.transactionalId},
                     {"coordinator", one.coordinator.value()},
                     {"producerId", one.producer.value()},
                     {"state", one.state}});
    say({{"transactions", std::move(all)}});
    return {};
  }
  std::vector<std::vector<std::string>> rows;
  for (const ListedTransaction& one : found)
    rows.push_back({one.transactionalId, std::to_string(one.coordinator.value()), std::to_string(one.producer.value()),
                    one.state});
  Console::printText(columns({"TransactionalId", "Coordinator", "ProducerId", "TransactionState"}, rows));
  return {};
}

Result<void> TransactionCommands::describe(ClusterSession& session) {
  const auto admin = session.make<client::TransactionAdmin>(kTransactionPatience);
  auto found =
      session.ask<TransactionDescription>([&](auto done) { admin->describeTransaction(id_, std::move(done)); });
  if (!found && found.error().code == ErrorCode::TransactionalIdNotFound) {
    const auto all = session.ask<client::Gathered<ListedTransaction>>(
        [&](auto done) { admin->listTransactions({}, std::move(done)); });
    std::vector<std::string> names;
    if (all)
      for (const ListedTransaction& one : all->all) names.push_back(one.transactionalId);
    const std::string near = nearest(id_, names);
    return fail(found.error().code, fmt::format("there is no transactional id {}{}", id_,
                                                near.empty() ? "; `tidemark transactions list` shows those there are"
                                                             : "; the nearest is " + near));
  }
  if (!found) return fail(std::move(found).error());
  const std::optional<int64_t> openFor =
      found->startedMs >= 0 ? std::optional(nowMs() - found->startedMs) : std::nullopt;
  if (json_) {
    json partitions = json::array();
    for (const TopicPartition& one : found->partitions)
      partitions.push_back({{"topic", one.topic}, {"partition", one.partition.value()}});
    json whole{
        {"transactionalId", id_}, {"producerId", found->producer.value()}, {"producerEpoch", found->epoch.value()},
        {"state", found->state},  {"timeoutMs", found->timeout.count()},   {"startedMs", nullptr},
        {"openForMs", nullptr},   {"partitions", std::move(partitions)}};
    if (openFor) {
      whole["startedMs"] = found->startedMs;
      whole["openForMs"] = *openFor;
    }
    say(whole);
    return {};
  }
  std::string partitions;
  for (const TopicPartition& one : found->partitions)
    partitions += fmt::format("{}{}", partitions.empty() ? "" : ",", one);
  Console::printText(
      columns({"TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs",
               "CurrentTransactionStartTime", "TransactionDurationMs", "TopicPartitions"},
              {{id_, std::to_string(found->producer.value()), std::to_string(found->epoch.value()), found->state,
                std::to_string(found->timeout.count()), openFor ? datetimeText(found->startedMs) : "",
                openFor ? std::to_string(*openFor) : "", partitions}}));
  return {};
}

Result<std::vector<TopicPartition>> TransactionCommands::partitions(ClusterSession& session) {
  const auto admin = session.make<client::Admin>(kTransactionPatience);
  std::vector<std::string> topics{topic_};
  if (topic_.empty()) {
    TIDEMARK_ASSIGN(topics,
                    session.ask<std::vector<std::string>>([&](auto done) { admin->listTopics(std::move(done)); }));
  }
  std::vector<TopicPartition> all;
  const auto described = session.askAll<client::TopicDescription>(
      topics, [&](const std::string& name, auto done) { admin->describeTopic(name, std::move(done)); });
  for (const auto& topic : described) {
    if (!topic)
      return fail(topic.error().code, topic.error().code == ErrorCode::UnknownTopicOrPartition
                                          ? fmt::format("there is no topic {}", topic_)
                                          : topic.error().message);
    for (const auto& [index, partition] : topic->partitions)
      if (partition_ < 0 || partition_ == index) all.push_back({topic->name, PartitionIndex(index)});
  }
  if (all.empty() && !topic_.empty())
    return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("topic {} has no partition {}", topic_, partition_));
  return all;
}

Result<void> TransactionCommands::abort(ClusterSession& session) {
  const auto admin = session.make<client::TransactionAdmin>(kTransactionPatience);
  TIDEMARK_ASSIGN(const auto which, partitions(session));
  TIDEMARK_ASSIGN(const auto producers, session.ask<std::vector<ProducerOnPartition>>(
                                            [&](auto done) { admin->describeProducers(which[0], std::move(done)); }));
  const auto found = std::ranges::find_if(producers, [&](const ProducerOnPartition& one) {
    return one.transactionStart >= Offset(0) &&
           (startOffset_ >= 0 ? one.transactionStart == Offset(startOffset_) : one.producer == ProducerId(producer_));
  });
  if (found == producers.end())
    return fail(ErrorCode::InvalidRequest,
                fmt::format("no transaction is open on {} {}", which[0],
                            startOffset_ >= 0 ? fmt::format("that begins at {}", startOffset_)
                                              : fmt::format("of producer {}", producer_)));
  const auto done = session.ask<void>([&](auto handler) { admin->abort(*found, std::move(handler)); });
  if (!done)
    return fail(done.error().code, fmt::format("{} was not aborted: {}", which[0],
                                               done.error().message.empty() ? std::string(errorName(done.error().code))
                                                                            : done.error().message));
  if (json_)
    say({{"aborted", hangingJson(*found)}});
  else
    Console::print(fmt::format("aborted the transaction of producer {} on {} from offset {} on", found->producer,
                               which[0], found->transactionStart));
  return {};
}

Result<void> TransactionCommands::findHanging(ClusterSession& session) {
  const auto admin = session.make<client::TransactionAdmin>(kTransactionPatience);
  TIDEMARK_ASSIGN(const auto where, partitions(session));
  const auto answers = session.askAll<std::vector<ProducerOnPartition>>(
      where, [&](const TopicPartition& one, auto done) { admin->describeProducers(one, std::move(done)); });
  const int64_t before = nowMs() - static_cast<int64_t>(maxTransactionMinutes_) * 60'000;
  std::vector<ProducerOnPartition> open;
  client::TransactionAdmin::Filter filter;
  for (const auto& answer : answers) {
    if (!answer) return fail(answer.error());
    for (const ProducerOnPartition& one : *answer) {
      if (one.transactionStart < Offset(0) || one.lastTimestampMs > before) continue;
      open.push_back(one);
      filter.producers.push_back(one.producer);
    }
  }
  std::map<ProducerId, TransactionDescription> known;
  if (!open.empty()) {
    TIDEMARK_ASSIGN(const auto listed, session.ask<client::Gathered<ListedTransaction>>(
                                           [&](auto done) { admin->listTransactions(filter, std::move(done)); }));
    // One whose coordinator is silent would pass for one that has none.
    if (!listed.missing.empty()) return fail(listed.missing.begin()->second);
    for (const ListedTransaction& one : listed.all) {
      auto described = session.ask<TransactionDescription>(
          [&](auto done) { admin->describeTransaction(one.transactionalId, std::move(done)); });
      if (described) known[one.producer] = *std::move(described);
    }
  }
  std::erase_if(open, [&](const ProducerOnPartition& one) {
    const auto of = known.find(one.producer);
    return !client::isHanging(one, of == known.end() ? nullptr : &of->second);
  });
  if (json_) {
    json all = json::array();
    for (const ProducerOnPartition& one : open) all.push_back(hangingJson(one));
    say({{"hanging", std::move(all)}});
    return {};
  }
  std::vector<std::vector<std::string>> rows;
  for (const ProducerOnPartition& one : open)
    rows.push_back({one.partition.topic, std::to_string(one.partition.partition.value()),
                    std::to_string(one.producer.value()), std::to_string(one.epoch.value()),
                    std::to_string(one.coordinatorEpoch), std::to_string(one.transactionStart.value()),
                    datetimeText(one.lastTimestampMs), std::to_string((nowMs() - one.lastTimestampMs) / 60'000)});
  Console::printText(columns({"Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset",
                              "LastTimestamp", "Duration(min)"},
                             rows));
  if (!open.empty())
    Console::complain("`tidemark transactions abort --topic T --partition P --start-offset N` ends one");
  return {};
}

}  // namespace tidemark::app
