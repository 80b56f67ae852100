#include "raft/accumulator.h"

#include <fmt/format.h>

#include "raft/types.h"
#include "records/batch_builder.h"

namespace tidemark::raft {

void Accumulator::open(LeaderEpoch epoch, Offset next) {
  close();
  epoch_ = epoch;
  next_ = first_ = next;
}

void Accumulator::close() {
  epoch_.reset();
  groups_.clear();
  bytes_ = 0;
}

bool Accumulator::isFull() const noexcept {
  return bytes_ >= kMaxBatchBytes;
}

Result<Offset> Accumulator::add(LeaderEpoch epoch, std::vector<ByteVector> records) {
  if (epoch_ != epoch)
    return fail(ErrorCode::NotController, fmt::format("this node does not lead epoch {} of the quorum", epoch));
  if (records.empty()) return fail(ErrorCode::InvalidRequest, "there is no record to append");
  Group group{std::move(records), records::kBatchHeaderSize};
  for (const ByteVector& record : group.records)
    group.bytes += records::BatchBuilder::recordSizeLimit(std::nullopt, ByteView(record));
  if (group.bytes > kMaxBatchBytes)
    return fail(ErrorCode::RecordListTooLarge, fmt::format("{} records of {} bytes do not fit into one batch of {}",
                                                           group.records.size(), group.bytes, kMaxBatchBytes));
  if (bytes_ + group.bytes > kMaxWaitingBytes)
    return fail(ErrorCode::ThrottlingQuotaExceeded, "too many metadata records wait to be appended");
  bytes_ += group.bytes;
  next_ = next_ + static_cast<int64_t>(group.records.size());
  groups_.push_back(std::move(group));
  return next_ - 1;
}

std::vector<ByteVector> Accumulator::drain(int64_t nowMs) {
  std::vector<ByteVector> batches;
  while (!groups_.empty()) {
    records::BatchBuilder builder({.baseOffset = first_, .leaderEpoch = *epoch_});
    size_t bytes = 0;
    while (!groups_.empty() && (builder.empty() || bytes + groups_.front().bytes <= kMaxBatchBytes)) {
      const Group& group = groups_.front();
      for (const ByteVector& record : group.records) builder.append(nowMs, std::nullopt, ByteView(record));
      bytes += group.bytes;
      groups_.pop_front();
    }
    first_ = first_ + builder.count();
    batches.push_back(builder.build());
  }
  bytes_ = 0;
  return batches;
}

}  // namespace tidemark::raft
