#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"
#include "platform/file_system.h"

namespace tidemark::log {

// The text files of a log directory and of a partition's folder. Readers take the text, writers give it: where it lies
// and how it is replaced is the caller's (FileSystem::replaceFile: temporary file, sync, rename, sync of the folder).

inline constexpr std::string_view kMetaPropertiesFile = "meta.properties";
inline constexpr std::string_view kCleanShutdownFile = ".kafka_cleanshutdown";
inline constexpr std::string_view kLockFile = ".lock";
inline constexpr std::string_view kRecoveryPointFile = "recovery-point-offset-checkpoint";
inline constexpr std::string_view kLogStartFile = "log-start-offset-checkpoint";
inline constexpr std::string_view kHighWatermarkFile = "replication-offset-checkpoint";
inline constexpr std::string_view kCleanerOffsetFile = "cleaner-offset-checkpoint";
inline constexpr std::string_view kEpochFile = "leader-epoch-checkpoint";
inline constexpr std::string_view kPartitionMetadataFile = "partition.metadata";

using OffsetCheckpoint = std::map<TopicPartition, Offset>;

/// `0`, count, then `TOPIC PARTITION OFFSET` a line.
std::string encodeOffsetCheckpoint(const OffsetCheckpoint& offsets);
/// CorruptMessage if anything in it is wrong; a caller then goes on as without the file.
Result<OffsetCheckpoint> decodeOffsetCheckpoint(std::string_view text);

/// `meta.properties`: whose directory this is.
struct MetaProperties {
  /// Empty in a directory of version 0 that never saw its cluster.
  std::string clusterId;
  NodeId nodeId;
  /// Zero: none yet.
  Uuid directoryId;
};
std::string encodeMetaProperties(const MetaProperties& properties);
/// Versions 0 (`broker.id`) and 1. Java properties: comments, escapes, any order.
Result<MetaProperties> decodeMetaProperties(std::string_view text);

/// `partition.metadata`: the topic's id.
std::string encodePartitionMetadata(const Uuid& topicId);
Result<Uuid> decodePartitionMetadata(std::string_view text);

/// `.kafka_cleanshutdown`: the broker's epoch at its clean stop, −1 if it had none.
std::string encodeCleanShutdown(BrokerEpoch epoch);
Result<BrokerEpoch> decodeCleanShutdown(std::string_view text);

/// Writes `meta.properties` into a directory. Used when it is formatted.
Result<void> writeMetaProperties(platform::FileSystem& files, const std::string& directory,
                                 const MetaProperties& properties);
/// Nothing if the directory has none: it is not formatted.
Result<std::optional<MetaProperties>> readMetaProperties(platform::FileSystem& files, const std::string& directory);

/// A small text file, or nothing if it is missing.
Result<std::optional<std::string>> readTextFile(platform::FileSystem& files, const std::string& path);
/// One that is there.
Result<std::string> readText(platform::FileSystem& files, const std::string& path);

}  // namespace tidemark::log
