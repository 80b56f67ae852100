#include "broker/controller_server.h"

#include <array>

#include <fmt/format.h>

#include "broker/listeners.h"
#include "broker/requests.h"
#include "metadata/controller/error_response.h"
#include "metadata/controller/feature_control.h"
#include "protocol/generated/allocate_producer_ids_request.h"
#include "protocol/generated/allocate_producer_ids_response.h"
#include "protocol/generated/alter_configs_request.h"
#include "protocol/generated/alter_configs_response.h"
#include "protocol/generated/alter_partition_reassignments_request.h"
#include "protocol/generated/alter_partition_reassignments_response.h"
#include "protocol/generated/alter_partition_request.h"
#include "protocol/generated/alter_partition_response.h"
#include "protocol/generated/assign_replicas_to_dirs_request.h"
#include "protocol/generated/assign_replicas_to_dirs_response.h"
#include "protocol/generated/begin_quorum_epoch_request.h"
#include "protocol/generated/begin_quorum_epoch_response.h"
#include "protocol/generated/broker_heartbeat_request.h"
#include "protocol/generated/broker_heartbeat_response.h"
#include "protocol/generated/broker_registration_request.h"
#include "protocol/generated/broker_registration_response.h"
#include "protocol/generated/controller_registration_request.h"
#include "protocol/generated/controller_registration_response.h"
#include "protocol/generated/create_partitions_request.h"
#include "protocol/generated/create_partitions_response.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/default_principal_data.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"
#include "protocol/generated/describe_cluster_request.h"
#include "protocol/generated/describe_cluster_response.h"
#include "protocol/generated/describe_quorum_request.h"
#include "protocol/generated/describe_quorum_response.h"
#include "protocol/generated/elect_leaders_request.h"
#include "protocol/generated/elect_leaders_response.h"
#include "protocol/generated/end_quorum_epoch_request.h"
#include "protocol/generated/end_quorum_epoch_response.h"
#include "protocol/generated/envelope_request.h"
#include "protocol/generated/envelope_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/fetch_snapshot_request.h"
#include "protocol/generated/fetch_snapshot_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"
#include "protocol/generated/list_partition_reassignments_request.h"
#include "protocol/generated/list_partition_reassignments_response.h"
#include "protocol/generated/unregister_broker_request.h"
#include "protocol/generated/unregister_broker_response.h"
#include "protocol/generated/unregister_controller_request.h"
#include "protocol/generated/unregister_controller_response.h"
#include "protocol/generated/update_features_request.h"
#include "protocol/generated/update_features_response.h"
#include "protocol/generated/vote_request.h"
#include "protocol/generated/vote_response.h"
#include "raft/wire.h"

namespace tidemark::broker {
namespace {

using protocol::ApiKey;

/// The one list of what a controller serves, each API from its first to its last stable version.
constexpr std::array kServedByController = {
    ApiKey::ApiVersions,
    ApiKey::Fetch,
    ApiKey::Vote,
    ApiKey::BeginQuorumEpoch,
    ApiKey::EndQuorumEpoch,
    ApiKey::FetchSnapshot,
    ApiKey::DescribeQuorum,
    ApiKey::Envelope,
    ApiKey::BrokerRegistration,
    ApiKey::BrokerHeartbeat,
    ApiKey::AlterPartition,
    ApiKey::AllocateProducerIds,
    ApiKey::CreateTopics,
    ApiKey::DeleteTopics,
    ApiKey::CreatePartitions,
    ApiKey::AlterConfigs,
    ApiKey::IncrementalAlterConfigs,
    ApiKey::ElectLeaders,
    ApiKey::UnregisterBroker,
    ApiKey::ControllerRegistration,
    ApiKey::UpdateFeatures,
    ApiKey::DescribeCluster,
    ApiKey::DescribeConfigs,
    ApiKey::AssignReplicasToDirs,
    ApiKey::UnregisterController,
    ApiKey::AlterPartitionReassignments,
    ApiKey::ListPartitionReassignments,
};

}  // namespace

/// Takes the answer to a request that came in an envelope, and puts it into the envelope's own (KIP-590).
class ControllerServer::EnvelopeSink final : public network::AnswerSink {
 public:
  explicit EnvelopeSink(network::RequestPtr envelope) : envelope_(std::move(envelope)) {}

  /// What the envelope says if the request in it is closed instead of answered.
  void closeMeans(ErrorCode error) { whenClosed_ = error; }

  void answer(network::Answer answer) override {
    protocol::EnvelopeResponse response;
    if (answer.kind == network::Answer::Kind::Response) {
      ByteVector bytes;
      for (const platform::Piece& piece : answer.pieces) {
        const auto* memory = std::get_if<SharedBytes>(&piece);
        TIDEMARK_INVARIANT(memory != nullptr, std::string("an answer of the controller lies in memory"));
        bytes.insert(bytes.end(), memory->view().begin(), memory->view().end());
      }
      bytes.erase(bytes.begin(), bytes.begin() + protocol::kFrameLengthSize);
      response.responseData = protocol::Blob(bytes);
    } else {
      response.errorCode = static_cast<int16_t>(whenClosed_);
    }
    envelope_->respond(response);
  }

  /// The whole answer: not the forwarded request's but the envelope's.
  static void refuse(network::Request& envelope, ErrorCode error) {
    protocol::EnvelopeResponse response;
    response.errorCode = static_cast<int16_t>(error);
    envelope.respond(response);
  }

 private:
  network::RequestPtr envelope_;
  ErrorCode whenClosed_ = ErrorCode::InvalidRequest;
};

namespace {

/// A frame of its own for bytes that came inside another.
class InnerFrame final : public network::Frame {
 public:
  explicit InnerFrame(ByteView bytes) : Frame({}), held_(bytes.begin(), bytes.end()) { bytes_ = held_; }

 private:
  ByteVector held_;
};

}  // namespace

network::ApiTable controllerApis() {
  std::vector<network::ApiRange> ranges;
  ranges.reserve(kServedByController.size());
  for (ApiKey key : kServedByController)
    ranges.push_back({key, protocol::apiInfo(key).versions.first, protocol::apiInfo(key).maxStable});
  return network::ApiTable(std::move(ranges));
}

ControllerServer::ControllerServer(Shared& shared)
    : shared_(shared), listener_(shared.config().controllerListenerNames().front()) {
  const config::BrokerConfig& config = shared.config();
  std::vector<NodeId> quorum;
  const raft::VoterSet voters = shared.raft->voters();
  for (const raft::Voter& voter : voters.all()) quorum.push_back(voter.key.id);
  driver_ = std::make_unique<metadata::ControllerDriver>(metadata::ControllerDriver::Setup{
      .settings = metadata::ControllerSettings::from(config, shared.clusterId, std::move(quorum)),
      .appender = this,
      .process = &shared.process,
      .executor = shared.process.createExecutor({.name = "controller", .threads = 1}),
      .recorder = &shared.recorder,
      .bootstrap = metadata::bootstrapRecords(),
      .verifyImages = shared.options.verifyImages});
  shared.loader->addPublisher(*driver_);
  network::ServerOptions server = serverOptions(config, ListenersOf::Controller);
  server.namePrefix = "controller-";
  server.recorder = &shared_.recorder;
  server.apis = controllerApis();
  server.features = [this] { return featureInfo(*shared_.loader->image(), shared_.clusterId, shared_.self()); };
  // A controller's few peers need no pool as wide as a broker's clients do.
  server.numProcessors = 1;
  server.numHandlers = 1;
  if (shared.options.betweenRequests)
    between_ = shared.options.betweenRequests(*this, shared.process, [this](const Uuid& id) {
      const metadata::TopicImage* topic = shared_.loader->image()->topics.find(id);
      return topic == nullptr ? std::string() : topic->name;
    });
  network::RequestHandler& handler = between_ ? *between_ : static_cast<network::RequestHandler&>(*this);
  server_ = std::make_unique<network::Server>(shared.process, std::move(server), handler);
}

ControllerServer::~ControllerServer() = default;

Result<void> ControllerServer::listen() {
  return server_->listen();
}

void ControllerServer::start() {
  server_->open();
}

void ControllerServer::shutdown(platform::Task done) {
  server_->shutdown(std::move(done));
}

Result<Offset> ControllerServer::append(LeaderEpoch epoch, std::vector<ByteVector> records) {
  return shared_.raft->append(epoch, std::move(records));
}

Result<Offset> ControllerServer::nextAppendOffset(LeaderEpoch epoch) const {
  return shared_.raft->nextAppendOffset(epoch);
}

void ControllerServer::resign(LeaderEpoch epoch) {
  shared_.raft->resign(epoch);
}

// --- requests -------------------------------------------------------------------------------------------------------

bool ControllerServer::isQuick(ApiKey key) const {
  return key != ApiKey::DescribeConfigs;
}

void ControllerServer::handle(network::RequestPtr request) {
  if (request->apiKey() == ApiKey::Envelope) {
    unwrap(std::move(request));
  } else {
    dispatch(std::move(request), nullptr);
  }
}

void ControllerServer::unwrap(network::RequestPtr request) {
  withDecoded<protocol::EnvelopeRequest>(
      std::move(request), [this](network::RequestPtr envelope, const protocol::EnvelopeRequest& message) {
        if (!shared_.authorizer.allows(envelope->context(), network::AclOperation::ClusterAction,
                                       network::ResourceType::Cluster, network::kClusterResource))
          return EnvelopeSink::refuse(*envelope, ErrorCode::ClusterAuthorizationFailed);
        const auto frame = std::make_shared<InnerFrame>(message.requestData.view());
        protocol::Reader reader(frame->bytes());
        const auto header = protocol::decodeRequestHeader(reader);
        // As Kafka tells them apart: what cannot be read here at all, and what may not come in an envelope.
        if (!header) return EnvelopeSink::refuse(*envelope, ErrorCode::UnsupportedVersion);
        const protocol::ApiInfo* info = protocol::findApi(header->requestApiKey);
        if (info != nullptr && !info->forwardable) return EnvelopeSink::refuse(*envelope, ErrorCode::InvalidRequest);
        if (info == nullptr ||
            !controllerApis().serves(static_cast<ApiKey>(header->requestApiKey), header->requestApiVersion))
          return EnvelopeSink::refuse(*envelope, ErrorCode::UnsupportedVersion);
        std::string principal = "User:ANONYMOUS";
        if (message.requestPrincipal) {
          const auto decoded =
              protocol::decodeVersionedAs<protocol::DefaultPrincipalData>(message.requestPrincipal->view());
          if (!decoded) return EnvelopeSink::refuse(*envelope, ErrorCode::PrincipalDeserializationFailure);
          principal = decoded->type.str() + ":" + decoded->name.str();
        }
        // In the name of the client that the broker forwards for.
        network::RequestContext context = envelope->context();
        context.apiKey = static_cast<ApiKey>(header->requestApiKey);
        context.apiVersion = header->requestApiVersion;
        context.correlationId = header->correlationId;
        context.principal = std::make_shared<const std::string>(std::move(principal));
        auto client = std::make_shared<network::ClientInfo>();
        client->clientId = header->clientId ? header->clientId->str() : std::string();
        context.client = std::move(client);
        const size_t bodyOffset = reader.position();
        const auto sink = std::make_shared<EnvelopeSink>(std::move(envelope));
        dispatch(std::make_unique<network::Request>(sink, std::move(context), frame, bodyOffset), sink);
      });
}

template <class Request>
void ControllerServer::askQuorum(network::RequestPtr request) {
  withDecoded<Request>(std::move(request), [this](network::RequestPtr held, const Request& message) {
    auto asked = raft::fromWire(message);
    if (!asked) {
      typename Request::Response refused;
      refused.errorCode = static_cast<int16_t>(asked.error().code);
      held->respond(refused);
      return;
    }
    shared_.raft->handle(*std::move(asked), [held = std::move(held), listener = listener_](const auto& answer) mutable {
      held->respond(raft::toWire(answer, listener, held->apiVersion()));
    });
  });
}

template <class Message>
void ControllerServer::askController(network::RequestPtr request, std::shared_ptr<EnvelopeSink> envelope) {
  withDecoded<Message>(std::move(request), [this, &envelope](network::RequestPtr held, const Message& message) {
    const int16_t version = held->apiVersion();
    driver_->submit(
        message, version,
        [held = std::move(held), envelope = std::move(envelope)](Result<typename Message::Response> response) mutable {
          if (response) return held->respond(*response);
          if (response.error().code == ErrorCode::NotController && envelope) {
            // The broker that forwarded it looks for the next controller.
            envelope->closeMeans(ErrorCode::NotController);
            return held->close("this controller leads no more");
          }
          // An error is said of each topic that the message names; the frame is still here.
          const auto asked = held->template decode<Message>();
          TIDEMARK_INVARIANT(asked.has_value(), std::string("a request that was decoded once is decoded again"));
          held->respond(metadata::errorResponse(*asked, response.error(), held->apiVersion()));
        });
  });
}

void ControllerServer::describeQuorum(network::RequestPtr request) {
  withDecoded<protocol::DescribeQuorumRequest>(
      std::move(request), [this](network::RequestPtr held, const protocol::DescribeQuorumRequest& message) {
        held->respond(raft::describeQuorum(message, shared_.raft->describe(), held->apiVersion()));
      });
}

void ControllerServer::describeCluster(network::RequestPtr request) {
  withDecoded<protocol::DescribeClusterRequest>(
      std::move(request), [this](network::RequestPtr held, const protocol::DescribeClusterRequest& message) {
        constexpr int8_t kControllers = 2;
        protocol::DescribeClusterResponse response;
        if (message.endpointType != kControllers) {
          response.errorCode = static_cast<int16_t>(message.endpointType == 1 ? ErrorCode::MismatchedEndpointType
                                                                              : ErrorCode::UnsupportedEndpointType);
          response.errorMessage = protocol::Text("this is a controller's listener");
          held->respond(response);
          return;
        }
        response.endpointType = kControllers;
        response.clusterId = protocol::Text(shared_.clusterId);
        response.controllerId = shared_.raft->leaderAndEpoch().leader.value();
        const raft::VoterSet voters = shared_.raft->voters();
        for (const raft::Voter& voter : voters.all())
          for (const raft::VoterEndpoint& endpoint : voter.endpoints)
            if (endpoint.listener == listener_)
              response.brokers.push_back(
                  {.brokerId = voter.key.id.value(), .host = protocol::Text(endpoint.host), .port = endpoint.port});
        held->respond(response);
      });
}

void ControllerServer::describeOwnConfigs(network::RequestPtr request) {
  const metadata::ImagePtr image = shared_.loader->image();
  auto config = std::make_shared<const config::BrokerConfig>(
      shared_.config().withDynamic(image->configs.broker(shared_.self()), image->configs.clusterDefault()));
  describeConfigs(
      {.self = shared_.self(), .image = image, .config = std::move(config), .authorizer = shared_.authorizer},
      std::move(request));
}

void ControllerServer::dispatch(network::RequestPtr request, std::shared_ptr<EnvelopeSink> envelope) {
  switch (request->apiKey()) {
    case ApiKey::Vote:
      return askQuorum<protocol::VoteRequest>(std::move(request));
    case ApiKey::BeginQuorumEpoch:
      return askQuorum<protocol::BeginQuorumEpochRequest>(std::move(request));
    case ApiKey::EndQuorumEpoch:
      return askQuorum<protocol::EndQuorumEpochRequest>(std::move(request));
    case ApiKey::Fetch:
      return askQuorum<protocol::FetchRequest>(std::move(request));
    case ApiKey::FetchSnapshot:
      return askQuorum<protocol::FetchSnapshotRequest>(std::move(request));
    case ApiKey::DescribeQuorum:
      return describeQuorum(std::move(request));
    case ApiKey::DescribeCluster:
      return describeCluster(std::move(request));
    case ApiKey::BrokerRegistration:
      return askController<protocol::BrokerRegistrationRequest>(std::move(request), std::move(envelope));
    case ApiKey::BrokerHeartbeat:
      return askController<protocol::BrokerHeartbeatRequest>(std::move(request), std::move(envelope));
    case ApiKey::AlterPartition:
      return askController<protocol::AlterPartitionRequest>(std::move(request), std::move(envelope));
    case ApiKey::AllocateProducerIds:
      return askController<protocol::AllocateProducerIdsRequest>(std::move(request), std::move(envelope));
    case ApiKey::CreateTopics:
      return askController<protocol::CreateTopicsRequest>(std::move(request), std::move(envelope));
    case ApiKey::DeleteTopics:
      return askController<protocol::DeleteTopicsRequest>(std::move(request), std::move(envelope));
    case ApiKey::CreatePartitions:
      return askController<protocol::CreatePartitionsRequest>(std::move(request), std::move(envelope));
    case ApiKey::AlterConfigs:
      return askController<protocol::AlterConfigsRequest>(std::move(request), std::move(envelope));
    case ApiKey::IncrementalAlterConfigs:
      return askController<protocol::IncrementalAlterConfigsRequest>(std::move(request), std::move(envelope));
    case ApiKey::ElectLeaders:
      return askController<protocol::ElectLeadersRequest>(std::move(request), std::move(envelope));
    case ApiKey::UnregisterBroker:
      return askController<protocol::UnregisterBrokerRequest>(std::move(request), std::move(envelope));
    case ApiKey::ControllerRegistration:
      return askController<protocol::ControllerRegistrationRequest>(std::move(request), std::move(envelope));
    case ApiKey::UpdateFeatures:
      return askController<protocol::UpdateFeaturesRequest>(std::move(request), std::move(envelope));
    case ApiKey::AssignReplicasToDirs:
      return askController<protocol::AssignReplicasToDirsRequest>(std::move(request), std::move(envelope));
    case ApiKey::AlterPartitionReassignments:
      return askController<protocol::AlterPartitionReassignmentsRequest>(std::move(request), std::move(envelope));
    case ApiKey::ListPartitionReassignments:
      return askController<protocol::ListPartitionReassignmentsRequest>(std::move(request), std::move(envelope));
    case ApiKey::UnregisterController:
      return askController<protocol::UnregisterControllerRequest>(std::move(request), std::move(envelope));
    case ApiKey::DescribeConfigs:
      return describeOwnConfigs(std::move(request));
    default:
      TIDEMARK_INVARIANT(false,
                         fmt::format("API {} is let through but not served", static_cast<int>(request->apiKey())));
  }
}

}  // namespace tidemark::broker
