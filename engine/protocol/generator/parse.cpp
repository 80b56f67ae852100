#include <charconv>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "schema.h"

namespace generator {
namespace {

[[noreturn]] void reject(const std::string& file, int line, const std::string& what) {
  throw SchemaError(fmt::format("{}:{}: {}", file, line, what));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (!text.empty() && text.back() == separator) parts.emplace_back();
  return parts;
}

const std::map<std::string, Type> kTypes = {
    {"bool", Type::Bool},   {"int8", Type::Int8},     {"int16", Type::Int16}, {"uint16", Type::UInt16},
    {"int32", Type::Int32}, {"uint32", Type::UInt32}, {"int64", Type::Int64}, {"float64", Type::Float64},
    {"uuid", Type::Uuid},   {"string", Type::String}, {"bytes", Type::Bytes}, {"records", Type::Records},
};
const std::set<std::string> kKinds = {"request", "response",        "header",           "metadata",
                                      "data",    "coordinator-key", "coordinator-value"};
const std::set<std::string> kEntities = {"brokerId", "groupId", "producerId", "topicName", "transactionalId"};
const std::set<std::string> kKeywords = {"default", "delete", "operator", "namespace", "class", "new",
                                         "private", "public", "register", "template",  "this",  "union",
                                         "export",  "bool",   "int",      "read",      "write", "schema"};

class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path), input_(path) {
    if (!input_) reject(path, 0, "cannot be read");
  }

  Message parse() {
    message_.file = path_;
    head();
    message_.body.name = message_.name;
    message_.body.reach = message_.versions;
    fields();
    resolveAll();
    checkFields(message_.body);
    for (const auto& structure : message_.structs) checkFields(*structure);
    order();
    sizes();
    return std::move(message_);
  }

 private:
  bool nextLine() {
    if (!std::getline(input_, text_)) return false;
    ++line_;
    if (!text_.empty() && text_.back() == '\r') text_.pop_back();
    return true;
  }
  [[noreturn]] void reject(const std::string& what) const { generator::reject(path_, line_, what); }
  [[noreturn]] void reject(const std::string& file, int line, const std::string& what) const {
    generator::reject(file, line, what);
  }

  int number(const std::string& text) const {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kNoLimit)
      reject(fmt::format("\"{}\" is not a number from 0 to {}", text, kNoLimit));
    return value;
  }

  Versions versions(const std::string& text) const {
    if (text == "none") return {};
    if (text.empty()) reject("a version range is missing");
    if (text.back() == '+') return {number(text.substr(0, text.size() - 1)), kNoLimit};
    const size_t dash = text.find('-');
    if (dash == std::string::npos) return {number(text), number(text)};
    const Versions range{number(text.substr(0, dash)), number(text.substr(dash + 1))};
    if (range.empty()) reject(fmt::format("the version range \"{}\" is empty", text));
    return range;
  }

  void head() {
    std::map<std::string, std::string> values;
    while (nextLine() && text_ != "fields") {
      if (text_.empty()) continue;
      const size_t space = text_.find(' ');
      if (space == std::string::npos) reject(fmt::format("\"{}\" has no value", text_));
      const std::string key = text_.substr(0, space);
      const std::string value = text_.substr(space + 1);
      if (!values.emplace(key, value).second) reject(fmt::format("\"{}\" is said twice", key));
      if (key == "message")
        message_.name = value;
      else if (key == "kind")
        message_.kind = value;
      else if (key == "module")
        message_.module = value;
      else if (key == "apiKey")
        message_.key = number(value);
      else if (key == "validVersions")
        message_.versions = versions(value);
      else if (key == "flexibleVersions")
        message_.flexible = versions(value);
      else if (key == "latestVersionUnstable")
        message_.latestUnstable = value == "true";
      else if (key != "listeners")
        reject(fmt::format("unknown head line \"{}\"", key));
    }
    for (const char* key : {"message", "kind", "module", "validVersions"})
      if (!values.contains(key)) reject(fmt::format("the head line \"{}\" is missing", key));
    if (!kKinds.contains(message_.kind)) reject(fmt::format("unknown kind \"{}\"", message_.kind));
    if (!message_.versions.empty() && message_.versions.last == kNoLimit) reject("validVersions needs an end");
    if (!message_.flexible.empty() && message_.flexible.last != kNoLimit) reject("flexibleVersions must not end");
    const size_t slash = path_.rfind('/');
    if (path_.substr(slash + 1) != message_.name + ".txt")
      reject(fmt::format("the file of message \"{}\" must be called {}.txt", message_.name, message_.name));
    if (message_.isApi() && message_.key < 0) reject("a request or response needs an apiKey");
  }

  void fields() {
    // The struct whose fields a line of each depth belongs to; depth 1 is the section's own.
    std::vector<Struct*> owners = {nullptr, &message_.body};
    while (nextLine()) {
      if (text_.empty()) continue;
      if (text_.starts_with("struct ")) {
        const std::vector<std::string> words = split(text_, ' ');
        if (words.size() != 3) reject("expected: struct NAME VERSIONS");
        (void)versions(words[2]);
        owners = {nullptr, &addStruct(words[1])};
        continue;
      }
      const size_t indent = text_.find_first_not_of(' ');
      if (indent == std::string::npos) continue;
      if (indent == 0 || indent % 2 != 0) reject("a field is indented by two spaces a level");
      const size_t depth = indent / 2;
      if (depth >= owners.size()) reject("a field is indented deeper than its parent allows");
      owners.resize(depth + 1);
      Struct& owner = *owners[depth];
      owner.fields.push_back(field(split(text_.substr(indent), ' ')));
      Field& added = owner.fields.back();
      const std::string element = added.isArray ? added.typeName.substr(2) : added.typeName;
      // Children, if the next line has any, go to a struct of that name; it stays unmade if none follow.
      if (added.type == Type::Struct && nextIsDeeper(depth)) owners.push_back(&addStruct(element));
    }
  }

  bool nextIsDeeper(size_t depth) {
    const auto mark = input_.tellg();
    std::string next;
    const bool got = static_cast<bool>(std::getline(input_, next));
    input_.clear();
    input_.seekg(mark);
    return got && next.size() > 2 * (depth + 1) &&
           next.substr(0, 2 * (depth + 1)).find_first_not_of(' ') == std::string::npos;
  }

  Struct& addStruct(const std::string& name) {
    if (byName_.contains(name)) reject(fmt::format("struct \"{}\" is described twice", name));
    if (name == message_.name) reject(fmt::format("struct \"{}\" has the message's name", name));
    message_.structs.push_back(std::make_unique<Struct>());
    Struct& made = *message_.structs.back();
    made.name = name;
    made.line = line_;
    byName_[name] = &made;
    return made;
  }

  Field field(const std::vector<std::string>& words) {
    if (words.size() < 3) reject("expected: NAME TYPE VERSIONS …");
    Field field;
    field.line = line_;
    field.name = words[0];
    field.jsonName = words[0];
    if (field.name.empty() || !isalpha(static_cast<unsigned char>(field.name[0])))
      reject(fmt::format("\"{}\" is no name for a field", field.name));
    field.jsonName[0] = static_cast<char>(tolower(field.jsonName[0]));
    field.cppName = kKeywords.contains(field.jsonName) ? field.jsonName + "_" : field.jsonName;
    field.typeName = words[1];
    field.isArray = words[1].starts_with("[]");
    const std::string element = field.isArray ? words[1].substr(2) : words[1];
    if (const auto type = kTypes.find(element); type != kTypes.end()) {
      field.type = type->second;
    } else {
      if (element.empty() || !isupper(static_cast<unsigned char>(element[0])))
        reject(fmt::format("unknown type \"{}\"", words[1]));
      field.type = Type::Struct;
    }
    field.versions = versions(words[2]);
    for (size_t i = 3; i < words.size(); ++i) option(field, words[i]);
    if (field.isArray && field.type == Type::Records) reject("an array of records is not supported");
    if (field.isArray && field.defaultValue && !field.nullByDefault()) reject("an array's default can only be null");
    if (field.nullByDefault() && !field.isNullable()) reject("the default is null but the field is never null");
    return field;
  }

  void option(Field& field, const std::string& word) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (word == "ignorable")
      field.ignorable = true;
    else if (word == "mapKey")
      field.mapKey = true;
    else if (word == "zeroCopy")
      return;
    else if (word == "flex=none")
      field.neverFlexible = true;
    else if (key == "null")
      field.nullable = versions(value);
    else if (key == "default")
      field.defaultValue = value == "\"\"" ? "" : value;
    else if (key == "entity") {
      if (!kEntities.contains(value)) reject(fmt::format("unknown entity \"{}\"", value));
      field.entity = value;
    } else if (key == "tag") {
      const size_t at = value.find('@');
      if (at == std::string::npos) reject("expected: tag=N@VERSIONS");
      field.tag = static_cast<unsigned>(number(value.substr(0, at)));
      field.tagged = versions(value.substr(at + 1));
      if (!message_.flexible.covers(field.tagged)) reject("a tagged field in versions that are not flexible");
    } else {
      reject(fmt::format("unknown option \"{}\"", word));
    }
  }

  void resolveAll() {
    resolve(message_.body);
    for (const auto& structure : message_.structs) resolve(*structure);
    reach(message_.body, message_.versions);
    for (const auto& structure : message_.structs)
      if (!used_.contains(structure.get()))
        reject(path_, structure->line, fmt::format("struct \"{}\" is not used", structure->name));
  }

  void resolve(Struct& owner) {
    for (Field& field : owner.fields) {
      if (field.type != Type::Struct) continue;
      const auto found = byName_.find(field.isArray ? field.typeName.substr(2) : field.typeName);
      if (found == byName_.end()) reject(path_, field.line, fmt::format("unknown type \"{}\"", field.typeName));
      field.structure = found->second;
    }
  }

  /// Widens each struct's reach by where it is used from; a struct that contains itself is refused.
  void reach(Struct& owner, Versions versions) {
    if (!stack_.insert(&owner).second)
      reject(path_, owner.line, fmt::format("struct \"{}\" contains itself", owner.name));
    for (Field& field : owner.fields) {
      if (field.structure == nullptr) continue;
      const Versions here = field.versions.intersect(versions);
      Struct& inner = *field.structure;
      if (!here.empty()) {
        inner.reach = inner.reach.empty()
                          ? here
                          : Versions{std::min(inner.reach.first, here.first), std::max(inner.reach.last, here.last)};
      }
      used_.insert(&inner);
      reach(inner, here);
    }
    stack_.erase(&owner);
  }

  void checkFields(const Struct& owner) const {
    std::set<std::string> names;
    std::map<unsigned, const Field*> tags;
    for (const Field& field : owner.fields) {
      if (!names.insert(field.name).second)
        reject(path_, field.line, fmt::format("field \"{}\" occurs twice in \"{}\"", field.name, owner.name));
      if (!field.tagged.empty() && !tags.emplace(field.tag, &field).second)
        reject(path_, field.line, fmt::format("tag {} is taken by \"{}\"", field.tag, tags[field.tag]->name));
      if (!field.versions.covers(field.tagged))
        reject(path_, field.line, "a tag in versions in which the field does not exist");
    }
  }

  /// Sorts the structs so that each stands before those that use it.
  void order() {
    std::vector<Struct*> sorted;
    std::set<const Struct*> done;
    const std::function<void(Struct&)> visit = [&](Struct& owner) {
      for (Field& field : owner.fields)
        if (field.structure != nullptr && done.insert(field.structure).second) {
          visit(*field.structure);
          sorted.push_back(field.structure);
        }
    };
    visit(message_.body);
    std::vector<std::unique_ptr<Struct>> ordered;
    for (Struct* wanted : sorted)
      for (auto& structure : message_.structs)
        if (structure.get() == wanted) ordered.push_back(std::move(structure));
    message_.structs = std::move(ordered);
  }

  void sizes() {
    for (const auto& structure : message_.structs) sizesOf(*structure);
    sizesOf(message_.body);
  }
  void sizesOf(Struct& owner) const {
    for (Field& field : owner.fields) {
      if (!field.isArray) continue;
      const Versions versions = field.versions.intersect(message_.versions);
      size_t least = versions.empty() ? 1 : SIZE_MAX;
      for (int version = versions.first; version <= versions.last; ++version)
        least = std::min(least, elementSize(field, version));
      if (least == 0)
        reject(path_, field.line, "an element of this array can take no bytes: its count would be unbounded");
      field.minElementSize = least;
    }
  }

  size_t elementSize(const Field& field, int version) const {
    const bool flexible = message_.flexible.contains(version) && !field.neverFlexible;
    switch (field.type) {
      case Type::Bool:
      case Type::Int8:
        return 1;
      case Type::Int16:
      case Type::UInt16:
        return 2;
      case Type::Int32:
      case Type::UInt32:
        return 4;
      case Type::Int64:
      case Type::Float64:
        return 8;
      case Type::Uuid:
        return 16;
      case Type::String:
        return flexible ? 1 : 2;
      case Type::Bytes:
      case Type::Records:
        return flexible ? 1 : 4;
      case Type::Struct:
        break;
    }
    size_t sum = message_.flexible.contains(version) ? 1 : 0;
    for (const Field& inner : field.structure->fields) {
      if (!inner.versions.contains(version) || inner.tagged.contains(version)) continue;
      if (inner.isArray)
        sum += message_.flexible.contains(version) ? 1 : 4;
      else if (inner.type == Type::Struct && inner.nullable.contains(version))
        sum += 1;
      else
        sum += elementSize(inner, version);
    }
    return sum;
  }

  const std::string path_;
  std::ifstream input_;
  std::string text_;
  int line_ = 0;
  Message message_;
  std::map<std::string, Struct*> byName_;
  std::set<const Struct*> used_;
  std::set<const Struct*> stack_;
};

}  // namespace

Versions Versions::intersect(const Versions& other) const {
  if (empty() || other.empty()) return {};
  return {std::max(first, other.first), std::min(last, other.last)};
}

Message parseMessage(const std::string& path) {
  return Parser(path).parse();
}

std::vector<Api> parseApis(const std::string& path) {
  std::ifstream input(path);
  if (!input) reject(path, 0, "cannot be read");
  std::string text;
  std::getline(input, text);
  const std::vector<std::string> columns = split(text, '\t');
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < columns.size(); ++i) index[columns[i].substr(0, columns[i].find('('))] = i;
  for (const char* column : {"key", "name", "min", "max", "maxStable", "listeners", "clusterAction", "forwardable",
                             "requestHeader", "responseHeader"})
    if (!index.contains(column)) reject(path, 1, fmt::format("the column \"{}\" is missing", column));

  std::vector<Api> apis;
  for (int line = 2; std::getline(input, text); ++line) {
    const std::vector<std::string> cells = split(text, '\t');
    if (cells.size() != columns.size())
      reject(path, line, fmt::format("{} cells, but {} columns", cells.size(), columns.size()));
    const auto cell = [&](const char* column) { return cells[index[column]]; };
    const auto number = [&](const char* column) {
      const std::string value = cell(column);
      int parsed = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
      if (error != std::errc() || end != value.data() + value.size())
        reject(path, line, fmt::format("{}: \"{}\" is not a number", column, value));
      return parsed;
    };
    Api api;
    api.line = line;
    api.key = number("key");
    api.name = cell("name");
    if (cell("min") != "removed") {
      api.versions = {number("min"), number("max")};
      api.maxStable = number("maxStable");
    }
    api.onBroker = cell("listeners").find("broker") != std::string::npos;
    api.onController = cell("listeners").find("controller") != std::string::npos;
    api.clusterAction = cell("clusterAction") == "true";
    api.forwardable = cell("forwardable") == "true";
    api.requestHeaders = cell("requestHeader");
    api.responseHeaders = cell("responseHeader");
    if (!apis.empty() && apis.back().key + 1 != api.key) reject(path, line, "the keys must follow each other");
    apis.push_back(api);
  }
  return apis;
}

std::string snakeCase(const std::string& name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool upper = isupper(static_cast<unsigned char>(name[i])) != 0;
    const bool afterLower = i > 0 && isupper(static_cast<unsigned char>(name[i - 1])) == 0;
    const bool beforeLower = i > 0 && i + 1 < name.size() && islower(static_cast<unsigned char>(name[i + 1])) != 0;
    if (upper && (afterLower || beforeLower)) result += '_';
    result += static_cast<char>(tolower(name[i]));
  }
  return result;
}

}  // namespace generator
