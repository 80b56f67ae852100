#include "segments/segments_page.h"

#include <algorithm>

#include <QApplication>
#include <QButtonGroup>
#include <QClipboard>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStyle>
#include <QTableView>
#include <QVBoxLayout>

#include "segments/batch_panel.h"
#include "segments/index_plot.h"
#include "segments/lookup_panel.h"
#include "segments/segment_strip.h"
#include "segments/segment_tables.h"
#include "segments/table_text.h"
#include "text/format.h"
#include "theme/draw.h"
#include "theme/shapes.h"
#include "theme/theme.h"

namespace tidemark::widgets {

namespace {

/// A card whose ground is drawn, so that splitters and labels keep the style sheet's own.
class Card : public QWidget {
 public:
  using QWidget::QWidget;

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    drawCard(painter, rect());
  }
};

QLabel* label(const QString& text, const char* kind) {
  auto* one = new QLabel(text);
  one->setProperty("kind", QLatin1String(kind));
  return one;
}

QString segmentAge(int64_t milliseconds) {
  const int64_t seconds = milliseconds / 1000;
  if (seconds < 120) return SegmentsPage::tr("%1 s").arg(seconds);
  if (seconds < 7200) return SegmentsPage::tr("%1 min").arg(seconds / 60);
  if (seconds < 2 * 86400) return SegmentsPage::tr("%1 h").arg(seconds / 3600);
  return SegmentsPage::tr("%n day(s)", nullptr, pluralOf(seconds / 86400));
}

}  // namespace

SegmentsPage::SegmentsPage(EngineBridge& bridge, bool fromDisk, QWidget* parent)
    : QWidget(parent),
      m_bridge(bridge),
      m_fromDisk(fromDisk),
      m_controller(bridge),
      m_title(label({}, "title")),
      m_place(new QPushButton),
      m_checked(label({}, "good")),
      m_searchBox(new QFrame),
      m_searchName(label({}, "muted")),
      m_search(new QLineEdit),
      m_stack(new QStackedWidget),
      m_findings(new QFrame),
      m_findingText(new QLabel),
      m_findingNext(new QPushButton(tr("Show"))),
      m_strip(new SegmentStrip),
      m_indexTitle(label({}, "cardtitle")),
      m_indexNote(label({}, "muted")),
      m_indexChoice(new QButtonGroup(this)),
      m_plot(new IndexPlot),
      m_lookup(new LookupPanel(m_controller)),
      m_batch(new BatchPanel(m_controller)),
      m_tables(new SegmentTables(m_controller)),
      m_nothing(label({}, "muted")) {
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addWidget(makeHead());

  m_findings->setProperty("kind", QStringLiteral("finding"));
  auto* findingRow = new QHBoxLayout(m_findings);
  findingRow->setContentsMargins(14, 6, 8, 6);
  m_findingText->setProperty("kind", QStringLiteral("error"));
  m_findingText->setTextFormat(Qt::PlainText);
  m_findingText->setWordWrap(true);
  findingRow->addWidget(m_findingText, 1);
  findingRow->addWidget(m_findingNext);
  m_findings->setContentsMargins(0, 0, 0, 0);
  m_findings->hide();
  auto* findingMargins = new QHBoxLayout;
  findingMargins->setContentsMargins(24, 0, 24, 8);
  findingMargins->setSpacing(0);
  findingMargins->addWidget(m_findings);
  down->addLayout(findingMargins);

  m_nothing->setAlignment(Qt::AlignCenter);
  m_nothing->setWordWrap(true);
  m_nothing->setContentsMargins(20, 0, 20, 60);
  auto* scroll = new QScrollArea;
  scroll->setWidget(makeBody());
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  auto* tables = new QWidget;
  auto* tablesDown = new QVBoxLayout(tables);
  tablesDown->setContentsMargins(24, 6, 24, 16);
  tablesDown->addWidget(m_tables);
  m_stack->addWidget(scroll);
  m_stack->addWidget(tables);
  m_stack->addWidget(m_nothing);
  down->addWidget(m_stack, 1);
  setFocusPolicy(Qt::StrongFocus);

  connect(&m_controller, &SegmentsController::opened, this, &SegmentsPage::takeOpened);
  connect(&m_controller, &SegmentsController::partitionRead, this, &SegmentsPage::takePartition);
  connect(&m_controller, &SegmentsController::segmentRead, this, &SegmentsPage::takeSegment);
  const auto takeStep = [this] { m_plot->setLookup(m_controller.lookup(), m_controller.step()); };
  connect(&m_controller, &SegmentsController::lookupChanged, this, [this, takeStep] {
    // The lookup is watched where it happens.
    if (m_controller.lookup()) setIndex(m_controller.lookup()->byTime && m_controller.lookup()->target >= 0);
    takeStep();
  });
  connect(&m_controller, &SegmentsController::rowChanged, this, [this, takeStep] {
    const int row = m_controller.row();
    if (m_controller.lookup() && m_controller.lookup()->byTime && row >= 0) {
      const auto index = m_controller.rows()[static_cast<size_t>(row)].index;
      if (index != log::LookupStep::Index::None) setIndex(index == log::LookupStep::Index::Time);
    }
    takeStep();
  });
  connect(&m_controller, &SegmentsController::problemTold, this, &SegmentsPage::told);
  connect(m_strip, &SegmentStrip::segmentPicked, &m_controller, &SegmentsController::pickSegment);
  connect(m_findingNext, &QPushButton::clicked, this, [this] {
    if (!m_controller.partition() || m_controller.partition()->findings.empty()) return;
    const auto& findings = m_controller.partition()->findings;
    m_controller.goTo(findings[static_cast<size_t>(m_finding) % findings.size()]);
    ++m_finding;
    takeFindings();
  });
  connect(&bridge, &EngineBridge::frame, this, &SegmentsPage::onFrame);
  connect(&Theme::instance(), &Theme::changed, this, &SegmentsPage::takePlace);
  setIndex(false);
  takeOpened();
}

// What it is made of.

QWidget* SegmentsPage::makeHead() {
  auto* head = new QWidget;
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(24, 14, 24, 14);
  row->setSpacing(14);
  if (m_fromDisk) {
    m_back = new QPushButton(tr("◂ Back"));
    m_back->setProperty("kind", QStringLiteral("link"));
    m_back->setToolTip(tr("Back (Esc)"));
    connect(m_back, &QPushButton::clicked, this, &SegmentsPage::backWanted);
    row->addWidget(m_back);
  }
  m_title->setTextFormat(Qt::PlainText);
  // In a small window they give way to the search.
  m_title->setMinimumWidth(30);
  m_place->setMinimumWidth(30);
  m_place->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  m_place->setProperty("kind", QStringLiteral("quiet"));
  m_place->setMenu(new QMenu(m_place));
  connect(m_place->menu(), &QMenu::aboutToShow, this, [this] {
    QMenu* menu = m_place->menu();
    menu->clear();
    if (m_fromDisk) {
      for (const QString& folder : m_folders)
        menu->addAction(QFileInfo(folder).fileName() + QStringLiteral("   ") + QFileInfo(folder).path(), this,
                        [this, folder] { m_controller.open({.path = folder.toStdString()}); });
      return;
    }
    const auto* partition = m_partition ? observe::findPartition(*m_bridge.snapshot(), *m_partition) : nullptr;
    if (partition == nullptr) return;
    for (const observe::ReplicaSnapshot& copy : partition->copies) {
      const auto* broker = observe::findBroker(*m_bridge.snapshot(), copy.broker);
      const QString state = broker == nullptr ? QString() : lookOf(copy, broker->state).word;
      QAction* action = menu->addAction(
          tr("Broker %1, %2, %3").arg(copy.broker.value()).arg(copy.leader ? tr("leader") : tr("follower"), state),
          this, [this, id = copy.broker] { pickCopy(id); });
      action->setCheckable(true);
      action->setChecked(m_controller.place() && m_controller.place()->broker == copy.broker);
    }
  });
  row->addWidget(m_title);
  row->addWidget(m_place);
  m_checked->hide();
  row->addWidget(m_checked);
  row->addStretch(2);

  m_searchBox->setProperty("kind", QStringLiteral("search"));
  m_searchBox->setFixedHeight(32);
  auto* inside = new QHBoxLayout(m_searchBox);
  inside->setContentsMargins(12, 0, 4, 0);
  inside->setSpacing(8);
  m_search->setProperty("kind", QStringLiteral("inside"));
  m_search->setFont(Theme::mono(13, QFont::DemiBold));
  m_search->setPlaceholderText(tr("1 177 or 14:01:08"));
  m_search->setMinimumWidth(60);
  m_search->setAccessibleName(tr("Offset or time to look for"));
  m_search->setToolTip(
      tr("An offset, a time (14:01:08.970, 2026-11-30 14:01), @ and milliseconds since 1970, earliest, "
         "latest or max (Ctrl+F)"));
  auto* go = new QPushButton(tr("Search"));
  go->setProperty("kind", QStringLiteral("primary"));
  go->setFocusPolicy(Qt::NoFocus);
  inside->addWidget(m_searchName);
  inside->addWidget(m_search, 1);
  inside->addWidget(go);
  m_searchBox->setMaximumWidth(340);
  row->addWidget(m_searchBox, 3);
  connect(m_search, &QLineEdit::textChanged, this, [this] {
    m_search->setProperty("wrong", false);
    m_search->style()->unpolish(m_search);
    m_search->style()->polish(m_search);
    nameSearch();
  });
  const auto searchNow = [this] { search(m_search->text()); };
  connect(m_search, &QLineEdit::returnPressed, this, searchNow);
  connect(go, &QPushButton::clicked, this, searchNow);
  nameSearch();
  return head;
}

QWidget* SegmentsPage::makePlotCard() {
  auto* card = new Card;
  auto* down = new QVBoxLayout(card);
  down->setContentsMargins(16, 10, 12, 6);
  down->setSpacing(4);
  auto* head = new QHBoxLayout;
  head->setSpacing(12);
  head->addWidget(m_indexTitle);
  head->addWidget(m_indexNote, 1);
  m_indexNote->setMinimumWidth(20);
  m_indexNote->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* choices = new QHBoxLayout;
  choices->setSpacing(4);
  int id = 0;
  for (const QString& name : {tr("Offset"), tr("Time")}) {
    auto* button = new QPushButton(name);
    button->setProperty("kind", QStringLiteral("pill"));
    button->setCheckable(true);
    button->setToolTip(id == 0 ? tr("The offset index (I)") : tr("The time index (I)"));
    m_indexChoice->addButton(button, id++);
    choices->addWidget(button);
  }
  connect(m_indexChoice, &QButtonGroup::idClicked, this, [this](int which) { setIndex(which == 1); });
  head->addLayout(choices);
  down->addLayout(head);
  down->addWidget(m_plot, 1);
  return card;
}

QWidget* SegmentsPage::makeBody() {
  auto* body = new QWidget;
  body->setProperty("kind", QStringLiteral("clear"));
  auto* down = new QVBoxLayout(body);
  down->setContentsMargins(24, 4, 24, 18);
  down->setSpacing(14);
  down->addWidget(m_strip);
  m_columns = new QSplitter(Qt::Horizontal);
  m_columns->setHandleWidth(16);
  m_columns->setChildrenCollapsible(false);
  m_columns->addWidget(makePlotCard());
  m_columns->addWidget(m_lookup);
  m_columns->setStretchFactor(0, 1);
  m_columns->setStretchFactor(1, 0);
  m_columns->setSizes({900, 392});
  m_columns->setMinimumHeight(256);
  m_rows = new QSplitter(Qt::Vertical);
  m_rows->setHandleWidth(14);
  m_rows->setChildrenCollapsible(false);
  m_rows->addWidget(m_columns);
  m_rows->addWidget(m_batch);
  m_batch->setMinimumHeight(236);
  m_rows->setStretchFactor(0, 1);
  m_rows->setStretchFactor(1, 1);
  m_rows->setSizes({332, 408});
  down->addWidget(m_rows, 1);
  return body;
}

// What it shows.

void SegmentsPage::setPartition(const std::optional<TopicPartition>& partition) {
  if (partition == m_partition) return;
  m_partition = partition;
  if (!partition) {
    m_controller.close();
    return;
  }
  NodeId broker = kNoNode;
  if (const auto* found = observe::findPartition(*m_bridge.snapshot(), *partition)) {
    broker = found->leader;
    if (broker == kNoNode && !found->copies.empty()) broker = found->copies.front().broker;
  }
  if (broker != kNoNode) pickCopy(broker);
}

void SegmentsPage::pickCopy(NodeId broker) {
  if (m_partition) m_controller.open({.broker = broker, .partition = *m_partition, .path = {}});
}

void SegmentsPage::showBatch(const TopicPartition& partition, NodeId broker, Offset offset) {
  m_partition = partition;
  const observe::LookPlace place{.broker = broker, .partition = partition, .path = {}};
  const LookupTarget target{false, offset.value()};
  m_search->setText(offsetText(offset));
  if (m_controller.place() == place && m_controller.partition()) {
    m_controller.find(target, true);
    return;
  }
  m_pending = target;
  m_controller.open(place);
}

void SegmentsPage::openPath(const QString& path) {
  m_path = path;
  m_folders.clear();
  m_controller.close();
  m_nothing->setText(tr("Reading %1 …").arg(path));
  m_bridge.look<FoundFiles>(
      {.path = path.toStdString()}, this, [](const observe::LookAccess& access) { return findPartitions(access); },
      [this, path](const Result<FoundFiles>& found) {
        if (path != m_path) return;
        if (!found) {
          m_nothing->setText(errorText(found.error()));
          Q_EMIT told(errorText(found.error()));
          return;
        }
        for (const std::string& folder : found->partitions) m_folders << fromUtf8(folder);
        Q_EMIT pathOpened(path);
        m_controller.open({.path = found->partitions.front()});
      });
}

void SegmentsPage::setActive(bool active) {
  m_controller.setActive(active);
  m_tables->setActive(active && showsTable());
}

void SegmentsPage::onFrame(const Frame& frame) {
  if (m_fromDisk || frame.snapshot == frame.previous) return;
  if (m_partition && !m_controller.place()) {
    // Its leader was not known yet.
    const auto partition = m_partition;
    m_partition.reset();
    setPartition(partition);
  }
  takePlace();
}

void SegmentsPage::takeOpened() {
  const bool any = m_controller.partition() != nullptr;
  if (!any) {
    m_strip->setSegments(std::make_shared<std::vector<SegmentEntry>>(), -1);
    m_plot->setSegment(nullptr);
    m_plot->setLookup(nullptr, -1);
    m_checked->hide();
    m_findings->hide();
    m_nothing->setText(!m_controller.problem().isEmpty() ? m_controller.problem()
                       : m_controller.place()            ? tr("Reading …")
                       : m_fromDisk                      ? tr("Open a partition's folder, or drop one here.")
                                                         : tr("There is no partition yet: create a topic first."));
  }
  m_stack->setCurrentIndex(!any ? 2 : m_asTable ? 1 : 0);
  takePlace();
  if (any && m_pending) {
    const LookupTarget target = *std::exchange(m_pending, std::nullopt);
    m_controller.find(target, true);
  }
}

void SegmentsPage::takePlace() {
  const auto& place = m_controller.place();
  const auto& partition = m_controller.partition();
  if (m_fromDisk) {
    m_title->setText(partition ? partition->name : QFileInfo(m_path).fileName());
    const QString folder = partition ? QFileInfo(partition->folder).path() : m_path;
    m_place->setText(m_folders.size() > 1 ? tr("in %1, one of %2 ▾").arg(folder).arg(m_folders.size())
                                          : tr("in %1, read only").arg(folder));
    m_place->setEnabled(m_folders.size() > 1);
    m_place->setToolTip(partition ? partition->folder : m_path);
    return;
  }
  m_title->setText(m_partition ? partitionText(*m_partition) : QString());
  m_place->setVisible(place.has_value());
  if (!place) return;
  const auto* known = observe::findPartition(*m_bridge.snapshot(), place->partition);
  const auto* broker = observe::findBroker(*m_bridge.snapshot(), place->broker);
  const auto* copy = known == nullptr ? nullptr : observe::findReplica(*known, place->broker);
  QString role = copy != nullptr && copy->leader ? tr("leader") : tr("follower");
  // What a broker that does not run has left.
  if (broker != nullptr && copy != nullptr && broker->state != observe::BrokerState::Running)
    role = tr("%1, %2").arg(role, lookOf(broker->state).word);
  m_place->setText(tr("on broker %1, %2 ▾").arg(place->broker.value()).arg(role));
  m_place->setToolTip(partition ? partition->folder : QString());
}

void SegmentsPage::takePartition() {
  const PartitionPicture& partition = *m_controller.partition();
  m_strip->setSegments(partition.segments, partition.segmentBytes);
  if (partition.segmentBytes > 0)
    m_strip->setNote(tr("rolls at %1 or after").arg(binaryBytesText(partition.segmentBytes)),
                     tr("%1: segment.ms").arg(segmentAge(partition.segmentMs)));
  else
    m_strip->setNote({}, {});
  takePlace();
  takeFindings();
}

void SegmentsPage::takeFindings() {
  const auto& partition = m_controller.partition();
  if (!partition) return;
  std::vector<const FindingEntry*> severe;
  for (const FindingEntry& finding : partition->findings)
    if (finding.severe) severe.push_back(&finding);
  m_findings->setVisible(!severe.empty());
  if (severe.empty()) {
    m_finding = 0;
    return;
  }
  const FindingEntry& finding = *severe[static_cast<size_t>(m_finding) % severe.size()];
  QString text = finding.position >= 0
                     ? tr("✕ %1, byte %2: %3").arg(finding.file, grouped(finding.position), finding.what)
                     : tr("✕ %1: %2").arg(finding.file, finding.what);
  if (severe.size() > 1) text += tr("   (and %n more)", nullptr, static_cast<int>(severe.size()) - 1);
  m_findingText->setText(text);
}

void SegmentsPage::takeSegment() {
  const auto& segment = m_controller.segment();
  m_plot->setSegment(segment);
  m_strip->setShown(segment ? segment->base : Offset());
  // Whoever scrolls the strip is left alone while the same segment grows.
  if (segment && segment->base != m_shownSegment) m_strip->ensureVisible(segment->base);
  m_shownSegment = segment ? segment->base : Offset();
  setIndex(m_indexChoice->checkedId() == 1);
}

void SegmentsPage::setIndex(bool times) {
  m_indexChoice->button(times ? 1 : 0)->setChecked(true);
  const auto which = times ? IndexPlot::Which::Times : IndexPlot::Which::Offsets;
  if (m_plot->which() != which) m_plot->setWhich(which);
  m_indexTitle->setText(times ? tr("Time index") : tr("Sparse offset index"));
  const auto& segment = m_controller.segment();
  const auto& partition = m_controller.partition();
  QStringList notes;
  if (segment)
    notes << tr("%n entries", nullptr,
                pluralOf(static_cast<int64_t>(times ? segment->times.size() : segment->offsets.size())));
  if (!times && partition && partition->indexIntervalBytes > 0)
    notes << tr("one for each %1 and more of log: index.interval.bytes %2")
                 .arg(binaryBytesText(partition->indexIntervalBytes), grouped(partition->indexIntervalBytes));
  else if (times)
    notes << tr("up to an entry's offset nothing is newer than its time");
  m_indexNote->setText(notes.join(QStringLiteral(" · ")));
}

// Hands.

void SegmentsPage::nameSearch() {
  const auto target = readTarget(m_search->text(), QDateTime::currentDateTime());
  m_searchName->setText(!target ? tr("find") : target->byTime ? tr("find time") : tr("find offset"));
}

void SegmentsPage::search(const QString& text) {
  if (m_search->text() != text) m_search->setText(text);
  const auto target = readTarget(text, QDateTime::currentDateTime());
  if (!target) {
    m_search->setProperty("wrong", true);
    m_search->style()->unpolish(m_search);
    m_search->style()->polish(m_search);
    Q_EMIT told(tr("“%1” is neither an offset nor a time").arg(text));
    return;
  }
  m_controller.find(*target);
}

void SegmentsPage::focusSearch() {
  m_search->setFocus(Qt::ShortcutFocusReason);
  m_search->selectAll();
}

void SegmentsPage::showTable(bool table) {
  m_asTable = table;
  m_tables->setActive(table);
  if (!m_controller.partition()) return;
  m_stack->setCurrentIndex(table ? 1 : 0);
  if (table)
    m_tables->view(m_tables->shown()).setFocus();
  else
    setFocus();
}

void SegmentsPage::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(asText());
    return;
  }
  const bool alt = event->modifiers() & Qt::AltModifier;
  const int last = static_cast<int>(m_controller.rows().size()) - 1;
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Comma:
      m_controller.setRow(m_controller.row() - 1);
      return;
    case Qt::Key_Down:
    case Qt::Key_Period:
      m_controller.setRow(m_controller.row() + 1);
      return;
    case Qt::Key_Home:
      m_controller.setRow(0);
      return;
    case Qt::Key_End:
      m_controller.setRow(last);
      return;
    case Qt::Key_P:
      m_controller.play();
      return;
    case Qt::Key_PageUp:
      m_controller.stepBatch(-1);
      return;
    case Qt::Key_PageDown:
      m_controller.stepBatch(1);
      return;
    case Qt::Key_Left:
      alt ? m_controller.stepSegment(-1) : m_plot->panBy(-0.15);
      return;
    case Qt::Key_Right:
      alt ? m_controller.stepSegment(1) : m_plot->panBy(0.15);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      m_plot->zoomBy(1.5);
      return;
    case Qt::Key_Minus:
      m_plot->zoomBy(1 / 1.5);
      return;
    case Qt::Key_0:
      m_plot->showAll();
      return;
    case Qt::Key_I:
      setIndex(m_indexChoice->checkedId() == 0);
      return;
    case Qt::Key_F5:
      m_controller.reload();
      return;
    case Qt::Key_Slash:
      focusSearch();
      return;
    case Qt::Key_Escape:
      if (m_fromDisk) {
        Q_EMIT backWanted();
        return;
      }
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

QString SegmentsPage::asText() const {
  if (!m_controller.partition() || !m_controller.segment()) return {};
  const PartitionPicture& partition = *m_controller.partition();
  const SegmentPicture& segment = *m_controller.segment();
  QString text = tr("partition\t%1\nfolder\t%2\nsegment\t%3\nbytes\t%4\noffset index entries\t%5\n"
                    "time index entries\t%6\n")
                     .arg(partition.name, partition.folder, segmentFileName(segment.base))
                     .arg(segment.bytes)
                     .arg(segment.offsets.size())
                     .arg(segment.times.size());
  for (const FindingEntry& finding : partition.findings)
    text += tr("finding\t%1\t%2\t%3\n").arg(finding.file).arg(finding.position).arg(finding.what);
  if (m_controller.lookup()) text += m_lookup->asText();
  if (const auto& batch = m_controller.batch()) {
    text += tr("batch at position\t%1\n").arg(batch->position);
    for (int32_t i = 0; i < batch->headerFields; ++i) {
      const FieldEntry& field = batch->fields[static_cast<size_t>(i)];
      text += QStringLiteral("%1\t%2\n").arg(field.name, field.value);
    }
  }
  return text;
}

// State.

void SegmentsPage::save(QSettings& settings) const {
  settings.setValue(QStringLiteral("segments/rows"), m_rows->saveState());
  settings.setValue(QStringLiteral("segments/columns"), m_columns->saveState());
  settings.setValue(QStringLiteral("segments/bytes"), m_batch->splitter().saveState());
  settings.setValue(QStringLiteral("segments/times"), m_indexChoice->checkedId() == 1);
  settings.setValue(QStringLiteral("segments/search"), m_search->text());
}

void SegmentsPage::restore(const QSettings& settings) {
  const auto split = [&settings](QSplitter& splitter, const char* name) {
    const QByteArray state = settings.value(QLatin1String(name)).toByteArray();
    if (!state.isEmpty()) splitter.restoreState(state);
  };
  split(*m_rows, "segments/rows");
  split(*m_columns, "segments/columns");
  split(m_batch->splitter(), "segments/bytes");
  setIndex(settings.value(QStringLiteral("segments/times"), false).toBool());
  m_search->setText(settings.value(QStringLiteral("segments/search")).toString());
}

}  // namespace tidemark::widgets
