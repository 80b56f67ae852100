#include "inspect/file_kind.h"

#include <charconv>
#include <optional>

#include "log/checkpoints.h"

namespace tidemark::inspect {

namespace {

/// OFFSET-EPOCH.checkpoint: 20 digits, 10 digits.
bool readMetadataSnapshot(std::string_view name, FileKind& kind) {
  constexpr size_t kOffsetDigits = 20;
  constexpr size_t kEpochDigits = 10;
  constexpr std::string_view kSuffix = ".checkpoint";
  if (name.size() != kOffsetDigits + 1 + kEpochDigits + kSuffix.size() || !name.ends_with(kSuffix) ||
      name[kOffsetDigits] != '-')
    return false;
  int64_t offset = 0;
  int32_t epoch = 0;
  const char* digits = name.data();
  const auto first = std::from_chars(digits, digits + kOffsetDigits, offset);
  const auto second = std::from_chars(digits + kOffsetDigits + 1, digits + kOffsetDigits + 1 + kEpochDigits, epoch);
  if (first.ec != std::errc() || first.ptr != digits + kOffsetDigits || second.ec != std::errc() ||
      second.ptr != digits + kOffsetDigits + 1 + kEpochDigits)
    return false;
  kind.type = FileType::MetadataSnapshot;
  kind.offset = Offset(offset);
  kind.epoch = LeaderEpoch(epoch);
  return true;
}

}  // namespace

FileKind kindOf(std::string_view name) {
  FileKind kind;
  constexpr std::string_view kExtras[] = {log::kDeletedSuffix, log::kCleanedSuffix, log::kSwapSuffix, ".tmp", ".part"};
  for (const std::string_view extra : kExtras) {
    if (!name.ends_with(extra)) continue;
    kind.extra = extra;
    name.remove_suffix(extra.size());
    break;
  }
  struct Suffix {
    std::string_view text;
    FileType type;
  };
  constexpr Suffix kSuffixes[] = {{log::kLogSuffix, FileType::Log},
                                  {log::kOffsetIndexSuffix, FileType::OffsetIndex},
                                  {log::kTimeIndexSuffix, FileType::TimeIndex},
                                  {log::kTxnIndexSuffix, FileType::AbortedIndex},
                                  {log::kSnapshotSuffix, FileType::ProducerSnapshot}};
  for (const Suffix& suffix : kSuffixes) {
    const auto offset = log::offsetOfFileName(name, suffix.text);
    if (!offset) continue;
    kind.type = suffix.type;
    kind.offset = *offset;
    return kind;
  }
  if (readMetadataSnapshot(name, kind)) return kind;
  struct Name {
    std::string_view text;
    FileType type;
  };
  constexpr Name kNames[] = {{log::kEpochFile, FileType::EpochCheckpoint},
                             {log::kRecoveryPointFile, FileType::OffsetCheckpoint},
                             {log::kLogStartFile, FileType::OffsetCheckpoint},
                             {log::kHighWatermarkFile, FileType::OffsetCheckpoint},
                             {log::kCleanerOffsetFile, FileType::OffsetCheckpoint},
                             {log::kMetaPropertiesFile, FileType::MetaProperties},
                             {log::kPartitionMetadataFile, FileType::PartitionMetadata},
                             {"quorum-state", FileType::QuorumState},
                             {log::kCleanShutdownFile, FileType::CleanMarker},
                             {log::kLockFile, FileType::Lock},
                             {"bootstrap.checkpoint", FileType::MetadataSnapshot}};
  for (const Name& known : kNames) {
    if (name != known.text) continue;
    kind.type = known.type;
    if (known.type == FileType::MetadataSnapshot) kind.offset = Offset(0);
    return kind;
  }
  return kind;
}

std::string_view typeName(FileType type) noexcept {
  switch (type) {
    case FileType::Log:
      return "log";
    case FileType::OffsetIndex:
      return "index";
    case FileType::TimeIndex:
      return "timeindex";
    case FileType::AbortedIndex:
      return "txnindex";
    case FileType::ProducerSnapshot:
      return "snapshot";
    case FileType::MetadataSnapshot:
      return "metadata-snapshot";
    case FileType::EpochCheckpoint:
      return "leader-epoch-checkpoint";
    case FileType::OffsetCheckpoint:
      return "offset-checkpoint";
    case FileType::MetaProperties:
      return "meta.properties";
    case FileType::PartitionMetadata:
      return "partition.metadata";
    case FileType::QuorumState:
      return "quorum-state";
    case FileType::CleanMarker:
      return "clean-shutdown";
    case FileType::Lock:
      return "lock";
    case FileType::Unknown:
      break;
  }
  return "unknown";
}

}  // namespace tidemark::inspect
