#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"
#include "log/checkpoints.h"

namespace tidemark::broker {

/// A log directory, or the one of the metadata log, as it was found at the start.
struct FoundDirectory {
  std::string path;
  /// It cannot be used; the node goes on without it if it can.
  bool failed = false;
  /// Nothing: it is not formatted.
  std::optional<log::MetaProperties> meta;
  /// The metadata log's folder is in it.
  bool holdsMetadataLog = false;
};

/// Whose directories they are.
struct NodeDirectories {
  std::string clusterId;
  /// Of the directory of the metadata log; zero: it has none yet.
  Uuid metadataDirectory;
  /// A directory of Kafka before 3.7 has no id yet: one is written into it.
  bool someWithoutId = false;
};

/// Whether a node may start on its directories, by the rules of Kafka 4.4 (MetaPropertiesEnsemble, KafkaRaftServer):
/// one that belongs to another cluster or node, has the id of another or a reserved one, is not formatted, or holds a
/// metadata log that the configuration has elsewhere is refused, and the node with it; nothing is changed. One that
/// failed is left out, unless the metadata log is in it or there is no other. InconsistentClusterId, InvalidConfig or
/// KafkaStorageError, with path, what was expected, what is there and what to do.
Result<NodeDirectories> verifyDirectories(std::span<const FoundDirectory> directories, NodeId self,
                                          const std::string& metadataLogDir);

}  // namespace tidemark::broker
