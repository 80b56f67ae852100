#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <set>
#include <string_view>

#include "base/error_code.h"
#include "base/ids.h"
#include "events/transaction_events.h"
#include "platform/clock.h"

namespace tidemark::coordinator {

/// Where a transactional id stands, and what each request does there. "Busy": the last change is not committed yet, or
/// markers are being written; requests of the producer get CONCURRENT_TRANSACTIONS and come again.
///   Empty           a producer began; nothing was added since
///     InitProducerId        → Empty, epoch + 1
///     AddPartitionsToTxn    → Ongoing
///     EndTxn                INVALID_TXN_STATE; version 2: an abort → PrepareAbort
///     leaves                → Ongoing, PrepareAbort, gone (expired)
///   Ongoing         partitions belong to an open transaction
///     InitProducerId        → PrepareAbort with the epoch + 1, which fences the old producer; CONCURRENT_TRANSACTIONS
///     AddPartitionsToTxn    → Ongoing
///     EndTxn                → PrepareCommit, PrepareAbort
///     its timeout           → PrepareAbort with the epoch + 1
///   PrepareCommit, PrepareAbort   decided for good; markers are being written; busy
///   CompleteCommit, CompleteAbort all markers are written
///     as Empty, but that EndTxn of the same kind is a repetition: None
/// Kafka's Dead and PrepareEpochFence are steps on the way that are never in the log; nobody sees them here.
using TransactionState = events::TransactionState;

/// Whether a transactional id may go from one state to the other, as the log tells it.
bool isValidTransition(TransactionState from, TransactionState to) noexcept;
/// PrepareCommit and PrepareAbort.
constexpr bool isEnding(TransactionState state) noexcept {
  return state == TransactionState::PrepareCommit || state == TransactionState::PrepareAbort;
}
/// Nothing is open: the id may expire, its producer may begin anew.
constexpr bool isIdle(TransactionState state) noexcept {
  return state == TransactionState::Empty || state == TransactionState::CompleteCommit ||
         state == TransactionState::CompleteAbort;
}
/// By Kafka's name, for filters.
std::optional<TransactionState> transactionStateOf(std::string_view name) noexcept;

/// From this transaction.version on (KIP-890) the epoch rises at the end of each transaction and a produce adds its
/// partitions by itself; from 1 on, records are written in their flexible version.
inline constexpr int16_t kTransactionVersionWithEpochBump = 2;
inline constexpr int16_t kTransactionVersionWithFlexibleRecords = 1;

inline constexpr ProducerEpoch kNoProducerEpoch{-1};
/// The next would be kept for fencing: a new producer id is due.
constexpr bool isExhausted(ProducerEpoch epoch) noexcept {
  return epoch.value() >= INT16_MAX - 1;
}

struct ProducerIdAndEpoch {
  ProducerId id;
  ProducerEpoch epoch{-1};
  friend bool operator==(const ProducerIdAndEpoch&, const ProducerIdAndEpoch&) = default;
};

/// A transactional id as its last record tells it (Kafka's TransactionMetadata): a plain value. Each transition is a
/// function from one value to the next, which is then written.
struct TransactionMetadata {
  ProducerId producerId;
  /// Before the one that is in use, for repetitions of what gave it out.
  ProducerId previousProducerId;
  /// Takes over at the end of a transaction that exhausted the epochs; none otherwise.
  ProducerId nextProducerId;
  ProducerEpoch producerEpoch{-1};
  /// Not in the log: a repeated InitProducerId of the epoch before is recognised by it as long as the coordinator
  /// stays.
  ProducerEpoch lastProducerEpoch{-1};
  platform::milliseconds timeout{};
  TransactionState state = TransactionState::Empty;
  std::set<TopicPartition> partitions;
  /// −1: none since the producer began.
  int64_t startMs = -1;
  int64_t lastUpdateMs = -1;
  /// Of the producer, as far as its requests tell.
  int16_t clientVersion = 0;

  ProducerIdAndEpoch producer() const noexcept { return {producerId, producerEpoch}; }
  friend bool operator==(const TransactionMetadata&, const TransactionMetadata&) = default;
};

/// A transactional id that nobody used before.
TransactionMetadata newTransactional(ProducerId producerId, platform::milliseconds timeout, int64_t nowMs);
/// InitProducerId while nothing is open. `expected`: what the producer believes to be, which goes on after an error
/// (KIP-360). ProducerFenced if it is older than that; the same again if it is a repetition.
std::expected<TransactionMetadata, ErrorCode> withNextEpoch(const TransactionMetadata& from,
                                                            std::optional<ProducerEpoch> expected,
                                                            platform::milliseconds timeout, int64_t nowMs);
TransactionMetadata withNewProducerId(const TransactionMetadata& from, ProducerId producerId, bool goesOn,
                                      platform::milliseconds timeout, int64_t nowMs);
TransactionMetadata withPartitions(const TransactionMetadata& from, const std::set<TopicPartition>& added,
                                   int16_t clientVersion, int64_t nowMs);
/// EndTxn. `next`: the producer id that follows if the epochs are exhausted (version 2).
TransactionMetadata prepared(const TransactionMetadata& from, bool commit, int16_t clientVersion, ProducerId next,
                             int64_t nowMs);
/// Aborts in the name of nobody: its producer is fenced by the next epoch.
TransactionMetadata fenced(const TransactionMetadata& from, int16_t serverVersion, int64_t nowMs);
/// All markers of a prepared one are written.
TransactionMetadata completed(const TransactionMetadata& from, int64_t nowMs);

}  // namespace tidemark::coordinator
