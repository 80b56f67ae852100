#include <fmt/format.h>

#include "inspect/batch_anatomy.h"
#include "inspect/dump_printer.h"
#include "records/codec.h"

// The lines of Kafka's DumpLogSegments, so that whoever reads those can read these.

namespace tidemark::inspect {

namespace {

std::string optionalLong(std::optional<int64_t> value) {
  return value ? fmt::format("OptionalLong[{}]", *value) : std::string("OptionalLong.empty");
}

std::string_view timestampName(records::TimestampType type) {
  return type == records::TimestampType::LogAppendTime ? "LogAppendTime" : "CreateTime";
}

std::string codecText(const records::BatchHeader& header) {
  const auto codec = records::codecByNumber(header.codecNumber());
  return codec ? std::string(records::codecName(*codec)) : fmt::format("unknown({})", header.codecNumber());
}

int64_t sizeOf(const std::optional<ByteView>& bytes) {
  return bytes ? static_cast<int64_t>(bytes->size()) : -1;
}

class TextPrinter final : public DumpPrinter {
 public:
  explicit TextPrinter(const LineSink& sink) : sink_(sink) {}

  void file(const std::string& path, std::string_view) override { line("Dumping {}", path); }
  void logBegins(Offset base) override { line("Log starting offset: {}", base); }
  void snapshotBegins(Offset endOffset, LeaderEpoch epoch) override {
    line("Snapshot end offset: {}, epoch: {}", endOffset, epoch);
  }
  void batch(const records::BatchView& batch, uint64_t position, bool valid) override {
    const records::BatchHeader& header = batch.header;
    line(
        "baseOffset: {} lastOffset: {} count: {} baseSequence: {} lastSequence: {} producerId: {} producerEpoch: {} "
        "partitionLeaderEpoch: {} isTransactional: {} isControl: {} deleteHorizonMs: {} position: {} {}: {} size: {} "
        "magic: {} compresscodec: {} crc: {} isvalid: {}",
        header.baseOffset, header.lastOffset(), header.recordCount, header.baseSequence, header.lastSequence(),
        header.producerId, header.producerEpoch, header.leaderEpoch, header.isTransactional(), header.isControl(),
        optionalLong(header.deleteHorizonMs()), position, timestampName(header.timestampType()), header.maxTimestampMs,
        batch.bytes.size(), int{header.magic}, codecText(header), header.crc, valid);
  }
  void oldBatch(const records::OldBatch& batch, uint64_t position) override {
    line("offset: {} position: {} {}: {} isvalid: true size: {} magic: {} compresscodec: {} crc: {}", batch.lastOffset,
         position,
         batch.magic == 0      ? "NoTimestampType"
         : batch.logAppendTime ? "LogAppendTime"
                               : "CreateTime",
         batch.maxTimestampMs, batch.sizeInBytes, int{batch.magic}, records::codecName(batch.codec), batch.crc);
  }
  void record(const records::BatchHeader& batch, const records::RecordView& record, RecordSchema schema,
              bool shown) override {
    std::string headers;
    auto cursor = record.headers();
    while (const auto header = cursor.next()) {
      if (!headers.empty()) headers += ',';
      headers += asText(header->key);
    }
    std::string text = fmt::format("| offset: {} {}: {} keySize: {} valueSize: {} sequence: {} headerKeys: [{}]",
                                   record.offset, timestampName(batch.timestampType()), record.timestampMs,
                                   sizeOf(record.key), sizeOf(record.value), record.sequence, headers);
    if (batch.isControl()) {
      text += ' ';
      text += controlText(record);
    } else if (shown) {
      text += schema == RecordSchema::None ? plain(record) : named(schema, record);
    }
    sink_(text);
  }
  void oldRecord(const records::OldMessage& message, bool shown) override {
    std::string text = fmt::format("| offset: {} CreateTime: {} keySize: {} valueSize: {}", message.offset,
                                   message.timestampMs, sizeOf(message.key), sizeOf(message.value));
    if (shown && message.key) text += fmt::format(" key: {}", asText(*message.key));
    if (shown && message.value) text += fmt::format(" payload: {}", asText(*message.value));
    sink_(text);
  }
  void offsetEntry(size_t, const log::OffsetIndexEntry& entry) override {
    line("offset: {} position: {}", entry.offset, entry.position);
  }
  void timeEntry(size_t, const log::TimeIndexEntry& entry) override {
    line("timestamp: {} offset: {}", entry.timestampMs, entry.offset);
  }
  void abortedEntry(const log::AbortedTxn& entry) override {
    line("version: 0 producerId: {} firstOffset: {} lastOffset: {} lastStableOffset: {}", entry.producerId,
         entry.firstOffset, entry.lastOffset, entry.lastStableOffset);
  }
  void producer(const log::ProducerEntry& producer) override {
    const Offset open = producer.transactionStart();
    std::string text = fmt::format(
        "producerId: {} producerEpoch: {} coordinatorEpoch: {} currentTxnFirstOffset: {} lastTimestamp: {}",
        producer.id(), producer.epoch(), producer.coordinatorEpoch(),
        optionalLong(open == kNoOffset ? std::nullopt : std::optional(open.value())), producer.lastTimestampMs());
    if (producer.hasBatches()) {
      const log::ProducerBatch& batch = producer.lastBatch();
      text += fmt::format(" firstSequence: {} lastSequence: {} lastOffset: {} offsetDelta: {} timestamp: {}",
                          batch.firstSequence(), batch.lastSequence, batch.lastOffset, batch.offsetDelta,
                          batch.timestampMs);
    }
    sink_(text);
  }
  void epoch(const log::EpochEntry& entry) override {
    line("epoch: {} startOffset: {}", entry.epoch, entry.startOffset);
  }
  void checkpointed(const TopicPartition& partition, Offset offset) override {
    line("topic: {} partition: {} offset: {}", partition.topic, partition.partition, offset);
  }
  void property(std::string_view key, std::string_view value) override { line("{}: {}", key, value); }
  void finding(const Finding& finding) override { sink_(findingText(finding)); }
  void checked(const std::string& path, std::string_view kind, int64_t findings, bool empty) override {
    if (empty && kind == "index")
      line("{} is empty.", path);
    else if (findings == 0)
      line("{} passed sanity check.", path);
  }

 private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    sink_(fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  static std::string plain(const records::RecordView& record) {
    std::string text;
    if (record.key) text += fmt::format(" key: {}", asText(*record.key));
    if (record.value) text += fmt::format(" payload: {}", asText(*record.value));
    return text;
  }
  static std::string named(RecordSchema schema, const records::RecordView& record) {
    const NamedRecord named = nameRecord(schema, record);
    if (!named.problem.empty()) return fmt::format(" unreadable: {}{}", named.problem, plain(record));
    if (schema == RecordSchema::Metadata)
      return fmt::format(R"( payload: {{"type":"{}","version":{},"data":{}}})", upperSnake(named.name), named.version,
                         named.valueJson);
    std::string text = fmt::format(R"( key: {{"type":"{}","data":{}}})", named.type, named.keyJson);
    text += named.tombstone ? std::string(" payload: <DELETE>")
                            : fmt::format(R"( payload: {{"version":"{}","data":{}}})", named.version, named.valueJson);
    return text;
  }

  const LineSink& sink_;
};

}  // namespace

std::unique_ptr<DumpPrinter> makeTextPrinter(const LineSink& sink) {
  return std::make_unique<TextPrinter>(sink);
}

std::string findingText(const Finding& finding, std::string_view indent) {
  std::string text = fmt::format("{}: {}: {} ({})", severityName(finding.severity), finding.file, explain(finding.kind),
                                 findingName(finding.kind));
  const auto add = [&](std::string_view label, std::string_view value) {
    if (!value.empty()) text += fmt::format("\n{}{:<9}{}", indent, label, value);
  };
  if (finding.position)
    add("where", finding.length > 0 ? fmt::format("byte {}, {} bytes", *finding.position, finding.length)
                                    : fmt::format("byte {}", *finding.position));
  add("expected", finding.expected);
  add("found", finding.found);
  if (!finding.bytes.empty())
    add("bytes", hexText(finding.bytes) + (finding.length > finding.bytes.size() ? " …" : ""));
  add("advice", finding.advice);
  return text;
}

}  // namespace tidemark::inspect
