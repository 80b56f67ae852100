#include "theme/tables.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QShortcut>
#include <QTableView>

#include "theme/table_text.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr int kRowOfTables = 25;

/// Rows that are picked whole, and are all as high as one.
void setRows(QTableView& table, const QString& name, int height) {
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setShowGrid(false);
  table.setWordWrap(false);
  table.setAccessibleName(name);
  table.verticalHeader()->hide();
  table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table.verticalHeader()->setDefaultSectionSize(height);
}

}  // namespace

void frameTable(QTableView& table, const QString& name) {
  table.setProperty("kind", QStringLiteral("framed"));
  table.setFont(Theme::mono(12));
  setRows(table, name, kRowOfTables);
}

void frameTwin(QTableView& table, QAbstractItemModel* model, const QString& name) {
  table.setModel(model);
  frameTable(table, name);
  table.setTabKeyNavigation(false);
  table.horizontalHeader()->setHighlightSections(false);
  copyRowsOnShortcut(table);
}

void layBare(QTableView& table, QAbstractItemModel* model, const QString& name, int rowHeight) {
  table.setModel(model);
  table.setProperty("kind", QStringLiteral("bare"));
  setRows(table, name, rowHeight);
  table.setTabKeyNavigation(false);
  table.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table.horizontalHeader()->setHighlightSections(false);
}

void copyOnShortcut(QWidget& widget, std::function<QString()> text) {
  auto* copy = new QShortcut(QKeySequence::Copy, &widget);
  copy->setContext(Qt::WidgetShortcut);
  QObject::connect(copy, &QShortcut::activated, &widget,
                   [text = std::move(text)] { QApplication::clipboard()->setText(text()); });
}

void copyRowsOnShortcut(QTableView& table) {
  copyOnShortcut(table, [&table] { return tableText(*table.model(), table.selectionModel()); });
}

}  // namespace tidemark::widgets
