#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/ids.h"
#include "config/broker_config.h"
#include "events/recorder.h"
#include "log/log_manager.h"
#include "metadata/features.h"
#include "metadata/loader.h"
#include "metadata/snapshot_generator.h"
#include "network/authorizer.h"
#include "network/request.h"
#include "platform/process.h"
#include "raft/raft_node.h"
#include "replication/isr.h"

namespace tidemark::broker {

struct NodeOptions {
  config::BrokerConfig config;
  /// The lab's rule for a quorum without history (raft/config.h).
  bool lowestVoterStartsAtOnce = false;
  /// Puts somebody between the listeners of a role and its handlers, who knows topics by their ids; empty: nobody. What
  /// it makes lives as long as the node.
  std::function<std::unique_ptr<network::RequestHandler>(network::RequestHandler& below, platform::Process& process,
                                                         std::function<std::string(const Uuid&)> topicName)>
      betweenRequests = {};
  /// For tests: the active controller compares its image with the log's replayed whenever all is committed (K10).
  bool verifyImages = false;
};

/// An executor that runs one task at a time.
inline std::shared_ptr<platform::Executor> serial(platform::Process& process, const char* name) {
  return process.createExecutor({.name = name, .threads = 1});
}

/// What the broker and the controller of one node have in common: log directories, the quorum's log, the images made of
/// it; Kafka's SharedServer.
class Shared {
 public:
  Shared(platform::Process& process, events::Recorder& recorder, NodeOptions options);
  ~Shared();

  /// Locks and reads the directories, opens the quorum's log. An error, in words, if a directory is in use or
  /// verifyDirectories() refuses it.
  Result<void> open();

  platform::Process& process;
  events::Recorder& recorder;
  const NodeOptions options;
  const config::BrokerConfig& config() const noexcept { return options.config; }
  NodeId self() const noexcept { return options.config.nodeId(); }

  std::string clusterId;
  /// Slow file calls; serial.
  const std::shared_ptr<platform::Executor> background;
  const std::shared_ptr<platform::Executor> raftExecutor;
  std::shared_ptr<log::LogManager> logs;
  /// Of the broker's role: a directory went offline and the node goes on without it. Set before logs are loaded; any
  /// thread.
  std::function<void(const Uuid& directory)> onDirectoryFailed;
  /// Of the broker's role: ends the node for that reason, once the requests that it is handling are answered. Null: it
  /// ends at once. Set before logs are loaded; any thread.
  std::function<void(const std::string& reason)> endAfterAnswers;
  std::unique_ptr<raft::RaftNode> raft;
  /// The log behind it, for looks inside.
  std::shared_ptr<const log::PartitionLog> metadataLog;
  std::shared_ptr<metadata::Loader> loader;
  std::unique_ptr<metadata::SnapshotGenerator> snapshots;
  network::AllowAll authorizer;

  /// Where the active controller listens, as the quorum knows.
  std::optional<std::pair<NodeId, platform::Endpoint>> controller() const { return raft->leaderEndpoint(); }

 private:
  /// Sets clusterId; the id of the metadata log's directory.
  Result<Uuid> verifyOwnDirectories();
};

/// The quorum's settings out of a node's configuration.
raft::RaftConfig raftConfig(const NodeOptions& options);

/// Makes a node's directories ready for its first start, as Kafka 4.4's storage tool does: meta.properties in each, the
/// bootstrap records in `__cluster_metadata-0/00000000000000000000-0000000000.checkpoint`.
struct FormatNode {
  config::BrokerConfig config;
  std::string clusterId;
  raft::VoterSet voters;
  /// Of the metadata log directory, as named in `voters`; the others draw their own.
  Uuid directoryId;
  /// Instead of the newest ones (metadata::checkFormatLevels()).
  metadata::FeatureLevels features = {};
};
Result<void> formatNode(platform::Process& process, const FormatNode& format);

}  // namespace tidemark::broker
