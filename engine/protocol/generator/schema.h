#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// The schemas as the generator sees them. The generator is a program of its own: it uses nothing of the engine.
namespace generator {

/// What is wrong with an input, with "file:line: " in front.
class SchemaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int kNoLimit = 32767;

/// Versions first to last, both included; empty if last < first.
struct Versions {
  int first = 0;
  int last = -1;
  bool empty() const { return last < first; }
  bool contains(int version) const { return version >= first && version <= last; }
  bool covers(const Versions& other) const { return other.empty() || (first <= other.first && last >= other.last); }
  Versions intersect(const Versions& other) const;
};

enum class Type { Bool, Int8, Int16, UInt16, Int32, UInt32, Int64, Float64, Uuid, String, Bytes, Records, Struct };

struct Struct;

struct Field {
  int line = 0;
  std::string name;      ///< as in the file
  std::string jsonName;  ///< first letter small
  std::string cppName;   ///< jsonName, but for keywords
  std::string typeName;  ///< "[]PartitionData"
  Type type = Type::Int32;
  bool isArray = false;
  bool ignorable = false;
  bool mapKey = false;
  bool neverFlexible = false;
  Versions versions;
  Versions nullable;
  Versions tagged;
  unsigned tag = 0;
  std::optional<std::string> defaultValue;
  std::string entity;
  Struct* structure = nullptr;
  size_t minElementSize = 0;

  bool isNullable() const { return !nullable.empty(); }
  bool nullByDefault() const { return defaultValue == "null"; }
};

struct Struct {
  int line = 0;
  std::string name;
  std::vector<Field> fields;
  /// The versions of the message in which it may occur.
  Versions reach;
};

struct Message {
  std::string file;
  std::string name;
  std::string kind;
  std::string module;
  int key = -1;
  bool latestUnstable = false;
  Versions versions;
  Versions flexible;
  Struct body;
  /// Nested structs, each before those that use it.
  std::vector<std::unique_ptr<Struct>> structs;

  bool isApi() const { return kind == "request" || kind == "response"; }
  bool isRecord() const { return !isApi() && key >= 0; }
  int flexibleFrom() const { return flexible.empty() ? kNoLimit : flexible.first; }
};

/// A line of apis.tsv.
struct Api {
  int key = 0;
  std::string name;
  Versions versions;
  int maxStable = -1;
  bool onBroker = false;
  bool onController = false;
  bool clusterAction = false;
  bool forwardable = false;
  std::string requestHeaders;
  std::string responseHeaders;
  int line = 0;
};

/// Reads one schema file and checks all it says.
Message parseMessage(const std::string& path);
std::vector<Api> parseApis(const std::string& path);

/// "FetchResponse" → "fetch_response".
std::string snakeCase(const std::string& name);

}  // namespace generator
