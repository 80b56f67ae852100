#include "sim/transaction_logs.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/bytes.h"
#include "records/batch.h"
#include "records/control.h"
#include "records/record.h"

namespace tidemark::sim {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

class LogReading {
 public:
  LogReading(Judge& judge, const log::PartitionLog& log, int16_t version, bool withValues)
      : judge_(judge), log_(log), raisesEpochs_(version >= kFirstVersionThatRaisesEpochs), withValues_(withValues) {}

  LoggedPartition run() {
    Offset next = log_.logStartOffset();
    while (next < log_.logEndOffset()) {
      const auto bytes = log_.readBytes(next, kPieceBytes, log::FetchIsolation::LogEnd);
      if (!bytes || bytes->empty()) {
        judge_.breach("S2", fmt::format("{} cannot be read from offset {} on", log_.partition(), next));
        break;
      }
      records::BatchCursor cursor(*bytes);
      while (cursor.next() == records::Step::Next) {
        batch(cursor.batch());
        next = cursor.batch().header.nextOffset();
      }
    }
    return std::move(held_);
  }

 private:
  void batch(const records::BatchView& batch) {
    const records::BatchHeader& header = batch.header;
    const auto payload = records::openPayload(batch, buffer_);
    if (!payload) return judge_.breach("S2", payload.error().message);
    records::RecordCursor records(header, *payload);
    std::optional<size_t> transaction;
    if (header.isTransactional() && !header.isControl()) transaction = transactionOf(header);
    while (records.next() == records::Step::Next) {
      const records::RecordView record = records.record();
      if (header.isControl()) {
        if (const auto marker = records::readEndTxnMarker(record)) ended(header, record.offset, marker->commit);
      } else if (withValues_) {
        held_.records[record.offset] = {record.value ? std::string(asText(*record.value)) : std::string(), transaction};
      }
    }
  }

  size_t transactionOf(const records::BatchHeader& header) {
    epochRises(header);
    const auto [open, first] = open_.try_emplace(header.producerId, held_.transactions.size());
    if (first) {
      held_.transactions.push_back(
          {.producer = header.producerId, .epoch = header.producerEpoch, .first = header.baseOffset});
    } else if (const LoggedTransaction& goesOn = held_.transactions[open->second];
               goesOn.epoch != header.producerEpoch) {
      judge_.breach("T7", fmt::format("{}: the transaction that producer {} began in epoch {} at offset {} goes on in "
                                      "epoch {} at offset {}",
                                      log_.partition(), header.producerId, goesOn.epoch, goesOn.first,
                                      header.producerEpoch, header.baseOffset));
    }
    return open->second;
  }

  void ended(const records::BatchHeader& header, Offset at, bool commit) {
    epochRises(header);
    const auto [known, first] = held_.markers.try_emplace({header.producerId, header.producerEpoch}, commit);
    if (raisesEpochs_ && !first && known->second != commit)
      judge_.breach("T5", fmt::format("{}: the marker of producer {} in epoch {} at offset {} says {}, an earlier one "
                                      "says otherwise",
                                      log_.partition(), header.producerId, header.producerEpoch, at,
                                      commit ? "commit" : "abort"));
    const auto open = open_.find(header.producerId);
    if (open == open_.end()) return;
    LoggedTransaction& ends = held_.transactions[open->second];
    ends.marker = at;
    ends.markerEpoch = header.producerEpoch;
    ends.committed = commit;
    open_.erase(open);
  }

  void epochRises(const records::BatchHeader& header) {
    ProducerEpoch& newest = epochs_.try_emplace(header.producerId, header.producerEpoch).first->second;
    if (header.producerEpoch < newest)
      judge_.breach("T7",
                    fmt::format("{}: what producer {} wrote in epoch {} stands at offset {}, after epoch {}",
                                log_.partition(), header.producerId, header.producerEpoch, header.baseOffset, newest));
    newest = std::max(newest, header.producerEpoch);
  }

  Judge& judge_;
  const log::PartitionLog& log_;
  const bool raisesEpochs_;
  const bool withValues_;
  LoggedPartition held_;
  std::map<ProducerId, size_t> open_;
  std::map<ProducerId, ProducerEpoch> epochs_;
  ByteVector buffer_;
};

}  // namespace

LoggedPartition readLog(Judge& judge, const log::PartitionLog& log, int16_t version, bool withValues) {
  return LogReading(judge, log, version, withValues).run();
}

void checkAgainst(Judge& judge, NodeId broker, const log::PartitionLog& log, const LoggedPartition& held) {
  const log::OffsetSnapshot ends = log.offsetSnapshot();
  Offset stable = ends.highWatermark.offset;
  using Aborted = std::tuple<Offset, ProducerId, Offset>;
  std::vector<Aborted> expected;
  for (const LoggedTransaction& each : held.transactions) {
    if (each.marker == kNoOffset || each.marker >= ends.highWatermark.offset) stable = std::min(stable, each.first);
    if (each.marker != kNoOffset && !each.committed) expected.emplace_back(each.marker, each.producer, each.first);
  }
  if (ends.lastStableOffset.offset != stable)
    judge.breach("T4", fmt::format("broker {}: the last stable offset of {} is {}, its batches say {}", broker,
                                   log.partition(), ends.lastStableOffset.offset, stable));
  const auto told = log.abortedTransactions(log.logStartOffset(), ends.logEndOffset.offset);
  if (!told) return judge.breach("T8", told.error().message);
  std::vector<Aborted> indexed;
  for (const log::AbortedTxn& each : *told) indexed.emplace_back(each.lastOffset, each.producerId, each.firstOffset);
  std::ranges::sort(indexed);
  std::ranges::sort(expected);
  if (indexed == expected) return;
  const auto [left, right] = std::ranges::mismatch(indexed, expected);
  const auto text = [](const auto& list, const auto& at) {
    return at == list.end()
               ? std::string("none")
               : fmt::format("producer {}, offsets {} to {}", std::get<1>(*at), std::get<2>(*at), std::get<0>(*at));
  };
  judge.breach(
      "T8",
      fmt::format("broker {}: the index of {} names {} aborted transactions, its batches {}; first: {}; {}", broker,
                  log.partition(), indexed.size(), expected.size(), text(indexed, left), text(expected, right)));
}

}  // namespace tidemark::sim
