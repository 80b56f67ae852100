#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "log/file_names.h"

namespace tidemark::inspect {

/// What a file of a log directory holds, by its name.
enum class FileType : uint8_t {
  Unknown,
  Log,
  OffsetIndex,
  TimeIndex,
  AbortedIndex,
  ProducerSnapshot,
  MetadataSnapshot,
  EpochCheckpoint,
  OffsetCheckpoint,
  MetaProperties,
  PartitionMetadata,
  QuorumState,
  CleanMarker,
  Lock,
};

struct FileKind {
  FileType type = FileType::Unknown;
  /// Of names that begin with one.
  Offset offset = kNoOffset;
  /// Of metadata snapshots.
  LeaderEpoch epoch;
  /// ".deleted", ".cleaned", ".swap", ".tmp", ".part", or nothing.
  std::string extra;
};

/// The last part of a path.
inline std::string_view nameIn(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}
/// Files other than logs and indexes are read whole, up to this size.
inline constexpr uint64_t kLargestWholeFile = 256u << 20;
/// How many bytes are read between two calls of `progress`.
inline constexpr uint64_t kProgressStep = 4u << 20;

/// `name` without its folder.
FileKind kindOf(std::string_view name);
/// "log", "index", "timeindex", "txnindex", "snapshot", …
std::string_view typeName(FileType type) noexcept;

}  // namespace tidemark::inspect
