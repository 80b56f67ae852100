#include "records/golden_batches.h"

#include <fstream>

#include <fmt/format.h>
#include <openssl/sha.h>
#include <nlohmann/json.hpp>

namespace tidemark::records {
namespace {

using Json = nlohmann::json;

std::string fromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::optional<std::string> nullableHex(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return fromHex(value.get<std::string>());
}

template <class Value>
void take(const Json& object, const char* name, Value& into) {
  if (object.contains(name)) into = object[name].get<Value>();
}

GoldenRecord readRecord(const Json& json) {
  GoldenRecord record;
  record.offset = json["offset"];
  record.timestampMs = json["timestamp"];
  take(json, "sequence", record.sequence);
  take(json, "controlType", record.controlType);
  record.key = nullableHex(json["key"]);
  record.value = nullableHex(json["value"]);
  if (json.contains("headers")) {
    for (const Json& header : json["headers"]) {
      record.headers.emplace_back(header["key"].get<std::string>(), nullableHex(header["value"]));
    }
  }
  return record;
}

GoldenBatch readBatch(const Json& json) {
  GoldenBatch batch;
  take(json, "magic", batch.magic);
  take(json, "baseOffset", batch.baseOffset);
  take(json, "lastOffset", batch.lastOffset);
  take(json, "sizeInBytes", batch.sizeInBytes);
  take(json, "crc", batch.crc);
  take(json, "compression", batch.compression);
  take(json, "timestampType", batch.timestampType);
  take(json, "maxTimestamp", batch.maxTimestampMs);
  take(json, "attributes", batch.attributes);
  take(json, "baseTimestamp", batch.baseTimestampMs);
  take(json, "partitionLeaderEpoch", batch.leaderEpoch);
  take(json, "producerId", batch.producerId);
  take(json, "producerEpoch", batch.producerEpoch);
  take(json, "baseSequence", batch.baseSequence);
  take(json, "lastSequence", batch.lastSequence);
  take(json, "transactional", batch.transactional);
  take(json, "control", batch.control);
  take(json, "count", batch.count);
  take(json, "recordCount", batch.recordCount);
  take(json, "sha256OfValues", batch.sha256OfValues);
  if (json.contains("deleteHorizonMs")) batch.deleteHorizonMs = json["deleteHorizonMs"].get<int64_t>();
  if (json.contains("records")) {
    for (const Json& record : json["records"]) batch.records.push_back(readRecord(record));
  }
  return batch;
}

std::vector<GoldenCase> readAll() {
  std::ifstream file(std::string(TIDEMARK_TEST_DATA) + "/batches/batches.jsonl");
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    GoldenCase one;
    one.name = json["name"];
    const std::string bytes = fromHex(json["hex"]);
    one.bytes.assign(bytes.begin(), bytes.end());
    for (const Json& batch : json["batches"]) one.batches.push_back(readBatch(batch));
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace

const std::vector<GoldenCase>& goldenCases() {
  static const std::vector<GoldenCase> cases = readAll();
  return cases;
}

std::string sha256(const std::string& bytes) {
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), digest);
  std::string hex;
  for (const uint8_t byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace tidemark::records
