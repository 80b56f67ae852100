#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/generated/abort_transaction_record.h"
#include "protocol/generated/access_control_entry_record.h"
#include "protocol/generated/begin_transaction_record.h"
#include "protocol/generated/broker_registration_change_record.h"
#include "protocol/generated/clear_elr_record.h"
#include "protocol/generated/client_quota_record.h"
#include "protocol/generated/config_record.h"
#include "protocol/generated/delegation_token_record.h"
#include "protocol/generated/end_transaction_record.h"
#include "protocol/generated/feature_level_record.h"
#include "protocol/generated/fence_broker_record.h"
#include "protocol/generated/no_op_record.h"
#include "protocol/generated/partition_change_record.h"
#include "protocol/generated/partition_record.h"
#include "protocol/generated/producer_ids_record.h"
#include "protocol/generated/register_broker_record.h"
#include "protocol/generated/register_controller_record.h"
#include "protocol/generated/remove_access_control_entry_record.h"
#include "protocol/generated/remove_delegation_token_record.h"
#include "protocol/generated/remove_topic_record.h"
#include "protocol/generated/remove_user_scram_credential_record.h"
#include "protocol/generated/topic_record.h"
#include "protocol/generated/unfence_broker_record.h"
#include "protocol/generated/unregister_broker_record.h"
#include "protocol/generated/unregister_controller_record.h"
#include "protocol/generated/user_scram_credential_record.h"
#include "protocol/generated/zk_migration_state_record.h"

namespace tidemark::metadata {

/// Every type of record that Kafka 4.4 reads from the metadata log.
using RecordBody =
    std::variant<protocol::RegisterBrokerRecord, protocol::UnregisterBrokerRecord, protocol::TopicRecord,
                 protocol::PartitionRecord, protocol::ConfigRecord, protocol::PartitionChangeRecord,
                 protocol::FenceBrokerRecord, protocol::UnfenceBrokerRecord, protocol::RemoveTopicRecord,
                 protocol::DelegationTokenRecord, protocol::UserScramCredentialRecord, protocol::FeatureLevelRecord,
                 protocol::ClientQuotaRecord, protocol::ProducerIdsRecord, protocol::BrokerRegistrationChangeRecord,
                 protocol::AccessControlEntryRecord, protocol::RemoveAccessControlEntryRecord, protocol::NoOpRecord,
                 protocol::ZkMigrationStateRecord, protocol::RemoveUserScramCredentialRecord,
                 protocol::BeginTransactionRecord, protocol::EndTransactionRecord, protocol::AbortTransactionRecord,
                 protocol::RemoveDelegationTokenRecord, protocol::RegisterControllerRecord, protocol::ClearElrRecord,
                 protocol::UnregisterControllerRecord>;

/// A record of the metadata log and the version in which it is (to be) written. A decoded one borrows from its frame.
struct Record {
  RecordBody body;
  int16_t version = 0;

  // How bodies of all these types are copied and moved is compiled once, rather than wherever there is a list of records.
  Record(RecordBody bodyOfAnyType = {}, int16_t versionOfBody = 0);
  Record(const Record&);
  Record(Record&&) noexcept;
  Record& operator=(const Record&);
  Record& operator=(Record&&) noexcept;
  ~Record();

  template <class Body>
  const Body* as() const noexcept {
    return std::get_if<Body>(&body);
  }
  friend bool operator==(const Record&, const Record&) = default;
};
using Records = std::vector<Record>;

/// "PartitionChangeRecord".
std::string_view recordName(const Record& record) noexcept;

/// As the value of a record of `__cluster_metadata`: frame version, type, version, body.
Result<ByteVector> encodeRecord(const Record& record);
Result<std::vector<ByteVector>> encodeRecords(const Records& records);

/// CorruptMessage: damaged, or of a type (named) or version that Kafka 4.4 does not have.
Result<Record> decodeRecord(ByteView framed);

}  // namespace tidemark::metadata
