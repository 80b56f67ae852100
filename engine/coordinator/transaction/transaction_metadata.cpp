#include "coordinator/transaction/transaction_metadata.h"
#include "base/mutation.h"

namespace tidemark::coordinator {

bool isValidTransition(TransactionState from, TransactionState to) noexcept {
  switch (to) {
    case TransactionState::Empty:
      return isIdle(from);
    case TransactionState::Ongoing:
      return isIdle(from) || from == TransactionState::Ongoing;
    case TransactionState::PrepareCommit:
      return from == TransactionState::Ongoing;
    case TransactionState::PrepareAbort:
      // An abort of nothing comes from producers of version 2 that do not know whether something was added.
      return from == TransactionState::Ongoing || isIdle(from);
    case TransactionState::CompleteCommit:
      return from == TransactionState::PrepareCommit;
    case TransactionState::CompleteAbort:
      return from == TransactionState::PrepareAbort;
    case TransactionState::Dead:
      return isIdle(from);
    case TransactionState::PrepareEpochFence:
      return from == TransactionState::Ongoing;
  }
  return false;
}

std::optional<TransactionState> transactionStateOf(std::string_view name) noexcept {
  for (int8_t i = 0; i <= static_cast<int8_t>(TransactionState::PrepareEpochFence); ++i)
    if (const auto state = static_cast<TransactionState>(i); events::nameOf(state) == name) return state;
  return std::nullopt;
}

namespace {

/// The last one stays: it is given to no producer.
ProducerEpoch next(ProducerEpoch epoch) {
  return epoch.value() == INT16_MAX ? epoch : ProducerEpoch(static_cast<int16_t>(epoch.value() + 1));
}

TransactionMetadata begun(const TransactionMetadata& from, platform::milliseconds timeout, int64_t nowMs) {
  TransactionMetadata to = from;
  to.previousProducerId = from.producerId;
  to.nextProducerId = kNoProducerId;
  to.timeout = timeout;
  to.state = TransactionState::Empty;
  to.partitions.clear();
  to.startMs = -1;
  to.lastUpdateMs = nowMs;
  to.clientVersion = 0;
  return to;
}

}  // namespace

TransactionMetadata newTransactional(ProducerId producerId, platform::milliseconds timeout, int64_t nowMs) {
  TransactionMetadata to = begun({}, timeout, nowMs);
  to.producerId = to.previousProducerId = producerId;
  to.producerEpoch = ProducerEpoch(0);
  return to;
}

std::expected<TransactionMetadata, ErrorCode> withNextEpoch(const TransactionMetadata& from,
                                                            std::optional<ProducerEpoch> expected,
                                                            platform::milliseconds timeout, int64_t nowMs) {
  TransactionMetadata to = begun(from, timeout, nowMs);
  // A repetition of what was answered: no other producer came between, for that would have forgotten the last epoch.
  if (expected && *expected != from.producerEpoch && *expected == from.lastProducerEpoch) return to;
  if ((expected && *expected != from.producerEpoch) || isExhausted(from.producerEpoch))
    return std::unexpected(ErrorCode::ProducerFenced);
  to.lastProducerEpoch = expected ? from.producerEpoch : kNoProducerEpoch;
  to.producerEpoch = next(from.producerEpoch);
  return to;
}

TransactionMetadata withNewProducerId(const TransactionMetadata& from, ProducerId producerId, bool goesOn,
                                      platform::milliseconds timeout, int64_t nowMs) {
  TransactionMetadata to = begun(from, timeout, nowMs);
  to.producerId = producerId;
  to.producerEpoch = ProducerEpoch(0);
  to.lastProducerEpoch = goesOn ? from.producerEpoch : kNoProducerEpoch;
  return to;
}

TransactionMetadata withPartitions(const TransactionMetadata& from, const std::set<TopicPartition>& added,
                                   int16_t clientVersion, int64_t nowMs) {
  TransactionMetadata to = from;
  if (isIdle(from.state)) to.startMs = nowMs;
  to.state = TransactionState::Ongoing;
  to.partitions.insert(added.begin(), added.end());
  to.lastUpdateMs = nowMs;
  to.clientVersion = clientVersion;
  return to;
}

TransactionMetadata prepared(const TransactionMetadata& from, bool commit, int16_t clientVersion, ProducerId nextId,
                             int64_t nowMs) {
  TransactionMetadata to = from;
  to.state = commit ? TransactionState::PrepareCommit : TransactionState::PrepareAbort;
  if (clientVersion >= kTransactionVersionWithEpochBump) {
    to.lastProducerEpoch = from.producerEpoch;
    if (!isMutated(Mutation::EpochNotRaisedAtEnd)) to.producerEpoch = next(from.producerEpoch);
    to.nextProducerId = nextId;
  }
  if (isIdle(from.state)) to.startMs = nowMs;
  to.lastUpdateMs = nowMs;
  to.clientVersion = clientVersion;
  return to;
}

TransactionMetadata fenced(const TransactionMetadata& from, int16_t serverVersion, int64_t nowMs) {
  TransactionMetadata to = from;
  to.state = TransactionState::PrepareAbort;
  to.producerEpoch = next(from.producerEpoch);
  // Whoever had the epoch is to be told that it is fenced, however it asks.
  to.lastProducerEpoch = kNoProducerEpoch;
  to.nextProducerId = kNoProducerId;
  to.lastUpdateMs = nowMs;
  to.clientVersion = serverVersion;
  return to;
}

TransactionMetadata completed(const TransactionMetadata& from, int64_t nowMs) {
  TransactionMetadata to = from;
  to.state = from.state == TransactionState::PrepareCommit ? TransactionState::CompleteCommit
                                                           : TransactionState::CompleteAbort;
  to.partitions.clear();
  to.lastUpdateMs = nowMs;
  if (from.clientVersion >= kTransactionVersionWithEpochBump) {
    to.lastProducerEpoch = from.producerEpoch;
    if (from.nextProducerId != kNoProducerId) {
      to.previousProducerId = from.producerId;
      to.producerId = from.nextProducerId;
      to.nextProducerId = kNoProducerId;
      to.producerEpoch = ProducerEpoch(0);
    }
  }
  return to;
}

}  // namespace tidemark::coordinator
