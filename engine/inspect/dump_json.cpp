#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "inspect/dump_printer.h"
#include "protocol/reflect.h"
#include "records/codec.h"

namespace tidemark::inspect {

using nlohmann::ordered_json;

namespace {

std::string lineOf(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Text if it is UTF-8, else {"hex": …}.
ordered_json bytesJson(const std::optional<ByteView>& bytes) {
  if (!bytes) return nullptr;
  if (utf8::isWellFormed(asText(*bytes))) return asText(*bytes);
  std::string hex;
  for (const uint8_t byte : *bytes) hex += fmt::format("{:02x}", byte);
  return {{"hex", std::move(hex)}};
}

ordered_json parsed(const std::string& json) {
  auto value = ordered_json::parse(json, nullptr, false);
  return value.is_discarded() ? ordered_json(json) : value;
}

std::string_view timestampKind(bool logAppendTime) {
  return logAppendTime ? "LogAppendTime" : "CreateTime";
}

class JsonPrinter final : public DumpPrinter {
 public:
  explicit JsonPrinter(const LineSink& sink) : sink_(sink) {}

  void file(const std::string& path, std::string_view kind) override { tell("file", {{"path", path}, {"kind", kind}}); }
  void logBegins(Offset base) override { tell("log", {{"startOffset", base.value()}}); }
  void snapshotBegins(Offset endOffset, LeaderEpoch epoch) override {
    tell("metadataSnapshot", {{"endOffset", endOffset.value()}, {"epoch", epoch.value()}});
  }
  void batch(const records::BatchView& batch, uint64_t position, bool valid) override {
    const records::BatchHeader& header = batch.header;
    const auto codec = records::codecByNumber(header.codecNumber());
    tell("batch", {{"baseOffset", header.baseOffset.value()},
                   {"lastOffset", header.lastOffset().value()},
                   {"count", header.recordCount},
                   {"baseSequence", header.baseSequence},
                   {"lastSequence", header.lastSequence()},
                   {"producerId", header.producerId.value()},
                   {"producerEpoch", header.producerEpoch.value()},
                   {"partitionLeaderEpoch", header.leaderEpoch.value()},
                   {"isTransactional", header.isTransactional()},
                   {"isControl", header.isControl()},
                   {"deleteHorizonMs", header.deleteHorizonMs() ? ordered_json(*header.deleteHorizonMs()) : nullptr},
                   {"position", position},
                   {"timestampType", timestampKind(header.timestampType() == records::TimestampType::LogAppendTime)},
                   {"maxTimestamp", header.maxTimestampMs},
                   {"size", batch.bytes.size()},
                   {"magic", header.magic},
                   {"codec", codec ? ordered_json(records::codecName(*codec)) : ordered_json(header.codecNumber())},
                   {"crc", header.crc},
                   {"valid", valid}});
  }
  void oldBatch(const records::OldBatch& batch, uint64_t position) override {
    tell("batch", {{"baseOffset", batch.baseOffset.value()},
                   {"lastOffset", batch.lastOffset.value()},
                   {"count", batch.messages.size()},
                   {"position", position},
                   {"timestampType", timestampKind(batch.logAppendTime)},
                   {"maxTimestamp", batch.maxTimestampMs},
                   {"size", batch.sizeInBytes},
                   {"magic", batch.magic},
                   {"codec", records::codecName(batch.codec)},
                   {"crc", batch.crc},
                   {"valid", true}});
  }
  void record(const records::BatchHeader& batch, const records::RecordView& record, RecordSchema schema,
              bool shown) override {
    ordered_json headers = ordered_json::array();
    auto cursor = record.headers();
    while (const auto header = cursor.next())
      headers.push_back({{"key", bytesJson(header->key)}, {"value", bytesJson(header->value)}});
    ordered_json fields{{"offset", record.offset.value()},
                        {"timestamp", record.timestampMs},
                        {"keySize", record.key ? ordered_json(record.key->size()) : nullptr},
                        {"valueSize", record.value ? ordered_json(record.value->size()) : nullptr},
                        {"sequence", record.sequence},
                        {"headers", std::move(headers)}};
    if (batch.isControl()) {
      fields["control"] = controlText(record);
    } else if (shown) {
      const NamedRecord named = nameRecord(schema, record);
      if (!named.name.empty()) {
        fields["type"] = named.name;
        if (named.version >= 0) fields["version"] = named.version;
      }
      if (!named.problem.empty()) fields["problem"] = named.problem;
      fields["key"] = named.keyJson.empty() ? bytesJson(record.key) : parsed(named.keyJson);
      fields["value"] = named.valueJson.empty() ? bytesJson(record.value) : parsed(named.valueJson);
    }
    tell("record", fields);
  }
  void oldRecord(const records::OldMessage& message, bool shown) override {
    ordered_json fields{{"offset", message.offset.value()}, {"timestamp", message.timestampMs}};
    if (shown) {
      fields["key"] = bytesJson(message.key);
      fields["value"] = bytesJson(message.value);
    }
    tell("record", fields);
  }
  void offsetEntry(size_t number, const log::OffsetIndexEntry& entry) override {
    tell("entry", {{"number", number}, {"offset", entry.offset.value()}, {"position", entry.position}});
  }
  void timeEntry(size_t number, const log::TimeIndexEntry& entry) override {
    tell("entry", {{"number", number}, {"timestamp", entry.timestampMs}, {"offset", entry.offset.value()}});
  }
  void abortedEntry(const log::AbortedTxn& entry) override {
    tell("aborted", {{"producerId", entry.producerId.value()},
                     {"firstOffset", entry.firstOffset.value()},
                     {"lastOffset", entry.lastOffset.value()},
                     {"lastStableOffset", entry.lastStableOffset.value()}});
  }
  void producer(const log::ProducerEntry& producer) override {
    ordered_json fields{{"producerId", producer.id().value()},
                        {"producerEpoch", producer.epoch().value()},
                        {"coordinatorEpoch", producer.coordinatorEpoch()},
                        {"currentTxnFirstOffset", producer.transactionStart().value()},
                        {"lastTimestamp", producer.lastTimestampMs()}};
    if (producer.hasBatches()) {
      const log::ProducerBatch& batch = producer.lastBatch();
      fields["firstSequence"] = batch.firstSequence();
      fields["lastSequence"] = batch.lastSequence;
      fields["lastOffset"] = batch.lastOffset.value();
      fields["offsetDelta"] = batch.offsetDelta;
      fields["timestamp"] = batch.timestampMs;
    }
    tell("producer", fields);
  }
  void epoch(const log::EpochEntry& entry) override {
    tell("epoch", {{"epoch", entry.epoch.value()}, {"startOffset", entry.startOffset.value()}});
  }
  void checkpointed(const TopicPartition& partition, Offset offset) override {
    tell("checkpoint",
         {{"topic", partition.topic}, {"partition", partition.partition.value()}, {"offset", offset.value()}});
  }
  void property(std::string_view key, std::string_view value) override {
    tell("property", {{"key", key}, {"value", value}});
  }
  void finding(const Finding& finding) override { sink_(findingJson(finding)); }
  void checked(const std::string& path, std::string_view kind, int64_t findings, bool) override {
    tell("checked", {{"path", path}, {"kind", kind}, {"findings", findings}});
  }

 private:
  /// One object a line; its first key says what it is.
  void tell(std::string_view what, const ordered_json& fields) {
    ordered_json object{{"is", what}};
    object.update(fields);
    sink_(lineOf(object));
  }

  const LineSink& sink_;
};

}  // namespace

std::unique_ptr<DumpPrinter> makeJsonPrinter(const LineSink& sink) {
  return std::make_unique<JsonPrinter>(sink);
}

std::string findingJson(const Finding& finding) {
  ordered_json object{{"is", "finding"},
                      {"kind", findingName(finding.kind)},
                      {"severity", severityName(finding.severity)},
                      {"file", finding.file},
                      {"position", finding.position ? ordered_json(*finding.position) : nullptr},
                      {"length", finding.length},
                      {"bytes", hexText(finding.bytes)},
                      {"what", explain(finding.kind)},
                      {"expected", finding.expected},
                      {"found", finding.found},
                      {"advice", finding.advice}};
  return lineOf(object);
}

}  // namespace tidemark::inspect
