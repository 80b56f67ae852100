#include "log/checkpoints.h"

#include <fmt/format.h>

#include "log/text_lines.h"

namespace tidemark::log {
namespace {

constexpr uint64_t kMaxTextFile = 64u << 20;

std::vector<std::string_view> splitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// A value of a Java properties file: `\` takes the next character as it is (our values need no others).
std::string unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

/// `key=value`, `key:value`; nothing for comments and empty lines.
std::optional<std::pair<std::string, std::string>> parseProperty(std::string_view line) {
  line = trim(line);
  if (line.empty() || line.front() == '#' || line.front() == '!') return std::nullopt;
  size_t split = 0;
  while (split < line.size() && line[split] != '=' && line[split] != ':') split += line[split] == '\\' ? 2 : 1;
  if (split >= line.size()) return std::pair(unescape(line), std::string());
  return std::pair(unescape(trim(line.substr(0, split))), unescape(trim(line.substr(split + 1))));
}

std::unexpected<Error> corrupt(std::string message) {
  return fail(ErrorCode::CorruptMessage, std::move(message));
}

}  // namespace

Result<std::vector<std::string_view>> checkpointLines(std::string_view text) {
  std::vector<std::string_view> lines = splitLines(text);
  if (lines.size() < 2) return corrupt("a checkpoint without its two head lines");
  if (lines[0] != "0") return corrupt(fmt::format("a checkpoint of the unknown version '{}'", lines[0]));
  const auto count = parseDecimal<uint64_t>(lines[1]);
  if (!count || *count != lines.size() - 2)
    return corrupt(fmt::format("a checkpoint that should have {} lines and has {}", lines[1], lines.size() - 2));
  lines.erase(lines.begin(), lines.begin() + 2);
  return lines;
}

std::string encodeOffsetCheckpoint(const OffsetCheckpoint& offsets) {
  std::string text = fmt::format("0\n{}\n", offsets.size());
  for (const auto& [partition, offset] : offsets)
    text += fmt::format("{} {} {}\n", partition.topic, partition.partition, offset);
  return text;
}

Result<OffsetCheckpoint> decodeOffsetCheckpoint(std::string_view text) {
  TIDEMARK_ASSIGN(const auto lines, checkpointLines(text));
  OffsetCheckpoint offsets;
  for (const std::string_view line : lines) {
    const size_t second = line.rfind(' ');
    const size_t first =
        second == std::string_view::npos || second == 0 ? std::string_view::npos : line.rfind(' ', second - 1);
    if (first == std::string_view::npos) return corrupt(fmt::format("the checkpoint line '{}'", line));
    const auto partition = parseDecimal<int32_t>(line.substr(first + 1, second - first - 1));
    const auto offset = parseDecimal<int64_t>(line.substr(second + 1));
    if (!partition || !offset) return corrupt(fmt::format("the checkpoint line '{}'", line));
    offsets[{std::string(line.substr(0, first)), PartitionIndex(*partition)}] = Offset(*offset);
  }
  return offsets;
}

std::string encodeMetaProperties(const MetaProperties& properties) {
  std::string text = "#\n#\n";
  if (!properties.clusterId.empty()) text += fmt::format("cluster.id={}\n", properties.clusterId);
  if (!properties.directoryId.isZero()) text += fmt::format("directory.id={}\n", properties.directoryId);
  text += fmt::format("node.id={}\nversion=1\n", properties.nodeId);
  return text;
}

Result<MetaProperties> decodeMetaProperties(std::string_view text) {
  MetaProperties properties;
  std::optional<std::string> version;
  std::optional<std::string> brokerId;
  std::optional<std::string> nodeId;
  for (const std::string_view line : splitLines(text)) {
    auto property = parseProperty(line);
    if (!property) continue;
    auto& [key, value] = *property;
    if (key == "version") version = value;
    if (key == "cluster.id") properties.clusterId = value;
    if (key == "node.id") nodeId = value;
    if (key == "broker.id") brokerId = value;
    if (key == "directory.id") {
      const auto id = Uuid::parse(value);
      if (!id) return corrupt(fmt::format("directory.id '{}' is not an id", value));
      properties.directoryId = *id;
    }
  }
  if (!version) return corrupt("version is missing");
  if (version != "0" && version != "1") return corrupt(fmt::format("version '{}' is neither 0 nor 1", *version));
  const auto& id = nodeId ? nodeId : brokerId;
  if (id) {
    const auto number = parseDecimal<int32_t>(*id);
    if (!number || *number < 0) return corrupt(fmt::format("node.id '{}' is not a node's id", *id));
    properties.nodeId = NodeId(*number);
  }
  if (version == "1" && (!id || properties.clusterId.empty())) return corrupt("cluster.id or node.id is missing");
  return properties;
}

std::string encodePartitionMetadata(const Uuid& topicId) {
  return fmt::format("version: 0\ntopic_id: {}", topicId);
}

Result<Uuid> decodePartitionMetadata(std::string_view text) {
  const auto lines = splitLines(text);
  constexpr std::string_view kKey = "topic_id: ";
  if (lines.size() < 2 || lines[0] != "version: 0" || !lines[1].starts_with(kKey))
    return corrupt("partition.metadata without version 0 and a topic id");
  const auto id = Uuid::parse(lines[1].substr(kKey.size()));
  if (!id || id->isZero()) return corrupt(fmt::format("partition.metadata: '{}' is no topic id", lines[1]));
  return *id;
}

std::string encodeCleanShutdown(BrokerEpoch epoch) {
  return fmt::format(R"({{"version":0,"brokerEpoch":{}}})", epoch);
}

Result<BrokerEpoch> decodeCleanShutdown(std::string_view text) {
  constexpr std::string_view kKey = "\"brokerEpoch\"";
  const size_t key = text.find(kKey);
  if (key == std::string_view::npos) return corrupt("a clean shutdown file without a broker epoch");
  std::string_view value = trim(text.substr(key + kKey.size()));
  if (!value.starts_with(':')) return corrupt("a clean shutdown file without a broker epoch");
  value = trim(value.substr(1));
  size_t end = 0;
  while (end < value.size() && (value[end] == '-' || (value[end] >= '0' && value[end] <= '9'))) ++end;
  const auto epoch = parseDecimal<int64_t>(value.substr(0, end));
  if (!epoch) return corrupt("a clean shutdown file whose broker epoch is no number");
  return BrokerEpoch(*epoch);
}

Result<std::optional<std::string>> readTextFile(platform::FileSystem& files, const std::string& path) {
  if (!files.exists(path)) return std::nullopt;
  return readText(files, path);
}

Result<std::string> readText(platform::FileSystem& files, const std::string& path) {
  TIDEMARK_ASSIGN(const ByteVector bytes, files.readFile(path, kMaxTextFile));
  return std::string(asText(bytes));
}

Result<void> writeMetaProperties(platform::FileSystem& files, const std::string& directory,
                                 const MetaProperties& properties) {
  return files.replaceFile(fmt::format("{}/{}", directory, kMetaPropertiesFile),
                           asBytes(encodeMetaProperties(properties)));
}

Result<std::optional<MetaProperties>> readMetaProperties(platform::FileSystem& files, const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kMetaPropertiesFile);
  TIDEMARK_ASSIGN(const auto text, readTextFile(files, path));
  if (!text) return std::nullopt;
  auto properties = decodeMetaProperties(*text);
  if (!properties) return fail(properties.error().code, fmt::format("{}: {}", path, properties.error().message));
  return *std::move(properties);
}

}  // namespace tidemark::log
