#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace tidemark::records {

/// One record of tests/data/batches, as Kafka decoded it.
struct GoldenRecord {
  int64_t offset = 0;
  int64_t timestampMs = 0;
  int32_t sequence = -1;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  std::string controlType;
};

struct GoldenBatch {
  int magic = 2;
  int64_t baseOffset = 0;
  int64_t lastOffset = 0;
  size_t sizeInBytes = 0;
  uint32_t crc = 0;
  std::string compression;
  std::string timestampType;
  int64_t maxTimestampMs = -1;
  int attributes = 0;
  int64_t baseTimestampMs = -1;
  int32_t leaderEpoch = -1;
  int64_t producerId = -1;
  int producerEpoch = -1;
  int32_t baseSequence = -1;
  int32_t lastSequence = -1;
  bool transactional = false;
  bool control = false;
  int32_t count = 0;
  std::optional<int64_t> deleteHorizonMs;
  /// All records, or for large batches none: then the two fields below.
  std::vector<GoldenRecord> records;
  size_t recordCount = 0;
  std::string sha256OfValues;
};

struct GoldenCase {
  std::string name;
  ByteVector bytes;
  std::vector<GoldenBatch> batches;
};

/// All of tests/data/batches/batches.jsonl; read once.
const std::vector<GoldenCase>& goldenCases();

/// Lower-case hexadecimal.
std::string sha256(const std::string& bytes);

}  // namespace tidemark::records
