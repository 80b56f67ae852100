#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "records/codec.h"

namespace tidemark::records {

/// A message of format 0 or 1, owning nothing: views into the input or into the batch's buffer.
struct OldMessage {
  Offset offset;
  int64_t timestampMs = -1;
  std::optional<ByteView> key;
  std::optional<ByteView> value;
};

/// A message of format 0 or 1, or a compressed one with the messages inside. Kafka 4 reads such logs but accepts no new
/// ones.
struct OldBatch {
  int8_t magic = 0;
  Codec codec = Codec::None;
  uint32_t crc = 0;
  bool logAppendTime = false;
  Offset baseOffset;
  Offset lastOffset;
  size_t sizeInBytes = 0;
  int64_t maxTimestampMs = -1;
  std::vector<OldMessage> messages;
  /// Keeps the decompressed messages.
  ByteVector buffer;
};

/// Reads the (one, possibly compressed) message that starts at `bytes`. Read-only support, for dumping old logs.
/// CorruptMessage if it is cut off, its CRC is wrong or its inner messages disagree.
Result<OldBatch> readOldBatch(ByteView bytes, size_t limit = kDefaultDecompressedLimit);

}  // namespace tidemark::records
