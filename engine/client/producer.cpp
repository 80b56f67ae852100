#include "client/producer.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>

#include "client/client_codec.h"
#include "client/partitioner.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "records/batch_builder.h"

namespace tidemark::client {

using platform::Duration;
using platform::MonotonicTime;
using protocol::ProduceRequest;
using protocol::ProduceResponse;

namespace {

/// Who waits for a record, and which flush() does.
struct Waiter {
  Producer::Handler handler;
  uint64_t generation = 0;
};

struct Batch {
  enum class State : uint8_t { Ready, Sent, Retry };

  std::shared_ptr<ByteVector> bytes;
  std::vector<Waiter> waiters;
  MonotonicTime deadline;
  /// −1: not numbered yet.
  int32_t sequence = records::kNoSequence;
  State state = State::Ready;
  int attempts = 0;
  NodeId sentTo;
};
using BatchPtr = std::shared_ptr<Batch>;

/// A batch that still takes records.
struct OpenBatch {
  records::BatchBuilder builder;
  std::vector<Waiter> waiters;
  MonotonicTime opened;
  bool due = false;
};

/// What is on its way to one partition, oldest first.
struct Lane {
  TopicPartition where;
  std::deque<BatchPtr> batches;
  std::optional<OpenBatch> open;
  int32_t nextSequence = 0;
  MonotonicTime notBefore{};
};

struct Unplaced {
  ProducerRecord record;
  Waiter waiter;
  MonotonicTime deadline;
};

}  // namespace

class Producer::Core : public std::enable_shared_from_this<Producer::Core> {
 public:
  Core(Client& client, ProducerOptions options) : client_(client), options_(options) {
    if (options_.idempotent) options_.maxInFlight = std::clamp(options_.maxInFlight, 1, 5);
  }

  void send(ProducerRecord record, Handler handler);
  void flush(platform::Task done);
  void stop() {
    stopped_ = true;
    timer_.cancel();
    idTimer_.cancel();
    metadataTimers_.clear();
  }
  void adopt(ProducerId id, ProducerEpoch epoch);
  void dropPending(const Error& error);
  size_t pending() const noexcept { return pending_; }
  ProducerId id() const noexcept { return id_; }
  ProducerEpoch epoch() const noexcept { return epoch_; }

 private:
  enum class IdState : uint8_t { None, Asking, Known };

  struct Sending {
    Lane* lane;
    BatchPtr batch;
  };

  // Taking records in.
  void place(Unplaced item);
  void placeWaiting();
  void append(Lane& lane, ProducerRecord record, Waiter waiter);
  void close(Lane& lane);

  // Sending.
  void pumpSoon();
  void pump();
  bool sendRound();
  BatchPtr nextBatch(Lane& lane, NodeId leader);
  void sendTo(NodeId leader, std::vector<Sending> group);
  void number(Lane& lane, Batch& batch);
  void expire();
  void armTimer();

  // Results.
  void answered(const std::vector<Sending>& group, Result<network::Received<ProduceResponse>> received);
  void settle(const Sending& sending, const ProduceResponse::PartitionProduceResponse& response);
  void retry(const Sending& sending, bool leaderMayBeWrong);
  void succeed(const Sending& sending, Offset base, int64_t logAppendTimeMs);
  void failBatch(const Sending& sending, const Error& error);
  void resolve(Waiter waiter, Result<Delivered> result);

  // The producer's id.
  bool numbersMissing();
  void askForId();
  void giveUpId(Lane& lane, const Error& error);

  void askForMetadata(const std::string& topic);
  void later(Duration after);
  MonotonicTime now() const { return client_.process().clock().monotonic(); }

  Client& client_;
  ProducerOptions options_;
  std::map<TopicPartition, Lane> lanes_;
  std::deque<Unplaced> unplaced_;
  std::set<std::string> unknownTopics_;  ///< Metadata is being asked for these.
  std::map<std::string, int> metadataAttempts_;
  std::map<std::string, platform::Timer> metadataTimers_;
  std::map<std::string, int32_t> roundRobin_;

  IdState idState_ = IdState::None;
  ProducerId id_;
  ProducerEpoch epoch_;
  int idAttempts_ = 0;
  platform::Timer idTimer_;
  /// A number was lost: once nothing numbered is left, a new id is asked for.
  bool renewId_ = false;

  size_t pending_ = 0;
  uint64_t generation_ = 0;
  std::map<uint64_t, size_t> perGeneration_;
  std::deque<std::pair<uint64_t, platform::Task>> flushes_;
  platform::Timer timer_;
  MonotonicTime wakeAt_ = kNever;
  bool pumpPosted_ = false;
  bool stopped_ = false;
};

// --- Taking records in -----------------------------------------------------------------------------------------------

void Producer::Core::send(ProducerRecord record, Handler handler) {
  ++pending_;
  ++perGeneration_[generation_];
  place({std::move(record), {std::move(handler), generation_}, now() + options_.deliveryTimeout});
  pumpSoon();
}

void Producer::Core::place(Unplaced item) {
  ProducerRecord& record = item.record;
  int32_t index = 0;
  if (record.partition) {
    index = *record.partition;
  } else {
    const auto* topic = client_.metadata().find(record.topic);
    if (topic == nullptr || topic->partitions.empty()) {
      askForMetadata(record.topic);
      unplaced_.push_back(std::move(item));
      return;
    }
    const auto count = static_cast<int32_t>(topic->partitions.size());
    index = record.key ? partitionOf(*record.key, count) : roundRobin_[record.topic]++ % count;
  }
  Lane& lane = lanes_[{record.topic, PartitionIndex(index)}];
  if (lane.where.topic.empty()) lane.where = {record.topic, PartitionIndex(index)};
  append(lane, std::move(record), std::move(item.waiter));
}

void Producer::Core::placeWaiting() {
  for (auto& item : std::exchange(unplaced_, {})) place(std::move(item));
}

void Producer::Core::append(Lane& lane, ProducerRecord record, Waiter waiter) {
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
    lane.open.emplace(OpenBatch{
        .builder = records::BatchBuilder({.codec = options_.codec, .transactional = !options_.transactionalId.empty()}),
        .waiters = {},
        .opened = now()});
  }
  lane.open->builder.append(record.timestampMs.value_or(client_.process().clock().wallMs()), key, value, headers);
  lane.open->waiters.push_back(std::move(waiter));
}

void Producer::Core::close(Lane& lane) {
  OpenBatch open = std::move(*lane.open);
  lane.open.reset();
  auto batch = std::make_shared<Batch>();
  batch->bytes = std::make_shared<ByteVector>(open.builder.build());
  batch->waiters = std::move(open.waiters);
  batch->deadline = open.opened + options_.deliveryTimeout;
  lane.batches.push_back(std::move(batch));
}

// --- Sending ---------------------------------------------------------------------------------------------------------

void Producer::Core::pumpSoon() {
  if (std::exchange(pumpPosted_, true)) return;
  client_.executor().post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->stopped_) return;
    self->pumpPosted_ = false;
    self->pump();
  });
}

void Producer::Core::pump() {
  expire();
  if (stopped_) return;
  wakeAt_ = kNever;
  if (!numbersMissing()) {
    while (sendRound()) {
    }
  }
  armTimer();
}

/// One batch of each partition that may send one. False once there is none.
bool Producer::Core::sendRound() {
  std::map<NodeId, std::vector<Sending>> groups;
  for (auto& [where, lane] : lanes_) {
    if (lane.batches.empty() && !lane.open) continue;
    const auto leader = client_.metadata().leaderOf(where);
    if (!leader) {
      askForMetadata(where.topic);
      continue;
    }
    if (BatchPtr batch = nextBatch(lane, *leader)) groups[*leader].push_back({&lane, std::move(batch)});
  }
  for (auto& [leader, group] : groups) sendTo(leader, std::move(group));
  return !groups.empty();
}

/// The oldest batch that is not on its way, if it may go now. Order is kept: nothing goes while something older is on
/// its way to another broker, nothing is repeated while something younger is on its way, and nothing goes beside what
/// is repeated: that may be in the log, and a log knows a producer's last five batches only.
BatchPtr Producer::Core::nextBatch(Lane& lane, NodeId leader) {
  const MonotonicTime time = now();
  if (unknownTopics_.contains(lane.where.topic)) return nullptr;
  if (lane.notBefore > time) {
    wakeAt_ = std::min(wakeAt_, lane.notBefore);
    return nullptr;
  }
  int sent = 0;
  BatchPtr candidate;
  for (const BatchPtr& batch : lane.batches) {
    if (batch->state == Batch::State::Sent) {
      if (candidate || batch->sentTo != leader || (options_.idempotent && batch->attempts > 1)) return nullptr;
      ++sent;
    } else if (!candidate) {
      candidate = batch;
    }
  }
  if (sent >= options_.maxInFlight) return nullptr;
  if (candidate == nullptr && lane.open) {
    const MonotonicTime due = lane.open->opened + options_.linger;
    if (!lane.open->due && due > time) {
      wakeAt_ = std::min(wakeAt_, due);
      return nullptr;
    }
    if (renewId_) return nullptr;
    close(lane);
    candidate = lane.batches.back();
  }
  if (candidate && candidate->sequence == records::kNoSequence && renewId_) return nullptr;
  return candidate;
}

void Producer::Core::number(Lane& lane, Batch& batch) {
  if (!options_.idempotent || batch.sequence != records::kNoSequence) return;
  auto header = records::BatchHeader::read(batch.bytes->data());
  batch.sequence = lane.nextSequence;
  lane.nextSequence = records::nextSequence(lane.nextSequence, header.recordCount);
  header.producerId = id_;
  header.producerEpoch = epoch_;
  header.baseSequence = batch.sequence;
  header.write(batch.bytes->data());
  records::updateCrc(*batch.bytes);
}

void Producer::Core::sendTo(NodeId leader, std::vector<Sending> group) {
  ProduceRequest request;
  request.acks = options_.acks;
  request.timeoutMs = millis(options_.requestTimeout);
  request.transactionalId.reset();
  if (!options_.transactionalId.empty()) request.transactionalId = options_.transactionalId;
  for (const Sending& sending : group) {
    Lane& lane = *sending.lane;
    Batch& batch = *sending.batch;
    number(lane, batch);
    batch.state = Batch::State::Sent;
    batch.sentTo = leader;
    ++batch.attempts;
    if (request.topicData.empty() || request.topicData.back().name != lane.where.topic) {
      const auto* topic = client_.metadata().find(lane.where.topic);
      request.topicData.push_back({.name = lane.where.topic, .topicId = topic != nullptr ? topic->id : Uuid()});
    }
    request.topicData.back().partitionData.push_back(
        {.index = lane.where.partition.value(),
         .records = protocol::Records(SharedBytes(batch.bytes, ByteView(*batch.bytes)))});
  }
  network::SendOptions how{.timeout = options_.requestTimeout, .expectResponse = options_.acks != 0};
  // Without ids the newest version cannot name the topics.
  for (const auto& topic : request.topicData) {
    if (topic.topicId.isZero()) how.maxVersion = 12;
  }
  client_.sendTo(
      leader, std::move(request), how,
      [weak = weak_from_this(), group = std::move(group)](Result<network::Received<ProduceResponse>> received) {
        const auto self = weak.lock();
        if (self && !self->stopped_) self->answered(group, std::move(received));
      });
}

void Producer::Core::expire() {
  const MonotonicTime time = now();
  std::vector<Sending> expired;
  for (auto& [where, lane] : lanes_) {
    for (const BatchPtr& batch : lane.batches) {
      if (batch->deadline <= time && batch->state != Batch::State::Sent) expired.push_back({&lane, batch});
    }
    if (lane.open && lane.open->opened + options_.deliveryTimeout <= time) {
      close(lane);
      expired.push_back({&lane, lane.batches.back()});
    }
  }
  const Error error{ErrorCode::RequestTimedOut, "the record was not delivered in time"};
  for (const Sending& sending : expired) {
    if (stopped_) return;
    // What comes behind a number that is missing would be refused.
    if (sending.batch->sequence != records::kNoSequence)
      giveUpId(*sending.lane, error);
    else
      failBatch(sending, error);
  }
  while (!stopped_ && !unplaced_.empty() && unplaced_.front().deadline <= time) {
    Waiter waiter = std::move(unplaced_.front().waiter);
    unplaced_.pop_front();
    resolve(std::move(waiter), fail(ErrorCode::UnknownTopicOrPartition, "the topic did not appear in time"));
  }
}

void Producer::Core::armTimer() {
  for (const auto& [where, lane] : lanes_) {
    for (const BatchPtr& batch : lane.batches) {
      if (batch->state != Batch::State::Sent) wakeAt_ = std::min(wakeAt_, batch->deadline);
    }
    if (lane.open) wakeAt_ = std::min(wakeAt_, lane.open->opened + options_.deliveryTimeout);
  }
  if (!unplaced_.empty()) wakeAt_ = std::min(wakeAt_, unplaced_.front().deadline);
  timer_.cancel();
  if (wakeAt_ != kNever) later(wakeAt_ - now());
}

void Producer::Core::later(Duration after) {
  timer_ = client_.executor().schedule(std::max<Duration>(after, {}), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->stopped_) self->pump();
  });
}

void Producer::Core::askForMetadata(const std::string& topic) {
  if (!unknownTopics_.insert(topic).second) return;
  const int attempts = metadataAttempts_[topic]++;
  auto ask = [weak = weak_from_this(), topic] {
    const auto self = weak.lock();
    if (!self || self->stopped_) return;
    self->client_.refresh({topic}, [weak, topic](const Result<void>&) {
      const auto again = weak.lock();
      if (!again || again->stopped_) return;
      again->unknownTopics_.erase(topic);
      again->placeWaiting();
      again->pumpSoon();
    });
  };
  if (attempts == 0) return ask();
  metadataTimers_[topic] = client_.executor().schedule(client_.backoff(attempts), ask);
}

// --- Results ---------------------------------------------------------------------------------------------------------

void Producer::Core::answered(const std::vector<Sending>& group, Result<network::Received<ProduceResponse>> received) {
  const auto self = shared_from_this();
  for (const Sending& sending : group) {
    if (stopped_) return;
    if (sending.batch->state != Batch::State::Sent) continue;  // Given up meanwhile.
    if (!received) {
      if (received.error().code == ErrorCode::UnsupportedVersion)
        failBatch(sending, received.error());
      else
        retry(sending, true);
      continue;
    }
    if (options_.acks == 0) {
      succeed(sending, kNoOffset, -1);
      continue;
    }
    const auto* topic = client_.metadata().find(sending.lane->where.topic);
    const ProduceResponse::PartitionProduceResponse* found = nullptr;
    for (const auto& each : received->message.responses) {
      const bool same = received->version >= 13 ? topic != nullptr && each.topicId == topic->id
                                                : each.name == sending.lane->where.topic;
      if (!same) continue;
      for (const auto& partition : each.partitionResponses) {
        if (partition.index == sending.lane->where.partition.value()) found = &partition;
      }
    }
    if (found != nullptr)
      settle(sending, *found);
    else
      retry(sending, true);
  }
  if (!stopped_) pumpSoon();
}

void Producer::Core::settle(const Sending& sending, const ProduceResponse::PartitionProduceResponse& response) {
  const auto code = static_cast<ErrorCode>(response.errorCode);
  const bool oldest = !sending.lane->batches.empty() && sending.lane->batches.front() == sending.batch;
  switch (code) {
    case ErrorCode::None:
      return succeed(sending, Offset(response.baseOffset), response.logAppendTimeMs);
    // It is stored, but so long ago that the leader has forgotten where.
    case ErrorCode::DuplicateSequenceNumber:
      return succeed(sending, kNoOffset, -1);
    case ErrorCode::OutOfOrderSequenceNumber:
      if (!oldest) return retry(sending, false);
      break;
    default:
      if (isRetriable(code)) return retry(sending, true);
  }
  const Error error{code, response.errorMessage ? response.errorMessage->str()
                                                : fmt::format("{}: {}", sending.lane->where, errorName(code))};
  if (sending.batch->sequence != records::kNoSequence)
    giveUpId(*sending.lane, error);
  else
    failBatch(sending, error);
}

void Producer::Core::retry(const Sending& sending, bool leaderMayBeWrong) {
  sending.batch->state = Batch::State::Retry;
  sending.lane->notBefore = now() + client_.backoff(sending.batch->attempts);
  if (leaderMayBeWrong) {
    metadataAttempts_[sending.lane->where.topic] = 0;
    askForMetadata(sending.lane->where.topic);
  }
}

void Producer::Core::succeed(const Sending& sending, Offset base, int64_t logAppendTimeMs) {
  std::erase(sending.lane->batches, sending.batch);
  metadataAttempts_.erase(sending.lane->where.topic);
  int64_t index = 0;
  for (auto& waiter : std::exchange(sending.batch->waiters, {})) {
    if (stopped_) return;
    const Offset offset = base == kNoOffset ? kNoOffset : base + index;
    ++index;
    resolve(std::move(waiter), Delivered{sending.lane->where, offset, logAppendTimeMs});
  }
}

void Producer::Core::failBatch(const Sending& sending, const Error& error) {
  std::erase(sending.lane->batches, sending.batch);
  sending.batch->state = Batch::State::Ready;
  for (auto& waiter : std::exchange(sending.batch->waiters, {})) {
    if (stopped_) return;
    resolve(std::move(waiter), std::unexpected(error));
  }
}

void Producer::Core::resolve(Waiter waiter, Result<Delivered> result) {
  --pending_;
  if (--perGeneration_[waiter.generation] == 0) perGeneration_.erase(waiter.generation);
  if (waiter.handler) waiter.handler(std::move(result));
  while (!stopped_ && !flushes_.empty() &&
         (perGeneration_.empty() || perGeneration_.begin()->first > flushes_.front().first)) {
    platform::Task done = std::move(flushes_.front().second);
    flushes_.pop_front();
    done();
  }
}

void Producer::Core::flush(platform::Task done) {
  if (pending_ == 0) return client_.executor().post(std::move(done));
  flushes_.emplace_back(generation_++, std::move(done));
  for (auto& [where, lane] : lanes_) {
    if (lane.open) lane.open->due = true;
  }
  pumpSoon();
}

// --- The producer's id -----------------------------------------------------------------------------------------------

/// Whether sending has to wait for a producer id.
bool Producer::Core::numbersMissing() {
  if (!options_.idempotent) return false;
  // The coordinator's to give, and a failure ends the transaction.
  if (!options_.transactionalId.empty()) return idState_ != IdState::Known;
  if (renewId_) {
    const bool numbered = std::any_of(lanes_.begin(), lanes_.end(), [](const auto& each) {
      return std::any_of(each.second.batches.begin(), each.second.batches.end(),
                         [](const BatchPtr& batch) { return batch->sequence != records::kNoSequence; });
    });
    if (numbered) return false;
    renewId_ = false;
    idState_ = IdState::None;
    for (auto& [where, lane] : lanes_) lane.nextSequence = 0;
  }
  if (idState_ == IdState::Known) return false;
  const bool needed = std::any_of(lanes_.begin(), lanes_.end(),
                                  [](const auto& each) { return !each.second.batches.empty() || each.second.open; });
  if (idState_ == IdState::None && needed) askForId();
  return true;
}

void Producer::Core::askForId() {
  idState_ = IdState::Asking;
  protocol::InitProducerIdRequest request;
  request.transactionalId.reset();
  request.transactionTimeoutMs = INT32_MAX;
  client_.sendToAny(std::move(request), {.timeout = options_.requestTimeout},
                    [weak = weak_from_this()](Result<network::Received<protocol::InitProducerIdResponse>> received) {
                      const auto self = weak.lock();
                      if (!self || self->stopped_) return;
                      if (received && received->message.errorCode == 0) {
                        self->id_ = ProducerId(received->message.producerId);
                        self->epoch_ = ProducerEpoch(received->message.producerEpoch);
                        self->idState_ = IdState::Known;
                        self->idAttempts_ = 0;
                        return self->pump();
                      }
                      if (received) self->client_.anyFailed();
                      self->idTimer_ =
                          self->client_.executor().schedule(self->client_.backoff(++self->idAttempts_), [weak] {
                            const auto again = weak.lock();
                            if (!again || again->stopped_) return;
                            again->idState_ = IdState::None;
                            again->pump();
                          });
                    });
}

/// Numbers of this partition are lost: what has one fails, and the rest waits for a new id.
void Producer::Core::giveUpId(Lane& lane, const Error& error) {
  if (options_.transactionalId.empty()) {
    renewId_ = true;
  } else {
    idState_ = IdState::None;
  }
  std::vector<BatchPtr> numbered;
  for (const BatchPtr& batch : lane.batches) {
    if (batch->sequence != records::kNoSequence) numbered.push_back(batch);
  }
  for (const BatchPtr& batch : numbered) {
    if (stopped_) return;
    failBatch({&lane, batch}, error);
  }
}

void Producer::Core::adopt(ProducerId id, ProducerEpoch epoch) {
  id_ = id;
  epoch_ = epoch;
  idState_ = IdState::Known;
  for (auto& [where, lane] : lanes_) {
    lane.nextSequence = 0;
    lane.notBefore = {};
  }
  pumpSoon();
}

void Producer::Core::dropPending(const Error& error) {
  const auto self = shared_from_this();
  for (auto& [where, lane] : lanes_) {
    if (lane.open) close(lane);
    for (const BatchPtr& batch : std::deque<BatchPtr>(lane.batches)) {
      if (stopped_) return;
      failBatch({&lane, batch}, error);
    }
  }
  for (auto& item : std::exchange(unplaced_, {})) {
    if (stopped_) return;
    resolve(std::move(item.waiter), std::unexpected(error));
  }
}

// --- Producer --------------------------------------------------------------------------------------------------------

Producer::Producer(Client& client, ProducerOptions options) : core_(std::make_shared<Core>(client, options)) {}

Producer::~Producer() {
  core_->stop();
}

void Producer::send(ProducerRecord record, Handler handler) {
  core_->send(std::move(record), std::move(handler));
}

void Producer::flush(platform::Task done) {
  core_->flush(std::move(done));
}

void Producer::adopt(ProducerId id, ProducerEpoch epoch) {
  core_->adopt(id, epoch);
}

void Producer::dropPending(const Error& error) {
  core_->dropPending(error);
}

size_t Producer::pending() const noexcept {
  return core_->pending();
}

ProducerId Producer::producerId() const noexcept {
  return core_->id();
}

ProducerEpoch Producer::producerEpoch() const noexcept {
  return core_->epoch();
}

}  // namespace tidemark::client
