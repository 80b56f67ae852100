#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "raft/raft_log.h"

namespace tidemark::raft {

/// One record of the simulated log.
struct Entry {
  LeaderEpoch epoch;
  int64_t payload = 0;
  friend bool operator==(const Entry&, const Entry&) = default;
};

/// The simulated log of one node. What lies at or above `synced` is gone after a power loss.
class MemoryLog final : public LogView {
 public:
  Offset startOffset() const override { return Offset(0); }
  Offset endOffset() const override { return Offset(static_cast<int64_t>(entries_.size())); }
  LeaderEpoch lastEpoch() const override { return entries_.empty() ? LeaderEpoch(0) : entries_.back().epoch; }
  Offset syncedEndOffset() const override { return Offset(static_cast<int64_t>(synced_)); }
  OffsetAndEpoch endOffsetForEpoch(LeaderEpoch epoch) const override {
    if (entries_.empty()) return {Offset(0), LeaderEpoch(0)};
    if (epoch < entries_.front().epoch) return {Offset(0), epoch};
    const auto next = std::ranges::upper_bound(entries_, epoch, {}, &Entry::epoch);
    return {Offset(next - entries_.begin()), (next - 1)->epoch};
  }
  std::optional<OffsetAndEpoch> earliestSnapshotId() const override { return std::nullopt; }
  std::optional<OffsetAndEpoch> latestSnapshotId() const override { return std::nullopt; }

  const std::vector<Entry>& entries() const { return entries_; }
  void append(Entry entry) { entries_.push_back(entry); }
  void sync() { synced_ = entries_.size(); }
  void truncateTo(Offset offset) {
    entries_.resize(std::min(entries_.size(), static_cast<size_t>(offset.value())));
    synced_ = std::min(synced_, entries_.size());
  }
  void losePower() { entries_.resize(synced_); }
  bool holdsSynced(size_t index, const Entry& entry) const { return index < synced_ && entries_[index] == entry; }

  SharedBytes read(Offset from, size_t atMost) const {
    ByteVector bytes;
    for (size_t i = static_cast<size_t>(from.value()); i < entries_.size() && atMost-- > 0; ++i) {
      bytes.resize(bytes.size() + 12);
      writeBigEndian(bytes.data() + bytes.size() - 12, entries_[i].epoch.value());
      writeBigEndian(bytes.data() + bytes.size() - 8, entries_[i].payload);
    }
    return SharedBytes(std::move(bytes));
  }
  void appendRead(ByteView bytes) {
    for (; bytes.size() >= 12; bytes = bytes.subspan(12))
      append({LeaderEpoch(readBigEndian<int32_t>(bytes.data())), readBigEndian<int64_t>(bytes.data() + 4)});
  }

 private:
  std::vector<Entry> entries_;
  size_t synced_ = 0;
};

}  // namespace tidemark::raft
