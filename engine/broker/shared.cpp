#include "broker/shared.h"

#include <algorithm>

#include <fmt/format.h>

#include "broker/node_directories.h"
#include "log/checkpoints.h"
#include "log/directories.h"
#include "metadata/controller/feature_control.h"
#include "raft/channel_transport.h"
#include "raft/format.h"
#include "raft/partition_raft_log.h"
#include "replication/topic_settings.h"

namespace tidemark::broker {
namespace {

/// The quorum's topic in a folder.
std::string metadataFolder(const std::string& directory) {
  return fmt::format("{}/{}-0", directory, raft::kMetadataTopic);
}

log::LogManagerOptions logOptions(const config::BrokerConfig& config) {
  const config::ConfigMap none;
  return {.directories = config.logDirs(),
          .defaults = replication::toLogConfig(config::TopicConfig::resolve(none, config.layers()),
                                               config.getInt("producer.id.expiration.ms")),
          .highWatermarkInterval = config.getMs("replica.high.watermark.checkpoint.interval.ms"),
          .recoveryPointInterval = config.getMs("log.flush.offset.checkpoint.interval.ms"),
          .retentionInterval = config.getMs("log.retention.check.interval.ms"),
          .cleaner = replication::toCleanerConfig(config)};
}

}  // namespace

raft::RaftConfig raftConfig(const NodeOptions& options) {
  const config::BrokerConfig& config = options.config;
  raft::RaftConfig raft;
  raft.electionTimeout = config.getMs("controller.quorum.election.timeout.ms");
  raft.electionBackoffMax = config.getMs("controller.quorum.election.backoff.max.ms");
  raft.fetchTimeout = config.getMs("controller.quorum.fetch.timeout.ms");
  raft.requestTimeout = config.getMs("controller.quorum.request.timeout.ms");
  raft.retryBackoff = config.getMs("controller.quorum.retry.backoff.ms");
  raft.appendLinger = config.getMs("controller.quorum.append.linger.ms");
  raft.fetchMaxBytes = config.getInt("controller.quorum.fetch.max.bytes");
  raft.fetchSnapshotMaxBytes = config.getInt("controller.quorum.fetch.snapshot.max.bytes");
  raft.retentionBytes = config.getLong("metadata.max.retention.bytes");
  raft.retention = config.getMs("metadata.max.retention.ms");
  raft.lowestVoterStartsAtOnce = options.lowestVoterStartsAtOnce;
  for (const config::QuorumAddress& server : config.quorumBootstrapServers())
    raft.bootstrapServers.push_back({server.host, server.port});
  for (const config::QuorumAddress& voter : config.quorumVoters())
    raft.bootstrapServers.push_back({voter.host, voter.port});
  return raft;
}

Shared::Shared(platform::Process& processUsed, events::Recorder& recorderUsed, NodeOptions optionsUsed)
    : process(processUsed),
      recorder(recorderUsed),
      options(std::move(optionsUsed)),
      background(serial(processUsed, "background")),
      raftExecutor(serial(processUsed, "raft")) {}

Shared::~Shared() = default;

Result<void> Shared::open() {
  TIDEMARK_ASSIGN(logs, log::LogManager::open(process, background, &recorder, logOptions(config())));
  logs->onDirectoryFailure([this, weak = std::weak_ptr(logs), metadata = config().metadataLogDir()](
                               const Uuid& id, const std::string& path, const Error& error) {
    const auto manager = weak.lock();
    if (!manager) return;
    if (path != metadata && !std::ranges::all_of(manager->directories(), &log::LogDirectoryInfo::offline)) {
      if (onDirectoryFailed) onDirectoryFailed(id);
      return;
    }
    // What failed is a partition's log: the quorum looks after its own log and vote, and ends the process at once.
    const std::string reason = fmt::format("it cannot go on without the log directory {}: {}", path, error.message);
    if (endAfterAnswers) {
      endAfterAnswers(reason);
    } else {
      process.kill(reason);
    }
  });
  TIDEMARK_ASSIGN(const Uuid metadataDirectory, verifyOwnDirectories());
  TIDEMARK_ASSIGN(auto raftLog,
                  raft::PartitionRaftLog::open({.context = logs->context(),
                                                .logDirectory = config().metadataLogDir(),
                                                .segmentBytes = config().getInt("metadata.log.segment.bytes"),
                                                .segmentMs = config().getLong("metadata.log.segment.ms"),
                                                // Who leads without a log would keep the others from leading.
                                                .onFailure = [this](const Error& error) {
                                                  process.kill(fmt::format("the metadata log cannot be written: {}",
                                                                           error.message));
                                                }}));
  metadataLog = raftLog->log();
  const std::string listener = config().controllerListenerNames().front();
  raft::NodeIdentity identity{.id = self(),
                              .directoryId = metadataDirectory,
                              .clusterId = clusterId,
                              .controllerListener = listener,
                              .endpoints = {}};
  for (const config::Listener& own : config().controllerListeners())
    identity.endpoints.push_back({.listener = own.name, .host = own.host, .port = own.port});
  std::vector<raft::Voter> voters;
  for (const config::QuorumAddress& voter : config().quorumVoters())
    voters.push_back(
        {.key = {voter.id, Uuid()}, .endpoints = {{.listener = listener, .host = voter.host, .port = voter.port}}});
  raft = std::make_unique<raft::RaftNode>(raft::RaftNode::Setup{
      .identity = std::move(identity),
      .config = raftConfig(options),
      .log = std::move(raftLog),
      .store = std::make_unique<raft::FileQuorumStateStore>(process.files(), metadataFolder(config().metadataLogDir())),
      .transport = std::make_unique<raft::ChannelTransport>(process, raftExecutor,
                                                            fmt::format("raft-client-{}", self()), listener),
      .process = &process,
      .executor = raftExecutor,
      .recorder = &recorder,
      .staticVoters = raft::VoterSet(std::move(voters))});
  TIDEMARK_TRY(raft->open());
  loader = std::make_shared<metadata::Loader>(
      [this](const std::string& reason) { process.kill(fmt::format("the metadata log cannot be read: {}", reason)); });
  snapshots = std::make_unique<metadata::SnapshotGenerator>(metadata::SnapshotGenerator::Setup{
      .maxBytes = static_cast<uint64_t>(config().getLong("metadata.log.max.record.bytes.between.snapshots")),
      .maxInterval = config().getMs("metadata.log.max.snapshot.interval.ms"),
      .process = &process,
      .executor = background,
      .create = [this](OffsetAndEpoch id, int64_t timestampMs) { return raft->createSnapshot(id, timestampMs); }});
  loader->addPublisher(*snapshots);
  return {};
}

Result<Uuid> Shared::verifyOwnDirectories() {
  const std::string& metadataLogDir = config().metadataLogDir();
  std::vector<FoundDirectory> found;
  const std::vector<log::LogDirectoryInfo> directories = logs->directories();
  const std::vector<std::optional<log::MetaProperties>> properties = logs->metaProperties();
  for (size_t i = 0; i < properties.size(); ++i) {
    const std::string& path = config().logDirs()[i];
    found.push_back({.path = path,
                     .failed = directories[i].offline,
                     .meta = properties[i],
                     .holdsMetadataLog = process.files().exists(metadataFolder(path))});
  }
  if (std::ranges::find(found, metadataLogDir, &FoundDirectory::path) == found.end()) {
    auto meta = log::readMetaProperties(process.files(), metadataLogDir);
    if (!meta) process.log().error("broker", "{} cannot be used: {}", metadataLogDir, meta.error().message);
    found.push_back(
        {.path = metadataLogDir, .failed = !meta, .meta = meta.value_or(std::nullopt), .holdsMetadataLog = true});
  }
  TIDEMARK_ASSIGN(const NodeDirectories own, verifyDirectories(found, self(), metadataLogDir));
  clusterId = own.clusterId;
  if (!own.someWithoutId) return own.metadataDirectory;
  TIDEMARK_TRY(logs->format(clusterId, self()));
  for (size_t i = 0; i < directories.size(); ++i)
    if (config().logDirs()[i] == metadataLogDir) return logs->directories()[i].id;
  return own.metadataDirectory;
}

Result<void> formatNode(platform::Process& process, const FormatNode& format) {
  platform::FileSystem& files = process.files();
  raft::FormatOptions quorum{.logDirectory = format.config.metadataLogDir(),
                             .kraftVersion = static_cast<int16_t>(format.voters.empty() ? 0 : 1),
                             .voters = format.voters,
                             .bootstrapRecords = {},
                             .nowMs = process.clock().wallMs()};
  TIDEMARK_TRY(metadata::checkFormatLevels(format.features));
  TIDEMARK_ASSIGN(quorum.bootstrapRecords, metadata::encodeRecords(metadata::bootstrapRecords(format.features)));
  for (const std::string& directory : format.config.logDirs()) TIDEMARK_TRY(log::makeDirectories(files, directory));
  for (const std::string& directory : format.config.logDirs()) {
    TIDEMARK_ASSIGN(const auto known, log::readMetaProperties(files, directory));
    if (known && (known->clusterId != format.clusterId || known->nodeId != format.config.nodeId()))
      return fail(
          ErrorCode::InvalidConfig,
          fmt::format("{} belongs to node {} of cluster {} already: it is not formatted for node {} of cluster {}",
                      directory, known->nodeId, known->clusterId, format.config.nodeId(), format.clusterId));
  }
  TIDEMARK_TRY(raft::formatMetadataLog(files, quorum));
  // Written last: a directory with meta.properties is a formatted one.
  // Of them last that of the metadata log: by it one tells whether a node is formatted.
  std::vector<std::string> directories = format.config.logDirs();
  std::ranges::stable_partition(directories,
                                [&](const std::string& path) { return path != format.config.metadataLogDir(); });
  for (const std::string& directory : directories) {
    TIDEMARK_ASSIGN(const auto known, log::readMetaProperties(files, directory));
    // A format that was interrupted has done this one.
    if (known) continue;
    const bool metadata = directory == format.config.metadataLogDir();
    TIDEMARK_TRY(log::writeMetaProperties(files, directory,
                                          {.clusterId = format.clusterId,
                                           .nodeId = format.config.nodeId(),
                                           .directoryId = metadata ? format.directoryId : process.random().uuid()}));
  }
  return {};
}

}  // namespace tidemark::broker
