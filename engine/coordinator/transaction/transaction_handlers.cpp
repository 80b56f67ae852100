#include <algorithm>
#include <utility>

#include "base/mutation.h"
#include "coordinator/transaction/transaction_shard.h"

// What requests do to transactional ids.

namespace tidemark::coordinator {

using events::TransactionCause;

namespace {

template <class Response>
Effects answerNow(Reply<Response> reply, Response response) {
  Effects out;
  out.replies.emplace_back(
      [reply = std::move(reply), response = std::move(response)]() mutable { reply(std::move(response)); });
  return out;
}

Effects answerNow(Reply<ProducerAnswer> reply, ErrorCode error) {
  return answerNow(std::move(reply), ProducerAnswer{error, {}});
}

/// Done again with an id.
Effects needId(NeedProducerId need) {
  Effects out;
  out.replies.emplace_back([need = std::move(need)]() mutable { need(); });
  return out;
}

}  // namespace

// ---- InitProducerId

Effects TransactionShard::beginProducer(const BeginProducer& request, std::optional<ProducerId> fresh,
                                        NeedProducerId need, Reply<ProducerAnswer> reply) {
  const std::string& id = request.transactionalId;
  const Entry* entry = find(id);
  const int64_t nowMs = clock_.wallMs();
  if (entry != nullptr && isPending(*entry)) return answerNow(std::move(reply), ErrorCode::ConcurrentTransactions);
  TransactionMetadata next;
  if (entry == nullptr) {
    // Also of one that expects to be somebody: its id has expired, or it never had one.
    if (!fresh) return needId(std::move(need));
    next = newTransactional(*fresh, request.timeout, nowMs);
  } else {
    const TransactionMetadata& now = *entry->latest;
    const auto& expected = request.expected;
    // It may be what it believes to be; or it was that, and never heard that its epochs ran out.
    if (expected && expected->id != now.producerId &&
        !(expected->id == now.previousProducerId && isExhausted(expected->epoch)))
      return answerNow(std::move(reply), ErrorCode::ProducerFenced);
    if (isEnding(now.state)) return answerNow(std::move(reply), ErrorCode::ConcurrentTransactions);
    if (now.state == TransactionState::Ongoing) {
      // The open transaction is aborted and its producer fenced; the new one gets the next epoch when it asks again.
      Effects out;
      write(out, id, fenced(now, config_.transactionVersion(), nowMs), TransactionCause::Fenced);
      out.whenCommitted = [this, id, reply = std::move(reply)](ErrorCode code) mutable {
        reply({orErrorOfWrite(ErrorCode::ConcurrentTransactions, code), {}});
        return sendMarkers({id});
      };
      return out;
    }
    const bool agrees = !expected || expected->epoch == now.producerEpoch;
    if (isExhausted(now.producerEpoch) && agrees) {
      if (!fresh) return needId(std::move(need));
      next = withNewProducerId(now, *fresh, expected.has_value(), request.timeout, nowMs);
    } else {
      const auto bumped =
          withNextEpoch(now, expected ? std::optional(expected->epoch) : std::nullopt, request.timeout, nowMs);
      if (!bumped) return answerNow(std::move(reply), bumped.error());
      next = *bumped;
    }
  }
  Effects out;
  write(out, id, next, TransactionCause::Initialized);
  out.whenCommitted = [reply = std::move(reply), producer = next.producer()](ErrorCode code) mutable {
    reply(code == ErrorCode::None ? ProducerAnswer{code, producer} : ProducerAnswer{clientErrorOfWrite(code), {}});
    return Effects();
  };
  return out;
}

// ---- AddPartitionsToTxn, AddOffsetsToTxn

Effects TransactionShard::addPartitions(const AddPartitions& request, Reply<ErrorCode> reply) {
  const Entry* entry = find(request.transactionalId);
  const auto decided = [&]() -> ErrorCode {
    if (entry == nullptr) return ErrorCode::InvalidProducerIdMapping;
    // First, since what is under way may bring the id and epoch that the producer has by now.
    if (isBusy(*entry)) return ErrorCode::ConcurrentTransactions;
    if (entry->latest->producerId != request.producer.id) return ErrorCode::InvalidProducerIdMapping;
    if (entry->latest->producerEpoch != request.producer.epoch && !isMutated(Mutation::FencingOffAtAdd))
      return ErrorCode::ProducerFenced;
    return ErrorCode::None;
  }();
  if (decided != ErrorCode::None) return answerNow(std::move(reply), decided);
  const TransactionMetadata& now = *entry->latest;
  if (now.state == TransactionState::Ongoing && std::ranges::includes(now.partitions, request.partitions))
    return answerNow(std::move(reply), ErrorCode::None);
  Effects out;
  write(out, request.transactionalId, withPartitions(now, request.partitions, request.clientVersion, clock_.wallMs()),
        TransactionCause::PartitionsAdded);
  out.whenCommitted = [reply = std::move(reply)](ErrorCode code) mutable {
    reply(clientErrorOfWrite(code));
    return Effects();
  };
  return out;
}

PartitionErrors TransactionShard::verify(const AddPartitions& request) const {
  const Entry* entry = find(request.transactionalId);
  // By what is committed: a transaction that is only being written may still be lost, and would then never end.
  const TransactionMetadata* now = entry != nullptr ? entry->committed.get() : nullptr;
  const ErrorCode all = now == nullptr                                 ? ErrorCode::InvalidProducerIdMapping
                        : now->producerId != request.producer.id       ? ErrorCode::InvalidProducerIdMapping
                        : now->producerEpoch != request.producer.epoch ? ErrorCode::ProducerFenced
                        : isEnding(now->state)                         ? ErrorCode::ConcurrentTransactions
                                                                       : ErrorCode::None;
  // Nor is it refused by what is committed alone: a new leader does not know yet how far its predecessor had got, and
  // told.
  const bool isOpen = entry != nullptr && isPending(*entry);
  PartitionErrors errors;
  for (const TopicPartition& partition : request.partitions) {
    const bool missing = all == ErrorCode::None && !now->partitions.contains(partition);
    const ErrorCode error = missing ? ErrorCode::TransactionAbortable : all;
    errors.emplace_back(partition, error != ErrorCode::None && isOpen ? ErrorCode::ConcurrentTransactions : error);
  }
  return errors;
}

// ---- EndTxn

TransactionShard::EndDecision TransactionShard::decideEndOfOldClient(const Entry& entry,
                                                                     const EndTransaction& request) const {
  const TransactionMetadata& now = *entry.latest;
  const auto refuse = [](ErrorCode error) { return std::unexpected(Refused{error, {}}); };
  if (now.producerId != request.producer.id) return refuse(ErrorCode::InvalidProducerIdMapping);
  if (now.producerEpoch != request.producer.epoch) return refuse(ErrorCode::ProducerFenced);
  if (isBusy(entry)) return refuse(ErrorCode::ConcurrentTransactions);
  if (now.state == TransactionState::Ongoing)
    return prepared(now, request.commit, request.clientVersion, kNoProducerId, clock_.wallMs());
  const auto repeated = request.commit ? TransactionState::CompleteCommit : TransactionState::CompleteAbort;
  return refuse(now.state == repeated ? ErrorCode::None : ErrorCode::InvalidTxnState);
}

TransactionShard::EndDecision TransactionShard::decideEnd(const Entry& entry, const EndTransaction& request,
                                                          ProducerId next) const {
  const TransactionMetadata& now = *entry.latest;
  const ProducerIdAndEpoch asked = request.producer;
  const auto refuse = [](ErrorCode error) { return std::unexpected(Refused{error, {}}); };
  if (isPending(entry)) return refuse(ErrorCode::ConcurrentTransactions);
  // The end before this one gave a new producer id, and its answer was lost.
  const bool repeatsOverflow = now.previousProducerId == asked.id && now.previousProducerId != now.producerId &&
                               asked.epoch.value() == INT16_MAX - 1 && now.producerEpoch.value() == 0;
  const bool repeatsEnd = now.clientVersion >= kTransactionVersionWithEpochBump && now.producerId == asked.id &&
                          now.producerEpoch.value() == asked.epoch.value() + 1;
  if (now.producerId != asked.id && !repeatsOverflow) return refuse(ErrorCode::InvalidProducerIdMapping);
  const bool current = now.producerId == asked.id && now.producerEpoch == asked.epoch;
  if (isEnding(now.state)) {
    if (!repeatsEnd) return refuse(ErrorCode::ProducerFenced);
    const bool same = request.commit == (now.state == TransactionState::PrepareCommit);
    return refuse(same ? ErrorCode::ConcurrentTransactions : ErrorCode::InvalidTxnState);
  }
  const auto decided = [&] { return prepared(now, request.commit, request.clientVersion, next, clock_.wallMs()); };
  if (now.state == TransactionState::Ongoing) {
    if (!current) return refuse(ErrorCode::ProducerFenced);
    return decided();
  }
  const bool isComplete = now.state != TransactionState::Empty;
  if (isComplete && (repeatsEnd || repeatsOverflow)) {
    const bool same = request.commit == (now.state == TransactionState::CompleteCommit);
    return std::unexpected(
        Refused{same ? ErrorCode::None : ErrorCode::InvalidTxnState, same ? now.producer() : ProducerIdAndEpoch()});
  }
  if (!current) return refuse(ErrorCode::ProducerFenced);
  // Nothing was added. The producer cannot know whether that is so, if a produce of it failed: it may abort.
  if (request.commit) return refuse(ErrorCode::InvalidTxnState);
  return decided();
}

Effects TransactionShard::end(const EndTransaction& request, std::optional<ProducerId> fresh, NeedProducerId need,
                              Reply<ProducerAnswer> reply) {
  const std::string& id = request.transactionalId;
  const Entry* entry = find(id);
  if (entry == nullptr) return answerNow(std::move(reply), ErrorCode::InvalidProducerIdMapping);
  if (!entry->latest) return answerNow(std::move(reply), ErrorCode::ConcurrentTransactions);
  const bool bumps = request.clientVersion >= kTransactionVersionWithEpochBump;
  const EndDecision decided =
      bumps ? decideEnd(*entry, request, fresh.value_or(kNoProducerId)) : decideEndOfOldClient(*entry, request);
  if (!decided) return answerNow(std::move(reply), ProducerAnswer{decided.error().error, decided.error().producer});
  if (bumps && isExhausted(entry->latest->producerEpoch) && !fresh) return needId(std::move(need));
  Effects out;
  write(out, id, *decided, TransactionCause::Ended);
  if (isMutated(Mutation::EndAnsweredAtOnce)) {
    out.replies.emplace_back([reply = std::move(reply), producer = completed(*decided, 0).producer()]() mutable {
      reply({ErrorCode::None, producer});
    });
    out.whenCommitted = [this, id](ErrorCode) { return sendMarkers({id}); };
    return out;
  }
  // The producer goes on at once; until the markers are written, its next requests are told to come again.
  out.whenCommitted = [this, id, reply = std::move(reply),
                       producer = completed(*decided, 0).producer()](ErrorCode code) mutable {
    reply(code == ErrorCode::None ? ProducerAnswer{code, producer} : ProducerAnswer{clientErrorOfWrite(code), {}});
    return sendMarkers({id});
  };
  return out;
}

}  // namespace tidemark::coordinator
