#include "protocol/reflect.h"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/reader.h"
#include "protocol/schema_tables.h"

namespace tidemark::protocol {
namespace {

/// Follows a schema over bytes. Every function returns false at the first failure and leaves `path_` as it was there.
class Walker {
 public:
  Walker(ByteView bytes, int16_t version, Visitor& visitor) noexcept
      : reader_(bytes), version_(version), visitor_(visitor) {}

  bool structure(const StructSchema& schema, bool flexible) {
    for (const FieldSchema& field : schema.fields) {
      if (!field.versions.contains(version_) || field.tagged.contains(version_)) continue;
      if (!fieldOf(field, flexible, {})) return false;
    }
    return !flexible || tags(schema);
  }

  std::string path() const {
    std::string text;
    for (const auto& [field, index] : path_) {
      if (index >= 0)
        text += fmt::format("[{}]", index);
      else
        text += fmt::format("{}{}", text.empty() ? "" : ".", field->name);
    }
    return text;
  }

  Reader& reader() noexcept { return reader_; }

 private:
  bool tags(const StructSchema& schema) {
    size_t at = reader_.position();
    TagSection section(reader_);
    if (!reader_.ok()) return false;
    visitor_.tagCount({at, reader_.position()});
    for (at = reader_.position(); section.next(); at = reader_.position()) {
      const size_t begin = reader_.position();
      size_t sizeAt = at + 1;
      while (reader_.frame()[sizeAt - 1] >= 0x80) ++sizeAt;
      visitor_.tagHead({at, sizeAt}, {sizeAt, begin});
      const auto field = std::find_if(schema.fields.begin(), schema.fields.end(), [&](const FieldSchema& f) {
        return f.tagged.contains(version_) && f.tag == section.tag();
      });
      FieldValue value{.isTagged = true, .tag = section.tag()};
      if (field != schema.fields.end()) {
        if (!fieldOf(*field, true, value)) return false;
        continue;
      }
      value.bytes = reader_.bytes(reader_.remaining());
      value.range = {begin, reader_.position()};
      visitor_.value(value);
    }
    return reader_.ok();
  }

  bool fieldOf(const FieldSchema& field, bool flexible, FieldValue value) {
    path_.emplace_back(&field, -1);
    value.field = &field;
    value.range.begin = reader_.position();
    const bool done = field.isArray ? array(field, flexible, value) : single(field, flexible, value);
    if (done) path_.pop_back();
    return done;
  }

  bool array(const FieldSchema& field, bool flexible, FieldValue value) {
    const std::optional<size_t> count = reader_.nullableArrayLength(flexible, field.minElementSize);
    if (!reader_.ok()) return false;
    value.length = {value.range.begin, reader_.position()};
    if (!count) return null(field, value);
    value.number = static_cast<int64_t>(*count);
    visitor_.enterArray(value);
    for (size_t i = 0; i < *count; ++i) {
      const auto index = static_cast<int32_t>(i);
      path_.emplace_back(&field, index);
      FieldValue element{.field = &field, .index = index};
      element.range.begin = reader_.position();
      if (!single(field, flexible, element)) return false;
      path_.pop_back();
    }
    value.range.end = reader_.position();
    visitor_.leaveArray(value);
    return true;
  }

  bool null(const FieldSchema& field, FieldValue& value) {
    if (!field.nullable.contains(version_) || value.index >= 0) {
      reader_.fail(Reader::Failure::NullForbidden);
      return false;
    }
    value.isNull = true;
    value.range.end = reader_.position();
    visitor_.value(value);
    return true;
  }

  bool single(const FieldSchema& field, bool flexible, FieldValue& value) {
    const size_t begin = value.range.begin;
    switch (field.type) {
      case FieldType::Bool:
        value.number = reader_.boolean() ? 1 : 0;
        break;
      case FieldType::Int8:
        value.number = reader_.int8();
        break;
      case FieldType::Int16:
        value.number = reader_.int16();
        break;
      case FieldType::UInt16:
        value.number = reader_.uint16();
        break;
      case FieldType::Int32:
        value.number = reader_.int32();
        break;
      case FieldType::UInt32:
        value.number = reader_.uint32();
        break;
      case FieldType::Int64:
        value.number = reader_.int64();
        break;
      case FieldType::Float64:
        value.real = reader_.float64();
        break;
      case FieldType::Uuid:
        value.bytes = reader_.bytes(16);
        break;
      case FieldType::String:
      case FieldType::Bytes:
      case FieldType::Records: {
        const std::optional<size_t> count =
            reader_.length(flexible && !field.neverFlexible, field.type == FieldType::String);
        if (!reader_.ok()) return false;
        value.length = {begin, reader_.position()};
        if (!count) return null(field, value);
        value.bytes = reader_.bytes(*count);
        value.number = static_cast<int64_t>(*count);
        break;
      }
      case FieldType::Struct:
        return nested(field, flexible, value);
    }
    if (!reader_.ok()) return false;
    value.range.end = reader_.position();
    visitor_.value(value);
    return true;
  }

  bool nested(const FieldSchema& field, bool flexible, FieldValue& value) {
    if (!field.isArray && field.nullable.contains(version_)) {
      const int8_t marker = reader_.int8();
      if (!reader_.ok()) return false;
      value.length = {value.range.begin, reader_.position()};
      if (value.isTagged ? marker == 0 : marker < 0) return null(field, value);
    }
    visitor_.enterStruct(value);
    if (!structure(*field.structure, flexible)) return false;
    value.range.end = reader_.position();
    visitor_.leaveStruct(value);
    return true;
  }

  Reader reader_;
  const int16_t version_;
  Visitor& visitor_;
  std::vector<std::pair<const FieldSchema*, int32_t>> path_;
};

}  // namespace

std::span<const MessageSchema* const> allMessages() noexcept {
  return {kAllSchemas, kSchemaCount};
}

const MessageSchema* findMessage(std::string_view name) noexcept {
  const auto all = allMessages();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const MessageSchema* schema, std::string_view wanted) { return schema->name < wanted; });
  return found != all.end() && (*found)->name == name ? *found : nullptr;
}

static const MessageSchema* find(MessageKind kind, std::string_view module, int16_t key) noexcept {
  for (const MessageSchema* schema : allMessages())
    if (schema->kind == kind && schema->key == key && (module.empty() || schema->module == module)) return schema;
  return nullptr;
}

const MessageSchema* requestSchema(ApiKey key) noexcept {
  return find(MessageKind::Request, {}, static_cast<int16_t>(key));
}
const MessageSchema* responseSchema(ApiKey key) noexcept {
  return find(MessageKind::Response, {}, static_cast<int16_t>(key));
}
const MessageSchema* recordSchema(MessageKind kind, std::string_view module, int16_t type) noexcept {
  return find(kind, module, type);
}

Result<size_t> walk(ByteView bytes, const MessageSchema& message, int16_t version, Visitor& visitor) {
  if (!message.versions.contains(version))
    return fail(ErrorCode::UnsupportedVersion, fmt::format("{} has the versions {} to {}, not {}", message.name,
                                                           message.versions.first, message.versions.last, version));
  Walker walker(bytes, version, visitor);
  if (walker.structure(message.structure, version >= message.flexibleFrom)) return walker.reader().position();
  const std::string path = walker.path();
  return fail(message.kind == MessageKind::Request ? ErrorCode::InvalidRequest : ErrorCode::CorruptMessage,
              fmt::format("{} version {}, {}: {}", message.name, version, path.empty() ? "tagged fields" : path,
                          walker.reader().error().message));
}

}  // namespace tidemark::protocol
