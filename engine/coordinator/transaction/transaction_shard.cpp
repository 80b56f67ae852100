#include "coordinator/transaction/transaction_shard.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/mutation.h"
#include "coordinator/transaction/transaction_records.h"
#include "protocol/framing.h"
#include "protocol/generated/transaction_log_key.h"

namespace tidemark::coordinator {

using events::TransactionCause;

namespace {

/// Until a write that failed is tried again.
constexpr platform::Duration kCompleteBackoff = std::chrono::milliseconds(100);

}  // namespace

TransactionShard::Entry* TransactionShard::find(std::string_view id) {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

const TransactionShard::Entry* TransactionShard::find(std::string_view id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

// ---- the log

Result<void> TransactionShard::replay(Offset offset, ProducerId /*producerId*/, ByteView key,
                                      std::optional<ByteView> value) {
  TIDEMARK_ASSIGN(const protocol::FramedRecord framed, protocol::decodeCoordinatorKey(key));
  if (framed.type != protocol::TransactionLogKey::kRecordType) return {};
  TIDEMARK_ASSIGN(const auto decoded, protocol::decode<protocol::TransactionLogKey>(framed.body, framed.version));
  const std::string id = decoded.transactionalId.str();
  MetadataPtr next;
  if (value) {
    TIDEMARK_ASSIGN(TransactionMetadata metadata, readTransactionValue(*value));
    if (const auto ours = written_.find(id); ours != written_.end())
      metadata.lastProducerEpoch = ours->second.lastProducerEpoch;
    next = std::make_shared<const TransactionMetadata>(std::move(metadata));
  }
  Entry& entry = entries_[id];
  tell(id, entry.latest.get(), next.get());
  written_.erase(id);
  if (!next || !entry.latest || next->startMs != entry.latest->startMs) entry.openSinceMs.reset();
  entry.latest = next;
  entry.recordOffset = offset;
  entry.sentMarkers = false;
  entry.pendingMarkers.clear();
  uncommitted_.push_back({offset, id, std::move(next)});
  return {};
}

void TransactionShard::onHighWatermark(Offset highWatermark) {
  highWatermark_ = highWatermark;
  while (!uncommitted_.empty() && uncommitted_.front().offset < highWatermark) {
    Change change = std::move(uncommitted_.front());
    uncommitted_.pop_front();
    const auto found = entries_.find(change.id);
    if (found == entries_.end()) continue;
    found->second.committed = std::move(change.value);
    if (!found->second.latest && !isPending(found->second)) entries_.erase(found);
  }
}

void TransactionShard::write(Effects& effects, std::string_view id, const TransactionMetadata& next,
                             TransactionCause cause) {
  const Entry* entry = find(id);
  TIDEMARK_INVARIANT(entry == nullptr || !entry->latest || isValidTransition(entry->latest->state, next.state),
                     "a transaction goes from one state to another that cannot follow it");
  written_[std::string(id)] = {cause, next.lastProducerEpoch};
  effects.records.push_back(transactionRecord(id, next, config_.transactionVersion()));
}

void TransactionShard::tell(std::string_view id, const TransactionMetadata* from, const TransactionMetadata* to) {
  if (config_.recorder == nullptr || !config_.recorder->wants<events::TransactionStateChanged>()) return;
  const auto ours = written_.find(id);
  // What is read while loading was told when it happened.
  if (ours == written_.end()) return;
  const TransactionMetadata& shown = to != nullptr ? *to : *from;
  config_.recorder->emit(events::TransactionStateChanged{
      .transactionalId = id,
      .producer = shown.producerId,
      .epoch = shown.producerEpoch,
      .from = from != nullptr ? from->state : TransactionState::Empty,
      .to = to != nullptr ? to->state : TransactionState::Dead,
      .cause = ours->second.cause,
      .partitions = static_cast<int32_t>(
          (to != nullptr && to->partitions.empty() && from != nullptr ? *from : shown).partitions.size())});
}

Effects TransactionShard::onLoaded() {
  std::vector<std::string> ending;
  for (const auto& [id, entry] : entries_)
    if (entry.latest && isEnding(entry.latest->state)) ending.push_back(id);
  Effects out = sendMarkers(ending);
  out.arm({TimerKey::Kind::Abort, "", ""}, config_.abortInterval);
  out.arm({TimerKey::Kind::Expiry, "", ""}, config_.expiryInterval);
  return out;
}

Effects TransactionShard::onUnloaded() {
  Effects out;
  out.replies.emplace_back([forget = forget_] { forget(); });
  return out;
}

Effects TransactionShard::onTimeout(const TimerKey& key) {
  if (key.kind == TimerKey::Kind::Abort) return abortTimedOut();
  if (key.kind == TimerKey::Kind::Expiry) return expireIds();
  return sendMarkers({key.group});
}

// ---- markers

Effects TransactionShard::sendMarkers(std::vector<std::string> ids) {
  Effects out;
  out.atomic = false;
  std::erase_if(ids, [&](const std::string& id) {
    Entry* entry = find(id);
    if (entry == nullptr || !entry->latest || !isEnding(entry->latest->state)) return true;
    // Nobody may hear of an end that could still be lost.
    if (isPending(*entry)) return false;
    if (!entry->sentMarkers) {
      sendMarkersOf(id, *entry, out);
    } else if (entry->pendingMarkers.empty()) {
      complete(id, *entry, out);
    }
    return !entry->pendingMarkers.empty();
  });
  if (ids.empty()) return out;
  // Left are those whose end, or whose completion, is to be committed.
  out.whenCommitted = [this, ids = std::move(ids)](ErrorCode code) {
    if (code == ErrorCode::None || code == ErrorCode::RequestTimedOut) return sendMarkers(ids);
    Effects later;
    for (const std::string& id : ids) later.arm({TimerKey::Kind::Complete, id, ""}, kCompleteBackoff);
    return later;
  };
  return out;
}

void TransactionShard::sendMarkersOf(const std::string& id, Entry& entry, Effects& effects) {
  entry.sentMarkers = true;
  entry.pendingMarkers = entry.latest->partitions;
  if (isMutated(Mutation::MarkerLost) && entry.pendingMarkers.size() > 1)
    entry.pendingMarkers.erase(entry.pendingMarkers.begin());
  if (entry.pendingMarkers.empty()) return complete(id, entry, effects);
  MarkerOrder order{.coordinatorPartition = partition_,
                    .coordinatorEpoch = {},
                    .transactionalId = id,
                    .producerId = entry.latest->producerId,
                    .producerEpoch = entry.latest->producerEpoch,
                    .commit = entry.latest->state == TransactionState::PrepareCommit,
                    .transactionVersion = entry.latest->clientVersion,
                    .partitions = {entry.pendingMarkers.begin(), entry.pendingMarkers.end()}};
  effects.replies.emplace_back([send = send_, order = std::move(order)]() mutable { send(std::move(order)); });
}

void TransactionShard::complete(const std::string& id, const Entry& entry, Effects& effects) {
  write(effects, id, completed(*entry.latest, clock_.wallMs()), TransactionCause::MarkersWritten);
}

Effects TransactionShard::markersWritten(std::string_view transactionalId, ProducerIdAndEpoch producer,
                                         const std::vector<TopicPartition>& partitions) {
  Entry* entry = find(transactionalId);
  if (entry == nullptr || !entry->sentMarkers || entry->latest->producer() != producer) return {};
  for (const TopicPartition& partition : partitions) entry->pendingMarkers.erase(partition);
  return entry->pendingMarkers.empty() ? sendMarkers({std::string(transactionalId)}) : Effects();
}

// ---- time

Effects TransactionShard::abortTimedOut() {
  Effects out;
  out.atomic = false;
  const int64_t nowMs = clock_.wallMs();
  std::vector<std::string> late;
  for (auto& [id, entry] : entries_) {
    if (isPending(entry) || entry.latest->state != TransactionState::Ongoing) continue;
    entry.openSinceMs = std::min({entry.openSinceMs.value_or(nowMs), entry.latest->startMs, nowMs});
    if (*entry.openSinceMs + entry.latest->timeout.count() >= nowMs || isMutated(Mutation::TimeoutsForgotten)) continue;
    write(out, id, fenced(*entry.latest, config_.transactionVersion(), nowMs), TransactionCause::TimedOut);
    late.push_back(id);
  }
  if (!late.empty()) out.whenCommitted = [this, late = std::move(late)](ErrorCode) { return sendMarkers(late); };
  out.arm({TimerKey::Kind::Abort, "", ""}, config_.abortInterval);
  return out;
}

Effects TransactionShard::expireIds() {
  Effects out;
  out.atomic = false;
  const int64_t before = clock_.wallMs() - config_.idExpiration.count();
  for (const auto& [id, entry] : entries_) {
    if (isPending(entry) || !isIdle(entry.latest->state) || entry.latest->lastUpdateMs > before) continue;
    written_[id] = {TransactionCause::Expired, kNoProducerEpoch};
    out.records.push_back(transactionTombstone(id));
  }
  out.arm({TimerKey::Kind::Expiry, "", ""}, config_.expiryInterval);
  return out;
}

}  // namespace tidemark::coordinator
