#include "records/control.h"

#include "records/batch_builder.h"

namespace tidemark::records {
namespace {

constexpr size_t kControlKeySize = 4;
constexpr size_t kMarkerSize = 6;

ByteVector buildOneRecord(BatchOptions options, ControlType type, ByteView value, int64_t timestampMs) {
  options.control = true;
  BatchBuilder builder(options);
  builder.append(timestampMs, controlKey(type), value);
  return builder.build();
}

}  // namespace

ControlType controlType(const RecordView& record) noexcept {
  if (!record.key || record.key->size() < kControlKeySize) return ControlType::Unknown;
  const int16_t type = readBigEndian<int16_t>(record.key->data() + 2);
  if (type < 0 || type > static_cast<int16_t>(ControlType::KRaftVoters)) return ControlType::Unknown;
  return static_cast<ControlType>(type);
}

ByteVector controlKey(ControlType type) {
  ByteVector key(kControlKeySize);
  writeBigEndian<int16_t>(key.data() + 2, static_cast<int16_t>(type));
  return key;
}

ByteVector buildControlBatch(ControlType type, ByteView value, int64_t timestampMs, Offset baseOffset,
                             LeaderEpoch leaderEpoch) {
  BatchOptions options;
  options.baseOffset = baseOffset;
  options.leaderEpoch = leaderEpoch;
  return buildOneRecord(options, type, value, timestampMs);
}

ByteVector buildEndTxnMarker(ProducerId producerId, ProducerEpoch producerEpoch, EndTxnMarker marker,
                             int64_t timestampMs, Offset baseOffset, LeaderEpoch leaderEpoch) {
  BatchOptions options;
  options.baseOffset = baseOffset;
  options.leaderEpoch = leaderEpoch;
  options.producerId = producerId;
  options.producerEpoch = producerEpoch;
  options.transactional = true;
  ByteVector value(kMarkerSize);
  writeBigEndian<int32_t>(value.data() + 2, marker.coordinatorEpoch);
  return buildOneRecord(options, marker.commit ? ControlType::Commit : ControlType::Abort, value, timestampMs);
}

std::optional<EndTxnMarker> readEndTxnMarker(const RecordView& record) noexcept {
  const ControlType type = controlType(record);
  if (type != ControlType::Commit && type != ControlType::Abort) return std::nullopt;
  if (!record.value || record.value->size() < kMarkerSize) return std::nullopt;
  return EndTxnMarker{type == ControlType::Commit, readBigEndian<int32_t>(record.value->data() + 2)};
}

}  // namespace tidemark::records
