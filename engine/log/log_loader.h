#pragma once

#include <memory>

#include "base/result.h"
#include "events/text.h"
#include "log/epoch_cache.h"
#include "log/log_context.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

namespace tidemark::log {

/// A log as it was found in its folder, put right.
struct LoadedLog {
  std::unique_ptr<SegmentList> segments;
  EpochCache epochs;
  std::unique_ptr<ProducerStateManager> producers;
  Offset logStart{0};
  Offset nextOffset{0};
  Offset recoveryPoint{0};
  Uuid topicId;
  /// What recovery did, for the event.
  int32_t segmentsScanned = 0;
  int64_t removedBytes = 0;
};

/// Opens what is in the folder, made if missing, by the rules of README.md ("Opening"). After a clean stop no segment
/// is read but the headers behind the last index entry of the active one.
Result<LoadedLog> loadLog(const LogContext& context, const PartitionLogOptions& options, events::PartitionTag tag);

/// What is in the folder as it is, for looking only (PartitionLog::openForReading()). KafkaStorageError if no segment
/// is there.
Result<LoadedLog> loadLogForReading(const LogContext& context, const PartitionLogOptions& options);

}  // namespace tidemark::log
