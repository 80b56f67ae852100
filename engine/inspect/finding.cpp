#include "inspect/finding.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tidemark::inspect {
namespace {

struct Words {
  std::string_view name;
  std::string_view sentence;
};

Words wordsOf(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::LogTorn:
      return {"log-torn", "the file ends inside a batch"};
    case FindingKind::BatchLengthBad:
      return {"batch-length-bad", "the length field holds what no batch can have"};
    case FindingKind::BatchMagicBad:
      return {"batch-magic-bad", "the format (magic) is not 0, 1 or 2"};
    case FindingKind::BatchChecksumBad:
      return {"batch-checksum-bad", "the bytes are not those that the CRC was made of"};
    case FindingKind::BatchOffsetsBad:
      return {"batch-offsets-bad", "the batch's offsets do not belong here"};
    case FindingKind::BatchEpochFalls:
      return {"batch-epoch-falls", "the leader epoch is below that of the batch before"};
    case FindingKind::BatchRecordsBad:
      return {"batch-records-bad", "the records cannot be read or do not fit the header"};
    case FindingKind::TrailingZeros:
      return {"trailing-zeros", "zeros lie behind the last batch"};
    case FindingKind::OldFormat:
      return {"old-format", "messages of format 0 or 1, which brokers do not write any more"};
    case FindingKind::IndexMissing:
      return {"index-missing", "the segment has no such index"};
    case FindingKind::IndexSizeOdd:
      return {"index-size-odd", "the size is not a whole number of entries"};
    case FindingKind::IndexPadded:
      return {"index-padded", "preallocated: zeros lie behind the entries"};
    case FindingKind::IndexEntryFalse:
      return {"index-entry-false", "the entry is not true"};
    case FindingKind::IndexNotRising:
      return {"index-not-rising", "entries do not rise, so that a binary search goes astray"};
    case FindingKind::IndexNotAsRebuilt:
      return {"index-not-as-rebuilt", "every entry is true, but a rebuild would have others"};
    case FindingKind::AbortedIndexBad:
      return {"aborted-index-bad", "not the aborted transactions that the log has"};
    case FindingKind::SegmentGap:
      return {"segment-gap", "the segment begins later than the one before it ends"};
    case FindingKind::SegmentOverlap:
      return {"segment-overlap", "the segment begins before the one before it ends"};
    case FindingKind::SegmentWithoutLog:
      return {"segment-without-log", "an index without its .log"};
    case FindingKind::SnapshotDamaged:
      return {"snapshot-damaged", "the producer snapshot cannot be read"};
    case FindingKind::SnapshotBeyondEnd:
      return {"snapshot-beyond-end", "the producer snapshot is of an offset behind the log's end"};
    case FindingKind::SnapshotFalse:
      return {"snapshot-false", "the producer snapshot holds what the log does not"};
    case FindingKind::EpochFileDamaged:
      return {"epoch-file-damaged", "the leader epoch checkpoint cannot be read"};
    case FindingKind::EpochFileFalse:
      return {"epoch-file-false", "the leader epoch checkpoint is not what the batches say"};
    case FindingKind::PartitionFileDamaged:
      return {"partition-file-damaged", "partition.metadata cannot be read"};
    case FindingKind::LeftOver:
      return {"left-over", "left by a change that was interrupted"};
    case FindingKind::NameUnknown:
      return {"name-unknown", "no name that Kafka gives"};
    case FindingKind::NotADirectory:
      return {"not-a-directory", "there is no such directory"};
    case FindingKind::MetaPropertiesMissing:
      return {"meta-properties-missing", "the directory is not formatted"};
    case FindingKind::MetaPropertiesBad:
      return {"meta-properties-bad", "meta.properties cannot be read"};
    case FindingKind::DirectoriesDisagree:
      return {"directories-disagree", "a directory is not of the node or the cluster that it should be of"};
    case FindingKind::CheckpointDamaged:
      return {"checkpoint-damaged", "the checkpoint cannot be read"};
    case FindingKind::CheckpointFalse:
      return {"checkpoint-false", "the offset lies outside its log"};
    case FindingKind::CheckpointStale:
      return {"checkpoint-stale", "an entry of a partition that is not here"};
    case FindingKind::CleanMarkerBad:
      return {"clean-marker-bad", "the marker of a clean stop cannot be read"};
    case FindingKind::CleanMarkerFalse:
      return {"clean-marker-false", "the marker says the last stop was clean, and it was not"};
    case FindingKind::PartitionTwice:
      return {"partition-twice", "the partition lies in two directories"};
    case FindingKind::InUse:
      return {"in-use", "a broker runs on the directory"};
    case FindingKind::WrongType:
      return {"wrong-type", "a folder where a file belongs, or a file where a folder belongs"};
    case FindingKind::Unreadable:
      return {"unreadable", "the file cannot be read"};
  }
  return {"unknown", ""};
}

}  // namespace

std::string_view findingName(FindingKind kind) noexcept {
  return wordsOf(kind).name;
}

std::string_view explain(FindingKind kind) noexcept {
  return wordsOf(kind).sentence;
}

std::string_view severityName(Severity severity) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"note", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

std::string hexText(ByteView bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && i % 2 == 0) text += ' ';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace tidemark::inspect
