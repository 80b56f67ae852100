#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/api.h"

/// Reflection: the schemas as data, and a walk over any frame that says what each byte means. Needs no generated
/// struct.
namespace tidemark::protocol {

enum class FieldType : uint8_t {
  Bool,
  Int8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  Float64,
  Uuid,
  String,
  Bytes,
  Records,
  Struct,
};
/// What a number or string names, so that a viewer can colour and link it.
enum class Entity : uint8_t { None, BrokerId, GroupId, ProducerId, TopicName, TransactionalId };

struct StructSchema;

struct FieldSchema {
  /// As in Kafka's JSON: first letter small.
  std::string_view name;
  /// As in the schema file: "int32", "[]PartitionData".
  std::string_view typeName;
  /// Of the elements if isArray.
  FieldType type{};
  bool isArray = false;
  bool ignorable = false;
  bool mapKey = false;
  /// Keeps the old form of its length in flexible versions (ClientId of the request header).
  bool neverFlexible = false;
  Entity entity{};
  VersionRange versions;
  VersionRange nullable;
  /// In these versions it is a tagged field.
  VersionRange tagged;
  uint32_t tag = 0;
  /// As in the schema file; empty for the type's own.
  std::string_view defaultValue;
  const StructSchema* structure = nullptr;
  /// Bytes that one element takes at least.
  uint16_t minElementSize = 0;
};

struct StructSchema {
  std::string_view name;
  std::span<const FieldSchema> fields;
};

enum class MessageKind : uint8_t { Request, Response, Header, Metadata, Data, CoordinatorKey, CoordinatorValue };

struct MessageSchema {
  std::string_view name;
  MessageKind kind{};
  /// Kafka's module that owns it: "clients", "metadata", "group-coordinator", …
  std::string_view module;
  /// The API key, or the record type of metadata and coordinator records; -1 if it has none.
  int16_t key = -1;
  VersionRange versions;
  int16_t flexibleFrom = 0;
  bool latestUnstable = false;
  StructSchema structure;
};

/// All messages that have versions, by name.
std::span<const MessageSchema* const> allMessages() noexcept;
/// Null if there is none (of these four).
const MessageSchema* findMessage(std::string_view name) noexcept;
const MessageSchema* requestSchema(ApiKey key) noexcept;
const MessageSchema* responseSchema(ApiKey key) noexcept;
/// Of kind Metadata, CoordinatorKey or CoordinatorValue in `module`, by record type.
const MessageSchema* recordSchema(MessageKind kind, std::string_view module, int16_t type) noexcept;

/// Bytes [begin, end) of the walked frame.
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
  friend constexpr bool operator==(ByteRange, ByteRange) = default;
};

/// What a walk tells about a value: a field, or an element of an array.
struct FieldValue {
  /// Null for a tag that the schema does not know.
  const FieldSchema* field = nullptr;
  /// In its array; -1 for the field itself.
  int32_t index = -1;
  bool isNull = false;
  bool isTagged = false;
  uint32_t tag = 0;
  /// All bytes of it, length and children included, without tag and tag size.
  ByteRange range;
  /// The bytes of the length, element count or null marker at its front; empty if it has none.
  ByteRange length;
  /// Numbers and bool (0 or 1); element count of an array; byte count of strings, bytes and records.
  int64_t number = 0;
  double real = 0;
  /// Contents of strings, bytes, records, uuids and unknown tags: a view into the frame.
  ByteView bytes;
};

/// Told about every value in the order of the wire. Arrays and structs are entered and left; for these `range.end` is
/// known only when left.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void value(const FieldValue&) {}
  virtual void enterStruct(const FieldValue&) {}
  virtual void leaveStruct(const FieldValue&) {}
  virtual void enterArray(const FieldValue&) {}
  virtual void leaveArray(const FieldValue&) {}
  /// The count in front of a section of tagged fields.
  virtual void tagCount(ByteRange) {}
  /// The number and the size in front of a tagged field, known or not.
  virtual void tagHead(ByteRange /*number*/, ByteRange /*size*/) {}
};

/// Walks a message at the front of `bytes` and returns the bytes it takes. Errors name the path of the field
/// ("responses[0].partitions[2].records") and its position.
Result<size_t> walk(ByteView bytes, const MessageSchema& message, int16_t version, Visitor& visitor);

/// A frame field by field, for a viewer.
struct FieldNode {
  std::string name;   ///< "topics", or "[3]" for an element
  std::string type;   ///< "[]int32", "TopicData", …
  std::string value;  ///< as text: 17, "orders", null, 3 elements, 1024 bytes
  Entity entity{};
  const FieldSchema* field = nullptr;
  ByteRange range;
  std::vector<FieldNode> children;
};
/// The fields of the message as a tree. At most `maxNodes` nodes; what is beyond is left out.
Result<std::vector<FieldNode>> describe(ByteView bytes, const MessageSchema& message, int16_t version,
                                        size_t maxNodes = 100'000);

/// The message as Kafka's JSON converters print it, on one line: bytes and records in base64, uuids as 22 characters,
/// tagged fields at their default left out. Trailing bytes are an error.
Result<std::string> toJson(ByteView bytes, const MessageSchema& message, int16_t version);

}  // namespace tidemark::protocol
