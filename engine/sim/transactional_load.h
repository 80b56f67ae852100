#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/applications.h"
#include "sim/transaction_history.h"
#include "sim/transactional_application.h"
#include "sim/watch.h"

namespace tidemark::sim {

/// What a seed says of transactions.
struct TransactionPlan {
  struct Producer {
    TransactionalApplication::Options options;
    /// Another process takes the id from it, and back.
    bool rival = false;
  };
  /// None to two: one that writes to the scenario's topic, one that makes what the first writes into records of a
  /// second topic, which the first reads.
  std::vector<Producer> producers;
  /// The cluster's transaction.version, by which clients go.
  int16_t version = 2;

  bool any() const noexcept { return !producers.empty(); }
  bool hasSecondTopic() const noexcept { return producers.size() > 1; }
  /// The names of the processes.
  std::vector<std::string> clients() const;
  /// What is not as in most seeds, in words to follow others.
  std::string text() const;
};

/// `allVersions`: of transaction.version as well, else 2.
TransactionPlan drawTransactions(uint64_t seed, const std::string& topic, int partitions, bool allVersions);
/// The topic that comes with a second producer.
extern const std::string kLedger;

/// The transactional applications of a scenario and the readers of what they commit, and what is asked of all that in
/// the end.
class TransactionalLoad {
 public:
  struct Setup {
    platform::World& world;
    const Watch& watch;
    Judge& judge;
    Tally& tally;
    Journal& journal;
    uint64_t seed;
    std::string topic;
    int partitions;
  };
  TransactionalLoad(Setup setup, TransactionPlan plan);

  const TransactionPlan& plan() const noexcept { return plan_; }
  /// All that anybody writes to.
  std::vector<TopicPartition> partitions() const;
  void begin(const std::vector<platform::Endpoint>& bootstrap);
  /// Whoever takes an id from its owner comes.
  void rivalsCome();
  void stop();
  /// Records are lost by Kafka's rules, and with them what transactions were: their history is not asked any more.
  void lost() noexcept {
    whole_ = false;
    history_.lost();
  }
  /// "L2: …", "T6: …"; empty if everybody has stopped and no transaction is open.
  std::string whatIsNotWhole() const;
  /// Once it is whole: asks how far groups are, and reads once more from the beginning.
  void readAgain();
  /// What readers and groups still lack; empty if nothing.
  std::string whatIsNotRead();
  /// Once nothing is missing.
  void judgeAtRest();

 private:
  /// The log of a partition at its leader; null while it has none.
  std::shared_ptr<const log::PartitionLog> atLeader(const TopicPartition& partition) const;
  void start(const TransactionPlan::Producer& producer, const std::string& name);
  std::unique_ptr<Reader> reader(const std::string& name);

  const Setup setup_;
  const TransactionPlan plan_;
  TransactionHistory history_;
  bool whole_ = true;
  std::vector<platform::Endpoint> bootstrap_;
  std::vector<std::unique_ptr<TransactionalApplication>> applications_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Reader> late_;
  /// As the logs are at rest.
  std::map<TopicPartition, LoggedPartition> logs_;
};

}  // namespace tidemark::sim
