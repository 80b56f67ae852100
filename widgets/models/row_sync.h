#pragma once

#include <algorithm>
#include <vector>

namespace tidemark::widgets {

/// Brings `rows` to `wanted` with as few signals as needed: rows that are gone are removed, new ones inserted, changed
/// ones told as changed; what stays is not touched. A row has `key()` (its identity) and operator==. `removing(first,
/// last)` and `inserting(first, last)` are called before, `removed()` and `inserted()` after each step; `changed(row)`
/// after. Keys that stay are expected to keep their order; one that moved is removed and inserted.
template <class Row, class Signals>
void syncRows(std::vector<Row>& rows, std::vector<Row> wanted, Signals&& signals) {
  const auto has = [](const std::vector<Row>& in, const Row& row) {
    return std::ranges::any_of(in, [&row](const Row& other) { return other.key() == row.key(); });
  };
  // From the back, so that indices in front stay true.
  for (int i = static_cast<int>(rows.size()) - 1; i >= 0; --i) {
    if (has(wanted, rows[static_cast<size_t>(i)])) continue;
    int first = i;
    while (first > 0 && !has(wanted, rows[static_cast<size_t>(first - 1)])) --first;
    signals.removing(first, i);
    rows.erase(rows.begin() + first, rows.begin() + i + 1);
    signals.removed();
    i = first;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i < rows.size() && rows[i].key() == wanted[i].key()) {
      if (!(rows[i] == wanted[i])) {
        rows[i] = std::move(wanted[i]);
        signals.changed(static_cast<int>(i));
      }
      continue;
    }
    // A row that stands further down has moved here: it is taken out first.
    for (size_t j = i + 1; j < rows.size(); ++j)
      if (rows[j].key() == wanted[i].key()) {
        signals.removing(static_cast<int>(j), static_cast<int>(j));
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(j));
        signals.removed();
        break;
      }
    signals.inserting(static_cast<int>(i), static_cast<int>(i));
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(i), std::move(wanted[i]));
    signals.inserted();
  }
}

}  // namespace tidemark::widgets
