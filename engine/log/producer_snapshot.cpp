#include "base/crc32c.h"
#include "log/producer_state.h"

namespace tidemark::log {
namespace {

constexpr size_t kHeader = 10;
constexpr size_t kCrcAt = 2;
constexpr size_t kCrcFrom = 6;
constexpr size_t kEntry = 46;
constexpr int16_t kVersion = 1;

}  // namespace

ByteVector encodeProducerSnapshot(const std::vector<const ProducerEntry*>& entries) {
  ByteVector bytes(kHeader + entries.size() * kEntry);
  writeBigEndian<int16_t>(bytes.data(), kVersion);
  writeBigEndian(bytes.data() + kCrcFrom, static_cast<int32_t>(entries.size()));
  uint8_t* at = bytes.data() + kHeader;
  for (const ProducerEntry* entry : entries) {
    const ProducerBatch batch = entry->hasBatches() ? entry->lastBatch() : ProducerBatch{};
    writeBigEndian(at, entry->id().value());
    writeBigEndian(at + 8, entry->epoch().value());
    writeBigEndian(at + 10, batch.lastSequence);
    writeBigEndian(at + 14, batch.lastOffset.value());
    writeBigEndian(at + 22, batch.offsetDelta);
    writeBigEndian(at + 26, entry->lastTimestampMs());
    writeBigEndian(at + 34, entry->coordinatorEpoch());
    writeBigEndian(at + 38, entry->transactionStart().value());
    at += kEntry;
  }
  writeBigEndian(bytes.data() + kCrcAt, crc32c(ByteView(bytes).subspan(kCrcFrom)));
  return bytes;
}

Result<std::vector<ProducerEntry>> decodeProducerSnapshot(ByteView bytes) {
  if (bytes.size() < kHeader) return fail(ErrorCode::CorruptMessage, "shorter than its header");
  if (readBigEndian<int16_t>(bytes.data()) != kVersion) return fail(ErrorCode::CorruptMessage, "of an unknown version");
  if (readBigEndian<uint32_t>(bytes.data() + kCrcAt) != crc32c(bytes.subspan(kCrcFrom)))
    return fail(ErrorCode::CorruptMessage, "its checksum is wrong");
  const auto count = readBigEndian<int32_t>(bytes.data() + kCrcFrom);
  if (count < 0 || bytes.size() != kHeader + static_cast<size_t>(count) * kEntry)
    return fail(ErrorCode::CorruptMessage, "its count of entries and its size disagree");
  std::vector<ProducerEntry> entries;
  entries.reserve(static_cast<size_t>(count));
  for (const uint8_t* at = bytes.data() + kHeader; at != bytes.data() + bytes.size(); at += kEntry) {
    ProducerEntry entry{ProducerId(readBigEndian<int64_t>(at))};
    const ProducerBatch batch{.lastSequence = readBigEndian<int32_t>(at + 10),
                              .lastOffset = Offset(readBigEndian<int64_t>(at + 14)),
                              .offsetDelta = readBigEndian<int32_t>(at + 22),
                              .timestampMs = readBigEndian<int64_t>(at + 26)};
    entry.restore(ProducerEpoch(readBigEndian<int16_t>(at + 8)),
                  batch.lastOffset.value() >= 0 ? std::optional(batch) : std::nullopt, batch.timestampMs,
                  readBigEndian<int32_t>(at + 34), Offset(readBigEndian<int64_t>(at + 38)));
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace tidemark::log
