#include "faults/named.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/reflect.h"

// Messages are read by their schemas, so that no API is forgotten.

namespace tidemark::faults {
namespace {

using protocol::Entity;
using protocol::FieldSchema;
using protocol::FieldType;
using protocol::FieldValue;
using protocol::StructSchema;

constexpr PartitionIndex kWholeTopic{-1};
/// Kafka's ConfigResource.Type.
constexpr int64_t kTopicResource = 2;

bool holdsName(const FieldSchema& field) noexcept {
  return field.entity == Entity::TopicName;
}
bool holdsId(const FieldSchema& field) noexcept {
  return field.type == FieldType::Uuid && field.name == "topicId";
}
/// Of the topic around it.
bool holdsIndex(const FieldSchema& field) noexcept {
  if (field.type != FieldType::Int32) return false;
  if (field.isArray) return field.name == "partitions" || field.name == "partitionIndexes";
  return field.name == "partitionIndex" || field.name == "partition" || field.name == "index";
}
/// What a fetch forgets, and where a listing goes on.
bool isPassedOver(const FieldSchema& field) noexcept {
  return field.name == "forgottenTopicsData" || field.name == "cursor";
}
bool isResourceName(const FieldSchema& field) noexcept {
  return field.name == "resourceName";
}

class Names final : public protocol::Visitor {
 public:
  explicit Names(const TopicName& topicName) : topicName_(topicName) {}

  void enterArray(const FieldValue& value) override { passedOver_ += isPassedOver(*value.field) ? 1 : 0; }
  void leaveArray(const FieldValue& value) override { passedOver_ -= isPassedOver(*value.field) ? 1 : 0; }
  void enterStruct(const FieldValue& value) override {
    if (!value.field->isArray) enterArray(value);
    scopes_.emplace_back();
  }
  void leaveStruct(const FieldValue& value) override {
    close();
    if (!value.field->isArray) leaveArray(value);
  }
  void value(const FieldValue& value) override {
    if (value.field == nullptr || value.isNull || passedOver_ > 0) return;
    Scope& scope = scopes_.back();
    const FieldSchema& field = *value.field;
    if (holdsName(field)) {
      // One of a list has no partitions beside it.
      if (field.isArray)
        all_.push_back({std::string(asText(value.bytes)), kWholeTopic});
      else if (!value.bytes.empty())
        scope.topic = asText(value.bytes);
    } else if (holdsId(field)) {
      std::array<uint8_t, 16> bytes{};
      std::ranges::copy(value.bytes, bytes.begin());
      const Uuid id(bytes);
      if (!id.isZero() && topicName_) scope.byId = topicName_(id);
    } else if (holdsIndex(field)) {
      scope.indexes.emplace_back(static_cast<int32_t>(value.number));
    } else if (field.name == "resourceType") {
      scope.isTopicResource = value.number == kTopicResource;
    } else if (isResourceName(field)) {
      scope.resource = asText(value.bytes);
    }
  }

  std::vector<TopicPartition> take() { return std::move(all_); }

 private:
  /// A struct of the message.
  struct Scope {
    std::string topic = {};
    std::string byId = {};
    std::string resource = {};
    bool isTopicResource = false;
    std::vector<PartitionIndex> indexes = {};
  };

  void close() {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    if (scope.topic.empty()) scope.topic = scope.isTopicResource ? scope.resource : scope.byId;
    if (scope.topic.empty()) {
      // They are those of a topic further out.
      auto& outer = scopes_.back().indexes;
      outer.insert(outer.end(), scope.indexes.begin(), scope.indexes.end());
      return;
    }
    if (scope.indexes.empty()) scope.indexes.push_back(kWholeTopic);
    for (const PartitionIndex index : scope.indexes) all_.push_back({scope.topic, index});
  }

  const TopicName& topicName_;
  /// The first is the message.
  std::vector<Scope> scopes_{1};
  int passedOver_ = 0;
  std::vector<TopicPartition> all_;
};

struct Nameable {
  bool topics = false;
  bool partitions = false;
};

Nameable nameableIn(const StructSchema& structure, bool inTopic) noexcept {
  const auto names = [](const FieldSchema& field) { return holdsName(field) || holdsId(field); };
  Nameable found;
  found.topics = std::ranges::any_of(structure.fields,
                                     [&](const FieldSchema& field) { return names(field) || isResourceName(field); });
  inTopic |=
      std::ranges::any_of(structure.fields, [&](const FieldSchema& field) { return names(field) && !field.isArray; });
  for (const FieldSchema& field : structure.fields) {
    found.partitions |= inTopic && holdsIndex(field);
    if (field.structure == nullptr || isPassedOver(field)) continue;
    const Nameable inside = nameableIn(*field.structure, inTopic);
    found.topics |= inside.topics;
    found.partitions |= inside.partitions;
  }
  return found;
}

Nameable nameableIn(std::string_view api) noexcept {
  const protocol::ApiInfo* info = protocol::findApi(api);
  const protocol::MessageSchema* schema = info == nullptr ? nullptr : protocol::requestSchema(info->key);
  return schema == nullptr ? Nameable{} : nameableIn(schema->structure, false);
}

}  // namespace

std::vector<TopicPartition> namedIn(protocol::ApiKey api, int16_t version, ByteView body, const TopicName& topicName) {
  const protocol::MessageSchema* schema = protocol::requestSchema(api);
  Names names(topicName);
  if (schema == nullptr || !protocol::walk(body, *schema, version, names)) return {};
  return names.take();
}

bool namesTopics(std::string_view api) noexcept {
  return nameableIn(api).topics;
}

bool namesPartitions(std::string_view api) noexcept {
  return nameableIn(api).partitions;
}

}  // namespace tidemark::faults
