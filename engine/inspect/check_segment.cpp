#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "inspect/batch_anatomy.h"
#include "inspect/batch_reader.h"
#include "inspect/check.h"
#include "inspect/file_kind.h"
#include "log/file_names.h"
#include "log/index_file.h"
#include "log/segment_scan.h"
#include "records/message_set.h"
#include "records/record.h"

namespace tidemark::inspect {

using log::OffsetIndexEntry;
using log::TimeIndexEntry;
using platform::OpenMode;
using records::BatchHeader;
using records::CorruptReason;

namespace {

constexpr int64_t kMaxRelativeOffset = INT32_MAX;
/// So many findings of one kind in one file are told one by one, the rest in one.
constexpr size_t kToldOneByOne = 20;

ByteVector front(ByteView bytes) {
  const ByteView part = bytes.first(std::min(bytes.size(), Finding::kMaxBytes));
  return {part.begin(), part.end()};
}

/// An index file as it was found: its entries, and whether more can be said about them.
template <class Format>
struct FoundIndex {
  std::string path;
  std::vector<typename Format::Entry> entries;
  bool there = false;
};

class SegmentCheck {
 public:
  SegmentCheck(platform::FileSystem& files, const std::string& folder, Offset base, const CheckOptions& options,
               const FindingSink& sink)
      : files_(files),
        folder_(folder),
        base_(base),
        options_(options),
        sink_(sink),
        rule_(base),
        epoch_(kNoLeaderEpoch) {}

  Result<SegmentFacts> run() {
    logPath_ = log::offsetFilePath(folder_, base_, log::kLogSuffix);
    TIDEMARK_ASSIGN(const auto file, files_.open(logPath_, OpenMode::Read));
    TIDEMARK_ASSIGN(facts_.fileBytes, file->size());
    facts_.nextOffset = base_;
    const uint64_t end = std::min(facts_.fileBytes, options_.readableBytes.value_or(facts_.fileBytes));
    load(offsets_, log::kOffsetIndexSuffix);
    load(times_, log::kTimeIndexSuffix);
    prepareMatching();
    TIDEMARK_TRY(walk(*file, end));
    tellBadChecksum(repairable());
    finishIndexes();
    return facts_;
  }

 private:
  // --- telling ---
  /// Of what the next start puts right if it reads the segment again.
  Severity repairable() const { return options_.trusted ? Severity::Error : Severity::Warning; }
  void tell(Finding finding) {
    const size_t told = ++told_[static_cast<size_t>(finding.kind)];
    if (told <= kToldOneByOne) sink_(std::move(finding));
  }
  void tellAboutBatch(FindingKind kind, Severity severity, const records::BatchView& batch, uint64_t position,
                      std::string expected, std::string found, std::string advice) {
    tell({kind, severity, logPath_, position, batch.bytes.size(), front(batch.bytes), std::move(expected),
          std::move(found), std::move(advice)});
  }
  template <class Format>
  void tellAboutEntry(FindingKind kind, const FoundIndex<Format>& index, size_t entry, std::string expected,
                      std::string found) {
    ByteVector bytes(Format::kSize);
    Format::encode(index.entries[entry], base_, bytes.data());
    tell({kind, repairable(), index.path, entry * Format::kSize, Format::kSize, std::move(bytes), std::move(expected),
          std::move(found),
          "remove the index: a broker builds it anew at its next start (`tidemark repair` does so, too)"});
  }

  // --- indexes ---
  template <class Format>
  void load(FoundIndex<Format>& index, std::string_view suffix) {
    index.path = log::offsetFilePath(folder_, base_, suffix);
    const auto unreadable = [&](const Error& error) {
      tell({FindingKind::Unreadable,
            Severity::Error,
            index.path,
            {},
            0,
            {},
            "an index",
            error.message,
            "look at the disk and the file's permissions"});
    };
    if (!files_.exists(index.path)) {
      // A broker makes the log first.
      const bool coming = options_.active && options_.open;
      tell({FindingKind::IndexMissing,
            coming ? Severity::Note : Severity::Warning,
            index.path,
            {},
            0,
            {},
            "an index beside each .log",
            "no such file",
            coming ? "nothing: the broker is about to make it" : "a broker builds it anew at its next start"});
      return;
    }
    const auto file = files_.open(index.path, OpenMode::Read);
    if (!file) return unreadable(file.error());
    const auto size = (*file)->size();
    if (!size) return unreadable(size.error());
    const uint64_t odd = *size % Format::kSize;
    if (odd != 0)
      tell({FindingKind::IndexSizeOdd, Severity::Warning, index.path, *size - odd, odd,
            readBytes(**file, *size - odd, odd), fmt::format("a multiple of {} bytes", Format::kSize),
            fmt::format("{} bytes", *size), "a broker builds it anew at its next start"});
    const auto counted = log::countEntries(**file, *size - odd, Format::kSize);
    if (!counted) return unreadable(counted.error());
    const size_t count = counted->value_or(0);
    if (count * Format::kSize < *size - odd)
      tell({FindingKind::IndexPadded,
            Severity::Note,
            index.path,
            count * Format::kSize,
            *size - odd - count * Format::kSize,
            {},
            "entries to the end, or a file that a broker has open",
            fmt::format("{} bytes of zeros behind {} entries", *size - odd - count * Format::kSize, count),
            "nothing: preallocated by a broker that was not stopped cleanly (or still runs)"});
    ByteVector bytes(count * Format::kSize);
    const auto got = (*file)->readAt(0, bytes);
    if (!got) return unreadable(got.error());
    index.there = true;
    for (size_t at = 0; at + Format::kSize <= *got; at += Format::kSize)
      index.entries.push_back(Format::decode(bytes.data() + at, base_));
  }
  static ByteVector readBytes(const platform::File& file, uint64_t position, uint64_t length) {
    ByteVector bytes(std::min<uint64_t>(length, Finding::kMaxBytes));
    const auto got = file.readAt(position, bytes);
    bytes.resize(got.value_or(0));
    return bytes;
  }

  /// Entries by the place they speak of: batches come in that order.
  void prepareMatching() {
    for (size_t i = 0; i < offsets_.entries.size(); ++i) byPosition_.push_back(i);
    std::ranges::stable_sort(byPosition_, {}, [this](size_t i) { return offsets_.entries[i].position; });
    for (size_t i = 0; i < times_.entries.size(); ++i) byOffset_.push_back(i);
    std::ranges::stable_sort(byOffset_, {}, [this](size_t i) { return times_.entries[i].offset; });
    for (size_t i = 1; i < offsets_.entries.size(); ++i) {
      const auto& before = offsets_.entries[i - 1];
      const auto& entry = offsets_.entries[i];
      if (entry.offset > before.offset && entry.position > before.position) continue;
      tellAboutEntry(FindingKind::IndexNotRising, offsets_, i,
                     fmt::format("more than offset {}, byte {} of the entry before", before.offset, before.position),
                     fmt::format("offset {}, byte {}", entry.offset, entry.position));
    }
    for (size_t i = 1; i < times_.entries.size(); ++i) {
      const auto& before = times_.entries[i - 1];
      const auto& entry = times_.entries[i];
      if (entry.timestampMs > before.timestampMs && entry.offset >= before.offset) continue;
      tellAboutEntry(FindingKind::IndexNotRising, times_, i,
                     fmt::format("a time above {} and an offset not below {}", before.timestampMs, before.offset),
                     fmt::format("time {}, offset {}", entry.timestampMs, entry.offset));
    }
  }

  void matchOffsets(const BatchHeader& header, uint64_t position) {
    for (; nextByPosition_ < byPosition_.size(); ++nextByPosition_) {
      const size_t number = byPosition_[nextByPosition_];
      const OffsetIndexEntry& entry = offsets_.entries[number];
      if (entry.position > static_cast<int64_t>(position)) break;
      if (entry.position < static_cast<int64_t>(position)) {
        tellAboutEntry(FindingKind::IndexEntryFalse, offsets_, number, "a byte where a batch starts",
                       fmt::format("byte {}, inside the batch before byte {}", entry.position, position));
        continue;
      }
      hasEntry_ = true;
      if (entry.offset == header.lastOffset()) continue;
      tellAboutEntry(FindingKind::IndexEntryFalse, offsets_, number,
                     fmt::format("offset {}, the last of the batch at byte {}", header.lastOffset(), position),
                     fmt::format("offset {}", entry.offset));
    }
  }

  void matchTimes(const BatchHeader& header) {
    maxTimestampMs_ = std::max(maxTimestampMs_, header.maxTimestampMs);
    for (; nextByOffset_ < byOffset_.size(); ++nextByOffset_) {
      const size_t number = byOffset_[nextByOffset_];
      const TimeIndexEntry& entry = times_.entries[number];
      if (entry.offset > header.lastOffset()) break;
      if (entry.offset >= header.baseOffset && entry.timestampMs == header.maxTimestampMs &&
          entry.timestampMs == maxTimestampMs_)
        continue;
      tellAboutEntry(FindingKind::IndexEntryFalse, times_, number,
                     entry.offset < header.baseOffset
                         ? fmt::format("an offset that a batch ends at; the next is at {}", header.lastOffset())
                         : fmt::format("time {}, the largest up to offset {}", maxTimestampMs_, entry.offset),
                     fmt::format("time {}, offset {}", entry.timestampMs, entry.offset));
    }
  }

  /// Which intervals would have given the batches so far the entries they have.
  void narrowInterval(const BatchHeader& header, uint64_t position) {
    if (hasEntry_)
      highestInterval_ = std::min(highestInterval_, bytesSinceEntry_ - 1);
    else if (header.lastOffset() > lastEntryOffset_ && bytesSinceEntry_ > lowestInterval_) {
      lowestInterval_ = bytesSinceEntry_;
      lowestAt_ = position;
    }
    if (hasEntry_) {
      bytesSinceEntry_ = 0;
      lastEntryOffset_ = header.lastOffset();
    }
    bytesSinceEntry_ += static_cast<int64_t>(header.sizeInBytes());
  }

  // --- batches ---
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
      tell({FindingKind::BatchMagicBad, Severity::Error, logPath_, position, bytes.size(), front(bytes), "format 2",
            fmt::format("format {} at byte {}, but no message of it: {}", format, position + records::kMagicAt,
                        message.error().message),
            "take the partition from another replica"});
    else if (!old_)
      tell({FindingKind::OldFormat, Severity::Note, logPath_, position, bytes.size(), front(bytes),
            "batches of format 2", fmt::format("format {}", format), "nothing; only tools read them in full"});
  }

  void checkBatch(const records::BatchView& batch, uint64_t position, bool crcValid) {
    const BatchHeader& header = batch.header;
    ++facts_.batches;
    hasEntry_ = false;
    tellBadChecksum(Severity::Error);
    if (!crcValid) {
      pending_ = {FindingKind::BatchChecksumBad,
                  Severity::Error,
                  logPath_,
                  position,
                  batch.bytes.size(),
                  front(batch.bytes),
                  fmt::format("CRC-32C 0x{:08x} over bytes {} to {}", batch.computeCrc(),
                              position + records::kAttributesAt, position + batch.bytes.size()),
                  fmt::format("0x{:08x} at byte {}", header.crc, position + records::kCrcAt),
                  "take the partition from another replica; a broker that was not stopped cleanly cuts the log here"};
      badCrc_ = true;
      // What its header says is not to be trusted, but where it ends was.
      skipEntries(position);
      return;
    }
    const int64_t relative = header.lastOffset() - base_;
    if (header.baseOffset < base_ || header.lastOffsetDelta < 0 || relative > kMaxRelativeOffset)
      tellAboutBatch(FindingKind::BatchOffsetsBad, Severity::Error, batch, position,
                     fmt::format("offsets from {} to {}", base_, base_ + kMaxRelativeOffset),
                     fmt::format("offsets {} to {}", header.baseOffset, header.lastOffset()),
                     "take the partition from another replica");
    else if (header.baseOffset < facts_.nextOffset)
      tellAboutBatch(FindingKind::BatchOffsetsBad, repairable(), batch, position,
                     fmt::format("offset {} or higher, behind the batch before", facts_.nextOffset),
                     fmt::format("offsets {} to {}, which are there already", header.baseOffset, header.lastOffset()),
                     "readers by offset never see it; a broker of ours that was not stopped cleanly cuts the log here");
    if (header.leaderEpoch < epoch_)
      tellAboutBatch(FindingKind::BatchEpochFalls, Severity::Error, batch, position,
                     fmt::format("leader epoch {} or higher", epoch_), fmt::format("{}", header.leaderEpoch),
                     "take the partition from another replica");
    epoch_ = std::max(epoch_, header.leaderEpoch);
    checkRecords(batch, position);
    matchOffsets(header, position);
    matchTimes(header);
    narrowInterval(header, position);
    const auto entries = rule_.next(header, position, options_.indexIntervalBytes.value_or(0));
    if (entries.offset) rebuiltOffsets_.push_back(rule_.offsetEntry());
    if (entries.time) rebuiltTimes_.push_back(rule_.timeEntry());
    facts_.nextOffset = std::max(facts_.nextOffset, header.nextOffset());
    facts_.records += header.recordCount;
    facts_.maxTimestampMs = maxTimestampMs_;
    if (options_.visit) options_.visit(batch, position);
  }

  /// A wrong checksum in front of a sound batch is damage; at the end of what was being written it is an end.
  void tellBadChecksum(Severity severity) {
    if (!pending_) return;
    pending_->severity = severity;
    tell(*std::exchange(pending_, std::nullopt));
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

  /// Entries that speak of a batch that cannot be trusted are neither true nor false.
  void skipEntries(uint64_t position) {
    while (nextByPosition_ < byPosition_.size() &&
           offsets_.entries[byPosition_[nextByPosition_]].position <= static_cast<int64_t>(position))
      ++nextByPosition_;
  }

  Result<void> tellDamage(const platform::File& file, const BatchReader& reader, uint64_t end) {
    const uint64_t at = reader.position();
    Finding finding{.severity = !options_.trusted ? Severity::Warning : Severity::Error,
                    .file = logPath_,
                    .position = at,
                    .length = end - at,
                    .bytes = readBytes(file, at, end - at),
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
    tell(std::move(finding));
    return {};
  }
  // --- at the end ---
  void finishIndexes() {
    for (; nextByPosition_ < byPosition_.size(); ++nextByPosition_) {
      const size_t number = byPosition_[nextByPosition_];
      const OffsetIndexEntry& entry = offsets_.entries[number];
      tellAboutEntry(FindingKind::IndexEntryFalse, offsets_, number,
                     fmt::format("a byte below {}, where the batches end", facts_.validBytes),
                     fmt::format("offset {}, byte {}", entry.offset, entry.position));
    }
    for (; nextByOffset_ < byOffset_.size(); ++nextByOffset_) {
      const size_t number = byOffset_[nextByOffset_];
      const TimeIndexEntry& entry = times_.entries[number];
      tellAboutEntry(FindingKind::IndexEntryFalse, times_, number,
                     fmt::format("an offset below {}, where the segment ends", facts_.nextOffset),
                     fmt::format("time {}, offset {}", entry.timestampMs, entry.offset));
    }
    if (!damaged_ && !badCrc_ && !old_) {
      compareWithRebuild();
      checkLastTime();
    }
    for (size_t kind = 0; kind < std::size(told_); ++kind)
      if (told_[kind] > kToldOneByOne)
        sink_({static_cast<FindingKind>(kind),
               Severity::Error,
               logPath_,
               {},
               0,
               {},
               "",
               fmt::format("{} more of this kind in this segment", told_[kind] - kToldOneByOne),
               ""});
  }

  /// A closed segment's time index ends with the segment's largest time: by it whole segments are passed over.
  void checkLastTime() {
    if (!times_.there || maxTimestampMs_ < 0 || (options_.active && (options_.open || !options_.trusted))) return;
    const int64_t last = times_.entries.empty() ? records::kNoTimestamp : times_.entries.back().timestampMs;
    if (last >= maxTimestampMs_) return;
    tell({FindingKind::IndexEntryFalse,
          repairable(),
          times_.path,
          times_.entries.size() * log::TimeIndexFormat::kSize,
          0,
          {},
          fmt::format("a last entry of time {}, the segment's largest", maxTimestampMs_),
          last < 0 ? std::string("no entry") : fmt::format("a last entry of time {}", last),
          "remove the index: a broker builds it anew at its next start (`tidemark repair` does so, too)"});
  }

  void compareWithRebuild() {
    // A broker brings entries into the file many at a time.
    if (!offsets_.there || !options_.trusted || (options_.active && options_.open)) return;
    const std::string advice = "nothing: it happens where a broker was started again inside the segment";
    if (!options_.indexIntervalBytes) {
      // Each start may add an interval: many in one gap are none.
      constexpr int64_t kStarts = 4;
      constexpr int64_t kLongWithoutAny = 1 << 20;
      const bool any = highestInterval_ < INT64_MAX;
      if (any ? lowestInterval_ <= highestInterval_ : lowestInterval_ < kLongWithoutAny) return;
      const bool missing = !any || lowestInterval_ > kStarts * (highestInterval_ + 1);
      tell({FindingKind::IndexNotAsRebuilt,
            missing ? Severity::Warning : Severity::Note,
            offsets_.path,
            {},
            0,
            {},
            any ? fmt::format("an entry for the batch at byte {}, as for others {} bytes behind an entry", lowestAt_,
                              highestInterval_ + 1)
                : fmt::format("entries for {} bytes of batches", facts_.validBytes),
            fmt::format("none, {} bytes behind the entry before", lowestInterval_),
            missing ? "lookups read more than they should: remove the index, a broker builds it anew at its next start"
                    : advice});
      return;
    }
    const auto compare = [&](const auto& index, const auto& rebuilt, size_t entrySize) {
      const auto [own, other] = std::ranges::mismatch(index.entries, rebuilt);
      if (own == index.entries.end() && other == rebuilt.end()) return;
      const auto number = static_cast<size_t>(own - index.entries.begin());
      const auto text = [](const auto& entries, auto at) {
        if (at == entries.end()) return std::string("no entry");
        if constexpr (requires { at->position; })
          return fmt::format("offset {}, byte {}", at->offset, at->position);
        else
          return fmt::format("time {}, offset {}", at->timestampMs, at->offset);
      };
      tell({FindingKind::IndexNotAsRebuilt,
            Severity::Note,
            index.path,
            number * entrySize,
            entrySize,
            {},
            fmt::format("entry {}: {}", number, text(rebuilt, other)),
            text(index.entries, own),
            advice});
    };
    compare(offsets_, rebuiltOffsets_, log::OffsetIndexFormat::kSize);
    if (!times_.there) return;
    // The entry that closing adds.
    if (rule_.takeTimeEntry() && times_.entries.size() > rebuiltTimes_.size())
      rebuiltTimes_.push_back(rule_.timeEntry());
    compare(times_, rebuiltTimes_, log::TimeIndexFormat::kSize);
  }

  platform::FileSystem& files_;
  const std::string& folder_;
  const Offset base_;
  const CheckOptions& options_;
  const FindingSink& sink_;
  std::string logPath_;
  SegmentFacts facts_;
  FoundIndex<log::OffsetIndexFormat> offsets_;
  FoundIndex<log::TimeIndexFormat> times_;
  /// Numbers of entries in the order of the places they speak of, and the next one to be matched with a batch.
  std::vector<size_t> byPosition_;
  std::vector<size_t> byOffset_;
  size_t nextByPosition_ = 0;
  size_t nextByOffset_ = 0;
  /// The batch being looked at has an entry in the offset index.
  bool hasEntry_ = false;
  int64_t maxTimestampMs_ = records::kNoTimestamp;
  // What is known of index.interval.bytes.
  int64_t bytesSinceEntry_ = 0;
  int64_t lowestInterval_ = 0;
  uint64_t lowestAt_ = 0;
  int64_t highestInterval_ = INT64_MAX;
  Offset lastEntryOffset_ = kNoOffset;
  log::IndexRule rule_;
  std::vector<OffsetIndexEntry> rebuiltOffsets_;
  std::vector<TimeIndexEntry> rebuiltTimes_;
  LeaderEpoch epoch_;
  bool damaged_ = false;
  bool badCrc_ = false;
  /// Of the batch before, whose checksum is wrong.
  std::optional<Finding> pending_;
  bool old_ = false;
  ByteVector buffer_;
  size_t told_[static_cast<size_t>(FindingKind::Unreadable) + 1] = {};
};

}  // namespace

Result<SegmentFacts> checkSegment(platform::FileSystem& files, const std::string& folder, Offset base,
                                  const CheckOptions& options, const FindingSink& sink) {
  return SegmentCheck(files, folder, base, options, sink).run();
}

}  // namespace tidemark::inspect
