#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "raft/listener.h"
#include "raft/raft_log.h"
#include "raft/types.h"

namespace tidemark::raft {

/// "00000000000000000100-0000000001.checkpoint": end offset (20 digits), epoch (10 digits).
std::string snapshotFileName(OffsetAndEpoch id);
std::optional<OffsetAndEpoch> parseSnapshotFileName(std::string_view name);

/// What the control records of a snapshot (or of a log) say.
struct SnapshotHeader {
  int64_t lastContainedLogTimestampMs = -1;
  /// 0 if it holds no KRaftVersion record.
  int16_t kraftVersion = 0;
  /// Absent with kraft.version 0.
  std::optional<VoterSet> voters;
};

/// Writes a snapshot as Kafka lays it out: one control batch (SnapshotHeader and, with kraft.version 1, KRaftVersion
/// and KRaftVoters), data batches, one control batch with the SnapshotFooter. Offsets count from 0. One thread.
class SnapshotWriter {
 public:
  struct Options {
    int64_t lastContainedLogTimestampMs = 0;
    int16_t kraftVersion = 1;
    VoterSet voters;
    int64_t nowMs = 0;
    size_t maxBatchBytes = kMaxBatchBytes;
  };
  using OnFrozen = std::move_only_function<void(OffsetAndEpoch)>;

  /// `onFrozen` runs at the end of a successful freeze().
  static Result<std::unique_ptr<SnapshotWriter>> create(std::unique_ptr<RawSnapshotWriter> raw, Options options,
                                                        OnFrozen onFrozen = {});
  OffsetAndEpoch id() const { return raw_->id(); }
  /// Framed metadata records; each call's end up in as few batches as fit.
  Result<void> append(std::span<const ByteVector> records);
  /// Footer, sync, rename. The writer is spent.
  Result<void> freeze();

 private:
  SnapshotWriter(std::unique_ptr<RawSnapshotWriter> raw, Options options, OnFrozen onFrozen);

  std::unique_ptr<RawSnapshotWriter> raw_;
  Options options_;
  OnFrozen onFrozen_;
  Offset nextOffset_{0};
};

/// Reads a snapshot: checks each batch's CRC, that it begins with a header and ends with a footer. One thread.
class RecordsSnapshotReader final : public SnapshotReader {
 public:
  /// Reads as far as the header.
  static Result<std::unique_ptr<RecordsSnapshotReader>> open(std::shared_ptr<const RawSnapshot> raw);
  const SnapshotHeader& header() const noexcept { return header_; }

  OffsetAndEpoch id() const override { return raw_->id(); }
  int64_t lastContainedLogTimestampMs() const override { return header_.lastContainedLogTimestampMs; }
  Result<std::optional<std::vector<ByteView>>> next() override;

 private:
  explicit RecordsSnapshotReader(std::shared_ptr<const RawSnapshot> raw) : raw_(std::move(raw)) {}
  Result<ByteView> readBatch();

  std::shared_ptr<const RawSnapshot> raw_;
  SnapshotHeader header_;
  uint64_t position_ = 0;
  bool footerSeen_ = false;
  ByteVector buffer_;
  ByteVector decompressed_;
};

}  // namespace tidemark::raft
