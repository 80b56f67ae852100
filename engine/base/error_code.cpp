#include "base/error_code.h"

namespace tidemark {
namespace {

struct Entry {
  std::string_view name;
  bool retriable;
};

Entry entry(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::UnknownServerError:
      return {"UNKNOWN_SERVER_ERROR", false};
    case ErrorCode::None:
      return {"NONE", false};
    case ErrorCode::OffsetOutOfRange:
      return {"OFFSET_OUT_OF_RANGE", false};
    case ErrorCode::CorruptMessage:
      return {"CORRUPT_MESSAGE", true};
    case ErrorCode::UnknownTopicOrPartition:
      return {"UNKNOWN_TOPIC_OR_PARTITION", true};
    case ErrorCode::InvalidFetchSize:
      return {"INVALID_FETCH_SIZE", false};
    case ErrorCode::LeaderNotAvailable:
      return {"LEADER_NOT_AVAILABLE", true};
    case ErrorCode::NotLeaderOrFollower:
      return {"NOT_LEADER_OR_FOLLOWER", true};
    case ErrorCode::RequestTimedOut:
      return {"REQUEST_TIMED_OUT", true};
    case ErrorCode::BrokerNotAvailable:
      return {"BROKER_NOT_AVAILABLE", false};
    case ErrorCode::ReplicaNotAvailable:
      return {"REPLICA_NOT_AVAILABLE", true};
    case ErrorCode::MessageTooLarge:
      return {"MESSAGE_TOO_LARGE", false};
    case ErrorCode::StaleControllerEpoch:
      return {"STALE_CONTROLLER_EPOCH", false};
    case ErrorCode::OffsetMetadataTooLarge:
      return {"OFFSET_METADATA_TOO_LARGE", false};
    case ErrorCode::NetworkException:
      return {"NETWORK_EXCEPTION", true};
    case ErrorCode::CoordinatorLoadInProgress:
      return {"COORDINATOR_LOAD_IN_PROGRESS", true};
    case ErrorCode::CoordinatorNotAvailable:
      return {"COORDINATOR_NOT_AVAILABLE", true};
    case ErrorCode::NotCoordinator:
      return {"NOT_COORDINATOR", true};
    case ErrorCode::InvalidTopicException:
      return {"INVALID_TOPIC_EXCEPTION", false};
    case ErrorCode::RecordListTooLarge:
      return {"RECORD_LIST_TOO_LARGE", false};
    case ErrorCode::NotEnoughReplicas:
      return {"NOT_ENOUGH_REPLICAS", true};
    case ErrorCode::NotEnoughReplicasAfterAppend:
      return {"NOT_ENOUGH_REPLICAS_AFTER_APPEND", true};
    case ErrorCode::InvalidRequiredAcks:
      return {"INVALID_REQUIRED_ACKS", false};
    case ErrorCode::IllegalGeneration:
      return {"ILLEGAL_GENERATION", false};
    case ErrorCode::InconsistentGroupProtocol:
      return {"INCONSISTENT_GROUP_PROTOCOL", false};
    case ErrorCode::InvalidGroupId:
      return {"INVALID_GROUP_ID", false};
    case ErrorCode::UnknownMemberId:
      return {"UNKNOWN_MEMBER_ID", false};
    case ErrorCode::InvalidSessionTimeout:
      return {"INVALID_SESSION_TIMEOUT", false};
    case ErrorCode::RebalanceInProgress:
      return {"REBALANCE_IN_PROGRESS", false};
    case ErrorCode::InvalidCommitOffsetSize:
      return {"INVALID_COMMIT_OFFSET_SIZE", false};
    case ErrorCode::TopicAuthorizationFailed:
      return {"TOPIC_AUTHORIZATION_FAILED", false};
    case ErrorCode::GroupAuthorizationFailed:
      return {"GROUP_AUTHORIZATION_FAILED", false};
    case ErrorCode::ClusterAuthorizationFailed:
      return {"CLUSTER_AUTHORIZATION_FAILED", false};
    case ErrorCode::InvalidTimestamp:
      return {"INVALID_TIMESTAMP", false};
    case ErrorCode::UnsupportedSaslMechanism:
      return {"UNSUPPORTED_SASL_MECHANISM", false};
    case ErrorCode::IllegalSaslState:
      return {"ILLEGAL_SASL_STATE", false};
    case ErrorCode::UnsupportedVersion:
      return {"UNSUPPORTED_VERSION", false};
    case ErrorCode::TopicAlreadyExists:
      return {"TOPIC_ALREADY_EXISTS", false};
    case ErrorCode::InvalidPartitions:
      return {"INVALID_PARTITIONS", false};
    case ErrorCode::InvalidReplicationFactor:
      return {"INVALID_REPLICATION_FACTOR", false};
    case ErrorCode::InvalidReplicaAssignment:
      return {"INVALID_REPLICA_ASSIGNMENT", false};
    case ErrorCode::InvalidConfig:
      return {"INVALID_CONFIG", false};
    case ErrorCode::NotController:
      return {"NOT_CONTROLLER", true};
    case ErrorCode::InvalidRequest:
      return {"INVALID_REQUEST", false};
    case ErrorCode::UnsupportedForMessageFormat:
      return {"UNSUPPORTED_FOR_MESSAGE_FORMAT", false};
    case ErrorCode::PolicyViolation:
      return {"POLICY_VIOLATION", false};
    case ErrorCode::OutOfOrderSequenceNumber:
      return {"OUT_OF_ORDER_SEQUENCE_NUMBER", false};
    case ErrorCode::DuplicateSequenceNumber:
      return {"DUPLICATE_SEQUENCE_NUMBER", false};
    case ErrorCode::InvalidProducerEpoch:
      return {"INVALID_PRODUCER_EPOCH", false};
    case ErrorCode::InvalidTxnState:
      return {"INVALID_TXN_STATE", false};
    case ErrorCode::InvalidProducerIdMapping:
      return {"INVALID_PRODUCER_ID_MAPPING", false};
    case ErrorCode::InvalidTransactionTimeout:
      return {"INVALID_TRANSACTION_TIMEOUT", false};
    case ErrorCode::ConcurrentTransactions:
      return {"CONCURRENT_TRANSACTIONS", true};
    case ErrorCode::TransactionCoordinatorFenced:
      return {"TRANSACTION_COORDINATOR_FENCED", false};
    case ErrorCode::TransactionalIdAuthorizationFailed:
      return {"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", false};
    case ErrorCode::SecurityDisabled:
      return {"SECURITY_DISABLED", false};
    case ErrorCode::OperationNotAttempted:
      return {"OPERATION_NOT_ATTEMPTED", false};
    case ErrorCode::KafkaStorageError:
      return {"KAFKA_STORAGE_ERROR", true};
    case ErrorCode::LogDirNotFound:
      return {"LOG_DIR_NOT_FOUND", false};
    case ErrorCode::SaslAuthenticationFailed:
      return {"SASL_AUTHENTICATION_FAILED", false};
    case ErrorCode::UnknownProducerId:
      return {"UNKNOWN_PRODUCER_ID", false};
    case ErrorCode::ReassignmentInProgress:
      return {"REASSIGNMENT_IN_PROGRESS", false};
    case ErrorCode::DelegationTokenAuthDisabled:
      return {"DELEGATION_TOKEN_AUTH_DISABLED", false};
    case ErrorCode::DelegationTokenNotFound:
      return {"DELEGATION_TOKEN_NOT_FOUND", false};
    case ErrorCode::DelegationTokenOwnerMismatch:
      return {"DELEGATION_TOKEN_OWNER_MISMATCH", false};
    case ErrorCode::DelegationTokenRequestNotAllowed:
      return {"DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", false};
    case ErrorCode::DelegationTokenAuthorizationFailed:
      return {"DELEGATION_TOKEN_AUTHORIZATION_FAILED", false};
    case ErrorCode::DelegationTokenExpired:
      return {"DELEGATION_TOKEN_EXPIRED", false};
    case ErrorCode::InvalidPrincipalType:
      return {"INVALID_PRINCIPAL_TYPE", false};
    case ErrorCode::NonEmptyGroup:
      return {"NON_EMPTY_GROUP", false};
    case ErrorCode::GroupIdNotFound:
      return {"GROUP_ID_NOT_FOUND", false};
    case ErrorCode::FetchSessionIdNotFound:
      return {"FETCH_SESSION_ID_NOT_FOUND", true};
    case ErrorCode::InvalidFetchSessionEpoch:
      return {"INVALID_FETCH_SESSION_EPOCH", true};
    case ErrorCode::ListenerNotFound:
      return {"LISTENER_NOT_FOUND", true};
    case ErrorCode::TopicDeletionDisabled:
      return {"TOPIC_DELETION_DISABLED", false};
    case ErrorCode::FencedLeaderEpoch:
      return {"FENCED_LEADER_EPOCH", true};
    case ErrorCode::UnknownLeaderEpoch:
      return {"UNKNOWN_LEADER_EPOCH", true};
    case ErrorCode::UnsupportedCompressionType:
      return {"UNSUPPORTED_COMPRESSION_TYPE", false};
    case ErrorCode::StaleBrokerEpoch:
      return {"STALE_BROKER_EPOCH", false};
    case ErrorCode::OffsetNotAvailable:
      return {"OFFSET_NOT_AVAILABLE", true};
    case ErrorCode::MemberIdRequired:
      return {"MEMBER_ID_REQUIRED", false};
    case ErrorCode::PreferredLeaderNotAvailable:
      return {"PREFERRED_LEADER_NOT_AVAILABLE", true};
    case ErrorCode::GroupMaxSizeReached:
      return {"GROUP_MAX_SIZE_REACHED", false};
    case ErrorCode::FencedInstanceId:
      return {"FENCED_INSTANCE_ID", false};
    case ErrorCode::EligibleLeadersNotAvailable:
      return {"ELIGIBLE_LEADERS_NOT_AVAILABLE", true};
    case ErrorCode::ElectionNotNeeded:
      return {"ELECTION_NOT_NEEDED", true};
    case ErrorCode::NoReassignmentInProgress:
      return {"NO_REASSIGNMENT_IN_PROGRESS", false};
    case ErrorCode::GroupSubscribedToTopic:
      return {"GROUP_SUBSCRIBED_TO_TOPIC", false};
    case ErrorCode::InvalidRecord:
      return {"INVALID_RECORD", false};
    case ErrorCode::UnstableOffsetCommit:
      return {"UNSTABLE_OFFSET_COMMIT", true};
    case ErrorCode::ThrottlingQuotaExceeded:
      return {"THROTTLING_QUOTA_EXCEEDED", true};
    case ErrorCode::ProducerFenced:
      return {"PRODUCER_FENCED", false};
    case ErrorCode::ResourceNotFound:
      return {"RESOURCE_NOT_FOUND", false};
    case ErrorCode::DuplicateResource:
      return {"DUPLICATE_RESOURCE", false};
    case ErrorCode::UnacceptableCredential:
      return {"UNACCEPTABLE_CREDENTIAL", false};
    case ErrorCode::InconsistentVoterSet:
      return {"INCONSISTENT_VOTER_SET", false};
    case ErrorCode::InvalidUpdateVersion:
      return {"INVALID_UPDATE_VERSION", false};
    case ErrorCode::FeatureUpdateFailed:
      return {"FEATURE_UPDATE_FAILED", false};
    case ErrorCode::PrincipalDeserializationFailure:
      return {"PRINCIPAL_DESERIALIZATION_FAILURE", false};
    case ErrorCode::SnapshotNotFound:
      return {"SNAPSHOT_NOT_FOUND", false};
    case ErrorCode::PositionOutOfRange:
      return {"POSITION_OUT_OF_RANGE", false};
    case ErrorCode::UnknownTopicId:
      return {"UNKNOWN_TOPIC_ID", true};
    case ErrorCode::DuplicateBrokerRegistration:
      return {"DUPLICATE_BROKER_REGISTRATION", false};
    case ErrorCode::BrokerIdNotRegistered:
      return {"BROKER_ID_NOT_REGISTERED", false};
    case ErrorCode::InconsistentTopicId:
      return {"INCONSISTENT_TOPIC_ID", true};
    case ErrorCode::InconsistentClusterId:
      return {"INCONSISTENT_CLUSTER_ID", false};
    case ErrorCode::TransactionalIdNotFound:
      return {"TRANSACTIONAL_ID_NOT_FOUND", false};
    case ErrorCode::FetchSessionTopicIdError:
      return {"FETCH_SESSION_TOPIC_ID_ERROR", true};
    case ErrorCode::IneligibleReplica:
      return {"INELIGIBLE_REPLICA", false};
    case ErrorCode::NewLeaderElected:
      return {"NEW_LEADER_ELECTED", false};
    case ErrorCode::OffsetMovedToTieredStorage:
      return {"OFFSET_MOVED_TO_TIERED_STORAGE", false};
    case ErrorCode::FencedMemberEpoch:
      return {"FENCED_MEMBER_EPOCH", false};
    case ErrorCode::UnreleasedInstanceId:
      return {"UNRELEASED_INSTANCE_ID", false};
    case ErrorCode::UnsupportedAssignor:
      return {"UNSUPPORTED_ASSIGNOR", false};
    case ErrorCode::StaleMemberEpoch:
      return {"STALE_MEMBER_EPOCH", false};
    case ErrorCode::MismatchedEndpointType:
      return {"MISMATCHED_ENDPOINT_TYPE", false};
    case ErrorCode::UnsupportedEndpointType:
      return {"UNSUPPORTED_ENDPOINT_TYPE", false};
    case ErrorCode::UnknownControllerId:
      return {"UNKNOWN_CONTROLLER_ID", false};
    case ErrorCode::UnknownSubscriptionId:
      return {"UNKNOWN_SUBSCRIPTION_ID", false};
    case ErrorCode::TelemetryTooLarge:
      return {"TELEMETRY_TOO_LARGE", false};
    case ErrorCode::InvalidRegistration:
      return {"INVALID_REGISTRATION", false};
    case ErrorCode::TransactionAbortable:
      return {"TRANSACTION_ABORTABLE", false};
    case ErrorCode::InvalidRecordState:
      return {"INVALID_RECORD_STATE", false};
    case ErrorCode::ShareSessionNotFound:
      return {"SHARE_SESSION_NOT_FOUND", true};
    case ErrorCode::InvalidShareSessionEpoch:
      return {"INVALID_SHARE_SESSION_EPOCH", true};
    case ErrorCode::FencedStateEpoch:
      return {"FENCED_STATE_EPOCH", false};
    case ErrorCode::InvalidVoterKey:
      return {"INVALID_VOTER_KEY", false};
    case ErrorCode::DuplicateVoter:
      return {"DUPLICATE_VOTER", false};
    case ErrorCode::VoterNotFound:
      return {"VOTER_NOT_FOUND", false};
    case ErrorCode::InvalidRegularExpression:
      return {"INVALID_REGULAR_EXPRESSION", false};
    case ErrorCode::RebootstrapRequired:
      return {"REBOOTSTRAP_REQUIRED", false};
    case ErrorCode::StreamsInvalidTopology:
      return {"STREAMS_INVALID_TOPOLOGY", false};
    case ErrorCode::StreamsInvalidTopologyEpoch:
      return {"STREAMS_INVALID_TOPOLOGY_EPOCH", false};
    case ErrorCode::StreamsTopologyFenced:
      return {"STREAMS_TOPOLOGY_FENCED", false};
    case ErrorCode::ShareSessionLimitReached:
      return {"SHARE_SESSION_LIMIT_REACHED", true};
    case ErrorCode::GroupDeletionFailed:
      return {"GROUP_DELETION_FAILED", false};
    case ErrorCode::StreamsTopologyDescriptionUpdateFailed:
      return {"STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED", false};
    case ErrorCode::ControllerIdNotRegistered:
      return {"CONTROLLER_ID_NOT_REGISTERED", false};
  }
  return {"UNKNOWN_SERVER_ERROR", false};
}

}  // namespace

std::string_view errorName(ErrorCode code) noexcept {
  return entry(code).name;
}

bool isRetriable(ErrorCode code) noexcept {
  return entry(code).retriable;
}

}  // namespace tidemark
