#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "client/log_position.h"
#include "client/producer.h"

namespace tidemark::client {

struct TransactionalProducerOptions {
  std::string transactionalId;
  /// transaction.timeout.ms: the coordinator aborts what is open for longer.
  platform::Duration transactionTimeout = std::chrono::seconds(60);
  /// Of everything that is asked of coordinators, repetitions included.
  platform::Duration patience = std::chrono::seconds(60);
  ProducerOptions producer;
};

/// Sends records in transactions: begin(), which fences whoever had the id before; then send() and sendOffsets(), then
/// end(), over and over. Of begin(), sendOffsets() and end() one at a time. Executor as the Client's.
///
/// By the cluster's transaction.version, looked at between two transactions: below 2 partitions and groups are added to
/// the transaction before anything is sent to them, and the epoch stays, unless some of a transaction has failed or was
/// given up: the next epoch is asked for at its end then (KIP-360).
///
/// Errors that mean that this producer has to go: ProducerFenced, InvalidProducerEpoch. After any other error of a send
/// the transaction can only be aborted.
class TransactionalProducer {
 public:
  using Done = std::move_only_function<void(Result<void>)>;
  using Offsets = std::map<TopicPartition, LogPosition>;

  TransactionalProducer(Client& client, TransactionalProducerOptions options);
  ~TransactionalProducer();
  TransactionalProducer(const TransactionalProducer&) = delete;
  TransactionalProducer& operator=(const TransactionalProducer&) = delete;

  /// InitProducerId; aborts what the last producer of the id left open.
  void begin(Done done);
  void send(ProducerRecord record, Producer::Handler handler = {});
  /// Offsets of a group, which count if the transaction is committed.
  void sendOffsets(const std::string& group, Offsets offsets, Done done);
  /// Waits for what was sent, then commits; if some of it failed, the commit is refused with that error. An abort gives
  /// up what has no result yet. RequestTimedOut: nobody knows how it ended.
  void end(bool commit, Done done);

  /// The one it works by; 0 before begin().
  int16_t transactionVersion() const noexcept;
  ProducerId producerId() const noexcept;
  ProducerEpoch producerEpoch() const noexcept;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
