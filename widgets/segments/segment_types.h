#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <QString>

#include "base/ids.h"
#include "inspect/partition_view.h"

// What the Segments view draws: plain values, made on a background thread out of what the engine's inspection told
// (partition_reader.h), never changed afterwards.
namespace tidemark::widgets {

/// The files beside a segment's `.log`.
enum class SideFile : uint8_t { Index, TimeIndex, TxnIndex, Snapshot };
inline constexpr size_t kSideFiles = 4;
inline constexpr std::array<std::string_view, kSideFiles> kSideSuffixes{".index", ".timeindex", ".txnindex",
                                                                        ".snapshot"};

struct SegmentEntry {
  enum class State : uint8_t {
    Sealed,
    Active,
    /// Renamed to `.deleted`: gone for readers, still on the disk for file.delete.delay.ms.
    Deleted,
  };
  Offset base;
  int64_t bytes = 0;
  State state = State::Sealed;
  /// Of its first batch; none if it is empty or not read.
  LeaderEpoch epoch;
  /// −1: there is no such file.
  std::array<int64_t, kSideFiles> sideBytes{-1, -1, -1, -1};
  /// Where in the `.log` the first damage begins; −1: none is known.
  int64_t badAt = -1;
  int64_t badBytes = 0;
  /// One bit for each SideFile with a finding.
  uint8_t badSides = 0;
  /// Findings in all of its files.
  int findings = 0;

  friend bool operator==(const SegmentEntry&, const SegmentEntry&) = default;
};
using SegmentEntries = std::shared_ptr<const std::vector<SegmentEntry>>;

/// Something that is not as it must be, and where.
struct FindingEntry {
  /// True: the data is in doubt; false: worth knowing.
  bool severe = true;
  /// Name of the file in the partition's folder.
  QString file;
  /// None if it is about no segment.
  Offset segment;
  /// In that file; −1: the file as a whole.
  int64_t position = -1;
  int64_t length = 0;
  /// What is wrong, in the reader's language.
  QString what;

  friend bool operator==(const FindingEntry&, const FindingEntry&) = default;
};

/// A partition as a folder shows it.
struct PartitionPicture {
  /// "orders-0".
  QString name;
  QString folder;
  SegmentEntries segments;
  std::vector<FindingEntry> findings;
  /// −1: not known, as of a folder that no broker runs on.
  int64_t segmentBytes = -1;
  int64_t segmentMs = -1;
  int64_t indexIntervalBytes = -1;
  /// None if not known.
  Offset logStart;
  /// How many segments there are, if a recording tells of fewer; 0: `segments` are all.
  int segmentCount = 0;
};
using PartitionPicturePtr = std::shared_ptr<const PartitionPicture>;

/// A batch as its header tells it.
struct BatchPoint {
  int64_t base = 0;
  int64_t last = 0;
  int64_t position = 0;
  int32_t bytes = 0;
  int32_t records = 0;
  LeaderEpoch epoch;
  int64_t maxTimestampMs = -1;
  bool bad = false;
  friend bool operator==(const BatchPoint&, const BatchPoint&) = default;
};

/// One segment, opened.
struct SegmentPicture {
  Offset base;
  int64_t bytes = 0;
  bool active = false;
  std::vector<log::OffsetIndexEntry> offsets;
  std::vector<log::TimeIndexEntry> times;
  /// From the beginning on; fewer than there are if `batchesEnd` is below `bytes`.
  std::vector<BatchPoint> batches;
  /// Up to where the headers were read.
  int64_t batchesEnd = 0;
};
using SegmentPicturePtr = std::shared_ptr<const SegmentPicture>;

/// A whole lookup, as the engine told it.
struct LookupPicture {
  bool byTime = false;
  /// What was asked for: an offset, or milliseconds since 1970.
  int64_t target = 0;
  inspect::Lookup lookup;
  /// Why there is no answer, in the reader's language; empty if there is one.
  QString problem;

  const std::vector<log::LookupStep>& steps() const noexcept { return lookup.trace.steps(); }
};
using LookupPicturePtr = std::shared_ptr<const LookupPicture>;

/// A stretch of bytes that means one thing, and no smaller one.
struct FieldEntry {
  inspect::FieldKind kind{};
  /// In the file's bytes, or in the decompressed records (`payload`).
  int32_t begin = 0;
  int32_t length = 0;
  /// "base offset".
  QString name;
  QString value;
  /// What follows from it.
  QString note;
  /// Index in BatchPicture::records of the record it belongs to; −1: the batch's header.
  int32_t record = -1;
  bool payload = false;
  bool bad = false;
};

/// A stretch of bytes, begin −1: null.
struct Stretch {
  int32_t begin = -1;
  int32_t length = 0;
};

struct RecordEntry {
  int64_t offset = 0;
  int64_t timestampMs = -1;
  Stretch whole, key, value;
  int headers = 0;
  /// In BatchPicture::fields.
  int32_t firstField = 0;
  int32_t fieldCount = 0;
  /// What its key and value mean, for records that the quorum or a coordinator wrote; empty for others.
  QString meaning;
};

/// A batch taken apart.
struct BatchPicture {
  Offset segment;
  int64_t position = 0;
  inspect::BatchAnatomy anatomy;
  /// Those of the header first, then those of the records, in the order of their bytes.
  std::vector<FieldEntry> fields;
  int32_t headerFields = 0;
  std::vector<RecordEntry> records;
  /// "zstd"; "none" of a batch that is not compressed.
  QString codec;
  /// The next batch of the segment starts here; −1: there is none.
  int64_t next = -1;

  /// The bytes that a record's stretches are in.
  ByteView payload() const noexcept { return anatomy.compressed ? anatomy.records.view() : anatomy.bytes.view(); }
  ByteView bytesOf(const Stretch& stretch) const noexcept {
    if (stretch.begin < 0) return {};
    return payload().subspan(static_cast<size_t>(stretch.begin), static_cast<size_t>(stretch.length));
  }
  /// Number of the first record that is kept, counted from 0.
  int64_t firstRecord() const noexcept { return static_cast<int64_t>(anatomy.firstRecord); }
  int64_t recordsLeftOut() const noexcept {
    return std::max<int64_t>(0, anatomy.header.recordCount - static_cast<int64_t>(records.size()));
  }

  static constexpr size_t kRecordsKept = 2'000;
};
using BatchPicturePtr = std::shared_ptr<const BatchPicture>;

}  // namespace tidemark::widgets
