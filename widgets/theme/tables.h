#pragma once

#include <QString>

class QTableView;

namespace tidemark::widgets {

/// A table of rows as every page shows them: framed, without a grid, in figures, rows of one height, so that none of a
/// hundred thousand is measured. `name` is for screen readers.
void frameTable(QTableView& table, const QString& name);

}  // namespace tidemark::widgets
