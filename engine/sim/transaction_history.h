#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "client/consumer.h"
#include "sim/checker.h"
#include "sim/tally.h"
#include "sim/transaction_logs.h"

namespace tidemark::sim {

/// What applications did in transactions, and what they were told of it, as it happens; judged against the logs at the
/// end. Records of transactions have values by which they are known again.
class TransactionHistory {
 public:
  enum class Outcome : uint8_t {
    Open,
    Committed,
    /// A commit was never asked for.
    Aborted,
    /// A commit was asked for, nobody knows what came of it.
    Unknown
  };
  using Number = size_t;
  /// By offset, as a read_committed reader was given them.
  using Records = std::map<TopicPartition, std::map<Offset, std::string>>;
  using Offsets = std::map<TopicPartition, Offset>;

  /// `version`: the cluster's transaction.version.
  TransactionHistory(Judge& judge, Tally& tally, int16_t version) : judge_(judge), tally_(tally), version_(version) {}

  /// Records are lost by Kafka's rules. Those of a coordinator may be among them: whom it made what it does not know
  /// any more (T7).
  void lost() noexcept { whole_ = false; }

  /// A process was told that it is this producer from now on: as it began, or as a transaction ended that raised the
  /// epoch. T7: nobody was before.
  void became(const std::string& transactionalId, const std::string& process, ProducerId producer, ProducerEpoch epoch);
  Number began(const std::string& transactionalId, const std::string& process, ProducerId producer,
               ProducerEpoch epoch);
  /// The value of a record that it writes next. `from`: what it is made of.
  std::string valueFor(Number number, const std::string& from = {});
  void wrote(Number number, const TopicPartition& partition, Offset offset);
  void read(Number number, const TopicPartition& partition, Offset offset);
  /// Offsets of a group that count if it commits.
  void sends(Number number, const Offsets& offsets) { all_[number].offsets = offsets; }
  void asked(Number number, bool commit);
  /// T7: no commit of one who was fenced before it asked.
  void answered(Number number, bool succeeded);
  /// A reader goes on elsewhere: what it sees from now on need not continue what it saw before.
  void moved(const std::string& reader) { seen_[reader].emplace_back(); }
  /// The high watermark as the answer told it. G1b: what it saw is all that the transaction has on that partition.
  void sawCommitted(const std::string& reader, const TopicPartition& partition, Offset offset, std::string_view value,
                    Offset highWatermark);

  /// What the logs say of it in the end. T3: each transaction is whole or not at all, and as its application was told;
  /// T5: each is ended by a marker of its own; no G0, G1a, G1b, G1c.
  void judgeBy(const std::map<TopicPartition, LoggedPartition>& logs);
  /// T3: a read_committed reader from the beginning was given what the logs say, no more, no less; empty if it was.
  static std::string difference(const Records& read, const std::map<TopicPartition, LoggedPartition>& logs);
  /// T3, after judgeBy(): the group's committed offsets are those of the last transaction of that id that brought some,
  /// and each record of the input below them was used once.
  void judgeOffsets(const std::string& transactionalId, const Offsets& committed,
                    const std::map<TopicPartition, LoggedPartition>& logs) const;

 private:
  struct Transaction {
    std::string transactionalId;
    std::string process;
    ProducerId producer;
    ProducerEpoch epoch;
    Outcome outcome = Outcome::Open;
    bool commit = false;
    /// When it asked, somebody else had the id already.
    bool fenced = false;
    int values = 0;
    std::map<TopicPartition, std::set<Offset>> acknowledged;
    std::map<TopicPartition, std::set<Offset>> reads;
    Offsets offsets;
    /// By the logs.
    std::map<TopicPartition, std::set<Offset>> stands;
    bool committed = false;
  };
  struct Sight {
    std::string reader;
    Offset offset;
    Offset highWatermark;
  };

  std::string nameOf(Number number) const;
  void settle(Number number, const std::map<TopicPartition, LoggedPartition>& logs);
  void judgeMarkers(const std::map<TopicPartition, LoggedPartition>& logs);
  void judgeOwners(const std::map<TopicPartition, LoggedPartition>& logs);
  void judgeSights();
  void judgeCycles();

  Judge& judge_;
  Tally& tally_;
  const int16_t version_;
  bool whole_ = true;
  std::vector<Transaction> all_;
  std::map<std::pair<ProducerId, ProducerEpoch>, std::string> given_;
  /// By transactional id: who was told last.
  std::map<std::string, std::pair<ProducerId, ProducerEpoch>> newest_;
  /// The first of each transaction and partition.
  std::map<std::pair<Number, TopicPartition>, Sight> sights_;
  /// By reader: what it saw in a row, from where it began or was moved to.
  std::map<std::string, std::vector<std::map<TopicPartition, std::set<Offset>>>> seen_;
};

/// The number in the value of a record that a transaction wrote; nothing in others.
std::optional<TransactionHistory::Number> transactionOf(std::string_view value);
/// What it was made of, empty if it does not say.
std::string_view sourceOf(std::string_view value);

}  // namespace tidemark::sim
