#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/reflect.h"
#include "records/record.h"

namespace tidemark::inspect {

/// Whose records a log holds, which says how their keys and values are to be read.
enum class RecordSchema : uint8_t {
  None,          ///< a client's own bytes
  Metadata,      ///< __cluster_metadata
  Offsets,       ///< __consumer_offsets
  Transactions,  ///< __transaction_state
  ShareState,    ///< __share_group_state
};
/// Of a topic or of a partition's folder by its name.
RecordSchema schemaOf(std::string_view topicOrFolder) noexcept;

/// A record of Kafka's own, by its names.
struct NamedRecord {
  /// "TopicRecord", "OffsetCommit", "TransactionLog"; empty if it could not be told.
  std::string name;
  int16_t type = -1;
  /// Of the value, or of a metadata record; −1 if there is none.
  int16_t version = -1;
  /// A coordinator's record without a value: what the key names is gone.
  bool tombstone = false;
  /// As Kafka's JSON converters print them; empty if there is none. Consumer protocol subscriptions and assignments
  /// inside, and the states of transactions, are shown by name.
  std::string keyJson;
  std::string valueJson;
  /// The bodies and what they are, for describe(); null if unknown.
  const protocol::MessageSchema* keySchema = nullptr;
  const protocol::MessageSchema* valueSchema = nullptr;
  ByteView keyBody;
  ByteView valueBody;
  /// What could not be read; empty if all was.
  std::string problem;
};
NamedRecord nameRecord(RecordSchema schema, const records::RecordView& record);

/// What a record of a control batch says: "endTxnMarker: COMMIT coordinatorEpoch: 0", "LeaderChange: {…}".
std::string controlText(const records::RecordView& record);

/// FeatureLevelRecord → FEATURE_LEVEL_RECORD, as Kafka writes the types of metadata records.
std::string upperSnake(std::string_view name);

}  // namespace tidemark::inspect
