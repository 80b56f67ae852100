#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "records/codec.h"

namespace tidemark::client {

struct ProducerOptions {
  /// 0: no answer, offsets are unknown (−1); 1: the leader has it; −1: all in-sync replicas have it.
  int16_t acks = -1;
  /// Numbers the batches, so that one that is sent again is stored once. Needs acks −1.
  bool idempotent = true;
  /// All that is sent belongs to a transaction of this id: nothing goes before adopt(). For TransactionalProducer.
  std::string transactionalId;
  records::Codec codec = records::Codec::None;
  /// How long a batch waits for more records; it goes at once when it is full.
  platform::Duration linger{0};
  /// Of a batch, before compression. A larger record goes alone.
  size_t batchBytes = 16384;
  /// Batches of one partition on their way at a time. At most 5 if idempotent: the leader remembers as many.
  int maxInFlight = 5;
  /// From send() to the result, repetitions included.
  platform::Duration deliveryTimeout = std::chrono::seconds(120);
  /// Of one attempt; also what the leader is told to wait for replicas at most.
  platform::Duration requestTimeout = std::chrono::seconds(30);
};

struct Header {
  std::string key;
  std::optional<ByteVector> value;
};

struct ProducerRecord {
  std::string topic;
  /// Nothing: by the key's hash, without a key round robin.
  std::optional<int32_t> partition;
  std::optional<ByteVector> key;
  std::optional<ByteVector> value;
  std::vector<Header> headers;
  /// Nothing: now.
  std::optional<int64_t> timestampMs;
};

/// Where a record went.
struct Delivered {
  TopicPartition where;
  /// −1 with acks 0.
  Offset offset;
  /// What the broker says is its time under LogAppendTime, else −1.
  int64_t logAppendTimeMs = -1;
};

/// Sends records. Records of one partition keep their order over repetitions (with idempotence, or maxInFlight 1).
/// Without bound on memory: whoever sends watches pending(). Executor as the Client's.
class Producer {
 public:
  using Handler = std::move_only_function<void(Result<Delivered>)>;

  Producer(Client& client, ProducerOptions options);
  ~Producer();
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  /// The handler is told once, never inside the call. May be empty.
  void send(ProducerRecord record, Handler handler = {});
  /// Sends what lingers and calls `done` when everything that was sent before has its result.
  void flush(platform::Task done);

  /// Of a transactional producer, with nothing pending: what the coordinator says it is from now on. Numbers begin
  /// anew.
  void adopt(ProducerId id, ProducerEpoch epoch);
  /// Of a transactional producer: whether a batch may go to a partition now. What may not waits until wake().
  using Gate = std::function<bool(const TopicPartition&)>;
  /// From now on; an empty gate lets everything go. `newestProduce`: no newer version of the request.
  void limit(Gate gate, int16_t newestProduce);
  void wake();
  /// Gives up what has no result yet.
  void dropPending(const Error& error);

  /// Records without a result yet.
  size_t pending() const noexcept;
  /// −1 before the first batch was sent.
  ProducerId producerId() const noexcept;
  ProducerEpoch producerEpoch() const noexcept;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::client
