#include "config/properties.h"

#include <cstdint>

#include <fmt/format.h>

#include "config/config_table.h"

namespace tidemark::config {
namespace {

bool isBlank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\f';
}

void appendUtf8(std::string& out, uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0 | (point >> 6));
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | (point >> 12));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  }
}

/// One line of the file, and where the next starts.
std::string_view takeLine(std::string_view text, size_t& at) {
  const size_t end = text.find_first_of("\r\n", at);
  const std::string_view line = text.substr(at, end == std::string_view::npos ? end : end - at);
  if (end == std::string_view::npos) {
    at = text.size();
  } else {
    at = end + (text[end] == '\r' && end + 1 < text.size() && text[end + 1] == '\n' ? 2 : 1);
  }
  return line;
}

std::string_view withoutLeadingBlanks(std::string_view line) {
  while (!line.empty() && isBlank(line.front())) line.remove_prefix(1);
  return line;
}

/// Whether an odd number of backslashes ends it.
bool isContinued(std::string_view line) {
  size_t count = 0;
  while (count < line.size() && line[line.size() - 1 - count] == '\\') ++count;
  return count % 2 == 1;
}

std::optional<uint32_t> fourHexDigits(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t value = 0;
  for (char c : text.substr(0, 4)) {
    value <<= 4;
    if (c >= '0' && c <= '9') {
      value |= static_cast<uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value |= static_cast<uint32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      value |= static_cast<uint32_t>(c - 'A' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

Result<std::string> unescape(std::string_view text, size_t lineNumber) {
  std::string out;
  uint32_t highSurrogate = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      if (text[i] != '\\') out += text[i];
      continue;
    }
    const char escaped = text[++i];
    if (escaped == 'u') {
      const std::optional<uint32_t> unit = fourHexDigits(text.substr(i + 1));
      if (!unit) {
        return fail(ErrorCode::InvalidConfig,
                    fmt::format("Line {}: \\u must be followed by four hex digits", lineNumber));
      }
      i += 4;
      if (*unit >= 0xd800 && *unit < 0xdc00) {
        highSurrogate = *unit;
        continue;
      }
      const bool pair = *unit >= 0xdc00 && *unit < 0xe000 && highSurrogate != 0;
      appendUtf8(out, pair ? 0x10000 + ((highSurrogate - 0xd800) << 10) + (*unit - 0xdc00) : *unit);
      highSurrogate = 0;
      continue;
    }
    switch (escaped) {
      case 't':
        out += '\t';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 'f':
        out += '\f';
        break;
      default:
        out += escaped;
    }
  }
  return out;
}

/// Where the key ends: the first '=', ':' or blank that is not escaped.
size_t keyLength(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '=' || line[i] == ':' || isBlank(line[i])) {
      return i;
    }
  }
  return line.size();
}

std::string escape(std::string_view text, bool isKey) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\f':
        out += "\\f";
        break;
      case ' ':
        out += isKey || i == 0 ? "\\ " : " ";
        break;
      case '\\':
      case '=':
      case ':':
      case '#':
      case '!':
        out += '\\';
        out += c;
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

Result<ConfigMap> parseProperties(std::string_view text) {
  ConfigMap properties;
  size_t at = 0;
  size_t lineNumber = 0;
  while (at < text.size()) {
    std::string_view line = withoutLeadingBlanks(takeLine(text, at));
    ++lineNumber;
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    const size_t first = lineNumber;
    std::string logical(line);
    while (isContinued(logical) && at < text.size()) {
      logical.pop_back();
      logical += withoutLeadingBlanks(takeLine(text, at));
      ++lineNumber;
    }
    if (isContinued(logical)) logical.pop_back();
    const size_t length = keyLength(logical);
    std::string_view rest = withoutLeadingBlanks(std::string_view(logical).substr(length));
    if (!rest.empty() && (rest.front() == '=' || rest.front() == ':')) rest = withoutLeadingBlanks(rest.substr(1));
    TIDEMARK_ASSIGN(std::string key, unescape(std::string_view(logical).substr(0, length), first));
    TIDEMARK_ASSIGN(std::string value, unescape(rest, first));
    if (key.empty()) return fail(ErrorCode::InvalidConfig, fmt::format("Line {}: a key is missing before '='", first));
    properties.insert_or_assign(std::move(key), std::move(value));
  }
  return properties;
}

std::string formatProperties(const ConfigMap& properties, std::string_view comment) {
  std::string out;
  if (!comment.empty()) out += fmt::format("#{}\n", comment);
  for (const auto& [key, value] : properties) out += fmt::format("{}={}\n", escape(key, true), escape(value, false));
  return out;
}

std::string listed(const ConfigMap& properties) {
  std::string text;
  for (const auto& [key, value] : properties) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  return text;
}

Result<std::pair<std::string, std::string>> parseAssignment(std::string_view text) {
  const size_t at = text.find('=');
  const std::string_view key = trim(text.substr(0, at));
  if (at == std::string_view::npos || key.empty()) {
    return fail(ErrorCode::InvalidConfig, fmt::format("\"{}\" is not of the form key=value", text));
  }
  return std::pair(std::string(key), std::string(trim(text.substr(at + 1))));
}

}  // namespace tidemark::config
