#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "inspect/batch_anatomy.h"
#include "inspect/batch_reader.h"
#include "inspect/check.h"
#include "inspect/check_index.h"
#include "inspect/file_kind.h"
#include "inspect/segment_findings.h"
#include "log/file_names.h"
#include "log/index_file.h"
#include "records/message_set.h"
#include "records/record.h"

namespace tidemark::inspect {

using platform::OpenMode;
using records::BatchHeader;
using records::CorruptReason;

namespace {

constexpr int64_t kMaxRelativeOffset = INT32_MAX;

class SegmentCheck {
 public:
  SegmentCheck(platform::FileSystem& files, const std::string& folder, Offset base, const CheckOptions& options,
               const FindingSink& sink)
      : files_(files),
        base_(base),
        options_(options),
        logPath_(log::offsetFilePath(folder, base, log::kLogSuffix)),
        findings_(sink, logPath_, options.trusted),
        indexes_(files, folder, base, options, findings_),
        epoch_(kNoLeaderEpoch) {}

  Result<SegmentFacts> run() {
    TIDEMARK_ASSIGN(const auto file, files_.open(logPath_, OpenMode::Read));
    TIDEMARK_ASSIGN(facts_.fileBytes, file->size());
    facts_.nextOffset = base_;
    const uint64_t end = std::min(facts_.fileBytes, options_.readableBytes.value_or(facts_.fileBytes));
    indexes_.load();
    TIDEMARK_TRY(walk(*file, end));
    tellBadChecksum(findings_.repairable());
    indexes_.finish(facts_, !damaged_ && !badCrc_ && !old_);
    findings_.finish();
    return facts_;
  }

 private:
  void tellAboutBatch(FindingKind kind, Severity severity, const records::BatchView& batch, uint64_t position,
                      std::string expected, std::string found, std::string advice) {
    findings_.tell({kind, severity, logPath_, position, batch.bytes.size(), shownBytes(batch.bytes),
                    std::move(expected), std::move(found), std::move(advice)});
  }

  Result<void> walk(const platform::File& file, uint64_t end) {
    BatchReader reader(file, 0, end);
    uint64_t reported = 0;
    while (true) {
      TIDEMARK_ASSIGN(const auto item, reader.next());
      facts_.validBytes = reader.position();
      if (options_.progress && (reader.position() - reported >= kProgressStep || item == BatchReader::Item::End)) {
        if (!options_.progress(reader.position() - reported)) return fail(ErrorCode::RequestTimedOut, "interrupted");
        reported = reader.position();
      }
      if (item == BatchReader::Item::End) return {};
      if (item == BatchReader::Item::Damaged) {
        damaged_ = true;
        return tellDamage(file, reader, end);
      }
      if (item == BatchReader::Item::Old) {
        checkOld(reader.oldBytes(), reader.position());
        old_ = true;
        continue;
      }
      checkBatch(reader.batch(), reader.position(), reader.crcValid());
    }
  }

  void checkOld(ByteView bytes, uint64_t position) {
    const auto message = records::readOldBatch(bytes);
    const int format = bytes[records::kMagicAt];
    if (!message)
      findings_.tell({FindingKind::BatchMagicBad, Severity::Error, logPath_, position, bytes.size(), shownBytes(bytes),
                      "format 2",
                      fmt::format("format {} at byte {}, but no message of it: {}", format,
                                  position + records::kMagicAt, message.error().message),
                      "take the partition from another replica"});
    else if (!old_)
      findings_.tell({FindingKind::OldFormat, Severity::Note, logPath_, position, bytes.size(), shownBytes(bytes),
                      "batches of format 2", fmt::format("format {}", format),
                      "nothing; only tools read them in full"});
  }

  void checkBatch(const records::BatchView& batch, uint64_t position, bool crcValid) {
    const BatchHeader& header = batch.header;
    ++facts_.batches;
    tellBadChecksum(Severity::Error);
    if (!crcValid) {
      pending_ = {FindingKind::BatchChecksumBad,
                  Severity::Error,
                  logPath_,
                  position,
                  batch.bytes.size(),
                  shownBytes(batch.bytes),
                  fmt::format("CRC-32C 0x{:08x} over bytes {} to {}", batch.computeCrc(),
                              position + records::kAttributesAt, position + batch.bytes.size()),
                  fmt::format("0x{:08x} at byte {}", header.crc, position + records::kCrcAt),
                  "take the partition from another replica; a broker that was not stopped cleanly cuts the log here"};
      badCrc_ = true;
      // What its header says is not to be trusted, but where it ends was.
      indexes_.skip(position);
      return;
    }
    const int64_t relative = header.lastOffset() - base_;
    if (header.baseOffset < base_ || header.lastOffsetDelta < 0 || relative > kMaxRelativeOffset)
      tellAboutBatch(FindingKind::BatchOffsetsBad, Severity::Error, batch, position,
                     fmt::format("offsets from {} to {}", base_, base_ + kMaxRelativeOffset),
                     fmt::format("offsets {} to {}", header.baseOffset, header.lastOffset()),
                     "take the partition from another replica");
    else if (header.baseOffset < facts_.nextOffset)
      tellAboutBatch(FindingKind::BatchOffsetsBad, findings_.repairable(), batch, position,
                     fmt::format("offset {} or higher, behind the batch before", facts_.nextOffset),
                     fmt::format("offsets {} to {}, which are there already", header.baseOffset, header.lastOffset()),
                     "readers by offset never see it; a broker of ours that was not stopped cleanly cuts the log here");
    if (header.leaderEpoch < epoch_)
      tellAboutBatch(FindingKind::BatchEpochFalls, Severity::Error, batch, position,
                     fmt::format("leader epoch {} or higher", epoch_), fmt::format("{}", header.leaderEpoch),
                     "take the partition from another replica");
    epoch_ = std::max(epoch_, header.leaderEpoch);
    checkRecords(batch, position);
    indexes_.batch(header, position);
    facts_.nextOffset = std::max(facts_.nextOffset, header.nextOffset());
    facts_.records += header.recordCount;
    facts_.maxTimestampMs = std::max(facts_.maxTimestampMs, header.maxTimestampMs);
    if (options_.visit) options_.visit(batch, position);
  }

  /// A wrong checksum in front of a sound batch is damage; at the end of what was being written it is an end.
  void tellBadChecksum(Severity severity) {
    if (!pending_) return;
    pending_->severity = severity;
    findings_.tell(*std::exchange(pending_, std::nullopt));
  }

  void checkRecords(const records::BatchView& batch, uint64_t position) {
    const auto bad = [&](std::string expected, std::string found) {
      tellAboutBatch(FindingKind::BatchRecordsBad, Severity::Error, batch, position, std::move(expected),
                     std::move(found), "the CRC is true: whoever wrote the batch wrote it so");
    };
    const auto payload = records::openPayload(batch, buffer_);
    if (!payload) return bad("records that decompress", payload.error().message);
    records::RecordCursor cursor(batch.header, *payload);
    Offset next = batch.header.baseOffset;
    int64_t largest = records::kNoTimestamp;
    records::Step step = cursor.next();
    for (; step == records::Step::Next; step = cursor.next()) {
      const records::RecordView record = cursor.record();
      largest = std::max(largest, record.timestampMs);
      if (record.offset < next || record.offset > batch.header.lastOffset())
        return bad(fmt::format("record offsets that rise from {} to {}", next, batch.header.lastOffset()),
                   fmt::format("a record of offset {}", record.offset));
      next = record.offset.next();
    }
    if (step == records::Step::Corrupt)
      return bad(fmt::format("{} records", batch.header.recordCount), cursor.reason());
    // A batch that compaction emptied or thinned keeps its own maximum or gets a new one; it is never too low.
    if (largest > batch.header.maxTimestampMs)
      bad(fmt::format("maxTimestamp {} or higher", largest),
          fmt::format("maxTimestamp {}", batch.header.maxTimestampMs));
  }

  Result<void> tellDamage(const platform::File& file, const BatchReader& reader, uint64_t end) {
    const uint64_t at = reader.position();
    Finding finding{.severity = !options_.trusted ? Severity::Warning : Severity::Error,
                    .file = logPath_,
                    .position = at,
                    .length = end - at,
                    .bytes = shownBytes(file, at, end - at),
                    .expected = {},
                    .found = {},
                    .advice = !options_.trusted
                                  ? "a broker cuts the log here at its next start"
                                  : "take the partition from another replica, or cut the log here (`tidemark repair`)"};
    if (const auto data = log::endOfData(file, at, end); data && *data == at) {
      finding.kind = FindingKind::TrailingZeros;
      finding.expected = "a batch, or the end of the file";
      finding.found = fmt::format("{} bytes of zeros", end - at);
    } else if (reader.reason() == CorruptReason::Incomplete) {
      finding.kind = FindingKind::LogTorn;
      const uint64_t claimed = records::kLogOverhead + static_cast<uint64_t>(std::max(0, reader.claimedLength()));
      finding.expected = end - at < records::kBatchHeaderSize
                             ? fmt::format("a header of {} bytes", records::kBatchHeaderSize)
                             : fmt::format("a batch of {} bytes", claimed);
      finding.found = fmt::format("{} bytes to the end of the file", end - at);
    } else if (reader.reason() == CorruptReason::BadLength) {
      finding.kind = FindingKind::BatchLengthBad;
      finding.expected = fmt::format("a length of at least {}", records::kBatchHeaderSize - records::kLogOverhead);
      finding.found = fmt::format("{} at byte {}", reader.claimedLength(), at + records::kLengthAt);
    } else {
      finding.kind = FindingKind::BatchMagicBad;
      finding.expected = "format 2";
      finding.found = fmt::format(
          "format {} at byte {}",
          finding.bytes.size() > records::kMagicAt ? static_cast<int8_t>(finding.bytes[records::kMagicAt]) : 0,
          at + records::kMagicAt);
    }
    finding.found += fmt::format("; {} bytes behind byte {} cannot be read", end - at, at);
    findings_.tell(std::move(finding));
    return {};
  }
  platform::FileSystem& files_;
  const Offset base_;
  const CheckOptions& options_;
  const std::string logPath_;
  SegmentFindings findings_;
  IndexCheck indexes_;
  SegmentFacts facts_;
  LeaderEpoch epoch_;
  bool damaged_ = false;
  bool badCrc_ = false;
  /// Of the batch before, whose checksum is wrong.
  std::optional<Finding> pending_;
  bool old_ = false;
  ByteVector buffer_;
};

}  // namespace

Result<SegmentFacts> checkSegment(platform::FileSystem& files, const std::string& folder, Offset base,
                                  const CheckOptions& options, const FindingSink& sink) {
  return SegmentCheck(files, folder, base, options, sink).run();
}

}  // namespace tidemark::inspect
