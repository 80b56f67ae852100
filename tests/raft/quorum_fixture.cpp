#include "quorum_fixture.h"

#include "log/handle_cache.h"
#include "network/request_codec.h"
#include "protocol/generated/all_messages.h"
#include "raft/channel_transport.h"
#include "raft/format.h"
#include "raft/partition_raft_log.h"
#include "raft/wire.h"

namespace tidemark::raft {
namespace {

constexpr uint16_t kPort = 9093;
constexpr std::string_view kClusterId = "AAAAAAAAQACAAAAAAAAAAQ";

}  // namespace

void Recording::onCommit(std::span<const CommittedBatch> batches) {
  for (const CommittedBatch& batch : batches) {
    EXPECT_EQ(batch.baseOffset, next) << "a gap or a repetition";
    next = batch.lastOffset + 1;
    Offset at = batch.baseOffset;
    for (const ByteView record : batch.records) {
      records[at] = std::string(asText(record));
      at = at + 1;
    }
  }
}

void Recording::onLoadSnapshot(SnapshotReader& reader) {
  snapshots.push_back(reader.id());
  fromSnapshot.clear();
  while (true) {
    const auto batch = reader.next();
    ASSERT_TRUE(batch) << batch.error().message;
    if (!*batch) break;
    for (const ByteView record : **batch) fromSnapshot.emplace_back(asText(record));
  }
  next = reader.id().offset;
}

void Recording::onLeaderChange(LeaderAndEpoch leader) {
  leaders.push_back(leader);
}

RaftConfig Quorum::labConfig() {
  RaftConfig config;
  config.electionTimeout = milliseconds(250);
  config.electionBackoffMax = milliseconds(250);
  config.fetchTimeout = milliseconds(1000);
  config.appendLinger = Duration(0);
  config.lowestVoterStartsAtOnce = true;
  return config;
}

Quorum::Quorum(Options options) : options_(std::move(options)), world_({.seed = options_.seed}) {
  std::vector<Voter> voters;
  for (int id = 1; id <= options_.voters + options_.observers; ++id) {
    std::array<uint8_t, 16> directory{};
    directory[15] = static_cast<uint8_t>(0x10 + id);
    nodes_[id].key = {NodeId(id), Uuid(directory)};
    if (id <= options_.voters) voters.push_back({nodes_[id].key, {{"CONTROLLER", name(id), kPort}}, 0, 1});
  }
  voters_ = VoterSet(std::move(voters));
  for (const Voter& voter : voters_.all())
    options_.config.bootstrapServers.push_back({voter.endpoints.front().host, voter.endpoints.front().port});
}

Quorum::~Quorum() {
  for (auto& [id, node] : nodes_) kill(id);
}

void Quorum::startAll() {
  for (auto& [id, node] : nodes_) start(id);
}

void Quorum::start(int id) {
  Node& node = nodes_.at(id);
  node.process = world_.createProcess({.name = name(id), .host = name(id)});
  auto& files = node.process->files();
  if (!files.exists("/data/__cluster_metadata-0")) {
    ASSERT_TRUE(files.createDirectories("/data"));
    FormatOptions format{.logDirectory = "/data", .voters = voters_, .nowMs = node.process->clock().wallMs()};
    const std::string_view record = "bootstrap";
    format.bootstrapRecords.emplace_back(record.begin(), record.end());
    const auto formatted = formatMetadataLog(files, format);
    ASSERT_TRUE(formatted) << formatted.error().message;
  }
  node.executor = node.process->createExecutor({.name = "raft", .threads = 1});
  log::LogContext context;
  context.files = &files;
  context.clock = &node.process->clock();
  context.logger = &node.process->log();
  context.handles = std::make_shared<log::HandleCache>(16);
  auto log = PartitionRaftLog::open({.context = context, .logDirectory = "/data"});
  ASSERT_TRUE(log) << log.error().message;
  RaftNode::Setup setup;
  setup.identity = {node.key.id, node.key.directoryId, std::string(kClusterId), "CONTROLLER", {}};
  if (id <= options_.voters) setup.identity.endpoints = {{"CONTROLLER", name(id), kPort}};
  setup.config = options_.config;
  setup.log = std::move(*log);
  setup.store = std::make_unique<FileQuorumStateStore>(files, "/data/__cluster_metadata-0", options_.voteSynced);
  setup.transport = std::make_unique<ChannelTransport>(*node.process, node.executor, "raft", "CONTROLLER");
  setup.process = node.process.get();
  setup.executor = node.executor;
  node.node = std::make_unique<RaftNode>(std::move(setup));
  const auto opened = node.node->open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(node.node->voters().size(), static_cast<size_t>(options_.voters));
  node.listener = std::make_shared<Recording>();
  node.node->registerListener(node.listener);
  if (id <= options_.voters) {
    network::ServerOptions server;
    server.listeners = {{.name = "CONTROLLER", .endpoint = {name(id), kPort}}};
    using protocol::ApiKey;
    server.apis = network::ApiTable{{ApiKey::Fetch, 4, 18},         {ApiKey::ApiVersions, 0, 4},
                                    {ApiKey::Vote, 0, 2},           {ApiKey::BeginQuorumEpoch, 0, 1},
                                    {ApiKey::EndQuorumEpoch, 0, 1}, {ApiKey::FetchSnapshot, 0, 1},
                                    {ApiKey::DescribeQuorum, 0, 2}};
    node.server = std::make_unique<network::Server>(*node.process, std::move(server), *this);
    const auto listening = node.server->start();
    ASSERT_TRUE(listening) << listening.error().message;
  }
  node.node->start();
}

void Quorum::kill(int id, bool losePower) {
  Node& node = nodes_.at(id);
  if (!node.process) return;
  if (losePower)
    node.process->losePower();
  else
    node.process->kill("the test kills it");
  node.process->awaitStopped();
  node.node.reset();
  node.server.reset();
  node.executor.reset();
  node.process.reset();
}

int Quorum::awaitLeader(Duration limit) {
  int found = 0;
  await(
      [&] {
        found = 0;
        for (auto& [id, node] : nodes_) {
          if (!node.node) continue;
          const LeaderAndEpoch leader = node.node->leaderAndEpoch();
          if (!leader.hasLeader() || node.listener->leaders.empty() || node.listener->leaders.back() != leader)
            return false;
          if (found != 0 && found != leader.leader.value()) return false;
          found = leader.leader.value();
        }
        const bool leads = found != 0 && nodes_.at(found).node &&
                           nodes_.at(found).node->isLeader(nodes_.at(found).node->leaderAndEpoch().epoch);
        if (!leads) found = 0;
        return leads;
      },
      limit);
  return found;
}

Result<Offset> Quorum::append(int leader, const std::string& value) {
  const LeaderEpoch epoch = node(leader).leaderAndEpoch().epoch;
  std::vector<ByteVector> records;
  records.emplace_back(value.begin(), value.end());
  return node(leader).append(epoch, std::move(records));
}

bool Quorum::awaitCommitted(Offset offset, const std::string& value, Duration limit) {
  return await(
      [&] {
        for (auto& [id, node] : nodes_) {
          if (!node.node) continue;
          const auto at = node.listener->records.find(offset);
          if (at == node.listener->records.end() || at->second != value) return false;
        }
        return true;
      },
      limit);
}

void Quorum::handle(network::RequestPtr request) {
  const std::string host = request->context().peer->connectionId;
  // Which node's server it is: the local address starts the connection's name.
  Node* target = nullptr;
  for (auto& [id, node] : nodes_)
    if (node.server && host.starts_with(name(id) + ":")) target = &node;
  ASSERT_NE(target, nullptr) << host;
  const auto ask = [&]<class Wire>(const Wire& /*type*/) {
    auto wire = request->decode<Wire>();
    ASSERT_TRUE(wire) << wire.error().message;
    auto asked = fromWire(*wire);
    ASSERT_TRUE(asked) << asked.error().message;
    target->node->handle(std::move(*asked), [held = std::move(request)](const auto& answer) mutable {
      held->respond(toWire(answer, "CONTROLLER", held->apiVersion()));
    });
  };
  switch (request->apiKey()) {
    case protocol::ApiKey::Vote:
      return ask(protocol::VoteRequest());
    case protocol::ApiKey::BeginQuorumEpoch:
      return ask(protocol::BeginQuorumEpochRequest());
    case protocol::ApiKey::EndQuorumEpoch:
      return ask(protocol::EndQuorumEpochRequest());
    case protocol::ApiKey::Fetch:
      return ask(protocol::FetchRequest());
    case protocol::ApiKey::FetchSnapshot:
      return ask(protocol::FetchSnapshotRequest());
    default:
      request->close();
  }
}

}  // namespace tidemark::raft
