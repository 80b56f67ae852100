#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/cleaner/batch_filter.h"
#include "log/cleaner/clean_view.h"
#include "log/cleaner/cleaned_transactions.h"
#include "log/cleaner/cleaner_throttle.h"
#include "log/cleaner/cleaner_types.h"
#include "log/cleaner/offset_map.h"
#include "log/cleaner/superseded_offsets.h"
#include "log/log_context.h"

namespace tidemark::log {

class BatchReader;
class PartitionLog;

/// What a pass uses besides its log.
struct PassResources {
  const LogContext& context;
  CleanerThrottle& throttle;
  /// Where it runs: the throttle holds this one back.
  platform::Executor& executor;
  /// Most slots of its offset map, and how full it may get.
  size_t maxSlots = 0;
  double loadFactor = 0.9;
  size_t ioBufferBytes = 0;
  OffsetMap::HashKey hashKey;
};

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
  Result<void> buildMap();
  Result<void> mapSegment(const Segment& segment, Offset nextSegment);
  Result<void> mapBatch(const records::BatchView& batch);
  Result<void> mapRecords(const records::BatchView& batch);
  /// What waits, into the map. False: the map is full, mappedTo_ says from where on.
  bool putWaiting();
  /// One past the last offset that the segment may hold.
  Offset endOf(const Segment& segment) const;
  static Result<void> checkPlace(const records::BatchHeader& header, const Segment& segment, Offset end);
  void noteMapped(Offset upTo);

  Result<void> cleanGroup(std::span<const std::shared_ptr<Segment>> group);
  Result<void> cleanInto(const Segment& source, Segment& cleaned);
  Result<void> cleanBatch(const records::BatchView& batch, Segment& cleaned);
  Result<void> write(Segment& cleaned);
  BatchVerdict judge(const records::BatchHeader& header, bool discardable) const;
  bool isLastOfProducer(const records::BatchHeader& header) const;
  bool keeps(const records::BatchHeader& header, const records::RecordCursor& record);
  bool isSuperseded(const records::RecordCursor& record) const;

  PartitionLog& log_;
  const PassResources& resources_;
  const CleanView view_;
  const CleanPlan plan_;
  const int64_t nowMs_;
  bool ended_ = false;
  CleanedPass pass_;

  std::unique_ptr<OffsetMap> map_;
  /// From firstDirty on. Nothing: the offsets reach too far for one bit each.
  std::optional<SupersededOffsets> superseded_;
  /// Keys on their way into the map, which is fetched from memory for them meanwhile.
  struct Waiting {
    OffsetMap::Hash key;
    Offset offset;
  };
  std::vector<Waiting> waiting_;
  size_t mostKeys_ = 0;
  bool mapFull_ = false;
  /// Base offsets of the segments whose checksums were all right when they were read into the map, moments before they
  /// are read again.
  std::set<Offset> verified_;
  /// Below it every key is in the map.
  Offset mappedTo_;
  CleanedTransactions mappedTransactions_;

  CleanedTransactions transactions_;
  BatchFilter filter_;
  ByteVector readBuffer_;
  ByteVector payload_;
  ByteVector output_;
  std::vector<records::BatchHeader> headers_;
};

}  // namespace tidemark::log
