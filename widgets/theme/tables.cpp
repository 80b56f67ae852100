#include "theme/tables.h"

#include <QHeaderView>
#include <QTableView>

#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

constexpr int kRowOfTables = 25;

}  // namespace

void frameTable(QTableView& table, const QString& name) {
  table.setProperty("kind", QStringLiteral("framed"));
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setShowGrid(false);
  table.setWordWrap(false);
  table.setFont(Theme::mono(12));
  table.setAccessibleName(name);
  table.verticalHeader()->hide();
  table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table.verticalHeader()->setDefaultSectionSize(kRowOfTables);
}

}  // namespace tidemark::widgets
