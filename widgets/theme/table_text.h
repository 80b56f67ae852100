#pragma once

#include <QAbstractItemModel>
#include <QItemSelectionModel>
#include <QString>

namespace tidemark::widgets {

/// All rows, or those that are selected, with heads, tab-separated; at most `most` rows.
inline QString tableText(const QAbstractItemModel& model, const QItemSelectionModel* selection = nullptr,
                         int most = 200'000) {
  QString text;
  const auto add = [&](const auto& cell) {
    for (int column = 0; column < model.columnCount(); ++column) {
      if (column > 0) text += QLatin1Char('\t');
      text += cell(column).toString();
    }
    text += QLatin1Char('\n');
  };
  add([&](int column) { return model.headerData(column, Qt::Horizontal); });
  const bool all = selection == nullptr || !selection->hasSelection();
  for (int row = 0, taken = 0; row < model.rowCount() && taken < most; ++row) {
    if (!all && !selection->isRowSelected(row, {})) continue;
    add([&](int column) { return model.index(row, column).data(); });
    ++taken;
  }
  return text;
}

}  // namespace tidemark::widgets
