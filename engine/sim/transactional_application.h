#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/group_admin.h"
#include "client/transactional_producer.h"
#include "sim/applications.h"
#include "sim/transaction_history.h"

namespace tidemark::sim {

/// Writes in transactions until it is told to stop, each over several partitions: most are committed, some aborted,
/// some left open for longer than their timeout. Meanwhile it reads a topic in read_committed. If it has a group, it
/// makes each record of transactions that it reads into one, and commits how far it is with it
/// (consume-transform-produce). Whoever is fenced comes again after a while: two of one id take it from each other.
class TransactionalApplication final : public Application {
 public:
  struct Options {
    std::string transactionalId;
    /// Empty: it reads nothing.
    std::string input;
    std::string output;
    /// Of each topic.
    int partitions = 3;
    /// Empty: what it reads does not matter for what it writes.
    std::string group;
    platform::Duration timeout = std::chrono::seconds(5);
    platform::Duration pause = std::chrono::milliseconds(150);
    /// Per cent of the transactions.
    unsigned aborts = 15;
    unsigned leavesOpen = 4;
  };
  TransactionalApplication(platform::World& world, const std::string& name,
                           const std::vector<platform::Endpoint>& bootstrap, Options options, uint64_t seed,
                           Journal& journal, TransactionHistory& history, Tally& tally);
  ~TransactionalApplication() override;

  const Options& options() const noexcept { return options_; }
  /// What is begun is brought to its end, or is left to its timeout.
  void stop() noexcept { stopped_ = true; }
  bool isIdle() const noexcept { return idle_; }
  /// Asks how far the group is, until it is known; offsets of open transactions are waited for.
  void askForOffsets();
  const std::optional<TransactionHistory::Offsets>& offsets() const noexcept { return offsets_; }

 private:
  struct Input {
    TopicPartition where;
    Offset offset;
    LeaderEpoch leaderEpoch;
    bool used = false;
  };

  void begin();
  void readFromCommitted();
  std::vector<TopicPartition> inputPartitions() const;
  void consumed(const client::ConsumedRecord& record);
  /// After a pause; to be called when nothing is open.
  void nextTransaction();
  void transaction();
  void write(const std::string& from);
  /// What it makes of its input, and how far that brings the group.
  void transform();
  /// Ends it once everything is answered that has to be.
  void awaitAnswers();
  void finish();
  void failed(const Error& error);
  void later(platform::Duration after, void (TransactionalApplication::*step)());

  const Options options_;
  platform::Generator choices_;
  Journal& journal_;
  TransactionHistory& history_;
  Tally& tally_;
  std::unique_ptr<client::TransactionalProducer> producer_;
  std::unique_ptr<client::Consumer> consumer_;
  std::unique_ptr<client::GroupAdmin> groups_;
  platform::Timer timer_;
  std::deque<Input> inputs_;
  /// Of the transaction that is open.
  std::optional<TransactionHistory::Number> open_;
  bool commit_ = false;
  size_t unanswered_ = 0;
  bool sendingOffsets_ = false;
  bool refused_ = false;
  /// Answers of what an earlier transaction wrote count no more.
  uint64_t round_ = 0;
  bool stopped_ = false;
  bool idle_ = false;
  std::optional<TransactionHistory::Offsets> offsets_;
};

}  // namespace tidemark::sim
