#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "log/log_config.h"
#include "records/batch.h"

namespace tidemark::log {

class Segment;

/// Which batch holds the newest state of a producer that is still known, so that compaction keeps its header.
struct LastProducerRecord {
  /// Last offset of its last data batch; nothing: a marker came after the epoch changed, and the marker stays.
  std::optional<Offset> lastDataOffset;
  ProducerEpoch epoch;
};

/// A log at the moment a cleaning is planned or begins.
struct CleanView {
  /// All of them; the last is the active one.
  std::vector<std::shared_ptr<Segment>> segments;
  Offset logStart;
  Offset logEnd;
  Offset lastStable;
  std::optional<Offset> cleanedTo;
  std::shared_ptr<const LogConfig> config;
  /// Rises with each truncation, which ends a cleaning that began before.
  uint64_t truncations = 0;
  std::unordered_map<ProducerId, LastProducerRecord> lastRecords;

  /// One past the last offset that one of the segments may hold.
  Offset endOf(const Segment& segment) const;
  /// CorruptMessage for a batch that cannot be in a segment of that end: offsets lie outside a batch's checksum.
  static Result<void> checkPlace(const records::BatchHeader& header, const Segment& segment, Offset end);
};

}  // namespace tidemark::log
