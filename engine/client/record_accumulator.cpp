#include "client/record_accumulator.h"

#include <algorithm>
#include <utility>

namespace tidemark::client {

using platform::MonotonicTime;

void RecordAccumulator::append(const TopicPartition& where, const ProducerRecord& record, PendingRecord pending) {
  ProducerLane& lane = lanes_[where];
  if (lane.where.topic.empty()) lane.where = where;
  std::vector<records::RecordHeader> headers;
  headers.reserve(record.headers.size());
  for (const auto& header : record.headers) {
    headers.push_back({asBytes(header.key), header.value ? std::optional<ByteView>(*header.value) : std::nullopt});
  }
  const std::optional<ByteView> key = record.key ? std::optional<ByteView>(*record.key) : std::nullopt;
  const std::optional<ByteView> value = record.value ? std::optional<ByteView>(*record.value) : std::nullopt;
  if (lane.open && lane.open->builder.uncompressedSize() + records::BatchBuilder::recordSizeLimit(key, value, headers) >
                       options_.batchBytes) {
    close(lane);
  }
  if (!lane.open) {
    lane.open.emplace(ProducerLane::Open{
        .builder = records::BatchBuilder({.codec = options_.codec, .transactional = !options_.transactionalId.empty()}),
        .records = {},
        .opened = clock_.monotonic()});
  }
  lane.open->builder.append(record.timestampMs.value_or(clock_.wallMs()), key, value, headers);
  lane.open->records.push_back(std::move(pending));
}

ProducerBatchPtr RecordAccumulator::close(ProducerLane& lane) {
  ProducerLane::Open open = std::move(*lane.open);
  lane.open.reset();
  auto batch = std::make_shared<ProducerBatch>();
  batch->bytes = std::make_shared<ByteVector>(open.builder.build());
  batch->records = std::move(open.records);
  batch->deadline = open.opened + options_.deliveryTimeout;
  lane.batches.push_back(batch);
  return batch;
}

void RecordAccumulator::endLinger() {
  for (auto& [where, lane] : lanes_) {
    if (lane.open) lane.open->due = true;
  }
}

/// Order is kept: nothing goes while something older is on its way to another broker, nothing is repeated while
/// something younger is on its way, and nothing goes beside what is repeated: that may be in the log, and a log knows a
/// producer's last five batches only.
RecordAccumulator::Next RecordAccumulator::next(ProducerLane& lane, NodeId leader, bool mayNumber) {
  const MonotonicTime now = clock_.monotonic();
  if (lane.notBefore > now) return {.batch = nullptr, .wakeAt = lane.notBefore};
  int sent = 0;
  ProducerBatchPtr candidate;
  for (const ProducerBatchPtr& batch : lane.batches) {
    if (batch->state == ProducerBatch::State::Sent) {
      if (candidate || batch->sentTo != leader || (options_.idempotent && batch->attempts > 1)) return {};
      ++sent;
    } else if (!candidate) {
      candidate = batch;
    }
  }
  if (sent >= options_.maxInFlight) return {};
  if (candidate == nullptr && lane.open) {
    const MonotonicTime due = lane.open->opened + options_.linger;
    if (!lane.open->due && due > now) return {.batch = nullptr, .wakeAt = due};
    if (!mayNumber) return {};
    candidate = close(lane);
  }
  if (candidate && !candidate->isNumbered() && !mayNumber) return {};
  return {.batch = std::move(candidate)};
}

void RecordAccumulator::number(ProducerLane& lane, ProducerBatch& batch, ProducerId id, ProducerEpoch epoch) {
  if (!options_.idempotent || batch.isNumbered()) return;
  auto header = records::BatchHeader::read(batch.bytes->data());
  batch.sequence = lane.nextSequence;
  lane.nextSequence = records::nextSequence(lane.nextSequence, header.recordCount);
  header.producerId = id;
  header.producerEpoch = epoch;
  header.baseSequence = batch.sequence;
  header.write(batch.bytes->data());
  records::updateCrc(*batch.bytes);
}

void RecordAccumulator::restartNumbers() {
  for (auto& [where, lane] : lanes_) lane.nextSequence = 0;
}

std::vector<ProducerSending> RecordAccumulator::expired() {
  const MonotonicTime now = clock_.monotonic();
  std::vector<ProducerSending> expired;
  for (auto& [where, lane] : lanes_) {
    for (const ProducerBatchPtr& batch : lane.batches) {
      if (batch->deadline <= now && batch->state != ProducerBatch::State::Sent) expired.push_back({&lane, batch});
    }
    if (lane.open && lane.open->opened + options_.deliveryTimeout <= now) expired.push_back({&lane, close(lane)});
  }
  return expired;
}

MonotonicTime RecordAccumulator::nextDeadline() const {
  MonotonicTime next = MonotonicTime::max();
  for (const auto& [where, lane] : lanes_) {
    for (const ProducerBatchPtr& batch : lane.batches) {
      if (batch->state != ProducerBatch::State::Sent) next = std::min(next, batch->deadline);
    }
    if (lane.open) next = std::min(next, lane.open->opened + options_.deliveryTimeout);
  }
  return next;
}

bool RecordAccumulator::isEmpty() const {
  return std::ranges::all_of(lanes_, [](const auto& each) { return each.second.isEmpty(); });
}

bool RecordAccumulator::anyNumbered() const {
  return std::ranges::any_of(lanes_, [](const auto& each) {
    return std::ranges::any_of(each.second.batches, [](const ProducerBatchPtr& batch) { return batch->isNumbered(); });
  });
}

}  // namespace tidemark::client
