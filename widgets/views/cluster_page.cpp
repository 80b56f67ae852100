#include "views/cluster_page.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>
#include <QVBoxLayout>

#include "belts/belts_view.h"
#include "belts/partition_header.h"
#include "models/belt_tables.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

/// All rows, or the selected ones, with heads, tab-separated.
QString tableText(const QTableView& table) {
  const QAbstractItemModel& model = *table.model();
  QStringList heads;
  for (int column = 0; column < model.columnCount(); ++column)
    heads << model.headerData(column, Qt::Horizontal).toString();
  QString text = heads.join(QLatin1Char('\t')) + QLatin1Char('\n');
  const bool all = !table.selectionModel()->hasSelection();
  for (int row = 0; row < model.rowCount(); ++row) {
    if (!all && !table.selectionModel()->isRowSelected(row, {})) continue;
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) cells << model.index(row, column).data().toString();
    text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
  }
  return text;
}

}  // namespace

ClusterPage::ClusterPage(EngineBridge& bridge, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_tabs(new QTabBar),
      m_header(new PartitionHeader(bridge)),
      m_stack(new QStackedWidget),
      m_scroll(new QScrollArea),
      m_belts(new BeltsView(bridge)),
      m_tables(new QWidget),
      m_replicas(new ReplicaTableModel(this)),
      m_batches(new BatchTableModel(this)) {
  m_tabs->addTab(tr("Belts"));
  m_tabs->addTab(tr("Table"));
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  m_tabs->setTabToolTip(0, tr("Belts (T)"));
  m_tabs->setTabToolTip(1, tr("The same as a table (T)"));
  auto* bar = new QWidget;
  bar->setProperty("kind", QStringLiteral("tabrow"));
  bar->setAttribute(Qt::WA_StyledBackground);
  bar->setFixedHeight(41);
  auto* barLayout = new QHBoxLayout(bar);
  barLayout->setContentsMargins(14, 0, 14, 0);
  barLayout->addWidget(m_tabs, 0, Qt::AlignBottom);
  barLayout->addStretch();

  m_scroll->setWidget(m_belts);
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->setFocusProxy(m_belts);

  auto* tables = new QVBoxLayout(m_tables);
  tables->setContentsMargins(24, 4, 24, 16);
  tables->setSpacing(8);
  const auto head = [](const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("kind", QStringLiteral("head"));
    return label;
  };
  QTableView* replicas = makeTable(m_replicas, tr("Replicas"));
  replicas->setMaximumHeight(30 + 5 * 26 + 4);
  tables->addWidget(head(tr("REPLICAS")));
  tables->addWidget(replicas);
  tables->addSpacing(6);
  tables->addWidget(head(tr("BATCHES, NEWEST FIRST")));
  tables->addWidget(makeTable(m_batches, tr("Batches")), 1);

  m_stack->addWidget(m_scroll);
  m_stack->addWidget(m_tables);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addWidget(bar);
  down->addWidget(m_header);
  down->addWidget(m_stack, 1);

  connect(m_tabs, &QTabBar::currentChanged, this, [this](int tab) {
    m_stack->setCurrentIndex(tab);
    fillTables();
  });
  connect(m_header, &PartitionHeader::partitionPicked, this, &ClusterPage::partitionPicked);
  connect(m_belts, &BeltsView::brokerPicked, this, &ClusterPage::brokerPicked);
  connect(m_belts, &BeltsView::legendChanged, this, [this] { m_header->setLegend(m_belts->epochsInSight()); });
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) fillTables();
  });
}

QTableView* ClusterPage::makeTable(QAbstractItemModel* model, const QString& name) {
  auto* table = new QTableView;
  table->setModel(model);
  table->setProperty("kind", QStringLiteral("framed"));
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setFont(Theme::mono(12));
  table->setMinimumHeight(40);
  table->setAccessibleName(name);
  table->verticalHeader()->hide();
  table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->verticalHeader()->setDefaultSectionSize(26);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  table->horizontalHeader()->setHighlightSections(false);
  table->setTabKeyNavigation(false);
  auto* copy = new QShortcut(QKeySequence::Copy, table);
  copy->setContext(Qt::WidgetShortcut);
  connect(copy, &QShortcut::activated, this, [table] { QApplication::clipboard()->setText(tableText(*table)); });
  return table;
}

void ClusterPage::setPartition(const std::optional<TopicPartition>& partition) {
  m_partition = partition;
  m_belts->setPartition(partition);
  m_header->setPartition(partition);
  fillTables();
}

bool ClusterPage::showsTable() const {
  return m_tabs->currentIndex() == 1;
}

void ClusterPage::showTable(bool table) {
  m_tabs->setCurrentIndex(table ? 1 : 0);
}

void ClusterPage::fillTables() {
  if (!showsTable()) return;
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  const auto* partition = m_partition ? observe::findPartition(cluster, *m_partition) : nullptr;
  m_replicas->setPartition(cluster, partition);
  m_batches->setPartition(partition);
}

}  // namespace tidemark::widgets
