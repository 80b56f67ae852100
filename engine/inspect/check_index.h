#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "inspect/check.h"
#include "inspect/segment_findings.h"
#include "log/index_file.h"
#include "log/segment_scan.h"
#include "platform/file_system.h"
#include "records/batch.h"

namespace tidemark::inspect {

/// Holds the offset and the time index of one segment against its batches, which whoever reads the .log tells in their
/// order: is each entry true, and are there as many as a rebuild gives? For one check, on its thread.
class IndexCheck {
 public:
  IndexCheck(platform::FileSystem& files, const std::string& folder, Offset base, const CheckOptions& options,
             SegmentFindings& findings)
      : files_(files), folder_(folder), base_(base), options_(options), findings_(findings), rule_(base) {}

  /// Reads both files. Before the first batch.
  void load();
  /// The next batch, which can be trusted.
  void batch(const records::BatchHeader& header, uint64_t position);
  /// A batch that cannot: entries that speak of it are neither true nor false.
  void skip(uint64_t position);
  /// After the last batch. `whole`: all of the .log could be read as batches of format 2.
  void finish(const SegmentFacts& facts, bool whole);

 private:
  /// An index file as it was found: its entries, and whether more can be said about them.
  template <class Format>
  struct FoundIndex {
    std::string path;
    std::vector<typename Format::Entry> entries;
    bool there = false;
  };

  template <class Format>
  void tellAboutEntry(FindingKind kind, const FoundIndex<Format>& index, size_t entry, std::string expected,
                      std::string found);
  template <class Format>
  void load(FoundIndex<Format>& index, std::string_view suffix);
  void checkRising();
  void matchOffsets(const records::BatchHeader& header, uint64_t position);
  void matchTimes(const records::BatchHeader& header);
  void narrowInterval(const records::BatchHeader& header, uint64_t position);
  void tellUnmatched(const SegmentFacts& facts);
  void checkLastTime();
  void compareWithSomeInterval(const SegmentFacts& facts);
  void compareWithRebuild();

  platform::FileSystem& files_;
  const std::string& folder_;
  const Offset base_;
  const CheckOptions& options_;
  SegmentFindings& findings_;
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
  int64_t largestBatch_ = 0;
  Offset lastEntryOffset_ = kNoOffset;
  log::IndexRule rule_;
  std::vector<log::OffsetIndexEntry> rebuiltOffsets_;
  std::vector<log::TimeIndexEntry> rebuiltTimes_;
};

}  // namespace tidemark::inspect
