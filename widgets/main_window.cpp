#include "main_window.h"

#include <algorithm>

#include <QActionGroup>
#include <QApplication>
#include <QCheckBox>
#include <QCloseEvent>
#include <QDockWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTableView>
#include <QVBoxLayout>

#include "belts/belts_view.h"
#include "cleaner/cleaner_page.h"
#include "dialogs/consume_dialog.h"
#include "dialogs/produce_dialog.h"
#include "dialogs/topic_dialog.h"
#include "faults/fault_actions.h"
#include "faults/faults_panel.h"
#include "launch/launch_page.h"
#include "models/bootstrap.h"
#include "segments/segments_page.h"
#include "text/format.h"
#include "views/cluster_page.h"
#include "views/dock_title.h"
#include "views/event_panel.h"
#include "views/inspector.h"
#include "views/isr_strip.h"
#include "views/status_line.h"
#include "views/top_bar.h"

namespace tidemark::widgets {

MainWindow::MainWindow(observe::ClusterSource& source, QSettings* settings, QWidget* parent)
    : QMainWindow(parent), m_settings(settings), m_bridge(source), m_travel(m_bridge) {
  // Before there is anything that would have to change them.
  restoreColours();
  setWindowTitle(QStringLiteral("Tidemark"));
  setWindowIcon(QIcon(QStringLiteral(":/tidemark/icons/tidemark.svg")));
  setDockOptions(AnimatedDocks | AllowNestedDocks);
  resize(1400, 850);
  // Below that, views would hide each other.
  setMinimumSize(800, 500);
  // Who is put into a parent only later is styled again, and so are all that are inside.
  m_topBar = new TopBar(m_bridge, this);
  setMenuWidget(m_topBar);
  m_pages = new QStackedWidget(this);
  m_launchPage = new LaunchPage(m_bridge, m_pages);
  m_clusterPage = new ClusterPage(m_bridge, m_travel, m_pages);
  m_pages->addWidget(m_launchPage);
  m_pages->addWidget(m_clusterPage);
  setAcceptDrops(true);
  setCentralWidget(m_pages);
  auto* bar = new QStatusBar(this);
  m_status = new StatusLine(m_bridge, bar);
  bar->setSizeGripEnabled(false);
  bar->setFixedHeight(26);
  bar->setContentsMargins(0, 0, 0, 0);
  bar->addWidget(m_status, 1);
  if (bar->layout() != nullptr) bar->layout()->setContentsMargins(0, 0, 0, 0);
  setStatusBar(bar);
  m_startLoad = [this](const ProduceOptions& options) {
    QString error;
    if (!m_load.start(options, &error)) m_status->say(tr("No load: %1").arg(error));
  };
  makeDocks();
  makeMenus();
  makeShortcuts();
  makeTime();

  connect(&m_bridge, &EngineBridge::frame, this, &MainWindow::onFrame);
  connect(m_launchPage, &LaunchPage::startWanted, this, &MainWindow::launch);
  connect(m_launchPage, &LaunchPage::cancelWanted, this, [this] {
    m_cancelled = true;
    m_bridge.shutdown(this, [this](const Result<void>&) { m_bridge.refresh(); });
  });
  connect(m_clusterPage, &ClusterPage::brokerPicked, this,
          [this](NodeId broker) { pick({Picked::What::Broker, broker, {}}); });
  connect(m_clusterPage, &ClusterPage::partitionPicked, this, [this](int partition) {
    if (const auto& shown = m_clusterPage->partition()) showPartition({shown->topic, PartitionIndex(partition)});
  });
  connect(m_clusterPage, &ClusterPage::viewChanged, this, [this](ClusterPage::View view) {
    if (showsCluster()) m_layouts->keep();
    m_layouts->setView(view);
    if (showsCluster()) m_layouts->take();
  });
  connect(m_clusterPage, &ClusterPage::otherPartitionPicked, this, &MainWindow::showPartition);
  connect(&m_clusterPage->segments(), &SegmentsPage::told, this, [this](const QString& text) { m_status->say(text); });
  connect(m_topBar, &TopBar::topicWanted, this, &MainWindow::openTopicDialog);
  connect(m_topBar, &TopBar::produceWanted, this, &MainWindow::openProduceDialog);
  connect(m_topBar, &TopBar::consumeWanted, this, &MainWindow::openConsumeDialog);
  connect(&m_load, &ProducerLoad::stopped, this, [this] { m_topBar->setProducing(false); });
  connect(&m_bridge, &EngineBridge::second, this, [this] {
    m_topBar->setProducing(m_load.isRunning());
    m_topBar->setConsuming(m_consumeDialog && m_consumeDialog->isReading());
  });

  m_layouts =
      std::make_unique<DockLayouts>(*this, DockLayouts::Docks{m_treeDock, m_inspectorDock, m_eventDock, m_faultDock});
  restore();
  leaveCluster();
  if (m_bridge.hasCluster()) enterCluster();
  if (m_bridge.isRecorded()) enterRecording();
}

MainWindow::~MainWindow() = default;

void MainWindow::makeDocks() {
  const auto makeDock = [this](const QString& name, const QString& title) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    return dock;
  };
  m_treeDock = makeDock(QStringLiteral("cluster"), tr("Cluster"));
  m_tree = new ClusterTree(m_bridge, m_treeDock);
  m_treeDock->setTitleBarWidget(new DockTitle(tr("CLUSTER"), 16, 46, m_treeDock));
  m_treeDock->setWidget(m_tree);
  addDockWidget(Qt::LeftDockWidgetArea, m_treeDock);

  m_inspectorDock = makeDock(QStringLiteral("inspector"), tr("Inspector"));
  m_inspector = new Inspector(m_bridge, m_travel, m_inspectorDock);
  m_inspectorDock->setTitleBarWidget(new DockTitle(tr("INSPECTOR"), 18, 38, m_inspectorDock));
  m_inspectorDock->setWidget(m_inspector);
  addDockWidget(Qt::RightDockWidgetArea, m_inspectorDock);

  m_eventDock = makeDock(QStringLiteral("events"), tr("Events"));
  auto* head = new DockHead(m_eventDock);
  auto* bottom = new QWidget(m_eventDock);
  bottom->setProperty("kind", QStringLiteral("panel"));
  bottom->setAttribute(Qt::WA_StyledBackground);
  m_events = new EventPanel(m_bridge, head, bottom);
  m_strip = new IsrStrip(m_bridge, m_travel, head);
  auto* headRow = new QHBoxLayout(head);
  headRow->setContentsMargins(0, 0, 0, 0);
  headRow->setSpacing(0);
  headRow->addWidget(m_events->controls(), 0, Qt::AlignTop);
  headRow->addWidget(m_strip, 1);
  head->setFixedHeight(82);
  auto* down = new QVBoxLayout(bottom);
  down->setContentsMargins(0, 0, 0, 0);
  down->addWidget(m_events->table());
  m_eventDock->setTitleBarWidget(head);
  m_eventDock->setWidget(bottom);
  addDockWidget(Qt::BottomDockWidgetArea, m_eventDock);
  setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  makeFaults();

  connect(m_events, &EventPanel::said, this, [this](const QString& text) { m_status->say(text); });
  connect(m_tree, &ClusterTree::quorumPicked, this, [this] { pick({Picked::What::Quorum, {}, {}}); });
  connect(m_tree, &ClusterTree::brokerPicked, this,
          [this](NodeId broker) { pick({Picked::What::Broker, broker, {}}); });
  connect(m_tree, &ClusterTree::topicPicked, this, [this](const QString& topic) {
    const auto last = m_lastPartition.find(topic);
    const TopicPartition partition{topic.toStdString(),
                                   PartitionIndex(last == m_lastPartition.end() ? 0 : last->second)};
    showPartition(partition);
    pick({Picked::What::Partition, {}, partition});
  });
  connect(m_inspector, &Inspector::commandWanted, this, &MainWindow::command);
}

bool MainWindow::showsCluster() const {
  return m_pages->currentWidget() == m_clusterPage;
}

bool MainWindow::showsFiles() const {
  return m_filesPage != nullptr && m_pages->currentWidget() == m_filesPage;
}

SegmentsPage& MainWindow::files() {
  if (m_filesPage != nullptr) return *m_filesPage;
  m_filesPage = new SegmentsPage(m_bridge, true, m_pages);
  m_pages->addWidget(m_filesPage);
  connect(m_filesPage, &SegmentsPage::backWanted, this, &MainWindow::closeFiles);
  connect(m_filesPage, &SegmentsPage::pathOpened, this, &MainWindow::rememberFiles);
  connect(m_filesPage, &SegmentsPage::told, this, [this](const QString& text) { m_status->say(text); });
  if (m_settings != nullptr) m_filesPage->restore(*m_settings);
  return *m_filesPage;
}

void MainWindow::openFiles(const QString& path) {
  if (showsCluster()) m_layouts->keep();
  m_layouts->hideAll();
  SegmentsPage& page = files();
  m_pages->setCurrentWidget(&page);
  page.setActive(true);
  page.openPath(path);
  page.setFocus();
}

void MainWindow::closeFiles() {
  if (!showsFiles()) return;
  m_filesPage->setActive(false);
  if (m_bridge.hasCluster() && !m_launching) {
    enterCluster();
    return;
  }
  m_pages->setCurrentWidget(m_launchPage);
  m_launchPage->setFocus();
}

QString MainWindow::shownTopic() const {
  const auto& partition = m_clusterPage->partition();
  return partition ? fromUtf8(partition->topic) : QString();
}

void MainWindow::onFrame(const Frame& frame) {
  // What there was not yet, or is no more, at a moment of the past says nothing about the present.
  if (m_bridge.moment()) return;
  if (frame.anotherCluster) {
    m_lastPartition.clear();
    m_picked = {};
    m_inspector->setPicked(m_picked);
    m_clusterPage->setPartition(std::nullopt);
    if (!m_bridge.hasCluster())
      leaveCluster();
    else if (!m_launching)
      enterCluster();
  }
  // The first topic that appears is shown; one that is gone is not.
  const auto& shown = m_clusterPage->partition();
  if (shown && observe::findPartition(*frame.snapshot, *shown) != nullptr) return pickFirst();
  if (const auto first = firstPartition(*frame.snapshot)) {
    showPartition(*first);
    pickFirst();
  } else if (shown) {
    m_clusterPage->setPartition(std::nullopt);
  }
}

std::optional<TopicPartition> MainWindow::firstPartition(const observe::ClusterSnapshot& cluster) {
  for (const observe::TopicSnapshot& topic : cluster.topics)
    if (!topic.internal && !topic.partitions.empty()) return TopicPartition{topic.name, topic.partitions.front().index};
  return std::nullopt;
}

void MainWindow::pickFirst() {
  const auto& shown = m_clusterPage->partition();
  if (m_picked.what != Picked::What::Nothing || !shown) return;
  const auto* partition = observe::findPartition(*m_bridge.snapshot(), *shown);
  if (partition != nullptr && partition->leader != kNoNode) pick({Picked::What::Broker, partition->leader, {}});
}

void MainWindow::pick(const Picked& picked) {
  m_picked = picked;
  m_inspector->setPicked(picked);
  if (picked.what == Picked::What::Broker) m_tree->selectBroker(picked.broker);
}

void MainWindow::showPartition(const TopicPartition& partition) {
  m_lastPartition[fromUtf8(partition.topic)] = partition.partition.value();
  m_clusterPage->setPartition(partition);
  m_inspector->setPartition(partition);
  m_strip->setPartition(partition);
  m_travel.setPartition(partition);
  m_tree->setShownTopic(fromUtf8(partition.topic));
  if (m_picked.what == Picked::What::Partition) pick({Picked::What::Partition, {}, partition});
}

void MainWindow::step(int by) {
  const auto& shown = m_clusterPage->partition();
  const auto* topic = shown ? observe::findTopic(*m_bridge.snapshot(), shown->topic) : nullptr;
  if (topic == nullptr || topic->partitions.empty()) return;
  const int count = static_cast<int>(topic->partitions.size());
  showPartition({shown->topic, PartitionIndex((shown->partition.value() + by + count) % count)});
}

// Life of a cluster.

void MainWindow::launch(const observe::LaunchOptions& options, double loadPerSecond) {
  m_pendingLoad = loadPerSecond;
  m_launching = true;
  m_cancelled = false;
  m_launchPage->setStarting(true);
  m_bridge.launch(options, this, [this, options](const Result<void>& result) {
    m_launching = false;
    m_launchPage->setStarting(false);
    m_bridge.refresh();
    if (!result) {
      if (m_cancelled)
        m_launchPage->showCancelled();
      else
        m_launchPage->showError(errorText(result.error()));
      return;
    }
    if (m_bridge.hasCluster()) enterCluster();
    if (m_pendingLoad > 0 && options.firstTopic) {
      ProduceOptions load;
      load.bootstrap = allAddresses(*m_bridge.snapshot());
      load.topic = fromUtf8(options.firstTopic->name);
      load.rate = m_pendingLoad;
      m_startLoad(load);
      m_topBar->setProducing(m_load.isRunning());
    }
  });
}

void MainWindow::enterCluster() {
  if (showsCluster()) return;
  if (m_filesPage != nullptr) m_filesPage->setActive(false);
  m_pages->setCurrentWidget(m_clusterPage);
  m_topBar->setRunning(true);
  m_layouts->take();
  m_clusterPage->viewWidget()->setFocus();
}

void MainWindow::leaveCluster() {
  if (showsCluster()) m_layouts->keep();
  m_layouts->hideAll();
  m_topBar->setRunning(false);
  m_load.stop();
  if (m_consumeDialog) delete m_consumeDialog;
  // Who reads files goes on reading.
  if (showsFiles()) return;
  m_pages->setCurrentWidget(m_launchPage);
  m_launchPage->setFocus();
}

bool MainWindow::mayLoseData(const QString& title, const QString& verb) {
  const observe::ClusterSnapshot& cluster = *m_bridge.snapshot();
  int64_t records = 0;
  for (const observe::TopicSnapshot& topic : cluster.topics)
    if (!topic.internal)
      for (const observe::PartitionSnapshot& partition : topic.partitions)
        records += std::max<int64_t>(0, partition.logEnd - partition.logStart);
  const bool asks = m_settings == nullptr || !m_settings->value(QStringLiteral("loseTemporaryData"), false).toBool();
  if (!cluster.dataFolder.empty() || records == 0 || !asks) return true;
  QMessageBox box(
      QMessageBox::Warning, title,
      tr("The cluster lies in a temporary folder: its %1 record(s) are removed with it.", nullptr, pluralOf(records))
          .arg(grouped(records)),
      QMessageBox::Cancel, this);
  box.setInformativeText(tr("Start on a folder of your own to keep what a cluster holds."));
  QPushButton* go = box.addButton(verb, QMessageBox::DestructiveRole);
  auto* never = new QCheckBox(tr("Do not ask again"));
  box.setCheckBox(never);
  box.setDefaultButton(QMessageBox::Cancel);
  box.exec();
  if (box.clickedButton() != go) return false;
  if (never->isChecked() && m_settings != nullptr) m_settings->setValue(QStringLiteral("loseTemporaryData"), true);
  return true;
}

void MainWindow::stopCluster() {
  if (!mayLoseData(tr("Stop the cluster?"), tr("Stop and remove"))) return;
  m_load.stop();
  m_status->say(tr("The brokers shut down in control …"));
  m_bridge.shutdown(this, [this](const Result<void>& result) {
    m_status->say(result ? tr("The cluster has stopped") : tr("Not stopped: %1").arg(errorText(result.error())));
    m_bridge.refresh();
  });
}

// Layout and end.

void MainWindow::resetLayout() {
  m_layouts->reset();
  if (showsCluster()) m_layouts->take();
}

bool MainWindow::event(QEvent* event) {
  // The lines between the docks are the window's own: a drag of one ends here.
  const bool released = event->type() == QEvent::MouseButtonRelease;
  const bool handled = QMainWindow::event(event);
  if (released && m_layouts != nullptr && showsCluster()) m_layouts->noteSizes();
  return handled;
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  if (m_layouts != nullptr && showsCluster()) m_layouts->applySizes();
}

void MainWindow::restore() {
  if (m_settings == nullptr) return;
  const QByteArray geometry = m_settings->value(QStringLiteral("geometry")).toByteArray();
  if (!geometry.isEmpty() && !restoreGeometry(geometry)) m_settings->remove(QStringLiteral("geometry"));
  m_layouts->restore(*m_settings);
  m_clusterPage->segments().restore(*m_settings);
  m_clusterPage->cleaner().restore(*m_settings);
  const int view = m_settings->value(QStringLiteral("view"), 0).toInt();
  if (view >= 0 && view < ClusterPage::kViews) m_clusterPage->showView(static_cast<ClusterPage::View>(view));
  m_launchPage->setSeparateControllers(m_settings->value(QStringLiteral("separateControllers"), 0).toInt());
  m_launchPage->setFolder(m_settings->value(QStringLiteral("folder")).toString(),
                          m_settings->value(QStringLiteral("folderChosen"), false).toBool());
}

void MainWindow::restoreColours() {
  if (m_settings == nullptr) return;
  const int theme = m_settings->value(QStringLiteral("theme"), 0).toInt();
  if (theme >= 0 && theme <= 2) Theme::instance().setChoice(static_cast<ThemeChoice>(theme));
}

void MainWindow::save() {
  if (m_settings == nullptr) return;
  m_settings->setValue(QStringLiteral("geometry"), saveGeometry());
  if (showsCluster()) m_layouts->keep();
  m_layouts->save(*m_settings);
  m_settings->setValue(QStringLiteral("view"), static_cast<int>(m_clusterPage->view()));
  m_clusterPage->cleaner().save(*m_settings);
  (showsFiles() ? files() : m_clusterPage->segments()).save(*m_settings);
  m_settings->setValue(QStringLiteral("separateControllers"), m_launchPage->separateControllers());
  m_settings->setValue(QStringLiteral("folder"), m_launchPage->folder());
  m_settings->setValue(QStringLiteral("folderChosen"), m_launchPage->isFolderChosen());
  m_settings->setValue(QStringLiteral("theme"), static_cast<int>(Theme::instance().choice()));
}

void MainWindow::endInControl(std::function<void()> ended) {
  save();
  m_closing = true;
  m_load.stop();
  m_status->say(tr("The brokers shut down in control …"));
  setEnabled(false);
  m_bridge.shutdown(this, [ended = std::move(ended)](const Result<void>&) { ended(); });
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!m_bridge.hasCluster() || m_closing || m_bridge.isRecorded()) {
    save();
    event->accept();
    return;
  }
  event->ignore();
  if (!mayLoseData(tr("Close Tidemark?"), tr("Close and remove"))) return;
  // The brokers shut down in control first; whoever closes again does not wait.
  save();
  m_closing = true;
  m_load.stop();
  m_status->say(tr("The brokers shut down in control; close again to end at once …"));
  setEnabled(false);
  m_bridge.shutdown(this, [this](const Result<void>&) {
    setEnabled(true);
    close();
  });
}

}  // namespace tidemark::widgets
