#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/ids.h"
#include "records/batch.h"
#include "records/record.h"

namespace tidemark::records {

/// What a record of a control batch says; the number is in its key (i16 version, i16 type).
enum class ControlType : int16_t {
  Abort = 0,
  Commit = 1,
  LeaderChange = 2,
  SnapshotHeader = 3,
  SnapshotFooter = 4,
  KRaftVersion = 5,
  KRaftVoters = 6,
  Unknown = -1,
};

/// Unknown if the key is missing, too short, or names a type that Kafka 4.4 does not have.
ControlType controlType(const RecordView& record) noexcept;

/// The four bytes of a control record's key.
ByteVector controlKey(ControlType type);

/// A batch of one control record. `value` is stored as it is: the body of LeaderChangeMessage, SnapshotHeaderRecord,
/// SnapshotFooterRecord, KRaftVersionRecord or VotersRecord (each of which starts with its own version field).
ByteVector buildControlBatch(ControlType type, ByteView value, int64_t timestampMs, Offset baseOffset,
                             LeaderEpoch leaderEpoch);

/// Body of a transaction marker: i16 version 0, i32 epoch of the transaction coordinator.
struct EndTxnMarker {
  bool commit = false;
  int32_t coordinatorEpoch = 0;
};

/// The batch that ends a producer's transaction in one partition.
ByteVector buildEndTxnMarker(ProducerId producerId, ProducerEpoch producerEpoch, EndTxnMarker marker,
                             int64_t timestampMs, Offset baseOffset = Offset(0), LeaderEpoch leaderEpoch = {});

/// Nothing if the record is neither Commit nor Abort or its value is too short.
std::optional<EndTxnMarker> readEndTxnMarker(const RecordView& record) noexcept;

}  // namespace tidemark::records
