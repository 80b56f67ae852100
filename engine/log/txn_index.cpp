#include "log/txn_index.h"

#include <fmt/format.h>

namespace tidemark::log {
namespace {

constexpr int16_t kTxnIndexVersion = 0;

}  // namespace

ByteVector encodeAbortedTxns(std::span<const AbortedTxn> entries) {
  ByteVector bytes(entries.size() * kAbortedTxnSize);
  uint8_t* at = bytes.data();
  for (const AbortedTxn& entry : entries) {
    writeBigEndian<int16_t>(at, kTxnIndexVersion);
    writeBigEndian(at + 2, entry.producerId.value());
    writeBigEndian(at + 10, entry.firstOffset.value());
    writeBigEndian(at + 18, entry.lastOffset.value());
    writeBigEndian(at + 26, entry.lastStableOffset.value());
    at += kAbortedTxnSize;
  }
  return bytes;
}

Result<std::vector<AbortedTxn>> decodeAbortedTxns(ByteView bytes, Offset base) {
  if (bytes.size() % kAbortedTxnSize != 0)
    return fail(ErrorCode::CorruptMessage, fmt::format("{} bytes are no whole number of entries", bytes.size()));
  std::vector<AbortedTxn> entries;
  entries.reserve(bytes.size() / kAbortedTxnSize);
  for (size_t at = 0; at < bytes.size(); at += kAbortedTxnSize) {
    const uint8_t* from = bytes.data() + at;
    if (const auto version = readBigEndian<int16_t>(from); version != kTxnIndexVersion)
      return fail(ErrorCode::CorruptMessage,
                  fmt::format("entry {} has the unknown version {}", entries.size(), version));
    const AbortedTxn entry{ProducerId(readBigEndian<int64_t>(from + 2)), Offset(readBigEndian<int64_t>(from + 10)),
                           Offset(readBigEndian<int64_t>(from + 18)), Offset(readBigEndian<int64_t>(from + 26))};
    if (entry.lastOffset < base || entry.firstOffset >= entry.lastOffset || entry.firstOffset.value() < 0 ||
        (!entries.empty() && entry.lastOffset <= entries.back().lastOffset))
      return fail(ErrorCode::CorruptMessage, fmt::format("entry {} (offsets {} to {}) cannot be", entries.size(),
                                                         entry.firstOffset, entry.lastOffset));
    entries.push_back(entry);
  }
  return entries;
}

bool selectAborted(std::span<const AbortedTxn> entries, Offset from, Offset upTo, std::vector<AbortedTxn>& into) {
  for (const AbortedTxn& entry : entries) {
    if (entry.lastOffset >= from && entry.firstOffset < upTo) into.push_back(entry);
    if (entry.lastStableOffset >= upTo) return true;
  }
  return false;
}

}  // namespace tidemark::log
