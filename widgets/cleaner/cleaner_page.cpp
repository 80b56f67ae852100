#include "cleaner/cleaner_page.h"

#include <algorithm>

#include <QApplication>
#include <QButtonGroup>
#include <QCheckBox>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "cleaner/cleaner_list.h"
#include "text/format.h"
#include "theme/card.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/tables.h"
#include "theme/theme.h"
#include "views/page_parts.h"

namespace tidemark::widgets {

namespace {

/// What the colours and hatches of a bar mean.
class Legend : public QWidget {
 public:
  explicit Legend(QWidget* parent = nullptr) : QWidget(parent) {
    setFixedHeight(20);
    setMinimumWidth(40);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Palette& p = colors();
    const QFont font = Theme::body(11.5);
    double x = 0;
    const std::pair<QString, QBrush> parts[] = {
        {CleanerPage::tr("clean"), p.epochs[2]},
        {CleanerPage::tr("dirty"), hatch(p.warnSoft, p.warn, 6, 1.8)},
        {CleanerPage::tr("not cleanable yet"), hatch(p.hatchGround, p.hatchLine)},
    };
    for (const auto& [name, brush] : parts) {
      if (x + 20 + textWidth(name, font) > width()) return;
      painter.setPen(QPen(p.line, 1));
      painter.setBrush(brush);
      painter.drawRoundedRect(QRectF(x + 0.5, 4.5, 13, 11), 3, 3);
      drawLine(painter, x + 20, 14, name, font, p.muted);
      x += 20 + textWidth(name, font) + 18;
    }
    const QString limit = CleanerPage::tr("min.cleanable.dirty.ratio");
    if (x + 12 + textWidth(limit, font) > width()) return;
    painter.setPen(QPen(p.ink, 1.4));
    painter.drawLine(QPointF(x + 3, 2), QPointF(x + 3, 18));
    drawLine(painter, x + 12, 14, limit, font, p.muted);
  }
};

}  // namespace

// PassCard.

PassCard::PassCard(EngineBridge& bridge, QWidget* parent) : QWidget(parent), m_bridge(bridge) {
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
  // What is left until a horizon goes down.
  connect(&bridge, &EngineBridge::second, this, [this] {
    if (isVisible() && m_row && m_row->log.lastPass && m_row->log.lastPass->earliestHorizon) update();
  });
}

void PassCard::setRow(const std::optional<CleanerRow>& row) {
  m_row = row;
  setAccessibleName(asText());
  updateGeometry();
  update();
}

QSize PassCard::sizeHint() const {
  const size_t facts = m_row ? passFacts(*m_row, m_bridge.snapshot()->wall).size() : 0;
  return {372, facts == 0 ? 120 : 116 + static_cast<int>(facts) * 25 + 58};
}

QString PassCard::asText() const {
  if (!m_row) return {};
  QString text = tr("log\t%1\nbroker\t%2\nstate\t%3\n")
                     .arg(partitionText(m_row->log.partition))
                     .arg(m_row->log.broker.value())
                     .arg(cleanerStateText(*m_row));
  for (const auto& [name, value] : passFacts(*m_row, m_bridge.snapshot()->wall))
    text += name + QLatin1Char('\t') + value + QLatin1Char('\n');
  return text;
}

void PassCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = colors();
  drawCard(painter, rect());
  const double left = 16;
  const double right = width() - 16;
  drawLine(painter, left, 28, tr("Last pass"), Theme::body(13, QFont::DemiBold), p.ink);
  if (!m_row) return;
  const observe::CleanerSnapshot& log = m_row->log;
  drawLine(painter, right, 28, tr("%n pass(es) since the broker started", nullptr, pluralOf(log.passes)),
           Theme::body(12), p.muted, Qt::AlignRight);
  if (!log.lastPass) {
    painter.setFont(Theme::body(12));
    painter.setPen(p.muted);
    painter.drawText(QRectF(left, 44, right - left, 60), Qt::AlignLeft | Qt::TextWordWrap,
                     tr("This log has not been cleaned since its broker started."));
    return;
  }
  const observe::CleanerPassSnapshot& pass = *log.lastPass;
  // Records: what stayed of what was read.
  const QRectF bar(left, 62, right - left, 26);
  const double part =
      pass.recordsRead > 0 ? static_cast<double>(pass.recordsKept) / static_cast<double>(pass.recordsRead) : 0;
  QPainterPath shape;
  shape.addRoundedRect(bar, 5, 5);
  painter.save();
  painter.setClipPath(shape);
  painter.fillRect(bar, hatch(p.sunken, p.line));
  painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() * part, bar.height()), p.epochs[2]);
  painter.restore();
  painter.setPen(QPen(p.line, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
  const QFont figure = Theme::mono(12, QFont::DemiBold);
  drawLine(painter, left, 54, tr("kept %1").arg(grouped(pass.recordsKept)), figure, p.ink);
  drawLine(painter, right, 54, tr("dropped %1").arg(grouped(pass.recordsDropped())), figure, p.muted, Qt::AlignRight);

  double y = 116;
  const QFont name = Theme::body(12);
  const auto now = m_bridge.snapshot()->wall + std::chrono::duration_cast<std::chrono::milliseconds>(m_bridge.age());
  for (const auto& [what, value] : passFacts(*m_row, now)) {
    if (y > height() - 60) break;
    drawLine(painter, left, y, what, name, p.muted);
    drawLine(painter, right, y, value, figure, p.ink, Qt::AlignRight);
    painter.setPen(QPen(p.softLine, 1));
    painter.drawLine(QPointF(left, y + 8), QPointF(right, y + 8));
    y += 25;
  }
  painter.setFont(Theme::body(11.5));
  painter.setPen(p.muted);
  painter.drawText(QRectF(left, height() - 52, right - left, 44), Qt::AlignLeft | Qt::AlignBottom | Qt::TextWordWrap,
                   tr("A tombstone stays until its batch's horizon, %1 after the pass that first kept it.")
                       .arg(durationText(log.deleteRetention)));
}

// CleanerPage.

CleanerPage::CleanerPage(EngineBridge& bridge, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_head(new QWidget(this)),
      m_note(new QLabel(m_head)),
      m_brokerRow(new QHBoxLayout),
      m_brokers(new QButtonGroup(this)),
      m_empty(new QCheckBox(tr("empty ones too"), m_head)),
      m_stack(new QStackedWidget(this)),
      m_picture(new QWidget(m_stack)),
      m_card(new Card(m_picture)),
      m_list(new CleanerList(m_card)),
      m_pass(new PassCard(bridge, m_picture)),
      m_tables(new QWidget(m_stack)),
      m_table(new QTableView(m_tables)),
      m_nothing(new QLabel(m_stack)) {
  const auto number = [](int64_t value) { return grouped(value); };
  const auto bytes = [number](int64_t observe::CleanerSnapshot::* which) {
    return [number, which](const CleanerRow& row, int) { return number(row.log.*which); };
  };
  const auto offset = [](Offset observe::CleanerSnapshot::* which) {
    return [which](const CleanerRow& row, int) { return offsetText(row.log.*which); };
  };
  const auto ofPass = [](auto&& text) {
    return [text](const CleanerRow& row, int) {
      return row.log.lastPass ? QString(text(*row.log.lastPass)) : QStringLiteral("–");
    };
  };
  using Pass = observe::CleanerPassSnapshot;
  m_model = new RowsModel<CleanerRow>(
      {{tr("log"), [](const CleanerRow& row, int) { return partitionText(row.log.partition); }},
       {tr("broker"), [](const CleanerRow& row, int) { return QString::number(row.log.broker.value()); }, true},
       {tr("state"), [](const CleanerRow& row, int) { return cleanerStateText(row); }},
       {tr("log start"), offset(&observe::CleanerSnapshot::logStart), true},
       {tr("first dirty"), offset(&observe::CleanerSnapshot::firstDirty), true},
       {tr("first uncleanable"), offset(&observe::CleanerSnapshot::firstUncleanable), true},
       {tr("log end"), offset(&observe::CleanerSnapshot::logEnd), true},
       {tr("clean bytes"), bytes(&observe::CleanerSnapshot::cleanBytes), true},
       {tr("dirty bytes"), bytes(&observe::CleanerSnapshot::dirtyBytes), true},
       {tr("uncleanable bytes"), bytes(&observe::CleanerSnapshot::uncleanableBytes), true},
       {tr("passes"), bytes(&observe::CleanerSnapshot::passes), true},
       {tr("kept"), ofPass([](const Pass& pass) { return grouped(pass.recordsKept); }), true},
       {tr("dropped"), ofPass([](const Pass& pass) { return grouped(pass.recordsDropped()); }), true},
       {tr("tombstones kept"), ofPass([](const Pass& pass) { return grouped(pass.tombstonesKept); }), true},
       {tr("tombstones dropped"), ofPass([](const Pass& pass) { return grouped(pass.tombstonesDropped); }), true}},
      this);
  auto* row = new QHBoxLayout(m_head);
  row->setContentsMargins(24, 14, 24, 14);
  row->setSpacing(14);
  auto* title = new QLabel(tr("Cleaner"));
  title->setProperty("kind", QStringLiteral("title"));
  m_note->setProperty("kind", QStringLiteral("muted"));
  m_brokerRow->setSpacing(8);
  row->addWidget(title);
  row->addLayout(m_brokerRow);
  row->addWidget(m_note);
  row->addStretch(1);
  row->addWidget(m_empty);

  auto* cardDown = new QVBoxLayout(m_card);
  cardDown->setContentsMargins(2, 10, 2, 2);
  cardDown->setSpacing(8);
  auto* cardHead = new QHBoxLayout;
  cardHead->setContentsMargins(14, 0, 14, 0);
  auto* cardTitle = new QLabel(tr("Compacted logs"));
  cardTitle->setProperty("kind", QStringLiteral("cardtitle"));
  cardHead->addWidget(cardTitle);
  cardHead->addSpacing(18);
  cardHead->addWidget(new Legend, 1);
  cardDown->addLayout(cardHead);
  cardDown->addWidget(m_list, 1);
  auto* pictureRow = new QHBoxLayout(m_picture);
  pictureRow->setContentsMargins(24, 0, 24, 18);
  pictureRow->setSpacing(16);
  pictureRow->addWidget(m_card, 1);
  pictureRow->addWidget(m_pass);
  m_pass->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Maximum);
  pictureRow->setAlignment(m_pass, Qt::AlignTop);

  frameTwin(*m_table, m_model, tr("Compacted logs"));
  m_table->horizontalHeader()->setDefaultSectionSize(104);
  m_table->setColumnWidth(0, 190);
  m_table->setColumnWidth(2, 240);
  auto* tablesDown = new QVBoxLayout(m_tables);
  tablesDown->setContentsMargins(24, 0, 24, 16);
  tablesDown->addWidget(m_table);

  placeNothing(*m_nothing);
  m_stack->addWidget(m_picture);
  m_stack->addWidget(m_tables);
  m_stack->addWidget(m_nothing);
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addWidget(m_head);
  down->addWidget(m_stack, 1);
  setFocusProxy(m_list);

  connect(m_brokers, &QButtonGroup::idClicked, this, [this](int id) {
    m_broker = NodeId(id);
    fill();
  });
  connect(m_empty, &QCheckBox::toggled, this, &CleanerPage::fill);
  connect(m_list, &CleanerList::currentChanged, this, &CleanerPage::takeCurrent);
  connect(m_list, &CleanerList::activated, this, [this](int index) {
    const observe::CleanerSnapshot& log = m_list->rows()[static_cast<size_t>(index)].log;
    Q_EMIT segmentsWanted(log.partition, log.broker, std::min(log.firstDirty, log.logEnd - 1));
  });
  connect(&bridge, &EngineBridge::frame, this, [this](const Frame& frame) {
    if (frame.snapshot != frame.previous) fill();
  });
}

void CleanerPage::setActive(bool active) {
  m_active = active;
  fill();
}

void CleanerPage::showTable(bool table) {
  m_asTable = table;
  fill();
  if (m_stack->currentIndex() < 2) (table ? static_cast<QWidget*>(m_table) : m_list)->setFocus();
}

void CleanerPage::makeBrokers(const observe::ClusterSnapshot& cluster) {
  std::vector<NodeId> brokers;
  for (const observe::BrokerSnapshot& broker : cluster.brokers)
    if (broker.isBroker) brokers.push_back(broker.id);
  if (brokers == m_known) return;
  m_known = brokers;
  for (QAbstractButton* button : m_brokers->buttons()) {
    m_brokers->removeButton(button);
    button->hide();
    button->deleteLater();
  }
  const auto add = [this](const QString& name, NodeId id) {
    auto* button = new QPushButton(name);
    button->setProperty("kind", QStringLiteral("pill"));
    button->setCheckable(true);
    button->setMinimumWidth(28);
    button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    button->setChecked(id == m_broker);
    m_brokers->addButton(button, id.value());
    m_brokerRow->addWidget(button);
  };
  if (std::ranges::find(brokers, m_broker) == brokers.end()) m_broker = kNoNode;
  add(tr("All"), kNoNode);
  for (const NodeId id : brokers) add(tr("Broker %1").arg(id.value()), id);
}

QString CleanerPage::nothingText(const observe::ClusterSnapshot& cluster) const {
  const bool past = m_bridge.moment().has_value() || m_bridge.isRecorded();
  const bool holds = std::ranges::any_of(cluster.topics, [](const observe::TopicSnapshot& topic) {
    return topic.compacted && std::ranges::any_of(topic.partitions, [](const observe::PartitionSnapshot& one) {
             return one.logEnd > one.logStart;
           });
  });
  if (past && holds && cluster.cleaners.empty()) return tr("The recording tells nothing of the cleaner's work then.");
  if (past) return tr("No compacted topic held records at that moment.");
  return tr("No topic of this cluster is compacted and holds records: give one cleanup.policy=compact.");
}

void CleanerPage::fill() {
  if (!m_active) return;
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  makeBrokers(cluster);
  std::vector<CleanerRow> rows = cleanerRows(cluster, m_broker, m_empty->isChecked());
  const auto count = [&rows](CleanerRow::State state) {
    return static_cast<int>(std::ranges::count(rows, state, &CleanerRow::state));
  };
  QStringList notes{tr("%n log(s)", nullptr, static_cast<int>(rows.size()))};
  if (const int running = count(CleanerRow::State::Running)) notes << tr("%n being cleaned", nullptr, running);
  if (const int aside = count(CleanerRow::State::SetAside)) notes << tr("%n set aside", nullptr, aside);
  m_note->setText(notes.join(QStringLiteral(" · ")));
  m_nothing->setText(nothingText(cluster));
  m_stack->setCurrentIndex(rows.empty() ? 2 : showsTable() ? 1 : 0);
  if (showsTable()) m_model->setRows(rows);
  m_list->setRows(std::move(rows));
  takeCurrent();
}

void CleanerPage::takeCurrent() {
  const int row = m_list->current();
  m_pass->setRow(row < 0 ? std::nullopt : std::optional(m_list->rows()[static_cast<size_t>(row)]));
}

QString CleanerPage::asText() const {
  return m_pass->asText();
}

void CleanerPage::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(asText());
    return;
  }
  QWidget::keyPressEvent(event);
}

void CleanerPage::save(QSettings& settings) const {
  settings.setValue(QStringLiteral("cleaner/empty"), m_empty->isChecked());
}

void CleanerPage::restore(const QSettings& settings) {
  m_empty->setChecked(settings.value(QStringLiteral("cleaner/empty"), false).toBool());
}

}  // namespace tidemark::widgets
