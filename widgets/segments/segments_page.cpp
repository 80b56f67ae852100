#include "segments/segments_page.h"

#include <QButtonGroup>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "segments/batch_panel.h"
#include "segments/check_line.h"
#include "segments/findings_bar.h"
#include "segments/folder_picker.h"
#include "segments/index_plot.h"
#include "segments/lookup_panel.h"
#include "segments/past_panel.h"
#include "segments/segment_strip.h"
#include "segments/segment_tables.h"
#include "text/format.h"
#include "theme/shapes.h"
#include "theme/theme.h"
#include "views/page_parts.h"

namespace tidemark::widgets {

namespace {

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
      m_indexChoice(new QButtonGroup(this)) {
  auto* down = new QVBoxLayout(this);
  down->setContentsMargins(0, 0, 0, 0);
  down->setSpacing(0);
  down->addWidget(makeHead());

  auto* findingMargins = new QHBoxLayout;
  findingMargins->setContentsMargins(24, 0, 24, 8);
  findingMargins->setSpacing(0);
  m_findings = new FindingsBar(m_controller, this);
  findingMargins->addWidget(m_findings);
  down->addLayout(findingMargins);

  m_stack = new QStackedWidget(this);
  auto* scroll = new QScrollArea(m_stack);
  auto* body = new QWidget(scroll->viewport());
  body->setProperty("kind", QStringLiteral("clear"));
  // While it is empty: it is asked for its size.
  scroll->setWidget(body);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  makeBody(body);
  m_tablesPage = new QWidget(m_stack);
  auto* tablesDown = new QVBoxLayout(m_tablesPage);
  tablesDown->setContentsMargins(24, 6, 24, 16);
  m_nothing = new QLabel(m_stack);
  placeNothing(*m_nothing);
  m_nothing->setContentsMargins(20, 0, 20, 60);
  m_stack->addWidget(scroll);
  m_stack->addWidget(m_tablesPage);
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
  connect(m_past, &PastPanel::eventWanted, this, &SegmentsPage::eventWanted);
  connect(m_strip, &SegmentStrip::segmentPicked, &m_controller, &SegmentsController::pickSegment);
  connect(&m_controller, &SegmentsController::findingsChanged, this, [this] {
    m_strip->setSegments(m_controller.partition()->segments, m_controller.partition()->segmentBytes);
    m_plot->setFindings(m_controller.findingsShown());
  });
  connect(&bridge, &EngineBridge::frame, this, &SegmentsPage::onFrame);
  connect(&Theme::instance(), &Theme::changed, this, &SegmentsPage::takePlace);
  setIndex(false);
  takeOpened();
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
        m_picker->setFolders(m_folders, path);
        Q_EMIT pathOpened(path);
        m_controller.open({.path = found->partitions.front()});
      });
}

void SegmentsPage::setActive(bool active) {
  m_controller.setActive(active);
  if (m_tables != nullptr) m_tables->setActive(active && showsTable());
}

SegmentTables& SegmentsPage::tables() {
  if (m_tables != nullptr) return *m_tables;
  // The Tab key comes to them after the rest of the page, not after all that the window had before them.
  QWidget* before = this;
  for (QWidget* one = nextInFocusChain(); isAncestorOf(one); one = one->nextInFocusChain())
    if (one->focusPolicy() & Qt::TabFocus) before = one;
  m_tables = new SegmentTables(m_controller, m_tablesPage);
  m_tablesPage->layout()->addWidget(m_tables);
  for (QWidget* one : m_tables->inTabOrder()) {
    setTabOrder(before, one);
    before = one;
  }
  return *m_tables;
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
    m_nothing->setText(!m_controller.problem().isEmpty() ? m_controller.problem()
                       : m_controller.place()            ? tr("Reading …")
                       : m_fromDisk                      ? tr("Open a partition's folder, or drop one here.")
                                                         : tr("There is no partition yet: create a topic first."));
  }
  m_stack->setCurrentIndex(!any ? 2 : m_asTable ? 1 : 0);
  m_below->setCurrentIndex(m_controller.isPast() ? 1 : 0);
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
  if (partition.segmentCount > static_cast<int>(partition.segments->size()))
    m_strip->setNote(tr("the newest %1").arg(grouped(static_cast<int64_t>(partition.segments->size()))),
                     tr("of %n segment(s) are recorded", nullptr, pluralOf(partition.segmentCount)));
  else if (m_controller.isPast())
    m_strip->setNote(tr("as it was told then"), tr("index files are not recorded"));
  else if (partition.segmentBytes > 0)
    m_strip->setNote(tr("rolls at %1 or after").arg(binaryBytesText(partition.segmentBytes)),
                     tr("%1: segment.ms").arg(segmentAge(partition.segmentMs)));
  else
    m_strip->setNote({}, {});
  takePlace();
}

void SegmentsPage::takeSegment() {
  const auto& segment = m_controller.segment();
  m_plot->setSegment(segment);
  m_plot->setFindings(m_controller.findingsShown());
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
  else if (m_controller.isPast())
    notes << (times ? tr("a recording holds no time index") : tr("those that were added while it was recorded"));
  else if (times)
    notes << tr("up to an entry's offset nothing is newer than its time");
  m_indexNote->setText(notes.join(QStringLiteral(" · ")));
}

}  // namespace tidemark::widgets
