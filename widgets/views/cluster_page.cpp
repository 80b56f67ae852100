#include "views/cluster_page.h"

#include <algorithm>
#include <vector>

#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>
#include <QVBoxLayout>

#include "belts/belts_view.h"
#include "belts/partition_header.h"
#include "cleaner/cleaner_page.h"
#include "groups/groups_page.h"
#include "map/map_page.h"
#include "models/belt_tables.h"
#include "segments/segments_page.h"
#include "text/format.h"
#include "theme/tables.h"
#include "theme/theme.h"
#include "timeline/timeline_page.h"
#include "transactions/transactions_page.h"
#include "views/page_parts.h"
#include "views/time_bar.h"

namespace tidemark::widgets {

namespace {

/// Columns wide enough for their heads and what stands in them; the room that is left is shared.
class FittedTable : public QTableView {
 public:
  using QTableView::QTableView;
  void fit() {
    const int columns = model()->columnCount();
    const QFontMetrics heads(Theme::body(11, QFont::Bold));
    std::vector<int> needed(static_cast<size_t>(columns));
    int all = 0;
    for (int column = 0; column < columns; ++column) {
      int wide = heads.horizontalAdvance(model()->headerData(column, Qt::Horizontal).toString()) + 20;
      for (int row = 0; row < std::min(model()->rowCount(), kRowsLookedAt); ++row)
        wide = std::max(wide, fontMetrics().horizontalAdvance(model()->index(row, column).data().toString()) + 20);
      // In steps: columns do not tremble with each digit.
      wide = (wide + 7) / 8 * 8;
      needed[static_cast<size_t>(column)] = wide;
      all += wide;
    }
    const int spare = std::max(0, viewport()->width() - all) / std::max(1, columns);
    for (int column = 0; column < columns; ++column)
      if (const int wide = needed[static_cast<size_t>(column)] + spare; columnWidth(column) != wide)
        setColumnWidth(column, wide);
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QTableView::resizeEvent(event);
    fit();
  }

 private:
  static constexpr int kRowsLookedAt = 30;
};

}  // namespace

ClusterPage::ClusterPage(EngineBridge& bridge, TimeTravel& travel, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_travel(travel),
      m_bar(new QWidget(this)),
      m_tabs(new QTabBar(m_bar)),
      m_lost(new QPushButton(m_bar)),
      m_moment(new MomentPill(travel, m_bar)),
      m_asTable(new QPushButton(tr("Table"), m_bar)),
      m_timeBar(new TimeBar(travel, this)),
      m_views(new QStackedWidget(this)),
      m_beltsPage(new QWidget(m_views)),
      m_header(new PartitionHeader(bridge, m_beltsPage)),
      m_stack(new QStackedWidget(m_beltsPage)),
      m_scroll(new QScrollArea(m_stack)),
      m_belts(new BeltsView(bridge, travel, m_scroll->viewport())),
      m_tables(new QWidget(m_stack)),
      m_replicas(new ReplicaTableModel(this)),
      m_batches(new BatchTableModel(this)),
      m_segments(new SegmentsPage(bridge, false, m_views)),
      m_cleaner(new CleanerPage(bridge, m_views)),
      m_map(new MapPage(bridge, m_views)),
      m_timeline(new TimelinePage(bridge, travel, m_views)),
      m_groups(new GroupsPage(bridge, m_views)),
      m_transactions(new TransactionsPage(bridge, m_views)) {
  m_tabs->addTab(tr("Belts"));
  m_tabs->addTab(tr("Segments"));
  m_tabs->addTab(tr("Cleaner"));
  m_tabs->addTab(tr("Map"));
  m_tabs->addTab(tr("Timeline"));
  m_tabs->addTab(tr("Groups"));
  m_tabs->addTab(tr("Transactions"));
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  m_tabs->setUsesScrollButtons(false);
  for (int i = 0; i < m_tabs->count(); ++i) m_tabs->setTabToolTip(i, tr("%1 (%2)").arg(m_tabs->tabText(i)).arg(i + 1));
  m_asTable->setProperty("kind", QStringLiteral("quiet"));
  m_asTable->setCheckable(true);
  m_asTable->setToolTip(tr("The same as a table (T)"));
  m_asTable->setFocusPolicy(Qt::TabFocus);
  m_bar->setProperty("kind", QStringLiteral("tabrow"));
  m_bar->setAttribute(Qt::WA_StyledBackground);
  m_bar->setFixedHeight(41);
  auto* barLayout = new QHBoxLayout(m_bar);
  barLayout->setContentsMargins(14, 0, 14, 0);
  barLayout->addWidget(m_tabs, 0, Qt::AlignBottom);
  barLayout->addStretch();
  m_lost->setProperty("kind", QStringLiteral("alarm"));
  m_lost->setFixedHeight(24);
  m_lost->hide();
  barLayout->addWidget(m_lost);
  barLayout->addWidget(m_moment);
  barLayout->addWidget(m_asTable);

  scrollDown(*m_scroll, m_belts);
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
  auto* beltsDown = new QVBoxLayout(m_beltsPage);
  beltsDown->setContentsMargins(0, 0, 0, 0);
  beltsDown->setSpacing(0);
  beltsDown->addWidget(m_header);
  beltsDown->addWidget(m_stack, 1);
  m_views->addWidget(m_beltsPage);
  m_views->addWidget(m_segments);
  m_views->addWidget(m_cleaner);
  m_views->addWidget(m_map);
  m_views->addWidget(m_timeline);
  m_views->addWidget(m_groups);
  m_views->addWidget(m_transactions);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addWidget(m_bar);
  down->addWidget(m_timeBar);
  down->addWidget(m_views, 1);

  connect(m_tabs, &QTabBar::currentChanged, this, [this](int tab) { showView(static_cast<View>(tab)); });
  connect(m_asTable, &QPushButton::clicked, this, [this](bool table) { showTable(table); });
  connect(m_belts, &BeltsView::batchPicked, this, [this](NodeId broker, Offset base) {
    if (!m_partition) return;
    m_segments->showBatch(*m_partition, broker, base);
    showView(View::Segments);
  });
  connect(m_cleaner, &CleanerPage::segmentsWanted, this,
          [this](const TopicPartition& partition, NodeId broker, Offset offset) {
            Q_EMIT otherPartitionPicked(partition);
            m_segments->showBatch(partition, broker, offset);
            showView(View::Segments);
          });
  connect(m_segments, &SegmentsPage::eventWanted, this, [this](quint64 number, platform::WallTime at) {
    m_travel.pause();
    m_travel.lookAtEvent(number, at);
  });
  connect(m_map, &MapPage::brokerPicked, this, &ClusterPage::brokerPicked);
  connect(m_header, &PartitionHeader::partitionPicked, this, &ClusterPage::partitionPicked);
  connect(m_belts, &BeltsView::brokerPicked, this, &ClusterPage::brokerPicked);
  connect(m_belts, &BeltsView::legendChanged, this, [this] { m_header->setLegend(m_belts->epochsInSight()); });
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) fillTables();
  });
  connect(&bridge, &EngineBridge::live, this, [this](const Frame& frame) {
    if (frame.anotherCluster) m_noted.clear();
    const auto tells = [](const observe::ObservedEvent& event) {
      return std::holds_alternative<events::RecordsLost>(event.event.payload);
    };
    if (frame.anotherCluster || std::ranges::any_of(frame.events.events, tells)) takeLost();
  });
  connect(m_belts, &BeltsView::noteTaken, this, [this] {
    for (const LogBreak& one : m_belts->breaks())
      if (one.what == LogBreak::What::Lost && m_partition) m_noted.insert({*m_partition, one.epoch});
    takeLost();
  });
  connect(m_lost, &QPushButton::clicked, this, [this] {
    if (!m_lostIn) return;
    const TopicPartition there = *m_lostIn;
    Q_EMIT otherPartitionPicked(there);
    showView(View::Belts);
  });
  // By mouse as well as by keys there is a way into the past.
  connect(m_moment, &MomentPill::clicked, this, [this] { m_travel.isLive() ? m_travel.step(-1) : m_travel.goLive(); });
}

QTableView* ClusterPage::makeTable(QAbstractItemModel* model, const QString& name) {
  auto* table = new FittedTable(m_tables);
  frameTwin(*table, model, name);
  table->setMinimumHeight(40);
  table->verticalHeader()->setDefaultSectionSize(26);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  connect(model, &QAbstractItemModel::rowsInserted, table, [table] { table->fit(); });
  return table;
}

void ClusterPage::setPartition(const std::optional<TopicPartition>& partition) {
  m_partition = partition;
  m_belts->setPartition(partition);
  m_header->setPartition(partition);
  m_segments->setPartition(partition);
  m_timeline->setPartition(partition);
  fillTables();
}

void ClusterPage::takeLost() {
  m_lostIn.reset();
  int64_t records = 0;
  for (const observe::TopicSnapshot& topic : m_bridge.newest()->topics)
    for (const observe::PartitionSnapshot& partition : topic.partitions) {
      const TopicPartition name{topic.name, partition.index};
      const TimelinePartition* past = m_travel.past().find(name);
      if (past == nullptr) continue;
      for (const LogBreak& one : breaksOf(*past, platform::WallTime::max())) {
        if (one.what != LogBreak::What::Lost || one.count() == 0 || m_noted.contains({name, one.epoch})) continue;
        records += one.count();
        if (!m_lostIn) m_lostIn = name;
      }
    }
  m_lost->setVisible(m_lostIn.has_value());
  if (!m_lostIn) return;
  m_lost->setText(tr("✕ %1 lost").arg(grouped(records)));
  m_lost->setToolTip(tr("%1 acknowledged record(s) lost, first in %2: show where", nullptr, pluralOf(records))
                         .arg(grouped(records), partitionText(*m_lostIn)));
  m_lost->setAccessibleName(m_lost->toolTip());
}

ClusterPage::View ClusterPage::view() const {
  return m_shown;
}

void ClusterPage::showView(View view) {
  if (view == m_shown) return;
  m_shown = view;
  m_tabs->setCurrentIndex(static_cast<int>(view));
  m_views->setCurrentIndex(static_cast<int>(view));
  takeView();
  Q_EMIT viewChanged(view);
  // Its keys work at once.
  viewWidget()->setFocus();
}

QWidget* ClusterPage::viewWidget() const {
  switch (m_shown) {
    case View::Segments:
      return m_segments;
    case View::Cleaner:
      return m_cleaner;
    case View::Map:
      return m_map;
    case View::Timeline:
      return m_timeline;
    case View::Groups:
      return m_groups;
    case View::Transactions:
      return m_transactions;
    case View::Belts:
      break;
  }
  return m_belts;
}

void ClusterPage::takeView() {
  m_asTable->setChecked(showsTable());
  m_segments->setActive(isVisible() && m_shown == View::Segments);
  m_cleaner->setActive(isVisible() && m_shown == View::Cleaner);
  m_map->setActive(isVisible() && m_shown == View::Map);
  m_timeline->setActive(isVisible() && m_shown == View::Timeline);
  m_groups->setActive(isVisible() && m_shown == View::Groups);
  m_transactions->setActive(isVisible() && m_shown == View::Transactions);
  fillTables();
}

void ClusterPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  takeView();
}

void ClusterPage::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  takeView();
}

bool ClusterPage::showsTable() const {
  switch (m_shown) {
    case View::Segments:
      return m_segments->showsTable();
    case View::Cleaner:
      return m_cleaner->showsTable();
    case View::Map:
      return m_map->showsTable();
    case View::Timeline:
      return m_timeline->showsTable();
    case View::Groups:
      return m_groups->showsTable();
    case View::Transactions:
      return m_transactions->showsTable();
    case View::Belts:
      break;
  }
  return m_stack->currentIndex() == 1;
}

void ClusterPage::showTable(bool table) {
  if (m_shown == View::Segments)
    m_segments->showTable(table);
  else if (m_shown == View::Cleaner)
    m_cleaner->showTable(table);
  else if (m_shown == View::Map)
    m_map->showTable(table);
  else if (m_shown == View::Timeline)
    m_timeline->showTable(table);
  else if (m_shown == View::Groups)
    m_groups->showTable(table);
  else if (m_shown == View::Transactions)
    m_transactions->showTable(table);
  else
    m_stack->setCurrentIndex(table ? 1 : 0);
  takeView();
}

void ClusterPage::fillTables() {
  if (m_shown != View::Belts || !showsTable()) return;
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  const auto* partition = m_partition ? observe::findPartition(cluster, *m_partition) : nullptr;
  m_replicas->setPartition(cluster, partition);
  m_batches->setPartition(partition);
}

}  // namespace tidemark::widgets
