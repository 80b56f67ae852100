#include "replication/refused_batches.h"

namespace tidemark::replication {

using records::BatchHeader;

namespace {

/// What was sent behind a batch has come long before, or its connection is gone.
constexpr platform::Duration kRemembered = std::chrono::seconds(30);
constexpr size_t kMost = 10'000;

std::optional<BatchHeader> idempotent(ByteView batch) {
  if (batch.size() < records::kBatchHeaderSize) return std::nullopt;
  const BatchHeader header = BatchHeader::read(batch.data());
  if (!header.hasProducerId() || header.baseSequence < 0) return std::nullopt;
  return header;
}

bool isForNow(ErrorCode why) {
  return why == ErrorCode::NotLeaderOrFollower || why == ErrorCode::NotEnoughReplicas ||
         why == ErrorCode::UnknownTopicOrPartition;
}

/// Modulo 2³¹: what lies less than half of that ahead.
bool comesBefore(int32_t sequence, int32_t other) {
  constexpr uint32_t kMask = INT32_MAX;
  const uint32_t ahead = (static_cast<uint32_t>(other) - static_cast<uint32_t>(sequence)) & kMask;
  return ahead > 0 && ahead <= kMask / 2;
}

}  // namespace

std::optional<ErrorCode> RefusedBatches::before(const TopicPartition& partition, ByteView batch) const {
  if (size() == 0) [[likely]]
    return std::nullopt;
  const auto header = idempotent(batch);
  if (!header) return std::nullopt;
  const Lock lock(mutex_);
  const auto producers = partitions_.find(partition);
  if (producers == partitions_.end()) return std::nullopt;
  const auto found = producers->second.find(header->producerId);
  if (found == producers->second.end() || isOld(found->second)) return std::nullopt;
  const Refused& refused = found->second;
  if (refused.epoch != header->producerEpoch || !comesBefore(refused.firstSequence, header->baseSequence))
    return std::nullopt;
  return refused.why;
}

void RefusedBatches::refused(const TopicPartition& partition, ByteView batch, ErrorCode why) {
  if (!isForNow(why)) return;
  const auto header = idempotent(batch);
  if (!header) return;
  const Refused next{
      .epoch = header->producerEpoch, .firstSequence = header->baseSequence, .why = why, .at = clock_.monotonic()};
  const Lock lock(mutex_);
  if (size() >= kMost) forgetOld();
  if (size() >= kMost) return;
  const auto [place, isFirst] = partitions_[partition].try_emplace(header->producerId, next);
  if (isFirst) {
    count_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Refused& known = place->second;
  // The first of those that are missing is what counts.
  if (known.epoch != next.epoch || isOld(known) || !comesBefore(known.firstSequence, next.firstSequence)) known = next;
}

void RefusedBatches::appended(const TopicPartition& partition, ByteView batch) {
  if (size() == 0) [[likely]]
    return;
  const auto header = idempotent(batch);
  if (!header) return;
  const Lock lock(mutex_);
  const auto producers = partitions_.find(partition);
  if (producers == partitions_.end()) return;
  count_.fetch_sub(producers->second.erase(header->producerId), std::memory_order_relaxed);
  if (producers->second.empty()) partitions_.erase(producers);
}

bool RefusedBatches::isOld(const Refused& refused) const {
  return clock_.monotonic() - refused.at > kRemembered;
}

void RefusedBatches::forgetOld() {
  for (auto at = partitions_.begin(); at != partitions_.end();) {
    count_.fetch_sub(std::erase_if(at->second, [this](const auto& each) { return isOld(each.second); }),
                     std::memory_order_relaxed);
    at = at->second.empty() ? partitions_.erase(at) : std::next(at);
  }
}

}  // namespace tidemark::replication
