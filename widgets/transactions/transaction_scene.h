#pragma once

#include <optional>
#include <vector>

#include <QString>

#include "transactions/transaction_past.h"

// The transactions as they are drawn: values and words, no colours. Two equal scenes are painted once.
namespace tidemark::widgets {

/// A transaction on a partition, over time; parts of the width.
struct SpanScene {
  int number = 0;
  double from = 0;
  double to = 0;
  observe::TransactionFate fate = observe::TransactionFate::Open;
  /// Its marker is written here.
  bool ended = false;
  QString text;
  /// What is left of it where there is little room, and what stands at the right end where there is much.
  QString shortText;
  QString rightText;
  QString tip;
  friend bool operator==(const SpanScene&, const SpanScene&) = default;
};

struct SpanRow {
  QString partition;
  std::vector<SpanScene> spans;
  friend bool operator==(const SpanRow&, const SpanRow&) = default;
};

/// A moment at which a producer was fenced or refused.
struct FenceMark {
  double at = 0;
  /// Of the rows of its producer.
  int row = 0;
  QString text;
  bool refused = false;
  friend bool operator==(const FenceMark&, const FenceMark&) = default;
};

struct ProducerScene {
  QString name;
  QString note;
  std::vector<SpanRow> rows;
  std::vector<FenceMark> marks;
  friend bool operator==(const ProducerScene&, const ProducerScene&) = default;
};

struct LogBatchScene {
  int number = 0;
  double from = 0;
  double to = 0;
  /// What is written above it; empty where there is no room.
  QString offset;
  QString text;
  observe::TransactionFate fate = observe::TransactionFate::Unknown;
  bool control = false;
  QString tip;
  friend bool operator==(const LogBatchScene&, const LogBatchScene&) = default;
};

struct LogScene {
  QString partition;
  QString note;
  std::vector<LogBatchScene> batches;
  /// Parts of the width; none: out of sight.
  std::optional<double> lastStable;
  std::optional<double> highWatermark;
  QString lastStableText;
  QString highWatermarkText;
  /// "14 offsets held back by T3".
  QString held;
  friend bool operator==(const LogScene&, const LogScene&) = default;
};

struct FencingRow {
  QString time;
  QString epoch;
  QString text;
  uint64_t event = 0;
  friend bool operator==(const FencingRow&, const FencingRow&) = default;
};

struct AbortedRow {
  QString partition, producer, first, last, lastStable;
  friend bool operator==(const AbortedRow&, const AbortedRow&) = default;
};

/// The transaction that is looked at.
struct TransactionFacts {
  QString title;
  QString state;
  bool holdsBack = false;
  bool open = false;
  std::vector<std::pair<QString, QString>> facts;
  /// Of its timeout, how much is over; negative: it is not open.
  double over = -1;
  QString note;
  QString warning;
  friend bool operator==(const TransactionFacts&, const TransactionFacts&) = default;
};

struct TransactionScene {
  /// Texts of the ticks of the time axis, with their place.
  std::vector<std::pair<double, QString>> ticks;
  std::vector<ProducerScene> producers;
  std::vector<LogScene> logs;
  std::vector<FencingRow> fencing;
  std::vector<AbortedRow> aborted;
  TransactionFacts facts;
  int picked = 0;
  friend bool operator==(const TransactionScene&, const TransactionScene&) = default;
};

/// A row of the table twin.
struct TransactionRow {
  int number = 0;
  QString id;
  ProducerId producer;
  ProducerEpoch epoch;
  QString state;
  QString began;
  QString took;
  QString partitions;
  QString markers;
  friend bool operator==(const TransactionRow&, const TransactionRow&) = default;
};

inline constexpr size_t kMostProducers = 8;
inline constexpr size_t kMostLogs = 6;

/// `span`: how much time is looked at, up to `now`. `picked`: 0 or the number of a transaction.
TransactionScene transactionScene(const observe::ClusterSnapshot& cluster, const TransactionPast& past, int picked,
                                  TransactionTime now, platform::Duration span);
std::vector<TransactionRow> transactionRows(const TransactionPast& past, TransactionTime now);
/// "COMMIT", "ABORT" and the like are Kafka's words.
QString fateText(observe::TransactionFate fate);
/// Empty for what is no news of fencing.
QString fencingText(const FencingHappening& happening);

}  // namespace tidemark::widgets
