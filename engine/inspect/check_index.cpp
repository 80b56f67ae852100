#include "inspect/check_index.h"

#include <algorithm>

#include <fmt/format.h>

#include "log/file_names.h"

namespace tidemark::inspect {

using log::OffsetIndexEntry;
using log::TimeIndexEntry;
using platform::OpenMode;
using records::BatchHeader;

namespace {

constexpr std::string_view kStartedInside = "nothing: it happens where a broker was started again inside the segment";

}  // namespace

// --- the files ---
template <class Format>
void IndexCheck::tellAboutEntry(FindingKind kind, const FoundIndex<Format>& index, size_t entry, std::string expected,
                                std::string found) {
  ByteVector bytes(Format::kSize);
  Format::encode(index.entries[entry], base_, bytes.data());
  findings_.tell({kind, findings_.repairable(), index.path, entry * Format::kSize, Format::kSize, std::move(bytes),
                  std::move(expected), std::move(found),
                  "remove the index: a broker builds it anew at its next start (`tidemark repair` does so, too)"});
}

template <class Format>
void IndexCheck::load(FoundIndex<Format>& index, std::string_view suffix) {
  index.path = log::offsetFilePath(folder_, base_, suffix);
  const auto unreadable = [&](const Error& error) {
    findings_.tell({FindingKind::Unreadable,
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
    findings_.tell({FindingKind::IndexMissing,
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
    findings_.tell({FindingKind::IndexSizeOdd, Severity::Warning, index.path, *size - odd, odd,
                    shownBytes(**file, *size - odd, odd), fmt::format("a multiple of {} bytes", Format::kSize),
                    fmt::format("{} bytes", *size), "a broker builds it anew at its next start"});
  const auto counted = log::countEntries(**file, *size - odd, Format::kSize);
  if (!counted) return unreadable(counted.error());
  const size_t count = counted->value_or(0);
  if (count * Format::kSize < *size - odd)
    findings_.tell({FindingKind::IndexPadded,
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
void IndexCheck::load() {
  load(offsets_, log::kOffsetIndexSuffix);
  load(times_, log::kTimeIndexSuffix);
  for (size_t i = 0; i < offsets_.entries.size(); ++i) byPosition_.push_back(i);
  std::ranges::stable_sort(byPosition_, {}, [this](size_t i) { return offsets_.entries[i].position; });
  for (size_t i = 0; i < times_.entries.size(); ++i) byOffset_.push_back(i);
  std::ranges::stable_sort(byOffset_, {}, [this](size_t i) { return times_.entries[i].offset; });
  checkRising();
}

void IndexCheck::checkRising() {
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

// --- batch by batch ---
void IndexCheck::batch(const BatchHeader& header, uint64_t position) {
  hasEntry_ = false;
  matchOffsets(header, position);
  matchTimes(header);
  narrowInterval(header, position);
  const auto entries = rule_.next(header, position, options_.indexIntervalBytes.value_or(0));
  if (entries.offset) rebuiltOffsets_.push_back(rule_.offsetEntry());
  if (entries.time) rebuiltTimes_.push_back(rule_.timeEntry());
}

void IndexCheck::skip(uint64_t position) {
  while (nextByPosition_ < byPosition_.size() &&
         offsets_.entries[byPosition_[nextByPosition_]].position <= static_cast<int64_t>(position))
    ++nextByPosition_;
}

void IndexCheck::matchOffsets(const BatchHeader& header, uint64_t position) {
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

void IndexCheck::matchTimes(const BatchHeader& header) {
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
void IndexCheck::narrowInterval(const BatchHeader& header, uint64_t position) {
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
  largestBatch_ = std::max(largestBatch_, static_cast<int64_t>(header.sizeInBytes()));
}

// --- at the end ---
void IndexCheck::finish(const SegmentFacts& facts, bool whole) {
  tellUnmatched(facts);
  if (!whole) return;
  // A broker brings entries into the file many at a time.
  const bool comparable = offsets_.there && options_.trusted && !(options_.active && options_.open);
  if (comparable && options_.indexIntervalBytes)
    compareWithRebuild();
  else if (comparable)
    compareWithSomeInterval(facts);
  checkLastTime();
}

void IndexCheck::tellUnmatched(const SegmentFacts& facts) {
  for (; nextByPosition_ < byPosition_.size(); ++nextByPosition_) {
    const size_t number = byPosition_[nextByPosition_];
    const OffsetIndexEntry& entry = offsets_.entries[number];
    tellAboutEntry(FindingKind::IndexEntryFalse, offsets_, number,
                   fmt::format("a byte below {}, where the batches end", facts.validBytes),
                   fmt::format("offset {}, byte {}", entry.offset, entry.position));
  }
  for (; nextByOffset_ < byOffset_.size(); ++nextByOffset_) {
    const size_t number = byOffset_[nextByOffset_];
    const TimeIndexEntry& entry = times_.entries[number];
    tellAboutEntry(FindingKind::IndexEntryFalse, times_, number,
                   fmt::format("an offset below {}, where the segment ends", facts.nextOffset),
                   fmt::format("time {}, offset {}", entry.timestampMs, entry.offset));
  }
}

/// A closed segment's time index ends with the segment's largest time: by it whole segments are passed over.
void IndexCheck::checkLastTime() {
  if (!times_.there || maxTimestampMs_ < 0 || (options_.active && (options_.open || !options_.trusted))) return;
  const int64_t last = times_.entries.empty() ? records::kNoTimestamp : times_.entries.back().timestampMs;
  if (last >= maxTimestampMs_) return;
  findings_.tell({FindingKind::IndexEntryFalse,
                  findings_.repairable(),
                  times_.path,
                  times_.entries.size() * log::TimeIndexFormat::kSize,
                  0,
                  {},
                  fmt::format("a last entry of time {}, the segment's largest", maxTimestampMs_),
                  last < 0 ? std::string("no entry") : fmt::format("a last entry of time {}", last),
                  "remove the index: a broker builds it anew at its next start (`tidemark repair` does so, too)"});
}

/// Without index.interval.bytes: some interval explains the batches that have entries.
void IndexCheck::compareWithSomeInterval(const SegmentFacts& facts) {
  // Each start may add an interval and the batch that was behind the last entry: many in one gap are none.
  constexpr int64_t kStarts = 4;
  constexpr int64_t kLongWithoutAny = 1 << 20;
  const bool any = highestInterval_ < INT64_MAX;
  if (any ? lowestInterval_ <= highestInterval_ : lowestInterval_ < kLongWithoutAny) return;
  const bool missing = !any || lowestInterval_ > kStarts * (highestInterval_ + 1 + largestBatch_);
  findings_.tell(
      {FindingKind::IndexNotAsRebuilt,
       missing ? Severity::Warning : Severity::Note,
       offsets_.path,
       {},
       0,
       {},
       any ? fmt::format("an entry for the batch at byte {}, as for others {} bytes behind an entry", lowestAt_,
                         highestInterval_ + 1)
           : fmt::format("entries for {} bytes of batches", facts.validBytes),
       fmt::format("none, {} bytes behind the entry before", lowestInterval_),
       missing ? "lookups read more than they should: remove the index, a broker builds it anew at its next start"
               : std::string(kStartedInside)});
}

void IndexCheck::compareWithRebuild() {
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
    findings_.tell({FindingKind::IndexNotAsRebuilt,
                    Severity::Note,
                    index.path,
                    number * entrySize,
                    entrySize,
                    {},
                    fmt::format("entry {}: {}", number, text(rebuilt, other)),
                    text(index.entries, own),
                    std::string(kStartedInside)});
  };
  compare(offsets_, rebuiltOffsets_, log::OffsetIndexFormat::kSize);
  if (!times_.there) return;
  // The entry that closing adds.
  if (rule_.takeTimeEntry() && times_.entries.size() > rebuiltTimes_.size()) rebuiltTimes_.push_back(rule_.timeEntry());
  compare(times_, rebuiltTimes_, log::TimeIndexFormat::kSize);
}

}  // namespace tidemark::inspect
