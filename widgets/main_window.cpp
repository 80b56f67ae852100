#include "main_window.h"

#include <algorithm>

#include <QActionGroup>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QCloseEvent>
#include <QDockWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTableView>
#include <QVBoxLayout>

#include "belts/belts_view.h"
#include "dialogs/consume_dialog.h"
#include "dialogs/produce_dialog.h"
#include "dialogs/topic_dialog.h"
#include "launch/launch_page.h"
#include "text/format.h"
#include "views/cluster_page.h"
#include "views/dock_title.h"
#include "views/event_panel.h"
#include "views/inspector.h"
#include "views/isr_strip.h"
#include "views/status_line.h"
#include "views/top_bar.h"

namespace tidemark::widgets {

using Command = EngineBridge::BrokerCommand;

MainWindow::MainWindow(observe::ClusterSource& source, QSettings* settings, QWidget* parent)
    : QMainWindow(parent),
      m_settings(settings),
      m_bridge(source),
      m_topBar(new TopBar(m_bridge)),
      m_pages(new QStackedWidget),
      m_launchPage(new LaunchPage(m_bridge)),
      m_clusterPage(new ClusterPage(m_bridge)),
      m_status(new StatusLine(m_bridge)) {
  setWindowTitle(QStringLiteral("Tidemark"));
  setWindowIcon(QIcon(QStringLiteral(":/tidemark/icons/tidemark.svg")));
  setDockOptions(AnimatedDocks | AllowNestedDocks);
  resize(1400, 850);
  setMenuWidget(m_topBar);
  m_pages->addWidget(m_launchPage);
  m_pages->addWidget(m_clusterPage);
  setCentralWidget(m_pages);
  auto* bar = new QStatusBar;
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
  connect(m_topBar, &TopBar::topicWanted, this, &MainWindow::openTopicDialog);
  connect(m_topBar, &TopBar::produceWanted, this, &MainWindow::openProduceDialog);
  connect(m_topBar, &TopBar::consumeWanted, this, &MainWindow::openConsumeDialog);
  connect(&m_load, &ProducerLoad::stopped, this, [this] { m_topBar->setProducing(false); });
  connect(&m_bridge, &EngineBridge::second, this, [this] { m_topBar->setProducing(m_load.isRunning()); });

  // What the layout is before anybody changed it, to come back to.
  m_defaultLayout = saveState(kLayoutVersion);
  m_layout = m_defaultLayout;
  restore();
  leaveCluster();
  if (m_bridge.hasCluster()) enterCluster();
}

MainWindow::~MainWindow() = default;

void MainWindow::makeDocks() {
  const auto makeDock = [this](const QString& name, const QString& title, QWidget* inside, QWidget* titleBar) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setTitleBarWidget(titleBar);
    dock->setWidget(inside);
    return dock;
  };
  m_tree = new ClusterTree(m_bridge);
  m_treeDock = makeDock(QStringLiteral("cluster"), tr("Cluster"), m_tree, new DockTitle(tr("CLUSTER"), 16, 46));
  addDockWidget(Qt::LeftDockWidgetArea, m_treeDock);

  m_inspector = new Inspector(m_bridge, m_past);
  m_inspectorDock =
      makeDock(QStringLiteral("inspector"), tr("Inspector"), m_inspector, new DockTitle(tr("INSPECTOR"), 18, 38));
  addDockWidget(Qt::RightDockWidgetArea, m_inspectorDock);

  auto* bottom = new QWidget;
  bottom->setProperty("kind", QStringLiteral("panel"));
  bottom->setAttribute(Qt::WA_StyledBackground);
  m_events = new EventPanel(m_bridge, bottom);
  m_strip = new IsrStrip(m_bridge, m_past);
  auto* head = new DockHead;
  auto* headRow = new QHBoxLayout(head);
  headRow->setContentsMargins(0, 0, 0, 0);
  headRow->setSpacing(0);
  headRow->addWidget(m_events->controls(), 0, Qt::AlignTop);
  headRow->addWidget(m_strip, 1);
  head->setFixedHeight(82);
  auto* down = new QVBoxLayout(bottom);
  down->setContentsMargins(0, 0, 0, 0);
  down->addWidget(m_events->table());
  m_eventDock = makeDock(QStringLiteral("events"), tr("Events"), bottom, head);
  addDockWidget(Qt::BottomDockWidgetArea, m_eventDock);
  setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  resizeDocks({m_treeDock, m_inspectorDock}, {236, 300}, Qt::Horizontal);
  resizeDocks({m_eventDock}, {250}, Qt::Vertical);

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
  connect(m_tree, &ClusterTree::brokerMenuWanted, this, &MainWindow::showBrokerMenu);
  connect(m_inspector, &Inspector::commandWanted, this, &MainWindow::command);
}

bool MainWindow::showsCluster() const {
  return m_pages->currentWidget() == m_clusterPage;
}

QString MainWindow::shownTopic() const {
  const auto& partition = m_clusterPage->partition();
  return partition ? fromUtf8(partition->topic) : QString();
}

void MainWindow::onFrame(const Frame& frame) {
  if (frame.anotherCluster) {
    m_past.clear();
    m_lastPartition.clear();
    m_picked = {};
    m_inspector->setPicked(m_picked);
    m_clusterPage->setPartition(std::nullopt);
    if (!m_bridge.hasCluster())
      leaveCluster();
    else if (!m_launching)
      enterCluster();
  }
  if (frame.snapshot != frame.previous) m_past.add(*frame.snapshot);
  // The first topic that appears is shown; one that is gone is not.
  const auto& shown = m_clusterPage->partition();
  if (shown && observe::findPartition(*frame.snapshot, *shown) != nullptr) return;
  const observe::TopicSnapshot* first = nullptr;
  for (const observe::TopicSnapshot& topic : frame.snapshot->topics)
    if (!topic.internal && !topic.partitions.empty()) {
      first = &topic;
      break;
    }
  if (first == nullptr) {
    if (shown) m_clusterPage->setPartition(std::nullopt);
    return;
  }
  showPartition({first->name, first->partitions.front().index});
  if (m_picked.what == Picked::What::Nothing && first->partitions.front().leader != kNoNode)
    pick({Picked::What::Broker, first->partitions.front().leader, {}});
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
      load.bootstrap = fromUtf8(m_bridge.snapshot()->bootstrap);
      load.topic = fromUtf8(options.firstTopic->name);
      load.rate = m_pendingLoad;
      m_startLoad(load);
      m_topBar->setProducing(m_load.isRunning());
    }
  });
}

void MainWindow::enterCluster() {
  if (showsCluster()) return;
  m_pages->setCurrentWidget(m_clusterPage);
  m_topBar->setRunning(true);
  showDocks(true);
  m_clusterPage->belts().setFocus();
}

void MainWindow::leaveCluster() {
  if (showsCluster()) m_layout = saveState(kLayoutVersion);
  showDocks(false);
  m_pages->setCurrentWidget(m_launchPage);
  m_topBar->setRunning(false);
  m_load.stop();
  m_launchPage->setFocus();
}

void MainWindow::showDocks(bool shown) {
  if (shown) {
    if (!restoreState(m_layout, kLayoutVersion)) restoreState(m_defaultLayout, kLayoutVersion);
    return;
  }
  for (QDockWidget* dock : {m_treeDock, m_inspectorDock, m_eventDock}) dock->hide();
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
    if (!result) m_status->say(tr("Not stopped: %1").arg(errorText(result.error())));
    m_bridge.refresh();
  });
}

void MainWindow::command(Command what, NodeId broker) {
  const QString name = tr("Broker %1").arg(broker.value());
  const auto sentence = [&](bool done) {
    switch (what) {
      case Command::Kill:
        return done ? tr("%1 is killed").arg(name) : tr("%1 was not killed").arg(name);
      case Command::Pause:
        return done ? tr("%1 is paused").arg(name) : tr("%1 was not paused").arg(name);
      case Command::Resume:
        return done ? tr("%1 goes on").arg(name) : tr("%1 does not go on").arg(name);
      case Command::Restart:
        return done ? tr("%1 has started again").arg(name) : tr("%1 did not start").arg(name);
      case Command::Stop:
        return done ? tr("%1 has stopped").arg(name) : tr("%1 did not stop").arg(name);
    }
    return QString();
  };
  const QString good = sentence(true);
  const QString bad = sentence(false);
  m_bridge.command(what, broker, this, [this, good, bad](const Result<void>& result) {
    m_status->say(result ? good : tr("%1: %2").arg(bad, errorText(result.error())));
  });
}

void MainWindow::showBrokerMenu(NodeId id, const QPoint& at) {
  const auto* broker = observe::findBroker(*m_bridge.snapshot(), id);
  if (broker == nullptr) return;
  QMenu menu(this);
  const auto add = [&](const QString& text, Command what) {
    menu.addAction(text, this, [this, what, id] { command(what, id); });
  };
  switch (broker->state) {
    case observe::BrokerState::Running:
    case observe::BrokerState::Fenced:
      add(tr("Pause"), Command::Pause);
      add(tr("Restart"), Command::Restart);
      add(tr("Stop"), Command::Stop);
      menu.addSeparator();
      add(tr("Kill"), Command::Kill);
      break;
    case observe::BrokerState::Paused:
      add(tr("Resume"), Command::Resume);
      menu.addSeparator();
      add(tr("Kill"), Command::Kill);
      break;
    case observe::BrokerState::Starting:
    case observe::BrokerState::Stopping:
      add(tr("Kill"), Command::Kill);
      break;
    case observe::BrokerState::Stopped:
    case observe::BrokerState::Killed:
      add(tr("Start again"), Command::Restart);
      break;
  }
  menu.addSeparator();
  menu.addAction(tr("Copy address"), this, [address = broker->listener] {
    QApplication::clipboard()->setText(fromUtf8(fmt::format("{}", address)));
  });
  menu.exec(at);
}

// Layout and end.

void MainWindow::resetLayout() {
  m_layout = m_defaultLayout;
  if (!showsCluster()) return;
  restoreState(m_defaultLayout, kLayoutVersion);
  resizeDocks({m_treeDock, m_inspectorDock}, {236, 300}, Qt::Horizontal);
  resizeDocks({m_eventDock}, {250}, Qt::Vertical);
}

void MainWindow::restore() {
  if (m_settings == nullptr) return;
  const QByteArray geometry = m_settings->value(QStringLiteral("geometry")).toByteArray();
  if (!geometry.isEmpty() && !restoreGeometry(geometry)) m_settings->remove(QStringLiteral("geometry"));
  const QByteArray layout = m_settings->value(QStringLiteral("layout")).toByteArray();
  if (!layout.isEmpty()) {
    if (restoreState(layout, kLayoutVersion)) {
      m_layout = layout;
    } else {
      // Of another version, or damaged: it would only come back at each start.
      restoreState(m_defaultLayout, kLayoutVersion);
      m_settings->remove(QStringLiteral("layout"));
    }
  }
  const int theme = m_settings->value(QStringLiteral("theme"), 0).toInt();
  if (theme >= 0 && theme <= 2) Theme::instance().setChoice(static_cast<ThemeChoice>(theme));
}

void MainWindow::save() {
  if (m_settings == nullptr) return;
  m_settings->setValue(QStringLiteral("geometry"), saveGeometry());
  if (showsCluster()) m_layout = saveState(kLayoutVersion);
  m_settings->setValue(QStringLiteral("layout"), m_layout);
  m_settings->setValue(QStringLiteral("theme"), static_cast<int>(Theme::instance().choice()));
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!m_bridge.hasCluster() || m_closing) {
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
