#include "tidemark/clusters/columns.h"

#include <algorithm>

namespace tidemark::app {

std::string columns(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const std::string& head : heads) widths.push_back(head.size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], std::max<size_t>(row[i].size(), 1));
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = row[i].empty() ? "-" : row[i];
      line += cell;
      if (i + 1 < row.size()) line.append(widths[i] - cell.size() + 2, ' ');
    }
    text += line + "\n";
  };
  add(heads);
  for (const auto& row : rows) add(row);
  return text;
}

}  // namespace tidemark::app
