#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "config/broker_config.h"
#include "events/recorder.h"
#include "log/log_manager.h"
#include "metadata/image.h"
#include "network/authorizer.h"
#include "network/request.h"
#include "network/request_codec.h"
#include "platform/process.h"
#include "replication/replica_manager.h"

namespace tidemark::broker {

class AutoTopicCreation;
class Forwarding;
class GroupService;
class ProducerIds;
class ShareService;
class ShareStateService;
class Traffic;
class TransactionService;

/// What the handlers of a broker's requests share. Everything in it outlives them and may be used on any thread.
struct BrokerContext {
  NodeId self;
  std::string clusterId;
  platform::Process& process;
  events::Recorder& recorder;
  network::Authorizer& authorizer;
  replication::ReplicaManager& replicas;
  log::LogManager& logs;
  Forwarding& forwarding;
  AutoTopicCreation& autoTopics;
  ProducerIds& producerIds;
  GroupService& groups;
  ShareStateService& shareStates;
  ShareService& shares;
  TransactionService& transactions;
  /// fetch.max.bytes, which cannot change while a broker runs.
  int32_t fetchMaxBytes;
  Traffic& traffic;
  /// Runs a task where metadata is applied: between two changes of the replicas.
  std::function<void(platform::Task)> byMetadata;
  /// The static configuration with the dynamic values of the newest image on top.
  std::function<std::shared_ptr<const config::BrokerConfig>()> config;
  /// The active controller as this node believes; kNoNode.
  std::function<NodeId()> controller;

  metadata::ImagePtr image() const { return replicas.image(); }
  bool allows(const network::RequestContext& context, network::AclOperation operation, network::ResourceType resource,
              std::string_view name) const {
    return authorizer.allows(context, operation, resource, name);
  }
  bool allows(const network::Request& request, network::AclOperation operation, network::ResourceType resource,
              std::string_view name) const {
    return allows(request.context(), operation, resource, name);
  }
  /// Whether whoever asks may know of the topic.
  bool mayDescribe(const network::Request& request, std::string_view topic) const {
    return allows(request, network::AclOperation::Describe, network::ResourceType::Topic, topic);
  }
};

/// A leader epoch of the wire, where −1 stands for none.
inline std::optional<LeaderEpoch> epochOrNone(int32_t epoch) {
  return epoch < 0 ? std::nullopt : std::optional(LeaderEpoch(epoch));
}

/// False if the body does not decode; then the connection is closed, as Kafka does.
inline bool decodeOrClose(network::Request& request, protocol::InMessage message) {
  const Result<void> decoded = request.decodeInto(message);
  if (!decoded) request.close(decoded.error().message);
  return decoded.has_value();
}

/// Decodes the body and hands both on, unless it has to close the connection.
template <class Message, class Use>
void withDecoded(network::RequestPtr request, const Use& use) {
  Message message;
  if (decodeOrClose(*request, protocol::InMessage::of(message))) use(std::move(request), std::move(message));
}

// One function per API; a file per family. Each answers the request exactly once, now or later.
void handleProduce(BrokerContext& broker, network::RequestPtr request);      // produce_requests.cpp
void handleFetch(BrokerContext& broker, network::RequestPtr request);        // fetch_requests.cpp
void handleListOffsets(BrokerContext& broker, network::RequestPtr request);  // offset_requests.cpp
void handleOffsetForLeaderEpoch(BrokerContext& broker, network::RequestPtr request);
void handleDeleteRecords(BrokerContext& broker, network::RequestPtr request);
void handleMetadata(BrokerContext& broker, network::RequestPtr request);  // metadata_requests.cpp
void handleDescribeTopicPartitions(BrokerContext& broker, network::RequestPtr request);
void handleDescribeCluster(BrokerContext& broker, network::RequestPtr request);
void handleDescribeConfigs(BrokerContext& broker, network::RequestPtr request);  // config_requests.cpp
void handleListConfigResources(BrokerContext& broker, network::RequestPtr request);
/// The same for whoever has an image and a configuration: a controller answers for itself.
struct ConfigView {
  NodeId self;
  metadata::ImagePtr image;
  std::shared_ptr<const config::BrokerConfig> config;
  network::Authorizer& authorizer;
};
void describeConfigs(const ConfigView& view, network::RequestPtr request);
void handleAlterReplicaLogDirs(BrokerContext& broker, network::RequestPtr request);
void handleDescribeLogDirs(BrokerContext& broker, network::RequestPtr request);    // log_dir_requests.cpp
void handleDescribeProducers(BrokerContext& broker, network::RequestPtr request);  // producer_id_requests.cpp
void handleInitProducerId(BrokerContext& broker, network::RequestPtr request);
// transaction/: transaction_requests.cpp, txn_offset_commit_requests.cpp, marker_requests.cpp
void handleAddPartitionsToTxn(BrokerContext& broker, network::RequestPtr request);
void handleAddOffsetsToTxn(BrokerContext& broker, network::RequestPtr request);
void handleEndTxn(BrokerContext& broker, network::RequestPtr request);
void handleDescribeTransactions(BrokerContext& broker, network::RequestPtr request);
void handleListTransactions(BrokerContext& broker, network::RequestPtr request);
void handleTxnOffsetCommit(BrokerContext& broker, network::RequestPtr request);
void handleWriteTxnMarkers(BrokerContext& broker, network::RequestPtr request);
void handleFindCoordinator(BrokerContext& broker, network::RequestPtr request);  // group_requests.cpp
void handleJoinGroup(BrokerContext& broker, network::RequestPtr request);
void handleSyncGroup(BrokerContext& broker, network::RequestPtr request);
void handleHeartbeat(BrokerContext& broker, network::RequestPtr request);
void handleLeaveGroup(BrokerContext& broker, network::RequestPtr request);
void handleOffsetCommit(BrokerContext& broker, network::RequestPtr request);
void handleOffsetFetch(BrokerContext& broker, network::RequestPtr request);
void handleDescribeGroups(BrokerContext& broker, network::RequestPtr request);
void handleListGroups(BrokerContext& broker, network::RequestPtr request);
void handleDeleteGroups(BrokerContext& broker, network::RequestPtr request);
void handleOffsetDelete(BrokerContext& broker, network::RequestPtr request);
void handleShareFetch(BrokerContext& broker, network::RequestPtr request);  // share/share_fetch_requests.cpp
void handleShareAcknowledge(BrokerContext& broker, network::RequestPtr request);
void handleShareGroupHeartbeat(BrokerContext& broker, network::RequestPtr request);  // share/share_group_requests.cpp
void handleShareGroupDescribe(BrokerContext& broker, network::RequestPtr request);
void handleDescribeShareGroupOffsets(BrokerContext& broker, network::RequestPtr request);
void handleAlterShareGroupOffsets(BrokerContext& broker, network::RequestPtr request);
void handleDeleteShareGroupOffsets(BrokerContext& broker, network::RequestPtr request);
void handleInitializeShareGroupState(BrokerContext& broker,
                                     network::RequestPtr request);  // share/share_state_requests.cpp
void handleReadShareGroupState(BrokerContext& broker, network::RequestPtr request);
void handleWriteShareGroupState(BrokerContext& broker, network::RequestPtr request);
void handleDeleteShareGroupState(BrokerContext& broker, network::RequestPtr request);
void handleReadShareGroupStateSummary(BrokerContext& broker, network::RequestPtr request);
void handleConsumerGroupHeartbeat(BrokerContext& broker, network::RequestPtr request);  // consumer_group_requests.cpp
void handleConsumerGroupDescribe(BrokerContext& broker, network::RequestPtr request);
void handleStreamsGroupHeartbeat(BrokerContext& broker, network::RequestPtr request);  // streams_requests.cpp
void handleStreamsGroupDescribe(BrokerContext& broker, network::RequestPtr request);
void handleStreamsGroupTopologyDescriptionUpdate(BrokerContext& broker, network::RequestPtr request);
/// CreateTopics, DeleteTopics, CreatePartitions, AlterConfigs, IncrementalAlterConfigs, … : to the active controller,
/// in an Envelope (KIP-590).
void handleForwarded(BrokerContext& broker, network::RequestPtr request);  // forwarding.cpp

}  // namespace tidemark::broker
