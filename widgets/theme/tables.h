#pragma once

#include <functional>

#include <QString>

class QAbstractItemModel;
class QTableView;
class QWidget;

namespace tidemark::widgets {

/// A table of rows as every page shows them: framed, without a grid, in figures, rows of one height, so that none of a
/// hundred thousand is measured. `name` is for screen readers.
void frameTable(QTableView& table, const QString& name);
/// The same for a table that says what a picture shows: Tab goes on to what is beside it, Ctrl+C copies rows.
void frameTwin(QTableView& table, QAbstractItemModel* model, const QString& name);
/// A list of rows on a card that has a frame itself; it goes up and down only.
void layBare(QTableView& table, QAbstractItemModel* model, const QString& name, int rowHeight);

/// Ctrl+C in the widget copies what `text` says then.
void copyOnShortcut(QWidget& widget, std::function<QString()> text);
/// … the rows that are selected, or all, with their heads.
void copyRowsOnShortcut(QTableView& table);

}  // namespace tidemark::widgets
