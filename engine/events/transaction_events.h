#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "events/text.h"

namespace tidemark::events {

/// Of a transactional id, as Kafka names them and with the numbers of its log.
enum class TransactionState : uint8_t {
  Empty = 0,
  Ongoing = 1,
  PrepareCommit = 2,
  PrepareAbort = 3,
  CompleteCommit = 4,
  CompleteAbort = 5,
  Dead = 6,
  PrepareEpochFence = 7,
};
std::string_view nameOf(TransactionState value) noexcept;

/// Why a transactional id came into another state.
enum class TransactionCause : uint8_t {
  /// InitProducerId: a producer began, or began again.
  Initialized,
  /// AddPartitionsToTxn, AddOffsetsToTxn, or a produce that adds its partitions by itself.
  PartitionsAdded,
  /// EndTxn of its producer.
  Ended,
  /// InitProducerId of another producer with the same id.
  Fenced,
  /// The transaction was open for longer than its timeout.
  TimedOut,
  /// All markers are written.
  MarkersWritten,
  /// It was not used for `transactional.id.expiration.ms`.
  Expired,
};
std::string_view nameOf(TransactionCause value) noexcept;

/// Told when the record is in the log of the transaction coordinator. `partitions`: that the transaction touches.
struct TransactionStateChanged {
  static constexpr std::string_view kName = "TransactionStateChanged";
  ShortText<48> transactionalId;
  ProducerId producer;
  ProducerEpoch epoch;
  TransactionState from{};
  TransactionState to{};
  TransactionCause cause{};
  int32_t partitions = 0;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("transactionalId", transactionalId);
    visit("producer", producer);
    visit("epoch", epoch);
    visit("from", from);
    visit("to", to);
    visit("cause", cause);
    visit("partitions", partitions);
  }
};

}  // namespace tidemark::events
