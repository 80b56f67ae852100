#include "segments/past_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>

#include "segments/segments_controller.h"
#include "text/format.h"
#include "theme/table_text.h"
#include "theme/tables.h"
#include "theme/theme.h"
#include "views/fact_list.h"
#include "views/page_parts.h"

namespace tidemark::widgets {

namespace {

constexpr int kFactsWidth = 320;

}  // namespace

PastPanel::PastPanel(EngineBridge& bridge, SegmentsController& controller, QWidget* parent)
    : Card(parent),
      m_bridge(bridge),
      m_controller(controller),
      m_none(kindLabel(
          "muted", tr("Up to this moment it neither rolled nor lost a segment, as far as it is remembered."), this)),
      m_table(new QTableView(this)),
      m_facts(new FactList(this)) {
  m_model = new RowsModel<LogDeed>({{tr("time"), [](const LogDeed& row, int) { return timeText(row.at); }},
                                    {tr("event"), [](const LogDeed& row, int) { return row.what; }},
                                    {tr("detail"), [](const LogDeed& row, int) { return row.detail; }}},
                                   this);
  auto* head = new QHBoxLayout;
  head->setSpacing(12);
  head->addWidget(kindLabel("cardtitle", tr("What this log did"), this));
  head->addWidget(kindLabel("muted", tr("newest first · Enter: all views at that event"), this));
  head->addStretch(1);
  m_none->setWordWrap(true);
  m_none->setAlignment(Qt::AlignTop | Qt::AlignLeft);

  layBare(*m_table, m_model, tr("What this log did"), 24);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setColumnWidth(0, 116);
  m_table->setColumnWidth(1, 170);
  copyOnShortcut(*m_table, [this] { return asText(); });
  const auto go = [this](const QModelIndex& index) {
    if (!index.isValid()) return;
    const LogDeed deed = m_model->rows()[static_cast<size_t>(index.row())];
    Q_EMIT eventWanted(deed.event, deed.at);
  };
  connect(m_table, &QTableView::clicked, this, go);
  auto* enter = new QShortcut(QKeySequence(Qt::Key_Return), m_table);
  enter->setContext(Qt::WidgetShortcut);
  connect(enter, &QShortcut::activated, this, [this, go] { go(m_table->currentIndex()); });

  // The bytes are what is missed here, so it is said where they would stand.
  auto* missing = kindLabel("note",
                            tr("A recording holds what was told of the log, not its files: no bytes, no records, no "
                               "time index, and of the offset index what was added while it was recorded."),
                            this);
  missing->setWordWrap(true);
  missing->setFixedWidth(kFactsWidth);
  m_facts->setFixedWidth(kFactsWidth);
  auto* right = new QVBoxLayout;
  right->setSpacing(8);
  right->addWidget(kindLabel("cardtitle", tr("How it stood"), this));
  right->addWidget(m_facts);
  right->addStretch(1);
  right->addWidget(missing);
  auto* left = new QVBoxLayout;
  left->setSpacing(8);
  left->addLayout(head);
  left->addWidget(m_none, 1);
  left->addWidget(m_table, 1);
  auto* across = new QHBoxLayout(this);
  across->setContentsMargins(16, 10, 16, 12);
  across->setSpacing(28);
  across->addLayout(left, 1);
  across->addLayout(right);
  setMinimumHeight(240);
  connect(&controller, &SegmentsController::partitionRead, this, &PastPanel::take);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void PastPanel::take() {
  if (!m_controller.isPast() || !m_controller.place()) return;
  const observe::LookPlace& place = *m_controller.place();
  m_model->setRows(recordedDeeds(m_bridge.recording(), m_bridge.moment(), place));
  m_none->setVisible(m_model->rows().empty());
  m_table->setVisible(!m_model->rows().empty());
  std::vector<FactList::Fact> facts;
  for (auto& [name, value] : recordedFacts(*m_bridge.snapshot(), place)) facts.push_back({name, value, {}});
  m_facts->setFacts(std::move(facts));
}

QString PastPanel::asText() const {
  return m_facts->toText() + tableText(*m_model);
}

}  // namespace tidemark::widgets
