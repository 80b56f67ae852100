#include "inspect/batch_anatomy.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/varint.h"
#include "records/codec.h"
#include "records/control.h"
#include "records/record.h"

namespace tidemark::inspect {

using records::BatchHeader;

namespace {

/// In the order of FieldKind.
constexpr std::array kFieldNames = std::to_array<std::string_view>({
    "baseOffset",
    "length",
    "partitionLeaderEpoch",
    "magic",
    "crc",
    "attributes",
    "lastOffsetDelta",
    "baseTimestamp",
    "deleteHorizonMs",
    "maxTimestamp",
    "producerId",
    "producerEpoch",
    "baseSequence",
    "recordsCount",
    "records",
    "record",
    "length",
    "attributes",
    "timestampDelta",
    "offsetDelta",
    "keyLength",
    "key",
    "valueLength",
    "value",
    "headersCount",
    "headers",
    "keyLength",
    "key",
    "valueLength",
    "value",
});
static_assert(kFieldNames.size() == static_cast<size_t>(FieldKind::HeaderValue) + 1);

std::string attributesNote(const BatchHeader& header) {
  const auto codec = records::codecByNumber(header.codecNumber());
  std::string note = codec ? std::string(records::codecName(*codec)) : fmt::format("codec {}?", header.codecNumber());
  note += header.timestampType() == records::TimestampType::LogAppendTime ? ", LogAppendTime" : ", CreateTime";
  if (header.isTransactional()) note += ", transactional";
  if (header.isControl()) note += ", control";
  if (header.deleteHorizonMs()) note += ", delete horizon";
  return note;
}

std::vector<AnatomyField> dissectHeader(const BatchAnatomy& batch) {
  const BatchHeader& header = batch.header;
  std::vector<AnatomyField> fields;
  const auto add = [&fields](FieldKind kind, size_t begin, size_t end, std::string value, std::string note = {}) {
    fields.push_back({kind, std::string(nameOf(kind)), begin, end, std::move(value), std::move(note), {}});
  };
  const auto number = [](auto value) { return fmt::format("{}", value); };
  add(FieldKind::BaseOffset, records::kBaseOffsetAt, records::kLengthAt, number(header.baseOffset));
  add(FieldKind::Length, records::kLengthAt, records::kLeaderEpochAt, number(header.length),
      fmt::format("{} bytes in all", header.sizeInBytes()));
  add(FieldKind::PartitionLeaderEpoch, records::kLeaderEpochAt, records::kMagicAt, number(header.leaderEpoch));
  add(FieldKind::Magic, records::kMagicAt, records::kCrcAt, number(int{header.magic}));
  add(FieldKind::Crc, records::kCrcAt, records::kAttributesAt, fmt::format("0x{:08x}", header.crc),
      batch.crcValid ? "CRC-32C of byte 21 to the end: as computed"
                     : fmt::format("computed from byte 21 to the end: 0x{:08x}", batch.computedCrc));
  add(FieldKind::Attributes, records::kAttributesAt, records::kLastOffsetDeltaAt,
      fmt::format("0x{:04x}", static_cast<uint16_t>(header.attributes)), attributesNote(header));
  add(FieldKind::LastOffsetDelta, records::kLastOffsetDeltaAt, records::kBaseTimestampAt,
      number(header.lastOffsetDelta), fmt::format("last offset {}", header.lastOffset()));
  add(header.deleteHorizonMs() ? FieldKind::DeleteHorizonMs : FieldKind::BaseTimestamp, records::kBaseTimestampAt,
      records::kMaxTimestampAt, number(header.baseTimestampMs), timeText(header.baseTimestampMs));
  add(FieldKind::MaxTimestamp, records::kMaxTimestampAt, records::kProducerIdAt, number(header.maxTimestampMs),
      timeText(header.maxTimestampMs));
  add(FieldKind::ProducerId, records::kProducerIdAt, records::kProducerEpochAt, number(header.producerId),
      header.hasProducerId() ? "" : "none");
  add(FieldKind::ProducerEpoch, records::kProducerEpochAt, records::kBaseSequenceAt, number(header.producerEpoch));
  add(FieldKind::BaseSequence, records::kBaseSequenceAt, records::kCountAt, number(header.baseSequence),
      header.baseSequence == records::kNoSequence ? "none" : fmt::format("last sequence {}", header.lastSequence()));
  add(FieldKind::RecordsCount, records::kCountAt, records::kBatchHeaderSize, number(header.recordCount));
  if (batch.bytes.size() > records::kBatchHeaderSize)
    add(FieldKind::Records, records::kBatchHeaderSize, batch.bytes.size(),
        fmt::format("{} bytes", batch.bytes.size() - records::kBatchHeaderSize),
        batch.compressed && batch.problem.empty() ? fmt::format("{} bytes decompressed", batch.records.size()) : "");
  return fields;
}

std::string_view controlName(records::ControlType type) {
  switch (type) {
    case records::ControlType::Abort:
      return "abort marker";
    case records::ControlType::Commit:
      return "commit marker";
    case records::ControlType::LeaderChange:
      return "LeaderChange";
    case records::ControlType::SnapshotHeader:
      return "SnapshotHeader";
    case records::ControlType::SnapshotFooter:
      return "SnapshotFooter";
    case records::ControlType::KRaftVersion:
      return "KRaftVersion";
    case records::ControlType::KRaftVoters:
      return "KRaftVoters";
    case records::ControlType::Unknown:
      break;
  }
  return "unknown control type";
}

/// Reads the fields of records one after another. A field that cannot be read is left out and ends it.
class RecordDissector {
 public:
  RecordDissector(const BatchHeader& header, ByteView payload) : header_(header), all_(payload), left_(payload) {}

  /// Nothing at the end or at what cannot be read; problem() then says why.
  std::optional<AnatomyField> next(uint64_t index) {
    if (left_.empty()) {
      problem_ = "the records end early";
      return std::nullopt;
    }
    AnatomyField record{.kind = FieldKind::Record,
                        .name = fmt::format("[{}]", index),
                        .begin = here(),
                        .end = 0,
                        .value = {},
                        .note = {},
                        .children = {}};
    const auto length = number<uint32_t>(record, FieldKind::RecordLength);
    if (!length) return std::nullopt;
    if (*length < 0 || static_cast<uint64_t>(*length) > left_.size()) {
      problem_ = fmt::format("record {} claims {} bytes, {} are left", index, *length, left_.size());
      return std::nullopt;
    }
    const size_t end = here() + static_cast<size_t>(*length);
    outside_ = left_.subspan(static_cast<size_t>(*length));
    left_ = left_.first(static_cast<size_t>(*length));
    const bool whole = body(record);
    record.end = end;
    record.value = fmt::format("{} bytes", end - record.begin);
    if (whole && !left_.empty()) {
      whole_ = false;
      problem_ = fmt::format("record {}: {} bytes are left over inside it", index, left_.size());
    }
    left_ = outside_;
    return record;
  }
  bool whole() const noexcept { return whole_; }
  const std::string& problem() const noexcept { return problem_; }
  bool atEnd() const noexcept { return left_.empty(); }
  size_t left() const noexcept { return left_.size(); }

 private:
  size_t here() const noexcept { return static_cast<size_t>(left_.data() - all_.data()); }

  template <class Unsigned>
  auto number(AnatomyField& parent, FieldKind kind) -> std::optional<std::make_signed_t<Unsigned>> {
    const size_t begin = here();
    const auto raw = takeUnsignedVarint<Unsigned>(left_);
    if (!raw) {
      problem_ = fmt::format("{}: byte {} begins no varint", nameOf(kind), begin);
      whole_ = false;
      return std::nullopt;
    }
    const auto value = unZigZag(*raw);
    parent.children.push_back({kind, std::string(nameOf(kind)), begin, here(), fmt::format("{}", value), {}, {}});
    return value;
  }

  /// Bytes with their length in front of them.
  bool blob(AnatomyField& parent, FieldKind lengthKind, FieldKind kind, std::string_view control = {}) {
    const auto length = number<uint32_t>(parent, lengthKind);
    if (!length) return false;
    if (*length < 0) {
      parent.children.back().note = "null";
      return true;
    }
    if (static_cast<uint64_t>(*length) > left_.size()) {
      problem_ = fmt::format("{} claims {} bytes, {} are left", nameOf(kind), *length, left_.size());
      whole_ = false;
      return false;
    }
    const size_t begin = here();
    left_ = left_.subspan(static_cast<size_t>(*length));
    parent.children.push_back(
        {kind, std::string(nameOf(kind)), begin, here(), fmt::format("{} bytes", *length), std::string(control), {}});
    return true;
  }

  bool body(AnatomyField& record) {
    if (left_.empty()) {
      problem_ = "a record of no bytes";
      whole_ = false;
      return false;
    }
    record.children.push_back({FieldKind::RecordAttributes,
                               std::string(nameOf(FieldKind::RecordAttributes)),
                               here(),
                               here() + 1,
                               fmt::format("{}", left_[0]),
                               {},
                               {}});
    left_ = left_.subspan(1);
    const auto timestampDelta = number<uint64_t>(record, FieldKind::TimestampDelta);
    if (!timestampDelta) return false;
    const bool appendTime = header_.timestampType() == records::TimestampType::LogAppendTime;
    const auto timestamp =
        static_cast<int64_t>(static_cast<uint64_t>(header_.baseTimestampMs) + static_cast<uint64_t>(*timestampDelta));
    record.children.back().note = timeText(appendTime ? header_.maxTimestampMs : timestamp);
    const auto offsetDelta = number<uint32_t>(record, FieldKind::OffsetDelta);
    if (!offsetDelta) return false;
    record.children.back().note = fmt::format("offset {}", header_.baseOffset + *offsetDelta);
    record.note = record.children.back().note;
    std::string control;
    if (!blob(record, FieldKind::KeyLength, FieldKind::Key)) return false;
    if (header_.isControl() && record.children.back().kind == FieldKind::Key) {
      const AnatomyField& key = record.children.back();
      records::RecordView view;
      view.key = all_.subspan(key.begin, key.end - key.begin);
      control = controlName(records::controlType(view));
      record.children.back().note = control;
    }
    if (!blob(record, FieldKind::ValueLength, FieldKind::Value, control)) return false;
    const size_t begin = here();
    const auto count = number<uint32_t>(record, FieldKind::HeadersCount);
    if (!count) return false;
    if (*count < 0 || static_cast<uint64_t>(*count) > left_.size()) {
      problem_ = fmt::format("byte {}: {} headers in {} bytes", begin, *count, left_.size());
      return whole_ = false;
    }
    for (int32_t i = 0; i < *count; ++i) {
      AnatomyField header{
          FieldKind::Header, fmt::format("{}[{}]", nameOf(FieldKind::Header), i), here(), here(), {}, {}, {}};
      const bool good = blob(header, FieldKind::HeaderKeyLength, FieldKind::HeaderKey) &&
                        blob(header, FieldKind::HeaderValueLength, FieldKind::HeaderValue);
      header.end = here();
      record.children.push_back(std::move(header));
      if (!good) return false;
    }
    return true;
  }

  const BatchHeader& header_;
  const ByteView all_;
  ByteView left_;
  ByteView outside_;
  std::string problem_;
  bool whole_ = true;
};

}  // namespace

std::string_view nameOf(FieldKind kind) noexcept {
  return kFieldNames[static_cast<size_t>(kind)];
}

std::string timeText(int64_t timestampMs) {
  if (timestampMs == records::kNoTimestamp) return "none";
  // Years 1 to 9999.
  if (timestampMs < -62'135'596'800'000 || timestampMs > 253'402'300'799'999) return fmt::format("{}", timestampMs);
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(timestampMs)};
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

Result<BatchAnatomy> dissect(const SharedBytes& bytes, uint64_t from, size_t count) {
  if (bytes.size() < records::kBatchHeaderSize)
    return fail(ErrorCode::CorruptMessage, fmt::format("{} bytes are no batch: its header alone takes {}", bytes.size(),
                                                       records::kBatchHeaderSize));
  BatchAnatomy batch;
  batch.header = BatchHeader::read(bytes.view().data());
  batch.bytes = bytes;
  const records::BatchView view{batch.header, bytes.view()};
  batch.computedCrc = view.computeCrc();
  batch.crcValid = batch.computedCrc == batch.header.crc;
  batch.compressed = batch.header.isCompressed();
  batch.firstRecord = from;
  if (!batch.compressed) {
    batch.records = bytes.subspan(records::kBatchHeaderSize, bytes.size() - records::kBatchHeaderSize);
  } else {
    ByteVector buffer;
    const auto payload = records::openPayload(view, buffer);
    if (payload) {
      buffer.resize(payload->size());
      batch.records = SharedBytes(std::move(buffer));
    } else {
      batch.problem =
          payload.error().message.empty() ? std::string("the records do not decompress") : payload.error().message;
    }
  }
  if (batch.problem.empty()) {
    RecordDissector records(batch.header, batch.records.view());
    const uint64_t total = static_cast<uint64_t>(std::max(0, batch.header.recordCount));
    uint64_t index = 0;
    for (; index < total && (index < from || index - from < count); ++index) {
      auto field = records.next(index);
      if (!field) break;
      if (index >= from) batch.recordFields.push_back(std::move(*field));
      if (!records.whole()) break;
    }
    batch.problem = records.problem();
    if (batch.problem.empty() && index == total && !records.atEnd())
      batch.problem = fmt::format("{} bytes are left behind the last record", records.left());
  }
  batch.headerFields = dissectHeader(batch);
  return batch;
}

}  // namespace tidemark::inspect
