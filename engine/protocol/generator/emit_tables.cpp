#include <algorithm>

#include <fmt/format.h>

#include "emit.h"

namespace generator {
namespace {

const char* const kNotice = "// Made by protocol/generator from the schemas; changes here are lost.\n";

const char* typeEnumerator(Type type) {
  switch (type) {
    case Type::Bool:
      return "Bool";
    case Type::Int8:
      return "Int8";
    case Type::Int16:
      return "Int16";
    case Type::UInt16:
      return "UInt16";
    case Type::Int32:
      return "Int32";
    case Type::UInt32:
      return "UInt32";
    case Type::Int64:
      return "Int64";
    case Type::Float64:
      return "Float64";
    case Type::Uuid:
      return "Uuid";
    case Type::String:
      return "String";
    case Type::Bytes:
      return "Bytes";
    case Type::Records:
      return "Records";
    case Type::Struct:
      return "Struct";
  }
  return "";
}

std::string pascal(const std::string& dashed) {
  std::string out;
  bool upper = true;
  for (const char c : dashed) {
    if (c == '-') {
      upper = true;
      continue;
    }
    out += upper ? static_cast<char>(toupper(c)) : c;
    upper = false;
  }
  return out;
}

std::string range(const Versions& versions) {
  return versions.empty() ? "{}" : fmt::format("{{{}, {}}}", versions.first, versions.last);
}

std::string fieldsName(const Message& message, const Struct& structure) {
  return &structure == &message.body ? fmt::format("k{}Fields", message.name)
                                     : fmt::format("k{}_{}Fields", message.name, structure.name);
}
std::string structName(const Message& message, const Struct& structure) {
  return fmt::format("k{}_{}", message.name, structure.name);
}

std::string fieldsTable(const Message& message, const Struct& structure) {
  if (structure.fields.empty()) return "";
  std::string out = fmt::format("constexpr FieldSchema {}[] = {{\n", fieldsName(message, structure));
  for (const Field& field : structure.fields) {
    out += fmt::format(
        "    {{.name = \"{}\", .typeName = \"{}\", .type = FieldType::{}, .isArray = {}, .ignorable = {}, .mapKey = "
        "{}, "
        ".neverFlexible = {}, .entity = Entity::{}, .versions = {}, .nullable = {}, .tagged = {}, .tag = {}, "
        ".defaultValue = \"{}\", .structure = {}, .minElementSize = {}}},\n",
        field.jsonName, field.typeName, typeEnumerator(field.type), field.isArray, field.ignorable, field.mapKey,
        field.neverFlexible, field.entity.empty() ? "None" : pascal(field.entity), range(field.versions),
        range(field.nullable), range(field.tagged), field.tag, field.defaultValue.value_or(""),
        field.structure != nullptr ? "&" + structName(message, *field.structure) : "nullptr", field.minElementSize);
  }
  return out + "};\n";
}

}  // namespace

std::string emitSchemasHeader(const std::vector<Message>& messages) {
  std::string out =
      fmt::format("{}#pragma once\n\nnamespace tidemark::protocol {{\n\nstruct MessageSchema;\n\n", kNotice);
  for (const Message& message : messages) out += fmt::format("extern const MessageSchema k{}Schema;\n", message.name);
  return out + "\n}  // namespace tidemark::protocol\n";
}

std::string emitSchemas(const std::vector<Message>& messages) {
  std::string out = fmt::format(
      "{}#include \"protocol/generated/schemas.h\"\n\n#include \"protocol/reflect.h\"\n#include "
      "\"protocol/schema_tables.h\"\n\n"
      "// clang-format off\nnamespace tidemark::protocol {{\n\nnamespace {{\n\n",
      kNotice);
  for (const Message& message : messages) {
    for (const auto& structure : message.structs) {
      out += fieldsTable(message, *structure);
      out += fmt::format("constexpr StructSchema {} = {{\"{}\", {}}};\n", structName(message, *structure),
                         structure->name, structure->fields.empty() ? "{}" : fieldsName(message, *structure));
    }
    out += fieldsTable(message, message.body);
  }
  out += "\n}  // namespace\n\n";
  for (const Message& message : messages) {
    out += fmt::format(
        "const MessageSchema k{0}Schema = {{.name = \"{0}\", .kind = MessageKind::{1}, .module = \"{2}\", .key = {3}, "
        ".versions = {4}, .flexibleFrom = {5}, .latestUnstable = {6}, .structure = {{\"{0}\", {7}}}}};\n",
        message.name, pascal(message.kind), message.module, message.key, range(message.versions),
        message.flexibleFrom(), message.latestUnstable,
        message.body.fields.empty() ? "{}" : fieldsName(message, message.body));
  }
  out += "\nconst MessageSchema* const kAllSchemas[] = {\n";
  for (const Message& message : messages) out += fmt::format("    &k{}Schema,\n", message.name);
  out += fmt::format("}};\nconst size_t kSchemaCount = {};\n\n}}  // namespace tidemark::protocol\n", messages.size());
  return out;
}

std::string emitApis(const std::vector<Api>& apis, const std::vector<Message>& messages) {
  std::string out = fmt::format(
      "{}#include \"protocol/schema_tables.h\"\n\n// clang-format off\nnamespace tidemark::protocol {{\n\nconst "
      "ApiInfo kApis[] = {{\n",
      kNotice);
  for (const Api& api : apis) {
    int flexibleFrom = kNoLimit;
    for (const Message& message : messages)
      if (message.kind == "request" && message.key == api.key) flexibleFrom = message.flexibleFrom();
    out += fmt::format(
        "    {{.key = ApiKey::{0}, .name = \"{0}\", .versions = {1}, .maxStable = {2}, .flexibleFrom = {3}, .onBroker "
        "= {4}, "
        ".onController = {5}, .clusterAction = {6}, .forwardable = {7}}},\n",
        api.name, range(api.versions), api.maxStable, flexibleFrom, api.onBroker, api.onController, api.clusterAction,
        api.forwardable);
  }
  out += fmt::format("}};\nconst size_t kApiCount = {};\n\n}}  // namespace tidemark::protocol\n", apis.size());
  return out;
}

}  // namespace generator
