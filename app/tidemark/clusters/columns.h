#pragma once

#include <string>
#include <vector>

namespace tidemark::app {

/// Rows under heads, each column as wide as it must be and apart from the next by two blanks, as Kafka's tools print
/// them. "-" stands for what is empty. Ends with a line end.
std::string columns(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows);

}  // namespace tidemark::app
