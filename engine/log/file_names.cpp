#include "log/file_names.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace tidemark::log {
namespace {

constexpr size_t kOffsetDigits = 20;
constexpr size_t kMaxFolderName = 255;

template <class Number>
std::optional<Number> parseNumber(std::string_view text) {
  Number value{};
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A dot and the id as Kafka writes it into folders' names.
std::string hexOf(const Uuid& unique) {
  std::string text = ".";
  for (const uint8_t byte : unique.bytes()) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

std::string offsetFileName(Offset offset, std::string_view suffix) {
  return fmt::format("{:020}{}", offset.value(), suffix);
}

std::string offsetFilePath(const std::string& directory, Offset offset, std::string_view suffix) {
  return fmt::format("{}/{:020}{}", directory, offset.value(), suffix);
}

std::optional<Offset> offsetOfFileName(std::string_view name, std::string_view suffix) {
  if (name.size() != kOffsetDigits + suffix.size() || name.substr(kOffsetDigits) != suffix) return std::nullopt;
  const auto value = parseNumber<int64_t>(name.substr(0, kOffsetDigits));
  if (!value) return std::nullopt;
  return Offset(*value);
}

std::string folderName(const TopicPartition& partition) {
  return fmt::format("{}-{}", partition.topic, partition.partition);
}

std::optional<TopicPartition> partitionOfFolder(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const auto index = parseNumber<int32_t>(name.substr(dash + 1));
  if (!index) return std::nullopt;
  return TopicPartition{std::string(name.substr(0, dash)), PartitionIndex(*index)};
}

std::optional<TopicPartition> partitionOfFutureFolder(std::string_view name) {
  if (!name.ends_with(kFutureFolderSuffix)) return std::nullopt;
  name.remove_suffix(kFutureFolderSuffix.size());
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.size() - dot - 1 != 2 * Uuid().bytes().size()) return std::nullopt;
  return partitionOfFolder(name.substr(0, dot));
}

Result<std::string> futureFolderName(const TopicPartition& partition, const Uuid& unique) {
  std::string name = folderName(partition) + hexOf(unique);
  name += kFutureFolderSuffix;
  if (name.size() > kMaxFolderName)
    return fail(ErrorCode::InvalidTopicException,
                fmt::format("{} has too long a name to be moved to another directory", partition));
  return name;
}

std::string retiredFolderName(const TopicPartition& partition, const Uuid& unique, std::string_view suffix) {
  std::string end = hexOf(unique);
  end += suffix;
  return folderName(partition).substr(0, kMaxFolderName - end.size()) + end;
}

}  // namespace tidemark::log
