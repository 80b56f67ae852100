#pragma once

#include <optional>
#include <set>
#include <string_view>

#include "events/text.h"
#include "log/log_folder.h"
#include "log/log_loader.h"

namespace tidemark::log {

/// One opening of one log; only for log_loader.cpp (what is in the folder becomes a log) and log_recovery.cpp (the log
/// is read and cut).
class LogLoader {
 public:
  LogLoader(const LogContext& context, const PartitionLogOptions& options, events::PartitionTag tag);
  /// Puts it right and opens it, by the rules of README.md ("Opening").
  Result<LoadedLog> run();
  /// As it is.
  Result<LoadedLog> runForReading();

 private:
  SegmentList& segments() { return *loaded_.segments; }

  Result<void> takeTopicId();
  Result<void> adoptFiles();
  Result<void> loadEpochs();
  void boundLogStart();
  Result<void> rebuildEpochs();
  /// Whether each epoch begins at a batch of it, and behind none of it, and the last one is that of the last batch. Of
  /// what cannot be read: yes.
  bool epochsAreTrue() const;
  /// The batch that holds the offset, or else the next one; nothing if there is none, or it cannot be read.
  std::optional<records::BatchHeader> batchFrom(Offset offset) const;
  Result<void> dropIfBelowLogStart();
  /// Segment::activate() of the last one; nothing where an index is missing, too.
  Result<std::optional<Segment::Tail>> activateLast();
  Result<void> activate();
  Result<void> finishEpochs();
  Result<void> finishProducers();
  Result<void> replayProducers(Offset to);
  Result<void> adoptProducers();

  // Recovery; log_recovery.cpp.
  Result<void> recover();
  /// How many bytes were cut off it.
  Result<uint64_t> recoverSegment(Segment& segment);
  /// Reads one segment whose index cannot be used, or whose end is no batch.
  Result<void> repairSegment(Segment& segment);
  Result<void> splitIfOverflowing(size_t index);
  /// Whether offsets may be missing between its batches, or before them: compaction leaves gaps, and a copy has those
  /// of its leader.
  bool mayHaveGaps(const Segment& segment) const;
  bool follows(const Segment& segment) const;
  Result<void> dropSegmentsFrom(size_t index, std::string_view why);
  Result<void> syncWhatWasFound();
  Result<void> rebuildTransactions();
  /// Says what is gone, in the broker's log and as an event.
  void tellCut(const Segment& segment, const SegmentCut& cut, Offset end, std::string_view why);

  const LogContext& context_;
  const PartitionLogOptions& options_;
  const events::PartitionTag tag_;
  LoadedLog loaded_;
  LogFolder folder_;
  /// The log starts no earlier.
  Offset logStart_;
  /// Bases of segments whose index is missing or of an impossible size.
  std::set<Offset> withoutIndex_;
  /// Bases of segments whose .txnindex cannot be.
  std::set<Offset> withWrongTransactions_;
  /// Of the last batch.
  std::optional<LeaderEpoch> lastEpoch_;
  std::optional<Offset> segmentsScannedTo_;
  /// Bases of segments that were split off the one before.
  std::set<Offset> splitOff_;
  /// The snapshot there was taken into account, and need not be read again.
  std::optional<Offset> adoptedAt_;
  /// Recovery has applied all batches to the producer state.
  bool producersReady_ = false;
};

}  // namespace tidemark::log
