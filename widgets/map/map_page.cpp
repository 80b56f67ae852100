#include "map/map_page.h"

#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "map/map_view.h"
#include "text/format.h"
#include "text/node_words.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/table_text.h"
#include "theme/tables.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

std::pair<StateShape, QColor> consequenceMark(MapConsequence::Kind kind) {
  const Palette& p = colors();
  switch (kind) {
    case MapConsequence::Kind::UnderReplicated:
      return {StateShape::HalfDisc, p.warn};
    case MapConsequence::Kind::BelowMinimum:
    case MapConsequence::Kind::Offline:
    case MapConsequence::Kind::NoController:
      return {StateShape::Cross, p.bad};
    case MapConsequence::Kind::Mute:
      return {StateShape::Bars, p.warn};
    case MapConsequence::Kind::Fencing:
      return {StateShape::BarredRing, p.fenced};
  }
  return {StateShape::None, {}};
}

QString wayText(const MapDirection& direction) {
  return direction.fault.isEmpty() ? MapPage::tr("open") : direction.fault;
}

QString rateCell(const MapDirection& direction) {
  return direction.rate < 0 ? QStringLiteral("–") : QString::number(direction.rate, 'f', 1);
}

}  // namespace

/// What follows from the state of the cluster: a line of marks and words.
class MapPage::Consequences : public QWidget {
 public:
  explicit Consequences(QWidget* parent = nullptr) : QWidget(parent) {
    setFixedHeight(30);
    setAccessibleName(MapPage::tr("What follows"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  }
  void setList(std::vector<MapConsequence> list) {
    if (list == m_list && m_told) return;
    m_told = true;
    m_list = std::move(list);
    QStringList texts;
    for (const MapConsequence& one : m_list) texts << one.text;
    setAccessibleDescription(texts.join(QStringLiteral(", ")));
    setToolTip(texts.join(QLatin1Char('\n')));
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Palette& p = colors();
    const QFont head = Theme::body(12, QFont::DemiBold);
    const QFont font = Theme::body(12);
    drawLine(painter, 0, 20, MapPage::tr("What follows"), head, p.ink);
    double x = textWidth(MapPage::tr("What follows"), head) + 18;
    if (m_list.empty()) {
      drawShape(painter, StateShape::Disc, {x + 5, 16}, 9, p.ok);
      drawLine(painter, x + 16, 20, MapPage::tr("nothing: every partition is led and fully replicated"), font, p.muted);
      return;
    }
    for (const MapConsequence& one : m_list) {
      const double needs = 16 + textWidth(one.text, font);
      if (x + needs > width()) {
        drawLine(painter, x, 20, QStringLiteral("…"), font, p.muted);
        return;
      }
      const auto [shape, color] = consequenceMark(one.kind);
      drawShape(painter, shape, {x + 5, 16}, 9, color);
      drawLine(painter, x + 16, 20, one.text, font, p.ink);
      x += needs + 22;
    }
  }

 private:
  std::vector<MapConsequence> m_list;
  bool m_told = false;
};

MapPage::MapPage(EngineBridge& bridge, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_note(new QLabel),
      m_stack(new QStackedWidget(this)),
      m_map(new MapView),
      m_consequences(new Consequences(this)),
      m_table(new QTableView(m_stack)) {
  m_model = new RowsModel<MapLink>(
      {{tr("one end"), [](const MapLink& link, int) { return link.name; }},
       {tr("other end"), [](const MapLink& link, int) { return link.otherName; }},
       {tr("there"), [](const MapLink& link, int) { return link.down ? tr("not connected") : wayText(link.from); }},
       {tr("records/s"), [](const MapLink& link, int) { return rateCell(link.from); }, true},
       {tr("back"), [](const MapLink& link, int) { return link.down ? tr("not connected") : wayText(link.to); }},
       {tr("records/s"), [](const MapLink& link, int) { return rateCell(link.to); }, true}},
      this);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(24, 14, 24, 12);
  head->setSpacing(14);
  auto* title = new QLabel(tr("Cluster map"));
  title->setProperty("kind", QStringLiteral("title"));
  m_note->setProperty("kind", QStringLiteral("muted"));
  head->addWidget(title);
  // It gives way.
  m_note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  head->addWidget(m_note, 1);
  m_table->setModel(m_model);
  frameTable(*m_table, tr("Links"));
  m_table->setTabKeyNavigation(false);
  m_table->horizontalHeader()->setDefaultSectionSize(150);
  m_table->horizontalHeader()->setHighlightSections(false);
  auto* copy = new QShortcut(QKeySequence::Copy, m_table);
  copy->setContext(Qt::WidgetShortcut);
  connect(copy, &QShortcut::activated, this,
          [this] { QApplication::clipboard()->setText(tableText(*m_model, m_table->selectionModel())); });
  auto* scroll = new QScrollArea(m_stack);
  scroll->setWidget(m_map);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  m_stack->addWidget(scroll);
  m_stack->addWidget(m_table);
  auto* inside = new QVBoxLayout;
  inside->setContentsMargins(24, 0, 24, 10);
  inside->setSpacing(6);
  inside->addWidget(m_stack, 1);
  inside->addWidget(m_consequences);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addLayout(head);
  down->addLayout(inside, 1);
  setFocusProxy(m_map);
  connect(m_map, &MapView::menuWanted, this, &MapPage::menuWanted);
  connect(m_map, &MapView::pickChanged, this, [this, scroll](const MapPick& pick) {
    if (const QPoint at = m_map->layoutOfMap().middle(pick).toPoint(); !at.isNull())
      scroll->ensureVisible(at.x(), at.y(), 70, 40);
    if (pick.what == MapPick::What::Broker) Q_EMIT brokerPicked(pick.broker);
  });
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.anotherCluster) m_rates.clear();
    if (frame.snapshot == frame.previous || !m_active) return;
    m_rates.add(*frame.snapshot);
    fill();
  });
}

void MapPage::setActive(bool active) {
  if (active == m_active) return;
  m_active = active;
  m_rates.clear();
  if (active) fill();
}

void MapPage::showTable(bool table) {
  m_asTable = table;
  m_stack->setCurrentIndex(table ? 1 : 0);
  if (m_active) fill();
  (table ? static_cast<QWidget*>(m_table) : m_map)->setFocus();
}

void MapPage::fill() {
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  MapScene scene = mapScene(cluster, m_rates);
  const int external = static_cast<int>(std::ranges::count(scene.clients, false, &MapClient::own));
  const NodeCounts nodes = countNodes(cluster);
  const QString clients = tr("%n external client(s)", nullptr, external);
  const QString note =
      nodes.controllers == 0 && nodes.brokersVoting < nodes.brokers
          ? tr("%1 · %2 · %3")
                .arg(tr("%n broker(s)", nullptr, nodes.brokers),
                     tr("%n of them also controller(s)", nullptr, nodes.brokersVoting), clients)
      : nodes.controllers == 0
          ? tr("%1 · %2").arg(tr("%n broker(s), each also a controller", nullptr, nodes.brokers), clients)
          : tr("%1 · %2 · %3")
                .arg(tr("%n broker(s)", nullptr, nodes.brokers), tr("%n controller(s)", nullptr, nodes.controllers),
                     clients);
  if (m_note->text() != note) m_note->setText(note);
  m_consequences->setList(scene.consequences);
  if (m_asTable) m_model->setRows(scene.links);
  m_map->setScene(std::move(scene));
}

}  // namespace tidemark::widgets
