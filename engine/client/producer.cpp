#include "client/producer.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "client/client_codec.h"
#include "client/partitioner.h"
#include "client/pending_records.h"
#include "client/produce_message.h"
#include "client/record_accumulator.h"
#include "client/running.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"

namespace tidemark::client {

using platform::Duration;
using platform::MonotonicTime;
using protocol::ProduceResponse;

class Producer::Core : public Running {
 public:
  Core(Client& client, ProducerOptions options)
      : Running(client), options_(bounded(std::move(options))), accumulator_(options_, client.process().clock()) {}

  void send(ProducerRecord record, Handler handler);
  void flush(platform::Task done);
  void stop() override {
    Running::stop();
    timer_.cancel();
    idTimer_.cancel();
    metadataTimers_.clear();
  }
  void adopt(ProducerId id, ProducerEpoch epoch);
  void limit(Gate gate, int16_t newestProduce) {
    gate_ = std::move(gate);
    newestProduce_ = newestProduce;
  }
  void pumpSoon() {
    postOnce(pumpPosted_, [this] { pump(); });
  }
  void dropPending(const Error& error);
  size_t pending() const noexcept { return pending_.count(); }
  ProducerId id() const noexcept { return id_; }
  ProducerEpoch epoch() const noexcept { return epoch_; }

 private:
  using Batch = ProducerBatch;
  using Lane = ProducerLane;
  using Sending = ProducerSending;
  enum class IdState : uint8_t { None, Asking, Known };

  /// A record whose topic is not known yet.
  struct Unplaced {
    ProducerRecord record;
    PendingRecord pending;
    MonotonicTime deadline;
  };

  static ProducerOptions bounded(ProducerOptions options) {
    if (options.idempotent) options.maxInFlight = std::clamp(options.maxInFlight, 1, 5);
    return options;
  }

  // Taking records in.
  void place(Unplaced item);
  void placeWaiting();
  void askForMetadata(const std::string& topic);

  // Sending.
  void pump();
  bool sendRound();
  void sendTo(NodeId leader, std::vector<Sending> group);
  void expire();
  void armTimer();

  // Results.
  void answered(const std::vector<Sending>& group, const Result<network::Received<ProduceResponse>>& received);
  void settle(const Sending& sending, const ProduceResponse::PartitionProduceResponse& response);
  void retry(const Sending& sending, bool leaderMayBeWrong);
  void succeed(const Sending& sending, Offset base, int64_t logAppendTimeMs);
  void giveUp(const Sending& sending, const Error& error);
  void failBatch(const Sending& sending, const Error& error);
  void resolve(PendingRecord record, Result<Delivered> result);

  // The producer's id.
  bool numbersMissing();
  void askForId();
  void giveUpId(Lane& lane, const Error& error);

  MonotonicTime now() const { return client_.process().clock().monotonic(); }

  const ProducerOptions options_;
  RecordAccumulator accumulator_;
  PendingRecords pending_;
  Gate gate_;
  int16_t newestProduce_ = INT16_MAX;
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

  platform::Timer timer_;
  MonotonicTime wakeAt_ = kNever;
  bool pumpPosted_ = false;
};

// --- Taking records in -----------------------------------------------------------------------------------------------

void Producer::Core::send(ProducerRecord record, Handler handler) {
  place({std::move(record), pending_.add(std::move(handler)), now() + options_.deliveryTimeout});
  pumpSoon();
}

void Producer::Core::place(Unplaced item) {
  const ProducerRecord& record = item.record;
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
  accumulator_.append({record.topic, PartitionIndex(index)}, record, std::move(item.pending));
}

void Producer::Core::placeWaiting() {
  for (auto& item : std::exchange(unplaced_, {})) place(std::move(item));
}

void Producer::Core::askForMetadata(const std::string& topic) {
  if (!unknownTopics_.insert(topic).second) return;
  const int attempts = metadataAttempts_[topic]++;
  auto ask = whileRunning([this, topic] {
    client_.refresh({topic}, whileRunning([this, topic](const Result<void>&) {
                      unknownTopics_.erase(topic);
                      placeWaiting();
                      pumpSoon();
                    }));
  });
  if (attempts == 0) return ask();
  metadataTimers_[topic] = client_.executor().schedule(client_.backoff(attempts), std::move(ask));
}

// --- Sending ---------------------------------------------------------------------------------------------------------

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
  for (auto& [where, lane] : accumulator_.lanes()) {
    if (lane.isEmpty()) continue;
    const auto leader = client_.metadata().leaderOf(where);
    if (!leader) {
      askForMetadata(where.topic);
      continue;
    }
    if (unknownTopics_.contains(where.topic)) continue;
    if (gate_ && !gate_(where)) continue;
    RecordAccumulator::Next next = accumulator_.next(lane, *leader, !renewId_);
    wakeAt_ = std::min(wakeAt_, next.wakeAt);
    if (next.batch) groups[*leader].push_back({&lane, std::move(next.batch)});
  }
  for (auto& [leader, group] : groups) sendTo(leader, std::move(group));
  return !groups.empty();
}

void Producer::Core::sendTo(NodeId leader, std::vector<Sending> group) {
  for (const Sending& sending : group) {
    accumulator_.number(*sending.lane, *sending.batch, id_, epoch_);
    sending.batch->state = Batch::State::Sent;
    sending.batch->sentTo = leader;
    ++sending.batch->attempts;
  }
  protocol::ProduceRequest request = produceRequest(group, options_, client_.metadata());
  const network::SendOptions how{.maxVersion = std::min(newestVersionFor(request), newestProduce_),
                                 .timeout = options_.requestTimeout,
                                 .expectResponse = options_.acks != 0};
  client_.sendTo(
      leader, std::move(request), how,
      whileRunning([this, group = std::move(group)](const Result<network::Received<ProduceResponse>>& received) {
        answered(group, received);
      }));
}

void Producer::Core::expire() {
  const MonotonicTime time = now();
  const Error error{ErrorCode::RequestTimedOut, "the record was not delivered in time"};
  for (const Sending& sending : accumulator_.expired()) {
    if (stopped_) return;
    giveUp(sending, error);
  }
  while (!stopped_ && !unplaced_.empty() && unplaced_.front().deadline <= time) {
    PendingRecord record = std::move(unplaced_.front().pending);
    unplaced_.pop_front();
    resolve(std::move(record), fail(ErrorCode::UnknownTopicOrPartition, "the topic did not appear in time"));
  }
}

void Producer::Core::armTimer() {
  wakeAt_ = std::min(wakeAt_, accumulator_.nextDeadline());
  if (!unplaced_.empty()) wakeAt_ = std::min(wakeAt_, unplaced_.front().deadline);
  timer_.cancel();
  if (wakeAt_ == kNever) return;
  timer_ = client_.executor().schedule(std::max<Duration>(wakeAt_ - now(), {}), whileRunning([this] { pump(); }));
}

// --- Results ---------------------------------------------------------------------------------------------------------

void Producer::Core::answered(const std::vector<Sending>& group,
                              const Result<network::Received<ProduceResponse>>& received) {
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
    if (const auto* answer = answerFor(sending.lane->where, *received, client_.metadata()))
      settle(sending, *answer);
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
  giveUp(sending, errorOf(response.errorCode, response.errorMessage, fmt::format("{}", sending.lane->where)));
}

/// What comes behind a number that is missing would be refused.
void Producer::Core::giveUp(const Sending& sending, const Error& error) {
  if (sending.batch->isNumbered())
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
  for (auto& record : std::exchange(sending.batch->records, {})) {
    if (stopped_) return;
    const Offset offset = base == kNoOffset ? kNoOffset : base + index;
    ++index;
    resolve(std::move(record), Delivered{sending.lane->where, offset, logAppendTimeMs});
  }
}

void Producer::Core::failBatch(const Sending& sending, const Error& error) {
  std::erase(sending.lane->batches, sending.batch);
  sending.batch->state = Batch::State::Ready;
  for (auto& record : std::exchange(sending.batch->records, {})) {
    if (stopped_) return;
    resolve(std::move(record), std::unexpected(error));
  }
}

void Producer::Core::resolve(PendingRecord record, Result<Delivered> result) {
  pending_.remove(record);
  if (record.handler) record.handler(std::move(result));
  while (!stopped_) {
    std::optional<platform::Task> done = pending_.takeFlush();
    if (!done) return;
    (*done)();
  }
}

void Producer::Core::flush(platform::Task done) {
  if (pending_.count() == 0) return client_.executor().post(std::move(done));
  pending_.addFlush(std::move(done));
  accumulator_.endLinger();
  pumpSoon();
}

// --- The producer's id -----------------------------------------------------------------------------------------------

/// Whether sending has to wait for a producer id.
bool Producer::Core::numbersMissing() {
  if (!options_.idempotent) return false;
  // The coordinator's to give, and a failure ends the transaction.
  if (!options_.transactionalId.empty()) return idState_ != IdState::Known;
  if (renewId_) {
    if (accumulator_.anyNumbered()) return false;
    renewId_ = false;
    idState_ = IdState::None;
    accumulator_.restartNumbers();
  }
  if (idState_ == IdState::Known) return false;
  if (idState_ == IdState::None && !accumulator_.isEmpty()) askForId();
  return true;
}

void Producer::Core::askForId() {
  idState_ = IdState::Asking;
  protocol::InitProducerIdRequest request;
  request.transactionalId.reset();
  request.transactionTimeoutMs = INT32_MAX;
  client_.sendToAny(std::move(request), {.timeout = options_.requestTimeout},
                    whileRunning([this](const Result<network::Received<protocol::InitProducerIdResponse>>& received) {
                      if (received && received->message.errorCode == 0) {
                        id_ = ProducerId(received->message.producerId);
                        epoch_ = ProducerEpoch(received->message.producerEpoch);
                        idState_ = IdState::Known;
                        idAttempts_ = 0;
                        return pump();
                      }
                      if (received) client_.anyFailed();
                      idTimer_ = client_.executor().schedule(client_.backoff(++idAttempts_), whileRunning([this] {
                                                               idState_ = IdState::None;
                                                               pump();
                                                             }));
                    }));
}

/// Numbers of this partition are lost: what has one fails, and the rest waits for a new id.
void Producer::Core::giveUpId(Lane& lane, const Error& error) {
  if (options_.transactionalId.empty()) {
    renewId_ = true;
  } else {
    idState_ = IdState::None;
  }
  std::vector<ProducerBatchPtr> numbered;
  std::ranges::copy_if(lane.batches, std::back_inserter(numbered),
                       [](const auto& batch) { return batch->isNumbered(); });
  for (const ProducerBatchPtr& batch : numbered) {
    if (stopped_) return;
    failBatch({&lane, batch}, error);
  }
}

void Producer::Core::adopt(ProducerId id, ProducerEpoch epoch) {
  id_ = id;
  epoch_ = epoch;
  idState_ = IdState::Known;
  accumulator_.restartNumbers();
  for (auto& [where, lane] : accumulator_.lanes()) lane.notBefore = {};
  pumpSoon();
}

void Producer::Core::dropPending(const Error& error) {
  const auto self = shared_from_this();
  for (auto& [where, lane] : accumulator_.lanes()) {
    if (lane.open) accumulator_.close(lane);
    for (const ProducerBatchPtr& batch : std::deque<ProducerBatchPtr>(lane.batches)) {
      if (stopped_) return;
      failBatch({&lane, batch}, error);
    }
  }
  for (auto& item : std::exchange(unplaced_, {})) {
    if (stopped_) return;
    resolve(std::move(item.pending), std::unexpected(error));
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

void Producer::limit(Gate gate, int16_t newestProduce) {
  core_->limit(std::move(gate), newestProduce);
}

void Producer::wake() {
  core_->pumpSoon();
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
