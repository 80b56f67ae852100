#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"

namespace tidemark::log {

// Names of files and folders as Kafka gives them: segment files are their base offset in 20 decimal digits and a
// suffix; a folder is TOPIC-PARTITION, with a suffix of its own while it is on its way out.

inline constexpr std::string_view kLogSuffix = ".log";
inline constexpr std::string_view kOffsetIndexSuffix = ".index";
inline constexpr std::string_view kTimeIndexSuffix = ".timeindex";
inline constexpr std::string_view kTxnIndexSuffix = ".txnindex";
inline constexpr std::string_view kSnapshotSuffix = ".snapshot";
/// Appended to a whole name: about to be removed, half written, or complete but not yet in its place.
inline constexpr std::string_view kDeletedSuffix = ".deleted";
inline constexpr std::string_view kCleanedSuffix = ".cleaned";
inline constexpr std::string_view kSwapSuffix = ".swap";
inline constexpr std::string_view kDeleteFolderSuffix = "-delete";
inline constexpr std::string_view kFutureFolderSuffix = "-future";
inline constexpr std::string_view kStrayFolderSuffix = "-stray";

/// `00000000000000000076.log`
std::string offsetFileName(Offset offset, std::string_view suffix);
/// `DIRECTORY/00000000000000000076.log`
std::string offsetFilePath(const std::string& directory, Offset offset, std::string_view suffix);
/// The offset that a name of exactly 20 digits and `suffix` begins with.
std::optional<Offset> offsetOfFileName(std::string_view name, std::string_view suffix);

std::string folderName(const TopicPartition& partition);
/// Nothing if the name is not TOPIC-PARTITION.
std::optional<TopicPartition> partitionOfFolder(std::string_view name);
/// Of TOPIC-PARTITION.HEX-future; nothing if the name is not one.
std::optional<TopicPartition> partitionOfFutureFolder(std::string_view name);
/// TOPIC-PARTITION.HEX-future, the folder of a copy that will take the replica's place. InvalidTopicException if that
/// is longer than a name may be.
Result<std::string> futureFolderName(const TopicPartition& partition, const Uuid& unique);
/// TOPIC-PARTITION.HEX followed by `suffix` (-delete, -stray), the front cut so that the whole has at most 255
/// characters.
std::string retiredFolderName(const TopicPartition& partition, const Uuid& unique, std::string_view suffix);

}  // namespace tidemark::log
