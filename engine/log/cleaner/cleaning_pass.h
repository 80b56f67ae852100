#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/cleaner/batch_filter.h"
#include "log/cleaner/clean_view.h"
#include "log/cleaner/cleaned_transactions.h"
#include "log/cleaner/cleaner_types.h"
#include "log/cleaner/dirty_part.h"
#include "log/cleaner/pass_resources.h"
#include "log/cleaner/survivor_reader.h"

namespace tidemark::log {

class PartitionLog;

/// The facts of the segments of a view. `withTimes`: also their timestamps, as far as the topic's lags need them.
Result<std::vector<SegmentFacts>> factsOf(const CleanView& view, bool withTimes);
/// What could be cleaned of a log now.
Result<CleanPlan> planFor(const CleanView& view, int64_t nowMs);

/// One cleaning of one log (Kafka's Cleaner): reads the dirty part into an offset map, then writes every segment up to
/// there anew, in groups, without what the map says is superseded, and swaps each group in. Used once, on one thread;
/// appends, reads and syncs of the log go on meanwhile, a truncation ends it.
class CleaningPass {
 public:
  CleaningPass(PartitionLog& log, const PassResources& resources, CleanView view, const CleanPlan& plan);

  /// What it did; nothing if it was ended by a truncation, a stop, or the removal of segments. What was swapped in
  /// until then stays. CorruptMessage if the log's own records cannot be read, KafkaStorageError if the disk failed it.
  Result<std::optional<CleanedPass>> run();

 private:
  Result<void> goOn(size_t bytesMoved);
  Result<void> cleanGroup(std::span<const std::shared_ptr<Segment>> group);
  Result<void> cleanInto(const Segment& source, Segment& cleaned);
  Result<void> cleanAll(const Segment& source, const platform::File& file, Segment& cleaned);
  Result<void> cleanNoted(const NotedBatches& batches, const platform::File& file, Segment& cleaned);
  /// What has to be read of a batch again. Counts those of which nothing has.
  BatchNeed needOf(const NotedBatch& note);
  Result<void> cleanBatch(const records::BatchView& batch, Segment& cleaned);
  Result<void> cleanNotedBatch(const SurvivorReader& reader, Segment& cleaned);
  /// Decides what holds for the whole batch, in the order of the log.
  Result<BatchVerdict> verdictOn(const records::BatchView& batch, Segment& cleaned);
  void count(const records::BatchHeader& header, const BatchVerdict& verdict, const FilteredBatch& filtered);
  Result<void> write(Segment& cleaned);
  BatchVerdict judge(const records::BatchHeader& header, bool discardable) const;
  bool isLastOfProducer(const records::BatchHeader& header) const;
  bool keeps(const records::BatchHeader& header, const records::RecordCursor& record);

  PartitionLog& log_;
  const PassResources& resources_;
  const CleanView view_;
  const CleanPlan plan_;
  const int64_t nowMs_;
  bool ended_ = false;
  CleanedPass pass_;

  DirtyPart dirty_;
  CleanedTransactions transactions_;
  BatchFilter filter_;
  ByteVector readBuffer_;
  ByteVector output_;
  std::vector<records::BatchHeader> headers_;
  std::vector<BatchNeed> needs_;
  std::vector<PlacedRecord> placed_;
};

}  // namespace tidemark::log
