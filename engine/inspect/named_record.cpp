#include "inspect/named_record.h"

#include <array>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/framing.h"
#include "records/control.h"

namespace tidemark::inspect {

using nlohmann::ordered_json;
using protocol::MessageKind;

namespace {

std::string_view moduleOf(RecordSchema schema) noexcept {
  switch (schema) {
    case RecordSchema::Offsets:
      return "group-coordinator";
    case RecordSchema::Transactions:
      return "transaction-coordinator";
    case RecordSchema::ShareState:
      return "share-coordinator";
    case RecordSchema::Metadata:
      return "metadata";
    case RecordSchema::None:
      break;
  }
  return {};
}

std::optional<ByteVector> fromBase64(std::string_view text) {
  ByteVector bytes;
  uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (digit < 0) return std::nullopt;
    group = group << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<uint8_t>(group >> bits));
  }
  return bytes;
}

/// Replaces the bytes of a consumer's subscription or assignment by what they say.
void openConsumerProtocol(ordered_json& member, const char* field, std::string_view message) {
  if (!member.contains(field) || !member[field].is_string()) return;
  const auto bytes = fromBase64(member[field].get<std::string>());
  const auto* schema = protocol::findMessage(message);
  if (!bytes || bytes->size() < 2 || schema == nullptr) return;
  const auto framed = protocol::decodeVersioned(*bytes);
  if (!framed) return;
  const int16_t version = std::min(framed->version, schema->versions.last);
  // A later version may have more behind what is known.
  if (auto json = protocol::toJson(framed->body, *schema, version)) member[field] = ordered_json::parse(*json);
}

std::string withNames(const protocol::MessageSchema& schema, std::string json) {
  if (schema.name == "TransactionLogValue") {
    constexpr std::array<std::string_view, 8> kStates{"Empty",        "Ongoing",          "PrepareCommit",
                                                      "PrepareAbort", "CompleteCommit",   "CompleteAbort",
                                                      "Dead",         "PrepareEpochFence"};
    ordered_json value = ordered_json::parse(json);
    const auto state = value["transactionStatus"].get<size_t>();
    if (state < kStates.size()) value["transactionStatus"] = kStates[state];
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  if (schema.name == "GroupMetadataValue") {
    ordered_json value = ordered_json::parse(json);
    if (value["protocolType"] != "consumer") return json;
    for (ordered_json& member : value["members"]) {
      openConsumerProtocol(member, "subscription", "ConsumerProtocolSubscription");
      openConsumerProtocol(member, "assignment", "ConsumerProtocolAssignment");
    }
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  return json;
}

NamedRecord nameMetadata(const records::RecordView& record) {
  NamedRecord named;
  if (!record.value) {
    named.problem = "a metadata record without a value";
    return named;
  }
  const auto framed = protocol::decodeMetadataFrame(*record.value);
  if (!framed) {
    named.problem = framed.error().message;
    return named;
  }
  named.type = framed->type;
  named.version = framed->version;
  named.valueBody = framed->body;
  named.valueSchema = protocol::recordSchema(MessageKind::Metadata, "metadata", framed->type);
  if (named.valueSchema == nullptr) {
    named.problem = fmt::format("record type {} is unknown", framed->type);
    return named;
  }
  named.name = named.valueSchema->name;
  auto json = protocol::toJson(framed->body, *named.valueSchema, framed->version);
  if (json)
    named.valueJson = *std::move(json);
  else
    named.problem = json.error().message;
  return named;
}

}  // namespace

RecordSchema schemaOf(std::string_view name) noexcept {
  if (name.starts_with("__cluster_metadata")) return RecordSchema::Metadata;
  if (name.starts_with("__consumer_offsets")) return RecordSchema::Offsets;
  if (name.starts_with("__transaction_state")) return RecordSchema::Transactions;
  if (name.starts_with("__share_group_state")) return RecordSchema::ShareState;
  return RecordSchema::None;
}

NamedRecord nameRecord(RecordSchema schema, const records::RecordView& record) {
  if (schema == RecordSchema::None) return {};
  if (schema == RecordSchema::Metadata) return nameMetadata(record);
  NamedRecord named;
  if (!record.key) {
    named.problem = "a coordinator's record without a key";
    return named;
  }
  const auto key = protocol::decodeCoordinatorKey(*record.key);
  if (!key) {
    named.problem = key.error().message;
    return named;
  }
  named.type = key->type;
  named.keyBody = key->body;
  named.keySchema = protocol::recordSchema(MessageKind::CoordinatorKey, moduleOf(schema), key->type);
  named.valueSchema = protocol::recordSchema(MessageKind::CoordinatorValue, moduleOf(schema), key->type);
  if (named.keySchema == nullptr || named.valueSchema == nullptr) {
    named.problem = fmt::format("record type {} is unknown", key->type);
    return named;
  }
  named.name = named.keySchema->name.substr(0, named.keySchema->name.size() - std::string_view("Key").size());
  auto keyJson = protocol::toJson(key->body, *named.keySchema, 0);
  if (!keyJson) {
    named.problem = keyJson.error().message;
    return named;
  }
  named.keyJson = *std::move(keyJson);
  if (!record.value) {
    named.tombstone = true;
    return named;
  }
  const auto value = protocol::decodeVersioned(*record.value);
  if (!value) {
    named.problem = value.error().message;
    return named;
  }
  named.version = value->version;
  named.valueBody = value->body;
  auto valueJson = protocol::toJson(value->body, *named.valueSchema, value->version);
  if (valueJson)
    named.valueJson = withNames(*named.valueSchema, *std::move(valueJson));
  else
    named.problem = valueJson.error().message;
  return named;
}

std::string controlText(const records::RecordView& record) {
  using records::ControlType;
  const ControlType type = records::controlType(record);
  if (type == ControlType::Abort || type == ControlType::Commit) {
    const auto marker = records::readEndTxnMarker(record);
    if (!marker) return "endTxnMarker: unreadable";
    return fmt::format("endTxnMarker: {} coordinatorEpoch: {}", marker->commit ? "COMMIT" : "ABORT",
                       marker->coordinatorEpoch);
  }
  struct Body {
    ControlType type;
    std::string_view label;
    std::string_view message;
  };
  constexpr std::array<Body, 5> kBodies{{{ControlType::LeaderChange, "LeaderChange:", "LeaderChangeMessage"},
                                         {ControlType::SnapshotHeader, "SnapshotHeader", "SnapshotHeaderRecord"},
                                         {ControlType::SnapshotFooter, "SnapshotFooter", "SnapshotFooterRecord"},
                                         {ControlType::KRaftVersion, "KRaftVersion", "KRaftVersionRecord"},
                                         {ControlType::KRaftVoters, "KRaftVoters", "VotersRecord"}}};
  for (const Body& body : kBodies) {
    if (body.type != type) continue;
    const auto* schema = protocol::findMessage(body.message);
    // The body's first field is its version.
    if (schema == nullptr || !record.value || record.value->size() < 2) break;
    const auto version = readBigEndian<int16_t>(record.value->data());
    const auto json = protocol::toJson(*record.value, *schema, version);
    return fmt::format("{} {}", body.label, json ? *json : "unreadable: " + json.error().message);
  }
  const int number = record.key && record.key->size() >= 4 ? readBigEndian<int16_t>(record.key->data() + 2) : -1;
  return fmt::format("controlType: {}", number);
}

std::string upperSnake(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (i > 0 && std::isupper(static_cast<unsigned char>(c)) != 0) out += '_';
    out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace tidemark::inspect
