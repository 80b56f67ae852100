#include "raft/snapshot.h"

#include <fmt/format.h>

#include <charconv>

#include "raft/control_records.h"
#include "records/batch_builder.h"
#include "records/record.h"

namespace tidemark::raft {
namespace {

constexpr std::string_view kSuffix = ".checkpoint";
/// Larger than any batch of a snapshot that Kafka or we write.
constexpr size_t kMaxSnapshotBatch = 2 * kMaxBatchBytes;

template <class Integer>
std::optional<Integer> parseDigits(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return value;
}

}  // namespace

std::string snapshotFileName(OffsetAndEpoch id) {
  return fmt::format("{:020}-{:010}{}", id.offset.value(), id.epoch.value(), kSuffix);
}

std::optional<OffsetAndEpoch> parseSnapshotFileName(std::string_view name) {
  if (name.size() != 31 + kSuffix.size() || name[20] != '-' || name.substr(31) != kSuffix) return std::nullopt;
  const auto offset = parseDigits<int64_t>(name.substr(0, 20));
  const auto epoch = parseDigits<int32_t>(name.substr(21, 10));
  if (!offset || !epoch) return std::nullopt;
  return OffsetAndEpoch{Offset(*offset), LeaderEpoch(*epoch)};
}

SnapshotWriter::SnapshotWriter(std::unique_ptr<RawSnapshotWriter> raw, Options options, OnFrozen onFrozen)
    : raw_(std::move(raw)), options_(std::move(options)), onFrozen_(std::move(onFrozen)) {}

Result<std::unique_ptr<SnapshotWriter>> SnapshotWriter::create(std::unique_ptr<RawSnapshotWriter> raw, Options options,
                                                               OnFrozen onFrozen) {
  std::unique_ptr<SnapshotWriter> writer(new SnapshotWriter(std::move(raw), std::move(options), std::move(onFrozen)));
  SnapshotHeader header{writer->options_.lastContainedLogTimestampMs, writer->options_.kraftVersion, std::nullopt};
  if (header.kraftVersion > 0) header.voters = writer->options_.voters;
  TIDEMARK_ASSIGN(const ByteVector batch, buildSnapshotHeaderBatch(header, writer->id().epoch, writer->options_.nowMs));
  TIDEMARK_TRY(writer->raw_->append(batch));
  writer->nextOffset_ = records::BatchHeader::read(batch.data()).nextOffset();
  return writer;
}

Result<void> SnapshotWriter::append(std::span<const ByteVector> records) {
  size_t at = 0;
  while (at < records.size()) {
    records::BatchBuilder builder({.baseOffset = nextOffset_, .leaderEpoch = id().epoch});
    do {
      builder.append(options_.nowMs, std::nullopt, ByteView(records[at]));
      ++at;
    } while (at < records.size() &&
             builder.uncompressedSize() + records::BatchBuilder::recordSizeLimit(std::nullopt, ByteView(records[at])) <=
                 options_.maxBatchBytes);
    nextOffset_ = nextOffset_ + builder.count();
    TIDEMARK_TRY(raw_->append(builder.build()));
  }
  return {};
}

Result<void> SnapshotWriter::freeze() {
  TIDEMARK_ASSIGN(const ByteVector footer, buildSnapshotFooterBatch(nextOffset_, id().epoch, options_.nowMs));
  TIDEMARK_TRY(raw_->append(footer));
  TIDEMARK_TRY(raw_->freeze());
  if (onFrozen_) std::exchange(onFrozen_, {})(id());
  return {};
}

Result<ByteView> RecordsSnapshotReader::readBatch() {
  const auto bad = [this](std::string_view why) {
    return fail(ErrorCode::CorruptMessage, fmt::format("snapshot {}, byte {}: {}", raw_->path(), position_, why));
  };
  const uint64_t left = raw_->sizeInBytes() - position_;
  if (left == 0) return bad("it ends without a footer");
  if (left < records::kBatchHeaderSize) return bad("a batch is cut off");
  buffer_.resize(records::kBatchHeaderSize);
  TIDEMARK_ASSIGN(size_t got, raw_->readAt(position_, buffer_));
  const auto header = records::BatchHeader::read(buffer_.data());
  if (got < buffer_.size() || header.magic != records::kMagic || header.sizeInBytes() < records::kBatchHeaderSize ||
      header.sizeInBytes() > left || header.sizeInBytes() > kMaxSnapshotBatch)
    return bad("this is no batch");
  buffer_.resize(header.sizeInBytes());
  TIDEMARK_ASSIGN(got, raw_->readAt(position_, buffer_));
  if (got < buffer_.size() || !records::BatchView{header, buffer_}.isCrcValid()) return bad("the checksum is wrong");
  position_ += buffer_.size();
  return ByteView(buffer_);
}

Result<std::unique_ptr<RecordsSnapshotReader>> RecordsSnapshotReader::open(std::shared_ptr<const RawSnapshot> raw) {
  std::unique_ptr<RecordsSnapshotReader> reader(new RecordsSnapshotReader(std::move(raw)));
  TIDEMARK_ASSIGN(const ByteView batch, reader->readBatch());
  if (!records::BatchHeader::read(batch.data()).isControl())
    return fail(ErrorCode::CorruptMessage, fmt::format("snapshot {} has no header", reader->raw_->path()));
  TIDEMARK_ASSIGN(ControlContents contents, readControlBatch(batch));
  if (!contents.snapshotHeaderTimestampMs)
    return fail(ErrorCode::CorruptMessage, fmt::format("snapshot {} has no header", reader->raw_->path()));
  reader->header_.lastContainedLogTimestampMs = *contents.snapshotHeaderTimestampMs;
  if (!contents.versions.empty()) reader->header_.kraftVersion = contents.versions.back().version;
  if (!contents.voters.empty()) reader->header_.voters = std::move(contents.voters.back().voters);
  return reader;
}

Result<std::optional<std::vector<ByteView>>> RecordsSnapshotReader::next() {
  using None = std::optional<std::vector<ByteView>>;
  while (!footerSeen_) {
    TIDEMARK_ASSIGN(const ByteView bytes, readBatch());
    const records::BatchView batch{records::BatchHeader::read(bytes.data()), bytes};
    if (batch.header.isControl()) {
      TIDEMARK_ASSIGN(const ControlContents contents, readControlBatch(bytes));
      footerSeen_ = contents.snapshotFooter;
      continue;
    }
    // The records outlive the visit: they lie in buffer_ or decompressed_.
    TIDEMARK_ASSIGN(const ByteView payload, records::openPayload(batch, decompressed_, kMaxSnapshotBatch));
    std::vector<ByteView> values;
    records::RecordCursor cursor(batch.header, payload);
    records::Step step = records::Step::Next;
    while ((step = cursor.next()) == records::Step::Next) values.push_back(cursor.record().value.value_or(ByteView()));
    if (step == records::Step::Corrupt)
      return fail(ErrorCode::CorruptMessage, fmt::format("snapshot {}: {}", raw_->path(), cursor.reason()));
    if (!values.empty()) return values;
  }
  return None();
}

}  // namespace tidemark::raft
