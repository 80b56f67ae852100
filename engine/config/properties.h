#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config_value.h"

namespace tidemark::config {

/// Reads a Java .properties text: `key=value`, `key: value` or `key value`, comments with # or !, lines continued with
/// a backslash, escapes \t \n \r \f \uXXXX. A later value of a key replaces an earlier one. Errors name the line.
Result<ConfigMap> parseProperties(std::string_view text);

/// Writes what parseProperties reads back as the same map; `comment` (may be empty) becomes the first line.
std::string formatProperties(const ConfigMap& properties, std::string_view comment);

/// "key=value, key=value", to be read by people.
std::string listed(const ConfigMap& properties);

/// `key=value` of a command line (--set).
Result<std::pair<std::string, std::string>> parseAssignment(std::string_view text);

}  // namespace tidemark::config
