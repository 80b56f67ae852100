#include "transactions/transaction_scene.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <QCoreApplication>
#include <QStringList>

#include "text/format.h"

namespace tidemark::widgets {

namespace {

struct TransactionTexts {
  Q_DECLARE_TR_FUNCTIONS(Transactions)
};

using observe::TransactionFate;

const observe::TransactionSnapshot* ofProducer(const observe::ClusterSnapshot& cluster, ProducerId producer) {
  const auto found = std::ranges::find(cluster.transactions, producer, &observe::TransactionSnapshot::producer);
  return found == cluster.transactions.end() ? nullptr : &*found;
}

QString producerName(const TransactionPast& past, ProducerId producer) {
  const std::string id = past.idOf(producer);
  return id.empty() ? TransactionTexts::tr("producer %1").arg(producer.value()) : fromUtf8(id);
}

QString nameOfTransaction(int number) {
  return QStringLiteral("T%1").arg(number);
}

std::vector<std::pair<double, QString>> ticksOf(TransactionTime now, platform::Duration span) {
  const double seconds = std::chrono::duration<double>(span).count();
  double step = 1;
  for (const double each : {1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0}) {
    step = each;
    if (seconds / each <= 7) break;
  }
  const auto stepMs = static_cast<int64_t>(step * 1000);
  const int64_t end = now.time_since_epoch().count();
  std::vector<std::pair<double, QString>> ticks;
  for (int64_t at = end / stepMs * stepMs; at > end - static_cast<int64_t>(seconds * 1000); at -= stepMs)
    ticks.emplace_back(1 - static_cast<double>(end - at) / (seconds * 1000),
                       timeText(TransactionTime(std::chrono::milliseconds(at))).left(8));
  std::ranges::reverse(ticks);
  return ticks;
}

std::vector<ProducerScene> producersOf(const TransactionPast& past, TransactionTime now, platform::Duration span) {
  const auto part = [&](TransactionTime time) {
    return 1 - std::chrono::duration<double>(now - time).count() / std::chrono::duration<double>(span).count();
  };
  // Who began something last stands first among those shown, but each keeps its place: by producer id.
  std::set<ProducerId> shown;
  for (auto one = past.transactions().rbegin(); one != past.transactions().rend() && shown.size() < kMostProducers;
       ++one)
    if (part(one->ended.value_or(now)) > 0) shown.insert(one->producer);
  for (auto one = past.happenings().rbegin(); one != past.happenings().rend() && shown.size() < kMostProducers; ++one)
    if (const auto* fenced = std::get_if<events::ProducerFenced>(&one->what); fenced && part(one->at) > 0)
      shown.insert(fenced->producer);
  std::vector<ProducerScene> producers;
  for (const ProducerId producer : shown) {
    ProducerScene scene{.name = producerName(past, producer),
                        .note = TransactionTexts::tr("producer %1").arg(producer.value())};
    std::map<TopicPartition, SpanRow> rows;
    for (const Transaction& transaction : past.transactions()) {
      if (transaction.producer != producer || part(transaction.ended.value_or(now)) <= 0) continue;
      bool named = false;
      for (const auto& [partition, on] : transaction.parts) {
        SpanScene span_{.number = transaction.number,
                        .from = std::max(0.0, part(on.began)),
                        .to = std::min(1.0, part(on.ended.value_or(now))),
                        .fate = on.ended ? transaction.fate : TransactionFate::Open,
                        .ended = on.ended.has_value()};
        if (!named)
          span_.text = TransactionTexts::tr("%1 · epoch %2")
                           .arg(nameOfTransaction(transaction.number))
                           .arg(transaction.epoch.value());
        if (!named) span_.shortText = nameOfTransaction(transaction.number);
        if (!named && !on.ended)
          span_.rightText = TransactionTexts::tr("open for %1").arg(durationText(now - transaction.began));
        named = true;
        span_.tip = TransactionTexts::tr("%1 on %2: %3, from offset %4 on, for %5")
                        .arg(nameOfTransaction(transaction.number), partitionText(partition), fateText(span_.fate),
                             offsetText(on.first), durationText(on.ended.value_or(now) - on.began));
        SpanRow& row = rows[partition];
        row.partition = partitionText(partition);
        row.spans.push_back(std::move(span_));
      }
    }
    std::map<TopicPartition, int> places;
    for (auto& [partition, row] : rows) {
      places[partition] = static_cast<int>(scene.rows.size());
      scene.rows.push_back(std::move(row));
    }
    if (scene.rows.empty()) scene.rows.emplace_back();
    for (const FencingHappening& happening : past.happenings()) {
      if (part(happening.at) <= 0) continue;
      FenceMark mark{.at = part(happening.at)};
      if (const auto* refused = std::get_if<events::ProducerFenced>(&happening.what);
          refused && refused->producer == producer) {
        mark.refused = true;
        mark.text = TransactionTexts::tr("zombie, epoch %1: refused").arg(refused->epoch.value());
        if (const auto place = places.find(happening.partition); place != places.end()) mark.row = place->second;
      } else if (const auto* change = std::get_if<events::TransactionStateChanged>(&happening.what);
                 change && change->producer == producer) {
        if (change->cause == events::TransactionCause::Fenced)
          mark.text = TransactionTexts::tr("another instance starts: epoch %1").arg(change->epoch.value());
        else if (change->cause == events::TransactionCause::TimedOut)
          mark.text = TransactionTexts::tr("its time is over: epoch %1").arg(change->epoch.value());
        else
          continue;
      } else {
        continue;
      }
      scene.marks.push_back(std::move(mark));
    }
    producers.push_back(std::move(scene));
  }
  return producers;
}

LogScene logOf(const observe::ClusterSnapshot& cluster, const TransactionPast& past, const TopicPartition& where,
               const std::deque<TransactionBatch>& batches) {
  LogScene scene{.partition = partitionText(where)};
  // As many as can be told apart.
  constexpr size_t kShown = 16;
  std::vector<TransactionBatch> shown;
  for (size_t i = batches.size() > kShown ? batches.size() - kShown : 0; i < batches.size(); ++i)
    shown.push_back(batches[i]);
  // A width for each, more for more records, so that one of a thousand does not push the others out of sight.
  std::vector<double> ends{0};
  for (const TransactionBatch& batch : shown)
    ends.push_back(
        ends.back() +
        (batch.control ? 0.7 : 1 + std::log2(static_cast<double>(std::max<int64_t>(1, batch.last - batch.first + 1)))));
  // Room behind the last one, where the next will come.
  const double all = ends.back() + 1.2;
  const auto placeOf = [&](Offset offset) -> std::optional<double> {
    if (shown.empty() || offset < shown.front().first) return std::nullopt;
    for (size_t i = 0; i < shown.size(); ++i) {
      if (offset > shown[i].last) continue;
      if (offset <= shown[i].first) return ends[i] / all;
      return (ends[i] + (ends[i + 1] - ends[i]) * static_cast<double>(offset - shown[i].first) /
                            static_cast<double>(shown[i].last - shown[i].first + 1)) /
             all;
    }
    return ends.back() / all;
  };
  for (size_t i = 0; i < shown.size(); ++i) {
    const TransactionBatch& batch = shown[i];
    LogBatchScene drawn{.number = batch.transaction,
                        .from = ends[i] / all,
                        .to = ends[i + 1] / all,
                        .offset = batch.control ? QString() : offsetText(batch.first),
                        .control = batch.control};
    const Transaction* transaction = past.find(batch.transaction);
    if (batch.control) {
      drawn.fate = batch.commits ? TransactionFate::Committed : TransactionFate::Aborted;
      drawn.text = batch.commits ? QStringLiteral("C") : QStringLiteral("A");
      drawn.tip = TransactionTexts::tr("%1 at %2")
                      .arg(batch.commits ? QStringLiteral("COMMIT") : QStringLiteral("ABORT"), offsetText(batch.first));
    } else if (transaction != nullptr) {
      const auto on = transaction->parts.find(where);
      drawn.fate = on != transaction->parts.end() && on->second.ended ? transaction->fate : TransactionFate::Open;
      drawn.text = nameOfTransaction(batch.transaction);
      drawn.tip = TransactionTexts::tr("%1: %2, offsets %3 … %4")
                      .arg(drawn.text, fateText(drawn.fate), offsetText(batch.first), offsetText(batch.last));
    } else {
      drawn.tip = TransactionTexts::tr("not transactional, offsets %1 … %2")
                      .arg(offsetText(batch.first), offsetText(batch.last));
    }
    scene.batches.push_back(std::move(drawn));
  }
  const observe::PartitionSnapshot* partition = observe::findPartition(cluster, where);
  if (partition == nullptr) return scene;
  scene.note = TransactionTexts::tr("leader %1 · epoch %2")
                   .arg(partition->leader == kNoNode ? QStringLiteral("–") : QString::number(partition->leader.value()))
                   .arg(partition->leaderEpoch.value());
  scene.lastStable = placeOf(partition->lastStable);
  scene.highWatermark = placeOf(partition->highWatermark);
  const int64_t held = partition->highWatermark - partition->lastStable;
  if (held > 0) {
    scene.lastStableText = TransactionTexts::tr("LSO %1").arg(offsetText(partition->lastStable));
    scene.highWatermarkText = TransactionTexts::tr("HW %1").arg(offsetText(partition->highWatermark));
    QString by;
    if (!partition->openTransactions.empty()) {
      const observe::OpenTransactionSnapshot& oldest = partition->openTransactions.front();
      by = producerName(past, oldest.producer);
      for (auto one = past.transactions().rbegin(); one != past.transactions().rend(); ++one)
        if (one->producer == oldest.producer && one->fate == TransactionFate::Open) {
          by = QStringLiteral("%1 (%2)").arg(nameOfTransaction(one->number), by);
          break;
        }
    }
    scene.held = by.isEmpty()
                     ? TransactionTexts::tr("%n offset(s) held back until the marker is replicated", nullptr,
                                            static_cast<int>(held))
                     : TransactionTexts::tr("%n offset(s) held back by %1", nullptr, static_cast<int>(held)).arg(by);
  } else {
    scene.lastStableText = TransactionTexts::tr("HW = LSO %1").arg(offsetText(partition->highWatermark));
    scene.highWatermark.reset();
  }
  return scene;
}

TransactionFacts factsOf(const observe::ClusterSnapshot& cluster, const TransactionPast& past, int picked,
                         TransactionTime now) {
  TransactionFacts facts;
  const Transaction* transaction = past.find(picked);
  if (transaction == nullptr) return facts;
  facts.title = nameOfTransaction(transaction->number);
  facts.open = transaction->fate == TransactionFate::Open;
  facts.state = fateText(transaction->fate);
  const observe::TransactionSnapshot* known = ofProducer(cluster, transaction->producer);
  const auto add = [&](const QString& name, const QString& value) { facts.facts.emplace_back(name, value); };
  const std::string id = past.idOf(transaction->producer);
  add(QStringLiteral("transactional.id"), id.empty() ? QStringLiteral("–") : fromUtf8(id));
  add(TransactionTexts::tr("producer id, epoch"),
      QStringLiteral("%1, %2").arg(transaction->producer.value()).arg(transaction->epoch.value()));
  if (known != nullptr) {
    add(TransactionTexts::tr("state of its id"), fromUtf8(known->state));
    if (known->epoch != transaction->epoch)
      add(TransactionTexts::tr("epoch of its id now"), QString::number(known->epoch.value()));
  }
  QStringList partitions, firsts;
  for (const auto& [partition, on] : transaction->parts) {
    partitions << partitionText(partition);
    firsts << offsetText(on.first);
  }
  add(TransactionTexts::tr("partitions"), partitions.join(QStringLiteral(", ")));
  add(TransactionTexts::tr("first offsets"), firsts.join(QStringLiteral(", ")));
  int64_t records = 0;
  int batches = 0;
  for (const auto& [partition, all] : past.batches())
    for (const TransactionBatch& batch : all)
      if (batch.transaction == picked && !batch.control) {
        records += batch.last - batch.first + 1;
        ++batches;
      }
  if (batches > 0)
    add(facts.open ? TransactionTexts::tr("records so far") : TransactionTexts::tr("records"),
        TransactionTexts::tr("%1 in %n batch(es)", nullptr, batches).arg(grouped(records)));
  const auto took = transaction->ended.value_or(now) - transaction->began;
  add(facts.open ? TransactionTexts::tr("open for") : TransactionTexts::tr("was open for"), durationText(took));
  if (known != nullptr)
    add(QStringLiteral("transaction.timeout.ms"),
        grouped(std::chrono::duration_cast<std::chrono::milliseconds>(known->timeout).count()));
  if (!facts.open) return facts;
  if (known != nullptr && known->timeout > platform::Duration::zero()) {
    facts.over = std::clamp(
        std::chrono::duration<double>(took).count() / std::chrono::duration<double>(known->timeout).count(), 0.0, 1.0);
    const auto left = std::chrono::duration_cast<platform::Duration>(known->timeout - took);
    facts.note = left > platform::Duration::zero() ? TransactionTexts::tr("coordinator broker %1 aborts it in %2")
                                                         .arg(known->coordinator.value())
                                                         .arg(durationText(left))
                                                   : TransactionTexts::tr("its time is over");
  }
  QStringList held;
  for (const auto& [partition, on] : transaction->parts) {
    const observe::PartitionSnapshot* log = observe::findPartition(cluster, partition);
    if (on.ended || log == nullptr || log->openTransactions.empty() ||
        log->openTransactions.front().producer != transaction->producer)
      continue;
    facts.holdsBack = true;
    held << TransactionTexts::tr("%1 from %2 on").arg(partitionText(partition), offsetText(log->lastStable));
  }
  if (facts.holdsBack)
    facts.warning = TransactionTexts::tr("read_committed sees nothing of %1").arg(held.join(QStringLiteral(", ")));
  return facts;
}

}  // namespace

QString fateText(TransactionFate fate) {
  switch (fate) {
    case TransactionFate::Open:
      return TransactionTexts::tr("open");
    case TransactionFate::Committed:
      return TransactionTexts::tr("committed");
    case TransactionFate::Aborted:
      return TransactionTexts::tr("aborted");
    case TransactionFate::Unknown:
      break;
  }
  return TransactionTexts::tr("unknown");
}

QString fencingText(const FencingHappening& happening) {
  if (const auto* refused = std::get_if<events::ProducerFenced>(&happening.what))
    return TransactionTexts::tr("producer %1 writes to %2 with epoch %3: INVALID_PRODUCER_EPOCH, nothing appended")
        .arg(refused->producer.value())
        .arg(partitionText(happening.partition))
        .arg(refused->epoch.value());
  if (const auto* marker = std::get_if<events::MarkerWritten>(&happening.what))
    return TransactionTexts::tr("ABORT at %1 offset %2, what began at %3 is void")
        .arg(partitionText(happening.partition), offsetText(marker->marker), offsetText(marker->first));
  if (const auto* change = std::get_if<events::TransactionStateChanged>(&happening.what)) {
    const QString id = fromUtf8(change->transactionalId.view());
    switch (change->cause) {
      case events::TransactionCause::Initialized:
        return TransactionTexts::tr("InitProducerId: %1 begins as producer %2").arg(id).arg(change->producer.value());
      case events::TransactionCause::Fenced:
        return TransactionTexts::tr("InitProducerId by another instance of %1: what was open is aborted").arg(id);
      case events::TransactionCause::TimedOut:
        return TransactionTexts::tr("%1 was open for longer than its timeout: aborted").arg(id);
      case events::TransactionCause::Expired:
        return TransactionTexts::tr("%1 was not used for long: forgotten").arg(id);
      default:
        return {};
    }
  }
  return {};
}

TransactionScene transactionScene(const observe::ClusterSnapshot& cluster, const TransactionPast& past, int picked,
                                  TransactionTime now, platform::Duration span) {
  TransactionScene scene{.ticks = ticksOf(now, span), .producers = producersOf(past, now, span), .picked = picked};
  // Partitions that are held back stand first, then those last written to.
  std::vector<std::pair<TopicPartition, const std::deque<TransactionBatch>*>> logs;
  for (const auto& [partition, batches] : past.batches()) logs.emplace_back(partition, &batches);
  std::ranges::stable_sort(logs, {}, [&](const auto& one) {
    const observe::PartitionSnapshot* partition = observe::findPartition(cluster, one.first);
    const bool held = partition != nullptr && partition->lastStable < partition->highWatermark;
    return std::pair(held ? 0 : one.first.topic.starts_with("__") ? 2 : 1, one.first);
  });
  for (size_t i = 0; i < std::min(kMostLogs, logs.size()); ++i)
    scene.logs.push_back(logOf(cluster, past, logs[i].first, *logs[i].second));
  for (auto one = past.happenings().rbegin(); one != past.happenings().rend() && scene.fencing.size() < 5; ++one) {
    QString text = fencingText(*one);
    if (text.isEmpty()) continue;
    const int epoch = std::visit(
        []<class Kind>(const Kind& kind) -> int {
          if constexpr (requires { kind.epoch.value(); })
            return static_cast<int>(kind.epoch.value());
          else
            return -1;
        },
        one->what);
    scene.fencing.push_back({timeText(one->at), QString::number(epoch), std::move(text), one->event});
  }
  for (auto one = past.aborted().rbegin(); one != past.aborted().rend() && scene.aborted.size() < 5; ++one)
    scene.aborted.push_back({partitionText(one->partition), QString::number(one->producer.value()),
                             offsetText(one->first), offsetText(one->last), offsetText(one->lastStable)});
  scene.facts = factsOf(cluster, past, picked, now);
  return scene;
}

std::vector<TransactionRow> transactionRows(const TransactionPast& past, TransactionTime now) {
  std::vector<TransactionRow> rows;
  for (auto one = past.transactions().rbegin(); one != past.transactions().rend(); ++one) {
    TransactionRow row{.number = one->number,
                       .id = fromUtf8(past.idOf(one->producer)),
                       .producer = one->producer,
                       .epoch = one->epoch,
                       .state = fateText(one->fate),
                       .began = timeText(one->began)};
    row.took = durationText(one->ended.value_or(now) - one->began);
    QStringList partitions, markers;
    for (const auto& [partition, on] : one->parts) {
      partitions << TransactionTexts::tr("%1 from %2").arg(partitionText(partition), offsetText(on.first));
      if (on.ended) markers << QStringLiteral("%1: %2").arg(partitionText(partition), offsetText(on.marker));
    }
    row.partitions = partitions.join(QStringLiteral(", "));
    row.markers = markers.join(QStringLiteral(", "));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tidemark::widgets
