#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "emit.h"

namespace generator {
namespace {

const char* const kNotice = "// Made by protocol/generator from the schemas; changes here are lost.\n";

bool isNumber(Type type) {
  switch (type) {
    case Type::Int8:
    case Type::Int16:
    case Type::UInt16:
    case Type::Int32:
    case Type::UInt32:
    case Type::Int64:
    case Type::Float64:
      return true;
    default:
      return false;
  }
}

std::string initializer(const Field& field) {
  const std::string value = field.defaultValue.value_or("");
  if (field.type != Type::Records && field.isNullable() && (field.isArray || !isNumber(field.type)))
    return field.nullByDefault() ? "" : "{std::in_place}";
  if (field.isArray) return "";
  if (field.type == Type::Records) return field.nullByDefault() ? " = Records::null()" : "";
  if (field.type == Type::Bool) return value == "true" ? " = true" : " = false";
  // The least int32 has no literal of its own type.
  if (value == "-2147483648") return " = INT32_MIN";
  if (value == "9223372036854775807") return " = INT64_MAX";
  if (isNumber(field.type)) return fmt::format(" = {}", value.empty() ? "0" : value);
  if (field.type == Type::String && !value.empty()) return fmt::format("{{\"{}\"}}", value);
  return "";
}

std::string memberType(const Message& message, const Field& field) {
  std::string type = field.structure != nullptr ? cppStruct(message, *field.structure) : cppElement(field);
  if (field.isArray) type = fmt::format("std::vector<{}>", type);
  if (field.isNullable() && field.type != Type::Records) type = fmt::format("std::optional<{}>", type);
  if (field.isNullable() && isNumber(field.type) && !field.isArray)
    throw SchemaError(fmt::format("field {} of line {}: a number cannot be null", field.name, field.line));
  return type;
}

std::string describe(const Field& field, const Versions& valid) {
  std::string text;
  if (!field.versions.covers(valid)) {
    const Versions range = field.versions.intersect(valid);
    if (range.empty())
      text = "in no version";
    else if (range.last == valid.last)
      text = fmt::format("from version {}", range.first);
    else if (range.first == range.last)
      text = fmt::format("version {} only", range.first);
    else
      text = fmt::format("versions {} to {}", range.first, range.last);
    if (field.ignorable) text += ", else dropped";
  }
  if (!field.tagged.empty()) text += fmt::format("{}tag {}", text.empty() ? "" : "; ", field.tag);
  return text.empty() ? "" : "  ///< " + text;
}

std::string members(const Message& message, const Struct& structure, const Versions& valid) {
  std::string out;
  for (const Field& field : structure.fields) {
    out += fmt::format("  {} {}{};{}\n", memberType(message, field), field.cppName, initializer(field),
                       describe(field, valid));
  }
  return out;
}

bool usesRecords(const Message& message) {
  const auto has = [](const Struct& s) {
    return std::any_of(s.fields.begin(), s.fields.end(), [](const Field& f) { return f.type == Type::Records; });
  };
  return has(message.body) ||
         std::any_of(message.structs.begin(), message.structs.end(), [&](const auto& s) { return has(*s); });
}

}  // namespace

std::string cppStruct(const Message& message, const Struct& structure) {
  return message.name + structure.name;
}

std::string cppElement(const Field& field) {
  switch (field.type) {
    case Type::Bool:
      return "bool";
    case Type::Int8:
      return "int8_t";
    case Type::Int16:
      return "int16_t";
    case Type::UInt16:
      return "uint16_t";
    case Type::Int32:
      return "int32_t";
    case Type::UInt32:
      return "uint32_t";
    case Type::Int64:
      return "int64_t";
    case Type::Float64:
      return "double";
    case Type::Uuid:
      return "Uuid";
    case Type::String:
      return "Text";
    case Type::Bytes:
      return "Blob";
    case Type::Records:
      return "Records";
    case Type::Struct:
      return field.structure->name;
  }
  return "";
}

size_t weight(const Message& message) {
  size_t sum = 6 + message.body.fields.size();
  for (const auto& structure : message.structs) sum += 4 + structure->fields.size();
  return sum;
}

std::string emitApiKeys(const std::vector<Api>& apis) {
  std::string out = fmt::format(
      "{}#pragma once\n\n#include <cstdint>\n\nnamespace tidemark::protocol {{\n\n"
      "/// Every API of the protocol by its number on the wire.\nenum class ApiKey : int16_t {{\n",
      kNotice);
  for (const Api& api : apis) out += fmt::format("  {} = {},\n", api.name, api.key);
  return out + "};\n\n}  // namespace tidemark::protocol\n";
}

std::string emitForward(const std::vector<Message>& messages) {
  std::string out = fmt::format("{}#pragma once\n\nnamespace tidemark::protocol {{\n\n", kNotice);
  for (const Message& message : messages) out += fmt::format("struct {};\n", message.name);
  return out + "\n}  // namespace tidemark::protocol\n";
}

std::string emitAll(const std::vector<Message>& messages) {
  std::string out = fmt::format("{}#pragma once\n\n", kNotice);
  for (const Message& message : messages)
    out += fmt::format("#include \"protocol/generated/{}.h\"\n", snakeCase(message.name));
  out +=
      "\n/// X(M) for every message, by name. For tests and tables: this header is heavy.\n#define "
      "TIDEMARK_FOR_EACH_MESSAGE(X)";
  for (const Message& message : messages) out += fmt::format(" \\\n  X({})", message.name);
  return out + "\n";
}

std::string emitHeader(const Message& message, const std::vector<Message>& messages) {
  std::string out = fmt::format("{}#pragma once\n\n", kNotice);
  if (message.isApi()) out += "#include \"protocol/generated/api_keys.h\"\n";
  out += "#include \"protocol/fields.h\"\n";
  if (usesRecords(message)) out += "#include \"protocol/records_field.h\"\n";
  out += "#include \"base/result.h\"\n\nnamespace tidemark::protocol {\n\n";

  std::string counterpart;
  if (message.isApi()) {
    const bool request = message.kind == "request";
    counterpart = message.name.substr(0, message.name.rfind(request ? "Request" : "Response")) +
                  (request ? "Response" : "Request");
    if (std::none_of(messages.begin(), messages.end(), [&](const Message& m) { return m.name == counterpart; }))
      counterpart.clear();
    if (!counterpart.empty()) out += fmt::format("struct {};\n\n", counterpart);
  }

  // Not inside the message: clang rejects std::optional of a nested class with default values until the outer is
  // complete.
  for (const auto& structure : message.structs) {
    const std::string name = cppStruct(message, *structure);
    out += fmt::format("struct {0} {{\n{1}  bool operator==(const {0}&) const = default;\n}};\n\n", name,
                       members(message, *structure, structure->reach));
  }
  out += fmt::format("struct {} {{\n", message.name);
  out += fmt::format("  static constexpr std::string_view kName = \"{}\";\n", message.name);
  if (message.isApi()) {
    const std::string api = message.name.substr(0, message.name.rfind('R'));
    out += fmt::format("  static constexpr ApiKey kApiKey = ApiKey::{};\n", api);
  } else if (message.isRecord()) {
    out += fmt::format("  static constexpr int16_t kRecordType = {};\n", message.key);
  }
  out += fmt::format("  static constexpr int16_t kMinVersion = {};\n", message.versions.first);
  out += fmt::format("  static constexpr int16_t kMaxVersion = {};\n", message.versions.last);
  out += fmt::format("  static constexpr int16_t kFlexibleFrom = {};\n",
                     message.flexible.empty() ? "kNeverFlexible" : std::to_string(message.flexible.first));
  if (!counterpart.empty())
    out += fmt::format("  using {} = {};\n", message.kind == "request" ? "Response" : "Request", counterpart);
  out += "\n";
  for (const auto& structure : message.structs)
    out += fmt::format("  using {} = {};\n", structure->name, cppStruct(message, *structure));
  if (!message.structs.empty()) out += "\n";
  out += members(message, message.body, message.versions);
  if (!message.body.fields.empty()) out += "\n";
  out += fmt::format("  bool operator==(const {}&) const = default;\n", message.name);
  out +=
      "  Result<void> write(FrameWriter& writer, int16_t version) const;\n"
      "  Result<void> read(Reader& reader, int16_t version);\n"
      "  static const MessageSchema& schema() noexcept;\n"
      "};\n\n}  // namespace tidemark::protocol\n";
  return out;
}

}  // namespace generator
