#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "emit.h"

namespace generator {
namespace {

const char* const kNotice = "// Made by protocol/generator from the schemas; changes here are lost.\n";

/// "v >= 3 && v <= 5" for being in `range`, given that v is in `known`; empty if always so.
std::string condition(const Versions& range, const Versions& known) {
  if (range.covers(known)) return "";
  if (range.intersect(known).empty()) return "false";
  std::string text;
  if (range.first > known.first) text = fmt::format("v >= {}", range.first);
  if (range.last < known.last) text += fmt::format("{}v <= {}", text.empty() ? "" : " && ", range.last);
  return text;
}

std::string negated(const std::string& condition) {
  if (condition.find("&&") != std::string::npos) return "!(" + condition + ")";
  if (condition.find(">=") != std::string::npos) return "v < " + condition.substr(condition.find(">=") + 3);
  return "v > " + condition.substr(condition.find("<=") + 3);
}

const char* method(Type type) {
  switch (type) {
    case Type::Bool:
      return "boolean";
    case Type::Int8:
      return "int8";
    case Type::Int16:
      return "int16";
    case Type::UInt16:
      return "uint16";
    case Type::Int32:
      return "int32";
    case Type::UInt32:
      return "uint32";
    case Type::Int64:
      return "int64";
    case Type::Float64:
      return "float64";
    case Type::Uuid:
      return "uuid";
    case Type::String:
      return "text";
    case Type::Bytes:
      return "blob";
    case Type::Records:
      return "records";
    case Type::Struct:
      break;
  }
  return "";
}

bool hasLength(Type type) {
  return type == Type::String || type == Type::Bytes || type == Type::Records;
}

std::string isNull(const Field& field) {
  if (field.type == Type::Records && !field.isArray) return fmt::format("o.{}.isNull()", field.cppName);
  return fmt::format("!o.{}", field.cppName);
}

/// An expression that says whether the field differs from its default.
std::string differs(const Field& field) {
  const std::string name = "o." + field.cppName;
  if (field.type == Type::Records)
    return field.nullByDefault() ? fmt::format("!{}.isNull()", name) : fmt::format("!{}.empty()", name);
  if (field.isNullable()) {
    if (field.nullByDefault()) return name;
    if (field.isArray || hasLength(field.type)) return fmt::format("(!{0} || !{0}->empty())", name);
    return fmt::format("(!{0} || !(*{0} == decltype({0})::value_type()))", name);
  }
  if (field.isArray || hasLength(field.type)) return fmt::format("!{}.empty()", name);
  if (field.type == Type::Uuid) return fmt::format("!{}.isZero()", name);
  if (field.type == Type::Struct) return fmt::format("!({0} == decltype({0})())", name);
  const std::string value = field.defaultValue.value_or("");
  if (field.type == Type::Bool) return value == "true" ? "!" + name : name;
  if (value == "-2147483648") return name + " != INT32_MIN";
  if (value == "9223372036854775807") return name + " != INT64_MAX";
  return fmt::format("{} != {}", name, value.empty() ? "0" : value);
}

class StructCodec {
 public:
  StructCodec(const Message& message, const Struct& structure, bool nested)
      : message_(message), structure_(structure), type_(nested ? cppStruct(message, structure) : message.name) {
    const std::string flexibleIf = condition(message.flexible, structure.reach);
    flexibleCondition_ = flexibleIf.empty() ? "true" : flexibleIf;
    for (const Field& field : structure.fields) hasTags_ |= !field.tagged.intersect(structure.reach).empty();
  }

  std::string emit() {
    write();
    read();
    return fmt::format(
        "static void put([[maybe_unused]] const {0}& o, [[maybe_unused]] FrameWriter& w, [[maybe_unused]] int16_t v) "
        "{{\n"
        "{1}}}\n\n"
        "static void take([[maybe_unused]] {0}& o, [[maybe_unused]] Reader& r, [[maybe_unused]] int16_t v) "
        "{{\n{2}}}\n\n",
        type_, writing_, reading_);
  }

 private:
  std::string flexible(const Field& field) const {
    if (field.neverFlexible) return "false";
    return flexibleCondition_ == "true" || flexibleCondition_ == "false" ? flexibleCondition_ : "flexible";
  }

  void prologue(std::string& out) const {
    if (flexibleCondition_ != "true" && flexibleCondition_ != "false")
      out += fmt::format("  [[maybe_unused]] const bool flexible = {};\n", flexibleCondition_);
  }

  /// The statement that writes the field's value, into the writer called `w`.
  std::string putValue(const Field& field, bool tagged) const {
    const std::string name = "o." + field.cppName;
    if (field.isArray) {
      if (field.type == Type::Struct) return fmt::format("putStructs(w, v, {}, {});", flexible(field), name);
      return fmt::format("putArray(w, {}, {});", flexible(field), name);
    }
    if (field.type == Type::Struct) {
      if (!field.isNullable()) return fmt::format("put({}, w, v);", name);
      // Absent is -1 for a plain field and 0 for a tagged one; where it may not be null there is no marker.
      if (tagged) return fmt::format("putMarked(w, v, true, 0, {});", name);
      const std::string nullIf = condition(field.nullable, structure_.reach.intersect(field.versions));
      return fmt::format("putMarked(w, v, {}, -1, {});", nullIf.empty() ? "true" : nullIf, name);
    }
    if (field.type == Type::Records) return fmt::format("w.records({}, {});", name, flexible(field));
    if (field.type == Type::String || field.type == Type::Bytes) {
      const char* const kind = field.type == Type::String ? "ext" : "lob";
      return field.isNullable() ? fmt::format("w.nullable{}{}({}, {});", field.type == Type::String ? 'T' : 'B', kind,
                                              name, flexible(field))
                                : fmt::format("w.{}({}, {});", method(field.type), name, flexible(field));
    }
    return fmt::format("w.{}({});", method(field.type), name);
  }

  std::string takeValue(const Field& field, bool tagged) const {
    const std::string name = "o." + field.cppName;
    if (field.isArray) {
      if (field.type == Type::Struct)
        return fmt::format("takeStructs(r, v, {}, {}, {});", flexible(field), field.minElementSize, name);
      return fmt::format("takeArray(r, {}, {});", flexible(field), name);
    }
    if (field.type == Type::Struct) {
      if (!field.isNullable()) return fmt::format("take({}, r, v);", name);
      if (tagged) return fmt::format("takeMarked(r, v, true, 0, {});", name);
      const std::string nullIf = condition(field.nullable, structure_.reach.intersect(field.versions));
      return fmt::format("takeMarked(r, v, {}, -1, {});", nullIf.empty() ? "true" : nullIf, name);
    }
    if (hasLength(field.type)) {
      const std::string kind = field.type == Type::String ? "Text" : field.type == Type::Bytes ? "Blob" : "Records";
      return field.isNullable() ? fmt::format("{} = r.nullable{}({});", name, kind, flexible(field))
                                : fmt::format("{} = r.{}({});", name, method(field.type), flexible(field));
    }
    return fmt::format("{} = r.{}();", name, method(field.type));
  }

  std::string fullName(const Field& field) const {
    return type_ == message_.name ? fmt::format("{}.{}", message_.name, field.jsonName)
                                  : fmt::format("{}.{}.{}", message_.name, structure_.name, field.jsonName);
  }

  /// Refuses null where `here` allows a null in part of its versions only; nothing if the field cannot be null at all.
  std::string nullCheck(const Field& field, const Versions& here, bool writing) const {
    if (!field.isNullable() && !(field.type == Type::Records && !field.isArray)) return "";
    const std::string allowed = condition(field.nullable, here);
    if (allowed.empty()) return "";
    const std::string test =
        allowed == "false" ? isNull(field) : fmt::format("{} && {}", negated(allowed), isNull(field));
    if (writing) return fmt::format("if ({}) {{ w.refuseNull(\"{}\", v); }} ", test, fullName(field));
    return fmt::format(" if ({}) {{ r.fail(Reader::Failure::NullForbidden); }}", test);
  }

  void write() {
    prologue(writing_);
    for (const Field& field : structure_.fields) {
      const Versions reach = structure_.reach;
      const std::string existsIf = condition(field.versions, reach);
      // Plain where it exists and is not tagged; the schemas have only these three shapes.
      if (field.tagged.intersect(reach).empty()) {
        if (existsIf != "false") {
          const Versions here = field.versions.intersect(reach);
          const std::string put = nullCheck(field, here, true) + putValue(field, false);
          writing_ +=
              existsIf.empty() ? fmt::format("  {}\n", put) : fmt::format("  if ({}) {{ {} }}\n", existsIf, put);
        }
      } else if (!field.tagged.covers(field.versions.intersect(reach))) {
        throw SchemaError(
            fmt::format("{}:{}: a field that is tagged in some versions and plain in others is not supported",
                        message_.file, field.line));
      }
      if (!field.ignorable && !existsIf.empty()) {
        const std::string absent = existsIf == "false" ? "" : negated(existsIf) + " && ";
        writing_ += fmt::format("  if ({}{}) w.refuse(\"{}\", v);\n", absent, differs(field), fullName(field));
      }
    }
    if (flexibleCondition_ == "false") return;
    const std::string guard = flexibleCondition_ == "true" ? "" : "if (flexible) ";
    if (!hasTags_) {
      writing_ += fmt::format("  {}w.unsignedVarint(0);\n", guard);
      return;
    }
    std::vector<const Field*> tags;
    for (const Field& field : structure_.fields)
      if (!field.tagged.intersect(structure_.reach).empty()) tags.push_back(&field);
    std::sort(tags.begin(), tags.end(), [](const Field* a, const Field* b) { return a->tag < b->tag; });
    writing_ += fmt::format("  {}{{\n    uint32_t tags = 0;\n", guard);
    std::string body;
    const Versions flexibleReach = structure_.reach.intersect(message_.flexible);
    for (const Field* field : tags) {
      const std::string tagIf = condition(field->tagged, flexibleReach);
      const std::string present = (tagIf.empty() ? "" : tagIf + " && ") + differs(*field);
      writing_ +=
          fmt::format("    const bool has{0} = {1};\n    tags += has{0};\n", field->tag, boolean(present, *field));
      const Versions here = field->tagged.intersect(flexibleReach);
      body += fmt::format("    if (has{0}) {{ {1}for (TagPass pass(w, {0}); pass.next();) {{ {2} }} }}\n", field->tag,
                          nullCheck(*field, here, true), putValue(*field, true));
    }
    writing_ += "    w.unsignedVarint(tags);\n" + body + "  }\n";
  }

  /// An optional alone does not turn into a bool by itself.
  static std::string boolean(const std::string& expression, const Field& field) {
    if (field.isNullable() && field.nullByDefault() && field.type != Type::Records) return expression + ".has_value()";
    return expression;
  }

  void read() {
    prologue(reading_);
    for (const Field& field : structure_.fields) {
      const Versions here = field.versions.intersect(structure_.reach);
      if (here.empty() || !field.tagged.intersect(structure_.reach).empty()) continue;
      const std::string existsIf = condition(field.versions, structure_.reach);
      const std::string take = takeValue(field, false) + nullCheck(field, here, false);
      reading_ += existsIf.empty() ? fmt::format("  {}\n", take) : fmt::format("  if ({}) {{ {} }}\n", existsIf, take);
    }
    if (flexibleCondition_ == "false") return;
    const std::string guard = flexibleCondition_ == "true" ? "" : "if (flexible) ";
    if (!hasTags_) {
      reading_ += fmt::format("  {}r.skipTags();\n", guard);
      return;
    }
    reading_ += fmt::format("  {}for (TagSection tags(r); tags.next();) switch (tags.tag()) {{\n", guard);
    const Versions flexibleReach = structure_.reach.intersect(message_.flexible);
    for (const Field& field : structure_.fields) {
      const Versions here = field.tagged.intersect(flexibleReach);
      if (here.empty()) continue;
      const std::string tagIf = condition(field.tagged, flexibleReach);
      const std::string take = takeValue(field, true) + nullCheck(field, here, false);
      reading_ += tagIf.empty() ? fmt::format("    case {}: {} break;\n", field.tag, take)
                                : fmt::format("    case {}: if ({}) {{ {} }} else {{ tags.skip(); }} break;\n",
                                              field.tag, tagIf, take);
    }
    reading_ += "    default: tags.skip();\n  }\n";
  }

  const Message& message_;
  const Struct& structure_;
  const std::string type_;
  std::string flexibleCondition_;
  bool hasTags_ = false;
  std::string writing_;
  std::string reading_;
};

}  // namespace

std::string emitCodecs(const std::vector<const Message*>& messages) {
  std::string out =
      fmt::format("{}#include \"protocol/codec.h\"\n#include \"protocol/generated/schemas.h\"\n", kNotice);
  for (const Message* message : messages)
    out += fmt::format("#include \"protocol/generated/{}.h\"\n", snakeCase(message->name));
  out += "\n// clang-format off\nnamespace tidemark::protocol {\n\n";
  for (const Message* message : messages) {
    out += fmt::format("// --- {}\n\n", message->name);
    for (const auto& structure : message->structs)
      if (!structure->reach.empty()) out += StructCodec(*message, *structure, true).emit();
    out += StructCodec(*message, message->body, false).emit();
    out += fmt::format("TIDEMARK_MESSAGE({})\n\n", message->name);
  }
  return out + "}  // namespace tidemark::protocol\n";
}

}  // namespace generator
